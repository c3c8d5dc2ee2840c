//! One look at every file of a folder, compared at once with what is known of it.
//!
//! Nothing takes longer in a large folder, so while one thread reads names others look at the
//! files, and all at the rest. What is as it was known is a number and no more.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread::{self, Builder, Scope, available_parallelism};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, statat};
use rustix::path::Arg;

use super::names::Names;
use super::{Found, Stamp};

/// What is known of a folder's files.
pub(in super::super) trait Known: Send + Sync {
    /// Returns the number of a file that is still what it was. `place` is where it is looked for
    /// first, and afterwards where the file that the system lists next is likely to be.
    fn unchanged(&self, name: &[u8], stamp: Stamp, place: &mut usize) -> Option<u32>;
}

/// For a folder of which nothing is known.
pub(in super::super) enum Nothing {}

impl Known for Nothing {
    fn unchanged(&self, _name: &[u8], _stamp: Stamp, _place: &mut usize) -> Option<u32> {
        match *self {}
    }
}

/// What a look into the folder found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in super::super) struct Scan {
    blocks: Vec<Block>,
    /// Whether a writer died and left something behind.
    pub(in super::super) has_unfinished: bool,
}

/// A Markdown file in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Sight<'a> {
    /// One that is as it was known, by its number.
    Unchanged(u32),
    /// Any other.
    Other(&'a Found),
}

/// Some files, in the order in which the system lists them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Block {
    /// The number of each, or [`OTHER`].
    files: Vec<u32>,
    /// Those without a number.
    others: Vec<Found>,
}

impl Scan {
    /// Returns the Markdown files, in the order in which the system lists them.
    pub(in super::super) fn files(&self) -> impl Iterator<Item = Sight<'_>> {
        self.blocks.iter().flat_map(|block| {
            let mut others = block.others.iter();
            block.files.iter().filter_map(move |number| match *number {
                OTHER => others.next().map(Sight::Other),
                number => Some(Sight::Unchanged(number)),
            })
        })
    }

    /// Returns the numbers of the files that are as they were known.
    pub(in super::super) fn unchanged(&self) -> impl Iterator<Item = u32> {
        let all = self.blocks.iter().flat_map(|block| &block.files);
        all.copied().filter(|number| *number != OTHER)
    }

    /// Returns all other files.
    pub(in super::super) fn others(&self) -> impl Iterator<Item = &Found> {
        self.blocks.iter().flat_map(|block| &block.others)
    }

    /// Returns how many there are.
    pub(in super::super) fn count(&self) -> usize {
        self.blocks.iter().map(|block| block.files.len()).sum()
    }
}

/// Looks into the folder; one that is not there is empty. What is known is asked for once, and on
/// another thread where that saves time.
pub(in super::super) fn scan<K: Known>(
    folder: &Path,
    unfinished: &str,
    known: impl Fn() -> Option<K> + Sync,
) -> io::Result<Scan> {
    let folder = match open_folder(CWD, folder) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Scan::default()),
        Err(error) => return Err(error),
    };
    let mut listing = Listing { names: Names::of(&folder)?, full: Vec::new(), next: List::new() };
    let mut has_unfinished = false;
    let mut read = |listing: &mut Listing<'_>| {
        listing.read(|name| {
            has_unfinished |= name.starts_with(unfinished.as_bytes());
            is_note_name(name)
        })
    };
    while listing.full.len() < WORTH_A_THREAD && read(&mut listing)? {}
    let table = OnceLock::new();
    let look = |list: &List, folder: &File| list.look(folder, table.get_or_init(&known).as_ref());
    if listing.full.len() < WORTH_A_THREAD {
        let blocks = listing.take().iter().map(|list| look(list, &folder)).collect();
        return Ok(Scan { blocks, has_unfinished });
    }
    let (sender, receiver) = mpsc::channel::<(usize, List)>();
    let receiver = Mutex::new(receiver);
    let look_at_rest = || {
        let mut done = Vec::new();
        // On one handle for all, the threads would wait for each other.
        let own = open_folder(&folder, ".").ok();
        let folder = own.as_ref().unwrap_or(&folder);
        loop {
            let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((at, list)) = next else { return done };
            done.push((at, look(&list, folder)));
        }
    };
    let mut blocks = thread::scope(|scope| -> io::Result<Vec<(usize, Block)>> {
        // Where no more threads may be started, this one does all.
        let help = || with_more_threads(scope, &look_at_rest);
        let helper = Builder::new().spawn_scoped(scope, help).ok();
        let mut count = 0;
        let mut send = |lists: Vec<List>| {
            for list in lists {
                sender.send((count, list)).ok();
                count += 1;
            }
        };
        let mut is_more = Ok(true);
        while matches!(is_more, Ok(true)) {
            send(std::mem::take(&mut listing.full));
            is_more = read(&mut listing);
        }
        send(listing.take());
        drop(sender);
        let mut done = look_at_rest();
        done.extend(helper.and_then(|helper| helper.join().ok()).unwrap_or_default());
        is_more.map(|_| done)
    })?;
    blocks.sort_unstable_by_key(|(at, _)| *at);
    let blocks = blocks.into_iter().map(|(_, block)| block).collect();
    Ok(Scan { blocks, has_unfinished })
}

/// Does the work of a helper on as many threads as there are processors for it, beside the one
/// that reads the names.
fn with_more_threads<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: &'scope (impl Fn() -> Vec<T> + Sync),
) -> Vec<T> {
    let processors = available_parallelism().map_or(1, usize::from);
    let start = |_| Builder::new().spawn_scoped(scope, work).ok();
    let more: Vec<_> = (2..processors.min(MOST_THREADS)).filter_map(start).collect();
    let mut done = work();
    for helper in more {
        done.extend(helper.join().unwrap_or_default());
    }
    done
}

/// The names of a folder as they are read.
struct Listing<'a> {
    names: Names<'a>,
    /// Lists that are full.
    full: Vec<List>,
    /// The list that the next name comes into.
    next: List,
}

impl Listing<'_> {
    /// Reads some more names, and returns whether there were any.
    fn read(&mut self, mut is_wanted: impl FnMut(&[u8]) -> bool) -> io::Result<bool> {
        let Self { names, full, next } = self;
        let any = names.next(|name| {
            if is_wanted(name.to_bytes()) {
                next.push(name);
                if next.ends.len() == BLOCK {
                    full.push(std::mem::replace(next, List::new()));
                }
            }
        })?;
        Ok(any.is_some())
    }

    /// Returns all lists that are not looked at yet.
    fn take(&mut self) -> Vec<List> {
        self.full.push(std::mem::replace(&mut self.next, List::new()));
        std::mem::take(&mut self.full)
    }
}

/// Some names, one behind the other, each with a 0 behind it.
struct List {
    names: Vec<u8>,
    ends: Vec<u32>,
}

impl List {
    fn new() -> Self {
        Self { names: Vec::with_capacity(BLOCK * USUAL_NAME), ends: Vec::with_capacity(BLOCK) }
    }

    fn push(&mut self, name: &CStr) {
        self.names.extend_from_slice(name.to_bytes_with_nul());
        self.ends.push(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
    }

    /// Looks at every file of the list.
    fn look(&self, folder: &File, known: Option<&impl Known>) -> Block {
        let files = Vec::with_capacity(self.ends.len());
        let mut block = Block { files, others: Vec::new() };
        let (mut start, mut place) = (0, usize::MAX);
        for end in &self.ends {
            let end = *end as usize;
            let name = self.names.get(start..end).unwrap_or_default();
            start = end;
            let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
            // A file that went away between the two calls is not there.
            let Ok(state) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let (name, stamp) = (name.to_bytes(), Stamp::of_state(&state));
            let number = known.and_then(|known| known.unchanged(name, stamp, &mut place));
            block.files.push(number.unwrap_or(OTHER));
            if number.is_none() {
                let is_plain = FileType::from_raw_mode(state.st_mode).is_file();
                block.others.push(Found {
                    name: String::from_utf8_lossy(name).into_owned(),
                    stamp,
                    is_plain: is_plain && std::str::from_utf8(name).is_ok(),
                });
            }
        }
        block
    }
}

fn is_note_name(name: &[u8]) -> bool {
    !name.starts_with(b".") && name.ends_with(b".md")
}

fn open_folder(at: impl AsFd, folder: impl Arg) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(at, folder, flags, Mode::empty())?.into())
}

/// Stands in the place of a number where there is none.
const OTHER: u32 = u32::MAX;

/// So many files are looked at in one go: few enough that no thread waits long for another.
const BLOCK: usize = 128;

/// So many full lists are worth another thread.
const WORTH_A_THREAD: usize = 4;

/// More threads at once only wait for each other in the system.
const MOST_THREADS: usize = 8;

/// Room for a name, with the 0 behind it.
const USUAL_NAME: usize = 40;

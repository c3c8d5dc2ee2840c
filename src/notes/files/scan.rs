//! One look at every file of a folder, compared at once with what is known of it.
//!
//! Nothing takes longer in a large folder, so several threads look, from the first names on. Where
//! nothing came to the folder or went since its names were read last, they are not read again. What
//! is as it was known is a number and no more.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::{self, Builder, Scope};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, statat};
use rustix::path::Arg;

use super::names::{List, Listing};
use super::{Found, Stamp, trust};
use crate::support::processors::{self, elsewhere};

/// What is known of a folder's files, each of which has a place: the system lists them in that
/// order.
pub(in super::super) trait Known: Sync {
    /// Returns how many files there are, when the folder looks as it did after they all were
    /// there.
    fn count_in(&self, folder: Stamp) -> Option<usize>;

    /// Returns the name of the file at a place.
    fn name(&self, place: usize) -> Option<&CStr>;

    /// Returns the number of a file that is still what it was. `place` is where it is looked for
    /// first, and afterwards where the file that the system lists next is likely to be.
    fn unchanged(&self, name: &[u8], stamp: Stamp, place: &mut usize) -> Option<u32>;
}

/// For a folder of which nothing is known.
pub(in super::super) enum Nothing {}

impl Known for Nothing {
    fn count_in(&self, _folder: Stamp) -> Option<usize> {
        match *self {}
    }

    fn name(&self, _place: usize) -> Option<&CStr> {
        match *self {}
    }

    fn unchanged(&self, _name: &[u8], _stamp: Stamp, _place: &mut usize) -> Option<u32> {
        match *self {}
    }
}

/// What a look into the folder found.
#[derive(Debug, Clone, Default)]
pub(in super::super) struct Scan {
    blocks: Vec<Block>,
    /// Whether a writer died and left something behind.
    pub(in super::super) has_unfinished: bool,
    /// What the folder was like before its names were read; none where they were not, or where
    /// that would not tell whether others came.
    pub(in super::super) folder: Option<Stamp>,
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

    /// Returns whether the files are the same in both.
    pub(in super::super) fn finds_the_same(&self, other: &Self) -> bool {
        self.blocks == other.blocks && self.has_unfinished == other.has_unfinished
    }
}

/// Looks into the folder; one that is not there is empty.
pub(in super::super) fn scan(
    folder: &Path,
    unfinished: &str,
    known: Option<&impl Known>,
) -> io::Result<Scan> {
    let folder = match open_folder(CWD, folder) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Scan::default()),
        Err(error) => return Err(error),
    };
    let before = Stamp::of_state(&fstat(&folder)?);
    if let Some(known) = known
        && let Some(count) = known.count_in(before)
    {
        return Ok(Scan { blocks: look_at_known(&folder, known, count)?, ..Scan::default() });
    }
    let mut has_unfinished = false;
    let is_wanted = |name: &[u8]| {
        has_unfinished |= name.starts_with(unfinished.as_bytes());
        is_note_name(name)
    };
    let blocks = look_at_listed(&folder, known, is_wanted)?;
    let folder = trust::shows_changes(&folder).then_some(before);
    Ok(Scan { blocks, has_unfinished, folder })
}

/// Looks at files whose names need not be read.
fn look_at_known(folder: &File, known: &impl Known, count: usize) -> io::Result<Vec<Block>> {
    let look = |places: &Range<usize>, folder: &File| {
        let names = places.clone().filter_map(|place| known.name(place));
        look_at(folder, names, places.start, Some(known))
    };
    if count < WORTH_A_THREAD * BLOCK {
        return Ok(vec![look(&(0..count), folder)]);
    }
    on_all_processors(folder, look, |send| {
        let starts = (0..count).step_by(BLOCK);
        starts.for_each(|start| send(start..count.min(start + BLOCK)));
        Ok(())
    })
}

/// Looks at files while their names are read.
fn look_at_listed(
    folder: &File,
    known: Option<&impl Known>,
    mut is_wanted: impl FnMut(&[u8]) -> bool,
) -> io::Result<Vec<Block>> {
    let look = |list: &List, folder: &File| look_at(folder, list.names(), usize::MAX, known);
    let mut listing = Listing::of(folder, BLOCK)?;
    while listing.full() < WORTH_A_THREAD {
        if !listing.read(&mut is_wanted)? {
            return Ok(listing.take().iter().map(|list| look(list, folder)).collect());
        }
    }
    on_all_processors(folder, look, |send| {
        loop {
            listing.take_full().into_iter().for_each(&mut *send);
            if !listing.read(&mut is_wanted)? {
                break;
            }
        }
        listing.take().into_iter().for_each(send);
        Ok(())
    })
}

/// Looks at what `feed` sends, on as many threads as help, and returns the blocks in that order.
fn on_all_processors<T: Send>(
    folder: &File,
    look: impl Fn(&T, &File) -> Block + Sync,
    feed: impl FnOnce(&mut dyn FnMut(T)) -> io::Result<()>,
) -> io::Result<Vec<Block>> {
    let (sender, receiver) = mpsc::channel::<(usize, T)>();
    let receiver = Mutex::new(receiver);
    let look_at_rest = || {
        let mut done = Vec::new();
        // On one handle for all, the threads would wait for each other.
        let own = open_folder(folder, ".").ok();
        let folder = own.as_ref().unwrap_or(folder);
        loop {
            let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((at, part)) = next else { return done };
            done.push((at, look(&part, folder)));
        }
    };
    let mut blocks = thread::scope(|scope| -> io::Result<Vec<(usize, Block)>> {
        // Where no more threads may be started, this one does all.
        let help = || with_more_threads(scope, &look_at_rest);
        let helper = Builder::new().spawn_scoped(scope, elsewhere(help)).ok();
        let mut count = 0;
        let result = feed(&mut |part| {
            sender.send((count, part)).ok();
            count += 1;
        });
        drop(sender);
        let mut done = look_at_rest();
        done.extend(helper.and_then(|helper| helper.join().ok()).unwrap_or_default());
        result.map(|()| done)
    })?;
    blocks.sort_unstable_by_key(|(at, _)| *at);
    Ok(blocks.into_iter().map(|(_, block)| block).collect())
}

/// Does the work of a helper on as many threads as there are processors for it, beside the one
/// that reads the names.
fn with_more_threads<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: &'scope (impl Fn() -> Vec<T> + Sync),
) -> Vec<T> {
    let start = |_| Builder::new().spawn_scoped(scope, elsewhere(work)).ok();
    let more: Vec<_> = (2..processors::count().min(MOST_THREADS)).filter_map(start).collect();
    let mut done = work();
    for helper in more {
        done.extend(helper.join().unwrap_or_default());
    }
    done
}

/// Looks at one file after the other; the first is likely to be known at `place`.
fn look_at<'a>(
    folder: &File,
    names: impl Iterator<Item = &'a CStr>,
    mut place: usize,
    known: Option<&impl Known>,
) -> Block {
    let mut block = Block { files: Vec::with_capacity(BLOCK), others: Vec::new() };
    for name in names {
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

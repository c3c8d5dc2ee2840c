//! What lies in the notes folder: names and stamps, and the bytes of one file.
//!
//! Reading only. Symbolic links are never followed, whatever is not a plain file is never opened,
//! and a file has to have a sensible size.

mod names;

use std::ffi::CStr;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError, mpsc};

use chrono::{DateTime, Utc};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, statat};

use self::names::Names;

/// A longer file is no note.
pub(super) const MAX_NOTE_BYTES: u64 = 4 << 20;

/// A file that is, or should be, a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The name in the folder.
    pub(super) name: String,
    /// What tells whether it changed.
    pub(super) stamp: Stamp,
    /// False for links, pipes and folders.
    pub(super) is_plain: bool,
}

/// Tells whether a file changed: no content changes without one of these changing too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Its bytes.
    pub(super) size: u64,
    /// When its bytes changed, in nanoseconds.
    pub(super) modified: i64,
    /// When anything of it changed, in nanoseconds; nobody can set that back.
    pub(super) changed: i64,
    /// Which file it is.
    pub(super) inode: u64,
}

impl Stamp {
    /// Returns the stamp of a file.
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            size: metadata.size(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        clippy::unnecessary_cast,
        reason = "the types of these fields differ from system to system"
    )]
    fn of_state(state: &Stat) -> Self {
        Self {
            size: state.st_size as u64,
            modified: nanoseconds(state.st_mtime as i64, state.st_mtime_nsec as i64),
            changed: nanoseconds(state.st_ctime as i64, state.st_ctime_nsec as i64),
            inode: state.st_ino as u64,
        }
    }

    /// Returns when the bytes changed.
    pub(super) fn modified(self) -> DateTime<Utc> {
        DateTime::from_timestamp_nanos(self.modified)
    }
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.wrapping_mul(1_000_000_000).wrapping_add(rest)
}

/// What a look into the folder found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Scan {
    blocks: Vec<Block>,
    /// Whether a writer died and left something behind.
    pub(super) has_unfinished: bool,
}

/// Some Markdown files, in the order in which the system lists them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Block {
    /// The names, one behind the other, each with a 0 behind it.
    names: Vec<u8>,
    files: Vec<Seen>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Seen {
    /// The name begins here.
    start: u32,
    /// Its bytes.
    length: u32,
    stamp: Stamp,
    is_plain: bool,
    /// False for a file that went away before it was looked at.
    is_there: bool,
}

/// A file as a look into the folder shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sight<'a> {
    /// The name's bytes.
    pub(super) name: &'a [u8],
    pub(super) stamp: Stamp,
    pub(super) is_plain: bool,
}

impl Scan {
    /// Returns the Markdown files, in the order in which the system lists them.
    pub(super) fn files(&self) -> impl Iterator<Item = Sight<'_>> {
        self.blocks.iter().flat_map(|block| {
            block.files.iter().filter(|seen| seen.is_there).map(|seen| Sight {
                name: block.name(*seen),
                stamp: seen.stamp,
                is_plain: seen.is_plain,
            })
        })
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> usize {
        let of_block = |block: &Block| block.files.iter().filter(|seen| seen.is_there).count();
        self.blocks.iter().map(of_block).sum()
    }
}

impl Sight<'_> {
    /// Returns the file with a name of its own.
    pub(super) fn found(&self) -> Found {
        Found {
            name: String::from_utf8_lossy(self.name).into_owned(),
            stamp: self.stamp,
            is_plain: self.is_plain && std::str::from_utf8(self.name).is_ok(),
        }
    }
}

impl Block {
    fn name(&self, seen: Seen) -> &[u8] {
        let start = seen.start as usize;
        self.names.get(start..start + seen.length as usize).unwrap_or_default()
    }

    fn push(&mut self, name: &[u8]) {
        let short = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (start, length) = (short(self.names.len()), short(name.len()));
        self.names.extend_from_slice(name);
        self.names.push(0);
        self.files.push(Seen { start, length, ..Seen::default() });
    }

    /// Looks at every file of the block.
    fn look(&mut self, folder: &File) {
        let names = &self.names;
        for seen in &mut self.files {
            let start = seen.start as usize;
            let name = names.get(start..=start + seen.length as usize).unwrap_or_default();
            let Ok(name) = CStr::from_bytes_with_nul(name) else { continue };
            // A file that went away between the two calls is not there.
            let Ok(state) = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            seen.is_there = true;
            seen.is_plain = FileType::from_raw_mode(state.st_mode).is_file();
            seen.stamp = Stamp::of_state(&state);
        }
    }
}

/// Looks into the folder; one that is not there is empty.
///
/// Nothing takes longer in a large folder, so while one thread reads names another looks at the
/// files, and both at the rest.
pub(super) fn scan(folder: &Path, unfinished: &str) -> io::Result<Scan> {
    let folder = match open_folder(folder) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Scan::default()),
        Err(error) => return Err(error),
    };
    let mut has_unfinished = false;
    let mut names = Names::of(&folder)?;
    let mut read_block = || -> io::Result<Block> {
        let mut block = Block::default();
        while block.files.len() < BLOCK
            && let Some(()) = names.next(|name| {
                has_unfinished |= name.starts_with(unfinished.as_bytes());
                if is_note_name(name) {
                    block.push(name);
                }
            })?
        {}
        Ok(block)
    };
    let mut first = read_block()?;
    if first.files.len() < BLOCK {
        first.look(&folder);
        return Ok(Scan { blocks: vec![first], has_unfinished });
    }
    let (sender, receiver) = mpsc::channel::<(usize, Block)>();
    let receiver = Mutex::new(receiver);
    let look_at_rest = || {
        let mut done = Vec::new();
        loop {
            let next = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((at, mut block)) = next else { return done };
            block.look(&folder);
            done.push((at, block));
        }
    };
    let mut blocks = std::thread::scope(|scope| -> io::Result<Vec<(usize, Block)>> {
        let other = scope.spawn(look_at_rest);
        let send_all = || {
            let mut block = first;
            for at in 0.. {
                let is_last = block.files.len() < BLOCK;
                sender.send((at, block)).ok();
                if is_last {
                    break;
                }
                block = read_block()?;
            }
            Ok(())
        };
        let sent = send_all();
        drop(sender);
        let mut done = look_at_rest();
        done.extend(other.join().unwrap_or_default());
        sent.map(|()| done)
    })?;
    blocks.sort_unstable_by_key(|(at, _)| *at);
    let blocks = blocks.into_iter().map(|(_, block)| block).collect();
    Ok(Scan { blocks, has_unfinished })
}

fn is_note_name(name: &[u8]) -> bool {
    !name.starts_with(b".") && name.ends_with(b".md")
}

fn open_folder(folder: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(folder, flags, Mode::empty())?.into())
}

/// So many files are looked at in one go, and a folder of fewer on one thread.
const BLOCK: usize = 512;

/// Opens what is no link, without waiting for the other end of a pipe.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(|error| {
        if path.is_symlink() {
            io::Error::other("it is a symbolic link, and none is followed")
        } else {
            error
        }
    })
}

/// Reads a file whole, with the stamp of what was read.
pub(super) fn read(path: &Path) -> io::Result<(Vec<u8>, Stamp)> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    if metadata.len() > MAX_NOTE_BYTES {
        let message = format!("it is larger than {} MiB", MAX_NOTE_BYTES >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    file.take(MAX_NOTE_BYTES + 1).read_to_end(&mut bytes)?;
    Ok((bytes, Stamp::of(&metadata)))
}

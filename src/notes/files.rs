//! What lies in the notes folder: names and stamps, and the bytes of one file.
//!
//! Reading only. Symbolic links are never followed, whatever is not a plain file is never opened,
//! and a file has to have a sensible size.

use std::ffi::OsString;
use std::fs::{self, DirEntry, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use chrono::{DateTime, Utc};

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
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(rest);
        Self {
            size: metadata.size(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            inode: metadata.ino(),
        }
    }

    /// Returns when the bytes changed.
    pub(super) fn modified(self) -> DateTime<Utc> {
        DateTime::from_timestamp_nanos(self.modified)
    }
}

/// What a look into the folder found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Scan {
    /// The Markdown files, in the order in which the system lists them.
    pub(super) notes: Vec<Found>,
    /// Whether a writer died and left something behind.
    pub(super) has_unfinished: bool,
}

/// Looks into the folder; one that is not there is empty.
pub(super) fn scan(folder: &Path, unfinished: &str) -> io::Result<Scan> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Scan::default()),
        Err(error) => return Err(error),
    };
    let mut scan = Scan::default();
    let mut files: Vec<DirEntry> = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.as_bytes();
        scan.has_unfinished |= name.starts_with(unfinished.as_bytes());
        if !name.starts_with(b".") && name.ends_with(b".md") {
            files.push(entry);
        }
    }
    scan.notes = stamped(&files);
    Ok(scan)
}

/// Shows the names of the Markdown files, in the order in which the system lists them, without
/// looking at any.
pub(super) fn names(folder: &Path, mut show: impl FnMut(String)) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let name = as_text(entry?.file_name());
        if !name.starts_with('.') && name.as_bytes().ends_with(b".md") {
            show(name);
        }
    }
    Ok(())
}

fn as_text(name: OsString) -> String {
    name.into_string().unwrap_or_else(|name| name.to_string_lossy().into_owned())
}

/// Looks at every file: on two threads where that is worth it, since nothing takes longer in a
/// large folder.
fn stamped(files: &[DirEntry]) -> Vec<Found> {
    let look = |part: &[DirEntry]| -> Vec<Found> {
        // A file that went away between the two calls is not there.
        part.iter().filter_map(|entry| Some(found(entry, &entry.metadata().ok()?))).collect()
    };
    if files.len() < WORTH_A_THREAD {
        return look(files);
    }
    let (first, second) = files.split_at(files.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| look(second));
        let mut all = look(first);
        all.extend(other.join().unwrap_or_default());
        all
    })
}

fn found(entry: &DirEntry, metadata: &Metadata) -> Found {
    Found {
        name: as_text(entry.file_name()),
        stamp: Stamp::of(metadata),
        is_plain: metadata.is_file(),
    }
}

/// Fewer files are looked at on one thread.
const WORTH_A_THREAD: usize = 1_000;

/// Reads a file whole, with the stamp of what was read.
pub(super) fn read(path: &Path) -> io::Result<(Vec<u8>, Stamp)> {
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
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

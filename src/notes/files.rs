//! What lies in the notes folder: names and stamps, and the bytes of one file.
//!
//! Reading only. Symbolic links are never followed, whatever is not a plain file is never opened,
//! and a file has to have a sensible size.

mod names;
mod scan;
mod trust;

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use chrono::{DateTime, Utc};
use rustix::fs::{OFlags, Stat};

pub(super) use self::scan::{Known, Nothing, Scan, Sight, scan};

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

/// Returns the beginning of a file that is no note as text, whatever it is written in.
pub(super) fn read_raw(path: &Path) -> io::Result<String> {
    let file = open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_NOTE_BYTES).read_to_end(&mut bytes)?;
    Ok(raw_text(&bytes))
}

/// Returns bytes as text; what some editors of Windows write is UTF-16 and says so.
pub(super) fn raw_text(bytes: &[u8]) -> String {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.as_chunks().0.iter().map(|pair| unit(*pair)).collect();
        String::from_utf16_lossy(&units)
    };
    // Its line ends and spaces have zeros, and no other text has.
    let has_zero = bytes.contains(&0);
    match bytes {
        [0xff, 0xfe, rest @ ..] if has_zero => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] if has_zero => wide(rest, u16::from_be_bytes),
        bytes => String::from_utf8_lossy(bytes).into_owned(),
    }
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

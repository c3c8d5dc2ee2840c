//! What was overwritten or deleted, kept for a while so that it can be brought back.
//!
//! A file each, in the folder `.trash` beside the notes: `<number>.<what>.<hash>.<file>`, where the
//! hash is that of the file after the change. Only the latest are kept; the notes themselves are
//! never touched here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{files, format};
use crate::support::atomic_file;

/// So many are kept.
const KEPT: usize = 200;

/// So many bytes are kept, except that the latest always is.
const KEPT_BYTES: u64 = 32 << 20;

/// What was done to the file whose former bytes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// It was overwritten.
    Update,
    /// It was deleted.
    Delete,
    /// Something was undone: not undone again.
    Undo,
}

/// One kept file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    number: u64,
    /// What was done.
    pub(super) deed: Deed,
    /// The hash of the file after that; empty when it was gone.
    pub(super) after: String,
    /// The file's name among the notes.
    pub(super) file: String,
    /// Where the former bytes are.
    pub(super) path: PathBuf,
}

/// The kept files of a notes folder.
#[derive(Debug)]
pub(super) struct Trash {
    folder: PathBuf,
}

impl Trash {
    /// Returns the trash of a notes folder, which may not be there yet.
    pub(super) fn of(notes: &Path) -> Self {
        Self { folder: notes.join(".trash") }
    }

    /// Keeps the bytes that a file has before it is overwritten; durable when it returns.
    pub(super) fn keep(&self, deed: Deed, file: &str, bytes: &[u8], after: &str) -> io::Result<()> {
        self.make()?;
        atomic_file::create_new(&self.next(deed, file, after), bytes)?;
        self.forget_old();
        Ok(())
    }

    /// Moves a file in here; durable when it returns.
    pub(super) fn take(&self, deed: Deed, path: &Path, file: &str) -> io::Result<()> {
        self.make()?;
        atomic_file::move_new(path, &self.next(deed, file, ""))?;
        self.forget_old();
        Ok(())
    }

    /// Returns what is kept, the latest first.
    pub(super) fn kept(&self) -> Vec<Kept> {
        if self.folder.is_symlink() {
            return Vec::new();
        }
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut kept: Vec<Kept> = entries.filter_map(|entry| read_name(&entry.path())).collect();
        kept.sort_unstable_by_key(|kept| std::cmp::Reverse(kept.number));
        kept
    }

    /// Returns the former bytes that have a hash, if they are still kept.
    pub(super) fn find(&self, hash: &str) -> Option<Vec<u8>> {
        self.kept().into_iter().find_map(|kept| {
            let (bytes, _) = files::read(&kept.path).ok()?;
            (format::hash(&bytes) == hash).then_some(bytes)
        })
    }

    /// Makes the folder. One that is a link would lead what is kept anywhere.
    fn make(&self) -> io::Result<()> {
        if self.folder.is_symlink() {
            return Err(io::Error::other(
                "`.trash` is a symbolic link, and none is written through",
            ));
        }
        atomic_file::make_folder(&self.folder)
    }

    fn next(&self, deed: Deed, file: &str, after: &str) -> PathBuf {
        let number = self.kept().first().map_or(1, |latest| latest.number + 1);
        let after = if after.is_empty() { "-" } else { after };
        self.folder.join(format!("{number:08}.{}.{after}.{file}", deed.as_str()))
    }

    fn forget_old(&self) {
        let mut bytes = 0;
        for (at, kept) in self.kept().into_iter().enumerate() {
            bytes += fs::metadata(&kept.path).map_or(0, |metadata| metadata.len());
            if at > 0 && (at >= KEPT || bytes > KEPT_BYTES) {
                // What cannot be removed now is tried again next time.
                atomic_file::remove(&kept.path).ok();
            }
        }
    }
}

impl Deed {
    fn as_str(self) -> &'static str {
        match self {
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Undo => "undo",
        }
    }
}

fn read_name(path: &Path) -> Option<Kept> {
    let name = path.file_name()?.to_str()?;
    let mut parts = name.splitn(4, '.');
    let number = parts.next()?.parse().ok()?;
    let deed = match parts.next()? {
        "update" => Deed::Update,
        "delete" => Deed::Delete,
        "undo" => Deed::Undo,
        _ => return None,
    };
    let after = parts.next()?.trim_matches('-').to_owned();
    Some(Kept { number, deed, after, file: parts.next()?.to_owned(), path: path.to_owned() })
}

//! What was overwritten or deleted, kept for a while so that it can be brought back.
//!
//! A file each, in the folder `.trash` beside the notes: `<number>.<what>.<hash>.<file>`, where the
//! hash is that of the file after the change. A creation has nothing to keep and is an empty file,
//! so that undoing knows the order. Only the latest are kept; the notes themselves are never
//! touched here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{files, format};
use crate::support::atomic_file::{self, UNFINISHED};

/// So many are kept.
const KEPT: usize = 200;

/// So many creations are remembered beside them, so that many new notes push out nothing that was
/// kept.
const REMEMBERED: usize = 200;

/// So many bytes are kept, except that the latest always is.
const KEPT_BYTES: u64 = 32 << 20;

/// No folder was changed more often.
const MOST_NUMBERS: u64 = 1_000_000_000_000;

/// What was done to the file whose former bytes are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// It was made: there were no bytes before.
    Create,
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

    /// Returns the number of the latest change that is known.
    pub(super) fn latest(&self) -> u64 {
        self.kept().first().map_or(0, |kept| kept.number)
    }

    /// Moves a file in here and returns where it is; durable when it returns.
    pub(super) fn take(&self, deed: Deed, path: &Path, file: &str) -> io::Result<PathBuf> {
        self.make()?;
        let place = self.next(deed, file, "");
        atomic_file::move_new(path, &place)?;
        self.forget_old();
        Ok(place)
    }

    /// Remembers that a file was made. The disk is not waited for: what is lost with the power is
    /// that this creation can be undone, and nothing of the note. So a failure is no error.
    pub(super) fn remember_creation(&self, file: &str, after: &str) {
        if self.make().is_err() {
            return;
        }
        let kept = self.swept();
        let place = self.place_after(&kept, Deed::Create, file, after);
        atomic_file::replace_derived(&place, b"").ok();
        let created = kept.iter().filter(|kept| kept.deed == Deed::Create);
        for old in created.skip(REMEMBERED - 1) {
            atomic_file::remove(&old.path).ok();
        }
    }

    /// Returns what is kept, the latest first.
    pub(super) fn kept(&self) -> Vec<Kept> {
        self.look().0
    }

    /// Like [`Self::kept`] for a writer, which holds the lock of the notes: nobody else is writing
    /// here, so what is unfinished was left by one that died.
    fn swept(&self) -> Vec<Kept> {
        let (kept, has_unfinished) = self.look();
        if has_unfinished {
            atomic_file::remove_unfinished(&self.folder);
        }
        kept
    }

    /// Returns what is kept, and whether something is unfinished.
    fn look(&self) -> (Vec<Kept>, bool) {
        if self.folder.is_symlink() {
            return (Vec::new(), false);
        }
        let mut has_unfinished = false;
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            has_unfinished |=
                entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes());
            kept.extend(read_name(&entry.path()));
        }
        kept.sort_unstable_by_key(|kept| std::cmp::Reverse(kept.number));
        (kept, has_unfinished)
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
        self.place_after(&self.kept(), deed, file, after)
    }

    fn place_after(&self, kept: &[Kept], deed: Deed, file: &str, after: &str) -> PathBuf {
        let number = kept.first().map_or(1, |latest| latest.number + 1);
        let after = if after.is_empty() { "-" } else { after };
        self.folder.join(format!("{number:08}.{}.{after}.{file}", deed.as_str()))
    }

    fn forget_old(&self) {
        let kept = self.swept().into_iter().filter(|kept| kept.deed != Deed::Create);
        let mut bytes = 0;
        for (at, kept) in kept.enumerate() {
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
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Undo => "undo",
        }
    }
}

fn read_name(path: &Path) -> Option<Kept> {
    let name = path.file_name()?.to_str()?;
    let mut parts = name.splitn(4, '.');
    // A folder may come from anywhere, and the next number must fit as well.
    let number = parts.next()?.parse().ok().filter(|number| *number < MOST_NUMBERS)?;
    let deed = match parts.next()? {
        "create" => Deed::Create,
        "update" => Deed::Update,
        "delete" => Deed::Delete,
        "undo" => Deed::Undo,
        _ => return None,
    };
    let after = parts.next()?.trim_matches('-').to_owned();
    let file = parts.next()?.to_owned();
    let is_note = file.strip_suffix(".md").is_some_and(|name| !name.starts_with('.'));
    is_note.then(|| Kept { number, deed, after, file, path: path.to_owned() })
}

//! Taking the latest change of a note back.

use std::io;
use std::path::PathBuf;

use super::error::NoteError;
use super::store::NoteStore;
use super::trash::{Deed, Kept};
use super::{files, format};
use crate::support::atomic_file;

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The note's file without its ending: its id.
    pub id: String,
    /// The title it has again, or had.
    pub title: String,
    /// What was done to it and is not any more: `create`, `update` or `delete`.
    pub what: &'static str,
    /// Where a note is kept whose creation was taken back.
    pub kept: Option<PathBuf>,
}

impl NoteStore {
    /// Takes the latest creation, update or deletion back; once more takes the one before back. A
    /// note that changed since is left alone.
    pub fn undo(&self) -> Result<Undone, NoteError> {
        if !self.folder.is_dir() {
            return Err(NoteError::NothingToUndo);
        }
        let _lock = self.lock()?;
        for kept in self.trash.kept() {
            let current = self.current(&kept)?;
            let undone = match (kept.deed, current) {
                (Deed::Undo, _) => continue,
                // It is gone in another way (a branch, a crash): there is no creation any more.
                (Deed::Create, None) => {
                    forget(&kept)?;
                    continue;
                }
                (Deed::Create, Some(bytes)) => self.undo_creation(&kept, &bytes)?,
                (Deed::Update | Deed::Delete, Some(bytes)) => self.undo_change(&kept, &bytes)?,
                (Deed::Delete, None) => self.undo_deletion(&kept)?,
                (Deed::Update, None) => return Err(NoteError::ChangedAfter(id(&kept))),
            };
            forget(&kept)?;
            self.refresh_index();
            return Ok(undone);
        }
        Err(NoteError::NothingToUndo)
    }

    /// Moves the note into the trash.
    fn undo_creation(&self, kept: &Kept, current: &[u8]) -> Result<Undone, NoteError> {
        if format::hash(current) != kept.after {
            return Err(NoteError::ChangedAfter(id(kept)));
        }
        let title = self.title(kept);
        let path = self.folder.join(&kept.file);
        let place = self.trash.take(Deed::Undo, &path, &kept.file);
        let place = place.map_err(NoteError::io("moving", &path))?;
        Ok(Undone { id: id(kept), title, what: "create", kept: Some(place) })
    }

    /// Puts a deleted file back as it was, however large it is and whatever it holds.
    fn undo_deletion(&self, kept: &Kept) -> Result<Undone, NoteError> {
        let path = self.folder.join(&kept.file);
        atomic_file::move_new(&kept.path, &path).map_err(NoteError::io("moving", &path))?;
        Ok(Undone { id: id(kept), title: self.title(kept), what: "delete", kept: None })
    }

    /// Puts the former bytes in the place of those that are there.
    fn undo_change(&self, kept: &Kept, bytes: &[u8]) -> Result<Undone, NoteError> {
        let path = self.folder.join(&kept.file);
        let former = files::read(&kept.path).map_err(NoteError::io("reading", &kept.path))?.0;
        let is_as_left = kept.deed == Deed::Update && format::hash(bytes) == kept.after;
        // An undoing that was killed half-way, or an update that never came to its place.
        if !is_as_left && bytes != former {
            return Err(NoteError::ChangedAfter(id(kept)));
        }
        self.trash
            .keep(Deed::Undo, &kept.file, bytes, &format::hash(&former))
            .map_err(NoteError::io("keeping a copy of", &path))?;
        atomic_file::replace(&path, &former).map_err(NoteError::io("writing", &path))?;
        let what = if kept.deed == Deed::Delete { "delete" } else { "update" };
        Ok(Undone { id: id(kept), title: self.title(kept), what, kept: None })
    }

    /// Returns the bytes that the note has now, if it is there.
    fn current(&self, kept: &Kept) -> Result<Option<Vec<u8>>, NoteError> {
        let path = self.folder.join(&kept.file);
        match files::read(&path) {
            Ok((bytes, _)) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(NoteError::io("reading", path)(error)),
        }
    }

    fn title(&self, kept: &Kept) -> String {
        self.read_file(&kept.file).map(|(note, _, _)| note.title).unwrap_or_default()
    }
}

fn id(kept: &Kept) -> String {
    kept.file.trim_end_matches(".md").to_owned()
}

fn forget(kept: &Kept) -> Result<(), NoteError> {
    match atomic_file::remove(&kept.path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(NoteError::io("removing", &kept.path)(error))
        }
        // What is kept may have pushed it out.
        _ => Ok(()),
    }
}

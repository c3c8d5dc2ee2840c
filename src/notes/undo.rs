//! Taking the latest change of a note back.

use std::io;

use super::error::NoteError;
use super::store::NoteStore;
use super::trash::Deed;
use super::{files, format};
use crate::support::atomic_file;

/// What was taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undone {
    /// The note's file without its ending: its id.
    pub id: String,
    /// The title it has again.
    pub title: String,
    /// What was done to it and is not any more: `update` or `delete`.
    pub what: &'static str,
}

impl NoteStore {
    /// Takes the latest update or deletion back; once more takes the one before back. A note that
    /// changed since is left alone.
    pub fn undo(&self) -> Result<Undone, NoteError> {
        if !self.folder.is_dir() {
            return Err(NoteError::NothingToUndo);
        }
        let _lock = self.lock()?;
        let kept = self.trash.kept().into_iter().find(|kept| kept.deed != Deed::Undo);
        let Some(kept) = kept else { return Err(NoteError::NothingToUndo) };
        let path = self.folder.join(&kept.file);
        let id = kept.file.trim_end_matches(".md").to_owned();
        let former = files::read(&kept.path).map_err(NoteError::io("reading", &kept.path))?.0;
        let current = match files::read(&path) {
            Ok((bytes, _)) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(NoteError::io("reading", path)(error)),
        };
        let is_as_left = match (&current, kept.deed) {
            (None, Deed::Delete) => true,
            (Some(bytes), Deed::Update) => format::hash(bytes) == kept.after,
            (Some(bytes), _) if *bytes == former => true,
            _ => false,
        };
        if !is_as_left {
            return Err(NoteError::ChangedAfter(id));
        }
        match current {
            Some(bytes) => {
                self.trash
                    .keep(Deed::Undo, &kept.file, &bytes, &format::hash(&former))
                    .map_err(NoteError::io("keeping a copy of", &path))?;
                atomic_file::replace(&path, &former)
            }
            None => atomic_file::create_new(&path, &former),
        }
        .map_err(NoteError::io("writing", &path))?;
        atomic_file::remove(&kept.path).map_err(NoteError::io("removing", &kept.path))?;
        self.refresh_index();
        let title = self.read_file(&kept.file).map(|(note, _, _)| note.title).unwrap_or_default();
        let what = if kept.deed == Deed::Delete { "delete" } else { "update" };
        Ok(Undone { id, title, what })
    }
}

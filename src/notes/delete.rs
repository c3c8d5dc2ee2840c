//! Taking notes away, and files that are none and lie among them; all can be brought back.

use super::error::NoteError;
use super::note::{Note, NoteId};
use super::store::NoteStore;
use super::trash::Deed;

/// What was deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deleted {
    /// The file without its ending: the id of a note.
    pub id: String,
    /// The title; of a file that cannot be understood its name.
    pub title: String,
    /// Why the file could not be understood; none for a note.
    pub problem: Option<String>,
}

impl NoteStore {
    /// Deletes a note and returns it; its bytes stay recoverable ([`Self::undo`]).
    pub fn delete(&self, id: &str) -> Result<Note, NoteError> {
        // What is not there is told before the lock, which makes the folder.
        self.find(id)?;
        let _lock = self.lock()?;
        let file = self.find(id)?;
        let (note, _, _) = self.read_file(&file)?;
        self.take_away(&file, Some(&note.id))?;
        Ok(note)
    }

    /// Like [`Self::delete`], and takes the name or the id of a file too that is among the notes
    /// and cannot be understood.
    pub fn delete_file(&self, name: &str) -> Result<Deleted, NoteError> {
        let error = match self.delete(name) {
            Ok(note) => {
                return Ok(Deleted { id: note.id.to_string(), title: note.title, problem: None });
            }
            Err(error) => error,
        };
        let wanted = match &error {
            NoteError::Unreadable { file, .. } => file.as_str(),
            // A file that is too long is an error of reading.
            NoteError::BadId(_) | NoteError::NotFound(_) | NoteError::Io { .. } => name,
            _ => return Err(error),
        };
        if self.unreadable(wanted)?.is_none() {
            return Err(error);
        }
        let _lock = self.lock()?;
        let Some((file, problem)) = self.unreadable(wanted)? else { return Err(error) };
        self.take_away(&file, None)?;
        let id = file.trim_end_matches(".md").to_owned();
        Ok(Deleted { id, title: file, problem: Some(problem) })
    }

    /// Returns a file that cannot be understood, by its name with or without the ending, and what
    /// is wrong with it. Only what was found in the folder is compared, so no name leads out of it.
    fn unreadable(&self, name: &str) -> Result<Option<(String, String)>, NoteError> {
        let catalog = self.catalog()?;
        let mut entries = catalog.entries().map(|(_, entry)| entry);
        let found = entries.find(|entry| {
            entry.problem.is_some()
                && (entry.file == name || entry.file.strip_suffix(".md") == Some(name))
        });
        Ok(found.and_then(|entry| Some((entry.file.clone(), entry.problem.clone()?))))
    }

    /// Moves a file into the trash.
    fn take_away(&self, file: &str, id: Option<&NoteId>) -> Result<(), NoteError> {
        let path = self.folder.join(file);
        let is_plain = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        if !is_plain {
            let problem = "it is not a plain file, and no other can be brought back".to_owned();
            return Err(NoteError::Unreadable { file: file.to_owned(), problem });
        }
        self.trash.take(Deed::Delete, &path, file).map_err(NoteError::io("deleting", &path))?;
        match id {
            Some(id) => self.change_index(id, None),
            None => self.refresh_index(),
        }
        Ok(())
    }
}

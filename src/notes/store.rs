//! The operations on a folder of notes.
//!
//! Every write holds the kernel lock of the folder, keeps the bytes that it replaces, and is on
//! disk when it returns. Readers take no lock. A store holds no truth: two of them on one folder,
//! in one process or in several, see each other's writes.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, FixedOffset, Utc};

use super::catalog::{Catalog, Loader};
use super::entry::Entry;
use super::error::NoteError;
use super::files::{self, Stamp};
use super::front_matter::{NoteText, Problem};
use super::near::{self, NearDuplicate};
use super::note::{NewNote, Note, NoteId, NoteKind};
use super::scorer::{ByWords, NoteScorer};
use super::states::FormerState;
use super::trash::Trash;
use super::{check, format, index_file};
use crate::support::atomic_file::{self, Lock};
use crate::support::clock::Clock;

/// A folder of notes.
pub struct NoteStore {
    pub(super) folder: PathBuf,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) trash: Trash,
    /// Who orders what a search finds.
    pub(super) scorer: Arc<dyn NoteScorer>,
    loader: Loader,
    /// The latest texts that were read, to merge edits that were made from them.
    remembered: Mutex<VecDeque<(String, String)>>,
}

/// What came of a creation.
#[derive(Debug, Clone, PartialEq)]
pub struct Created {
    /// The note, as it was read back from disk.
    pub note: Note,
    /// Another note that says almost the same.
    pub near_duplicate: Option<NearDuplicate>,
    /// The state that was current in the line of work of this one, and is still open.
    pub former_state: Option<FormerState>,
    /// Whether the note was there before, so that nothing was written.
    pub existed: bool,
}

impl NoteStore {
    /// Opens a folder; creates nothing until the first write.
    pub fn open(folder: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self {
            trash: Trash::of(&folder),
            scorer: Arc::new(ByWords),
            loader: Loader::new(folder.clone()),
            folder,
            clock,
            remembered: Mutex::default(),
        }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a new note down; it is on disk when this returns.
    #[expect(clippy::needless_pass_by_value, reason = "a new note is handed over")]
    pub fn create(&self, new: NewNote) -> Result<Created, NoteError> {
        self.create_unless(&new, |_| false)
    }

    /// Like [`NoteStore::create`], but a note that is there and not settled is not written again.
    #[expect(clippy::needless_pass_by_value, reason = "a new note is handed over")]
    pub fn create_once(&self, new: NewNote) -> Result<Created, NoteError> {
        self.create_unless(&new, |near| near.is_same)
    }

    fn create_unless(
        &self,
        new: &NewNote,
        exists: impl Fn(&NearDuplicate) -> bool,
    ) -> Result<Created, NoteError> {
        check::new_note(new)?;
        let _lock = self.lock()?;
        let known = match new.kind {
            // The state before it may be one of the newest notes.
            NoteKind::TaskState => usize::MAX,
            _ => NEWEST,
        };
        let glance = self.loader.glance(known);
        let near_duplicate = match &glance {
            Some(catalog) => self.near_duplicate(catalog, new),
            None => self.with_catalog(|catalog| Ok(self.near_duplicate(catalog, new)))?,
        };
        if let Some(near) = near_duplicate.as_ref().filter(|near| exists(near)) {
            let note = self.read(near.id.as_str())?;
            let (near_duplicate, former_state) = (None, None);
            return Ok(Created { note, near_duplicate, former_state, existed: true });
        }
        if glance.as_ref().is_some_and(Catalog::is_damaged) {
            self.loader.forget();
        }
        let now = self.clock.now();
        let (id, text) = self.write_new(new, now)?;
        let note = self.read_back(&id, &text)?;
        self.trash.remember_creation(&note.file, &note.hash);
        let entry = Entry::of(&note);
        if glance.is_none() || !index_file::append(&self.folder, &entry) {
            self.refresh_index();
        }
        let former_state = match &glance {
            Some(catalog) => self.former_state(catalog, &entry),
            None if new.kind != NoteKind::TaskState => None,
            // The note is written: what cannot be told of another is no failure.
            None => {
                self.with_catalog(|catalog| Ok(self.former_state(catalog, &entry))).unwrap_or(None)
            }
        };
        Ok(Created { note, near_duplicate, former_state, existed: false })
    }

    /// Reads a note; the start or the end of its id is enough.
    pub fn read(&self, id: &str) -> Result<Note, NoteError> {
        let file = self.find(id)?;
        let (note, source, _) = self.read_file(&file)?;
        self.remember(&note.hash, source);
        Ok(note)
    }

    /// Returns the whole id that the start or the end of one means.
    pub fn resolve(&self, id: &str) -> Result<NoteId, NoteError> {
        let file = self.find(id)?;
        let (note, _, _) = self.read_file(&file)?;
        Ok(note.id)
    }

    /// Returns the notes as they are now, with all their entries read.
    pub(super) fn catalog(&self) -> Result<Arc<Catalog>, NoteError> {
        let load =
            || self.loader.load(&*self.clock).map_err(NoteError::io("reading", &self.folder));
        let catalog = load()?;
        if catalog.reads_whole() {
            return Ok(catalog);
        }
        self.loader.forget();
        load()
    }

    /// Does something with the notes as they are now, and once more where it turned out that a
    /// derived file was damaged.
    pub(super) fn with_catalog<T>(
        &self,
        work: impl Fn(&Catalog) -> Result<T, NoteError>,
    ) -> Result<T, NoteError> {
        let load =
            || self.loader.load(&*self.clock).map_err(NoteError::io("reading", &self.folder));
        let catalog = load()?;
        let result = work(&catalog);
        if !catalog.is_damaged() {
            return result;
        }
        self.loader.forget();
        work(&*load()?)
    }

    /// Returns the offset of times without a zone.
    pub(super) fn zone(&self) -> FixedOffset {
        *self.clock.now().offset()
    }

    /// Makes the folder if need be, and waits for its lock.
    pub(super) fn lock(&self) -> Result<Lock, NoteError> {
        if self.folder.is_symlink() {
            let problem = "is a symbolic link, and notes are not written through one";
            return Err(NoteError::BadFolder { folder: self.folder.clone(), problem });
        }
        if self.folder.exists() && !self.folder.is_dir() {
            return Err(NoteError::BadFolder {
                folder: self.folder.clone(),
                problem: "is not a folder",
            });
        }
        atomic_file::make_folder(&self.folder).map_err(NoteError::io("making", &self.folder))?;
        let path = self.folder.join(".lock");
        Lock::take(&path, PATIENCE).map_err(|error| {
            if error.kind() == io::ErrorKind::TimedOut {
                NoteError::Locked { folder: self.folder.clone(), seconds: PATIENCE.as_secs() }
            } else {
                NoteError::io("locking", path)(error)
            }
        })
    }

    /// Returns the file of a note by its id, or by the start or end of one.
    pub(super) fn find(&self, id: &str) -> Result<String, NoteError> {
        // An id is often written as code, and read aloud in any case.
        let lower = id.trim().trim_matches(['`', '"', '\'']).to_ascii_lowercase();
        let part = lower.trim_end_matches(".md");
        let looks_right = !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'_' || b"note".contains(&byte));
        if !looks_right {
            return Err(NoteError::BadId(id.to_owned()));
        }
        if let Some(whole) = NoteId::parse(part) {
            let file = whole.file_name();
            if self.folder.join(&file).symlink_metadata().is_ok() {
                return Ok(file);
            }
        }
        let catalog = self.catalog()?;
        let mut candidates: Vec<(&str, &str)> = catalog
            .entries()
            .filter_map(|(_, entry)| Some((entry.id.as_ref()?.as_str(), entry.file.as_str())))
            .filter(|(id, _)| {
                let bare = id.trim_start_matches("note_");
                id.starts_with(part) || id.ends_with(part) || bare.starts_with(part)
            })
            .collect();
        candidates.sort_unstable();
        if let Some(exact) = candidates.iter().find(|(id, _)| *id == part) {
            return Ok(exact.1.to_owned());
        }
        match candidates.as_slice() {
            [] => Err(NoteError::NotFound(id.to_owned())),
            [(_, file)] => Ok((*file).to_owned()),
            many => Err(NoteError::Ambiguous {
                part: id.to_owned(),
                candidates: many.iter().take(5).map(|(id, _)| (*id).to_owned()).collect(),
            }),
        }
    }

    /// Reads a file that is a note, with its text and its stamp.
    pub(super) fn read_file(&self, file: &str) -> Result<(Note, String, Stamp), NoteError> {
        let path = self.folder.join(file);
        let unreadable = |problem: String| NoteError::Unreadable { file: file.to_owned(), problem };
        let (bytes, stamp) = match files::read(&path) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(NoteError::NotFound(file.trim_end_matches(".md").to_owned()));
            }
            Err(error) => return Err(NoteError::io("reading", path)(error)),
        };
        let source =
            String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".to_owned()))?;
        let note = self
            .parse(file, &source, stamp.modified())
            .map_err(|problem| unreadable(problem.to_string()))?;
        Ok((note, source, stamp))
    }

    /// Reads a note out of a text.
    pub(super) fn parse(
        &self,
        file: &str,
        source: &str,
        modified: DateTime<Utc>,
    ) -> Result<Note, Problem> {
        format::read_note(file, source, modified, self.zone())
    }

    /// Remembers a text by its hash, and forgets the oldest.
    pub(super) fn remember(&self, hash: &str, source: String) {
        let mut remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if remembered.iter().any(|(known, _)| known == hash) {
            return;
        }
        remembered.push_back((hash.to_owned(), source));
        while remembered.len() > REMEMBERED {
            remembered.pop_front();
        }
    }

    /// Returns a text by its hash: one that was read, or one that was overwritten.
    pub(super) fn recall(&self, hash: &str) -> Option<String> {
        let remembered = self.remembered.lock().unwrap_or_else(PoisonError::into_inner);
        let text = remembered.iter().find(|(known, _)| known == hash).map(|(_, text)| text.clone());
        drop(remembered);
        text.or_else(|| String::from_utf8(self.trash.find(hash)?).ok())
    }

    /// Brings the derived index up to date; called under the lock, after a write.
    pub(super) fn refresh_index(&self) {
        // The note is on disk already: an index that cannot be made now is made with the next.
        let Ok(catalog) = self.catalog() else { return };
        index_file::write(&self.folder, catalog.entries().map(|(_, entry)| entry));
        if catalog.has_unfinished {
            atomic_file::remove_unfinished(&self.folder);
        }
    }

    /// Brings the index up to date where nothing but one note changed, which it has now or, where
    /// there is none, not any more. What people changed by hand comes in only now and then: to see
    /// it, all notes have to be looked at.
    pub(super) fn change_index(&self, id: &NoteId, now: Option<&Note>) {
        let entry = now.map(Entry::of);
        let is_due = self.trash.latest().is_multiple_of(UNSEEN);
        if is_due || !index_file::change(&self.folder, id, entry.as_ref()) {
            self.refresh_index();
        }
    }

    /// Reads a note that was just written and compares it with what it should be.
    pub(super) fn read_back(&self, id: &NoteId, text: &str) -> Result<Note, NoteError> {
        let (note, source, _) = self.read_file(&id.file_name())?;
        if source != text {
            let path = self.folder.join(id.file_name());
            let error = io::Error::other("the bytes read back are not those that were written");
            return Err(NoteError::io("writing", path)(error));
        }
        self.remember(&note.hash, source);
        Ok(note)
    }

    /// Writes a new file under the smallest free number of the second.
    fn write_new(
        &self,
        new: &NewNote,
        now: DateTime<FixedOffset>,
    ) -> Result<(NoteId, String), NoteError> {
        let deleted: Vec<String> = self.trash.kept().into_iter().map(|kept| kept.file).collect();
        for number in 0.. {
            let id = NoteId::new(now.naive_local(), number);
            let file = id.file_name();
            if deleted.contains(&file) {
                // Bringing the deleted one back must not meet another with its id.
                continue;
            }
            let path = self.folder.join(&file);
            let text = format::new_file(&id, new, now);
            match atomic_file::create_new(&path, text.as_bytes()) {
                Ok(()) => return Ok((id, text)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(NoteError::io("writing", path)(error)),
            }
        }
        Err(NoteError::NotFound("a free number".to_owned()))
    }

    fn near_duplicate(&self, catalog: &Catalog, new: &NewNote) -> Option<NearDuplicate> {
        near::find(catalog, new, |file| Some(self.read_file(file).ok()?.0))
    }
}

/// Refuses a file with conflict markers in its front matter, which has two truths.
pub(super) fn refuse_conflict(file: &str, text: &NoteText<'_>) -> Result<(), NoteError> {
    match text.conflict() {
        Some(line) => Err(NoteError::Unreadable {
            file: file.to_owned(),
            problem: format!("line {line}: a conflict of Git is not resolved"),
        }),
        None => Ok(()),
    }
}

/// How long a lock is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many of the newest notes are looked at in a large folder when one is written.
const NEWEST: usize = 32;

/// So many changes may pass before the index is made of all notes again.
const UNSEEN: u64 = 64;

/// How many texts are remembered for merging.
const REMEMBERED: usize = 64;

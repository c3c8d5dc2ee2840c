//! The operations on a folder of notes.
//!
//! Every write holds the kernel lock of the folder, keeps the bytes that it replaces, and is on
//! disk when it returns. Readers take no lock. A store holds no truth: two of them on one folder,
//! in one process or in several, see each other's writes.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chrono::{DateTime, FixedOffset, Utc};
use serde::Serialize;

use super::catalog::{Catalog, Loader};
use super::entry::{Entry, Head};
use super::error::NoteError;
use super::files::{self, Stamp};
use super::front_matter::{NoteText, Problem};
use super::lifecycle::{self, Return};
use super::near::{self, NearDuplicate};
use super::note::{NewNote, Note, NoteId, NoteKind, Status};
use super::trash::{Deed, Trash};
use super::{check, format, index_file};
use crate::support::atomic_file::{self, Lock};
use crate::support::clock::Clock;

/// A folder of notes.
pub struct NoteStore {
    pub(super) folder: PathBuf,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) trash: Trash,
    loader: Loader,
    /// The latest texts that were read, to merge edits that were made from them.
    remembered: Mutex<VecDeque<(String, String)>>,
}

/// Which notes are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// Only this type.
    pub kind: Option<NoteKind>,
    /// Only notes with any of these tags; none: all notes.
    pub tags: Vec<String>,
    /// Only this status. None: all in a list; all but superseded and dropped ones in a search.
    pub status: Option<Status>,
    /// At most so many.
    pub limit: usize,
}

/// What came of a creation.
#[derive(Debug, Clone, PartialEq)]
pub struct Created {
    /// The note, as it was read back from disk.
    pub note: Note,
    /// Another note that says almost the same.
    pub near_duplicate: Option<NearDuplicate>,
    /// Whether the note was there before, so that nothing was written.
    pub existed: bool,
}

/// What a list shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The notes, the latest change first, at most as many as were asked for.
    pub notes: Vec<Entry>,
    /// How many notes the filter lets through.
    pub total: usize,
    /// The files that could not be understood.
    pub unreadable: Vec<Entry>,
}

/// All notes in a few lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// How many there are.
    pub total_notes: usize,
    /// How many of each type, without those that have none.
    pub type_distribution: BTreeMap<NoteKind, usize>,
    /// How many of each status.
    pub status_distribution: BTreeMap<Status, usize>,
    /// The five that changed last.
    pub recent_notes: Vec<Entry>,
    /// The open blockers, the latest change first.
    pub open_blockers: Vec<Entry>,
    /// The actions that are open and wait for nothing.
    pub ready_actions: Vec<Entry>,
    /// The files that could not be understood.
    pub unreadable: Vec<Entry>,
}

impl NoteStore {
    /// Opens a folder; creates nothing until the first write.
    pub fn open(folder: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self {
            trash: Trash::of(&folder),
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
        let glance = self.loader.glance();
        let near_duplicate = match &glance {
            Some(catalog) => self.near_duplicate(catalog, new),
            None => self.with_catalog(|catalog| Ok(self.near_duplicate(catalog, new)))?,
        };
        if let Some(near) = near_duplicate.as_ref().filter(|near| exists(near)) {
            let note = self.read(near.id.as_str())?;
            return Ok(Created { note, near_duplicate: None, existed: true });
        }
        if glance.as_ref().is_some_and(Catalog::is_damaged) {
            self.loader.forget();
        }
        let now = self.clock.now();
        let (id, text) = self.write_new(new, now)?;
        let note = self.read_back(&id, &text)?;
        self.trash.remember_creation(&note.file, &note.hash);
        if glance.is_none() || !index_file::append(&self.folder, &Entry::of(&note)) {
            self.refresh_index();
        }
        Ok(Created { note, near_duplicate, existed: false })
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

    /// Returns the notes that a filter lets through, the latest change first.
    pub fn list(&self, filter: &Filter) -> Result<Listing, NoteError> {
        self.with_catalog(|catalog| Ok(self.listing(catalog, filter)))
    }

    fn listing(&self, catalog: &Catalog, filter: &Filter) -> Listing {
        let mut notes: Vec<(usize, Head<'_>)> = Vec::new();
        let mut unreadable = Vec::new();
        for (document, head) in catalog.heads() {
            if !head.is_note {
                unreadable.extend(catalog.entry(document).cloned());
            } else if filter.lets_through(head, || catalog.entry(document)) {
                notes.push((document, head));
            }
        }
        let total = notes.len();
        let zone = self.zone();
        let newest_first = |a: &(usize, Head<'_>), b: &(usize, Head<'_>)| {
            lifecycle::head_sort_key(b.1, zone).cmp(&lifecycle::head_sort_key(a.1, zone))
        };
        if filter.limit < total {
            notes.select_nth_unstable_by(filter.limit, newest_first);
            notes.truncate(filter.limit);
        }
        notes.sort_unstable_by(newest_first);
        unreadable.sort_by(|a, b| a.file.cmp(&b.file));
        let notes = notes.into_iter().filter_map(|(document, _)| catalog.entry(document).cloned());
        Listing { notes: notes.collect(), total, unreadable }
    }

    /// Returns counts, what changed last, and what stands in the way.
    pub fn summary(&self) -> Result<Summary, NoteError> {
        let catalog = self.catalog()?;
        let mut notes: Vec<&Entry> =
            catalog.entries().map(|(_, entry)| entry).filter(|entry| entry.is_note()).collect();
        self.sort(&mut notes);
        let mut summary = Summary {
            total_notes: notes.len(),
            type_distribution: BTreeMap::new(),
            status_distribution: BTreeMap::new(),
            recent_notes: notes.iter().take(5).map(|entry| (*entry).clone()).collect(),
            open_blockers: Vec::new(),
            ready_actions: Vec::new(),
            unreadable: catalog
                .entries()
                .filter(|(_, entry)| !entry.is_note())
                .map(|(_, entry)| entry.clone())
                .collect(),
        };
        for (entry, why) in notes.iter().zip(lifecycle::returns(&notes, self.zone())) {
            *summary.type_distribution.entry(entry.kind).or_default() += 1;
            *summary.status_distribution.entry(entry.status).or_default() += 1;
            match why {
                Return::OpenBlocker => summary.open_blockers.push((*entry).clone()),
                Return::OpenAction if lifecycle::waits_for(entry, &notes).is_empty() => {
                    summary.ready_actions.push((*entry).clone());
                }
                Return::OpenAction | Return::CurrentState | Return::No => {}
            }
        }
        Ok(summary)
    }

    /// Deletes a note and returns it; its bytes stay recoverable ([`Self::undo`]).
    pub fn delete(&self, id: &str) -> Result<Note, NoteError> {
        // What is not there is told before the lock, which makes the folder.
        self.find(id)?;
        let _lock = self.lock()?;
        let file = self.find(id)?;
        let (note, _, _) = self.read_file(&file)?;
        let path = self.folder.join(&file);
        self.trash.take(Deed::Delete, &path, &file).map_err(NoteError::io("deleting", &path))?;
        self.refresh_index();
        Ok(note)
    }

    /// Returns the blockers that are not resolved, the latest change first.
    pub fn open_blockers(&self) -> Result<Vec<Note>, NoteError> {
        self.that_return(Return::OpenBlocker)
    }

    /// Returns the newest state of each line of work, the latest change first.
    pub fn current_task_states(&self) -> Result<Vec<Note>, NoteError> {
        self.that_return(Return::CurrentState)
    }

    /// Returns the actions that are not done, the latest change first.
    pub fn open_actions(&self) -> Result<Vec<Note>, NoteError> {
        self.that_return(Return::OpenAction)
    }

    /// Returns the notes as they are now, with all their entries read.
    pub(super) fn catalog(&self) -> Result<Arc<Catalog>, NoteError> {
        let load = || self.loader.load().map_err(NoteError::io("reading", &self.folder));
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
        let load = || self.loader.load().map_err(NoteError::io("reading", &self.folder));
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
        let part = id.trim().trim_end_matches(".md");
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

    fn that_return(&self, why: Return) -> Result<Vec<Note>, NoteError> {
        let catalog = self.catalog()?;
        let mut entries: Vec<&Entry> = catalog.entries().map(|(_, entry)| entry).collect();
        self.sort(&mut entries);
        let wanted = entries.iter().zip(lifecycle::returns(&entries, self.zone()));
        let files = wanted.filter(|(_, reason)| *reason == why).map(|(entry, _)| &entry.file);
        // A file that went away or broke since is no note any more.
        Ok(files.filter_map(|file| Some(self.read_file(file).ok()?.0)).collect())
    }

    fn sort(&self, entries: &mut [&Entry]) {
        let zone = self.zone();
        entries.sort_by(|a, b| lifecycle::sort_key(b, zone).cmp(&lifecycle::sort_key(a, zone)));
    }
}

impl Default for Filter {
    /// Lets all notes through.
    fn default() -> Self {
        Self { kind: None, tags: Vec::new(), status: None, limit: usize::MAX }
    }
}

impl Filter {
    /// Returns whether a note is wanted, its status included; the entry is asked for where the
    /// head is not enough.
    pub(super) fn lets_through<'a>(
        &self,
        head: Head<'_>,
        entry: impl FnOnce() -> Option<&'a Entry>,
    ) -> bool {
        self.kind.is_none_or(|kind| kind == head.kind)
            && self.status.is_none_or(|status| status == head.status)
            && (self.tags.is_empty() || entry().is_some_and(|entry| self.has_tag_of(entry)))
    }

    fn has_tag_of(&self, entry: &Entry) -> bool {
        let has_tag = |wanted: &String| {
            entry.tags.iter().any(|tag| tag.to_lowercase() == wanted.to_lowercase())
        };
        self.tags.iter().any(has_tag)
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

/// How many texts are remembered for merging.
const REMEMBERED: usize = 64;

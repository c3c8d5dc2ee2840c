//! What is read of all notes at once: lists, the summary, and the notes that come back unasked.

use std::collections::BTreeMap;

use serde::Serialize;

use super::catalog::Catalog;
use super::entry::{Entry, Head};
use super::error::NoteError;
use super::lifecycle::{self, Done, Return};
use super::newest::Newest;
use super::note::{Note, NoteKind, Status};
use super::store::NoteStore;

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
    /// Returns the notes that a filter lets through, the latest change first.
    pub fn list(&self, filter: &Filter) -> Result<Listing, NoteError> {
        self.with_catalog(|catalog| Ok(self.listing(catalog, filter)))
    }

    fn listing(&self, catalog: &Catalog, filter: &Filter) -> Listing {
        let zone = self.zone();
        let mut newest = Newest::new(filter.limit, |a: &(i64, usize), b: &(i64, usize)| {
            a.0.cmp(&b.0).then_with(|| catalog.compare_files(a.1, b.1))
        });
        let mut unreadable = Vec::new();
        for (document, head) in catalog.heads() {
            if !head.is_note {
                unreadable.extend(catalog.entry(document).cloned());
            } else if filter.lets_through(head, || catalog.entry(document)) {
                newest.add((head.utc_milliseconds(zone), document));
            }
        }
        unreadable.sort_by(|a, b| a.file.cmp(&b.file));
        let (notes, total) = newest.sorted();
        let notes = notes.into_iter().filter_map(|(_, document)| catalog.entry(document).cloned());
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
        let done = Done::of(&notes);
        for (entry, why) in notes.iter().zip(lifecycle::returns(&notes, self.zone())) {
            *summary.type_distribution.entry(entry.kind).or_default() += 1;
            *summary.status_distribution.entry(entry.status).or_default() += 1;
            match why {
                Return::OpenBlocker => summary.open_blockers.push((*entry).clone()),
                Return::OpenAction if done.lets_begin(entry) => {
                    summary.ready_actions.push((*entry).clone());
                }
                Return::OpenAction | Return::CurrentState | Return::No => {}
            }
        }
        Ok(summary)
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

    fn that_return(&self, why: Return) -> Result<Vec<Note>, NoteError> {
        let catalog = self.catalog()?;
        let mut entries: Vec<&Entry> = catalog.entries().map(|(_, entry)| entry).collect();
        self.sort(&mut entries);
        let wanted = entries.iter().zip(lifecycle::returns(&entries, self.zone()));
        let files = wanted.filter(|(_, reason)| *reason == why).map(|(entry, _)| &entry.file);
        // A file that went away or broke since is no note any more.
        Ok(files.filter_map(|file| Some(self.read_file(file).ok()?.0)).collect())
    }

    pub(super) fn sort(&self, entries: &mut [&Entry]) {
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
        head: Head,
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

//! The state of a line of work that a new one comes after.
//!
//! The newest open state of a line is its current one, so a new state takes the place of another
//! without a word in either note. Who writes it is told; the other note stays as it is.

use super::catalog::Catalog;
use super::entry::Entry;
use super::lifecycle;
use super::note::{NoteId, NoteKind};
use super::store::NoteStore;

/// The state that was the current one of a line of work until a new one was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormerState {
    /// Its id.
    pub id: NoteId,
    /// Its title.
    pub title: String,
    /// The line of work; none for notes that name none.
    pub thread: Option<String>,
}

impl NoteStore {
    /// Returns the state that a new one comes after, if it is still open. The catalogue may be a
    /// little old: what counts is what the file says now.
    pub(super) fn former_state(&self, catalog: &Catalog, new: &Entry) -> Option<FormerState> {
        if !is_open_state(new) {
            return None;
        }
        let is_same_line = |other: &Entry| {
            is_open_state(other)
                && other.line_of_work() == new.line_of_work()
                && other.file != new.file
        };
        let states: Vec<usize> = catalog
            .heads()
            .filter(|(_, head)| head.kind == new.kind && lifecycle::is_open(head.status))
            .map(|(document, _)| document)
            .collect();
        if states.len() > FEW {
            catalog.read_entries();
        }
        let entries = states.into_iter().filter_map(|document| catalog.entry(document));
        let mut entries: Vec<&Entry> = entries.filter(|other| is_same_line(other)).collect();
        self.sort(&mut entries);
        let now = entries.iter().take(LOOKED_AT).filter_map(|entry| {
            let entry = Entry::of(&self.read_file(&entry.file).ok()?.0);
            is_same_line(&entry).then_some(entry)
        });
        let zone = self.zone();
        let former =
            now.max_by(|a, b| lifecycle::sort_key(a, zone).cmp(&lifecycle::sort_key(b, zone)))?;
        let thread = former.line_of_work().map(str::to_owned);
        Some(FormerState { id: former.id?, title: former.title, thread })
    }
}

fn is_open_state(entry: &Entry) -> bool {
    entry.kind == NoteKind::TaskState && lifecycle::is_live(entry)
}

/// More entries than these are quicker read all at once.
const FEW: usize = 32;

/// So many of the newest are looked at.
const LOOKED_AT: usize = 3;

//! When a note comes back into the context by itself: blockers until they are resolved, actions
//! until they are done, the newest state of each line of work.
//!
//! Nothing here is stored: it is computed from type, status and dependencies, by one function that
//! every view uses.

use std::collections::{HashMap, HashSet};

use chrono::FixedOffset;

use super::entry::{Entry, file_order};
use super::note::{NoteKind, Status};

/// Why a note comes back unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Return {
    /// A blocker that is not resolved.
    OpenBlocker,
    /// The newest state of its line of work.
    CurrentState,
    /// An action that is not done.
    OpenAction,
    /// It does not; search may find it.
    No,
}

/// Returns for each entry, in their order, why it comes back; times without a zone are in `zone`.
pub(super) fn returns(entries: &[&Entry], zone: FixedOffset) -> Vec<Return> {
    let mut newest: HashMap<Option<&str>, usize> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        if entry.kind == NoteKind::TaskState && is_live(entry) {
            let place = newest.entry(entry.line_of_work()).or_insert(at);
            if sort_key(entry, zone) > sort_key(entries[*place], zone) {
                *place = at;
            }
        }
    }
    let one = |(at, entry): (usize, &&Entry)| match entry.kind {
        _ if !is_live(entry) => Return::No,
        NoteKind::Blocker => Return::OpenBlocker,
        NoteKind::Action => Return::OpenAction,
        NoteKind::TaskState if newest.get(&entry.line_of_work()) == Some(&at) => {
            Return::CurrentState
        }
        NoteKind::TaskState | NoteKind::Conclusion | NoteKind::Reference | NoteKind::General => {
            Return::No
        }
    };
    entries.iter().enumerate().map(one).collect()
}

/// Which notes are done, by their ids: what others wait for.
pub(super) struct Done<'a> {
    ids: HashSet<&'a str>,
}

impl<'a> Done<'a> {
    /// Looks at all notes; of two with one id the first counts.
    pub(super) fn of(entries: &[&'a Entry]) -> Self {
        let mut first: HashMap<&str, Status> = HashMap::new();
        for entry in entries {
            if let Some(id) = &entry.id {
                first.entry(id.as_str()).or_insert(entry.status);
            }
        }
        let done = first.into_iter().filter(|(_, status)| *status == Status::Done);
        Self { ids: done.map(|(id, _)| id).collect() }
    }

    /// Returns whether a note waits for nothing: all that it depends on is there and done.
    pub(super) fn lets_begin(&self, entry: &Entry) -> bool {
        entry.depends_on.iter().all(|id| self.ids.contains(id.as_str()))
    }
}

/// Returns whether a note still counts.
pub(super) fn is_live(entry: &Entry) -> bool {
    entry.is_note() && is_open(entry.status)
}

/// Returns whether a matter of that status is not settled.
pub(super) fn is_open(status: Status) -> bool {
    match status {
        Status::Open | Status::Doing => true,
        Status::Done | Status::Superseded | Status::Dropped => false,
    }
}

/// Returns whether search leaves a note out unless asked.
pub(super) fn is_hidden(status: Status) -> bool {
    match status {
        Status::Open | Status::Doing | Status::Done => false,
        Status::Superseded | Status::Dropped => true,
    }
}

/// Returns what notes are sorted by, the newest last; within a second the id's number decides.
pub(super) fn sort_key(entry: &Entry, zone: FixedOffset) -> (i64, (usize, &[u8])) {
    (entry.utc_milliseconds(zone), file_order(entry.file.as_bytes()))
}

//! Open blockers: part of the state of the work, every turn, until they are resolved.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::notes::{failure, packet};
use crate::context::{ContextPacket, ContextSource, PacketKind, Query, SourceFailure};
use crate::notes::NoteStore;

/// Offers the open blockers; those beyond the limit are counted and never left out silently.
#[derive(Clone)]
pub struct Blockers {
    store: Arc<NoteStore>,
    most: usize,
}

impl Blockers {
    /// Returns the blockers of a store, at most `most` of them with their text.
    pub fn new(store: Arc<NoteStore>, most: usize) -> Self {
        Self { store, most }
    }

    fn packets(&self, query: &Query) -> Result<Vec<ContextPacket>, SourceFailure> {
        let blockers = self.store.open_blockers().map_err(|error| failure(self.name(), &error))?;
        let mut packets: Vec<ContextPacket> = blockers
            .iter()
            .take(self.most)
            .map(|note| packet(note, PacketKind::WorkState).with_relevance(RELEVANCE).always())
            .collect();
        let rest = blockers.len().saturating_sub(self.most);
        if rest > 0 {
            let content = format!("and {rest} more open, which the notes list");
            packets.push(
                ContextPacket::new(PacketKind::WorkState, "blockers", content, query.now)
                    .with_note_type("blocker")
                    .with_relevance(RELEVANCE)
                    .always(),
            );
        }
        Ok(packets)
    }
}

impl ContextSource for Blockers {
    fn name(&self) -> &'static str {
        "blockers"
    }

    fn gather<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        async move { self.packets(query) }.boxed()
    }
}

/// The base relevance of a blocker; the chapter's maintainer puts them first.
const RELEVANCE: f64 = 0.9;

#[cfg(test)]
mod tests {
    use super::super::tests::{Notes, gather};
    use super::*;
    use crate::context::Keep;
    use crate::notes::{NoteKind, Status};

    #[test]
    fn a_blocker_is_always_kept_until_it_is_resolved() {
        let notes = Notes::empty();
        let id = notes.add(NoteKind::Blocker, "Dependency conflict", "flask 3 needs werkzeug 3");
        notes.add(NoteKind::Action, "Rename the helper", "soon");
        let source = Blockers::new(notes.store(), 20);
        let packets = gather(&source, "anything").unwrap();
        assert_eq!(packets.len(), 1);
        assert_eq!(packets[0].keep, Keep::Always);
        assert_eq!(packets[0].source, id);
        assert_eq!(packets[0].note_type.as_deref(), Some("blocker"));
        assert_eq!(packets[0].content, "Dependency conflict\nflask 3 needs werkzeug 3");
        notes.set(&id, Status::Done);
        assert_eq!(gather(&source, "anything").unwrap(), []);
    }

    #[test]
    fn more_blockers_than_wanted_are_counted() {
        let notes = Notes::empty();
        for number in 0..5 {
            notes.add(NoteKind::Blocker, &format!("Blocker {number}"), "text");
        }
        let packets = gather(&Blockers::new(notes.store(), 3), "x").unwrap();
        assert_eq!(packets.len(), 4);
        assert_eq!(packets[3].content, "and 2 more open, which the notes list");
        assert_eq!(packets[3].keep, Keep::Always);
    }

    #[test]
    fn a_folder_that_cannot_be_read_is_a_failure_with_a_reason() {
        let notes = Notes::in_place_of_a_folder();
        let failure = gather(&Blockers::new(notes.store(), 3), "x").unwrap_err();
        assert!(failure.to_string().starts_with("blockers: "), "{failure}");
    }
}

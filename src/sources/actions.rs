//! Actions that are ready: open, and waiting for nothing.

use std::collections::HashSet;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::notes::{base_relevance, failure, packet};
use crate::context::{ContextPacket, ContextSource, PacketKind, Query, SourceFailure};
use crate::notes::{NoteId, NoteKind, NoteStore};

/// Offers the ready actions, the latest change first.
#[derive(Clone)]
pub struct Actions {
    store: Arc<NoteStore>,
}

impl Actions {
    /// Returns the actions of a store.
    pub fn new(store: Arc<NoteStore>) -> Self {
        Self { store }
    }

    fn packets(&self) -> Result<Vec<ContextPacket>, SourceFailure> {
        let failed = |error: &crate::notes::NoteError| failure(self.name(), error);
        let open = self.store.open_actions().map_err(|error| failed(&error))?;
        let ready = self.store.summary().map_err(|error| failed(&error))?.ready_actions;
        let ready: HashSet<&NoteId> = ready.iter().filter_map(|entry| entry.id.as_ref()).collect();
        let packets = open.iter().filter(|note| ready.contains(&note.id)).take(MOST).map(|note| {
            packet(note, PacketKind::Note).with_relevance(base_relevance(NoteKind::Action))
        });
        Ok(packets.collect())
    }
}

impl ContextSource for Actions {
    fn name(&self) -> &'static str {
        "actions"
    }

    fn gather<'a>(
        &'a self,
        _query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        async move { self.packets() }.boxed()
    }
}

/// How many are offered; the newest come first.
const MOST: usize = 10;

#[cfg(test)]
mod tests {
    use super::super::tests::{Notes, gather};
    use super::*;
    use crate::notes::Status;

    #[test]
    fn an_action_comes_back_while_it_is_ready() {
        let notes = Notes::empty();
        let first = notes.add(NoteKind::Action, "Rename the helper", "in utils");
        let second = notes.add_after(&first, NoteKind::Action, "Move the helper", "then");
        let source = Actions::new(notes.store());
        let names = || -> Vec<String> {
            gather(&source, "x").unwrap().into_iter().map(|packet| packet.source).collect()
        };
        assert_eq!(names(), std::slice::from_ref(&first));
        notes.set(&first, Status::Done);
        assert_eq!(names(), [second]);
    }
}

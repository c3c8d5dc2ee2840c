//! Where each line of work stands: its current task state.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::notes::{failure, packet};
use crate::context::{ContextPacket, ContextSource, PacketKind, Query, SourceFailure};
use crate::notes::NoteStore;

/// Offers the current task states; the newest few are always kept, the others compete.
#[derive(Clone)]
pub struct TaskState {
    store: Arc<NoteStore>,
}

impl TaskState {
    /// Returns the task states of a store.
    pub fn new(store: Arc<NoteStore>) -> Self {
        Self { store }
    }

    fn packets(&self) -> Result<Vec<ContextPacket>, SourceFailure> {
        let states =
            self.store.current_task_states().map_err(|error| failure(self.name(), &error))?;
        let packets = states.iter().enumerate().map(|(place, note)| {
            let packet = packet(note, PacketKind::WorkState).with_relevance(RELEVANCE);
            if place < ALWAYS_KEPT { packet.always() } else { packet }
        });
        Ok(packets.collect())
    }
}

impl ContextSource for TaskState {
    fn name(&self) -> &'static str {
        "task states"
    }

    fn gather<'a>(
        &'a self,
        _query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        async move { self.packets() }.boxed()
    }
}

/// How many lines of work are in the context whatever is asked.
const ALWAYS_KEPT: usize = 5;

/// The base relevance of a task state.
const RELEVANCE: f64 = 0.75;

#[cfg(test)]
mod tests {
    use super::super::tests::{Notes, gather};
    use super::*;
    use crate::context::Keep;
    use crate::notes::NoteKind;

    #[test]
    fn each_line_of_work_has_its_current_state() {
        let notes = Notes::empty();
        for number in 0..7 {
            notes.add_to(
                &format!("thread{number}"),
                NoteKind::TaskState,
                &format!("State {number}"),
                "text",
            );
        }
        notes.add_to("thread0", NoteKind::TaskState, "Newer state", "of the first");
        let packets = gather(&TaskState::new(notes.store()), "x").unwrap();
        assert_eq!(packets.len(), 7);
        assert!(packets.iter().all(|packet| packet.kind == PacketKind::WorkState));
        assert!(!packets.iter().any(|packet| packet.content.starts_with("State 0")));
        assert_eq!(packets.iter().filter(|packet| packet.keep == Keep::Always).count(), 5);
    }
}

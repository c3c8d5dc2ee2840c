//! Notes that answer the query, by search; and how a note becomes a packet.
//!
//! Blockers, task states and actions come back by their own rules (see the sources of these names)
//! and not because their words match: what is done must not return by a search. Failed attempts do,
//! so that nothing is tried twice.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::context::{ContextPacket, ContextSource, PacketKind, Query, SourceFailure};
use crate::notes::{Filter, Note, NoteError, NoteKind, NoteStore, Status};

/// Offers notes that match the query.
#[derive(Clone)]
pub struct Notes {
    store: Arc<NoteStore>,
    most: usize,
}

impl Notes {
    /// Returns the notes of a store, at most `most` of them a turn.
    pub fn new(store: Arc<NoteStore>, most: usize) -> Self {
        Self { store, most }
    }

    async fn packets(&self, query: &Query) -> Result<Vec<ContextPacket>, SourceFailure> {
        let filter =
            Filter { kind: None, tags: Vec::new(), status: None, limit: self.most.max(1) * 8 };
        let found = self
            .store
            .search_scored(&query.text, &filter)
            .await
            .map_err(|error| failure(self.name(), &error))?;
        let packets = found
            .hits
            .iter()
            .filter_map(|hit| Some((hit.note.as_ref()?, hit.score)))
            .filter(|(note, _)| comes_by_search(note))
            .take(self.most)
            .map(|(note, score)| {
                packet(note, PacketKind::Note)
                    .with_relevance(refined(base_relevance(note.kind), score))
            });
        let packets: Vec<ContextPacket> = packets.collect();
        if packets.is_empty() && found.total == 0 { self.newest() } else { Ok(packets) }
    }

    /// Returns the newest conclusions: *what did we find?* has no word of what was found.
    fn newest(&self) -> Result<Vec<ContextPacket>, SourceFailure> {
        let filter = Filter {
            kind: Some(NoteKind::Conclusion),
            tags: Vec::new(),
            status: Some(Status::Open),
            limit: self.most,
        };
        let listing = self.store.list(&filter).map_err(|error| failure(self.name(), &error))?;
        let ids = listing.notes.iter().filter_map(|entry| entry.id.as_ref());
        let notes = ids.filter_map(|id| self.store.read(id.as_str()).ok());
        let relevance = refined(base_relevance(NoteKind::Conclusion), 0.0);
        Ok(notes.map(|note| packet(&note, PacketKind::Note).with_relevance(relevance)).collect())
    }
}

impl ContextSource for Notes {
    fn name(&self) -> &'static str {
        "notes"
    }

    fn gather<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        self.packets(query).boxed()
    }
}

/// Returns the packet of a note: its title and its text.
pub(super) fn packet(note: &Note, kind: PacketKind) -> ContextPacket {
    // A body often opens with the title as its heading.
    let body = note.content.trim();
    let body = match body.split_once('\n') {
        Some((first, rest)) if first.trim_start_matches('#').trim() == note.title.trim() => rest,
        None if body.trim_start_matches('#').trim() == note.title.trim() => "",
        Some(_) | None => body,
    };
    let content = format!("{}\n{}", note.title.trim(), body.trim());
    ContextPacket::new(kind, note.id.as_str(), content.trim_end(), note.updated)
        .with_note_type(note.kind.as_str())
}

/// Returns how relevant a note of a type is before its words are looked at.
pub(super) fn base_relevance(kind: NoteKind) -> f64 {
    match kind {
        NoteKind::Blocker => 0.9,
        NoteKind::Action => 0.8,
        NoteKind::TaskState => 0.75,
        NoteKind::Conclusion => 0.7,
        NoteKind::Reference | NoteKind::General => 0.6,
    }
}

/// Returns the failure of a source for an error of the store.
pub(super) fn failure(source_name: &'static str, error: &NoteError) -> SourceFailure {
    SourceFailure { source_name, message: error.to_string() }
}

/// The tag of notes that tell what did not work.
const FAILED_ATTEMPT: &str = "failed-attempt";

fn comes_by_search(note: &Note) -> bool {
    match note.kind {
        NoteKind::Conclusion | NoteKind::Reference | NoteKind::General => true,
        NoteKind::Blocker | NoteKind::Action | NoteKind::TaskState => {
            note.tags.iter().any(|tag| tag == FAILED_ATTEMPT)
        }
    }
}

/// Lets the search's score decide over more than half of the base.
fn refined(base: f64, score: f64) -> f64 {
    base * (0.4 + 0.6 * score)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{self, gather};
    use super::*;

    fn names(source: &Notes, query: &str) -> Vec<String> {
        gather(source, query).unwrap().into_iter().map(|packet| packet.source).collect()
    }

    #[test]
    fn notes_are_found_by_their_words_best_first() {
        let notes = tests::Notes::empty();
        let one = notes.add(NoteKind::Conclusion, "Orders are loaded one by one", "slow checkout");
        let other = notes.add(NoteKind::General, "Something about the checkout", "text");
        notes.add(NoteKind::Reference, "Weather", "rain");
        let source = Notes::new(notes.store(), 5);
        let packets = gather(&source, "slow checkout of orders").unwrap();
        assert_eq!(names(&source, "slow checkout of orders"), [one, other]);
        let relevance = packets[0].relevance.unwrap();
        assert!((relevance - 0.7).abs() < 1e-9, "{relevance}");
        assert!(packets[1].relevance.unwrap() < 0.6);
        assert_eq!(Notes::new(notes.store(), 1).name(), "notes");
        assert_eq!(names(&Notes::new(notes.store(), 1), "slow checkout of orders").len(), 1);
    }

    #[test]
    fn a_question_without_a_match_gets_the_newest_conclusions() {
        let notes = tests::Notes::empty();
        let found =
            notes.add(NoteKind::Conclusion, "Orders are loaded one by one", "slow checkout");
        notes.add(NoteKind::General, "Weather", "rain");
        let packets = gather(&Notes::new(notes.store(), 5), "what did we find?").unwrap();
        assert_eq!(packets.len(), 1);
        assert_eq!(packets[0].source, found);
        assert!(packets[0].relevance.unwrap() < 0.3);
        assert_eq!(names(&Notes::new(tests::Notes::empty().store(), 5), "x"), [""; 0]);
    }

    #[test]
    fn what_comes_back_by_its_own_rules_does_not_come_by_search() {
        let notes = tests::Notes::empty();
        notes.add(NoteKind::Action, "Rename the helper", "text");
        notes.add(NoteKind::Blocker, "The helper is broken", "text");
        let source = Notes::new(notes.store(), 5);
        assert_eq!(names(&source, "helper"), [""; 0]);
        let failed = notes.add_to("failed-attempt", NoteKind::Action, "Inline the helper", "no");
        assert_eq!(names(&source, "helper"), [failed]);
    }

    #[test]
    fn a_heading_that_repeats_the_title_is_shown_once() {
        let notes = tests::Notes::empty();
        notes.add(NoteKind::Conclusion, "支付重试", "# 支付重试\n\n共三次");
        let packets = gather(&Notes::new(notes.store(), 5), "支付").unwrap();
        assert_eq!(packets[0].content, "支付重试\n共三次");
    }
}

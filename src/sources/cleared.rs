//! Results of this session that were cleared from the conversation: they come back when a later
//! question has words of theirs.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::context::{ContextPacket, ContextSource, PacketKind, Query, SourceFailure};
use crate::support::bm25::{Document, Index};
use crate::support::text::floor_char_boundary;

/// The cleared results, shared by whoever clears them; clones are one and the same list.
#[derive(Debug, Clone, Default)]
pub struct ClearedResults {
    results: Arc<Mutex<Vec<Cleared>>>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleared {
    /// The call on one line.
    pub call: String,
    /// What the model had read.
    pub text: String,
    /// When.
    pub at: DateTime<Utc>,
}

impl ClearedResults {
    /// Replaces the list; the newest are at its end.
    pub fn hold(&self, mut results: Vec<Cleared>) {
        results.drain(..results.len().saturating_sub(MOST_HELD));
        *self.results.lock().unwrap_or_else(PoisonError::into_inner) = results;
    }

    fn packets(&self, query: &Query) -> Vec<ContextPacket> {
        let results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let index = Index::new(
            results
                .iter()
                .map(|result| Document { title: &result.call, text: shown(&result.text) }),
        );
        let found = index.score(&query.text).into_iter().take(MOST_OFFERED);
        let packets = found.filter_map(|(place, _)| {
            let Cleared { call, text, at } = results.get(place)?;
            let content = format!("{call}\n{}", shown(text));
            Some(ContextPacket::new(PacketKind::CommandOutput, call, content, *at))
        });
        packets.collect()
    }
}

impl ContextSource for ClearedResults {
    fn name(&self) -> &'static str {
        "cleared results"
    }

    fn gather<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        std::future::ready(Ok(self.packets(query))).boxed()
    }
}

/// Older ones are only in the session's folder.
const MOST_HELD: usize = 60;

/// How many are offered.
const MOST_OFFERED: usize = 5;

/// The bytes of one that are offered.
const MOST_OF_ONE: usize = 16_000;

fn shown(text: &str) -> &str {
    &text[..floor_char_boundary(text, MOST_OF_ONE)]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::super::tests::{gather, now};
    use super::*;

    fn cleared(call: &str, text: &str) -> Cleared {
        Cleared { call: call.to_owned(), text: text.to_owned(), at: now() }
    }

    #[test]
    fn a_cleared_result_comes_back_when_the_question_has_its_words() {
        let results = ClearedResults::default();
        let held = vec![
            cleared("terminal `cat shop.py`", "def process_order(order): 订单"),
            cleared("terminal `ls`", "README.md"),
        ];
        results.clone().hold(held);
        let found = |question: &str| -> Vec<String> {
            let packets = gather(&results, question).unwrap();
            packets.into_iter().map(|packet| packet.source).collect()
        };
        assert_eq!(found("what does process_order do?"), ["terminal `cat shop.py`"]);
        assert_eq!(found("订单"), ["terminal `cat shop.py`"]);
        assert_eq!(found("nothing of that"), [""; 0]);
    }

    #[test]
    fn what_is_held_and_offered_is_bounded() {
        let results = ClearedResults::default();
        let long = "order ".repeat(10_000);
        results.hold((0..100).map(|number| cleared(&format!("call {number}"), &long)).collect());
        assert_eq!(results.results.lock().unwrap().len(), MOST_HELD);
        let packets = gather(&results, "order").unwrap();
        assert_eq!(packets.len(), MOST_OFFERED);
        assert!(packets.iter().all(|packet| packet.content.len() < MOST_OF_ONE + 100));
    }
}

//! Relevance by meaning: candidates that come without a relevance are ordered by words first, and
//! the best of them are compared with the question as vectors too.
//!
//! The build of a context stays a pure function: what was asked of an endpoint is handed into it
//! with the packets. Words lead, because small models for embeddings take texts about the same
//! thing for the same text. Without vectors the turn goes on by words alone, and says so.

use super::CodebaseMaintainer;
use super::by_meaning::{MOST, likenesses};
use crate::context::{Bm25, ContextPacket, Keep, PacketKind, Query, Scorer};

impl CodebaseMaintainer {
    /// Gives the candidates that have no relevance one that is mixed of words and meaning.
    pub(super) async fn rescore(&mut self, packets: &mut [ContextPacket], query: &Query) {
        let Some(embedder) = self.embedder.clone() else { return };
        let open: Vec<usize> = (0..packets.len()).filter(|at| is_open(&packets[*at])).collect();
        if query.text.trim().is_empty() || open.len() < 2 {
            return;
        }
        let contents: Vec<&str> = open.iter().map(|at| packets[*at].content.as_str()).collect();
        let words = Bm25.relevance(&query.text, &contents);
        let mut ranked: Vec<usize> = (0..open.len()).collect();
        ranked.sort_by(|one, other| words[*other].total_cmp(&words[*one]));
        ranked.truncate(MOST);
        let texts: Vec<&str> = ranked.iter().map(|place| contents[*place]).collect();
        let made = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return,
            made = likenesses(embedder.as_ref(), &query.text, &texts) => made,
        };
        let near = match made {
            Ok(near) => near,
            Err(error) => {
                let name = embedder.name();
                self.recorder.warn(format!(
                    "The texts could not be compared by `{name}` ({error}); relevance is computed by words alone."
                ));
                return;
            }
        };
        let mut meaning = vec![0.0; open.len()];
        for (place, near) in ranked.into_iter().zip(near) {
            meaning[place] = near;
        }
        let weight = self.builder.config().embedding_weight;
        for ((at, words), meaning) in open.into_iter().zip(words).zip(meaning) {
            packets[at].relevance = Some((1.0 - weight) * words + weight * meaning);
        }
    }
}

/// Returns whether a packet competes and has no relevance yet.
fn is_open(packet: &ContextPacket) -> bool {
    packet.relevance.is_none()
        && packet.keep == Keep::IfRoom
        && !matches!(packet.kind, PacketKind::Instruction | PacketKind::State)
        && !packet.content.trim().is_empty()
}

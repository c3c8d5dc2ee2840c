//! Relevance by meaning: candidates that come without a relevance are ordered by words first, and
//! the best of them are compared with the question as vectors too.
//!
//! The build of a context stays a pure function: what was asked of an endpoint is handed into it
//! with the packets. Words lead, because small models for embeddings take texts about the same
//! thing for the same text. Without vectors the turn goes on by words alone, and says so.

use super::CodebaseMaintainer;
use crate::context::{Bm25, ContextPacket, Keep, PacketKind, Query, Scorer};
use crate::model::embedding::similarity;
use crate::support::text::floor_char_boundary;

/// So many candidates are compared as vectors.
const MOST: usize = 48;

/// So many bytes of each: small models read no more than some hundred tokens.
const MOST_BYTES: usize = 1200;

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
        let text = |text: &str| text[..floor_char_boundary(text, MOST_BYTES)].to_owned();
        let mut texts = vec![text(&query.text)];
        texts.extend(ranked.iter().map(|place| text(contents[*place])));
        let made = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return,
            made = embedder.embed(&texts) => made,
        };
        let vectors = match made {
            Ok(vectors) => vectors,
            Err(error) => {
                let name = embedder.name();
                self.recorder.warn(format!(
                    "The texts could not be compared by `{name}` ({error}); relevance is computed by words alone."
                ));
                return;
            }
        };
        let Some((question, vectors)) = vectors.split_first() else { return };
        let near: Vec<f64> = vectors.iter().map(|vector| similarity(question, vector)).collect();
        let mut meaning = vec![0.0; open.len()];
        for (place, near) in ranked.into_iter().zip(stretched(&near)) {
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

/// Returns likenesses between 0 for the least and 1 for the most: of most models all lie close
/// together, and only their order means something.
fn stretched(near: &[f64]) -> Vec<f64> {
    let least = near.iter().copied().fold(f64::INFINITY, f64::min);
    let most = near.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let width = most - least;
    near.iter().map(|near| if width > 0.0 { (near - least) / width } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likenesses_are_stretched_and_equal_ones_say_nothing() {
        let expected = [0.0, 0.5, 1.0];
        for (found, expected) in stretched(&[0.7, 0.75, 0.8]).into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found}");
        }
        assert_eq!(stretched(&[0.7, 0.7]), [0.0, 0.0]);
        assert!(stretched(&[]).is_empty());
    }
}

//! Texts compared with a question by what they mean, over a model for embeddings; and the scorer
//! of notes that is made of it.
//!
//! Words lead, because small models for embeddings take texts about the same thing for the same
//! text: only the best by words are compared, and meaning counts a share of the score. Whoever asks
//! goes on by words alone when there are no vectors.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;

use crate::model::ModelError;
use crate::model::embedding::{Embedder, similarity};
use crate::notes::{Candidate, NoteScorer};
use crate::support::text::floor_char_boundary;

/// So many candidates are compared as vectors.
pub(super) const MOST: usize = 48;

/// So many bytes of each: small models read no more than some hundred tokens.
const MOST_BYTES: usize = 1200;

/// Scores notes by their words and by the likeness of their vectors to that of the question.
///
/// It asks nobody while it is paused.
pub struct ByMeaning {
    embedder: Arc<dyn Embedder>,
    /// What meaning counts beside words.
    weight: f64,
    patience: Duration,
    is_paused: AtomicBool,
    /// What went wrong last, until somebody takes it.
    failure: Mutex<Option<String>>,
}

impl ByMeaning {
    /// What is told where `notes.scorer` asks for one and there is no [`Embedder`].
    pub const NOBODY: &str = "`notes.scorer` is `embeddings`, but no endpoint with an `endpoint.embedding_model` is used; notes are ranked by words alone.";

    /// Returns one that gives meaning the weight `weight`, 0 to 1, and waits no longer than
    /// `patience` for vectors.
    pub fn new(embedder: Arc<dyn Embedder>, weight: f64, patience: Duration) -> Self {
        Self {
            embedder,
            weight,
            patience,
            is_paused: AtomicBool::new(false),
            failure: Mutex::default(),
        }
    }

    /// Asks nobody from now on, or asks again.
    pub(super) fn pause(&self, is_paused: bool) {
        self.is_paused.store(is_paused, Ordering::Relaxed);
    }

    /// Returns what went wrong since the last time, as a sentence.
    pub(super) fn take_failure(&self) -> Option<String> {
        let problem = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(format!("The notes are ranked by words alone: {problem}."))
    }

    async fn ask(&self, question: &str, candidates: &[Candidate]) -> Result<Vec<f64>, String> {
        let texts: Vec<&str> = candidates.iter().map(|candidate| candidate.text.as_str()).collect();
        let likenesses = likenesses(self.embedder.as_ref(), question, &texts);
        let asked = tokio::time::timeout(self.patience, likenesses).await;
        let problem = match asked {
            Ok(Ok(meaning)) => {
                let mixed = candidates.iter().zip(meaning).map(|(candidate, meaning)| {
                    (1.0 - self.weight) * candidate.words + self.weight * meaning
                });
                return Ok(mixed.collect());
            }
            Ok(Err(error)) => {
                format!("`{}` could not compare them ({error})", self.embedder.name())
            }
            Err(_) => format!(
                "`{}` did not compare them within {} seconds",
                self.embedder.name(),
                self.patience.as_secs()
            ),
        };
        *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem.clone());
        Err(problem)
    }
}

impl NoteScorer for ByMeaning {
    fn most(&self) -> usize {
        if self.is_paused.load(Ordering::Relaxed) { 0 } else { MOST }
    }

    fn scores<'a>(
        &'a self,
        question: &'a str,
        candidates: &'a [Candidate],
    ) -> BoxFuture<'a, Result<Vec<f64>, String>> {
        self.ask(question, candidates).boxed()
    }
}

/// Returns how alike each text and the question are, from 0 for the least of them to 1 for the
/// most.
pub(super) async fn likenesses(
    embedder: &dyn Embedder,
    question: &str,
    texts: &[&str],
) -> Result<Vec<f64>, ModelError> {
    let asked = std::iter::once(&question).chain(texts);
    let asked: Vec<String> = asked.map(|text| cut(text).to_owned()).collect();
    let vectors = embedder.embed(&asked).await?;
    let Some((question, vectors)) = vectors.split_first() else { return Ok(Vec::new()) };
    let near: Vec<f64> = vectors.iter().map(|vector| similarity(question, vector)).collect();
    Ok(stretched(&near))
}

fn cut(text: &str) -> &str {
    &text[..floor_char_boundary(text, MOST_BYTES)]
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

    /// Puts the texts that have an `x` beside the question, or never answers.
    struct Crosses {
        answers: bool,
    }

    impl Embedder for Crosses {
        fn name(&self) -> &'static str {
            "crosses"
        }

        fn embed<'a>(
            &'a self,
            texts: &'a [String],
        ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
            if !self.answers {
                return std::future::pending().boxed();
            }
            let vector = |text: &String| vec![f32::from(u8::from(text.contains('x'))), 0.5];
            std::future::ready(Ok(texts.iter().map(vector).collect())).boxed()
        }
    }

    fn candidates() -> [Candidate; 3] {
        [("a", 1.0), ("x", 0.8), ("b", 0.5)]
            .map(|(text, words)| Candidate { text: text.to_owned(), words })
    }

    #[test]
    fn meaning_counts_its_weight_beside_words() {
        let embedder = Arc::new(Crosses { answers: true });
        let scorer = ByMeaning::new(embedder, 0.5, Duration::from_secs(60));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let mixed = runtime.block_on(scorer.scores("x", &candidates())).unwrap();
        for (score, expected) in mixed.into_iter().zip([0.5, 0.9, 0.25]) {
            assert!((score - expected).abs() < 1e-9, "{score}");
        }
        assert_eq!((scorer.most(), scorer.take_failure()), (MOST, None));
        scorer.pause(true);
        assert_eq!(scorer.most(), 0);
    }

    #[test]
    fn who_waits_in_vain_is_told_once() {
        let embedder = Arc::new(Crosses { answers: false });
        let scorer = ByMeaning::new(embedder, 0.5, Duration::ZERO);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let problem = runtime.block_on(scorer.scores("x", &candidates())).unwrap_err();
        assert_eq!(problem, "`crosses` did not compare them within 0 seconds");
        assert!(scorer.take_failure().is_some_and(|told| told.contains(&problem)));
        assert_eq!(scorer.take_failure(), None);
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(cut("short"), "short");
        assert_eq!(cut(&"锁".repeat(1000)).len(), MOST_BYTES);
        assert_eq!(cut(&"é".repeat(1000)).chars().count(), MOST_BYTES / 2);
    }

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

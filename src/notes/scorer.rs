//! Who has the last word on the order of what a search found: words alone, or another that looks
//! at the best of them once more.
//!
//! A search by words always comes first, because it reads postings and no files. A scorer sees a
//! bounded number of candidates, only orders them, and is a help and never a need: when it fails,
//! the order by words stands and the result says why. This module knows no model; who asks one
//! implements [`NoteScorer`] elsewhere.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::error::NoteError;
use super::listing::Filter;
use super::search::{Hit, SearchResult};
use super::store::NoteStore;

/// Scores notes that were found by words.
///
/// Implemented by [`ByWords`], and by the agent's `ByMeaning` over vectors of texts.
pub trait NoteScorer: Send + Sync {
    /// Returns how many of the best notes it wants to see; with less than two, words decide.
    fn most(&self) -> usize;

    /// Returns a score for each candidate, in their order, the higher the better; or a sentence
    /// without a full stop that says why there is none.
    fn scores<'a>(
        &'a self,
        question: &'a str,
        candidates: &'a [Candidate],
    ) -> BoxFuture<'a, Result<Vec<f64>, String>>;
}

/// A note that was found by words.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// Its title and its body.
    pub text: String,
    /// How well its words match, the best candidate 1.0.
    pub words: f64,
}

/// Leaves the notes in the order of their words, see [`rank`](super::rank()).
#[derive(Debug, Clone, Copy, Default)]
pub struct ByWords;

impl NoteScorer for ByWords {
    fn most(&self) -> usize {
        0
    }

    fn scores<'a>(
        &'a self,
        _question: &'a str,
        candidates: &'a [Candidate],
    ) -> BoxFuture<'a, Result<Vec<f64>, String>> {
        let words = candidates.iter().map(|candidate| candidate.words).collect();
        std::future::ready(Ok(words)).boxed()
    }
}

impl NoteStore {
    /// Lets another scorer order what [`NoteStore::search_scored`] finds.
    #[must_use]
    pub fn with_scorer(mut self, scorer: Arc<dyn NoteScorer>) -> Self {
        self.scorer = scorer;
        self
    }

    /// Finds the notes that answer a query, best first, by words and by the store's scorer.
    pub async fn search_scored(
        &self,
        query: &str,
        filter: &Filter,
    ) -> Result<SearchResult, NoteError> {
        let most = self.scorer.most();
        let wide = Filter { limit: filter.limit.max(most), ..filter.clone() };
        let mut result = self.search(query, &wide)?;
        let count = result.hits.len().min(most);
        if count > 1 {
            let rest = result.hits.split_off(count);
            let candidates: Vec<Candidate> = result.hits.iter().map(candidate).collect();
            match self.scorer.scores(query, &candidates).await {
                Ok(scores) if scores.len() == count => order(&mut result.hits, &scores),
                Ok(scores) => {
                    result.unscored =
                        Some(format!("{} scores came for {count} notes", scores.len()));
                }
                Err(problem) => result.unscored = Some(problem),
            }
            result.hits.extend(rest);
        }
        result.hits.truncate(filter.limit);
        Ok(result)
    }
}

fn candidate(hit: &Hit) -> Candidate {
    let body = hit.note.as_ref().map_or(hit.snippet.as_str(), |note| note.content.trim());
    Candidate { text: format!("{}\n{body}", hit.entry.title.trim()), words: hit.score }
}

/// Orders hits by scores; equal ones, and what is no number, as words ordered them.
fn order(hits: &mut [Hit], scores: &[f64]) {
    let known = |score: f64| if score.is_finite() { score.max(0.0) } else { 0.0 };
    let best = scores.iter().copied().map(known).fold(0.0, f64::max);
    for (hit, score) in hits.iter_mut().zip(scores) {
        hit.score = if best > 0.0 { known(*score) / best } else { 0.0 };
    }
    // The sort keeps equal ones in their places.
    hits.sort_by(|one, other| other.score.total_cmp(&one.score));
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::notes::NewNote;
    use crate::support::clock::FixedClock;

    /// Scores by the length of the texts, the shortest first, or fails.
    struct Shortest(usize, Result<(), &'static str>);

    impl NoteScorer for Shortest {
        fn most(&self) -> usize {
            self.0
        }

        fn scores<'a>(
            &'a self,
            _question: &'a str,
            candidates: &'a [Candidate],
        ) -> BoxFuture<'a, Result<Vec<f64>, String>> {
            let length = |candidate: &Candidate| u32::try_from(candidate.text.len()).unwrap();
            let scores = candidates.iter().map(|candidate| 1.0 / f64::from(length(candidate)));
            let result = self.1.map(|()| scores.collect()).map_err(str::to_owned);
            std::future::ready(result).boxed()
        }
    }

    fn found(scorer: Arc<dyn NoteScorer>, limit: usize) -> (Vec<String>, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let at = DateTime::parse_from_rfc3339("2025-01-19T15:30:00+00:00").unwrap();
        let clock = Arc::new(FixedClock::at(at));
        let store = NoteStore::open(folder.path().join("notes"), clock).with_scorer(scorer);
        for (title, content) in [
            ("lock lock lock", "the lock is taken twice, and once more by somebody else"),
            ("the lock", "is free"),
            ("one more", "lock among many other words that say nothing of what was asked here"),
            ("pool", "no word of it"),
        ] {
            let new = NewNote {
                title: title.to_owned(),
                content: content.to_owned(),
                ..NewNote::default()
            };
            store.create(new).unwrap();
        }
        let filter = Filter { kind: None, tags: Vec::new(), status: None, limit };
        let result = store.search_scored("lock", &filter).now_or_never().unwrap().unwrap();
        assert_eq!(result.total, 3);
        let best = result.hits.first().unwrap();
        assert!((best.score - 1.0).abs() < 1e-9, "{}", best.score);
        (result.hits.into_iter().map(|hit| hit.entry.title).collect(), result.unscored)
    }

    #[test]
    fn words_alone_are_the_order_of_a_search() {
        let by_words = ["lock lock lock", "the lock", "one more"];
        assert_eq!(found(Arc::new(ByWords), 10).0, by_words);
        assert_eq!(found(Arc::new(Shortest(1, Ok(()))), 10).0, by_words);
    }

    #[test]
    fn a_scorer_orders_as_many_as_it_wants_and_the_limit_holds() {
        let by_length = ["the lock", "lock lock lock", "one more"];
        assert_eq!(
            found(Arc::new(Shortest(48, Ok(()))), 10),
            (by_length.map(str::to_owned).into(), None)
        );
        assert_eq!(found(Arc::new(Shortest(2, Ok(()))), 10).0, by_length);
        assert_eq!(found(Arc::new(Shortest(48, Ok(()))), 1).0, ["the lock"]);
    }

    #[test]
    fn a_scorer_that_fails_leaves_the_order_of_the_words_and_the_result_says_so() {
        let (titles, unscored) = found(Arc::new(Shortest(48, Err("nobody is there"))), 2);
        assert_eq!(titles, ["lock lock lock", "the lock"]);
        assert_eq!(unscored.as_deref(), Some("nobody is there"));
    }

    #[test]
    fn the_scorer_of_words_repeats_what_they_said() {
        let candidate = |words| Candidate { text: String::new(), words };
        let candidates = [candidate(1.0), candidate(0.25)];
        let scores = ByWords.scores("x", &candidates).now_or_never().unwrap();
        assert_eq!(scores, Ok(vec![1.0, 0.25]));
    }
}

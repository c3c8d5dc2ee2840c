//! What a candidate is worth for a query: relevance, recency, and the two together (9.3.3).

use std::collections::HashSet;
use std::hash::Hash;

use chrono::{DateTime, Utc};

use super::{ContextConfig, ScorerKind};
use crate::support::bm25;
use crate::support::mentions::{Finder, Mentions};
use crate::support::words::{self, TermKind, Terms};

/// Computes how relevant candidates are.
///
/// Implemented by [`Bm25`] and [`Jaccard`]; a library user may bring another (vectors, say). It
/// returns a number in `0.0..=1.0` for each candidate, in their order, and must not depend on
/// anything but its arguments.
pub trait Scorer: Send + Sync {
    /// Returns the relevance of each candidate for a query.
    fn relevance(&self, query: &str, candidates: &[&str]) -> Vec<f64>;
}

/// BM25 over the candidates, divided by the best score. The division keeps the mix with recency
/// sensible: the best candidate has 1 whatever the length of query and texts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bm25;

/// The chapter's overlap of words: common words over all words. Long texts score low by it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Jaccard;

impl Scorer for Bm25 {
    fn relevance(&self, query: &str, candidates: &[&str]) -> Vec<f64> {
        bm25::relevance(&Mentions::of(query, candidates), query)
    }
}

impl Scorer for Jaccard {
    fn relevance(&self, query: &str, candidates: &[&str]) -> Vec<f64> {
        let query = term_set(query);
        candidates.iter().map(|text| overlap(&query, &term_set(text))).collect()
    }
}

/// The parts of a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score {
    pub(super) relevance: f64,
    pub(super) recency: f64,
    pub(super) total: f64,
}

impl Score {
    pub(super) fn new(relevance: f64, recency: f64, config: &ContextConfig) -> Self {
        let total = config.relevance_weight * relevance + config.recency_weight * recency;
        Self { relevance, recency, total }
    }
}

/// Returns the built-in scorer of a kind.
pub(super) fn built_in(kind: ScorerKind) -> Box<dyn Scorer> {
    match kind {
        ScorerKind::Bm25 | ScorerKind::Embeddings => Box::new(Bm25),
        ScorerKind::Jaccard => Box::new(Jaccard),
    }
}

/// Returns how old something is, in hours; what lies in the future is new.
#[expect(clippy::cast_precision_loss, reason = "seconds of any date are below 2^52")]
pub(super) fn age_hours(timestamp: DateTime<Utc>, now: DateTime<Utc>) -> f64 {
    ((now - timestamp).num_seconds() as f64 / 3_600.0).max(0.0)
}

/// Returns the recency of an age: a tenth is lost every day, down to a floor.
pub(super) fn recency(age_hours: f64) -> f64 {
    (-DECAY * age_hours / 24.0).exp().clamp(OLDEST, 1.0)
}

/// The recency of everything that is old: some 23 days and more.
pub(super) const OLDEST: f64 = 0.1;

/// How much of the recency a day takes.
const DECAY: f64 = 0.1;

/// Returns the distinct words, and pairs of characters, of a text.
pub(super) fn term_set(text: &str) -> HashSet<String> {
    let mut terms = HashSet::new();
    words::visit(text, |kind, term| match kind {
        TermKind::Word | TermKind::Pair => {
            if !terms.contains(term) {
                terms.insert(term.to_owned());
            }
        }
        TermKind::Identifier | TermKind::Character => {}
    });
    terms
}

/// Returns a set of words and pairs as terms.
pub(super) fn terms_of<'a>(set: impl Iterator<Item = &'a String>) -> Terms {
    let is_pair = |term: &String| term.chars().next().is_some_and(words::is_spaceless);
    let (pairs, words) = set.cloned().partition(is_pair);
    Terms { words, pairs, ..Terms::default() }
}

/// Returns those of a finder's terms that any of the texts has; looks into no further text once it
/// has seen all.
pub(super) fn found_in<'a>(
    finder: &Finder,
    texts: impl Iterator<Item = &'a str>,
) -> HashSet<String> {
    let mut is_found = vec![false; finder.terms().len()];
    let mut left = is_found.len();
    for text in texts {
        if left == 0 {
            break;
        }
        finder.find(text, |number| {
            left -= usize::from(!is_found[number]);
            is_found[number] = true;
        });
    }
    let terms = finder.terms().iter().zip(is_found);
    terms.filter(|(_, found)| *found).map(|((_, term), _)| term.clone()).collect()
}

/// Returns the share of what two sets have in common in all they have; 0 when both are empty.
#[expect(clippy::cast_precision_loss, reason = "sizes of sets are below 2^52")]
pub(super) fn overlap<T: Eq + Hash>(one: &HashSet<T>, other: &HashSet<T>) -> f64 {
    let common = one.intersection(other).count();
    let all = one.len() + other.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[track_caller]
    fn check_recency(age: TimeDelta, expected: f64) {
        let now = DateTime::from_timestamp(1_800_000_000, 0).unwrap();
        let recency = recency(age_hours(now - age, now));
        assert!((recency - expected).abs() < 1e-3, "{recency} is not {expected}");
    }

    #[test]
    fn recency_is_the_chapters_curve() {
        check_recency(TimeDelta::zero(), 1.0);
        check_recency(TimeDelta::hours(24), 0.905);
        check_recency(TimeDelta::days(7), 0.497);
        check_recency(TimeDelta::days(22), 0.111);
        check_recency(TimeDelta::days(24), 0.1);
        check_recency(TimeDelta::days(40_000), 0.1);
    }

    #[test]
    fn the_future_is_now() {
        check_recency(-TimeDelta::days(3), 1.0);
    }

    #[test]
    fn the_best_candidate_has_relevance_one() {
        let texts = ["pandas memory usage", "memory", "nothing of it"];
        let scores = Bm25.relevance("reduce pandas memory", &texts);
        assert!((scores[0] - 1.0).abs() < 1e-9);
        assert!(scores[1] > 0.0 && scores[1] < 1.0);
        assert!(scores[2].abs() < 1e-9);
    }

    #[test]
    fn overlap_of_words_knows_chinese() {
        let scores = Jaccard.relevance("内存占用", &["优化内存占用", "数据清洗", ""]);
        assert!(scores[0] > 0.5, "{scores:?}");
        assert!(scores[1].abs() < 1e-9 && scores[2].abs() < 1e-9);
        assert!(Jaccard.relevance("", &["x"])[0].abs() < 1e-9);
    }

    #[test]
    fn the_score_mixes_the_two_by_their_weights() {
        let score = Score::new(0.5, 1.0, &ContextConfig::default());
        assert!((score.total - 0.65).abs() < 1e-9);
    }
}

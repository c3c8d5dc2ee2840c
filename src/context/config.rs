//! The settings of the pipeline, with the chapter's names and defaults (9.3.2).

use serde::{Deserialize, Serialize};

use super::ContextError;

/// How a context is built.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContextConfig {
    /// What the whole context may have, all six sections together.
    pub max_tokens: usize,
    /// The share of the budget that is kept free for the parts that do not compete.
    pub reserve_ratio: f64,
    /// Candidates with a lower relevance are left out.
    pub min_relevance: f64,
    /// Whether an item may be shortened; otherwise it is whole or absent.
    pub enable_compression: bool,
    /// What recency counts in the score.
    pub recency_weight: f64,
    /// What relevance counts in the score; with recency it makes 1.
    pub relevance_weight: f64,
    /// What computes the relevance of candidates that come without.
    pub scorer: ScorerKind,
    /// What meaning counts beside words where vectors are at hand.
    pub embedding_weight: f64,
}

/// The relevance that is built in; see [`super::Scorer`] for bringing another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScorerKind {
    /// BM25 over the candidates, divided by the best score.
    #[default]
    Bm25,
    /// The chapter's overlap of words.
    Jaccard,
    /// BM25, which whoever brings the packets mixes with the likeness of vectors before the build;
    /// what was not given a relevance by that has BM25.
    Embeddings,
}

impl Default for ContextConfig {
    fn default() -> Self {
        Self {
            max_tokens: 3_000,
            reserve_ratio: 0.2,
            min_relevance: 0.1,
            enable_compression: true,
            recency_weight: 0.3,
            relevance_weight: 0.7,
            scorer: ScorerKind::Bm25,
            embedding_weight: 0.3,
        }
    }
}

impl ContextConfig {
    /// Says what is wrong, naming the field, the value and the range.
    pub fn check(&self) -> Result<(), ContextError> {
        if self.max_tokens == 0 {
            return Err(bad("max_tokens", &0, "at least 1"));
        }
        for (field, value) in [
            ("reserve_ratio", self.reserve_ratio),
            ("min_relevance", self.min_relevance),
            ("recency_weight", self.recency_weight),
            ("relevance_weight", self.relevance_weight),
            ("embedding_weight", self.embedding_weight),
        ] {
            // A NaN is in no range.
            if !(0.0..=1.0).contains(&value) {
                return Err(bad(field, &value, "between 0 and 1"));
            }
        }
        let sum = self.recency_weight + self.relevance_weight;
        if (sum - 1.0).abs() > WEIGHT_TOLERANCE {
            let values = format!("{} + {}", self.recency_weight, self.relevance_weight);
            return Err(bad("recency_weight + relevance_weight", &values, "1 together"));
        }
        Ok(())
    }
}

/// How far the two weights may be from 1 together.
const WEIGHT_TOLERANCE: f64 = 1e-6;

fn bad(field: &'static str, value: &dyn ToString, range: &str) -> ContextError {
    ContextError::BadSetting { field, value: value.to_string(), range: range.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(change: impl FnOnce(&mut ContextConfig), expected: &str) {
        let mut config = ContextConfig::default();
        change(&mut config);
        let message = config.check().err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(message, expected);
    }

    #[test]
    fn the_defaults_are_the_chapters() {
        check(|_| {}, "");
    }

    #[test]
    fn a_bad_value_is_named_with_its_range() {
        check(|config| config.max_tokens = 0, "`max_tokens` is 0, and must be at least 1");
        check(
            |config| config.reserve_ratio = 1.5,
            "`reserve_ratio` is 1.5, and must be between 0 and 1",
        );
        check(
            |config| config.min_relevance = f64::NAN,
            "`min_relevance` is NaN, and must be between 0 and 1",
        );
        check(
            |config| config.relevance_weight = -0.1,
            "`relevance_weight` is -0.1, and must be between 0 and 1",
        );
        check(
            |config| config.recency_weight = 0.4,
            "`recency_weight + relevance_weight` is 0.4 + 0.7, and must be 1 together",
        );
        check(|config| config.recency_weight = 0.300_000_5, "");
    }

    #[test]
    fn an_unknown_key_is_an_error_and_a_missing_one_has_its_default() {
        let config: ContextConfig =
            serde_json::from_str(r#"{"max_tokens": 10, "scorer": "jaccard"}"#).unwrap();
        assert_eq!((config.max_tokens, config.scorer), (10, ScorerKind::Jaccard));
        assert!((config.min_relevance - 0.1).abs() < 1e-9);
        assert!(serde_json::from_str::<ContextConfig>(r#"{"max_token": 10}"#).is_err());
    }
}

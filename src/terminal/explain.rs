//! Why a line is allowed or refused, word by word, without running anything.

use std::fmt;

use super::plan::Plan;
use super::refusal::Refusal;

/// What each word of a line is taken for, and what comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The words that were read, in the order in which they were checked.
    pub words: Vec<ExplainedWord>,
    /// The plan, or the refusal that ended the reading.
    pub result: Result<Plan, Refusal>,
}

/// A word and the rule that allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExplainedWord {
    /// The word.
    pub word: String,
    /// The rule.
    pub rule: String,
}

impl fmt::Display for Explanation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.words.iter().map(|word| word.word.chars().count()).max().unwrap_or(0);
        let width = width.clamp(4, 32);
        for ExplainedWord { word, rule } in &self.words {
            writeln!(formatter, "{word:width$}  {rule}")?;
        }
        match &self.result {
            Ok(_) => write!(formatter, "allowed"),
            Err(refusal) => write!(formatter, "refused: {}", refusal.for_human()),
        }
    }
}

/// The words as they are noted, if anybody wants to know.
#[derive(Debug, Default)]
pub(super) struct Notes {
    wanted: bool,
    words: Vec<ExplainedWord>,
}

impl Notes {
    /// Returns notes that are kept.
    pub(super) fn kept() -> Self {
        Self { wanted: true, words: Vec::new() }
    }

    /// Notes which rule allows a word.
    pub(super) fn add(&mut self, word: &str, rule: impl FnOnce() -> String) {
        if self.wanted {
            self.words.push(ExplainedWord { word: word.replace('\n', "\\n"), rule: rule() });
        }
    }

    /// Returns what was noted.
    pub(super) fn into_words(self) -> Vec<ExplainedWord> {
        self.words
    }
}

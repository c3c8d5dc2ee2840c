//! GSSC: Gather, Select, Structure, Compress (chapter 9.3). Candidates become the text that a
//! model sees, within a budget.
//!
//! This module has never heard of notes, terminals or sessions: `sources` brings them as packets.
//! So the pipeline is a pure function of its inputs and its tests are tables. The budget covers
//! all six sections together and is kept by exact count; role, task and output rules are never cut;
//! what is left out or cut is named in the report.

mod built;
mod compress;
mod config;
mod error;
mod packet;
mod quote;
mod report;
mod same;
mod score;
mod select;
mod source;
mod structure;

use std::sync::Arc;

pub use built::BuiltContext;
pub use config::{ContextConfig, ScorerKind};
pub use error::ContextError;
pub use packet::{ContextPacket, Keep, PacketKind, Section};
pub use quote::quote as quote_structure;
pub use report::{Fate, PacketReport, QualityReport, SectionReport};
pub use score::{Bm25, Jaccard, Scorer};
pub use source::{ContextSource, Query, SourceFailure};

use crate::support::tokens::TokenCounter;
use select::Selection;
use structure::{Draft, join_sections};

/// Turns candidates into a context (9.3.3).
pub struct ContextBuilder {
    config: ContextConfig,
    counter: Arc<TokenCounter>,
    scorer: Box<dyn Scorer>,
}

/// The parts that do not compete and are never cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// Role and policies.
    pub instructions: String,
    /// What is to be done: the user's request.
    pub task: String,
    /// The rules for the answer.
    pub output: String,
}

impl ContextBuilder {
    /// Returns a builder; a bad setting is an error that names it.
    pub fn new(config: ContextConfig, counter: Arc<TokenCounter>) -> Result<Self, ContextError> {
        config.check()?;
        Ok(Self { config, counter, scorer: score::built_in(config.scorer) })
    }

    /// Computes relevance by another scorer than those that are built in.
    #[must_use]
    pub fn with_scorer(mut self, scorer: Box<dyn Scorer>) -> Self {
        self.scorer = scorer;
        self
    }

    /// Returns the settings.
    pub fn config(&self) -> &ContextConfig {
        &self.config
    }

    /// Sets what a context may have from now on, in tokens.
    pub fn set_budget(&mut self, max_tokens: usize) {
        self.config.max_tokens = max_tokens;
    }

    /// Selects among the packets, structures what was taken and fits it into the budget.
    ///
    /// The result depends on nothing but the arguments, the settings and the scorer.
    pub fn build(
        &self,
        packets: impl AsRef<[ContextPacket]>,
        query: &Query,
        parts: &Parts,
    ) -> Result<BuiltContext, ContextError> {
        let packets = packets.as_ref();
        let budget = self.config.max_tokens;
        let instructions: Vec<&ContextPacket> =
            packets.iter().filter(|packet| packet.kind == PacketKind::Instruction).collect();
        let draft = Draft::new(parts, &instructions);
        let fixed = self.fixed_tokens(&draft)?;
        let mut selection = Selection::new(self, packets, query, draft);

        let state_end = if packets.iter().any(|packet| packet.kind == PacketKind::State) {
            // The longest that it can become.
            let candidates = packets.len();
            let (left_out, kept_left_out) = (candidates, candidates);
            let fullness = Fullness { percent: 100, budget, candidates, left_out, kept_left_out };
            self.count_line(&fullness.to_string())
        } else {
            0
        };
        selection.take_kept(budget.saturating_sub(fixed + state_end));
        let kept = fixed + state_end + selection.tokens();
        let reserved = self.reserved_tokens();
        selection.fill(budget.saturating_sub(kept.max(reserved)));
        selection.arrange();
        if state_end > 0 && !selection.draft.state.is_empty() {
            selection.draft.state_end = self.told_state(&selection, fixed + selection.tokens());
        }
        selection.compress(budget);

        let sections = selection.draft.sections();
        let tokens = self.tokens_of(&selection.draft);
        let report = report::report(&selection, &sections, query, tokens, reserved);
        Ok(BuiltContext::new(sections, tokens, budget, report))
    }

    /// Returns the last line of the state for a context that has `tokens` without it.
    fn told_state(&self, selection: &Selection<'_>, tokens: usize) -> String {
        let budget = self.config.max_tokens;
        let candidates = selection.candidates.len();
        let mut fullness = Fullness {
            percent: 100,
            budget,
            candidates,
            left_out: candidates - selection.shown(),
            kept_left_out: selection.kept_left_out(),
        };
        let with_line = tokens + self.count_line(&fullness.to_string());
        fullness.percent = (with_line * 100 / budget).min(100);
        fullness.to_string()
    }

    /// Returns the tokens of the fixed parts, or an error when there is no room for them.
    fn fixed_tokens(&self, draft: &Draft) -> Result<usize, ContextError> {
        let tokens = self.tokens_of(draft);
        let budget = self.config.max_tokens;
        if tokens <= budget {
            // What follows the last of them is counted with it.
            return Ok(tokens + 1);
        }
        let largest = draft
            .sections()
            .into_iter()
            .map(|(section, text)| (self.counter.count(&text), section.header()))
            .max_by_key(|(tokens, _)| *tokens);
        let (largest_tokens, largest) = largest.unwrap_or_default();
        Err(ContextError::FixedPartsTooLarge { needed: tokens, budget, largest, largest_tokens })
    }

    /// Returns the exact count of a draft, as one text or divided into system and user message,
    /// whichever is more.
    fn tokens_of(&self, draft: &Draft) -> usize {
        let sections = draft.sections();
        let count = |wanted: &dyn Fn(Section) -> bool| {
            let parts = sections.iter().filter(|(section, _)| wanted(*section));
            self.counter.count(&join_sections(parts.map(|(_, text)| text.as_str())))
        };
        let whole = count(&|_| true);
        let divided = count(&Section::is_system) + count(&|section| !section.is_system());
        whole.max(divided)
    }

    /// Returns what an item costs in its section, with what divides it from the next one.
    fn count_item(&self, section: Section, text: &str) -> usize {
        let separator = match section {
            Section::Evidence => self.count_line(quote::SEPARATOR),
            Section::Role | Section::Task | Section::State | Section::Context | Section::Output => {
                0
            }
        };
        self.counter.count(&format!("{text}\n\n")) + separator
    }

    fn count_line(&self, line: &str) -> usize {
        self.counter.count(&format!("{line}\n"))
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the ratio is in 0..=1 and budgets are far below 2^52"
    )]
    fn reserved_tokens(&self) -> usize {
        (self.config.max_tokens as f64 * self.config.reserve_ratio).ceil() as usize
    }
}

impl std::fmt::Debug for ContextBuilder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ContextBuilder")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// How full a context is: the line that tells the model, and what it should look up.
struct Fullness {
    percent: usize,
    budget: usize,
    candidates: usize,
    left_out: usize,
    /// Those of them that are always kept as long as there is room.
    kept_left_out: usize,
}

impl std::fmt::Display for Fullness {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { percent, budget, candidates, left_out, kept_left_out } = self;
        write!(
            formatter,
            "Context: {percent}% of {budget} tokens used; {left_out} of {candidates} candidates left out"
        )?;
        match kept_left_out {
            0 => Ok(()),
            count => {
                write!(formatter, ", {count} open blockers or states among them: list the notes")
            }
        }
    }
}

#[cfg(test)]
mod tests;

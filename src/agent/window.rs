//! Keeping a turn within the model's window: how large it is, how much of it is taken, and what the
//! context and a result may have of it.
//!
//! Some servers refuse a prompt that is too long and some cut it in silence, so it is better never
//! to send one. A window that nobody knows limits nothing, and a short context fits every window,
//! so that nobody needs to be asked.

use super::{AgentError, CodebaseMaintainer};
use crate::context::{Parts, Query};

/// The share of the model's window, in percent, at which room is made.
const FULL: u64 = 75;
/// The share of the room left, in percent, that one result may take.
const RESULT: u64 = 20;
/// What a result may have however little room is left, so that it says something.
const LEAST_RESULT: u64 = 100;
/// What a context may have beside its fixed parts however small the window is.
const LEAST_CONTEXT: usize = 256;
/// Tokens of a context for which the window matters.
const LARGE: usize = 3000;

/// The newest request's prompt, as we count it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prompt {
    /// Its tokens.
    pub(super) tokens: u64,
    /// Its messages.
    pub(super) messages: usize,
    /// How many of its tokens the next request begins with.
    pub(super) repeated: u64,
}

impl CodebaseMaintainer {
    /// Returns the tokens that prompt and answer may have together, where that is known.
    pub(super) fn window(&self) -> Option<u64> {
        let own = self.model.window();
        let set = Some(self.limits.window).filter(|window| *window > 0);
        let window = match (own, set) {
            (Some(own), Some(set)) => Some(own.min(set)),
            (own, set) => own.or(set),
        };
        window.map(|window| window as u64)
    }

    /// Returns whether a prompt takes so much of the window that room must be made.
    pub(super) fn fills_the_window(&self, prompt_tokens: u64) -> bool {
        self.window().is_some_and(|window| prompt_tokens * 100 > window * FULL)
    }

    /// Returns how many tokens a result may have: those of its limit, and a share of what is left
    /// of the window.
    pub(super) fn result_tokens(&self) -> usize {
        let most = self.limits.tool_output_tokens;
        let Some(window) = self.window() else { return most };
        let new = self.messages.get(self.prompt.messages..).unwrap_or_default();
        let taken = self.prompt.tokens + self.count(new);
        let share = (window.saturating_sub(taken) * RESULT / 100).max(LEAST_RESULT);
        most.min(usize::try_from(share).unwrap_or(most))
    }

    /// Returns how many tokens the context of a turn may have, when its fixed parts have `fixed`:
    /// half of the window at the most.
    fn context_tokens(&self, fixed: usize) -> usize {
        let Some(window) = self.window() else { return self.context_tokens };
        let half = usize::try_from(window / 2).unwrap_or(usize::MAX);
        self.context_tokens.min(half.max(fixed + LEAST_CONTEXT))
    }

    /// Fits the budget of a context into the window, as far as that is known.
    pub(super) fn fit_budget(&mut self, query: &Query, parts: &Parts) -> Result<(), AgentError> {
        self.builder.set_budget(self.context_tokens);
        if self.window().is_some() {
            let fixed = self.builder.build([], query, parts)?.tokens;
            self.builder.set_budget(self.context_tokens(fixed));
        }
        Ok(())
    }

    /// Asks for the window when nobody knows it and a context of so many tokens makes it matter.
    /// Returns whether it is known since then.
    pub(super) async fn finds_the_window(&mut self, tokens: usize) -> bool {
        if tokens <= LARGE || self.model.window().is_some() {
            return false;
        }
        // What the endpoint tells of itself; it is asked once.
        for sentence in self.model.prepare().await {
            self.recorder.warn(sentence);
        }
        self.model.window().is_some()
    }

    /// Tells when what every request repeats takes more than half of the window.
    pub(super) fn warn_of_a_small_window(&mut self) {
        let Some(window) = self.window() else { return };
        let rules = self.messages.get(..1).unwrap_or_default();
        let fixed = self.count(rules) + self.count_tools(&self.tools.specs());
        if fixed * 2 > window {
            self.recorder.warn(format!(
                "The fixed parts of a request (rules and tools) have {fixed} tokens, more than half of the model's window of {window}: little room is left for the work. A larger window helps."
            ));
        }
    }
}

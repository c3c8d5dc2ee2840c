//! Keeping a turn within the model's window.
//!
//! Some servers refuse a prompt that is too long and some cut it in silence, so it is better never
//! to send one. A window that nobody knows limits nothing, and a short context fits every window,
//! so that nobody needs to be asked.

use super::CodebaseMaintainer;

/// The share of the window that the context of a turn may fill: the rest is for tools, their
/// results and the answer.
const CONTEXT: usize = 2;

/// The share that one result of a tool may fill.
const RESULT: usize = 8;

/// The fewest tokens of a result that say anything.
const SHORTEST_RESULT: usize = 100;

/// Tokens of a context for which the window matters.
const LARGE: usize = 3000;

impl CodebaseMaintainer {
    /// Fits the budgets into the model's window when a context of so many tokens makes that
    /// matter. Returns whether the context must be built again.
    pub(super) async fn fit_into_window(&mut self, tokens: usize) -> bool {
        if tokens <= LARGE && self.model.window().is_none() {
            return false;
        }
        // What the endpoint tells of itself; it is asked once.
        for sentence in self.model.prepare().await {
            self.recorder.warn(sentence);
        }
        let Some(window) = self.model.window() else { return false };
        let result = (window / RESULT).max(SHORTEST_RESULT);
        self.limits.tool_output_tokens = self.limits.tool_output_tokens.min(result);
        self.builder.limit(window / CONTEXT);
        tokens > window / CONTEXT
    }
}

//! Counts: what a request cost, what a session did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The tokens of one or more requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub prompt_tokens: u64,
    /// Tokens of the prompt that the provider says it read from its cache; 0 where it says nothing.
    pub cached_tokens: u64,
    /// Tokens of the prompt that repeat the request before it from its first byte on, as counted
    /// here: what a provider can have in its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated_tokens: u64,
    /// Tokens of the answer, calls and reasoning included.
    pub completion_tokens: u64,
    /// True when the counts are our own because the server told none.
    #[serde(default)]
    pub estimated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Usage {
    /// Adds another request's counts.
    pub fn add(&mut self, other: Self) {
        self.prompt_tokens += other.prompt_tokens;
        self.cached_tokens += other.cached_tokens;
        self.repeated_tokens += other.repeated_tokens;
        self.completion_tokens += other.completion_tokens;
        self.estimated |= other.estimated;
    }
}

/// What was done, counted from events and never guessed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stats {
    /// Calls of the model.
    pub steps: u64,
    /// Command lines that were really run, those before the first step included.
    pub commands_executed: u64,
    /// Command lines that were refused before anything ran.
    pub commands_refused: u64,
    /// Notes created.
    pub notes_created: u64,
    /// Notes changed or deleted.
    pub notes_changed: u64,
    /// Blockers among the notes created: the chapter's `issues_found`.
    pub issues_found: u64,
    /// Tokens of all requests.
    pub usage: Usage,
    /// Wall-clock milliseconds.
    pub duration_ms: u64,
}

//! What comes of a call, of a turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CommandFacts, NoteChange, Stats};

/// What a tool found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolOutput {
    /// What the model reads.
    pub for_model: String,
    /// One line for a person.
    pub summary: String,
    /// Whether `for_model` is all there was.
    pub completeness: Completeness,
    /// What the call did beside answering; `agent` turns each into an event.
    pub effects: Vec<Effect>,
}

/// Something a call did that belongs into the journal under its own name.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// A command line was run or refused.
    Command(CommandFacts),
    /// A note was created, changed or deleted, and is on disk.
    Note(NoteChange),
}

/// Whether an output is whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Completeness {
    /// All of it.
    #[default]
    Whole,
    /// A part is missing, and the text says which.
    Cut,
}

/// A call that did not succeed, in two texts for two audiences.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolFailure {
    /// The kind, for counting and for guards.
    pub kind: ToolFailureKind,
    /// Full sentences: what went wrong, what is allowed, what to try. No secrets, no absolute
    /// paths outside the workspace.
    pub for_model: String,
    /// One line, lower case.
    pub for_human: String,
    /// What happened all the same (a refused command is counted).
    pub effects: Vec<Effect>,
}

/// Why a call did not succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolFailureKind {
    /// No tool of that name.
    UnknownTool,
    /// The arguments are not what the tool takes.
    BadArguments,
    /// The call was understood and is not allowed.
    Refused,
    /// The thing asked for is not there.
    NotFound,
    /// It was tried and failed (a full disk, a time limit).
    Failed,
    /// The turn was interrupted before or while it ran.
    Interrupted,
}

/// What becomes of a call that did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// Goes back to the model, and the loop goes on.
    #[error("{}", .0.for_human)]
    Answerable(ToolFailure),
    /// Ends the turn.
    #[error("a tool failed for good: {0}")]
    Fatal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Why a turn ended. A limit is a result, not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The model answered.
    Answered,
    /// No more steps were allowed.
    StepLimit,
    /// No more prompt tokens were allowed.
    TokenLimit,
    /// No more time was allowed.
    TimeLimit,
    /// The same call gave the same result too often.
    LoopDetected,
    /// Too many refused commands in a row.
    RefusalLimit,
    /// Too many replies in a row that could not be used.
    UnusableReplies,
    /// The model's window was full, and making room did not help.
    WindowFull,
    /// A person interrupted.
    Cancelled,
    /// An error ended the turn.
    Failed,
}

impl StopReason {
    /// Returns the name, as it is journaled.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::StepLimit => "step_limit",
            Self::TokenLimit => "token_limit",
            Self::TimeLimit => "time_limit",
            Self::LoopDetected => "loop_detected",
            Self::RefusalLimit => "refusal_limit",
            Self::UnusableReplies => "unusable_replies",
            Self::WindowFull => "window_full",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Returns whether a limit of ours ended the turn.
    pub fn is_limit(self) -> bool {
        match self {
            Self::Answered | Self::Cancelled | Self::Failed => false,
            Self::StepLimit
            | Self::TokenLimit
            | Self::TimeLimit
            | Self::LoopDetected
            | Self::RefusalLimit
            | Self::UnusableReplies
            | Self::WindowFull => true,
        }
    }
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The answer, or the report of what was found when a limit was reached.
    pub answer: String,
    /// Why the turn ended.
    pub reason: StopReason,
    /// What the turn did.
    pub stats: Stats,
}

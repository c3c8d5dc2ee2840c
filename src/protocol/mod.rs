//! The data everyone speaks: messages, outcomes, events, usage.
//!
//! No IO, no async, no logic beyond constructors: whoever wants to know what travels between the
//! parts reads this folder and nothing else.

mod event;
mod message;
mod outcome;
mod usage;

pub use event::{
    ClearedResult, CommandFacts, CommandOrigin, Event, EventKind, EventSink, NoteAction,
    NoteChange, SCHEMA_VERSION,
};
pub use message::{Message, ToolCall, ToolSpec};
pub use outcome::{
    Completeness, Effect, Outcome, StopReason, ToolError, ToolFailure, ToolFailureKind, ToolOutput,
};
pub use usage::{Stats, Usage};

//! Calls into things: what a model can do. A tool is one file: an argument struct whose doc
//! comments become the schema, and one `call`. Its description is the prompt file of its name.
//!
//! A tool never asks a person anything and never emits events: it returns data, and `agent` tells
//! what happened.

mod note;
mod registry;
mod terminal;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

pub use note::{NoteArgs, NoteTool};
pub use registry::{DuplicateTool, ToolRegistry};
pub use terminal::{TerminalArgs, TerminalTool};

use crate::prompts::Language;
use crate::protocol::{ToolError, ToolOutput};
use crate::support::clock::Clock;

/// Something that a model can call.
///
/// Implemented by `note`, `terminal` and the tools of library users. A tool must not wait without
/// listening to [`ToolContext::cancel`], and must not print.
pub trait Tool: Send + Sync + 'static {
    /// The name to call it by; unique in a registry.
    const NAME: &'static str;

    /// The arguments. Doc comments of the fields are what the model reads of them; unknown fields
    /// should be refused (`#[serde(deny_unknown_fields)]`).
    type Args: DeserializeOwned + JsonSchema + Send;

    /// Returns whether the call only reads, so that it may run beside others.
    fn only_reads(&self, arguments: &Self::Args) -> bool {
        let _ = arguments;
        false
    }

    /// Does what is asked.
    fn call(
        &self,
        arguments: Self::Args,
        context: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// A tool that somebody else holds too.
impl<T: Tool> Tool for Arc<T> {
    const NAME: &'static str = T::NAME;
    type Args = T::Args;

    fn only_reads(&self, arguments: &Self::Args) -> bool {
        T::only_reads(self, arguments)
    }

    fn call(
        &self,
        arguments: Self::Args,
        context: &ToolContext,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send {
        T::call(self, arguments, context)
    }
}

/// What a call may know of its surroundings.
#[derive(Clone)]
pub struct ToolContext {
    /// The session's id.
    pub session: String,
    /// The language of texts for the model.
    pub language: Language,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Says that the turn was interrupted.
    pub cancel: CancellationToken,
}

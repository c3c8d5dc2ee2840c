//! What ends a turn without a result.

use crate::context::ContextError;
use crate::journal::JournalError;
use crate::model::ModelError;
use crate::notes::NoteError;
use crate::prompts::PromptError;
use crate::support::paths::WorkspaceError;
use crate::terminal::TerminalError;
use crate::tools::DuplicateTool;

/// Why there is no outcome. A limit is an outcome, not an error.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The workspace cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The model did not reply.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The context cannot be built.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// A prompt is missing or broken.
    #[error(transparent)]
    Prompt(#[from] PromptError),
    /// The session cannot be read or begun.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The state folder cannot be written.
    #[error(transparent)]
    State(std::io::Error),
    /// A note could not be written or read.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The terminal cannot be used.
    #[error(transparent)]
    Terminal(#[from] TerminalError),
    /// A command was refused; the text says what is allowed.
    #[error("{0}")]
    Refused(String),
    /// Two tools have one name.
    #[error(transparent)]
    DuplicateTool(#[from] DuplicateTool),
    /// A tool failed in a way that no answer of the model can mend.
    #[error("a tool failed for good")]
    Tool(#[source] Box<dyn std::error::Error + Send + Sync>),
}

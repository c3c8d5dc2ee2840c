//! What went wrong in the parts of the program, as a person reads it: the exit code, the words,
//! what to do. Whoever has an error of a part writes `?`.
//!
//! Nothing is decided here but words: which error it is the part has said, and each variant is
//! listed, so that a new one must be worded.

use super::{CliError, ExitKind};
use crate::agent::AgentError;
use crate::config::ConfigError;
use crate::context::ContextError;
use crate::journal::JournalError;
use crate::model::{ModelError, SelectError};
use crate::notes::NoteError;
use crate::terminal::TerminalError;

impl From<AgentError> for CliError {
    fn from(error: AgentError) -> Self {
        match error {
            AgentError::Model(error) => error.into(),
            AgentError::Journal(error) => error.into(),
            AgentError::Terminal(error) => error.into(),
            AgentError::Workspace(_) => Self::from_error(ExitKind::Usage, &error),
            AgentError::Context(ContextError::FixedPartsTooLarge { needed, .. }) => {
                // A quarter more, in thousands, so that something beside them has room too.
                let enough = (needed + needed / 4).div_ceil(1000) * 1000;
                Self::from_error(ExitKind::Config, &error).with_hint(format!(
                    "`--set context.max_tokens={enough}` gives the context more room"
                ))
            }
            AgentError::Context(ContextError::BadSetting { .. }) | AgentError::Prompt(_) => {
                Self::from_error(ExitKind::Config, &error)
            }
            AgentError::State(_) | AgentError::Note(_) => Self::from_error(ExitKind::Store, &error),
            AgentError::Tool(source) => match source.downcast::<TerminalError>() {
                Ok(error) => (*error).into(),
                Err(source) => Self::from_error(ExitKind::Other, &AgentError::Tool(source)),
            },
            AgentError::Refused(_) | AgentError::DuplicateTool(_) => {
                Self::from_error(ExitKind::Other, &error)
            }
        }
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::from_error(ExitKind::Config, &error).with_hints(error.hint())
    }
}

impl From<SelectError> for CliError {
    fn from(error: SelectError) -> Self {
        let kind = match error {
            SelectError::Endpoint(error) => return error.into(),
            SelectError::Record { .. } => ExitKind::Store,
            SelectError::NoEndpoint(_)
            | SelectError::NoName(_)
            | SelectError::NoFile
            | SelectError::Script(_) => ExitKind::Config,
        };
        Self::from_error(kind, &error).with_hints(error.hint())
    }
}

impl From<ModelError> for CliError {
    fn from(error: ModelError) -> Self {
        Self::from_error(ExitKind::of_model(&error), &error).with_hints(error.hint())
    }
}

impl ExitKind {
    /// Returns what a command ends with after an error of a model.
    pub(in crate::cli) fn of_model(error: &ModelError) -> Self {
        match error {
            ModelError::Credentials(_) => Self::Config,
            ModelError::Busy { .. } | ModelError::Quota(_) => Self::Quota,
            ModelError::Unavailable { .. }
            | ModelError::Silent { .. }
            | ModelError::Truncated(_)
            | ModelError::Overflow { .. }
            | ModelError::Endpoint { .. } => Self::Endpoint,
            ModelError::Script { .. } => Self::Other,
        }
    }
}

impl From<JournalError> for CliError {
    fn from(error: JournalError) -> Self {
        let (kind, hint) = match &error {
            JournalError::None => (ExitKind::Other, Some("`groundskeeper explore` begins one")),
            JournalError::Unknown(_) | JournalError::Ambiguous { .. } => {
                (ExitKind::Other, Some("`groundskeeper session list` shows all sessions"))
            }
            JournalError::InUse { .. } => {
                (ExitKind::Other, Some("`groundskeeper session fork` makes a copy that can go on"))
            }
            JournalError::Io { .. } => (ExitKind::Store, None),
        };
        Self::from_error(kind, &error).with_hints(hint)
    }
}

impl From<TerminalError> for CliError {
    fn from(error: TerminalError) -> Self {
        match &error {
            TerminalError::NoJail { .. } | TerminalError::JailFailed(_) => {
                Self::from_error(ExitKind::Sandbox, &error)
                    .with_hint("`groundskeeper doctor` says what works here")
                    .with_hint("`--set terminal.sandbox=auto` runs with what there is")
            }
            TerminalError::HelperNotCalled | TerminalError::System { .. } => {
                Self::from_error(ExitKind::Other, &error)
            }
        }
    }
}

impl From<NoteError> for CliError {
    fn from(error: NoteError) -> Self {
        let kind = match &error {
            NoteError::BadValue { .. }
            | NoteError::BadId(_)
            | NoteError::Ambiguous { .. }
            | NoteError::UnknownKind(_)
            | NoteError::UnknownStatus(_) => ExitKind::Usage,
            NoteError::NotFound(_)
            | NoteError::DeletesMost { .. }
            | NoteError::Conflict { .. }
            | NoteError::Secret { .. }
            | NoteError::Cycle(_)
            | NoteError::NothingToUndo
            | NoteError::ChangedAfter(_) => ExitKind::Other,
            NoteError::Unreadable { .. }
            | NoteError::Locked { .. }
            | NoteError::BadFolder { .. }
            | NoteError::Io { .. } => ExitKind::Store,
        };
        // The system's reason stands in the message already.
        let mut worded = Self::new(kind, error.to_string()).with_hints(error.hint());
        if let NoteError::Conflict { diff, .. } = &error {
            worded.causes.extend(diff.lines().map(str::to_owned));
        }
        worded
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_missing_sandbox_is_worded_alike_wherever_it_is_met() {
        let missing = || TerminalError::NoJail { missing: vec!["no Landlock".to_owned()] };
        let expected = CliError::from(missing());
        assert_eq!(expected.kind, ExitKind::Sandbox);
        assert!(expected.hints.iter().any(|hint| hint.contains("terminal.sandbox=auto")));
        assert_eq!(CliError::from(AgentError::Terminal(missing())), expected);
        assert_eq!(CliError::from(AgentError::Tool(Box::new(missing()))), expected);
    }
}

//! The one place where errors become words for a person and an exit code; `wording.rs` has those
//! of the program's parts.

mod wording;

use std::fmt;
use std::io;

/// What a command ended with when it did not succeed; `docs/guide.md` has the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitKind {
    /// Any failure without a code of its own: 1.
    Other,
    /// The command line is wrong: 2.
    Usage,
    /// Configuration or credentials: 3.
    Config,
    /// The endpoint cannot be reached or does not speak the protocol: 4.
    Endpoint,
    /// A rate or quota that waiting does not bring back: 5.
    Quota,
    /// A limit was reached; a partial report was written: 6.
    Limit,
    /// The store is damaged or could not be saved: 7.
    Store,
    /// A sandbox is required and missing: 8.
    Sandbox,
    /// Interrupted by Ctrl-C: 130.
    Interrupted,
    /// Asked to terminate: 143.
    Terminated,
}

impl ExitKind {
    /// Returns the exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Other => 1,
            Self::Usage => 2,
            Self::Config => 3,
            Self::Endpoint => 4,
            Self::Quota => 5,
            Self::Limit => 6,
            Self::Store => 7,
            Self::Sandbox => 8,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

/// An error as a person reads it: what happened, why, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    /// Decides the exit code.
    pub kind: ExitKind,
    /// One line, lower case, no full stop, literals in backticks.
    pub message: String,
    /// What lies behind it, outermost first.
    pub causes: Vec<String>,
    /// What to do, each on its own line.
    pub hints: Vec<String>,
}

impl CliError {
    /// Returns an error with a message alone.
    pub fn new(kind: ExitKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), causes: Vec::new(), hints: Vec::new() }
    }

    /// Returns an error from another with its chain of sources as causes.
    pub fn from_error(kind: ExitKind, error: &dyn std::error::Error) -> Self {
        let mut causes = Vec::new();
        let message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            let told = cause.to_string();
            // Some messages hold their cause.
            if !message.contains(&told) {
                causes.push(told);
            }
            source = cause.source();
        }
        Self { kind, message, causes, hints: Vec::new() }
    }

    /// Returns the error of an answer that could not be printed.
    pub(super) fn unprinted(error: &io::Error) -> Self {
        Self::new(ExitKind::Other, format!("the output cannot be written: {error}"))
    }

    /// Adds the hints that there are.
    #[must_use]
    fn with_hints(mut self, hints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.hints.extend(hints.into_iter().map(Into::into));
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl fmt::Display for CliError {
    /// Writes the whole message: `error: …`, its causes, its hints.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "error: {}", self.message)?;
        for cause in &self.causes {
            write!(formatter, "\n  cause: {cause}")?;
        }
        for hint in &self.hints {
            write!(formatter, "\nhint: {hint}")?;
        }
        Ok(())
    }
}

impl std::error::Error for CliError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_its_causes_and_hints_on_lines_of_their_own() {
        let mut error = CliError::new(ExitKind::Config, "the config file `x` is wrong");
        error.causes.push("unknown key `modle`".to_owned());
        let error = error.with_hint("did you mean `model`?");
        assert_eq!(
            error.to_string(),
            "error: the config file `x` is wrong\n  cause: unknown key `modle`\nhint: did you mean `model`?"
        );
        assert_eq!(error.kind.code(), 3);
    }
}

//! Why the terminal cannot work at all. That a line is refused is a refusal, that a command fails
//! is a report; neither is an error.

/// Why a line that was allowed could not be run.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// The sandbox is required and a part of it is missing; a person's exit code is 8.
    #[error("the sandbox is required and not whole: {}", .missing.join("; "))]
    NoJail {
        /// What is missing.
        missing: Vec<String>,
    },
    /// This process was started as the helper and did something else.
    #[error("started as the jail's helper, but `main` does not call `run_jail_helper` first")]
    HelperNotCalled,
    /// The helper could not jail itself, so nothing ran.
    #[error("the command was not run: {0}")]
    JailFailed(String),
    /// The system refused something that running a command takes.
    #[error("{doing} failed")]
    System {
        /// What was done.
        doing: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
}

impl TerminalError {
    /// Returns a function that wraps what the system said.
    pub(super) fn system(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::System { doing, source }
    }
}

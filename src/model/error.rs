//! What can go wrong between us and a model.

use std::time::Duration;

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// A rate limit: asking again later works.
    #[error("{message}")]
    Busy {
        /// What the server said.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
    },
    /// The server stumbled, or the line to it is down; asking again may work.
    #[error("{message}")]
    Unavailable {
        /// What happened.
        message: String,
        /// What to do if it stays so.
        hint: Option<String>,
        /// How long the server asks to wait.
        retry_after: Option<Duration>,
    },
    /// Nothing came for longer than anyone waits; asking once more may work.
    #[error("{message}")]
    Silent {
        /// What happened.
        message: String,
        /// What to do if it stays so.
        hint: Option<String>,
    },
    /// The reply broke off.
    #[error("the reply broke off: {0}")]
    Truncated(String),
    /// A rate or quota that waiting does not bring back soon.
    #[error("{0}")]
    Quota(String),
    /// No key, a wrong key, or one that may not do this.
    #[error("{0}")]
    Credentials(String),
    /// The prompt is longer than the model's window.
    #[error("the prompt does not fit the model's window: {message}")]
    Overflow {
        /// What the server said.
        message: String,
        /// The window in tokens, where it was told.
        window: Option<usize>,
    },
    /// The endpoint cannot be reached or does not speak the protocol.
    #[error("{message}")]
    Endpoint {
        /// What happened.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// A script and the dialog do not match.
    #[error("script `{script}`, step {step}: {message}")]
    Script {
        /// The script's file.
        script: String,
        /// The step, from 1.
        step: usize,
        /// What does not match.
        message: String,
    },
}

impl ModelError {
    /// Returns what to do about it.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Unavailable { hint, .. }
            | Self::Silent { hint, .. }
            | Self::Endpoint { hint, .. } => hint.as_deref(),
            Self::Credentials(_) => Some(
                "`groundskeeper doctor` tries the endpoint; `--model offline` works without one",
            ),
            Self::Quota(_) => Some("the session can be resumed later, also with another model"),
            Self::Overflow { .. } => {
                Some("set `endpoint.window` to the server's real window, or ask for less")
            }
            Self::Truncated(_) => Some("try again; `groundskeeper doctor` tries the endpoint"),
            Self::Busy { .. } => Some("try again later"),
            Self::Script { .. } => None,
        }
    }
}

//! What can go wrong between us and a model.

use std::time::Duration;

/// Why there is no reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The server is busy or stumbled; asking again later may work.
    #[error("{message}")]
    Busy {
        /// What the server said.
        message: String,
        /// How long it asks to wait.
        retry_after: Option<Duration>,
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

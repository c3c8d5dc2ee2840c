//! What a script can make go wrong, one word each.

use std::time::Duration;

use super::super::ModelError;

/// The words for `fails`, in the order of the documentation.
pub(super) const KINDS: [&str; 10] = [
    "busy",
    "unavailable",
    "silent",
    "cut",
    "quota",
    "credentials",
    "overflow",
    "endpoint",
    "length",
    "hangs",
];

/// How a step fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The provider's error.
    Error(ModelError),
    /// The reply arrives, cut by a length limit.
    Length,
    /// Nothing more ever arrives.
    Hangs,
}

/// What a script may add to the kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Details {
    /// What the server says; a sentence of ours when left out.
    pub(super) message: Option<String>,
    /// Seconds that a busy server asks to wait.
    pub(super) retry_after: Option<u64>,
    /// The window that an overflowing server names.
    pub(super) window: Option<usize>,
}

impl Failure {
    /// Returns the failure of a kind; none for a word that is not one.
    pub(super) fn new(kind: &str, details: Details) -> Option<Self> {
        let Details { message, retry_after, window } = details;
        let message = |usual: &str| message.clone().unwrap_or_else(|| usual.to_owned());
        Some(match kind {
            "busy" => Self::Error(ModelError::Busy {
                message: message("the scripted server is busy"),
                retry_after: retry_after.map(Duration::from_secs),
            }),
            "unavailable" => Self::Error(ModelError::Unavailable {
                message: message("the scripted server stumbled"),
                hint: None,
                retry_after: retry_after.map(Duration::from_secs),
            }),
            "silent" => Self::Error(ModelError::Silent {
                message: message("the scripted server said nothing"),
                hint: None,
            }),
            "cut" => Self::Error(ModelError::Truncated(message("the scripted stream ended early"))),
            "quota" => Self::Error(ModelError::Quota(message("the scripted quota is used up"))),
            "credentials" => {
                Self::Error(ModelError::Credentials(message("the scripted key is refused")))
            }
            "overflow" => Self::Error(ModelError::Overflow {
                message: message("the scripted window is too small"),
                window,
            }),
            "endpoint" => Self::Error(ModelError::Endpoint {
                message: message("the scripted endpoint cannot be reached"),
                hint: None,
            }),
            "length" => Self::Length,
            "hangs" => Self::Hangs,
            _ => return None,
        })
    }
}

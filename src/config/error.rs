//! What can be wrong with settings.

use std::fmt::Display;
use std::path::PathBuf;

use crate::context::ContextError;

/// Why the settings cannot be used; each names the place and what would be right.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("the config file `{}` cannot be read", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is no YAML mapping.
    #[error("the config file `{}` is not valid: {reason}", .path.display())]
    NotYaml {
        /// The file.
        path: PathBuf,
        /// Where and why.
        reason: String,
    },
    /// A key that does not exist.
    #[error("unknown key `{key}` in {origin}")]
    UnknownKey {
        /// The dotted key.
        key: String,
        /// Where it stands.
        origin: String,
        /// The key that may have been meant.
        nearest: Option<String>,
    },
    /// A key that a project's file may not set.
    #[error("the project's config file may not set `{0}`")]
    NotForProjects(String),
    /// A value of the wrong kind.
    #[error("`{key}` in {origin}: {reason}")]
    BadValue {
        /// The dotted key.
        key: String,
        /// Where it stands.
        origin: String,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// The context's settings do not fit together.
    #[error("`context`: {0}")]
    Context(#[from] ContextError),
    /// `--set` without `=`.
    #[error("`--set {0}` is not KEY=VALUE")]
    BadSet(String),
    /// `GROUNDSKEEPER_CLOCK` or `--clock` is no time.
    #[error("`{0}` is not a time such as `2025-01-19T15:30:00+08:00`")]
    BadClock(String),
}

impl ConfigError {
    /// Returns the error of a value that is outside its range.
    pub(super) fn out_of_range(key: &str, value: impl Display, range: &str) -> Self {
        Self::BadValue {
            key: key.to_owned(),
            origin: "the settings".to_owned(),
            reason: format!("{value} is not possible, it must be {range}"),
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownKey { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`?"))
            }
            Self::UnknownKey { nearest: None, .. } => {
                Some("`groundskeeper config show` lists all keys".to_owned())
            }
            Self::NotForProjects(_) => Some(
                "a cloned repository must not choose it: set it in your own config file or by flag"
                    .to_owned(),
            ),
            Self::BadSet(_) => Some("for instance `--set context.max_tokens=8000`".to_owned()),
            Self::Unreadable { .. }
            | Self::NotYaml { .. }
            | Self::BadValue { .. }
            | Self::Context(_)
            | Self::BadClock(_) => None,
        }
    }
}

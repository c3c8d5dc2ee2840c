//! What can be wrong with a journal.

use std::path::PathBuf;

/// Why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The newest session was asked for, and there is none at all.
    #[error("there are no sessions yet")]
    None,
    /// There is no session of that name.
    #[error("no session `{0}`")]
    Unknown(String),
    /// Several sessions fit the name.
    #[error("`{name}` fits several sessions: {}", .candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// The sessions that fit.
        candidates: Vec<String>,
    },
    /// Another process has the session.
    #[error("the session is in use by {owner}")]
    InUse {
        /// Who: process, host, since when.
        owner: String,
    },
    /// The file or folder cannot be read or made.
    #[error("{what} `{}` failed", .path.display())]
    Io {
        /// What was tried: "reading", "creating".
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl JournalError {
    /// Returns an IO error with its place.
    pub(super) fn io(what: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io { what, path: path.into(), source }
    }
}

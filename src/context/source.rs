//! Where packets come from, as the builder sees it.

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;

use super::ContextPacket;

/// Offers candidates.
///
/// Implemented by each file of `sources`. A source offers and never chooses; it asks nobody and
/// emits no events. When it fails, the turn goes on without it.
pub trait ContextSource: Send + Sync {
    /// Returns the name for warnings and reports.
    fn name(&self) -> &'static str;

    /// Returns the candidates for a query.
    fn gather<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>>;
}

/// What is asked, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The user's request; sources and scores go by its words.
    pub text: String,
    /// The mode's name: `explore`, `analyze`, `plan`, `auto`.
    pub mode: String,
    /// The time that ages are counted from.
    pub now: DateTime<Utc>,
    /// The session that asks, so that a memory of sessions leaves it out.
    pub session: Option<String>,
}

/// A source has nothing to offer because something went wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{source_name}: {message}")]
pub struct SourceFailure {
    /// The source's name.
    pub source_name: &'static str,
    /// What went wrong, in a sentence.
    pub message: String,
}

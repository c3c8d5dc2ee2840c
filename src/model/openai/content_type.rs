//! What an answer is, by its content type: nothing is read as a stream that does not say so or look
//! so.

use reqwest::header::{CONTENT_TYPE, HeaderMap};

/// What a content type says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A stream of events.
    Events,
    /// A JSON document.
    Json,
    /// A web page.
    Html,
    /// Nothing that helps.
    Untold,
    /// Something that is neither.
    Other(String),
}

impl Kind {
    /// Reads the header.
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let kind = value.unwrap_or_default().split(';').next().unwrap_or_default();
        match kind.trim().to_ascii_lowercase().as_str() {
            "text/event-stream" => Self::Events,
            "application/json" | "text/json" => Self::Json,
            kind if kind.ends_with("+json") => Self::Json,
            "text/html" | "application/xhtml+xml" => Self::Html,
            ""
            | "text/plain"
            | "application/octet-stream"
            | "application/stream+json"
            | "application/x-ndjson" => Self::Untold,
            other => Self::Other(format!("`{other}`")),
        }
    }
}

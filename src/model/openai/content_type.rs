//! What an answer is, by its content type and its first bytes. The bytes count more: proxies and
//! home-made servers label streams as JSON or as text, and whole answers as streams.

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

/// What an answer looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Looks {
    /// A stream of events.
    Events,
    /// JSON.
    Json,
    /// A web page.
    Page,
    /// There is nothing.
    Nothing,
    /// Something else, by its content type.
    Other(String),
}

/// How the lines of a stream of events begin.
const FIELDS: [&str; 5] = ["data:", "event:", "retry:", "id:", ":"];

/// So many bytes tell a field from a word.
const LONGEST_FIELD: usize = 6;

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

    /// Returns how many bytes are needed to tell what the answer is.
    pub(super) fn telling_bytes(&self) -> usize {
        match self {
            Self::Events | Self::Json => 1,
            Self::Html | Self::Untold | Self::Other(_) => LONGEST_FIELD,
        }
    }

    /// Returns what an answer of this type is that begins with some bytes.
    pub(super) fn with_beginning(self, start: &[u8]) -> Looks {
        let start = trimmed(start);
        let is_field = FIELDS.iter().any(|field| start.starts_with(field.as_bytes()));
        match (start.first(), self) {
            (Some(b'<'), _) => Looks::Page,
            (Some(b'{' | b'['), _) => Looks::Json,
            // An empty answer has broken off; that is told by whoever reads it.
            (_, Self::Events) => Looks::Events,
            (_, Self::Json) if !is_field => Looks::Json,
            (None, _) => Looks::Nothing,
            (Some(_), kind) if is_field || kind == Self::Untold => Looks::Events,
            (Some(_), Self::Html | Self::Json | Self::Untold) => Looks::Page,
            (Some(_), Self::Other(kind)) => Looks::Other(kind),
        }
    }
}

/// The mark of an encoding that some put before a text.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns bytes without blanks and without the mark of an encoding before them; of a part of the
/// mark nothing is left.
pub(super) fn trimmed(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.trim_ascii_start();
    if MARK.starts_with(bytes) {
        return &[];
    }
    bytes.strip_prefix(MARK).unwrap_or(bytes).trim_ascii_start()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &str, start: &str, expected: &Looks) {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, kind.parse().unwrap());
        assert_eq!(
            &Kind::of(&headers).with_beginning(start.as_bytes()),
            expected,
            "{kind} {start}"
        );
    }

    #[test]
    fn the_first_bytes_count_more_than_the_content_type() {
        check("text/event-stream; charset=utf-8", "data: {}", &Looks::Events);
        check("text/event-stream", "\n{\"error\":1}", &Looks::Json);
        check("text/event-stream", "<!doctype html>", &Looks::Page);
        check("text/event-stream", "", &Looks::Events);
        check("application/json", "{}", &Looks::Json);
        check("application/json", "\u{feff}{}", &Looks::Json);
        check("application/problem+json", "oops", &Looks::Json);
        check("text/html", "data: {}", &Looks::Events);
        check("text/html", ": alive", &Looks::Events);
        check("text/html", "Log in", &Looks::Page);
        check("text/plain", "", &Looks::Nothing);
        check("text/plain", "data", &Looks::Events);
        check("application/x-ndjson", "{}\n{}", &Looks::Json);
        check("image/png", "event: x", &Looks::Events);
        check("image/png", "PNG", &Looks::Other("`image/png`".to_owned()));
    }
}

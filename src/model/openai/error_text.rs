//! The words in an error body, whatever its shape: objects in objects, JSON in strings, HTML,
//! plain text, nothing.

use reqwest::StatusCode;
use serde_json::Value;

/// No body nests deeper than this on purpose.
const DEEPEST: usize = 8;

/// The longest message that a person is shown, in characters.
const LONGEST: usize = 500;

/// Keys that hold words, or things that hold words, the most telling first.
const WORDS: [&str; 12] = [
    "error",
    "message",
    "detail",
    "error_msg",
    "msg",
    "errors",
    "metadata",
    "raw",
    "error_description",
    "title",
    "reason",
    "details",
];

/// Keys that hold a code.
const CODES: [&str; 6] = ["code", "type", "status", "error_code", "err_code", "param"];

/// What an error body says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ErrorText {
    /// For a person: one line, at most 500 characters. Keys are still to be masked.
    pub(super) message: String,
    /// Words and codes in lower case, for telling kinds apart.
    pub(super) searchable: String,
    /// A status that the body names.
    pub(super) status: Option<StatusCode>,
}

impl ErrorText {
    /// Reads a body.
    pub(super) fn of_body(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let text = text.trim();
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            return Self::of_value(&value);
        }
        if text.starts_with('<') {
            let title = html_title(text);
            let message = title.map_or_else(
                || "an HTML page".to_owned(),
                |title| format!("an HTML page, \"{title}\""),
            );
            return Self {
                message: shorten(&message),
                searchable: text.to_lowercase(),
                status: None,
            };
        }
        Self { message: shorten(text), searchable: text.to_lowercase(), status: None }
    }

    /// Reads a body that is JSON.
    pub(super) fn of_value(value: &Value) -> Self {
        let mut found = Found::default();
        found.walk(value, 0);
        let message = if found.texts.is_empty() {
            match value {
                Value::Null => String::new(),
                other => other.to_string(),
            }
        } else {
            found.texts.join(": ")
        };
        let searchable = format!("{value} {message} {}", found.codes.join(" "));
        let status = found.codes.iter().find_map(|code| {
            code.parse()
                .ok()
                .filter(|code| (400..600).contains(code))
                .and_then(|code| StatusCode::from_u16(code).ok())
        });
        Self { message: shorten(&message), searchable: searchable.to_lowercase(), status }
    }
}

#[derive(Default)]
struct Found {
    texts: Vec<String>,
    codes: Vec<String>,
}

impl Found {
    fn walk(&mut self, value: &Value, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match value {
            Value::String(text) => self.text(text, depth),
            Value::Array(items) => items.iter().take(3).for_each(|item| self.walk(item, depth + 1)),
            Value::Object(object) => {
                // `{"loc": ["body", "messages"], "msg": "Field required"}`
                if let (Some(Value::Array(place)), Some(Value::String(message))) =
                    (object.get("loc"), object.get("msg"))
                {
                    let place: Vec<String> = place.iter().map(plain).collect();
                    self.push(format!("{} ({})", message, place.join(".")));
                    return;
                }
                for key in CODES {
                    match object.get(key) {
                        Some(Value::String(code)) => self.codes.push(code.clone()),
                        Some(Value::Number(code)) => self.codes.push(code.to_string()),
                        _ => {}
                    }
                }
                for key in WORDS {
                    if let Some(inner) = object.get(key) {
                        self.walk(inner, depth + 1);
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Takes a text; one that is JSON itself is looked into.
    fn text(&mut self, text: &str, depth: usize) {
        let trimmed = text.trim();
        let inner = trimmed.find(['{', '[']).map(|start| trimmed.split_at(start));
        if let Some((before, json)) = inner
            && let Ok(value) = serde_json::from_str::<Value>(json)
            && (value.is_object() || value.is_array())
        {
            let before = before.trim().trim_end_matches([':', '-']).trim();
            self.push(before.to_owned());
            self.walk(&value, depth + 1);
            return;
        }
        self.push(trimmed.to_owned());
    }

    fn push(&mut self, text: String) {
        if !text.is_empty() && !self.texts.iter().any(|known| known.contains(&text)) {
            self.texts.push(text);
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn html_title(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower[start..].find('>')? + 1;
    let end = start + lower[start..].find('<')?;
    let title = text.get(start..end)?.split_whitespace().collect::<Vec<_>>().join(" ");
    if title.is_empty() { None } else { Some(title) }
}

/// Returns one line without control characters, cut to what a person reads.
pub(super) fn shorten(text: &str) -> String {
    let line = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let line = line.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST - 1).chain(['…']).collect()
}

//! The values of the front matter: read leniently, written so that each stays on its line.
//!
//! Most values are plain words and are read without a YAML parser, which makes a folder of ten
//! thousand notes quick to read; all else goes through [`crate::support::yaml`]. What is written
//! reads the same in every YAML reader, and is plain where it can be.

use std::fmt::Write;

use serde_json::Value;

use super::front_matter::{Problem, RawValue, trimmed};
use crate::support::yaml;

/// Returns a value as one line of text; nothing and `null` are the empty text.
pub(super) fn read_text(key: &str, raw: RawValue<'_>) -> Result<String, Problem> {
    if raw.is_one_line()
        && let Some(plain) = plain(raw.inline)
    {
        return Ok(plain.to_owned());
    }
    let value = read_value(key, raw)?;
    text_of(&value).ok_or_else(|| Problem::new(raw.line, format!("`{key}` must be a text")))
}

/// Returns a text that people write without minding YAML: `title: a: b`, `title: [WIP] x`.
pub(super) fn read_loose_text(key: &str, raw: RawValue<'_>) -> String {
    read_text(key, raw).unwrap_or_else(|_| raw.inline.to_owned())
}

/// Returns a value as a list of texts: a list in any spelling, or words with commas between.
pub(super) fn read_list(key: &str, raw: RawValue<'_>) -> Result<Vec<String>, Problem> {
    if raw.is_one_line() {
        if let Some(items) = plain_list(raw.inline) {
            return Ok(items);
        }
        if let Ok(Value::Array(items)) = serde_json::from_str(raw.inline) {
            return Ok(items.iter().filter_map(text_of).collect());
        }
    }
    match read_value(key, raw)? {
        Value::Array(items) => Ok(items.iter().filter_map(text_of).collect()),
        Value::Null => Ok(Vec::new()),
        other => match text_of(&other) {
            Some(text) => Ok(split_list(&text)),
            None => Err(Problem::new(raw.line, format!("`{key}` must be a list"))),
        },
    }
}

/// Returns a value as data.
pub(super) fn read_value(key: &str, raw: RawValue<'_>) -> Result<Value, Problem> {
    let broken = |reason: &dyn std::fmt::Display| {
        Problem::new(raw.line, format!("the value of `{key}` is not YAML: {reason}"))
    };
    let document: yaml::Value = yaml::read(raw.lines).map_err(|error| broken(&error))?;
    let inner = match document {
        yaml::Value::Mapping(mapping) => mapping.into_iter().next().map(|(_, value)| value),
        other => Some(other),
    };
    let inner = inner.unwrap_or(yaml::Value::Null);
    serde_json::to_value(&inner).map_err(|error| broken(&error))
}

/// Returns words with commas between them as a list.
pub(super) fn split_list(text: &str) -> Vec<String> {
    text.split([',', '，', '、'])
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns a text as a YAML value on one line.
pub(super) fn write_text(text: &str) -> String {
    let written = yaml::write(&text).unwrap_or_default();
    let written = written.trim_end_matches('\n');
    let is_safe = !written.contains('\n')
        && !written.is_empty()
        && yaml::read::<String>(&format!("{written}\n")).is_ok_and(|read| read == text)
        && !text.contains(is_unprintable);
    if is_safe { written.to_owned() } else { quoted(text) }
}

/// Returns a list of texts on one line, in a spelling that YAML and JSON share: the Python package
/// reads tags as JSON.
pub(super) fn write_list<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(|item| quoted(item.as_ref())).collect();
    format!("[{}]", items.join(", "))
}

/// Returns data as a YAML value: one line, or for a list of maps one line for each.
pub(super) fn write_value(value: &Value) -> String {
    match value {
        Value::Array(items) if items.iter().any(Value::is_object) => {
            items.iter().fold(String::new(), |lines, item| format!("{lines}\n  - {}", flow(item)))
        }
        Value::String(text) => write_text(text),
        other => flow(other),
    }
}

/// Returns a plain value without its comment, where it can only mean itself.
fn plain(inline: &str) -> Option<&str> {
    let value = inline.find(" #").map_or(inline, |at| trimmed(&inline[..at]));
    let first = value.chars().next()?;
    let is_plain = !matches!(
        first,
        '"' | '\''
            | '['
            | ']'
            | '{'
            | '}'
            | '|'
            | '>'
            | '&'
            | '*'
            | '!'
            | '%'
            | '@'
            | '`'
            | '#'
            | '-'
            | '?'
            | ':'
            | ','
            | '~'
    ) && !value.contains(": ")
        && !value.ends_with(':')
        && !value.contains(|character: char| character.is_control());
    (is_plain && !matches!(value, "null" | "Null" | "NULL")).then_some(value)
}

/// Returns the items of `[a, b]` where all of them are plain.
fn plain_list(inline: &str) -> Option<Vec<String>> {
    let inside = inline.strip_prefix('[')?.strip_suffix(']')?;
    if inside.contains(['"', '\'', '[', ']', '{', '}', '#', ':', '&', '*', '!', '\\']) {
        return None;
    }
    Some(
        inside.split(',').map(trimmed).filter(|item| !item.is_empty()).map(str::to_owned).collect(),
    )
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null => Some(String::new()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn write_item(item: &str) -> String {
    let is_simple = item.chars().next().is_some_and(char::is_alphanumeric)
        && item.chars().all(|character| {
            character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | '/' | '+' | '@')
        })
        && write_text(item) == item;
    if is_simple { item.to_owned() } else { quoted(item) }
}

fn flow(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => write_item(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| format!("{}: {}", write_item(key), flow(value)))
                .collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// Returns a text in double quotes, with the escapes that YAML and JSON share.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ if is_unprintable(character) => {
                // Writing into a string cannot fail.
                _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns whether YAML forbids the character in a text, or breaks the line at it.
fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

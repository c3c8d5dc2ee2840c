//! The values of the front matter: read leniently, written so that each stays on its line.
//!
//! Most values are plain words and are read without a YAML parser, which makes a folder of ten
//! thousand notes quick to read; all else goes through [`crate::support::yaml`]. What is written
//! reads the same in every YAML reader, and is plain where it can be.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::front_matter::{Problem, RawValue, comment_at, trimmed};
use crate::support::yaml;

/// In a longer front matter no value refers to another.
const MAX_WITH_ANCHORS: usize = 4 * 1024;

/// Returns a value as one line of text; nothing and `null` are the empty text.
pub(super) fn read_text(key: &str, raw: RawValue<'_>) -> Result<String, Problem> {
    if raw.is_one_line()
        && let Some(plain) = plain(raw.inline)
    {
        return Ok(plain.to_owned());
    }
    if let Some(text) = as_written::<Option<String>>(raw) {
        return Ok(text.unwrap_or_default());
    }
    if let Ok(text) = serde_json::from_str(raw.whole) {
        // JSON has escapes that YAML has not.
        return Ok(text);
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
    if raw.is_one_line()
        && let Some(items) = plain_list(raw.inline)
    {
        return Ok(items);
    }
    if let Ok(Value::Array(items)) = serde_json::from_str(raw.whole) {
        return Ok(items.iter().flat_map(texts_of).collect());
    }
    if let Some(items) = as_written::<Vec<Option<String>>>(raw) {
        return Ok(items.into_iter().flatten().collect());
    }
    if let Some(text) = as_written::<Option<String>>(raw) {
        return Ok(split_list(&text.unwrap_or_default()));
    }
    Ok(match read_value(key, raw)? {
        Value::String(text) => split_list(&text),
        other => texts_of(&other),
    })
}

/// Returns a value in a form in which numbers and the like are the text that stands there.
fn as_written<T: DeserializeOwned>(raw: RawValue<'_>) -> Option<T> {
    let entries: BTreeMap<String, T> = yaml::read(raw.lines).ok()?;
    entries.into_values().next()
}

/// Returns the texts of a value, whatever stands around them: `[[a, b], c]`, `{a, b}` and the
/// `fix: it` that somebody forgot to quote.
fn texts_of(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(texts_of).collect(),
        Value::Object(entries) => {
            let entry = |(key, value): (&String, &Value)| match text_of(value) {
                Some(text) if text.is_empty() => vec![key.clone()],
                Some(text) => vec![format!("{key}: {text}")],
                None => [vec![key.clone()], texts_of(value)].concat(),
            };
            entries.iter().flat_map(entry).collect()
        }
        Value::Null => Vec::new(),
        scalar => text_of(scalar).into_iter().collect(),
    }
}

/// Returns a value as data.
pub(super) fn read_value(key: &str, raw: RawValue<'_>) -> Result<Value, Problem> {
    let broken = |reason: &dyn std::fmt::Display| {
        Problem::new(raw.line, format!("the value of `{key}` is not YAML: {reason}"))
    };
    let inner = match yaml::read(raw.lines) {
        Ok(yaml::Value::Mapping(mapping)) => mapping.into_iter().next().map(|(_, value)| value),
        Ok(other) => Some(other),
        Err(error) => Some(beside_its_anchor(key, raw).ok_or_else(|| broken(&error))?),
    };
    let inner = inner.unwrap_or(yaml::Value::Null);
    serde_json::to_value(&inner).map_err(|error| broken(&error))
}

/// Returns a value that says `*name`, which only the whole front matter explains.
fn beside_its_anchor(key: &str, raw: RawValue<'_>) -> Option<yaml::Value> {
    // Each of many such values would read the whole again.
    if !raw.lines.contains('*') || raw.header.len() > MAX_WITH_ANCHORS {
        return None;
    }
    let document: yaml::Mapping = yaml::read(raw.header).ok()?;
    document.get(key).cloned()
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
        && (written != text || !is_more_than_text(text))
        && !text.contains(is_unprintable);
    if is_safe { written.to_owned() } else { quoted(text) }
}

/// Returns a time as it stands, which no reader takes for anything else; other text is quoted
/// where it must be.
pub(super) fn write_time(text: &str) -> String {
    let is_plain = |character: char| character.is_ascii_digit() || "-:.+TZ ".contains(character);
    if !text.is_empty() && text.trim() == text && text.chars().all(is_plain) {
        return text.to_owned();
    }
    write_text(text)
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
    let value = comment_at(inline).map_or(inline, |at| trimmed(&inline[..at]));
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

/// Returns whether readers of YAML 1.1 (`PyYAML`, Ruby) take a plain word for something else: truth,
/// a number with `_` or `:` in it, a date.
fn is_more_than_text(text: &str) -> bool {
    const WORDS: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "=", "<<"];
    let is_word = WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
    let begins = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
    let is_number =
        |character: char| character.is_ascii_hexdigit() || "+-_.:, xXoOtTzZ".contains(character);
    is_word || (begins && text.chars().all(is_number))
}

/// Returns whether YAML forbids the character in a text, or breaks the line at it.
fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

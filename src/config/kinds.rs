//! What is wrong with a value, in words that know nothing of Rust's types.

use super::layers::EXTRA_BODY;
use crate::support::yaml::{self, Value};

/// Returns what is wrong with the kind of a value, seen beside the one that it replaces; none when
/// the kind is right.
pub(super) fn wrong_kind(key: &str, value: &Value, before: &Value) -> Option<String> {
    let kind = match before {
        Value::Bool(_) if !value.is_bool() => "`true` or `false`",
        Value::Number(number) if number.is_f64() && !value.is_number() => "a number",
        Value::Number(number) if !number.is_f64() && !value.is_u64() => "a whole number, 0 or more",
        Value::String(_) if key == EXTRA_BODY && !value.is_string() => {
            "a mapping, or a JSON object as text"
        }
        Value::String(_) if !value.is_string() => "a text",
        Value::Sequence(_) if !value.is_sequence() => "a list",
        _ => return None,
    };
    let value = yaml::write(value).unwrap_or_default();
    let value: String = value.trim().chars().take(60).collect();
    Some(format!("`{value}` is not possible, it must be {kind}"))
}

/// Rewrites what the reader says of a choice that there is not.
pub(super) fn choice(reason: String) -> String {
    match reason.strip_prefix("unknown variant ").and_then(|rest| rest.split_once(", expected ")) {
        Some((value, choices)) => format!("{value} is not possible, it must be {choices}"),
        None => reason,
    }
}

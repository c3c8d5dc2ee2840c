//! What a server's refusals have taught: fields that it does not know are left out from then on.
//!
//! Each refusal may change one thing, and a request is only sent again when something changed.

use std::collections::BTreeSet;

use serde_json::Value;

use super::presets::{NoText, Preset, ReasoningBack};

/// Names of the two fields that limit an answer.
const LENGTH_FIELDS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// Fields that a server may do without.
const OPTIONAL: [&str; 3] = ["stream_options", "temperature", "enable_thinking"];

/// What has been learned in this session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Adaptations {
    left_out: BTreeSet<String>,
    other_length_field: bool,
    other_no_text: bool,
    reasoning: Option<ReasoningBack>,
}

impl Adaptations {
    /// Returns whether a field is still sent.
    pub(super) fn sends(&self, field: &str) -> bool {
        !self.left_out.contains(field)
    }

    /// Returns the field that limits the answer.
    pub(super) fn length_field(&self, preset: &Preset) -> &'static str {
        if self.other_length_field {
            other_length_field(preset.length_field)
        } else {
            preset.length_field
        }
    }

    /// Returns what stands for a missing text.
    pub(super) fn no_text(&self, preset: &Preset) -> NoText {
        match (preset.no_text, self.other_no_text) {
            (NoText::Null, false) | (NoText::Empty, true) => NoText::Null,
            (NoText::Empty, false) | (NoText::Null, true) => NoText::Empty,
        }
    }

    /// Returns when reasoning is sent back.
    pub(super) fn reasoning(&self, preset: &Preset) -> ReasoningBack {
        self.reasoning.unwrap_or(preset.reasoning)
    }

    /// Learns from a refusal, its words in lower case. Returns whether the request is different
    /// now.
    pub(super) fn learn(&mut self, refusal: &str, sent: &Value, preset: &Preset) -> bool {
        let before = self.clone();
        let length_field = self.length_field(preset);
        if sent.get(length_field).is_some() && refusal.contains(length_field) {
            // A message that names both may mean either; the one that was sent is the one refused.
            self.swap_length_field(length_field, preset);
        } else if let Some(field) = named(refusal, sent) {
            self.left_out.insert(field);
        } else if refusal.contains("reasoning") {
            self.learn_reasoning(refusal, sent);
        } else if refusal.contains("content") && has_null_content(sent) {
            self.other_no_text = true;
        }
        *self != before
    }

    fn swap_length_field(&mut self, refused: &str, preset: &Preset) {
        let other = other_length_field(preset.length_field);
        if refused == preset.length_field && !self.other_length_field {
            self.other_length_field = true;
        } else if refused == other {
            self.left_out.insert(refused.to_owned());
        }
    }

    fn learn_reasoning(&mut self, refusal: &str, sent: &Value) {
        if self.reasoning.is_some() {
            return;
        }
        let wanted = ["must be", "missing", "required", "passed back"];
        let is_sent = messages(sent).any(|message| {
            message.get("reasoning_content").is_some() || message.get("reasoning").is_some()
        });
        if wanted.iter().any(|word| refusal.contains(word)) && !refusal.contains("empty") {
            self.reasoning = Some(ReasoningBack::Always);
        } else if refusal.contains("empty") {
            self.reasoning = Some(ReasoningBack::NonEmpty);
        } else if is_sent {
            self.reasoning = Some(ReasoningBack::Never);
        }
    }
}

/// Returns an optional field that was sent and that the refusal names.
fn named(refusal: &str, sent: &Value) -> Option<String> {
    // What a request cannot do without.
    let needed = ["model", "messages", "tools", "stream"];
    let fields = sent
        .as_object()?
        .keys()
        .filter(|key| !needed.contains(&key.as_str()) && !LENGTH_FIELDS.contains(&key.as_str()));
    let mut fields: Vec<&String> =
        fields.filter(|key| has_word(refusal, &key.to_lowercase())).collect();
    // The longest name first: `stream_options` before a field that is a part of it.
    fields.sort_by_key(|key| (!OPTIONAL.contains(&key.as_str()), std::cmp::Reverse(key.len())));
    fields.first().map(|key| (*key).clone())
}

/// Returns whether a text holds a name that is not a part of a longer one.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part)
    })
}

fn has_null_content(sent: &Value) -> bool {
    messages(sent).any(|message| message.get("content").is_some_and(Value::is_null))
}

fn messages(sent: &Value) -> impl Iterator<Item = &Value> {
    sent.get("messages").and_then(Value::as_array).into_iter().flatten()
}

fn other_length_field(field: &str) -> &'static str {
    if field == LENGTH_FIELDS[0] { LENGTH_FIELDS[1] } else { LENGTH_FIELDS[0] }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_named_by_its_whole_name() {
        let sent = json!({"model": "m", "n": 1, "top_k": 5, "stream_options": {}});
        let check = |refusal: &str, expected: Option<&str>| {
            assert_eq!(named(refusal, &sent).as_deref(), expected, "{refusal}");
        };
        check("unknown parameter: 'top_k'", Some("top_k"));
        check(
            "extra inputs are not permitted: stream_options.include_usage",
            Some("stream_options"),
        );
        check("invalid schema for function", None);
        check("top_k_limit is not known", None);
        check("`n` must be 1", Some("n"));
    }
}

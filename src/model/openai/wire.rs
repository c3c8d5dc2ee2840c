//! What a chunk of a stream, or a whole answer, holds. Everything is optional, and a field of an
//! unexpected type counts as missing: servers differ in all of them.

use serde_json::Value;

use crate::protocol::Usage;

/// One chunk of a stream, or a whole answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Chunk {
    /// What the first choice adds.
    pub(super) piece: Option<Piece>,
    /// Counts of tokens.
    pub(super) usage: Option<Counts>,
    /// An error in the place of a chunk.
    pub(super) error: Option<Value>,
}

/// What a choice adds to the answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Piece {
    /// Text of the answer.
    pub(super) content: String,
    /// Thinking aloud.
    pub(super) reasoning: String,
    /// Calls or parts of calls.
    pub(super) calls: Vec<CallPiece>,
    /// Why the answer ends.
    pub(super) finish: Option<String>,
}

/// A call or a part of one.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct CallPiece {
    /// Its place in the chunk.
    pub(super) position: usize,
    /// Its number, where the server gives one.
    pub(super) index: Option<u64>,
    /// Its id; never empty.
    pub(super) id: Option<String>,
    /// The tool's name; never empty.
    pub(super) name: Option<String>,
    /// Arguments, or a part of them.
    pub(super) arguments: Arguments,
    /// What the provider wants back with the call.
    pub(super) extra: Option<Value>,
}

/// Arguments of a piece.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Arguments {
    /// None.
    #[default]
    Missing,
    /// A part of the JSON text.
    Part(String),
    /// All of them, as JSON that was not put into a text.
    Whole(String),
}

/// Counts of tokens, as far as they are told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    prompt: Option<u64>,
    cached: Option<u64>,
    completion: Option<u64>,
}

impl Chunk {
    /// Reads a chunk or a whole answer.
    pub(super) fn read(value: &Value) -> Self {
        let error = value.get("error").filter(|error| is_error(error)).map(|_| value.clone());
        let error = error.or_else(|| bare_error(value));
        let choices = value.get("choices").and_then(Value::as_array);
        let first = choices.and_then(|choices| {
            choices.iter().find(|choice| {
                choice.get("index").and_then(Value::as_u64).is_none_or(|index| index == 0)
            })
        });
        let usage = [value.get("usage"), value.pointer("/x_groq/usage")]
            .into_iter()
            .chain([first.and_then(|choice| choice.get("usage"))])
            .flatten()
            .find_map(Counts::read);
        Self { piece: first.map(Piece::read), usage, error }
    }
}

impl Piece {
    fn read(choice: &Value) -> Self {
        let holder = ["delta", "message"].iter().find_map(|key| choice.get(*key));
        let holder = holder.filter(|holder| holder.is_object()).unwrap_or(&Value::Null);
        let mut calls: Vec<CallPiece> = holder
            .get("tool_calls")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .enumerate()
            .map(|(position, call)| CallPiece::read(position, call))
            .collect();
        if let Some(call) = holder.get("function_call").filter(|call| call.is_object()) {
            calls.push(CallPiece::of_function(0, call));
        }
        let (content, thought) = read_content(holder.get("content"));
        let mut reasoning = read_reasoning(holder);
        reasoning.push_str(&thought);
        Self { content, reasoning, calls, finish: non_empty(choice.get("finish_reason")) }
    }
}

impl CallPiece {
    fn read(position: usize, call: &Value) -> Self {
        let function = call.get("function").filter(|function| function.is_object());
        let mut piece = Self::of_function(position, function.unwrap_or(call));
        piece.index = call.get("index").and_then(Value::as_u64);
        piece.id = non_empty(call.get("id"));
        piece.extra = call.get("extra_content").filter(|extra| extra.is_object()).cloned();
        piece
    }

    fn of_function(position: usize, function: &Value) -> Self {
        let arguments = match function.get("arguments") {
            Some(Value::String(part)) if part.is_empty() => Arguments::Missing,
            Some(Value::String(part)) => Arguments::Part(part.clone()),
            Some(whole @ Value::Object(_)) => Arguments::Whole(whole.to_string()),
            _ => Arguments::Missing,
        };
        Self { position, name: non_empty(function.get("name")), arguments, ..Self::default() }
    }
}

impl Counts {
    fn read(value: &Value) -> Option<Self> {
        let object = value.as_object()?;
        let count = |key: &str| object.get(key).and_then(as_count);
        let cached = value
            .pointer("/prompt_tokens_details/cached_tokens")
            .and_then(as_count)
            .or_else(|| count("prompt_cache_hit_tokens"))
            .or_else(|| count("cached_tokens"));
        let counts = Self {
            prompt: count("prompt_tokens").or_else(|| count("input_tokens")),
            cached,
            completion: count("completion_tokens").or_else(|| count("output_tokens")),
        };
        if counts == Self::default() { None } else { Some(counts) }
    }

    /// Returns the tokens of the prompt; a server that counts 0 did not count.
    pub(super) fn prompt(self) -> Option<u64> {
        self.prompt.filter(|count| *count > 0)
    }

    /// Returns the tokens of the answer.
    pub(super) fn completion(self) -> Option<u64> {
        self.completion
    }

    /// Returns the usage, if the prompt was counted.
    pub(super) fn usage(self) -> Option<Usage> {
        let prompt_tokens = self.prompt()?;
        Some(Usage {
            prompt_tokens,
            cached_tokens: self.cached.unwrap_or(0).min(prompt_tokens),
            completion_tokens: self.completion.unwrap_or(0),
            estimated: false,
        })
    }
}

/// Returns whether the value of `error` says that there is one.
fn is_error(error: &Value) -> bool {
    match error {
        Value::String(text) => !text.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns an error that comes without the usual wrapping.
fn bare_error(value: &Value) -> Option<Value> {
    if value.get("choices").is_some() {
        return None;
    }
    let says_so = value.get("object").and_then(Value::as_str) == Some("error")
        || value.get("type").and_then(Value::as_str) == Some("error");
    let holds = ["detail", "errors", "error_msg", "error_code"];
    let speaks = value.get("message").is_some_and(Value::is_string);
    let list = value.as_array().is_some_and(|items| {
        items.first().is_some_and(|item| item.get("error").is_some_and(is_error))
    });
    let looks = says_so || speaks || list || holds.iter().any(|key| value.get(*key).is_some());
    if looks { Some(value.clone()) } else { None }
}

/// Reads the text of a message: a string, or parts of which some may be thoughts.
fn read_content(content: Option<&Value>) -> (String, String) {
    let mut text = String::new();
    let mut thought = String::new();
    match content {
        Some(Value::String(content)) => text.push_str(content),
        Some(Value::Array(parts)) => {
            for part in parts {
                let is_thought = matches!(
                    part.get("type").and_then(Value::as_str),
                    Some("thinking" | "reasoning")
                );
                let target = if is_thought { &mut thought } else { &mut text };
                push_text(target, part);
            }
        }
        _ => {}
    }
    (text, thought)
}

fn read_reasoning(holder: &Value) -> String {
    let mut reasoning = String::new();
    for key in ["reasoning_content", "reasoning", "thinking"] {
        if let Some(Value::String(text)) = holder.get(key) {
            reasoning.push_str(text);
            break;
        }
    }
    // OpenRouter repeats in the details what it says in `reasoning`.
    if reasoning.is_empty() {
        let details = holder.get("reasoning_details").and_then(Value::as_array);
        details.into_iter().flatten().for_each(|detail| push_text(&mut reasoning, detail));
    }
    reasoning
}

/// Adds the text of a part: `text`, `summary`, or the parts within it.
fn push_text(target: &mut String, part: &Value) {
    match part {
        Value::String(text) => target.push_str(text),
        Value::Array(parts) => parts.iter().for_each(|part| push_text(target, part)),
        Value::Object(object) => {
            for key in ["text", "thinking", "summary", "content"] {
                if let Some(inner) = object.get(key) {
                    push_text(target, inner);
                    break;
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn non_empty(value: Option<&Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
        // Some servers number their calls.
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    }
}

fn as_count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| (0.0..1e15).contains(number))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let whole = number as u64;
        Some(whole)
    })
}

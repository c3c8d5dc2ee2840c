//! What a chunk of a stream, or a whole answer, holds. Everything is optional, and a field of an
//! unexpected type counts as missing: servers differ in all of them.

use serde_json::Value;

use super::wire_error;
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
    /// Whether there was a field for reasoning, empty or not: some servers want it back.
    pub(super) reasons: bool,
    /// Whether it is a whole message and no part of one.
    pub(super) is_message: bool,
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
        Self { piece: first.map(Piece::read), usage, error: wire_error::find(value) }
    }
}

impl Piece {
    fn read(choice: &Value) -> Self {
        let object = |key: &str| choice.get(key).filter(|holder| holder.is_object());
        let is_message = object("delta").is_none();
        let holder = object("delta").or_else(|| object("message")).unwrap_or(&Value::Null);
        let mut calls: Vec<CallPiece> = match holder.get("tool_calls") {
            Some(Value::Array(calls)) => {
                calls.iter().enumerate().map(|(place, call)| CallPiece::read(place, call)).collect()
            }
            Some(call @ Value::Object(_)) => vec![CallPiece::read(0, call)],
            _ => Vec::new(),
        };
        if let Some(call) = holder.get("function_call").filter(|call| call.is_object()) {
            calls.push(CallPiece::of_function(0, call));
        }
        let mut piece = Self { is_message, ..Self::default() };
        read_reasoning(holder, &mut piece);
        // A choice of the older completions has its text beside it.
        let content = holder.get("content").or_else(|| choice.get("text"));
        read_content(content, &mut piece, &mut calls);
        if let Some(Value::String(refusal)) = holder.get("refusal") {
            piece.content.push_str(refusal);
        }
        piece.calls = calls;
        let end = |from: &Value| non_empty(from.get("finish_reason"));
        piece.finish = end(choice).or_else(|| end(holder)).filter(|word| !is_no_word(word));
        piece
    }
}

impl CallPiece {
    fn read(position: usize, call: &Value) -> Self {
        let function = ["function", "custom"].iter().find_map(|key| call.get(*key));
        let function = function.filter(|function| function.is_object());
        let mut piece = Self::of_function(position, function.unwrap_or(call));
        piece.index = call.get("index").and_then(as_count);
        piece.id = non_empty(call.get("id"));
        piece.extra = call.get("extra_content").filter(|extra| extra.is_object()).cloned();
        piece
    }

    fn of_function(position: usize, function: &Value) -> Self {
        let arguments = function.get("arguments").or_else(|| function.get("input"));
        let arguments = match arguments {
            None | Some(Value::Null) => Arguments::Missing,
            Some(Value::String(part)) if part.is_empty() => Arguments::Missing,
            Some(Value::String(part)) => Arguments::Part(part.clone()),
            // What is no object is for the tool to refuse.
            Some(whole) => Arguments::Whole(whole.to_string()),
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
            .or_else(|| value.pointer("/input_tokens_details/cached_tokens"))
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

    /// Returns these counts, and those of before where these tell none: some servers tell the
    /// prompt at the beginning and the answer at the end.
    pub(super) fn after(self, before: Option<Self>) -> Self {
        let before = before.unwrap_or_default();
        Self {
            prompt: self.prompt().or(before.prompt),
            cached: self.cached.or(before.cached),
            completion: self.completion.or(before.completion),
        }
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
            repeated_tokens: 0,
            completion_tokens: self.completion.unwrap_or(0),
            estimated: false,
        })
    }
}

/// Reads the text of a message: a string, or parts of which some may be thoughts or calls.
fn read_content(content: Option<&Value>, piece: &mut Piece, calls: &mut Vec<CallPiece>) {
    let Some(Value::Array(parts)) = content else {
        if let Some(text @ (Value::String(_) | Value::Object(_))) = content {
            push_text(&mut piece.content, text);
        }
        return;
    };
    for part in parts {
        match part.get("type").and_then(Value::as_str) {
            Some("thinking" | "reasoning" | "redacted_thinking") => {
                push_text(&mut piece.reasoning, part);
            }
            Some("tool_use" | "tool_call" | "function_call") => {
                calls.push(CallPiece::read(calls.len(), part));
            }
            _ => push_text(&mut piece.content, part),
        }
    }
}

/// Reads what was thought aloud. The same may stand in several fields: the first that says
/// something counts.
fn read_reasoning(holder: &Value, piece: &mut Piece) {
    let fields =
        ["reasoning_content", "reasoning", "thinking", "reasoning_details", "thinking_blocks"];
    for field in fields.iter().filter_map(|key| holder.get(*key)) {
        piece.reasons |= field.is_string();
        if piece.reasoning.is_empty() {
            push_text(&mut piece.reasoning, field);
        }
    }
}

/// Adds the text of a part: `text`, `summary`, or the parts within it.
fn push_text(target: &mut String, part: &Value) {
    match part {
        Value::String(text) => target.push_str(text),
        Value::Array(parts) => parts.iter().for_each(|part| push_text(target, part)),
        Value::Object(object) => {
            for key in ["text", "thinking", "summary", "content", "refusal"] {
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

/// Returns whether a word for the end says that there is none.
fn is_no_word(word: &str) -> bool {
    ["null", "none", "nil"].contains(&word.trim().to_ascii_lowercase().as_str())
}

fn as_count(value: &Value) -> Option<u64> {
    if let Value::String(text) = value {
        return text.trim().parse().ok();
    }
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| (0.0..1e15).contains(number))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "in range")]
        let whole = number as u64;
        Some(whole)
    })
}

//! From a request of ours to the bytes of a server: checked first, then written the way the
//! server's row of the table wants it, without a null or a field that nobody asked for.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::adapt::Adaptations;
use super::ids;
use super::options::EndpointOptions;
use super::presets::{NoText, Preset, ReasoningBack};
use crate::model::ChatRequest;
use crate::protocol::{Message, ToolCall, ToolSpec};

/// Stands for the result of a tool that gave none; several servers refuse an empty message.
const NO_OUTPUT: &str = "(no output)";

/// Why a request would be refused, told before it is sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadRequest {
    /// Nothing to answer.
    #[error("there is no message to answer")]
    Nothing,
    /// A call whose result does not follow.
    #[error("the call `{0}` has no result right after it")]
    NoResult(String),
    /// A result without its call.
    #[error("the result of `{0}` follows no such call")]
    NoCall(String),
    /// Two calls with one id in one message.
    #[error("two calls have the id `{0}`")]
    SameId(String),
    /// A system message that is not the first.
    #[error("a system message stands in the middle of the conversation")]
    LateSystem,
}

/// Returns the body of a request.
pub(super) fn body(
    request: &ChatRequest,
    options: &EndpointOptions,
    adaptations: &Adaptations,
) -> Result<Value, BadRequest> {
    check(&request.messages)?;
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(options.model));
    let style = Style { preset: &options.preset, adaptations };
    body.insert("messages".to_owned(), Value::Array(style.messages(&request.messages)));
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    let length_field = adaptations.length_field(&options.preset);
    let most = options.max_output_tokens.filter(|most| *most > 0);
    if let Some(most) = most.filter(|_| adaptations.sends(length_field)) {
        body.insert(length_field.to_owned(), json!(most));
    }
    if let Some(temperature) = options.temperature.filter(|_| adaptations.sends("temperature")) {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if options.stream {
        body.insert("stream".to_owned(), json!(true));
        if options.preset.stream_options && adaptations.sends("stream_options") {
            body.insert("stream_options".to_owned(), json!({"include_usage": true}));
        }
    } else {
        body.insert("stream".to_owned(), json!(false));
        if options.preset.thinking_needs_stream && adaptations.sends("enable_thinking") {
            body.insert("enable_thinking".to_owned(), json!(false));
        }
    }
    for (key, value) in &options.extra_body {
        if adaptations.sends(key) && !value.is_null() {
            body.insert(key.clone(), value.clone());
        }
    }
    Ok(Value::Object(body))
}

/// Checks what every server checks: each call is followed by its result, each result follows its
/// call, the system message comes first.
pub(super) fn check(messages: &[Message]) -> Result<(), BadRequest> {
    let mut open: Vec<&str> = Vec::new();
    let mut anything = false;
    for (number, message) in messages.iter().enumerate() {
        if let Message::Tool { call_id, .. } = message {
            let place = open.iter().position(|id| id == call_id);
            let place = place.ok_or_else(|| BadRequest::NoCall(call_id.clone()))?;
            open.remove(place);
            continue;
        }
        if let Some(id) = open.first() {
            return Err(BadRequest::NoResult((*id).to_owned()));
        }
        match message {
            Message::System { .. } if number > 0 => return Err(BadRequest::LateSystem),
            Message::Assistant { calls, .. } => {
                let mut seen = HashSet::new();
                for call in calls {
                    if !seen.insert(call.id.as_str()) {
                        return Err(BadRequest::SameId(call.id.clone()));
                    }
                    open.push(&call.id);
                }
            }
            Message::User { content } => anything |= !content.trim().is_empty(),
            Message::System { .. } | Message::Tool { .. } => {}
        }
    }
    match open.first() {
        Some(id) => Err(BadRequest::NoResult((*id).to_owned())),
        None if anything => Ok(()),
        None => Err(BadRequest::Nothing),
    }
}

/// How messages are written.
struct Style<'a> {
    preset: &'a Preset,
    adaptations: &'a Adaptations,
}

impl Style<'_> {
    fn messages(&self, messages: &[Message]) -> Vec<Value> {
        let mut written: Vec<Value> = Vec::new();
        for message in messages {
            match message {
                Message::System { content } => {
                    push_text(&mut written, "system", content);
                }
                Message::User { content } => self.user(&mut written, content),
                Message::Assistant { content, reasoning, calls } => {
                    written.extend(self.assistant(content, reasoning.as_deref(), calls));
                }
                Message::Tool { call_id, name, content } => {
                    written.push(self.tool_result(call_id, name, content));
                }
            }
        }
        written
    }

    fn user(&self, written: &mut Vec<Value>, content: &str) {
        let text = clean(content);
        if text.trim().is_empty() {
            return;
        }
        // Where a user may not speak after a tool, the words become part of its result.
        if !self.preset.user_after_tool
            && let Some(last) = written.last_mut()
            && last["role"] == "tool"
        {
            let before = last["content"].as_str().unwrap_or_default();
            last["content"] = Value::from(format!("{before}\n\n{text}"));
            return;
        }
        written.push(json!({"role": "user", "content": text}));
    }

    /// Returns an assistant message; none when there is nothing in it.
    fn assistant(
        &self,
        content: &str,
        reasoning: Option<&str>,
        calls: &[ToolCall],
    ) -> Option<Value> {
        let text = clean(content);
        if text.trim().is_empty() && calls.is_empty() {
            return None;
        }
        let mut message = Map::new();
        message.insert("role".to_owned(), json!("assistant"));
        let content = match self.adaptations.no_text(self.preset) {
            NoText::Null if text.is_empty() => Value::Null,
            NoText::Null | NoText::Empty => Value::from(text),
        };
        message.insert("content".to_owned(), content);
        let reasoning = match (self.adaptations.reasoning(self.preset), reasoning) {
            (ReasoningBack::Never, _) => None,
            (ReasoningBack::AsReceived, reasoning) => reasoning,
            (ReasoningBack::Always, reasoning) => Some(reasoning.unwrap_or_default()),
            (ReasoningBack::NonEmpty, reasoning) => reasoning.filter(|text| !text.is_empty()),
        };
        if let Some(reasoning) = reasoning {
            message.insert(self.preset.reasoning_field.to_owned(), json!(clean(reasoning)));
        }
        if !calls.is_empty() {
            let calls = calls.iter().map(|call| self.call(call)).collect();
            message.insert("tool_calls".to_owned(), calls);
        }
        Some(Value::Object(message))
    }

    fn call(&self, call: &ToolCall) -> Value {
        let mut written = json!({
            "id": ids::for_server(&call.id, self.preset.short_ids),
            "type": "function",
            "function": {"name": function_name(&call.name), "arguments": sent_arguments(&call.arguments)},
        });
        if let Some(extra) = &call.extra {
            written["extra_content"] = extra.clone();
        }
        written
    }

    fn tool_result(&self, call_id: &str, name: &str, content: &str) -> Value {
        let text = clean(content);
        let text = if text.trim().is_empty() { NO_OUTPUT.to_owned() } else { text };
        let mut message = json!({
            "role": "tool",
            "tool_call_id": ids::for_server(call_id, self.preset.short_ids),
        });
        if self.preset.tool_result_name {
            message["name"] = json!(function_name(name));
        }
        message["content"] = json!(text);
        message
    }
}

fn push_text(written: &mut Vec<Value>, role: &str, content: &str) {
    let text = clean(content);
    if !text.trim().is_empty() {
        written.push(json!({"role": role, "content": text}));
    }
}

/// Returns a tool as servers describe one: a flat object that has its properties, also when empty.
fn tool(tool: &ToolSpec) -> Value {
    let mut parameters = tool.parameters.clone();
    if !parameters.is_object() {
        parameters = json!({});
    }
    if let Some(object) = parameters.as_object_mut() {
        object.entry("type").or_insert_with(|| json!("object"));
        object.entry("properties").or_insert_with(|| json!({}));
    }
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": clean(&tool.description),
            "parameters": parameters,
        },
    })
}

/// Returns the name of a function as servers take it; what a model made up may be anything.
fn function_name(name: &str) -> String {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
    let name: String =
        name.chars().take(64).map(|letter| if allowed(letter) { letter } else { '_' }).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// Returns arguments that a server can parse: some read the history they are sent, and refuse what
/// is no object.
fn sent_arguments(arguments: &str) -> String {
    match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(_)) => clean(arguments),
        Ok(_) | Err(_) if arguments.trim().is_empty() => "{}".to_owned(),
        Ok(_) | Err(_) => json!({"malformed": clean(arguments)}).to_string(),
    }
}

/// Returns a text without NUL and other control characters that servers refuse.
pub(super) fn clean(text: &str) -> String {
    let refused = |letter: char| {
        (letter.is_control() && !matches!(letter, '\n' | '\t' | '\r'))
            || matches!(letter, '\u{FFFE}' | '\u{FFFF}')
    };
    if text.contains(refused) { text.replace(refused, "") } else { text.to_owned() }
}

//! Calls that a model writes as text, because its server or its template does not know better.
//!
//! Only names of tools that were offered count, and only a call that is the whole message or its
//! last block: an example in the middle of an explanation is not a wish.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use crate::protocol::ToolSpec;

/// A call read out of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextCall {
    /// The tool.
    pub(super) name: String,
    /// The arguments as JSON text.
    pub(super) arguments: String,
}

/// How far back an opening is looked for, counted in characters that may open a block.
const MOST_OPENINGS: usize = 2000;

/// One block at the end of a text.
static BLOCKS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?s)^<tool_call>\s*(?P<json>\{.*?\}|\[.*?\])\s*(?:</tool_call>)?\s*$",
        r"(?s)^<tool_call>\s*<function=(?P<name>[\w.-]+)>(?P<inner>.*?)</function>\s*(?:</tool_call>)?\s*$",
        r"(?s)^<function=(?P<name>[\w.-]+)>(?P<inner>.*?)(?:</function>)?\s*$",
        r"(?s)^```(?:json|tool_call|tool_code)?[ \t]*\n\s*(?P<json>\{.*\}|\[.*\])\s*```\s*$",
        r"(?s)^\[TOOL_CALLS\]\s*(?P<json>\[.*\]|\{.*\})\s*$",
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

static PARAMETER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?s)<parameter=(?P<key>[\w.-]+)>\s?(?P<value>.*?)\s?</parameter>").ok()
});

/// Takes the calls off the end of a text. Returns the text before them and the calls in order, or
/// none when there are none.
pub(super) fn take(text: &str, tools: &[ToolSpec]) -> Option<(String, Vec<TextCall>)> {
    if tools.is_empty() {
        return None;
    }
    let mut rest = text.trim_end();
    let mut calls = Vec::new();
    while let Some((before, found)) = last_block(rest, tools) {
        calls.splice(0..0, found);
        rest = before.trim_end();
    }
    if calls.is_empty()
        && let Ok(value) = serde_json::from_str::<Value>(rest.trim_start())
        && let Some(found) = of_json(&value, tools)
    {
        calls = found;
        rest = "";
    }
    if calls.is_empty() { None } else { Some((rest.to_owned(), calls)) }
}

fn last_block<'a>(text: &'a str, tools: &[ToolSpec]) -> Option<(&'a str, Vec<TextCall>)> {
    for pattern in BLOCKS.iter() {
        // The last opening that leads to the end: an earlier block must not swallow a later one.
        let mut from = text.len();
        for _ in 0..MOST_OPENINGS {
            let Some(start) = text.get(..from)?.rfind(['<', '`', '[']) else { break };
            from = start;
            let Some(found) = pattern.captures(&text[start..]) else { continue };
            let calls = match (found.name("json"), found.name("name")) {
                (Some(json), _) => serde_json::from_str(json.as_str())
                    .ok()
                    .and_then(|value: Value| of_json(&value, tools)),
                (None, Some(name)) => {
                    let inner = found.name("inner").map_or("", |inner| inner.as_str());
                    of_function(name.as_str(), inner, tools)
                }
                (None, None) => None,
            };
            if let Some(calls) = calls {
                return Some((&text[..start], calls));
            }
        }
    }
    None
}

/// Reads `{"name": …, "arguments": …}` or a list of such.
fn of_json(value: &Value, tools: &[ToolSpec]) -> Option<Vec<TextCall>> {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let calls: Option<Vec<_>> = items.iter().map(|item| of_json(item, tools)).collect();
            Some(calls?.into_iter().flatten().collect())
        }
        Value::Object(object) => {
            let object = object.get("function").and_then(Value::as_object).unwrap_or(object);
            let name = ["name", "tool", "tool_name", "function"]
                .iter()
                .find_map(|key| object.get(*key).and_then(Value::as_str))?;
            known(name, tools)?;
            let arguments = ["arguments", "parameters", "args", "input"]
                .iter()
                .find_map(|key| object.get(*key))?;
            let arguments = match arguments {
                Value::String(text) => text.clone(),
                Value::Object(_) => arguments.to_string(),
                _ => return None,
            };
            Some(vec![TextCall { name: name.to_owned(), arguments }])
        }
        _ => None,
    }
}

/// Reads `<function=name>` with `<parameter=key>` or JSON inside.
fn of_function(name: &str, inner: &str, tools: &[ToolSpec]) -> Option<Vec<TextCall>> {
    let tool = known(name, tools)?;
    let inner = inner.trim();
    let arguments = if let Ok(value @ Value::Object(_)) = serde_json::from_str::<Value>(inner) {
        value
    } else {
        let mut arguments = Map::new();
        for found in PARAMETER.as_ref()?.captures_iter(inner) {
            let key = found.name("key")?.as_str();
            let value = found.name("value")?.as_str();
            arguments.insert(key.to_owned(), typed(value, &tool.parameters["properties"][key]));
        }
        if arguments.is_empty() && !inner.is_empty() {
            return None;
        }
        Value::Object(arguments)
    };
    Some(vec![TextCall { name: name.to_owned(), arguments: arguments.to_string() }])
}

/// Returns a parameter's text as the type that the tool wants.
fn typed(text: &str, property: &Value) -> Value {
    if property["type"] == "string" {
        return Value::from(text);
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

fn known<'a>(name: &str, tools: &'a [ToolSpec]) -> Option<&'a ToolSpec> {
    tools.iter().find(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tools() -> Vec<ToolSpec> {
        let parameters = json!({"type": "object", "properties": {
            "command": {"type": "string"}, "limit": {"type": "integer"}}});
        ["note", "terminal"]
            .map(|name| ToolSpec {
                name: name.to_owned(),
                description: String::new(),
                parameters: parameters.clone(),
            })
            .to_vec()
    }

    #[track_caller]
    fn check(text: &str, before: &str, calls: &[(&str, &str)]) {
        let (rest, found) = take(text, &tools()).expect("there are calls");
        let found: Vec<_> =
            found.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect();
        assert_eq!((rest.as_str(), found.as_slice()), (before, calls), "{text}");
    }

    #[test]
    fn calls_at_the_end_are_taken() {
        let call = r#"{"name": "terminal", "arguments": {"command": "ls"}}"#;
        let ls = ("terminal", r#"{"command":"ls"}"#);
        check(&format!("<tool_call>\n{call}\n</tool_call>"), "", &[ls]);
        check(&format!("I look.\n<tool_call>{call}</tool_call>\n"), "I look.", &[ls]);
        check(
            &format!("<tool_call>{call}</tool_call>\n<tool_call>{call}</tool_call>"),
            "",
            &[ls, ls],
        );
        check(&format!("So:\n```json\n{call}\n```"), "So:", &[ls]);
        check(&format!("[TOOL_CALLS][{call}]"), "", &[ls]);
        check(call, "", &[ls]);
        check(
            "<function=terminal>\n<parameter=command>\nls -l\n</parameter>\n<parameter=limit>5</parameter>\n</function>",
            "",
            &[("terminal", r#"{"command":"ls -l","limit":5}"#)],
        );
        check(
            "<tool_call><function=note>{\"action\": \"list\"}</function></tool_call>",
            "",
            &[("note", r#"{"action":"list"}"#)],
        );
    }

    #[test]
    fn what_is_no_wish_stays_text() {
        for text in [
            "",
            "plain",
            r#"<tool_call>{"name": "rm", "arguments": {}}</tool_call>"#,
            "Write <tool_call>{\"name\": \"note\", \"arguments\": {}}</tool_call> to call a tool.",
            r#"<tool_call>{"name": "note"}</tool_call>"#,
            "```json\n{\"name\": \"note\"}\n```",
            r#"{"title": "x"}"#,
            "<tool_call>{broken</tool_call>",
        ] {
            assert_eq!(take(text, &tools()), None, "{text}");
        }
        assert_eq!(take(r#"{"name": "note", "arguments": {}}"#, &[]), None, "no tools, no calls");
    }
}

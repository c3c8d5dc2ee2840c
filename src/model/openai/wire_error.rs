//! Whether a chunk of a stream, or a whole answer with status 200, is an error in the place of one.
//!
//! Servers wrap errors in many ways; what holds something to read is never taken for one only
//! because a field has the name of an error.

use serde_json::Value;

/// Returns the error that a chunk is, with all that stands around it.
pub(super) fn find(value: &Value) -> Option<Value> {
    let is_one = match value {
        Value::Array(items) => {
            items.first().is_some_and(|item| item.get("error").is_some_and(says_something))
        }
        Value::Object(_) => value.get("error").is_some_and(says_something) || is_bare(value),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    is_one.then(|| value.clone())
}

/// Returns whether the value of `error` says that there is one: some servers send the field empty
/// with every chunk.
fn says_something(error: &Value) -> bool {
    match error {
        Value::Null => false,
        Value::Bool(is_one) => *is_one,
        Value::Number(code) => code.as_f64() != Some(0.0),
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(items) => items.iter().any(says_something),
        Value::Object(fields) => fields.values().any(says_something),
    }
}

/// Returns whether an object is an error without the usual wrapping.
fn is_bare(value: &Value) -> bool {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let choices = value.get("choices").and_then(Value::as_array);
    if choices.is_some_and(|choices| !choices.is_empty()) {
        return false;
    }
    let is_wrapped = value.pointer("/base_resp/status_code").is_some_and(says_something);
    if text("object") == Some("error") || text("type") == Some("error") || is_wrapped {
        return true;
    }
    let is_empty_chunk = choices.is_some() || value.get("usage").is_some_and(Value::is_object);
    if is_empty_chunk || text("type") == Some("ping") {
        return false;
    }
    let speaks = ["message", "msg", "detail", "errors", "error_msg", "error_code"];
    value.get("success") == Some(&Value::Bool(false))
        || speaks.iter().any(|key| {
            value.get(*key).is_some_and(|said| {
                let is_answer = *key == "message" && said.is_object();
                !is_answer && says_something(said)
            })
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_is_known_however_it_is_wrapped() {
        for error in [
            json!({"error": {"message": "x"}}),
            json!({"error": "x"}),
            json!({"error": true, "message": "x"}),
            json!({"error": 500}),
            json!([{"error": {"code": 429}}]),
            json!({"object": "error", "message": "x"}),
            json!({"type": "error", "error": {"type": "overloaded_error"}}),
            json!({"detail": "x"}),
            json!({"errors": [{"message": "x"}]}),
            json!({"message": "x"}),
            json!({"code": 1002, "msg": "x", "success": false}),
            json!({"error_msg": "x", "error_code": 18}),
            json!({"choices": null, "base_resp": {"status_code": 1008, "status_msg": "x"}}),
            json!({"choices": [], "object": "error", "message": "x"}),
        ] {
            assert_eq!(find(&error).as_ref(), Some(&error));
        }
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        for chunk in [
            json!({"choices": [{"delta": {"content": "x"}}], "error": null}),
            json!({"choices": [{"delta": {"content": "x"}}], "error": {"code": 0, "message": ""}}),
            json!({"choices": [{"delta": {"content": "x"}}], "message": "x"}),
            json!({"choices": [], "message": "x"}),
            json!({"choices": [], "usage": {"prompt_tokens": 1}}),
            json!({"usage": {"prompt_tokens": 1}, "base_resp": {"status_code": 0, "status_msg": ""}}),
            json!({"type": "ping"}),
            json!({"type": "ping", "message": "x"}),
            json!({"error": ""}),
            json!({}),
            json!("ping"),
            json!(null),
            json!([]),
        ] {
            assert_eq!(find(&chunk), None, "{chunk}");
        }
    }
}

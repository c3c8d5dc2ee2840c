use std::time::Duration;

use futures::FutureExt;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::protocol::Message;

fn request(texts: &[&str]) -> ChatRequest {
    let messages = texts.iter().map(|text| Message::User { content: (*text).to_owned() });
    ChatRequest { messages: messages.collect(), tools: Vec::new() }
}

fn model(script: &str) -> ScriptedModel {
    ScriptedModel::from_yaml(script, "day_one.yaml").expect("the script is well formed")
}

fn ask(model: &ScriptedModel, request: &ChatRequest) -> Result<ChatReply, ModelError> {
    model.chat(request, &|_| {}).now_or_never().expect("a script never waits")
}

#[track_caller]
fn check_bad(script: &str, expected: &str) {
    let error = ScriptedModel::from_yaml(script, "s.yaml").expect_err(script);
    assert_eq!(error.to_string(), format!("the script `s.yaml`: {expected}"));
}

#[track_caller]
fn check_mismatch(step: &str, shown: &[&str], expected: &str) {
    let model = model(&format!("steps:\n  - {{{step}, says: x}}"));
    let error = ask(&model, &request(shown)).expect_err(step);
    assert_eq!(error.to_string(), format!("script `day_one.yaml`, step 1: {expected}"));
    assert_eq!(model.finish(), Err(error), "the mismatch is told again at the end");
}

#[test]
fn a_dialog_is_followed_step_by_step() {
    let model = model(
        "about: two steps\nsteps:\n  - sees: [\"[State]\", 循环依赖]\n    misses: [Rename]\n    says: Looking.\n    \
         calls:\n      - tool: note\n        with: {action: read, note_id: n1, tags: [a, b]}\n      - {tool: list}\n  - says: Done.\n",
    );
    assert_eq!(model.name(), "script:day_one.yaml");
    assert_eq!(model.about(), Some("two steps"));
    let mut request = request(&["[State]\n- 循环依赖"]);
    let reply = ask(&model, &request).unwrap();
    assert_eq!(reply.text, "Looking.");
    let arguments = json!({"action": "read", "note_id": "n1", "tags": ["a", "b"]});
    assert_eq!(
        reply.calls,
        [ToolCall::new("call_1", "note", &arguments), ToolCall::new("call_2", "list", &json!({}))]
    );
    assert!(model.finish().is_err(), "a step is left");
    request.messages.push(Message::Tool {
        call_id: "call_2".to_owned(),
        name: "list".to_owned(),
        content: String::new(),
    });
    assert_eq!(ask(&model, &request).unwrap().text, "Done.");
    assert_eq!(model.finish(), Ok(()));
}

#[test]
fn the_ids_of_calls_go_on_where_the_session_stopped() {
    let model = model("steps: [{calls: [{tool: a}]}]");
    let call = ToolCall::new("call_41", "a", &json!({}));
    let message = Message::Assistant { content: String::new(), reasoning: None, calls: vec![call] };
    let request = ChatRequest { messages: vec![message], tools: Vec::new() };
    assert_eq!(ask(&model, &request).unwrap().calls[0].id, "call_42");
}

#[test]
fn text_arrives_in_pieces_and_whole() {
    let model = model("steps: [{thinks: hm, says: \"one two\\nthree\"}]");
    let pieces = Mutex::new(Vec::new());
    let request = request(&[]);
    let reply = model
        .chat(&request, &|delta| pieces.lock().unwrap().push(delta))
        .now_or_never()
        .unwrap()
        .unwrap();
    let text = |text: &str| Delta::Text(text.to_owned());
    let expected = [Delta::Reasoning("hm".to_owned()), text("one "), text("two\n"), text("three")];
    assert_eq!(*pieces.lock().unwrap(), expected);
    assert_eq!((reply.text.as_str(), reply.reasoning.as_deref()), ("one two\nthree", Some("hm")));
}

#[test]
fn calls_and_results_are_part_of_what_is_seen() {
    let model = model("steps: [{sees: ['\"action\":\"list\"', \"3 notes\", list], says: x}]");
    let call = ToolCall::new("c", "note", &json!({"action": "list"}));
    let messages = vec![
        Message::Assistant { content: String::new(), reasoning: None, calls: vec![call] },
        Message::Tool { call_id: "c".into(), name: "note".into(), content: "3 notes".into() },
    ];
    assert!(ask(&model, &ChatRequest { messages, tools: Vec::new() }).is_ok());
}

#[test]
fn a_mismatch_names_the_text_and_shows_the_request() {
    check_mismatch(
        "sees: [Blocked by werkzeug]",
        &["first", "Blocked by nobody"],
        "the request does not hold \"Blocked by werkzeug\"; the request has only its start \
         \"Blocked by \": \"first\\nBlocked by nobody\\n\"",
    );
    check_mismatch(
        "sees: [依赖]",
        &["first"],
        "the request does not hold \"依赖\"; the request ends with: \"first\"",
    );
    check_mismatch(
        "misses: [Rename]",
        &["one", "two", "a Rename b"],
        "the request must not hold \"Rename\"; it stands in line 3 of the request: \
         \"one\\ntwo\\na Rename b\\n\"",
    );
}

#[test]
fn a_long_request_is_shown_in_a_short_piece() {
    let long = "依".repeat(100_000);
    let shown = format!("{long}Rename{long}");
    for step in ["misses: [Rename]", "sees: [Renamed]", "sees: [nowhere]"] {
        let model = model(&format!("steps: [{{{step}, says: x}}]"));
        let error = ask(&model, &request(&[&shown])).unwrap_err().to_string();
        assert!(error.chars().count() < 700, "{error}");
        assert!(error.contains('…'), "{error}");
    }
}

#[test]
fn a_script_that_is_too_short_or_too_long_fails() {
    let short = model("steps: []");
    let error = ask(&short, &request(&["more?"])).unwrap_err().to_string();
    let expected = "script `day_one.yaml`, step 1: the script has no steps, and the model is \
                    asked again; the request ends with: \"more?\"";
    assert_eq!(error, expected);
    assert!(short.finish().is_err());

    let long = model("steps: [{says: a}, {calls: [{tool: note}]}, {says: c}]");
    ask(&long, &request(&[])).unwrap();
    let error = long.finish().unwrap_err().to_string();
    let expected = "script `day_one.yaml`, step 2: some steps were never asked for (2 of 3); the \
                    next one calls `note` with {}";
    assert_eq!(error, expected);
}

#[test]
fn failures_are_scripted_by_kind() {
    let script = model(
        "steps:\n  - {fails: busy, says: Half a}\n  - fails: {kind: busy, retry_after: 7, message: later}\n  \
         - {fails: cut}\n  - {fails: quota}\n  - {fails: credentials}\n  \
         - fails: {kind: overflow, window: 4096}\n  - {fails: endpoint}\n  - {fails: unavailable}\n  \
         - {fails: length, says: Half, calls: [{tool: note, with: '{\"action\": \"cre'}]}\n",
    );
    let request = request(&[]);
    let mut failures = Vec::new();
    for _ in 0..8 {
        failures.push(ask(&script, &request).unwrap_err());
    }
    assert!(matches!(failures[0], ModelError::Busy { retry_after: None, .. }));
    let wait = Some(Duration::from_secs(7));
    assert_eq!(failures[1], ModelError::Busy { message: "later".into(), retry_after: wait });
    assert!(matches!(failures[2], ModelError::Truncated(_)));
    assert!(matches!(failures[3], ModelError::Quota(_)));
    assert!(matches!(failures[4], ModelError::Credentials(_)));
    assert!(matches!(failures[5], ModelError::Overflow { window: Some(4096), .. }));
    assert!(matches!(failures[6], ModelError::Endpoint { .. }));
    assert!(matches!(failures[7], ModelError::Unavailable { .. }));
    let reply = ask(&script, &request).unwrap();
    assert_eq!((reply.finish, reply.text.as_str()), (Finish::Length, "Half"));
    assert_eq!(reply.calls[0].arguments, "{\"action\": \"cre");
    assert_eq!(script.finish(), Ok(()), "a scripted failure is a step that was followed");
}

#[test]
fn a_model_that_hangs_never_answers() {
    let model = model("steps: [{fails: hangs, says: Well}]");
    let pieces = Mutex::new(String::new());
    let request = request(&[]);
    let hear = |delta| {
        if let Delta::Text(text) = delta {
            pieces.lock().unwrap().push_str(&text);
        }
    };
    assert_eq!(model.chat(&request, &hear).now_or_never(), None);
    assert_eq!(*pieces.lock().unwrap(), "Well");
}

#[test]
fn a_bad_script_is_told_in_a_sentence() {
    check_bad("steps: [{say: x}]", "step 1: unknown key `say`; did you mean `says`?");
    check_bad("stepps: []", "a script: unknown key `stepps`; did you mean `steps`?");
    check_bad("about: x", "`steps` is missing: a list of what the model answers");
    check_bad("steps: {}", "`steps` must be a list");
    check_bad("[]", "a script must have keys: about, steps");
    check_bad("", "a script must have keys: about, steps");
    check_bad("steps: [x]", "step 1 must have keys: sees, misses, thinks, says, calls, fails");
    check_bad(
        "steps: [{says: x}, {sees: a}]",
        "step 2 answers nothing: it needs `says`, `calls` or `fails`",
    );
    check_bad("steps: [{says: [x]}]", "step 1: `says` must be a text");
    check_bad("steps: [{sees: [[State]], says: x}]", "step 1: `sees` must be a list of texts");
    check_bad(
        "steps: [{misses: '', says: x}]",
        "step 1: `misses` has an empty text, which is in every request",
    );
    check_bad("steps: [{calls: note}]", "step 1: `calls` must be a list of `{tool, with}`");
    check_bad(
        "steps: [{calls: [{with: {}}]}]",
        "step 1, call 1: `tool` is missing: the name of the tool to call",
    );
    check_bad(
        "steps: [{calls: [{tool: note, args: {}}]}]",
        "step 1, call 1: unknown key `args`; the keys are tool, with",
    );
    check_bad(
        "steps: [{calls: [{tool: note, with: [1]}]}]",
        "step 1, call 1: `with` must be the arguments by name",
    );
    check_bad(
        "steps: [{fails: bussy}]",
        "step 1: unknown failure `bussy`; the kinds are busy, unavailable, silent, cut, quota, credentials, overflow, \
         endpoint, length, hangs; did you mean `busy`?",
    );
    check_bad(
        "steps: [{fails: {kind: busy, retry_after: soon}}]",
        "step 1, `fails`: `retry_after` must be a whole number, 0 or more",
    );
    check_bad(
        "steps: [{fails: cut, calls: [{tool: note}]}]",
        "step 1 has `calls`, which never arrive when it `fails` this way",
    );
}

#[test]
fn a_file_that_is_no_script_is_told_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let missing = ScriptedModel::from_file(&folder.path().join("no.yaml")).unwrap_err();
    assert!(matches!(missing, ScriptError::Unreadable { .. }), "{missing}");
    let error = ScriptedModel::from_yaml("steps: [", "s.yaml").unwrap_err();
    assert_eq!(error.to_string(), "the script `s.yaml` is not YAML");
    assert!(std::error::Error::source(&error).is_some(), "the line is in the cause");
    assert!(ScriptedModel::from_file(folder.path()).is_err(), "a folder is no script");
}

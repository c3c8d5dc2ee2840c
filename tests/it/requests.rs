//! Whatever the program can journal, it can send: any session, cut off anywhere by a kill, folds
//! into a request that every kind of server takes.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::sync::LazyLock;

use chrono::DateTime;
use groundskeeper::agent::replay;
use groundskeeper::model::ChatRequest;
use groundskeeper::model::openai::{BaseUrl, EndpointOptions, OpenAiModel, Preset};
use groundskeeper::protocol::{Completeness, Event, EventKind, Message, ToolCall, Usage};
use proptest::prelude::*;
use serde_json::Value;

/// A model for each way to write a request.
static MODELS: LazyLock<Vec<(&str, OpenAiModel)>> = LazyLock::new(|| {
    let model = |name| {
        let base = BaseUrl::parse("http://127.0.0.1:1").unwrap();
        let mut options = EndpointOptions::new(base, "m", None);
        options.preset = Preset::named(name).unwrap();
        (name, OpenAiModel::new(options).unwrap())
    };
    ["generic", "openai", "deepseek", "mistral", "moonshot", "lmstudio"].map(model).into()
});

/// One reply of a model, and how many of its calls were answered.
#[derive(Debug, Clone)]
struct Step {
    text: String,
    reasoning: Option<String>,
    calls: Vec<(String, String)>,
    answered: usize,
    result: String,
    said: Option<String>,
    cut: bool,
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("  \n".to_owned()),
        Just("nul \0 and \u{1b}[31m and \u{fffe}".to_owned()),
        Just("循环依赖 🦀".to_owned()),
        any::<String>(),
    ]
}

fn arguments() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#"{"command": "ls"}"#.to_owned()),
        Just(r#"{"command": "l"#.to_owned()),
        Just(r#"{"a": "\ud800"}"#.to_owned()),
        Just("[1]".to_owned()),
        text(),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let name = prop_oneof![Just("terminal".to_owned()), Just("note".to_owned()), text()];
    let calls = prop::collection::vec((name, arguments()), 0..4);
    let rest = (0..5_usize, text(), prop::option::of(text()), any::<bool>());
    (text(), prop::option::of(text()), calls, rest).prop_map(
        |(text, reasoning, calls, (answered, result, said, cut))| Step {
            text,
            reasoning,
            calls,
            answered,
            result,
            said,
            cut,
        },
    )
}

/// Writes turns down as the loop does.
fn events(turns: &[(String, Vec<Step>)]) -> Vec<Event> {
    let mut kinds = Vec::new();
    for (turn, (question, steps)) in turns.iter().enumerate() {
        kinds.push(EventKind::ContextBuilt {
            tokens: 1,
            budget: 2,
            text: format!("[Task]\n{question}"),
            report: Value::Null,
        });
        for (number, step) in steps.iter().enumerate() {
            // Some models make ids that no other server takes.
            let id = |call: usize| format!("call:{turn}/{number}/{call}");
            let calls = step.calls.iter().enumerate().map(|(call, (name, arguments))| ToolCall {
                id: id(call),
                name: name.clone(),
                arguments: arguments.clone(),
                extra: None,
            });
            kinds.push(EventKind::ModelReplied {
                text: step.text.clone(),
                reasoning: step.reasoning.clone(),
                calls: calls.collect(),
                cut: step.cut,
                unverified: false,
                usage: Usage::default(),
            });
            for (call, (name, _)) in step.calls.iter().enumerate().take(step.answered) {
                kinds.push(EventKind::ToolFinished {
                    id: id(call),
                    name: name.clone(),
                    for_model: step.result.clone(),
                    summary: String::new(),
                    completeness: Completeness::Whole,
                    failure: None,
                });
            }
            kinds.extend(step.said.clone().map(|text| EventKind::LoopSaid { text }));
        }
    }
    let at = DateTime::from_timestamp(1_737_300_000, 0).unwrap();
    kinds.into_iter().zip(1..).map(|(kind, seq)| Event { seq, at, kind }).collect()
}

/// Checks a body as the strictest servers do.
fn check(body: &Value, preset: &str) -> Result<(), TestCaseError> {
    let messages = body["messages"].as_array().unwrap();
    prop_assert_eq!(&messages[0]["role"], "system");
    let mut open: Vec<&str> = Vec::new();
    let mut before = "";
    for message in messages {
        let role = message["role"].as_str().unwrap();
        let calls = message["tool_calls"].as_array();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap();
            prop_assert!(open.contains(&id), "a result without its call");
            open.retain(|open| *open != id);
        } else {
            prop_assert!(open.is_empty(), "a call without its result: {open:?}");
        }
        match &message["content"] {
            Value::Null => prop_assert!(calls.is_some() && role == "assistant"),
            Value::String(content) if calls.is_none() => prop_assert!(!content.trim().is_empty()),
            Value::String(content) => {
                let control = content.contains(['\0', '\u{1b}', '\u{fffe}']);
                prop_assert!(!control, "control characters");
            }
            other => prop_assert!(false, "content {other}"),
        }
        for call in calls.into_iter().flatten() {
            let id = call["id"].as_str().unwrap();
            let short = id.len() == 9 && id.chars().all(|letter| letter.is_ascii_alphanumeric());
            prop_assert!(short, "{id}");
            open.push(id);
            let name = call["function"]["name"].as_str().unwrap();
            let plain = |letter: char| letter.is_ascii_alphanumeric() || "_-".contains(letter);
            prop_assert!(!name.is_empty() && name.len() <= 64 && name.chars().all(plain), "{name}");
            let arguments = call["function"]["arguments"].as_str().unwrap();
            let arguments: Value = serde_json::from_str(arguments).unwrap();
            prop_assert!(arguments.is_object());
        }
        prop_assert!(
            !(preset == "mistral" && before == "tool" && role == "user"),
            "a user after a tool"
        );
        before = role;
    }
    prop_assert!(open.is_empty(), "a call without its result at the end");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_journal_folds_into_a_request_that_every_server_takes(
        turns in prop::collection::vec((text(), prop::collection::vec(step(), 0..4)), 1..4),
        kept in 0.0..=1.0_f64,
    ) {
        let mut events = events(&turns);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a share of a short list")]
        events.truncate((events.len() as f64 * kept).ceil() as usize);
        let mut messages = vec![Message::System { content: "You look after code.".to_owned() }];
        messages.extend(replay(&events));
        messages.push(Message::User { content: "Go on.".to_owned() });
        let request = ChatRequest { messages, tools: Vec::new() };
        for (name, model) in MODELS.iter() {
            let body = model.body(&request).unwrap();
            check(&body, name)?;
        }
    }
}

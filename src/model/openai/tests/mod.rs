//! What servers send and refuse, a fixture and a test for each kind, through a raw server.

mod embeddings;
mod errors;
mod requests;
mod server;
mod streams;
mod tolerance;
mod transports;
mod usages;

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;

use self::server::{Asked, Server, Step};
use super::*;
use crate::protocol::{Message, ToolCall, ToolSpec};

/// What came of one request.
struct Heard {
    reply: Result<ChatReply, ModelError>,
    deltas: Vec<Delta>,
    asked: Vec<Asked>,
}

impl Heard {
    #[track_caller]
    fn reply(&self) -> &ChatReply {
        self.reply.as_ref().expect("there is a reply")
    }

    #[track_caller]
    fn error(&self) -> &ModelError {
        self.reply.as_ref().expect_err("there is no reply")
    }

    /// Returns the text as it was shown.
    fn shown(&self) -> String {
        let text = |delta: &Delta| match delta {
            Delta::Text(text) => text.clone(),
            Delta::Reasoning(_) | Delta::Restart | Delta::Waiting { .. } => String::new(),
        };
        self.deltas.iter().map(text).collect()
    }

    /// Returns name and arguments of each call.
    fn calls(&self) -> Vec<(&str, &str)> {
        self.reply()
            .calls
            .iter()
            .map(|call| (call.name.as_str(), call.arguments.as_str()))
            .collect()
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/wire")
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(format!("{name}.http"))).expect(name)
}

fn fixture(name: &str) -> Vec<Step> {
    vec![Step::Send(bytes(name))]
}

fn tools() -> Vec<ToolSpec> {
    let spec = |name: &str, required: &[&str]| ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}."),
        parameters: json!({
            "type": "object",
            "properties": {"command": {"type": "string"}, "action": {"type": "string"}},
            "required": required,
        }),
    };
    vec![spec("note", &["action"]), spec("status", &[]), spec("terminal", &["command"])]
}

fn question() -> ChatRequest {
    let messages = vec![
        Message::System { content: "You look after code.".to_owned() },
        Message::User { content: "What is here?".to_owned() },
    ];
    ChatRequest { messages, tools: tools() }
}

/// A conversation in which a call was made and answered.
fn dialog() -> ChatRequest {
    let mut request = question();
    let call = ToolCall::new("call_1", "terminal", &json!({"command": "ls"}));
    request.messages.extend([
        Message::Assistant { content: String::new(), reasoning: None, calls: vec![call] },
        Message::Tool {
            call_id: "call_1".to_owned(),
            name: "terminal".to_owned(),
            content: "src".to_owned(),
        },
    ]);
    request
}

fn options(url: &str) -> EndpointOptions {
    let key = ApiKey::new("sk-test-0123456789", "`OPENAI_API_KEY`").unwrap();
    let mut options = EndpointOptions::new(BaseUrl::parse(url).unwrap(), "m", Some(key));
    options.window = Some(100_000);
    options
}

/// Asks a server that plays the answers, with options changed by `change`.
async fn ask(
    request: &ChatRequest,
    answers: Vec<Vec<Step>>,
    change: impl FnOnce(&mut EndpointOptions),
) -> Heard {
    let server = Server::start(answers).await;
    let mut options = options(&server.url);
    change(&mut options);
    let model = OpenAiModel::new(options).unwrap();
    ask_model(&model, request, &server).await
}

async fn ask_model(model: &OpenAiModel, request: &ChatRequest, server: &Server) -> Heard {
    let deltas = Mutex::new(Vec::new());
    let hear = |delta| deltas.lock().unwrap().push(delta);
    // A server that goes wrong must not hold the tests up.
    let limit = Duration::from_secs(20);
    let reply = tokio::time::timeout(limit, model.chat(request, &hear)).await.expect("in time");
    Heard { reply, deltas: deltas.into_inner().unwrap(), asked: server.asked() }
}

/// Asks a server that answers with one fixture, once as it is and once byte by byte: the two must
/// not differ.
async fn hear(name: &str) -> Heard {
    let heard = ask(&question(), vec![fixture(name)], |_| {}).await;
    let dripped = ask(&question(), vec![vec![Step::Drip(bytes(name))]], |_| {}).await;
    assert_eq!(without_port(&heard.reply), without_port(&dripped.reply), "{name}");
    heard
}

fn without_port(reply: &Result<ChatReply, ModelError>) -> String {
    let text = format!("{reply:?}");
    let parts: Vec<&str> = text.split("127.0.0.1:").collect();
    let strip =
        |part: &&str| part.trim_start_matches(|letter: char| letter.is_ascii_digit()).to_owned();
    parts.iter().map(strip).collect::<Vec<_>>().join("HOST")
}

#[test]
fn every_quirk_has_its_fixture_and_its_test() {
    let ids = [("S", 35), ("R", 18), ("U", 10), ("E", 13)];
    let files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let sources = [
        include_str!("streams.rs"),
        include_str!("transports.rs"),
        include_str!("requests.rs"),
        include_str!("usages.rs"),
        include_str!("errors.rs"),
    ]
    .concat();
    let mut missing = Vec::new();
    for (letter, count) in ids {
        for number in 1..=count {
            let id = format!("{letter}{number:02}");
            if !files.iter().any(|file| file.starts_with(&id)) {
                missing.push(format!("a fixture for {id}"));
            }
            if !sources.contains(&format!("fn {}_", id.to_lowercase())) {
                missing.push(format!("a test for {id}"));
            }
        }
    }
    for file in files {
        let name = file.split('.').next().unwrap();
        if !sources.contains(&format!("\"{name}\"")) {
            missing.push(format!("a test that uses {file}"));
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

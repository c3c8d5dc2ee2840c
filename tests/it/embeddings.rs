//! Relevance by meaning: what an endpoint's vectors bring into a context, and that a turn goes on
//! without them.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use serde_json::{Value, json};

use crate::support::server::{Server, says};
use crate::support::{Env, Ran, write};

/// A question whose words stand in many documents, and one document that means it in other words.
const QUESTION: &str = "how are customers billed?";
const MEANT: &str = "An invoice is written once a parcel has left the store.";

fn env() -> Env {
    let mut env = Env::new().file("docs/money.md", format!("# Money\n\n{MEANT}\n"));
    for number in 0..8 {
        let text = format!(
            "# Part {number}\n\nHow the customers of part {number} are billed is told elsewhere.\n"
        );
        env = env.file(format!("docs/part_{number}.md"), text);
    }
    env
}

/// Makes vectors that put the invoice beside the question and all else across.
fn by_meaning(body: &Value) -> Vec<u8> {
    let texts = body["input"].as_array().unwrap();
    let vector = |text: &Value| {
        let text = text.as_str().unwrap();
        let near = text.contains("invoice") || text == QUESTION;
        json!({"embedding": if near { [1.0, 0.0] } else { [0.1, 1.0] }})
    };
    let data: Vec<Value> = texts.iter().map(vector).collect();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    format!("{head}{}", json!({"data": data})).into_bytes()
}

fn refuse(_: &Value) -> Vec<u8> {
    b"HTTP/1.1 500 Internal Server Error\r\nconnection: close\r\n\r\nno vectors today".to_vec()
}

fn ask(env: &Env, server: &Server, settings: &[&str]) -> Ran {
    let mut command = env.groundskeeper();
    command.env_remove("GROUNDSKEEPER_MODEL").args(["--base-url", &server.url, "--model", "m"]);
    command.args(["--set", "endpoint.window=100000", "--set", "notes.auto_notes=off"]);
    for setting in settings {
        command.args(["--set", setting]);
    }
    Ran(command.args(["ask", QUESTION]).output().unwrap()).code(0)
}

fn prompt(server: &Server) -> String {
    server.chats().last().unwrap().1["messages"].to_string()
}

#[test]
fn a_document_that_means_the_question_in_other_words_is_found() {
    let env = env();
    let server = Server::embedding(vec![says("By invoice.")], by_meaning);
    let words = ["endpoint.embedding_model=vectors"];
    ask(&env, &server, &words);
    assert!(server.embedded().is_empty(), "nobody asked for it");
    assert!(!prompt(&server).contains("An invoice is written"), "{}", prompt(&server));

    ask(&env, &server, &["endpoint.embedding_model=vectors", "context.scorer=embeddings"]);
    let embedded = server.embedded();
    assert_eq!(embedded[0][0], QUESTION);
    assert!(embedded.iter().all(|batch| batch.len() <= 32), "{embedded:?}");
    assert!(prompt(&server).contains("An invoice is written"), "{}", prompt(&server));
}

#[test]
fn a_turn_goes_on_without_vectors_and_says_so() {
    let env = env();
    let server = Server::embedding(vec![says("By invoice.")], refuse);
    let ran =
        ask(&env, &server, &["endpoint.embedding_model=vectors", "context.scorer=embeddings"]);
    assert!(
        ran.stderr().contains("warning: The texts could not be compared by `vectors`"),
        "{}",
        ran.stderr()
    );
    assert_eq!((server.embedded().len(), ran.stdout().trim()), (1, "By invoice."));
    let ran = ask(&env, &server, &["context.scorer=embeddings"]);
    assert!(
        ran.stderr().contains("warning: `context.scorer` is `embeddings`, but"),
        "{}",
        ran.stderr()
    );
    assert_eq!(server.embedded().len(), 1);
}

#[test]
fn a_project_may_ask_for_vectors_but_not_choose_who_makes_them() {
    let env = env();
    let server = Server::embedding(vec![says("By invoice.")], by_meaning);
    let path = env.workspace().join(".groundskeeper/config.yaml");
    write(&path, b"context: {scorer: embeddings}\n");
    ask(&env, &server, &["endpoint.embedding_model=vectors"]);
    assert_eq!(server.embedded().len(), 1);
    write(&path, b"endpoint: {embedding_model: other}\n");
    let ran = env.run(["--base-url", &server.url, "--model", "m", "ask", QUESTION]).code(3);
    assert!(ran.stderr().contains("may not set `endpoint.embedding_model`"), "{}", ran.stderr());
}

#[test]
fn the_doctor_tries_the_vectors() {
    let doctor = |embeds: fn(&Value) -> Vec<u8>| {
        let env = env();
        let server = Server::embedding(vec![says("ready KESTREL")], embeds);
        let mut command = env.groundskeeper();
        command.env_remove("GROUNDSKEEPER_MODEL").args(["--base-url", &server.url, "--model", "m"]);
        command.args(["--set", "endpoint.embedding_model=vectors", "doctor"]);
        Ran(command.output().unwrap()).code(0).stdout()
    };
    let alike = doctor(by_meaning);
    assert!(
        alike.contains("embeddings: doubtful, `vectors` makes 2 numbers (1.00 near, 1.00 far)"),
        "{alike}"
    );
    let broken = doctor(refuse);
    assert!(broken.contains("embeddings: doubtful, 127.0.0.1:"), "{broken}");
}

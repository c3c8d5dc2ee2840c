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

/// Notes of which words find two that do not answer, and in other words the one that does.
fn with_notes(env: Env) -> Env {
    let note = |id: &str, title: &str, body: &str| {
        let front = "type: conclusion\ntags: []\ncreated_at: 2025-01-19T15:30:00\nupdated_at: 2025-01-19T15:30:00";
        let name = format!("note_20250119_153000_{id}");
        let text = format!("---\nid: {name}\ntitle: {title}\n{front}\n---\n\n{body}\n");
        (format!(".groundskeeper/notes/{name}.md"), text)
    };
    let notes = [
        note("0", "Customers", "How customers are billed: customers, customers."),
        note("1", "Billed customers", "Nobody knows how."),
        note("2", "Parcels", &format!("{MEANT} So are customers.")),
    ];
    notes.into_iter().fold(env, |env, (path, text)| env.file(&path, text))
}

fn search(env: &Env, server: &Server, settings: &[&str]) -> (Vec<String>, Ran) {
    let mut command = env.groundskeeper();
    command.env_remove("GROUNDSKEEPER_MODEL").args(["--base-url", &server.url, "--model", "m"]);
    for setting in settings {
        command.args(["--set", setting]);
    }
    let ran = Ran(command.args(["--json", "notes", "search", QUESTION]).output().unwrap()).code(0);
    let found: Value = serde_json::from_str(&ran.stdout()).unwrap();
    let hits = found["hits"].as_array().unwrap();
    (hits.iter().map(|hit| hit["title"].as_str().unwrap().to_owned()).collect(), ran)
}

const BY_MEANING: [&str; 3] =
    ["endpoint.embedding_model=vectors", "notes.scorer=embeddings", "context.embedding_weight=0.9"];

#[test]
fn a_note_that_means_the_question_in_other_words_comes_first() {
    let env = with_notes(Env::new());
    let server = Server::embedding(vec![], by_meaning);
    let (titles, _) = search(&env, &server, &["endpoint.embedding_model=vectors"]);
    assert_eq!((titles.len(), titles.last().map(String::as_str)), (3, Some("Parcels")));
    assert!(server.embedded().is_empty(), "nobody asked for it");

    let (titles, ran) = search(&env, &server, &BY_MEANING);
    assert_eq!((titles.len(), titles[0].as_str()), (3, "Parcels"));
    assert_eq!(ran.stderr(), "");
    let embedded = server.embedded();
    assert_eq!((embedded.len(), embedded[0].len(), embedded[0][0].as_str()), (1, 4, QUESTION));
}

#[test]
fn notes_are_found_by_words_where_no_vectors_come_and_a_person_is_told() {
    let env = with_notes(Env::new());
    let server = Server::embedding(vec![], refuse);
    let (by_words, _) = search(&env, &server, &[]);
    let (titles, ran) = search(&env, &server, &BY_MEANING);
    assert_eq!(titles, by_words);
    let warning = "warning: the notes are ranked by words alone: `vectors` could not compare them";
    assert!(ran.stderr().starts_with(warning), "{}", ran.stderr());

    let (titles, ran) = search(&env, &server, &["notes.scorer=embeddings"]);
    assert_eq!(titles, by_words);
    assert!(
        ran.stderr().starts_with("warning: `notes.scorer` is `embeddings`, but"),
        "{}",
        ran.stderr()
    );
}

#[test]
fn a_turn_orders_its_notes_by_meaning_and_goes_on_without() {
    let env = with_notes(Env::new());
    let settings = [&BY_MEANING[..], &["notes.search=1"]].concat();
    let server = Server::embedding(vec![says("By invoice.")], by_meaning);
    ask(&env, &server, &settings);
    assert!(prompt(&server).contains("An invoice is written"), "{}", prompt(&server));
    assert_eq!(server.embedded().len(), 1, "candidates of other kinds are compared by words");

    let server = Server::embedding(vec![says("By invoice.")], refuse);
    let ran = ask(&env, &server, &settings);
    assert!(!prompt(&server).contains("An invoice is written"), "{}", prompt(&server));
    let warning = "warning: The notes are ranked by words alone: `vectors` could not compare them";
    assert_eq!(ran.stderr().matches(warning).count(), 1, "{}", ran.stderr());
}

#[test]
fn showing_a_context_asks_nobody_about_notes() {
    let env = with_notes(Env::new());
    let server = Server::embedding(vec![], by_meaning);
    let mut command = env.groundskeeper();
    command.env_remove("GROUNDSKEEPER_MODEL").args(["--base-url", &server.url, "--model", "m"]);
    for setting in BY_MEANING {
        command.args(["--set", setting]);
    }
    let shown = Ran(command.args(["context", QUESTION]).output().unwrap()).code(0).stdout();
    assert!(shown.contains("Nobody knows how."), "{shown}");
    assert!(server.embedded().is_empty());
}

//! An endpoint that breaks, waits or says nothing: what a person reads, what the journal keeps, and
//! how the session goes on afterwards.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::server::{Server, fixture, says};
use crate::support::{Env, Ran};

fn env() -> Env {
    Env::new().file("README.md", "# Demo\n")
}

/// Returns the program with the server as its endpoint.
fn program(env: &Env, server: &Server, arguments: &[&str]) -> Command {
    let mut command = env.groundskeeper();
    command.env_remove("GROUNDSKEEPER_MODEL").args(["--base-url", &server.url, "--model", "m"]);
    command.args(["--set", "endpoint.window=100000", "--set", "notes.auto_notes=off"]);
    command.args(arguments);
    command
}

fn run(env: &Env, server: &Server, arguments: &[&str]) -> Ran {
    Ran(program(env, server, arguments).output().unwrap())
}

fn busy(header: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 429 Too Many Requests\r\n{header}connection: close\r\n\r\n{body}")
        .into_bytes()
}

/// Starts a question, interrupts it as soon as an event of a type is told, and returns what it
/// ended with and its last event.
fn interrupted_at(env: &Env, server: &Server, event: &str) -> (Option<i32>, Value) {
    let mut command = program(env, server, &["--json", "ask", "what is here?"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut last, mut is_asked) = (Value::Null, false);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        last = serde_json::from_str(&line.unwrap()).unwrap();
        if last["type"] == event {
            if !is_asked {
                server.wait_for_a_request();
                kill_process(Pid::from_child(&child), Signal::INT).unwrap();
            }
            is_asked = true;
        }
    }
    let mut errors = String::new();
    child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(!errors.contains("panicked"), "{errors}");
    (child.wait().unwrap().code(), last)
}

#[test]
fn an_interrupt_ends_every_wait_and_the_same_request_goes_on_later() {
    let wait = busy("retry-after: 100\r\n", "slow down");
    for (answer, event) in [(wait, "model.waiting"), (Vec::new(), "model.asked")] {
        let env = env();
        let server = Server::start(vec![answer, says("At last.")]);
        let (code, last) = interrupted_at(&env, &server, event);
        assert_eq!(code, Some(130), "{event}: {last}");
        assert_eq!(
            (&last["type"], &last["reason"]),
            (&"turn.finished".into(), &"cancelled".into())
        );
        let resumed = run(&env, &server, &["session", "resume"]).code(0);
        assert_eq!(resumed.stdout().trim(), "At last.");
        let bodies: Vec<Value> = server.chats().into_iter().map(|(_, body)| body).collect();
        assert_eq!(bodies.len(), 2);
        assert_eq!(bodies[0]["messages"], bodies[1]["messages"]);
    }
}

#[test]
fn what_was_said_before_a_break_is_kept() {
    let env = env();
    let server = Server::start(vec![fixture("S26"), fixture("S26"), says("Whole.")]);
    let ran = run(&env, &server, &["--json", "ask", "what is here?"]).code(4);
    let events = ran.json_lines();
    let restarts = events.iter().filter(|event| event["type"] == "model.restarted").count();
    let last = events.last().unwrap();
    assert_eq!(
        (restarts, &last["type"], &last["reason"]),
        (1, &"turn.finished".into(), &"failed".into())
    );
    assert!(last["answer"].as_str().unwrap().contains("Half a"), "{last}");
    assert!(ran.stderr().contains("an answer without an end (asked 2 times)"), "{}", ran.stderr());
    let report = run(&env, &server, &["report"]).code(0);
    assert!(report.stdout().contains("Half a"), "{}", report.stdout());
    let ran = run(&env, &server, &["session", "resume"]).code(0);
    assert_eq!(ran.stdout().trim(), "Whole.");
}

#[test]
fn after_a_failure_the_same_request_is_sent_again() {
    let no_network = |server: &mut Server| server.url = "http://127.0.0.1:9/v1".to_owned();
    for (answer, code, sentence) in [
        (fixture("E07"), 3, "401 Unauthorized: Authentication error"),
        (fixture("E03"), 4, "404 Not Found"),
        (fixture("E10"), 4, "502 Bad Gateway"),
        (fixture("S32"), 4, "an HTML page"),
        (fixture("S32-login"), 4, "answered 302 and sends the request on"),
        (fixture("E08"), 5, "402 Payment Required"),
        (
            busy("retry-after: 600\r\n", "slow down"),
            5,
            "it asks to wait 10 minutes, which is too long",
        ),
        (Vec::new(), 4, "no connection to 127.0.0.1:9"),
    ] {
        let env = env();
        let mut server = Server::start(vec![answer.clone(), says("At last.")]);
        let url = server.url.clone();
        if answer.is_empty() {
            no_network(&mut server);
        }
        let asked = ["--set", "endpoint.tries=1", "ask", "what is here?"];
        let ran = run(&env, &server, &asked).code(code);
        assert!(ran.stderr().contains(sentence), "{}", ran.stderr());
        assert!(ran.stderr().contains("hint: "), "{}", ran.stderr());
        server.url = url;
        if answer.is_empty() {
            server = Server::start(vec![says("At last.")]);
        }
        let resumed = run(&env, &server, &["session", "resume"]).code(0);
        assert_eq!(resumed.stdout().trim(), "At last.", "{sentence}");
        let again = run(&env, &server, &["session", "resume"]).code(1);
        assert!(again.stderr().contains("has ended"), "{}", again.stderr());
    }
}

#[test]
fn a_wait_is_understood_in_each_of_its_forms() {
    for (header, body, least) in [
        ("retry-after: 1\r\n", "slow down", 0),
        ("retry-after-ms: 1100\r\n", "slow down", 1),
        (
            "date: Sun, 19 Jan 2025 10:00:00 GMT\r\nretry-after: Sun, 19 Jan 2025 10:00:01 GMT\r\n",
            "",
            0,
        ),
        ("x-ratelimit-remaining-tokens: 0\r\nx-ratelimit-reset-tokens: 1100ms\r\n", "", 1),
        ("", "Please try again in 1.1s.", 1),
        ("", r#"[{"error":{"details":[{"retryDelay":"1.1s"}]}}]"#, 1),
    ] {
        let env = env();
        let server = Server::start(vec![busy(header, body), says("At last.")]);
        let ran = run(&env, &server, &["--json", "ask", "what is here?"]).code(0);
        let events = ran.json_lines();
        let waits = events.iter().filter(|event| event["type"] == "model.waiting");
        let longest = waits.filter_map(|event| event["seconds"].as_u64()).max();
        assert!(longest >= Some(least), "{header}{body}: {longest:?}");
        assert_eq!(server.chats().len(), 2);
    }
}

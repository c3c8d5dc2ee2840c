//! The program against an endpoint: settings that lead to it, exit codes, and a turn that fits the
//! window. The server plays recorded bytes; what servers do in all their ways is tested beside the
//! code.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::path::Path;

use serde_json::Value;

use crate::support::server::{Server, fixture, says};
use crate::support::{Env, write};

fn env() -> Env {
    Env::new().file("README.md", "# Demo\n")
}

/// Returns an environment with more to tell than a small window holds.
fn crowded() -> Env {
    let mut env = env();
    for number in 0..60 {
        let line = |line| format!("what is here, part {number}, line {line}: {}\n", number * line);
        let text: String = (0..60).map(line).collect();
        env = env.file(format!("docs/what_is_here_{number}.md"), text);
    }
    let guide = (0..400).map(|line| format!("Rule {line}: what is here stays here.\n"));
    env = env.file("AGENTS.md", guide.collect::<Vec<_>>().concat());
    env.commit("all of it");
    env
}

/// Asks a question with some variables and flags. Returns the exit code, stdout and stderr.
fn ask(env: &Env, variables: &[(&str, &str)], flags: &[&str]) -> (i32, String, String) {
    let mut command = env.groundskeeper();
    command.env_remove("GROUNDSKEEPER_MODEL").args(flags).args(["ask", "what is here?"]);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn an_endpoint_of_the_environment_answers() {
    let server = Server::start(vec![says("A demo.")]);
    let env = env();
    let variables = [
        ("OPENAI_BASE_URL", server.url.as_str()),
        ("OPENAI_API_KEY", "sk-test-verysecret"),
        ("OPENAI_MODEL", "m"),
    ];
    let (code, out, err) = ask(&env, &variables, &[]);
    assert_eq!((code, out.trim()), (0, "A demo."), "{err}");
    let (head, body) = &server.chats()[0];
    assert!(head.contains("authorization: Bearer sk-test-verysecret"), "{head}");
    assert_eq!((body["model"].as_str(), body["stream"].as_bool()), (Some("m"), Some(true)));
    for file in walk(&env.workspace()) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap()).into_owned();
        assert!(!text.contains("verysecret"), "{}", file.display());
    }
}

#[test]
fn flags_and_a_dotenv_lead_to_it_too() {
    let server = Server::start(vec![says("Yes.")]);
    let env = env();
    let (code, out, err) = ask(
        &env,
        &[],
        &["--base-url", server.url.as_str(), "--model", "m", "--set", "endpoint.window=9000"],
    );
    assert_eq!((code, out.trim(), err.contains("window")), (0, "Yes.", false), "{err}");
    let lines = format!("LLM_BASE_URL={}\nLLM_MODEL_ID=chapter\nLLM_API_KEY=k-123\n", server.url);
    write(&env.workspace().join(".env"), lines.as_bytes());
    assert_eq!(ask(&env, &[], &[]).0, 0);
    let (head, body) = server.chats().pop().unwrap();
    assert_eq!(body["model"], "chapter");
    assert!(head.contains("Bearer k-123"), "{head}");
}

#[test]
fn a_key_does_not_go_where_a_repository_points() {
    let server = Server::start(vec![says("Yes.")]);
    let env = env();
    write(&env.workspace().join(".env"), format!("OPENAI_BASE_URL={}\n", server.url).as_bytes());
    let variables = [("OPENAI_API_KEY", "sk-mine-0123456789"), ("OPENAI_MODEL", "m")];
    assert_eq!(ask(&env, &variables, &[]).0, 0);
    assert!(!server.chats()[0].0.contains("authorization"), "{}", server.chats()[0].0);

    let project = format!("endpoint:\n  base_url: {}\n", server.url);
    write(&env.workspace().join(".groundskeeper/config.yaml"), project.as_bytes());
    let (code, _, err) = ask(&env, &variables, &[]);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("may not set `endpoint.base_url`"), "{err}");
}

#[test]
fn each_kind_of_failure_has_its_exit_code() {
    let code = |answer: &str, words: &str| {
        let server = Server::start(vec![fixture(answer)]);
        let flags =
            ["--base-url", server.url.as_str(), "--model", "m", "--set", "endpoint.tries=1"];
        let variables = [("OPENAI_API_KEY", "sk-test-verysecret")];
        let (code, _, err) = ask(&env(), &variables, &flags);
        assert!(err.contains(words) && !err.contains("verysecret"), "{answer}: {err}");
        code
    };
    assert_eq!(code("E07", "the key comes from `OPENAI_API_KEY`"), 3);
    assert_eq!(code("E10", "502 Bad Gateway"), 4);
    assert_eq!(code("S32", "an HTML page"), 4);
    assert_eq!(code("S26", "the reply broke off"), 4);
    assert_eq!(code("E08", "Insufficient Balance"), 5);
    assert_eq!(code("E01", "429 Too Many Requests"), 5);
    let (code, _, err) = ask(&env(), &[], &["--model", "gpt-4o"]);
    assert_eq!(code, 3, "{err}");
    assert!(
        err.contains("needs an endpoint") && err.contains("hint: set `OPENAI_API_KEY`"),
        "{err}"
    );
}

#[test]
fn a_proxy_that_refuses_is_named_and_ends_the_request() {
    let refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nconnection: close\r\n\r\n";
    for (scheme, variable) in [("http", "HTTP_PROXY"), ("https", "HTTPS_PROXY")] {
        let server = Server::start(vec![refusal.to_vec()]);
        let proxy = server.url.replace("http://", "http://ann:secret@").replace("/v1", "");
        let url = format!("{scheme}://llm.example.com/v1");
        let flags = ["--base-url", url.as_str(), "--model", "m"];
        let (code, _, err) = ask(&env(), &[(variable, proxy.as_str())], &flags);
        assert_eq!(code, 4, "{err}");
        assert!(err.contains(&format!("of `{variable}` does not let the request")), "{err}");
        assert!(err.contains("NO_PROXY") && !err.contains("secret"), "{err}");
    }
}

#[test]
fn a_busy_server_is_asked_again() {
    let busy = b"HTTP/1.1 429 Too Many Requests\r\nretry-after-ms: 10\r\nconnection: close\r\n\r\nslow down";
    let server = Server::start(vec![busy.to_vec(), says("At last.")]);
    let flags = ["--base-url", server.url.as_str(), "--model", "m"];
    let (code, out, err) = ask(&env(), &[], &flags);
    assert_eq!((code, out.trim()), (0, "At last."), "{err}");
    assert_eq!(server.chats().len(), 2);
}

#[test]
fn the_context_fits_a_small_window() {
    let env = crowded();
    let server = Server::start(vec![says("Much.")]);
    let flags = [
        "--base-url",
        server.url.as_str(),
        "--model",
        "m",
        "--set",
        "endpoint.window=4000",
        "--json",
    ];
    let (code, out, err) = ask(&env, &[], &flags);
    assert_eq!(code, 0, "{err}");
    let events = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let built = events.into_iter().find(|event| event["type"] == "context.built").unwrap();
    assert_eq!(built["budget"], 2000, "{}", built["tokens"]);
    assert!(built["tokens"].as_u64().unwrap() <= 2000);
}

#[test]
fn the_context_fits_a_window_that_the_server_tells() {
    let env = crowded();
    let server = Server::telling(vec![says("Much.")], fixture("U10-small"));
    let flags = ["--base-url", server.url.as_str(), "--model", "m", "--json"];
    let (code, out, err) = ask(&env, &[], &flags);
    assert_eq!(code, 0, "{err}");
    let events = out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let built = events.into_iter().find(|event| event["type"] == "context.built").unwrap();
    assert_eq!(built["budget"], 2048, "half of 4096, {}", built["tokens"]);
    let prompt = server.chats()[0].1["messages"].to_string();
    assert!(prompt.len() < 4 * 4096, "{}", prompt.len());
}

#[test]
fn the_key_of_the_own_file_is_not_shown() {
    let env = env();
    let file = env.root().join("home/.config/groundskeeper/config.yaml");
    write(&file, b"endpoint: {api_key: sk-verysecret, base_url: 'https://llm.example.com'}\n");
    for flags in [&["config", "show", "--origin"][..], &["--json", "config", "show"]] {
        let ran = env.run(flags).code(0);
        assert!(ran.stdout().contains("***") && !ran.stdout().contains("verysecret"));
    }
    let with_keys =
        ["https://ann:verysecret@x.example.com/v1", "https://x.example.com/v1?key=verysecret"];
    for url in with_keys {
        for flags in [&["config", "show"][..], &["--json", "config", "show"], &["doctor"]] {
            let ran = env.run(["--base-url", url].iter().chain(flags));
            let all = ran.stdout() + &ran.stderr();
            assert!(!all.contains("verysecret"), "{flags:?}: {all}");
        }
    }
}

#[test]
fn a_model_that_a_dotenv_chose_is_told_before_anything_is_sent() {
    let server = Server::start(vec![says("Yes.")]);
    let env = env();
    write(&env.workspace().join(".env"), b"OPENAI_MODEL=m\n");
    let (code, _, err) = ask(&env, &[("OPENAI_BASE_URL", server.url.as_str())], &[]);
    assert_eq!(code, 0, "{err}");
    let told = format!(
        "warning: what is read here goes to {}, as `OPENAI_MODEL` in `.env` says",
        server.url
    );
    assert!(err.contains(&told), "{err}");
}

#[test]
fn the_doctor_tries_an_endpoint_line_by_line() {
    let server = Server::start(vec![says("ready KESTREL")]);
    let variables = [("OPENAI_BASE_URL", server.url.as_str()), ("OPENAI_MODEL", "m")];
    let output = env()
        .groundskeeper()
        .env_remove("GROUNDSKEEPER_MODEL")
        .envs(variables)
        .arg("doctor")
        .output();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for line in [
        format!("endpoint: ok, {}/chat/completions (local, model `m`, no key)", server.url),
        "models: doubtful, no list".to_owned(),
        "chat: ok, it answers".to_owned(),
        "tool calls: doubtful, it answered without calling the tool".to_owned(),
        "window: doubtful, the window of `m`".to_owned(),
        "whole prompt: ok, a word at the front".to_owned(),
    ] {
        assert!(text.contains(&line), "{line}\n{text}");
    }
}

#[test]
fn the_doctor_ends_with_the_code_of_what_is_bad() {
    let doctor = |answer: &str| {
        let server = Server::start(vec![fixture(answer)]);
        let variables = [("OPENAI_BASE_URL", server.url.as_str()), ("OPENAI_MODEL", "m")];
        let env = env();
        let mut command = env.groundskeeper();
        command.env_remove("GROUNDSKEEPER_MODEL").envs(variables).args(["--json", "doctor"]);
        let output = command.output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["good"], false);
        output.status.code()
    };
    assert_eq!(doctor("E07"), Some(3));
    assert_eq!(doctor("S32"), Some(4));
    let ran = env().run(["doctor"]).code(0);
    assert!(ran.stdout().contains("offline: built-in rules"), "{}", ran.stdout());
}

#[test]
fn a_dialog_is_recorded_and_can_be_repeated() {
    let server = Server::start(vec![says("A demo.")]);
    let env = env();
    let file = env.root().join("dialog.yaml").display().to_string();
    let flags = ["--base-url", server.url.as_str(), "--model", "m", "--record", file.as_str()];
    assert_eq!(ask(&env, &[], &flags).0, 0);
    let script = format!("script:{file}");
    let (code, out, err) = ask(&env, &[], &["--model", script.as_str()]);
    assert_eq!((code, out.trim()), (0, "A demo."), "{err}");
    assert_eq!(server.chats().len(), 1);
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(walk(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found
}

#[test]
fn the_share_that_repeats_is_told_though_the_server_says_nothing_of_its_cache() {
    let usage = r#"{"usage":{"prompt_tokens":100000,"completion_tokens":3},"#;
    let answer = |text: &str| {
        let streamed = String::from_utf8(says(text)).unwrap();
        streamed.replacen('{', usage, 1).into_bytes()
    };
    let server = Server::start(vec![answer("One."), answer("Two.")]);
    let env = env();
    let flags = ["--base-url", server.url.as_str(), "--model", "m", "--json"];
    assert_eq!(ask(&env, &[], &flags).0, 0);
    // Another process goes on.
    let on = env.run([&["ask", "and now?", "--session", "last"], &flags[..]].concat());
    on.code(0);
    let report = env.run(["report", "--json"]).code(0);
    let report: Value = serde_json::from_str(&report.stdout()).unwrap();
    let tokens = &report["tokens"];
    assert_eq!((tokens["prompt"].as_u64(), tokens["cached"].as_u64()), (Some(200_000), Some(0)));
    let repeated = tokens["repeated"].as_u64().unwrap();
    // The second request begins with the first, which is at least a third of it.
    assert!((33_000..100_000).contains(&repeated), "{tokens}");
    assert!(tokens["cached_share"].as_f64().unwrap() > 0.16, "{tokens}");
}

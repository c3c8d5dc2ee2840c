//! `chat` through the binary: from a pipe, where it has neither prompts nor keys. What needs a
//! terminal is in `tests/real/chat_tmux.sh`.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::fs;
use std::io::Write;
use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::support::{Env, Ran};

/// Runs the chat over what stands in a pipe.
#[track_caller]
fn chat(env: &Env, arguments: &[&str], input: impl AsRef<[u8]>) -> Ran {
    let mut command = env.groundskeeper();
    command.args(arguments).arg("chat").stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Whoever ends early does not read on.
    child.stdin.take().unwrap().write_all(input.as_ref()).ok();
    Ran(child.wait_with_output().unwrap())
}

const TWO: &str = "steps:\n  - misses: [second question]\n    says: First answer.\n  - sees: [first question, First answer., second question]\n    says: Second answer.\n";

#[test]
fn a_command_after_the_last_message_counts_in_the_report() {
    let env = Env::new().repo("flask_shop").script("steps:\n  - says: First answer.\n");
    chat(&env, &[], "first question\n!ls app\n!rm app\n").code(1);
    let sessions = env.workspace().join(".groundskeeper/sessions/session_20250119_153000");
    let written: Value =
        serde_json::from_slice(&fs::read(sessions.join("report.json")).unwrap()).unwrap();
    assert_eq!(written, env.run(["--json", "report"]).code(0).json());
    let journal = journal(&env);
    let ran = |refused: bool| {
        let commands = journal.iter().filter(|event| event["type"] == "command.finished");
        commands.filter(|event| event["refused"].as_bool().unwrap_or(false) == refused).count()
    };
    assert_eq!(written["activity"]["commands_executed"], ran(false));
    assert_eq!((&written["activity"]["commands_refused"], ran(true)), (&1.into(), 1));
}

#[test]
fn all_messages_are_turns_of_one_session_and_stdout_has_the_answers_alone() {
    let env = Env::new().repo("flask_shop").script(TWO);
    let ran = chat(&env, &[], "first question\n\nsecond question\n").code(0);
    assert_eq!(ran.stdout(), "First answer.\nSecond answer.\n");
    let listed = env.run(["session", "list", "--json"]).code(0).json();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    let journal = journal(&env);
    let turns = journal.iter().filter(|event| event["type"] == "turn.finished");
    assert_eq!(turns.count(), 2);
}

#[test]
fn a_session_goes_on_in_another_process() {
    let env = Env::new().repo("flask_shop").script("steps:\n  - says: First answer.\n");
    chat(&env, &[], "first question\n").code(0);
    let env = env.script("steps:\n  - sees: [first question, First answer.]\n    says: Second.\n");
    let mut command = env.groundskeeper();
    command.args(["chat", "--session", "last"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"and then?\n").unwrap();
    let ran = Ran(child.wait_with_output().unwrap()).code(0);
    assert_eq!(ran.stdout(), "Second.\n");
}

#[test]
fn a_message_goes_on_behind_a_backslash_and_inside_a_block() {
    let script = "steps:\n  - sees: [\"one\\ntwo\"]\n    says: A.\n  - sees: [\"```\\n/quit\\n!ls\\n```\"]\n    says: B.\n";
    let env = Env::new().repo("flask_shop").script(script);
    let input = "one\\\ntwo\n```\n/quit\n!ls\n```\n";
    assert_eq!(chat(&env, &[], input).code(0).stdout(), "A.\nB.\n");
}

#[test]
fn an_error_ends_its_turn_and_not_the_chat_and_the_worst_code_is_the_last() {
    let script = "steps:\n  - fails: endpoint\n  - sees: [first, second]\n    says: Here.\n";
    let env = Env::new().repo("flask_shop").script(script);
    let ran = chat(&env, &[], "first\nsecond\n").code(4);
    assert_eq!(ran.stdout().lines().last(), Some("Here."), "{}", ran.stdout());
    assert!(ran.stderr().contains("error: "), "{}", ran.stderr());
}

#[test]
fn a_limit_ends_its_turn_and_not_the_chat() {
    let script = "steps:\n  - calls: [{tool: terminal, with: {command: ls}}]\n  - says: So far.\n  - says: Whole.\n";
    let env = Env::new().repo("flask_shop").script(script);
    let ran = chat(&env, &["--set", "limits.steps=1"], "first\nsecond\n").code(6);
    assert_eq!(ran.stdout(), "So far.\nWhole.\n");
    assert!(ran.stderr().contains("limits.steps=2"), "{}", ran.stderr());
}

#[test]
fn a_command_line_runs_in_the_terminal_of_the_session() {
    let script = "steps:\n  - sees: [\"Terminal directory: app\"]\n    calls: [{tool: terminal, with: {command: pwd}}]\n  - sees: [/app]\n    says: In app.\n";
    let env = Env::new().repo("flask_shop").script(script);
    let input = "!cd app\n!ls models/user.py\n!rm -rf models\nwhere am I?\n";
    let ran = chat(&env, &[], input).code(1);
    assert_eq!(ran.stdout(), "models/user.py\nIn app.\n");
    assert!(ran.stderr().contains("Refused, and nothing was run"), "{}", ran.stderr());
    let commands: Vec<(Value, Value)> = journal(&env)
        .into_iter()
        .filter(|event| event["type"] == "command.finished" && event["origin"] == "user")
        .map(|event| (event["line"].clone(), event["refused"].clone()))
        .collect();
    assert_eq!(commands.len(), 3);
    assert_eq!(commands[2], ("rm -rf models".into(), true.into()));
}

#[test]
fn commands_of_the_chat_print_what_the_commands_of_the_program_print() {
    let env = Env::new().repo("flask_shop");
    env.run(["notes", "create", "--title", "Payments fail", "--type", "blocker"]).code(0);
    let list = env.run(["notes", "list"]).code(0).stdout();
    let search = env.run(["notes", "search", "payments"]).code(0).stdout();
    assert_eq!(chat(&env, &[], "/notes\n/notes payments\n").code(0).stdout(), list + &search);
    let board = chat(&env, &[], "/board\n").code(0).stdout();
    assert!(
        board.contains("## Open blockers\n\n- `note_20250119_153000_0` Payments fail"),
        "{board}"
    );
    assert!(board.contains("## Ready actions\n\nnone"), "{board}");
    let context = chat(&env, &[], "/mode plan\n/context payments\n").code(0).stdout();
    assert!(context.starts_with("mode plan: "), "{context}");
    for part in ["Payments fail", "Mode: plan", "tokens"] {
        assert!(context.contains(part), "{part}\n{context}");
    }
    let help = chat(&env, &[], "/help\n").code(0).stdout();
    for name in ["help", "mode", "notes", "context", "board", "undo", "model", "report", "quit"] {
        assert!(help.contains(&format!("/{name} ")), "{name}\n{help}");
    }
}

#[test]
fn looking_at_a_context_leaves_no_trace() {
    let env = Env::new().repo("flask_shop").script(TWO);
    chat(&env, &[], "/context\n/model\n/mode\n/notes\n/board\n").code(1);
    assert!(!env.workspace().join(".groundskeeper").exists(), "something was written");
    chat(&env, &[], "first question\n/context 第二个问题\nsecond question\n").code(0);
    let journal = journal(&env);
    let numbers: Vec<u64> = journal.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(numbers, (1..=journal.len() as u64).collect::<Vec<_>>());
    let looks = |event: &&Value| event["type"] == "command.finished";
    // Two turns have two looks each, and one at the history of what they are about.
    assert_eq!(journal.iter().filter(looks).count(), 6);
}

#[test]
fn undo_takes_the_latest_change_of_a_note_back() {
    let env = Env::new().repo("flask_shop");
    let id = env.run(["notes", "create", "--title", "Old title"]).code(0).stdout();
    env.run(["notes", "update", id.trim(), "--title", "New title"]).code(0);
    let ran = chat(&env, &[], "/undo\n/notes\n/undo\n/notes\n/undo\n").code(1);
    assert!(ran.stdout().contains("took the update of"), "{}", ran.stdout());
    assert!(ran.stdout().contains("Old title"), "{}", ran.stdout());
    assert!(ran.stdout().contains("took the creation of"), "{}", ran.stdout());
    assert!(ran.stdout().ends_with("0 notes\n"), "{}", ran.stdout());
    assert!(ran.stderr().contains("there is nothing to undo"), "{}", ran.stderr());
}

#[test]
fn the_model_changes_in_the_middle_and_the_session_goes_on() {
    let env = Env::new().repo("flask_shop").script("steps:\n  - says: First answer.\n");
    let second = "steps:\n  - sees: [first question, First answer.]\n    says: Second answer.\n";
    let env = env.file("second.yaml", second);
    let input = "first question\n/model script:second.yaml\n/model\nand then?\n/model nosuch\n";
    let ran = chat(&env, &[], input).code(3);
    let expected =
        "First answer.\nmodel script:second.yaml\nmodel script:second.yaml\nSecond answer.\n";
    assert_eq!(ran.stdout(), expected);
    assert!(ran.stderr().contains("`nosuch` needs an endpoint"), "{}", ran.stderr());
    let models: Vec<Value> = journal(&env)
        .into_iter()
        .filter(|event| event["type"] == "turn.started")
        .map(|event| event["model"].clone())
        .collect();
    assert_eq!(models, ["script:script.yaml", "script:second.yaml"]);
}

#[test]
fn a_mistake_gets_a_sentence_and_a_way_out() {
    let env = Env::new().repo("flask_shop");
    let ran = chat(&env, &[], "/moed\n/mode pln\n!\n/quit now\n/report\n").code(2);
    assert_eq!(ran.stdout(), "");
    for words in [
        "error: there is no command `/moed`\nhint: did you mean `/mode`?",
        "hint: `//` sends a text that begins with a slash",
        "error: there is no mode `pln`\nhint: did you mean `plan`?",
        "there is no command behind `!`",
        "`/quit` takes nothing behind it",
        "error: the session has not begun",
    ] {
        assert!(ran.stderr().contains(words), "{words}\n---\n{}", ran.stderr());
    }
    assert!(chat(&env, &[], "\n  \n").code(2).stderr().contains("holds no message"));
    assert!(!env.workspace().join(".groundskeeper").exists());
}

#[test]
fn two_slashes_send_one_and_quit_ends_before_the_rest() {
    let script = "steps:\n  - sees: [/etc/hosts is empty]\n    misses: [//etc]\n    says: Yes.\n";
    let env = Env::new().repo("flask_shop").script(script);
    let ran = chat(&env, &[], "//etc/hosts is empty\n/quit\nnot this\n").code(0);
    assert_eq!(ran.stdout(), "Yes.\n");
}

#[test]
fn json_has_events_and_a_line_for_what_a_command_printed() {
    let env = Env::new().repo("flask_shop").script(TWO);
    let input = "first question\n!ls app/models/user.py\n/notes\nsecond question\n/quit\n";
    let lines = chat(&env, &["--json"], input).code(0).json_lines();
    let (events, printed): (Vec<Value>, Vec<Value>) =
        lines.into_iter().partition(|line| line.get("type").is_some());
    let finished = events.iter().filter(|event| event["type"] == "turn.finished");
    assert_eq!(finished.count(), 2);
    assert_eq!(printed[0]["command"], "!ls app/models/user.py");
    assert_eq!(printed[0]["output"]["stdout"], "app/models/user.py\n");
    assert_eq!(printed[1]["command"], "/notes");
    assert_eq!(printed[1]["output"]["total"], 0);
    assert_eq!(printed.len(), 2);
}

#[test]
fn a_script_that_is_not_followed_to_its_end_is_no_success() {
    let env = Env::new().repo("flask_shop").script(TWO);
    let ran = chat(&env, &[], "first question\n").code(1);
    assert!(ran.stderr().contains("never asked for"), "{}", ran.stderr());
}

#[test]
fn bytes_that_are_no_text_do_no_harm() {
    let env = Env::new().repo("flask_shop").script("steps:\n  - says: Well.\n");
    let ran = chat(&env, &[], b"what is \xff\xfe\x1b[31m?\n").code(0);
    assert_eq!(ran.stdout(), "Well.\n");
}

/// Reads the one journal that there is.
fn journal(env: &Env) -> Vec<Value> {
    let folder = env.workspace().join(".groundskeeper/sessions");
    let mut sessions = fs::read_dir(folder).unwrap();
    let session = sessions.next().unwrap().unwrap().path();
    assert!(sessions.next().is_none(), "there are several sessions");
    let text = fs::read_to_string(session.join("journal.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

//! A model that misbehaves: whatever it does, the turn ends within the limits, with a report and
//! the right exit code.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use pretty_assertions::assert_eq;
use serde_json::json;

use crate::support::dialog::{Dialog, Reply};
use crate::support::{Env, Ran};

/// Runs a turn and checks how it ended: the exit code, the reason in the report, and words of the
/// answer.
#[track_caller]
fn check(script: &str, settings: &[&str], code: i32, reason: &str, answer: &str) -> Ran {
    let env = Env::new().file("a.py", "print(1)\n").script(script);
    let mut program = env.groundskeeper();
    program.args(["plan", "x"]);
    for setting in settings {
        program.args(["--set", setting]);
    }
    let ran = Ran(program.output().unwrap()).code(code);
    let report = env.run(["--json", "report"]).code(0).json();
    assert_eq!(report["turns"][0]["outcome"], reason, "{report}");
    assert!(ran.stdout().contains(answer), "{}", ran.stdout());
    let folder = env.workspace().join(".groundskeeper/sessions/session_20250119_153000");
    assert!(folder.join("report.json").is_file() && folder.join("report.md").is_file());
    ran
}

fn steps(step: &str, times: usize, last: &str) -> String {
    format!("steps:\n{}{last}", format!("  - {step}\n").repeat(times))
}

/// Returns a script that runs these lines, one a step.
fn looking(lines: &[String]) -> String {
    let step = |script: String, line: &String| {
        format!("{script}  - calls: [{{tool: terminal, with: {{command: \"{line}\"}}}}]\n")
    };
    lines.iter().fold("steps:\n".to_owned(), step)
}

const LAST: &str = "  - says: That is what I have.\n";

#[test]
fn a_model_that_loops() {
    let same = "calls: [{tool: terminal, with: {command: 'ls'}}]";
    check(&steps(same, 5, LAST), &[], 6, "loop_detected", "That is what I have.");
}

#[test]
fn a_model_that_never_answers() {
    check(&steps("says: ' '", 3, LAST), &[], 6, "unusable_replies", "That is what I have.");
    // Not even at the end.
    let never = steps("says: ''", 4, "");
    check(&never, &[], 6, "unusable_replies", "The turn ended without an answer");
    let lines: Vec<String> = (0..7).map(|number| format!("seq {number}")).collect();
    let looks = looking(&lines);
    let limit = ["limits.steps=6"];
    check(&looks, &limit, 6, "step_limit", "The turn ended without an answer (6 steps)");
    let hangs = "steps:\n  - {says: Half of it, fails: hangs}\n";
    check(hangs, &["limits.seconds=1"], 6, "time_limit", "Half of it");
}

#[test]
fn a_model_that_emits_broken_arguments_or_calls_what_there_is_not() {
    let broken = r#"calls: [{tool: terminal, with: '{"command": "ls'}]"#;
    check(&steps(broken, 3, LAST), &[], 6, "unusable_replies", "That is what I have.");
    let unknown = "calls: [{tool: shell, with: {command: ls}}, {tool: '', with: {}}]";
    check(&steps(unknown, 3, LAST), &[], 6, "unusable_replies", "That is what I have.");
}

#[test]
fn a_model_that_asks_for_refused_commands() {
    let calls = (0..200)
        .map(|n| format!("{{tool: terminal, with: {{command: 'rm f{n}'}}}}"))
        .collect::<Vec<_>>()
        .join(", ");
    let script = format!("steps:\n  - calls: [{calls}]\n{LAST}");
    check(&script, &[], 6, "refusal_limit", "That is what I have.");
}

#[test]
fn a_model_that_calls_without_end_in_one_reply() {
    let calls = (0..400)
        .map(|n| format!("{{tool: note, with: {{action: read, note_id: 'n{n}'}}}}"))
        .collect::<Vec<_>>()
        .join(", ");
    let script = format!("steps:\n  - calls: [{calls}]\n{LAST}");
    check(&script, &["limits.window=16000"], 0, "answered", "That is what I have.");
}

#[test]
fn a_model_that_returns_ten_megabytes() {
    let words = "word ".repeat(2_000_000);
    let call = |tool, arguments| Reply::Calls(vec![(tool, arguments)]);
    let replies = [
        Reply::Says(words.clone()),
        call("note", json!({"action": "create", "title": "T", "content": words})),
        call("terminal", json!({"command": format!("echo {words}")})),
    ];
    for reply in replies {
        let dialog = Dialog::start();
        dialog.will(vec![reply, Reply::Says("That is what I have.".to_owned())]);
        let env = Env::new();
        let mut program = env.groundskeeper();
        program
            .env_remove("GROUNDSKEEPER_MODEL")
            .env("OPENAI_BASE_URL", &dialog.url)
            .env("OPENAI_API_KEY", "none")
            .env("OPENAI_MODEL", "m")
            .args(["plan", "x", "--set", "limits.window=16000", "--set", "notes.auto_notes=off"]);
        let ran = Ran(program.output().unwrap());
        let report = env.run(["--json", "report"]).code(0).json();
        let outcome = report["turns"][0]["outcome"].as_str().unwrap().to_owned();
        let code = ran.0.status.code().unwrap();
        let ended = [(0, "answered"), (4, "failed"), (6, "window_full"), (6, "token_limit")];
        assert!(ended.contains(&(code, outcome.as_str())), "{code} {outcome} {}", ran.stderr());
        assert!(!ran.stdout().is_empty() || code == 4, "{code} {outcome}");
        // What it wrote is not sent back to it again and again.
        for request in dialog.requests() {
            assert!(request.to_string().len() < 100_000, "{}", ran.stderr());
        }
    }
}

#[test]
fn a_model_that_cannot_be_asked_leaves_a_report_of_what_was_found() {
    let script = "steps:
  - calls: [{tool: note, with: {action: create, title: Found this, content: x}}]
  - fails: endpoint
";
    let env = Env::new().script(script);
    env.run(["plan", "x"]).code(4);
    let report = env.run(["--json", "report"]).code(0).json();
    assert_eq!(report["turns"][0]["outcome"], "failed");
    let answer = report["turns"][0]["answer"].as_str().unwrap();
    assert!(answer.contains("1 notes were created") && answer.contains("Found this"), "{answer}");
}

#[test]
fn a_small_window_is_enough_to_explore_a_real_repository() {
    let looks = [
        "git ls-files | head -n 60",
        "cat app/models/user.py",
        "cat app/services/order_service.py",
        "grep -rn TODO app",
        "cat app/services/cart_service.py",
        "git log --oneline",
    ];
    let script = looking(&looks.map(str::to_owned)) + "  - says: A shop.\n";
    let env = Env::new().repo("flask_shop").script(&script);
    let ran = env.run(["--json", "explore", "--set", "limits.window=8192"]).code(0);
    let events = ran.json_lines();
    let of_type = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert!(
        of_type("context.compacted") <= 3,
        "{} times room was made",
        of_type("context.compacted")
    );
    assert_eq!(of_type("model.replied"), 7);
    assert_eq!(of_type("warning"), 0, "{}", ran.stdout());
    assert_eq!(events.last().unwrap()["answer"], "A shop.");
}

#[test]
fn an_answer_that_was_cut_by_its_length_says_so() {
    let script = "steps:\n  - {says: Half of the, fails: length}\n";
    let ran = check(script, &[], 0, "answered", "Half of the");
    assert!(ran.stderr().contains("its end is missing"), "{}", ran.stderr());
}

#[test]
fn the_same_note_for_ever_is_one_note_and_ends_the_turn() {
    let note = "{action: create, title: Same, content: c, note_type: blocker}";
    let call = format!("  - calls: [{{tool: note, with: {note}}}]\n");
    let script = format!("steps:\n{}  - says: Enough.\n", call.repeat(6));
    let ran = check(&script, &[], 6, "loop_detected", "Enough.");
    assert_eq!(ran.stderr().matches("create blocker").count(), 1, "{}", ran.stderr());
}

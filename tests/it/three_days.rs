//! The scenario of three days and a week: separate processes, real tools, a scripted model, a
//! clock that stands still in each of them. What one day finds is there on the next by itself.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::path::Path;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Env, Ran};

const DAYS: [(&str, &str, &[&str]); 5] = [
    ("day_one", "2025-01-19T15:30:00+08:00", &["explore"]),
    ("day_two", "2025-01-20T10:00:00+08:00", &["analyze"]),
    ("day_three", "2025-01-21T09:00:00+08:00", &["plan"]),
    ("week_later", "2025-01-28T10:00:00+08:00", &["ask", "Where do we stand?"]),
    ("from_notes", "2025-01-28T11:00:00+08:00", &["ask", "What did we find, what comes first?"]),
];

#[test]
fn three_days_and_a_week() {
    let env = Env::new().repo("flask_shop");
    let before = env.snapshot();

    let first = day(&env, 0).code(0);
    assert!(first.stdout().contains("recorded as note_20250119_153000_0"), "{}", first.stdout());
    assert_eq!(notes(&env), counts(&[("blocker", 2), ("conclusion", 1)]));

    let second = day(&env, 1).code(0);
    assert!(second.stdout().contains("12 lines are marked TODO or FIXME"), "{}", second.stdout());
    assert_eq!(notes(&env), counts(&[("action", 1), ("blocker", 4), ("conclusion", 1)]));

    day(&env, 2).code(0);
    let all = counts(&[("action", 1), ("blocker", 4), ("conclusion", 1), ("task_state", 1)]);
    assert_eq!(notes(&env), all);

    day(&env, 3).code(0);
    assert_eq!(notes(&env), all, "a look back writes nothing");
    let report = env.run(["report", "--json"]).code(0).json();
    assert_eq!(report["session_info"]["session_id"], "session_20250128_100000");
    assert_eq!(report["notes"]["total_notes"], 7);
    assert_eq!(report["notes"]["type_distribution"], all);
    assert_eq!(report["activity"]["notes_created"], 0);

    day(&env, 4).code(0);
    let sessions = env.run(["session", "list", "--json"]).code(0).json();
    assert_eq!(sessions.as_array().unwrap().len(), 5);

    assert_eq!(env.snapshot(), before, "nothing outside `.groundskeeper/` has changed");
}

#[test]
fn the_fifth_session_answers_from_notes_without_a_terminal_call() {
    let env = Env::new().repo("flask_shop");
    for index in 0..3 {
        day(&env, index).code(0);
    }
    let (script, clock, arguments) = DAYS[4];
    let answered = ran(&env, script, clock, &[&["--json"], arguments].concat()).code(0);
    let events = answered.json_lines();
    let of_type = |name: &str| -> Vec<&Value> {
        events.iter().filter(|event| event["type"] == name).collect()
    };
    let by_model = of_type("command.finished").into_iter().filter(|e| e["origin"] == "model");
    assert_eq!(by_model.count(), 0);
    assert_eq!(of_type("tool.started").len(), 0);
    assert_eq!(of_type("model.asked").len(), 1);
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["reason"]), (&json!("turn.finished"), &json!("answered")));
    assert!(last["answer"].as_str().unwrap().contains("The unique constraint comes first"));
}

#[test]
fn each_day_cites_places_that_exist() {
    let env = Env::new().repo("flask_shop");
    for (script, clock, arguments) in DAYS {
        let ran = ran(&env, script, clock, &[&["--json"], arguments].concat()).code(0);
        for event in ran.json_lines() {
            if event["type"] == "answer.checked" {
                assert_eq!(event["wrong"], json!([]), "{script}");
            }
        }
    }
}

#[test]
fn a_day_that_is_left_out_is_noticed() {
    let env = Env::new().repo("flask_shop");
    day(&env, 0).code(0);
    // The plan of day three wants to see what day two found.
    let skipped = day(&env, 2).code(1);
    assert!(skipped.stderr().contains("process_order is nested"), "{}", skipped.stderr());
}

fn day(env: &Env, index: usize) -> Ran {
    let (script, clock, arguments) = DAYS[index];
    ran(env, script, clock, arguments)
}

fn ran(env: &Env, script: &str, clock: &str, arguments: &[&str]) -> Ran {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/scripts/three_days");
    let model = format!("script:{}", scripts.join(format!("{script}.yaml")).display());
    let mut program = env.groundskeeper();
    program.args(arguments).args(["--model", &model]).env("GROUNDSKEEPER_CLOCK", clock);
    Ran(program.output().unwrap())
}

/// Returns how many notes of each type there are.
fn notes(env: &Env) -> Value {
    env.run(["notes", "summary", "--json"]).code(0).json()["type_distribution"].clone()
}

fn counts(counts: &[(&str, u64)]) -> Value {
    counts.iter().map(|(kind, count)| ((*kind).to_owned(), json!(count))).collect()
}

//! Journals of every schema load for ever, and the program goes on in them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use groundskeeper::agent::replay;
use groundskeeper::journal::{Journal, Sessions};
use groundskeeper::protocol::{EventKind, SCHEMA_VERSION};
use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::support::{Env, copy_tree, write};

const SESSION: &str = "session_20250119_153000";

fn folder(schema: u32) -> PathBuf {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/journals");
    fixtures.join(format!("v{schema}"))
}

/// Returns an environment in which the sessions of a schema were held.
fn env(schema: u32) -> Env {
    let env = Env::new().repo("flask_shop");
    copy_tree(&folder(schema), &env.workspace().join(".groundskeeper/sessions"));
    env
}

fn schemas() -> impl Iterator<Item = u32> {
    1..=SCHEMA_VERSION
}

#[test]
fn a_session_without_its_first_line_says_again_what_it_is() {
    let env = Env::new().repo("flask_shop");
    let journal = env.workspace().join(format!(".groundskeeper/sessions/{SESSION}/journal.jsonl"));
    write(&journal, "\u{fffd}\n".repeat(40).as_bytes());
    let report = env.run(["--json", "report"]).code(0).json();
    assert_eq!(report["session_info"]["session_id"], SESSION, "{report}");
    let told = env.run(["ask", "--session", SESSION, "x"]).code(0).stderr();
    assert_eq!(told.matches("cannot be read").count(), 3, "{told}");
    assert!(told.contains("So are 37 lines more"), "{told}");
    let path = env.workspace().join(format!(".groundskeeper/sessions/{SESSION}/report.json"));
    let report: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(report["session_info"]["session_id"], SESSION, "{report}");
    assert_eq!(report["session_info"]["project"], "ws");
}

#[test]
fn an_old_journal_is_shown_reported_and_exported() {
    for schema in schemas() {
        let env = env(schema);
        let rows = env.run(["--json", "session", "list"]).code(0).json();
        assert_eq!(rows[0]["turns"], 3, "{rows}");
        assert_eq!(rows[0]["state"], "unfinished");
        let shown = env.run(["session", "show"]).code(0).stdout();
        assert!(
            shown.contains("create blocker note_20250119_153000_0: No unique e-mail"),
            "{shown}"
        );
        assert!(shown.contains("room made"), "{shown}");
        let report = env.run(["--json", "report"]).code(0).json();
        let activity = &report["activity"];
        assert_eq!(activity["turns"], 3);
        assert_eq!(activity["commands_refused"], 1);
        assert_eq!((&activity["notes_created"], &activity["issues_found"]), (&2.into(), &1.into()));
        assert_eq!(
            (&activity["claims_checked"], &activity["claims_wrong"]),
            (&2.into(), &1.into())
        );
        let exported = env.run(["session", "export"]).code(0).stdout();
        for part in ["用户表", "## Turn 3: auto", "rm user.py"] {
            assert!(exported.contains(part), "{part}\n{exported}");
        }
    }
}

#[test]
fn an_old_journal_goes_on_where_it_stopped() {
    for schema in schemas() {
        let script = "steps:\n  - {sees: ['The turn was interrupted before this call ended', 'third?'], says: Went on.}\n";
        let env = env(schema).script(script);
        assert_eq!(env.run(["session", "resume"]).code(0).stdout(), "Went on.\n");
        let script = "steps:\n  - {sees: [Went on., 'No unique e-mail', 'Terminal directory: app/models'], says: More.}\n";
        let env = env.script(script);
        let ran = env.run(["--json", "ask", "--session", "last", "more?"]).code(0);
        assert_eq!(ran.json_lines().last().unwrap()["turn"], 4);
    }
}

#[test]
fn every_event_that_is_journaled_is_in_the_newest_of_them_and_is_written_as_it_was_read() {
    let text = std::fs::read_to_string(folder(SCHEMA_VERSION).join(SESSION).join("journal.jsonl"));
    let text = text.unwrap();
    let mut kinds = BTreeSet::new();
    let mut unreadable = 0;
    for line in text.lines() {
        let Ok(event) = serde_json::from_str::<groundskeeper::protocol::Event>(line) else {
            unreadable += 1;
            continue;
        };
        // Fractions in a quality report may change in their last digit.
        if !matches!(event.kind, EventKind::ContextBuilt { .. }) {
            assert_eq!(serde_json::to_string(&event).unwrap(), line);
        }
        let told: Value = serde_json::from_str(line).unwrap();
        kinds.insert(told["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(unreadable, 1, "the torn line");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/events.md");
    let page = std::fs::read_to_string(page).unwrap();
    let passing = ["model.delta", "model.restarted", "model.waiting"];
    let all = page.lines().filter_map(|line| line.strip_prefix("### `")?.strip_suffix('`'));
    let all: BTreeSet<String> =
        all.filter(|kind| !passing.contains(kind)).map(str::to_owned).collect();
    assert_eq!(kinds, all);
}

#[test]
fn the_conversation_of_an_old_journal_is_whole() {
    for schema in schemas() {
        let reading = Sessions::at(folder(schema)).read(SESSION).unwrap();
        let messages = replay(&reading.events);
        assert!(messages.len() > 10);
        assert!(messages.last().unwrap().text().starts_with("The turn was interrupted"));
    }
}

#[test]
fn a_journal_that_was_replaced_while_it_was_opened_is_opened_anew() {
    // A repair puts a new file in the place of the journal; who had opened the old one and waited
    // for its lock must not write where nobody reads.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.jsonl");
    write(&path, b"");
    let first = Journal::open(folder.path()).unwrap();
    std::fs::rename(&path, folder.path().join("old")).unwrap();
    write(&path, b"");
    // The new file is another one, so that it is free.
    let second = Journal::open(folder.path()).unwrap();
    drop(first);
    assert!(Journal::open(folder.path()).is_err(), "it is the new one that is held");
    drop(second);
}

//! Sessions that survive: killed after any event, a session goes on where it stopped.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use groundskeeper::agent::{CodebaseMaintainer, MaintainerOptions, Report};
use groundskeeper::model::scripted::ScriptedModel;
use groundskeeper::protocol::{Event, EventKind, EventSink, Outcome};
use groundskeeper::support::clock::FixedClock;
use groundskeeper::terminal;
use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::support::{Env, NOW, begun_without_a_result, copy_tree, write};

/// The steps of the session, one text each, so that a script can begin anywhere.
const STEPS: [&str; 7] = [
    "calls: [{tool: terminal, with: {command: \"ls\"}}, {tool: terminal, with: {command: \"wc -l a.py\"}}]",
    "calls: [{tool: terminal, with: {command: \"rm a.py\"}}]",
    "calls: [{tool: note, with: {action: search, query: line}}]",
    "calls: [{tool: terminal, with: {command: \"cd b\"}}, {tool: terminal, with: {command: \"pwd\"}}]",
    "says: There is a problem in a.py:1.",
    "calls: [{tool: note, with: {action: create, title: First, content: a.py has one line, note_type: conclusion}}]",
    "says: Recorded.",
];

fn script(from: usize) -> String {
    let steps: Vec<String> = STEPS[from..].iter().map(|step| format!("  - {step}\n")).collect();
    if steps.is_empty() { "steps: []\n".to_owned() } else { format!("steps:\n{}", steps.concat()) }
}

/// Copies the state folder after each event: what a kill at that moment leaves on disk.
struct Snapshots {
    state: PathBuf,
    to: PathBuf,
    taken: Arc<Mutex<Vec<EventKind>>>,
}

impl EventSink for Snapshots {
    fn emit(&mut self, event: &Event) -> std::io::Result<()> {
        if !event.kind.is_passing() {
            let mut taken = self.taken.lock().unwrap();
            copy_tree(&self.state, &self.to.join(taken.len().to_string()));
            taken.push(event.kind.clone());
        }
        Ok(())
    }
}

fn options(folder: &Path, model: Arc<ScriptedModel>) -> MaintainerOptions {
    let mut options = MaintainerOptions::new("demo", folder, model).unwrap();
    let at = chrono::DateTime::parse_from_rfc3339(NOW).unwrap();
    options.clock = Arc::new(FixedClock::at(at));
    options.terminal =
        terminal::Options::with_helper(PathBuf::from(env!("CARGO_BIN_EXE_groundskeeper")));
    options
}

fn workspace(folder: &Path) {
    write(&folder.join("a.py"), b"print(1)\n");
    write(&folder.join("b/c.txt"), b"x\n");
}

/// Resumes the session of a state folder with the rest of the script.
async fn resume(state: &Path, from: usize) -> (Option<Outcome>, Report, Vec<EventKind>) {
    let folder = tempfile::tempdir().unwrap();
    workspace(folder.path());
    copy_tree(state, &folder.path().join(".groundskeeper"));
    let model = Arc::new(ScriptedModel::from_yaml(&script(from), "rest.yaml").unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut options = options(folder.path(), Arc::clone(&model));
    options.display = Box::new(Snapshots {
        state: folder.path().join("b"),
        to: folder.path().join("b2"),
        taken: Arc::clone(&seen),
    });
    let mut maintainer = CodebaseMaintainer::with(options).unwrap();
    maintainer.take_up("session_20250119_153000").unwrap();
    let outcome = maintainer.resume().await.unwrap();
    groundskeeper::model::ChatModel::finish(model.as_ref()).unwrap();
    let seen = seen.lock().unwrap().clone();
    (outcome, maintainer.report(), seen)
}

fn commands(events: &[EventKind]) -> Vec<String> {
    let line = |kind: &EventKind| match kind {
        EventKind::CommandFinished(facts) => Some(facts.line.clone()),
        _ => None,
    };
    events.iter().filter_map(line).collect()
}

/// Returns the calls that were told as interrupted.
fn interrupted(events: &[EventKind]) -> Vec<String> {
    let id = |kind: &EventKind| match kind {
        EventKind::ToolFinished { id, summary, .. } if summary == "interrupted" => Some(id.clone()),
        _ => None,
    };
    events.iter().filter_map(id).collect()
}

#[tokio::test]
async fn killed_after_any_event_a_session_goes_on_and_runs_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let snapshots = tempfile::tempdir().unwrap();
    workspace(folder.path());
    let model = Arc::new(ScriptedModel::from_yaml(&script(0), "all.yaml").unwrap());
    let taken = Arc::new(Mutex::new(Vec::new()));
    let mut options = options(folder.path(), model);
    options.display = Box::new(Snapshots {
        state: folder.path().join(".groundskeeper"),
        to: snapshots.path().to_owned(),
        taken: Arc::clone(&taken),
    });
    let mut maintainer = CodebaseMaintainer::with(options).unwrap();
    let undisturbed = maintainer.ask("what is wrong?").await.unwrap();
    let report = maintainer.report();
    let events = taken.lock().unwrap().clone();
    assert!(events.len() > 30, "{}", events.len());

    // The first event is the session's, the second begins the turn; the last one ends it.
    for killed_after in 1..events.len() - 1 {
        let before = &events[..=killed_after];
        let replies =
            before.iter().filter(|kind| matches!(kind, EventKind::ModelReplied { .. })).count();
        let state = snapshots.path().join(killed_after.to_string());
        let (outcome, resumed, after) = resume(&state, replies).await;
        let outcome = outcome.unwrap();
        assert_eq!(outcome.answer, undisturbed.answer, "killed after {:?}", before.last());
        assert_eq!(outcome.reason, undisturbed.reason);

        let mut all = commands(before);
        let context_built =
            before.iter().any(|kind| matches!(kind, EventKind::ContextBuilt { .. }));
        if context_built {
            all.extend(commands(&after));
            let mut once = all.clone();
            once.sort();
            once.dedup();
            assert_eq!(once.len(), all.len(), "a command ran twice: {all:?}");
        }
        assert_eq!(interrupted(&after), begun_without_a_result(before), "{:?}", before.last());
        let interrupted = !interrupted(&after).is_empty();
        if !interrupted && context_built {
            assert_eq!(resumed.activity.commands_executed, report.activity.commands_executed);
            assert_eq!(resumed.activity.notes_created, report.activity.notes_created);
            assert_eq!(resumed.notes_touched, report.notes_touched);
        }
    }
}

#[tokio::test]
async fn a_turn_that_has_ended_is_not_resumed() {
    let env = Env::new().repo("flask_shop").script("steps:\n  - says: done\n");
    env.run(["ask", "x"]).code(0);
    let ran = env.run(["session", "resume"]).code(1);
    assert!(ran.stderr().contains("the last turn of session_20250119_153000 has ended"));
}

#[test]
fn a_session_goes_on_with_what_was_said() {
    let env = Env::new().repo("flask_shop").script("steps:\n  - says: The first answer.\n");
    env.run(["ask", "the first question"]).code(0);
    let second = "steps:\n  - {sees: [the first question, The first answer., the second question], says: Again.}\n";
    let env = env.script(second);
    let ran = env.run(["ask", "--session", "last", "the second question"]).code(0);
    assert_eq!(ran.stdout(), "Again.\n");
    let list = env.run(["session", "list"]).code(0).stdout();
    assert!(list.contains("2 turns"), "{list}");
    let exported = env.run(["session", "export"]).code(0).stdout();
    for part in ["## Turn 1: auto", "The first answer.", "## Turn 2: auto", "Again."] {
        assert!(exported.contains(part), "{part}\n{exported}");
    }
}

#[test]
fn a_fork_goes_on_by_itself_and_a_repair_sets_bad_lines_aside() {
    let env = Env::new().repo("flask_shop").script("steps:\n  - says: The answer.\n");
    env.run(["ask", "x"]).code(0);
    let fork = env.run(["session", "fork"]).code(0).stdout();
    assert_eq!(fork, "session_20250119_153000_2\n");
    let rows = env.run(["--json", "session", "list"]).code(0).json();
    assert_eq!(rows.as_array().unwrap().len(), 2);
    let report = env.run(["--json", "report", fork.trim()]).code(0).json();
    assert_eq!(report["session_info"]["session_id"], fork.trim());

    let folder = env.workspace().join(".groundskeeper/sessions").join(fork.trim());
    let mut bytes = std::fs::read(folder.join("journal.jsonl")).unwrap();
    bytes.extend(b"{\"seq\": 99, \"torn");
    write(&folder.join("journal.jsonl"), &bytes);
    let repaired = env.run(["session", "repair", fork.trim()]).code(0).stdout();
    assert!(repaired.contains("1 line set aside"), "{repaired}");
    let shown = env.run(["--json", "session", "show", fork.trim()]).code(0).json();
    assert_eq!(shown["bad_lines"], Value::Array(vec![]));
    assert_eq!(std::fs::read(folder.join("journal.bad")).unwrap(), b"{\"seq\": 99, \"torn\n");
}

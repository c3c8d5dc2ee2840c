//! A session on a disk that is full, in a folder that cannot be written: said once, finished in
//! memory, told by the exit code; and what is on disk by then is whole.
//!
//! A limit on the size of files stands for the full disk: a write that passes it fails half-way,
//! for root too.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::os::unix::fs::{FileTypeExt, PermissionsExt};

use pretty_assertions::assert_eq;

use crate::support::{Env, Ran, write};

const STEPS: [&str; 5] = [
    "calls: [{tool: terminal, with: {command: 'seq 1 9000'}}, {tool: terminal, with: {command: 'seq 2 9000'}}]",
    "calls: [{tool: note, with: {action: create, title: First, content: one line, note_type: blocker}}]",
    "calls: [{tool: terminal, with: {command: 'ls app'}}]",
    "calls: [{tool: note, with: {action: create, title: Second, content: two lines, note_type: action}}]",
    "says: That is all.",
];

fn script(from: usize) -> String {
    STEPS[from..].iter().fold("steps:\n".to_owned(), |script, step| format!("{script}  - {step}\n"))
}

fn shop() -> Env {
    Env::new().repo("flask_shop").script(&script(0))
}

/// Runs the program with files of at most so many blocks.
fn within(env: &Env, blocks: usize, arguments: &str) -> Ran {
    let program = env!("CARGO_BIN_EXE_groundskeeper");
    let line = format!("ulimit -f {blocks}; exec '{program}' {arguments}");
    let mut shell = env.command("sh");
    let ours = env.groundskeeper();
    shell.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Ran(shell.args(["-c", &line]).output().unwrap())
}

/// Checks what holds wherever the disk was full.
#[track_caller]
fn check_told_once(ran: Ran) {
    let ran = ran.code(7);
    assert_eq!(ran.stdout(), "That is all.\n");
    let told = ran.stderr();
    let warnings = told.lines().filter(|line| line.starts_with("warning: The session cannot"));
    assert_eq!(warnings.count(), 1, "{told}");
    assert!(told.contains("it goes on, and is gone when it ends."), "{told}");
    assert!(told.contains("error: the session could not be saved: "), "{told}");
    assert!(told.contains("hint: `--state-dir DIR`"), "{told}");
}

#[test]
fn a_full_disk_is_said_once_and_the_session_is_finished_in_memory() {
    for blocks in [0, 2, 5, 12, 20, 30] {
        let env = shop();
        check_told_once(within(&env, blocks, "plan 'what is here?'"));
        for file in files(&env) {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            assert!(!name.contains("unfinished"), "{blocks}: {name} is left");
            if name.starts_with("note_") {
                let note = std::fs::read_to_string(&file).unwrap();
                assert!(
                    note.starts_with("---\n") && note.ends_with("lines\n")
                        || note.ends_with("line\n"),
                    "{note}"
                );
            }
            if name == "report.json" {
                let bytes = std::fs::read(&file).unwrap();
                serde_json::from_slice::<serde_json::Value>(&bytes).unwrap();
            }
        }
    }
}

#[test]
fn what_was_saved_before_the_disk_was_full_goes_on_when_there_is_room() {
    let env = shop();
    check_told_once(within(&env, 40, "plan 'what is here?'"));
    let shown = env.run(["--json", "session", "show"]).code(0).json();
    let events = shown["events"].as_array().unwrap();
    let replies = events.iter().filter(|event| event["type"] == "model.replied").count();
    assert!((1..STEPS.len()).contains(&replies), "{replies}");
    let env = env.script(&script(replies));
    assert_eq!(env.run(["session", "resume"]).code(0).stdout(), "That is all.\n");
    let shown = env.run(["--json", "session", "show"]).code(0).json();
    assert!(shown["bad_lines"].as_array().unwrap().len() <= 1, "{}", shown["bad_lines"]);
}

#[test]
fn an_output_that_cannot_be_kept_is_said_once_and_told_by_the_exit_code() {
    let env = shop()
        .script(&script(0))
        .file(".groundskeeper/config.yaml", "limits: {tool_output_tokens: 100}\n");
    let ran = within(&env, 60, "plan 'what is here?'").code(7);
    assert_eq!(ran.stdout(), "That is all.\n");
    assert_eq!(ran.stderr().matches("The whole of an output could not be kept").count(), 1);
    let shown = env.run(["--json", "session", "show"]).code(0).json();
    let events = shown["events"].as_array().unwrap();
    assert_eq!(events.last().unwrap()["type"], "turn.finished", "the journal is whole");
    let outputs =
        files(&env).into_iter().filter(|file| file.parent().unwrap().ends_with("outputs"));
    assert_eq!(outputs.count(), 0);
}

#[test]
fn a_state_folder_that_cannot_be_written_is_said_once() {
    let env = shop();
    // Nobody makes a folder there, root included.
    check_told_once(env.run(["--state-dir", "/proc/groundskeeper", "plan", "x"]));
    let env = shop();
    let folder = env.workspace().join(".groundskeeper");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    let ran = env.run(["plan", "x"]);
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    if rustix::process::geteuid().is_root() {
        // Root writes where nobody may.
        ran.code(0);
    } else {
        check_told_once(ran);
    }
}

#[test]
fn a_report_goes_into_a_device_and_a_device_that_is_full_is_told() {
    let env = shop();
    let ran = env.run(["plan", "x", "--report", "/dev/stdout"]).code(0);
    assert!(ran.stdout().contains("# Session session_2025"), "{}", ran.stdout());
    let full = env.workspace().join("full");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let ran = env.run(["plan", "x", "--report", "full"]).code(7);
    assert!(ran.stderr().contains("error: the report could not be written to `full`"));
    assert!(ran.stderr().contains("No space left on device"), "{}", ran.stderr());
    assert!(std::fs::metadata(&full).unwrap().file_type().is_char_device());
    write(&env.workspace().join("kept.md"), b"old");
    env.run(["plan", "x", "--report", "kept.md"]).code(0);
    let kept = std::fs::read_to_string(env.workspace().join("kept.md")).unwrap();
    assert!(kept.starts_with("# Session"), "{kept}");
}

/// What prints, each by its own way.
const PRINTING: [&[&str]; 7] = [
    &["--help"],
    &["completions", "bash"],
    &["config", "show"],
    &["notes", "list"],
    &["sh", "seq 100000"],
    &["sh", "--explain", "ls"],
    &["plan", "x"],
];

#[test]
fn an_answer_that_does_not_fit_on_the_disk_is_told() {
    for arguments in PRINTING {
        let env = shop();
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let ran = Ran(env.groundskeeper().args(arguments).stdout(full).output().unwrap()).code(1);
        let told = ran.stderr();
        assert!(told.contains("error: the output cannot be written: No space left"), "{told}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    for arguments in PRINTING {
        let env = shop();
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = Ran(env.groundskeeper().args(arguments).stdout(writer).output().unwrap()).code(0);
        assert!(!ran.stderr().contains("error"), "{arguments:?}: {}", ran.stderr());
    }
}

fn files(env: &Env) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![env.workspace().join(".groundskeeper")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

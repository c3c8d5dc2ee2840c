//! A real `kill -9` of the program: at every event of a session, while a note is written, while a
//! command runs. What is on disk afterwards is a session that goes on, and no process is left.
//!
//! The program prints its events into a pipe that holds one piece at a time, so that it is never
//! more than an event or two ahead of the test. Where exactly it died is read off its journal, and
//! what must be true then does not depend on that.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use groundskeeper::journal::{Reading, Sessions};
use groundskeeper::protocol::EventKind;
use pretty_assertions::assert_eq;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::Value;

use crate::support::{Env, begun_without_a_result};

/// The steps of the session, one text each, so that a script can begin anywhere.
const STEPS: [&str; 10] = [
    "calls: [{tool: terminal, with: {command: 'ls'}}, {tool: terminal, with: {command: 'wc -l README.md'}}]",
    "calls: [{tool: note, with: {action: create, title: No constraint, content: User.email has none, note_type: blocker}}]",
    "calls: [{tool: terminal, with: {command: 'rm README.md'}}]",
    "calls: [{tool: note, with: {action: search, query: constraint}}]",
    "calls: [{tool: terminal, with: {command: 'cd app'}}, {tool: terminal, with: {command: 'ls models'}}]",
    "calls: [{tool: note, with: {action: create, title: Add it, content: a migration, note_type: action}}, {tool: terminal, with: {command: 'wc -l models/user.py'}}]",
    "calls: [{tool: note, with: {action: update, note_id: note_20250119_153000_1, status: done}}]",
    "calls: [{tool: terminal, with: {command: 'cat nosuch.py'}}]",
    "calls: [{tool: terminal, with: {command: 'git log --oneline -n 1'}}]",
    "says: The constraint is missing in app/models/user.py:1.",
];
const QUESTION: &str = "what is wrong with the users?";
/// Sessions that are killed side by side.
const THREADS: usize = 2;
const SESSION: &str = "session_20250119_153000";

#[test]
fn killed_at_every_event_a_session_goes_on_and_runs_nothing_twice() {
    let whole = shop().script(&script(0));
    whole.run(["plan", QUESTION]).code(0);
    let events = read(&whole).events.len();
    assert!(events > 45, "{events}");
    let report = report(&whole);

    let died_after: BTreeSet<usize> = std::thread::scope(|scope| {
        let cut = |first: usize| {
            let report = &report;
            // Two events apart, because the program dies at an event or up to two later.
            move || {
                let env = shop().script(&script(0));
                let places = (first..events).step_by(2 * THREADS);
                places.map(|event| cut_at(event, &env, report)).collect::<Vec<usize>>()
            }
        };
        let threads: Vec<_> = (1..=THREADS).map(|thread| scope.spawn(cut(2 * thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(died_after.len() * 3 > events, "it died at few places: {died_after:?}");
}

/// Kills a session when it has shown so many events. Returns how many there are then.
fn cut_at(event: usize, env: &Env, undisturbed: &Value) -> usize {
    std::fs::remove_dir_all(env.workspace().join(".groundskeeper")).ok();
    let mut running = Running::start(env, &["--json", "plan", QUESTION]);
    running.watch_until(event);
    running.kill();
    check_resume(env, undisturbed)
}

/// Resumes what was killed, and checks it against the report of the session that was not. Returns
/// how many events there were when it was killed.
fn check_resume(env: &Env, undisturbed: &Value) -> usize {
    let before = read(env);
    let kinds: Vec<&EventKind> = before.events.iter().map(|event| &event.kind).collect();
    let replies = kinds.iter().filter(|kind| matches!(kind, EventKind::ModelReplied { .. }));
    let begun = kinds.iter().any(|kind| matches!(kind, EventKind::TurnStarted { .. }));
    let ended = kinds.iter().any(|kind| matches!(kind, EventKind::TurnFinished { .. }));
    let interrupted = begun_without_a_result(kinds.iter().copied());
    let place = format!("killed after event {}: {:?}", kinds.len(), kinds.last());
    for entry in
        std::fs::read_dir(env.workspace().join(".groundskeeper/notes")).into_iter().flatten()
    {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let note = std::fs::read_to_string(&path).unwrap();
            assert!(note.starts_with("---\nid: note_") && note.ends_with('\n'), "{place}: {note}");
        }
    }

    let path = env.root().join("rest.yaml");
    crate::support::write(&path, script(replies.count()).as_bytes());
    let model = format!("script:{}", path.display());
    let resumed = env.run(["session", "resume", "--model", &model]);
    if !begun || ended {
        // Nothing was asked yet, or all was answered.
        resumed.code(1);
        if ended {
            assert_eq!(report(env), *undisturbed, "{place}");
        }
        return kinds.len();
    }
    let resumed = resumed.code(0);
    assert!(resumed.stdout().starts_with("The constraint is missing"), "{place}");

    let after = read(env);
    assert_eq!(after.bad_lines.len(), before.bad_lines.len(), "{place}");
    let sequence: Vec<u64> = after.events.iter().map(|event| event.seq).collect();
    assert_eq!(sequence, (1..=sequence.len() as u64).collect::<Vec<_>>(), "{place}");
    let mut calls = BTreeSet::new();
    for event in &after.events {
        if let EventKind::ToolStarted { id, .. } = &event.kind {
            assert!(calls.insert(id.clone()), "{id} ran twice, {place}");
        }
    }
    if interrupted.is_empty() {
        assert_eq!(report(env), *undisturbed, "{place}");
    }
    kinds.len()
}

#[test]
fn killed_while_a_command_runs_no_process_is_left() {
    let line = "awk \"BEGIN { while (1) x++ }\"";
    let script = format!(
        "steps:\n  - calls: [{{tool: terminal, with: {{command: '{line}'}}}}]\n  - says: x\n"
    );
    let env = shop().script(&script);
    let mut running = Running::start(&env, &["--json", "plan", QUESTION]);
    running.watch_for("tool.started");
    let leader = running.child.id();
    let awk = loop {
        let found = descendants(leader).into_iter().find(|pid| name_of(*pid).ends_with("awk"));
        match found {
            Some(pid) => break pid,
            None => running.still_waiting(),
        }
    };
    let all = descendants(leader);
    assert!(all.contains(&awk));
    let alive: Vec<_> = all.iter().filter_map(|pid| handle(*pid)).collect();
    assert!(!alive.is_empty());
    running.kill();
    for process in &alive {
        let mut ends = [PollFd::new(process, PollFlags::IN)];
        let longest = rustix::time::Timespec { tv_sec: 20, tv_nsec: 0 };
        assert_eq!(poll(&mut ends, Some(&longest)).unwrap(), 1, "a process outlives the program");
    }
    let rest = "steps:\n  - {sees: 'The turn was interrupted before this call ended', says: x}\n";
    let env = env.script(rest);
    env.run(["session", "resume"]).code(0);
}

/// The repository, as every session of this page finds it.
fn shop() -> Env {
    Env::new().repo("flask_shop")
}

fn script(from: usize) -> String {
    let steps: Vec<String> = STEPS[from..].iter().map(|step| format!("  - {step}\n")).collect();
    if steps.is_empty() { "steps: []\n".to_owned() } else { format!("steps:\n{}", steps.concat()) }
}

fn read(env: &Env) -> Reading {
    let sessions = Sessions::at(env.workspace().join(".groundskeeper/sessions"));
    sessions.read(SESSION).unwrap_or_default()
}

/// Returns the report without what tells of time.
fn report(env: &Env) -> Value {
    let path = folder(env).join("report.json");
    let mut report: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    forget_times(&mut report);
    report
}

fn folder(env: &Env) -> PathBuf {
    env.workspace().join(".groundskeeper/sessions").join(SESSION)
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|key, _| {
                !["duration_seconds", "duration_ms", "model", "repeated", "cached", "cached_share"]
                    .contains(&key.as_str())
            });
            object.values_mut().for_each(forget_times);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_times),
        _ => {}
    }
}

/// The program at work, its events read one by one.
struct Running {
    child: Child,
    lines: BufReader<File>,
    since: Instant,
}

impl Running {
    fn start(env: &Env, arguments: &[&str]) -> Self {
        let (reader, writer) = one_piece_pipe();
        let mut command = env.groundskeeper();
        command.args(arguments).stdout(writer).stderr(std::process::Stdio::null());
        let child = command.spawn().unwrap();
        // The command holds the end that is written to.
        drop(command);
        // A buffer would take more than one piece.
        let lines = BufReader::with_capacity(rustix::pipe::PIPE_BUF, reader);
        Self { child, lines, since: Instant::now() }
    }

    /// Reads so many events, those that are only shown not counted, or all there are.
    fn watch_until(&mut self, events: usize) {
        let mut seen = 0;
        while seen < events
            && let Some(event) = self.next()
        {
            let passing = ["model.delta", "model.restarted", "model.waiting"];
            seen += usize::from(!passing.iter().any(|kind| event["type"] == *kind));
        }
    }

    fn watch_for(&mut self, kind: &str) {
        while self.next().unwrap()["type"] != kind {}
    }

    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        (self.lines.read_line(&mut line).unwrap() > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// Gives the program time, and gives up after much of it.
    fn still_waiting(&mut self) {
        assert!(self.since.elapsed() < Duration::from_secs(60), "nothing happens");
        assert!(self.child.try_wait().unwrap().is_none(), "the program has ended");
        std::thread::yield_now();
    }

    /// Kills the program with SIGKILL and takes it off the table of processes.
    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Returns a pipe that holds one piece of at most a page.
fn one_piece_pipe() -> (File, File) {
    use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::DIRECT).unwrap();
    fcntl_setpipe_size(&writer, 4096).unwrap();
    (File::from(reader), File::from(writer))
}

/// Returns the processes that a process started, and those that these started.
fn descendants(of: u32) -> Vec<u32> {
    let pairs: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent_of(pid)?)))
        .collect();
    let mut found = vec![of];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(pairs.iter().filter(|pair| pair.1 == parent).map(|pair| pair.0));
        next += 1;
    }
    found.split_off(1)
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat =
        std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).ok()?;
    // The name stands in parentheses and may hold anything; the state follows, then the parent.
    stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
}

fn name_of(pid: u32) -> String {
    let path = Path::new("/proc").join(pid.to_string()).join("comm");
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

fn handle(pid: u32) -> Option<rustix::fd::OwnedFd> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    pidfd_open(pid, PidfdFlags::empty()).ok()
}

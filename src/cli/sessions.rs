//! `session list|show` and `report`.

use std::fmt::Write;

use serde_json::json;

use super::args::{ReportArgs, SessionCommand};
use super::wiring::Setup;
use super::{CliError, ask, print, print_json, print_markdown, transcript};
use crate::agent::Report;
use crate::journal::{Reading, SessionSummary, Sessions};
use crate::protocol::{Event, EventKind};
use crate::support::plural::counted;

/// Lists or shows sessions.
pub(super) async fn run(setup: &Setup, command: &SessionCommand) -> Result<u8, CliError> {
    let sessions = setup.sessions();
    match command {
        SessionCommand::List { all: true } => list(setup, &Sessions::at(sessions.folder())),
        SessionCommand::List { all: false } => list(setup, &sessions),
        SessionCommand::Show { session } => show(setup, &sessions, session.as_deref()),
        SessionCommand::Resume { session } => ask::resume(setup, session.as_deref()).await,
        SessionCommand::Fork { session } => fork(setup, &sessions, session.as_deref()),
        SessionCommand::Export { session } => export(setup, &sessions, session.as_deref()),
        SessionCommand::Repair { session } => repair(setup, &sessions, session.as_deref()),
    }
}

fn fork(setup: &Setup, sessions: &Sessions, name: Option<&str>) -> Result<u8, CliError> {
    let forked = sessions.fork(&sessions.find(name)?, setup.clock.now())?;
    if setup.json {
        print_json(&json!({"session": forked}))
    } else {
        print(&format!("{forked}\n"))
    }?;
    Ok(0)
}

fn export(setup: &Setup, sessions: &Sessions, name: Option<&str>) -> Result<u8, CliError> {
    let (id, reading) = find(sessions, name)?;
    let markdown = transcript::markdown(&id, &reading.events);
    if setup.json {
        print_json(&json!({"session": id, "markdown": markdown}))
    } else {
        print(&markdown)
    }?;
    Ok(0)
}

fn repair(setup: &Setup, sessions: &Sessions, name: Option<&str>) -> Result<u8, CliError> {
    let id = sessions.find(name)?;
    let lines = sessions.repair(&id)?;
    if setup.json {
        print_json(&json!({"session": id, "lines_set_aside": lines}))?;
        return Ok(0);
    }
    print(&match lines {
        0 => format!("{id}: every line can be read\n"),
        1 => format!("{id}: 1 line set aside into `journal.bad`\n"),
        lines => format!("{id}: {lines} lines set aside into `journal.bad`\n"),
    })?;
    Ok(0)
}

/// Shows a session's report.
pub(super) fn report(setup: &Setup, args: &ReportArgs) -> Result<u8, CliError> {
    let sessions = setup.sessions();
    let (id, reading) = find(&sessions, args.session.as_deref())?;
    let notes = serde_json::to_value(setup.notes().summary().ok()).unwrap_or_default();
    let mut report = Report::fold(&reading.events, notes);
    if report.session_info.session_id.is_empty() {
        report.session_info.session_id = id;
    }
    if setup.json {
        print_json(&report)?;
    } else {
        print_markdown(&report.to_markdown())?;
    }
    Ok(0)
}

fn list(setup: &Setup, sessions: &Sessions) -> Result<u8, CliError> {
    let rows = sessions.list()?;
    if setup.json {
        print_json(&rows)?;
    } else if rows.is_empty() {
        print("no sessions yet\n")?;
    } else {
        print(&rows.iter().map(row).collect::<String>())?;
    }
    tell_of_others(sessions);
    Ok(0)
}

/// Says that the folder serves other projects too.
fn tell_of_others(sessions: &Sessions) {
    use std::io::Write;
    let Ok((projects, count @ 1..)) = sessions.others() else { return };
    let are = counted(count, "session is", "sessions are");
    let names: Vec<String> = projects.iter().map(|name| format!("`{name}`")).collect();
    // Nobody is left to tell when stderr is closed.
    drop(writeln!(
        anstream::stderr(),
        "note: {are} not shown: of {}, in the same state folder\n\
         hint: `--all` shows them; notes are shared by all who share the folder",
        names.join(", ")
    ));
}

fn row(summary: &SessionSummary) -> String {
    let SessionSummary { id, turns, model, state, question, bad_lines, .. } = summary;
    let question = question.replace('\n', " ");
    let turns = counted(*turns, "turn", "turns");
    let mut row = format!("{id}  {turns}  {state}  {model}");
    if !question.is_empty() {
        row.push_str("  ");
        row.extend(question.chars().take(60));
    }
    if *bad_lines > 0 {
        // Writing into a string cannot fail.
        let _ = write!(row, "  ({bad_lines} unreadable lines)");
    }
    row.push('\n');
    row
}

fn show(setup: &Setup, sessions: &Sessions, name: Option<&str>) -> Result<u8, CliError> {
    let (id, reading) = find(sessions, name)?;
    let bad: Vec<_> = reading
        .bad_lines
        .iter()
        .map(|bad| json!({"line": bad.line, "reason": bad.reason, "torn": bad.torn}))
        .collect();
    if setup.json {
        print_json(&json!({"session": id, "events": reading.events, "bad_lines": bad}))?;
        return Ok(0);
    }
    let mut text = format!("{id}\n");
    for event in &reading.events {
        text.push_str(&told(event));
    }
    for bad in &reading.bad_lines {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "line {} cannot be read: {}", bad.line, bad.reason);
    }
    print(&text)?;
    Ok(0)
}

fn find(sessions: &Sessions, name: Option<&str>) -> Result<(String, Reading), CliError> {
    let id = sessions.find(name)?;
    let reading = sessions.read(&id)?;
    Ok((id, reading))
}

/// Tells an event in a line or two; empty for those that only a program needs.
fn told(event: &Event) -> String {
    let time = event.at.format("%H:%M:%S");
    match &event.kind {
        EventKind::TurnStarted { turn, mode, question, .. } => {
            format!("\n{time} turn {turn}: {mode} {}\n", question.replace('\n', " "))
        }
        EventKind::CommandFinished(facts) => {
            let end = if facts.refused { " (refused)" } else { "" };
            format!("{time}   $ {}{end}\n", facts.line.replace('\n', " "))
        }
        EventKind::ContextBuilt { tokens, budget, .. } => {
            format!("{time}   context of {tokens} tokens (budget {budget})\n")
        }
        EventKind::ContextCompacted { tokens_before, tokens_after, .. } => {
            format!("{time}   room made: {tokens_before} tokens before, {tokens_after} after\n")
        }
        EventKind::NoteChanged(change) => {
            format!(
                "{time}   {} {} {}: {}\n",
                change.action, change.note_type, change.id, change.title
            )
        }
        EventKind::AnswerChecked { claims, wrong } => {
            let wrong: Vec<String> = wrong.iter().map(|wrong| format!("\n  {wrong}")).collect();
            format!("{time}   {claims} cited places looked up{}\n", wrong.concat())
        }
        EventKind::Warning { message } => format!("{time}   warning: {message}\n"),
        EventKind::TurnFinished { reason, answer, .. } => {
            format!("{time} {}\n\n{}\n", reason.name(), answer.trim_end())
        }
        EventKind::SessionStarted { .. }
        | EventKind::ModelAsked { .. }
        | EventKind::ModelDelta { .. }
        | EventKind::ModelRestarted
        | EventKind::ModelWaiting { .. }
        | EventKind::ModelReplied { .. }
        | EventKind::ToolStarted { .. }
        | EventKind::ToolFinished { .. }
        | EventKind::LoopSaid { .. } => String::new(),
    }
}

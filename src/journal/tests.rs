//! Appending, reading back, torn lines, the folder of sessions.

use std::fs;

use chrono::{DateTime, FixedOffset};
use pretty_assertions::assert_eq;

use super::*;
use crate::protocol::{SCHEMA_VERSION, Stats, StopReason};

fn at(text: &str) -> DateTime<FixedOffset> {
    DateTime::parse_from_rfc3339(text).unwrap()
}

fn event(seq: u64, kind: EventKind) -> Event {
    Event { seq, at: at("2025-01-19T15:30:00+08:00").to_utc(), kind }
}

fn started() -> EventKind {
    EventKind::SessionStarted {
        schema: SCHEMA_VERSION,
        session: "session_20250119_153000".to_owned(),
        project: "shop".to_owned(),
        model: "offline".to_owned(),
        language: "en".to_owned(),
    }
}

fn warning(message: &str) -> EventKind {
    EventKind::Warning { message: message.to_owned() }
}

#[test]
fn what_was_emitted_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let events = [event(1, started()), event(2, warning("行 one\nline two"))];
    let mut journal = Journal::open(folder.path()).unwrap();
    for event in &events {
        journal.emit(event).unwrap();
    }
    let reading = read(folder.path()).unwrap();
    assert_eq!(reading.events, events);
    assert_eq!(reading.bad_lines, []);
    let text = fs::read_to_string(folder.path().join(FILE_NAME)).unwrap();
    assert_eq!(text.lines().count(), 2, "one event a line");
}

#[test]
fn pieces_of_an_answer_are_shown_and_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(folder.path()).unwrap();
    journal.emit(&event(1, EventKind::ModelDelta { text: "x".to_owned() })).unwrap();
    assert_eq!(read(folder.path()).unwrap(), Reading::default());
}

#[test]
fn a_torn_line_is_told_and_the_next_event_has_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(folder.path()).unwrap();
    journal.emit(&event(1, started())).unwrap();
    let path = folder.path().join(FILE_NAME);
    let mut torn = fs::read(&path).unwrap();
    torn.extend_from_slice(br#"{"seq":2,"at":"2025-0"#);
    OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(&torn[torn.len() - 21..])
        .unwrap();
    let reading = read(folder.path()).unwrap();
    assert_eq!(reading.events.len(), 1);
    assert!(reading.bad_lines[0].torn);

    drop(journal);
    let mut journal = Journal::open(folder.path()).unwrap();
    journal.emit(&event(2, warning("again"))).unwrap();
    let reading = read(folder.path()).unwrap();
    assert_eq!(reading.events.len(), 2);
    assert_eq!((reading.bad_lines[0].line, reading.bad_lines[0].torn), (2, false));
}

#[test]
fn lines_that_are_no_events_never_hide_the_others() {
    let mut bytes = b"{}\n\xff\xfe\nnull\n".to_vec();
    bytes.extend(serde_json::to_vec(&event(7, warning("here"))).unwrap());
    bytes.extend(b"\n\n[1]\n");
    let reading = read::parse(&bytes);
    assert_eq!(reading.events, [event(7, warning("here"))]);
    assert_eq!(reading.bad_lines.iter().map(|bad| bad.line).collect::<Vec<_>>(), [1, 2, 3, 6]);
}

#[test]
fn two_sessions_of_one_second_have_two_names() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = Sessions::at(folder.path().join("sessions"));
    assert_eq!(sessions.ids().unwrap(), Vec::<String>::new());
    let now = at("2025-01-19T15:30:00+08:00");
    let names: Vec<String> = (0..11).map(|_| sessions.create(now).unwrap()).collect();
    assert_eq!(names[0], "session_20250119_153000");
    assert_eq!(names[1], "session_20250119_153000_2");
    assert_eq!(sessions.ids().unwrap(), names, "10 comes after 9");
    assert_eq!(sessions.find(Some("_11")).unwrap(), names[10]);
    assert!(matches!(sessions.find(Some("session")), Err(JournalError::Ambiguous { .. })));
    assert!(matches!(sessions.find(Some("nothing")), Err(JournalError::Unknown(_))));
}

#[test]
fn a_foreign_folder_is_no_session() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["notes", "session_2025", "session_20250119_153000_", "session_20250119_153000_2_3"]
    {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    assert_eq!(Sessions::at(folder.path()).ids().unwrap(), Vec::<String>::new());
}

#[test]
fn a_list_tells_how_each_session_stands() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = Sessions::at(folder.path());
    let id = sessions.create(at("2025-01-19T15:30:00+08:00")).unwrap();
    let mut journal = Journal::open(&sessions.path(&id)).unwrap();
    journal.emit(&event(1, started())).unwrap();
    let turn = |turn, question: &str| EventKind::TurnStarted {
        turn,
        mode: "explore".to_owned(),
        question: question.to_owned(),
        model: "script:x".to_owned(),
    };
    journal.emit(&event(2, turn(1, "what is here?"))).unwrap();
    assert_eq!(sessions.list().unwrap()[0].state, "unfinished");
    let finished = EventKind::TurnFinished {
        turn: 1,
        reason: StopReason::StepLimit,
        answer: String::new(),
        stands_in: false,
        stats: Stats::default(),
    };
    journal.emit(&event(3, finished)).unwrap();
    let row = sessions.list().unwrap().remove(0);
    assert_eq!((row.turns, row.question.as_str()), (1, "what is here?"));
    assert_eq!((row.state.as_str(), row.model.as_str()), ("step_limit", "script:x"));
    let empty = sessions.create(at("2026-01-19T15:30:00+08:00")).unwrap();
    assert!(sessions.list().unwrap()[1].state.starts_with("unreadable"), "{empty}");
}

#[test]
fn a_reason_is_named_as_it_is_journaled() {
    for reason in [StopReason::Answered, StopReason::LoopDetected, StopReason::UnusableReplies] {
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.name());
    }
}

#[test]
fn one_process_has_a_session_at_a_time_and_the_other_is_told_who() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let error = Journal::open(folder.path()).unwrap_err();
    let expected = format!("the session is in use by process {} on ", std::process::id());
    assert!(error.to_string().starts_with(&expected), "{error}");
    drop(journal);
    assert!(Journal::open(folder.path()).is_ok());
}

#[test]
fn a_session_whose_lines_are_all_right_is_left_alone_by_a_repair() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = Sessions::at(folder.path());
    let id = sessions.create(at("2025-01-19T15:30:00+08:00")).unwrap();
    let mut journal = Journal::open(&sessions.path(&id)).unwrap();
    journal.emit(&event(1, started())).unwrap();
    assert_eq!(sessions.repair(&id).unwrap(), 0);
    assert!(!sessions.path(&id).join("journal.bad").exists());
}

#[test]
fn a_session_that_is_written_is_not_repaired_under_its_writer() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = Sessions::at(folder.path());
    let id = sessions.create(at("2025-01-19T15:30:00+08:00")).unwrap();
    let path = sessions.path(&id).join(FILE_NAME);
    crate::support::atomic_file::replace(&path, b"no event\n").unwrap();
    let mut journal = Journal::open(&sessions.path(&id)).unwrap();
    assert!(matches!(sessions.repair(&id), Err(JournalError::InUse { .. })));
    journal.emit(&event(1, started())).unwrap();
    drop(journal);
    assert_eq!(sessions.repair(&id).unwrap(), 1);
    assert_eq!(sessions.read(&id).unwrap().events.len(), 1, "what was written is still there");
}

#[test]
fn the_newest_session_is_one_that_has_begun() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = Sessions::at(folder.path());
    assert!(matches!(sessions.find(None), Err(JournalError::None)));
    let id = sessions.create(at("2025-01-19T15:30:00+08:00")).unwrap();
    Journal::open(&sessions.path(&id)).unwrap().emit(&event(1, started())).unwrap();
    // The program was ended before its first event, or before there was a journal.
    let begun = sessions.create(at("2025-01-20T15:30:00+08:00")).unwrap();
    Journal::open(&sessions.path(&begun)).unwrap();
    sessions.create(at("2025-01-21T15:30:00+08:00")).unwrap();
    assert_eq!(sessions.find(None).unwrap(), id);
    assert_eq!(sessions.find(Some("last")).unwrap(), id);
}

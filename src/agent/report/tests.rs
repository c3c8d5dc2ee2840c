//! Counting from events, the chapter's shape, and the same figures for people.

use chrono::{DateTime, Duration};
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;
use crate::protocol::{CommandOrigin, NoteChange, Usage};

fn command(refused: bool) -> EventKind {
    EventKind::CommandFinished(CommandFacts {
        line: "ls".to_owned(),
        origin: CommandOrigin::Model,
        exit_code: (!refused).then_some(0),
        refused,
        timed_out: false,
        truncated: false,
        bytes: 0,
        duration_ms: 1,
        directory: None,
    })
}

fn note(action: NoteAction, note_type: &str) -> EventKind {
    EventKind::NoteChanged(NoteChange {
        action,
        id: "note_1".to_owned(),
        title: "T".to_owned(),
        note_type: note_type.to_owned(),
    })
}

fn replied(prompt_tokens: u64, repeated_tokens: u64) -> EventKind {
    EventKind::ModelReplied {
        text: String::new(),
        reasoning: None,
        calls: Vec::new(),
        cut: false,
        unverified: false,
        usage: Usage {
            prompt_tokens,
            repeated_tokens,
            completion_tokens: 5,
            estimated: true,
            ..Usage::default()
        },
    }
}

fn session() -> Vec<Event> {
    // The second step was cut off once, and asked again under its number.
    let asked = |step| EventKind::ModelAsked { step, messages: 2, prompt_tokens: 100 };
    let kinds = vec![
        EventKind::SessionStarted {
            schema: 1,
            session: "session_20250119_153000".to_owned(),
            project: "shop".to_owned(),
            model: "offline".to_owned(),
            language: "en".to_owned(),
        },
        EventKind::TurnStarted {
            turn: 1,
            mode: "explore".to_owned(),
            question: "src".to_owned(),
            model: "script:x".to_owned(),
        },
        command(false),
        EventKind::ContextBuilt {
            tokens: 90,
            budget: 4000,
            text: String::new(),
            report: Value::Null,
        },
        asked(1),
        replied(100, 0),
        command(false),
        command(true),
        note(NoteAction::Create, "blocker"),
        note(NoteAction::Create, "action"),
        note(NoteAction::Update, "blocker"),
        asked(2),
        asked(2),
        replied(300, 100),
        EventKind::AnswerChecked {
            claims: 3,
            wrong: vec!["`a.rs:9`: the file has 3 lines".to_owned()],
        },
        EventKind::TurnFinished {
            turn: 1,
            reason: StopReason::StepLimit,
            answer: "found".to_owned(),
            stands_in: false,
            stats: Stats::default(),
        },
    ];
    let start = DateTime::from_timestamp(1_737_271_800, 0).unwrap();
    (0_u32..)
        .zip(kinds)
        .map(|(i, kind)| Event {
            seq: u64::from(i) + 1,
            at: start + Duration::seconds(i.into()),
            kind,
        })
        .collect()
}

#[test]
fn every_figure_is_counted_from_events() {
    let report = Report::fold(&session(), json!({"total_notes": 2}));
    assert_eq!(report.session_info.session_id, "session_20250119_153000");
    assert_eq!(report.session_info.model, "script:x");
    assert!((report.session_info.duration_seconds - 14.0).abs() < 1e-9);
    let expected = Activity {
        commands_executed: 2,
        commands_refused: 1,
        notes_created: 2,
        notes_changed: 1,
        issues_found: 1,
        turns: 1,
        steps: 2,
        claims_checked: 3,
        claims_wrong: 1,
        limits_hit: vec!["step_limit".to_owned()],
    };
    assert_eq!(report.activity, expected);
    assert_eq!(
        (report.tokens.prompt, report.tokens.repeated, report.tokens.completion),
        (400, 100, 10)
    );
    assert!((report.tokens.cached_share - 0.25).abs() < 1e-9);
    assert_eq!(report.turns[0].outcome, "step_limit");
}

#[test]
fn the_chapters_shape_is_kept() {
    let value = serde_json::to_value(Report::fold(&session(), json!({"total_notes": 2}))).unwrap();
    assert_eq!(value["session_info"]["project"], "shop");
    assert_eq!(value["activity"]["issues_found"], 1);
    assert_eq!(value["notes"]["total_notes"], 2);
    assert_eq!(value["notes"]["summary"], "2 notes.");
}

#[test]
fn people_read_the_same_figures() {
    let notes = json!({"total_notes": 2, "type_distribution": {"blocker": 1, "action": 1}});
    let text = Report::fold(&session(), notes).to_markdown();
    for part in [
        "# Session session_20250119_153000",
        "| commands | 2 executed, 1 refused |",
        "| tokens, counted here | 400 in (25 % repeated), 10 out |",
        "| limits hit | step_limit |",
        "## Turn 1: explore (step_limit)\n\n> src\n\nfound\n",
        "- create blocker `note_1`: T",
        "- `a.rs:9`: the file has 3 lines",
        "2 notes: 1 action, 1 blocker.",
    ] {
        assert!(text.contains(part), "{part}\n---\n{text}");
    }
}

#[test]
fn nothing_happened_is_a_report_too() {
    let report = Report::fold(&[], Value::Null);
    assert_eq!(report.activity, Activity::default());
    assert!(report.to_markdown().starts_with("# Session"));
}

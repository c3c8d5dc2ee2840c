//! The session's report: a fold over its events, in the chapter's shape with additions. Every
//! figure is counted, none is guessed.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;

use crate::protocol::{CommandFacts, Event, EventKind, Stats, StopReason};

/// What a session did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Who and how long.
    pub session_info: SessionInfo,
    /// Counts of what was done.
    pub activity: Activity,
    /// The note store as it is now: `notes summary`.
    pub notes: Value,
    /// What the model cost.
    pub tokens: Tokens,
    /// One row a turn.
    pub turns: Vec<TurnRow>,
    /// The notes that were created, changed or deleted, in order.
    pub notes_touched: Vec<NoteRow>,
    /// Cited places that turned out wrong.
    pub wrong_claims: Vec<String>,
    /// What went wrong on the way.
    pub warnings: Vec<String>,
}

/// Who and how long.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SessionInfo {
    /// The session's id.
    pub session_id: String,
    /// The project's name.
    pub project: String,
    /// The model of the last turn.
    pub model: String,
    /// When it began, in UTC.
    pub started: String,
    /// Seconds spent in turns.
    pub duration_seconds: f64,
}

/// Counts of what was done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Activity {
    /// Command lines that really ran.
    pub commands_executed: u64,
    /// Command lines that were refused.
    pub commands_refused: u64,
    /// Notes created.
    pub notes_created: u64,
    /// Notes changed or deleted.
    pub notes_changed: u64,
    /// Blockers among the notes created.
    pub issues_found: u64,
    /// Turns begun.
    pub turns: u64,
    /// Calls of the model.
    pub steps: u64,
    /// Places that answers cite.
    pub claims_checked: u64,
    /// Those that are wrong.
    pub claims_wrong: u64,
    /// The limits that ended a turn.
    pub limits_hit: Vec<String>,
}

/// What the model cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Tokens {
    /// Tokens of all prompts.
    pub prompt: u64,
    /// Those that repeated the request before.
    pub cached: u64,
    /// Tokens of all answers.
    pub completion: u64,
    /// The share of the prompts that repeated the request before, in `0..=1`.
    pub cached_share: f64,
    /// True when a part was counted here and not by the server.
    pub estimated: bool,
}

/// One turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TurnRow {
    /// The turn's number.
    pub turn: u64,
    /// Its mode.
    pub mode: String,
    /// What was asked.
    pub question: String,
    /// How it ended; `unfinished` when it did not.
    pub outcome: String,
    /// Tokens of its context.
    pub context_tokens: usize,
    /// The budget of its context.
    pub context_budget: usize,
    /// The answer.
    pub answer: String,
}

/// A note that was touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoteRow {
    /// The note's id.
    pub id: String,
    /// Its type.
    pub note_type: String,
    /// Its title.
    pub title: String,
    /// `create`, `update`, `delete`.
    pub action: String,
}

/// Counts what a run of events did; its duration is that between the first and the last.
pub fn stats(events: &[Event]) -> Stats {
    let mut stats = Stats::default();
    for event in events {
        match &event.kind {
            EventKind::ModelAsked { .. } => stats.steps += 1,
            EventKind::ModelReplied { usage, .. } => stats.usage.add(*usage),
            EventKind::CommandFinished(CommandFacts { refused: true, .. }) => {
                stats.commands_refused += 1;
            }
            EventKind::CommandFinished(_) => stats.commands_executed += 1,
            EventKind::NoteChanged(change) if change.action == "create" => {
                stats.notes_created += 1;
                stats.issues_found += u64::from(change.note_type == "blocker");
            }
            EventKind::NoteChanged(_) => stats.notes_changed += 1,
            EventKind::SessionStarted { .. }
            | EventKind::TurnStarted { .. }
            | EventKind::ContextBuilt { .. }
            | EventKind::ContextCompacted { .. }
            | EventKind::ModelDelta { .. }
            | EventKind::ModelRestarted
            | EventKind::ModelWaiting { .. }
            | EventKind::ToolStarted { .. }
            | EventKind::ToolFinished { .. }
            | EventKind::LoopSaid { .. }
            | EventKind::AnswerChecked { .. }
            | EventKind::Warning { .. }
            | EventKind::TurnFinished { .. } => {}
        }
    }
    if let (Some(first), Some(last)) = (events.first(), events.last()) {
        stats.duration_ms = (last.at - first.at).num_milliseconds().try_into().unwrap_or(0);
    }
    stats
}

impl Report {
    /// Folds a session's events; `notes` is the store's summary.
    pub fn fold(events: &[Event], notes: Value) -> Self {
        let mut report = Self {
            session_info: SessionInfo::default(),
            activity: Activity::default(),
            notes,
            tokens: Tokens::default(),
            turns: Vec::new(),
            notes_touched: Vec::new(),
            wrong_claims: Vec::new(),
            warnings: Vec::new(),
        };
        let mut turn_began = None;
        let mut milliseconds = 0;
        for event in events {
            if matches!(event.kind, EventKind::TurnStarted { .. }) {
                turn_began = Some(event.at);
            }
            report.take(event);
            if matches!(event.kind, EventKind::TurnFinished { .. })
                && let Some(began) = turn_began.take()
            {
                milliseconds += (event.at - began).num_milliseconds().max(0);
            }
        }
        report.session_info.duration_seconds =
            f64::from(u32::try_from(milliseconds).unwrap_or(u32::MAX)) / 1000.0;
        report.count(stats(events));
        report
    }

    fn take(&mut self, event: &Event) {
        match &event.kind {
            EventKind::SessionStarted { session, project, model, .. } => {
                self.session_info.session_id.clone_from(session);
                self.session_info.project.clone_from(project);
                self.session_info.model.clone_from(model);
                self.session_info.started = event.at.format("%Y-%m-%dT%H:%M:%SZ").to_string();
            }
            EventKind::TurnStarted { turn, mode, question, model } => {
                self.activity.turns += 1;
                self.session_info.model.clone_from(model);
                self.turns.push(TurnRow {
                    turn: *turn,
                    mode: mode.clone(),
                    question: question.clone(),
                    outcome: "unfinished".to_owned(),
                    ..TurnRow::default()
                });
            }
            EventKind::ContextBuilt { tokens, budget, .. } => {
                if let Some(row) = self.turns.last_mut() {
                    row.context_tokens = *tokens;
                    row.context_budget = *budget;
                }
            }
            EventKind::NoteChanged(change) => self.notes_touched.push(NoteRow {
                id: change.id.clone(),
                note_type: change.note_type.clone(),
                title: change.title.clone(),
                action: change.action.clone(),
            }),
            EventKind::AnswerChecked { claims, wrong } => {
                self.activity.claims_checked += *claims as u64;
                self.activity.claims_wrong += wrong.len() as u64;
                self.wrong_claims.extend(wrong.iter().cloned());
            }
            EventKind::Warning { message } => self.warnings.push(message.clone()),
            EventKind::TurnFinished { reason, answer, .. } => self.end_turn(*reason, answer),
            EventKind::CommandFinished(_)
            | EventKind::ContextCompacted { .. }
            | EventKind::ModelAsked { .. }
            | EventKind::ModelDelta { .. }
            | EventKind::ModelRestarted
            | EventKind::ModelWaiting { .. }
            | EventKind::ModelReplied { .. }
            | EventKind::ToolStarted { .. }
            | EventKind::ToolFinished { .. }
            | EventKind::LoopSaid { .. } => {}
        }
    }

    fn end_turn(&mut self, reason: StopReason, answer: &str) {
        if reason.is_limit() {
            self.activity.limits_hit.push(reason.name().to_owned());
        }
        if let Some(row) = self.turns.last_mut() {
            reason.name().clone_into(&mut row.outcome);
            answer.clone_into(&mut row.answer);
        }
    }

    fn count(&mut self, stats: Stats) {
        self.activity.commands_executed = stats.commands_executed;
        self.activity.commands_refused = stats.commands_refused;
        self.activity.notes_created = stats.notes_created;
        self.activity.notes_changed = stats.notes_changed;
        self.activity.issues_found = stats.issues_found;
        self.activity.steps = stats.steps;
        self.tokens = Tokens {
            prompt: stats.usage.prompt_tokens,
            cached: stats.usage.cached_tokens,
            completion: stats.usage.completion_tokens,
            cached_share: share(stats.usage.cached_tokens, stats.usage.prompt_tokens),
            estimated: stats.usage.estimated,
        };
    }

    /// Returns the report for people, as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        let info = &self.session_info;
        let activity = &self.activity;
        // Writing into a string cannot fail.
        let _ = self.write_markdown(&mut text, info, activity);
        text
    }

    fn write_markdown(
        &self,
        text: &mut String,
        info: &SessionInfo,
        activity: &Activity,
    ) -> std::fmt::Result {
        writeln!(text, "# Session {}\n", info.session_id)?;
        writeln!(text, "| | |\n|---|---|")?;
        writeln!(text, "| project | {} |", info.project)?;
        writeln!(text, "| model | {} |", info.model)?;
        writeln!(text, "| started | {} |", info.started)?;
        writeln!(text, "| duration | {:.1} s |", info.duration_seconds)?;
        writeln!(text, "| turns, steps | {}, {} |", activity.turns, activity.steps)?;
        writeln!(
            text,
            "| commands | {} executed, {} refused |",
            activity.commands_executed, activity.commands_refused
        )?;
        writeln!(
            text,
            "| notes | {} created, {} changed, {} of them new blockers |",
            activity.notes_created, activity.notes_changed, activity.issues_found
        )?;
        writeln!(
            text,
            "| tokens{} | {} in ({:.0} % repeated), {} out |",
            if self.tokens.estimated { ", counted here" } else { "" },
            self.tokens.prompt,
            self.tokens.cached_share * 100.0,
            self.tokens.completion
        )?;
        writeln!(
            text,
            "| cited places | {} checked, {} wrong |",
            activity.claims_checked, activity.claims_wrong
        )?;
        if !activity.limits_hit.is_empty() {
            writeln!(text, "| limits hit | {} |", activity.limits_hit.join(", "))?;
        }
        for row in &self.turns {
            writeln!(text, "\n## Turn {}: {} ({})\n", row.turn, row.mode, row.outcome)?;
            if !row.question.is_empty() {
                for line in row.question.lines() {
                    writeln!(text, "> {line}")?;
                }
                writeln!(text)?;
            }
            writeln!(text, "{}", row.answer.trim_end())?;
        }
        if !self.notes_touched.is_empty() {
            writeln!(text, "\n## Notes touched\n")?;
            for row in &self.notes_touched {
                writeln!(text, "- {} {} `{}`: {}", row.action, row.note_type, row.id, row.title)?;
            }
        }
        list(text, "Cited places that are wrong", &self.wrong_claims)?;
        list(text, "Warnings", &self.warnings)?;
        self.write_notes(text)
    }

    fn write_notes(&self, text: &mut String) -> std::fmt::Result {
        let Some(total) = self.notes.get("total_notes").and_then(Value::as_u64) else {
            return Ok(());
        };
        let kinds: BTreeMap<&str, u64> = self.notes["type_distribution"]
            .as_object()
            .into_iter()
            .flatten()
            .filter_map(|(kind, count)| Some((kind.as_str(), count.as_u64()?)))
            .collect();
        let kinds: Vec<String> =
            kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        writeln!(text, "\n## The notes now\n\n{total} notes: {}.", kinds.join(", "))
    }
}

fn list(text: &mut String, heading: &str, rows: &[String]) -> std::fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n## {heading}\n")?;
    rows.iter().try_for_each(|row| writeln!(text, "- {row}"))
}

/// Returns a part of a whole, rounded to four places; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    let Some(parts) = part.saturating_mul(10_000).checked_div(whole) else { return 0.0 };
    f64::from(u32::try_from(parts).unwrap_or(u32::MAX)) / 10_000.0
}

#[cfg(test)]
mod tests {
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
        })
    }

    fn note(action: &str, note_type: &str) -> EventKind {
        EventKind::NoteChanged(NoteChange {
            action: action.to_owned(),
            id: "note_1".to_owned(),
            title: "T".to_owned(),
            note_type: note_type.to_owned(),
        })
    }

    fn replied(prompt_tokens: u64, cached_tokens: u64) -> EventKind {
        EventKind::ModelReplied {
            text: String::new(),
            reasoning: None,
            calls: Vec::new(),
            cut: false,
            unverified: false,
            usage: Usage { prompt_tokens, cached_tokens, completion_tokens: 5, estimated: true },
        }
    }

    fn session() -> Vec<Event> {
        let asked = || EventKind::ModelAsked { step: 1, messages: 2, prompt_tokens: 100 };
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
            asked(),
            replied(100, 0),
            command(false),
            command(true),
            note("create", "blocker"),
            note("create", "action"),
            note("update", "blocker"),
            asked(),
            replied(300, 100),
            EventKind::AnswerChecked {
                claims: 3,
                wrong: vec!["`a.rs:9`: the file has 3 lines".to_owned()],
            },
            EventKind::TurnFinished {
                turn: 1,
                reason: StopReason::StepLimit,
                answer: "found".to_owned(),
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
        assert!((report.session_info.duration_seconds - 13.0).abs() < 1e-9);
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
            (report.tokens.prompt, report.tokens.cached, report.tokens.completion),
            (400, 100, 10)
        );
        assert!((report.tokens.cached_share - 0.25).abs() < 1e-9);
        assert_eq!(report.turns[0].outcome, "step_limit");
    }

    #[test]
    fn the_chapters_shape_is_kept() {
        let value =
            serde_json::to_value(Report::fold(&session(), json!({"total_notes": 2}))).unwrap();
        assert_eq!(value["session_info"]["project"], "shop");
        assert_eq!(value["activity"]["issues_found"], 1);
        assert_eq!(value["notes"]["total_notes"], 2);
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
}

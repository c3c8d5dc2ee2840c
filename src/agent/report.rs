//! The session's report: a fold over its events, in the chapter's shape with additions. Every
//! figure is counted, none is guessed.

mod markdown;

use serde::Serialize;
use serde_json::Value;

use self::markdown::summary_of;
use crate::protocol::{CommandFacts, Event, EventKind, NoteAction, Stats, StopReason};

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
    /// Those that repeated the request before, as counted here.
    pub repeated: u64,
    /// Those that the server says it read from its cache; 0 where it says nothing.
    pub cached: u64,
    /// Tokens of all answers.
    pub completion: u64,
    /// The share of the prompts that a provider can have in its cache, in `0..=1`: what was
    /// repeated, or what the server says it had, whichever is more.
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
    /// What was done to it.
    pub action: NoteAction,
}

/// Counts what a run of events did; its duration is that between the first and the last.
pub fn stats(events: &[Event]) -> Stats {
    let mut stats = Stats::default();
    let mut asked = 0;
    for event in events {
        match &event.kind {
            // A step that was cut off is asked again under its number.
            EventKind::ModelAsked { step, .. } => {
                stats.steps += u64::from(*step != asked);
                asked = *step;
            }
            EventKind::TurnStarted { .. } => asked = 0,
            EventKind::ModelReplied { usage, .. }
            | EventKind::ContextCompacted { usage: Some(usage), .. } => stats.usage.add(*usage),
            EventKind::CommandFinished(CommandFacts { refused: true, .. }) => {
                stats.commands_refused += 1;
            }
            EventKind::CommandFinished(_) => stats.commands_executed += 1,
            EventKind::NoteChanged(change) => match change.action {
                NoteAction::Create => {
                    stats.notes_created += 1;
                    stats.issues_found += u64::from(change.note_type == "blocker");
                }
                NoteAction::Update | NoteAction::Delete => stats.notes_changed += 1,
            },
            EventKind::SessionStarted { .. }
            | EventKind::ContextBuilt { .. }
            | EventKind::ContextCompacted { usage: None, .. }
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
    pub fn fold(events: &[Event], mut notes: Value) -> Self {
        if let (Some(summary), Some(notes)) = (summary_of(&notes), notes.as_object_mut()) {
            notes.insert("summary".to_owned(), summary.into());
        }
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
                action: change.action,
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
            repeated: stats.usage.repeated_tokens,
            cached: stats.usage.cached_tokens,
            completion: stats.usage.completion_tokens,
            cached_share: share(
                stats.usage.repeated_tokens.max(stats.usage.cached_tokens),
                stats.usage.prompt_tokens,
            ),
            estimated: stats.usage.estimated,
        };
    }
}

/// Returns a part of a whole, rounded to four places; 0 of nothing.
fn share(part: u64, whole: u64) -> f64 {
    let Some(parts) = part.saturating_mul(10_000).checked_div(whole) else { return 0.0 };
    f64::from(u32::try_from(parts).unwrap_or(u32::MAX)) / 10_000.0
}

#[cfg(test)]
mod tests;

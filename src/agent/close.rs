//! The end of a turn: the last request at a limit, after-care, the report.

use std::io;

use super::after_care::{self, AutoNotes, Topic};
use super::ask::Asked;
use super::turn::Turn;
use super::{AgentError, CodebaseMaintainer, Report, claims, stats, transcript};
use crate::model::ModelError;
use crate::notes::{NewNote, NoteKind};
use crate::prompts::Language;
use crate::protocol::{Event, EventKind, NoteChange, Outcome, StopReason};
use crate::support::atomic_file;

impl CodebaseMaintainer {
    /// Ends a turn: gets an answer where a limit left none, notes by the chapter's rule if that is
    /// wanted, looks up what the answer cites, and writes the report.
    pub(super) async fn close(
        &mut self,
        mut turn: Turn,
        reason: StopReason,
    ) -> Result<Outcome, AgentError> {
        // What follows an answer is after-care: a limit reached there takes nothing away from it.
        let reason =
            if turn.answer.is_some() && reason.is_limit() { StopReason::Answered } else { reason };
        transcript::close_open_calls(&mut self.messages);
        let answer = match turn.answer.take() {
            Some(answer) => answer,
            None if reason.is_limit() => self.report_at_limit(&mut turn, reason).await?,
            None => self.interrupted_answer(&turn),
        };
        if reason == StopReason::Answered && self.note_rules.auto_notes == AutoNotes::Keywords {
            self.note_by_keywords(&turn, &answer);
        }
        if !self.has_checked(&turn) {
            self.check_claims(&answer);
        }
        let stands_in = transcript::needs_an_answer(&self.messages) && !answer.trim().is_empty();
        if stands_in {
            self.messages.push(transcript::spoken(&answer));
        }
        let stats = stats(&self.recorder.events()[turn.first_event..]);
        self.recorder.emit(EventKind::TurnFinished {
            turn: turn.number,
            reason,
            answer: answer.clone(),
            stands_in,
            stats,
        });
        self.write_report();
        Ok(Outcome { answer, reason, stats })
    }

    /// Ends a turn that an error ended. What went wrong after the answer takes nothing away from
    /// it, except that a script must match to its end.
    pub(super) async fn fail(
        &mut self,
        mut turn: Turn,
        error: AgentError,
    ) -> Result<Outcome, AgentError> {
        let script = matches!(error, AgentError::Model(ModelError::Script { .. }));
        if turn.answer.is_some() && !script {
            self.recorder.warn(format!("What follows the answer failed: {error}."));
            return self.close(turn, StopReason::Answered).await;
        }
        let words = error.to_string();
        turn.answer = Some(self.what_was_found(&turn, &words));
        self.close(turn, StopReason::Failed).await?;
        Err(error)
    }

    /// Returns whether the model should be asked once more for notes.
    pub(super) fn wants_notes(&self, turn: &Turn) -> bool {
        let answer = turn.answer.as_deref().unwrap_or_default();
        self.note_rules.auto_notes == AutoNotes::Ask
            && !self.noted(turn)
            && after_care::topic(answer).is_some()
    }

    fn noted(&self, turn: &Turn) -> bool {
        let events = &self.recorder.events()[turn.first_event..];
        events.iter().any(|event| matches!(event.kind, EventKind::NoteChanged(_)))
    }

    /// Asks once more, without tools, for the report; what was found is told even when that fails.
    async fn report_at_limit(
        &mut self,
        turn: &mut Turn,
        reason: StopReason,
    ) -> Result<String, AgentError> {
        let words = self.limits.words(reason);
        if reason != StopReason::TimeLimit {
            self.say("limit", &[("what", words.as_str())])?;
            match self.ask_model(turn, Self::no_tools()).await {
                Ok(Asked::Replied(reply)) if !reply.text.trim().is_empty() => return Ok(reply.text),
                Ok(_) => {}
                Err(error) => self.recorder.warn(format!("The last request failed: {error}.")),
            }
        }
        Ok(self.what_was_found(turn, &words))
    }

    fn interrupted_answer(&self, turn: &Turn) -> String {
        if turn.partial.trim().is_empty() {
            self.what_was_found(turn, "interrupted")
        } else {
            turn.partial.clone()
        }
    }

    /// Tells from the events alone what a turn found.
    fn what_was_found(&self, turn: &Turn, why: &str) -> String {
        let events = &self.recorder.events()[turn.first_event..];
        let stats = stats(events);
        let mut lines = match self.language() {
            Language::En => vec![format!(
                "The turn ended without an answer ({why}). {} commands ran, {} notes were created.",
                stats.commands_executed, stats.notes_created
            )],
            Language::Zh => vec![format!(
                "本轮没有得到回答就结束了（{why}）。执行了 {} 条命令，新建了 {} 条笔记。",
                stats.commands_executed, stats.notes_created
            )],
        };
        for event in events {
            match &event.kind {
                EventKind::NoteChanged(NoteChange { action, id, title, .. }) => {
                    lines.push(format!("- {action} `{id}`: {title}"));
                }
                EventKind::ModelReplied { text, .. } if !text.trim().is_empty() => {
                    lines.push(format!("\n{}", text.trim()));
                }
                _ => {}
            }
        }
        if !turn.partial.trim().is_empty() {
            lines.push(format!("\n{}", turn.partial.trim()));
        }
        lines.join("\n")
    }

    /// The chapter's rule (`_postprocess_response`): a note made of the answer itself.
    fn note_by_keywords(&mut self, turn: &Turn, answer: &str) {
        if self.noted(turn) {
            return;
        }
        let (kind, tag) = match after_care::topic(answer) {
            Some(Topic::Problem) => (NoteKind::Blocker, "auto_detected"),
            Some(Topic::Plan) => (NoteKind::Action, "planning"),
            None => return,
        };
        let title = after_care::title(turn.request.own_words(), self.language());
        let tags = vec![self.project.clone(), tag.to_owned(), self.session.id().to_owned()];
        if let Err(error) = self.write_note(NewNote {
            title,
            content: answer.to_owned(),
            kind,
            tags,
            ..NewNote::default()
        }) {
            self.recorder.warn(format!("The finding could not be noted: {error}."));
        }
    }

    /// Returns whether the claims of a turn were looked up already, before it was cut off.
    fn has_checked(&self, turn: &Turn) -> bool {
        let events = self.recorder.events()[turn.first_event..].iter().rev();
        // A turn that a failure ended may go on, and then it has another answer.
        let is_end = |event: &&Event| matches!(event.kind, EventKind::TurnFinished { .. });
        let mut newest = events.take_while(|event| !is_end(event));
        newest.any(|event| matches!(event.kind, EventKind::AnswerChecked { .. }))
    }

    fn check_claims(&mut self, answer: &str) {
        let checked = claims::check(answer, &self.workspace);
        if checked.claims > 0 {
            let (claims, wrong) = (checked.claims, checked.wrong);
            self.recorder.emit(EventKind::AnswerChecked { claims, wrong });
        }
    }

    /// Writes `report.json` and `report.md` into the session's folder.
    pub(super) fn write_report(&mut self) {
        let Some(folder) = self.session.folder().map(ToOwned::to_owned) else { return };
        let report = self.report();
        let write = || -> io::Result<()> {
            let json = serde_json::to_string_pretty(&report)?;
            atomic_file::replace(&folder.join("report.json"), json.as_bytes())?;
            atomic_file::replace(&folder.join("report.md"), report.to_markdown().as_bytes())
        };
        if let Err(error) = write() {
            self.recorder.lose(&error.to_string());
        }
    }

    /// Returns the session's report so far.
    pub fn report(&self) -> Report {
        let summary = self.notes.summary().ok();
        let notes = serde_json::to_value(summary).unwrap_or_default();
        Report::fold(self.recorder.events(), notes)
    }
}

//! Taking a session up again: its events are folded back into the conversation, and a turn that
//! was cut off goes on where it stopped.
//!
//! What was run is not run again: a call that had begun and has no result is told as interrupted,
//! and the model decides. The model may be another one than before.

use super::transcript::{INTERRUPTED, cleared, fold, fold_to_go_on};
use super::turn::Turn;
use super::{AgentError, CodebaseMaintainer, Mode, Request};
use crate::journal::{Journal, Sessions};
use crate::model::ChatReply;
use crate::prompts::Language;
use crate::protocol::{
    Completeness, Event, EventKind, Message, Outcome, StopReason, ToolCall, ToolFailureKind,
};

/// So many lines that cannot be read are named one by one.
const MOST_TOLD: usize = 3;

impl CodebaseMaintainer {
    /// Takes up a session by its id: what is asked from now on follows what was said there.
    ///
    /// # Errors
    /// When there is no such session, it cannot be read, or another process has it.
    pub fn take_up(&mut self, id: &str) -> Result<(), AgentError> {
        let sessions = Sessions::at(self.state.sessions());
        let reading = sessions.read(id)?;
        let journal = Journal::open(&sessions.path(id))?;
        let turns = reading.events.iter().filter(|event| is_turn(event)).count() as u64;
        self.session.take_up(id.to_owned(), journal.folder().to_owned(), turns);
        self.language = self.language.or_else(|| language_of(&reading.events));
        self.resumed = fold(&reading.events);
        self.return_to_the_folder(&reading.events);
        self.cleared.hold(cleared(&reading.events));
        let (told, rest) = reading.bad_lines.split_at(reading.bad_lines.len().min(MOST_TOLD));
        for bad in told {
            let what = if bad.torn { "was cut off" } else { "cannot be read" };
            self.pending_warnings
                .push(format!("Line {} of the journal {what} and is left out.", bad.line));
        }
        if !rest.is_empty() {
            let count = rest.len();
            self.pending_warnings
                .push(format!("So are {count} lines more; `session show` names each."));
        }
        self.recorder.take_up(journal, reading.events);
        Ok(())
    }

    /// Stands where the terminal stood: a model that went into a folder believes to be there.
    fn return_to_the_folder(&mut self, events: &[Event]) {
        let moved = events.iter().rev().find_map(|event| match &event.kind {
            EventKind::CommandFinished(facts) => facts.directory.as_deref(),
            _ => None,
        });
        if let Some(folder) = moved
            && !self.terminal.stand_in(folder.as_ref())
        {
            self.pending_warnings.push(format!(
                "The folder `{folder}` in which the session stood is gone; it is at the root again."
            ));
        }
    }

    /// Goes on with the turn that was cut off, by a kill, by a person, or by an error such as an
    /// endpoint that could not be reached; none when the last one had ended.
    pub async fn resume(&mut self) -> Result<Option<Outcome>, AgentError> {
        let Some(mut turn) = self.unfinished_turn() else {
            // It may have been cut off between its end and its report.
            self.write_report();
            return Ok(None);
        };
        if self.messages.is_empty() {
            self.resumed = fold_to_go_on(self.recorder.events());
        }
        self.choose_language(&turn.request)?;
        self.begin_conversation(&turn.request)?;
        match self.go_on(&mut turn).await {
            Ok(reason) => self.close(turn, reason).await.map(Some),
            Err(error) => self.fail(turn, error).await.map(Some),
        }
    }

    async fn go_on(&mut self, turn: &mut Turn) -> Result<StopReason, AgentError> {
        if let Some(reason) = self.settle_calls(turn).await? {
            return Ok(reason);
        }
        if let Some(reply) = self.pending_answer(turn)
            && self.settles(turn, &reply)?
        {
            return Ok(StopReason::Answered);
        }
        self.steps(turn).await
    }

    /// Rebuilds the turn that was cut off from its events.
    fn unfinished_turn(&self) -> Option<Turn> {
        let events = self.recorder.events();
        let first = events.iter().rposition(is_turn)?;
        let EventKind::TurnStarted { turn, mode, question, .. } = &events[first].kind else {
            return None;
        };
        let mode = Mode::ALL.into_iter().find(|known| known.row().name == mode)?;
        let request = Request { mode, text: question.clone() };
        let mut rebuilt = Turn::new(*turn, request, self.clock.running(), first);
        let mut answer = None;
        let mut asked = 0;
        let mut calls_made: &[ToolCall] = &[];
        for event in &events[first..] {
            match &event.kind {
                // Nothing is left to be asked, or the request stands and can be sent again.
                EventKind::TurnFinished { reason, .. } if !is_cut_off(*reason) => return None,
                // A step counts once it came to something: one that was cut off is asked again.
                EventKind::ModelAsked { step, .. } => {
                    rebuilt.used.steps = asked;
                    asked = *step;
                }
                EventKind::ModelReplied { usage, text, calls, .. } => {
                    rebuilt.used.steps = asked;
                    calls_made = calls;
                    rebuilt.used.prompt_tokens += usage.prompt_tokens;
                    let answers = calls.is_empty() && !text.trim().is_empty();
                    answer = answers.then(|| text.clone());
                }
                // The loop says something after an answer only to ask for notes.
                EventKind::LoopSaid { .. } => {
                    rebuilt.answer = rebuilt.answer.take().or_else(|| answer.take());
                }
                EventKind::ContextBuilt { .. } => rebuilt.built = true,
                EventKind::ContextCompacted { tokens_before, tokens_after, usage, .. } => {
                    rebuilt.used.steps = asked;
                    rebuilt.used.prompt_tokens += usage.map_or(0, |usage| usage.prompt_tokens);
                    rebuilt.compacted(*tokens_before, *tokens_after);
                }
                EventKind::ToolFinished { id, for_model, completeness, failure, .. } => {
                    rebuilt.used.refused(*failure);
                    if let Some(call) = calls_made.iter().find(|call| call.id == *id) {
                        let is_cut = *completeness == Completeness::Cut;
                        let whole = if is_cut { self.whole_output(id) } else { None };
                        rebuilt.guard.recall(call, whole.as_deref().unwrap_or(for_model));
                    }
                }
                _ => {}
            }
            // What the loop says when a mark is passed is that it is.
            if let EventKind::LoopSaid { .. } = event.kind
                && let Some((mark, _)) = self.limits.reminder(&rebuilt.used, rebuilt.told)
            {
                rebuilt.told = mark;
            }
        }
        Some(rebuilt)
    }

    /// Settles the calls that have no result: one that had begun may have had its effect and is
    /// told as interrupted, one that had not is run now.
    async fn settle_calls(&mut self, turn: &mut Turn) -> Result<Option<StopReason>, AgentError> {
        let (begun, waiting) = unanswered(self.recorder.events());
        for call in begun {
            self.messages.push(Message::Tool {
                call_id: call.id.clone(),
                name: call.name.clone(),
                content: INTERRUPTED.to_owned(),
            });
            self.recorder.emit(EventKind::ToolFinished {
                id: call.id,
                name: call.name,
                for_model: INTERRUPTED.to_owned(),
                summary: "interrupted".to_owned(),
                completeness: Completeness::Whole,
                failure: Some(ToolFailureKind::Interrupted),
            });
        }
        if waiting.is_empty() {
            return Ok(None);
        }
        self.act(turn, &ChatReply { calls: waiting, ..ChatReply::default() }).await
    }

    /// Returns the answer that had come when the turn was cut off, if it had.
    fn pending_answer(&self, turn: &Turn) -> Option<ChatReply> {
        let last =
            self.recorder.events()[turn.first_event..].iter().rev().find_map(|event| match &event
                .kind
            {
                EventKind::ModelReplied { text, calls, .. } => Some((text, calls.is_empty())),
                EventKind::LoopSaid { .. }
                | EventKind::ContextBuilt { .. }
                | EventKind::ModelAsked { .. } => Some((&NOTHING, false)),
                _ => None,
            });
        match last {
            Some((text, true)) if !text.trim().is_empty() => {
                Some(ChatReply { text: text.clone(), ..ChatReply::default() })
            }
            _ => None,
        }
    }
}

/// A text that is none.
static NOTHING: String = String::new();

/// Returns whether a turn that ended so can go on.
fn is_cut_off(reason: StopReason) -> bool {
    matches!(reason, StopReason::Failed | StopReason::Cancelled)
}

fn is_turn(event: &Event) -> bool {
    matches!(event.kind, EventKind::TurnStarted { .. })
}

fn language_of(events: &[Event]) -> Option<Language> {
    // A session that a person's own command began had no question to take it from.
    let first = events.iter().find_map(|event| match &event.kind {
        EventKind::TurnStarted { .. } => Some(false),
        EventKind::CommandFinished(_) => Some(true),
        _ => None,
    });
    if first == Some(true) {
        return events.iter().find_map(|event| match &event.kind {
            EventKind::TurnStarted { question, .. } => Some(Language::of(question)),
            _ => None,
        });
    }
    events.iter().find_map(|event| match &event.kind {
        EventKind::SessionStarted { language, .. } => Language::named(language),
        _ => None,
    })
}

/// Returns the calls of the newest reply that have no result: those that had begun, and those that
/// had not. The calls of a reply that was cut count as begun: they are never run.
fn unanswered(events: &[Event]) -> (Vec<ToolCall>, Vec<ToolCall>) {
    let (mut begun, mut waiting) = (Vec::new(), Vec::new());
    for event in events {
        match &event.kind {
            EventKind::ModelReplied { calls, cut: true, .. } => {
                (begun, waiting) = (calls.clone(), Vec::new());
            }
            EventKind::ModelReplied { calls, .. } => {
                (begun, waiting) = (Vec::new(), calls.clone());
            }
            EventKind::ToolStarted { id, .. } => {
                begun.extend(waiting.extract_if(.., |call| call.id == *id));
            }
            EventKind::ToolFinished { id, .. } => begun.retain(|call| call.id != *id),
            _ => {}
        }
    }
    (begun, waiting)
}

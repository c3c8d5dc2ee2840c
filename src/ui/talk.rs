//! A conversation at a terminal: what the model says as it comes, and between it a line for each
//! thing that is done.

use std::io::{self, Write};
use std::time::Duration;

use super::{Plain, Stream, Tick};
use crate::protocol::{Event, EventKind, EventSink, StopReason};

/// Shows answers on one stream and progress on another, which may be the same terminal.
pub struct Talk<O, E> {
    answer: Stream<O>,
    progress: Plain<E>,
    /// What the reply that is coming has said so far.
    said: String,
    /// The reply that was an answer; what is said after it is about notes and not shown.
    answered: Option<String>,
    is_after_care: bool,
}

impl<O: Write + Send, E: Write + Send> Talk<O, E> {
    /// Returns a display of a conversation.
    pub fn new(answer: Stream<O>, progress: Plain<E>) -> Self {
        Self { answer, progress, said: String::new(), answered: None, is_after_care: false }
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        if self.is_after_care {
            return Ok(());
        }
        if !text.trim().is_empty() || !self.said.is_empty() {
            self.progress.clear()?;
            self.said.push_str(text);
            self.answer.push(text)?;
        }
        Ok(())
    }

    /// Shows a reply that came in one piece, and ends one that came in several.
    fn replied(&mut self, text: &str, is_answer: bool) -> io::Result<()> {
        if self.said.is_empty() {
            self.say(text)?;
        }
        self.answer.finish()?;
        self.said.clear();
        if is_answer && !text.trim().is_empty() && !self.is_after_care {
            self.answered = Some(text.trim().to_owned());
        }
        Ok(())
    }

    /// Shows an answer that the model did not say just now: what was found until a limit.
    fn finished(&mut self, reason: StopReason, answer: &str) -> io::Result<()> {
        let is_shown = self.answered.as_deref() == Some(answer.trim())
            || (!self.said.is_empty() && self.said.trim() == answer.trim());
        self.answer.finish()?;
        // An error is told by whoever asked.
        if !is_shown && reason != StopReason::Failed {
            self.answer.push(answer)?;
            self.answer.finish()?;
        }
        Ok(())
    }
}

impl<O: Write + Send, E: Write + Send> EventSink for Talk<O, E> {
    fn emit(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::TurnStarted { .. } => {
                self.said.clear();
                self.answered = None;
                self.is_after_care = false;
                self.progress.emit(event)
            }
            EventKind::ModelDelta { text } => self.say(text),
            EventKind::ModelReplied { text, calls, .. } => self.replied(text, calls.is_empty()),
            EventKind::ModelRestarted => {
                let had_begun = !self.said.is_empty();
                self.answer.finish()?;
                self.said.clear();
                if had_begun { self.progress.line("(the answer begins again)") } else { Ok(()) }
            }
            EventKind::LoopSaid { .. } => {
                // After an answer it asks for nothing but notes.
                self.is_after_care = self.answered.is_some();
                Ok(())
            }
            EventKind::TurnFinished { reason, answer, .. } => {
                self.progress.emit(event)?;
                self.finished(*reason, answer)
            }
            EventKind::SessionStarted { .. }
            | EventKind::CommandFinished(_)
            | EventKind::ContextBuilt { .. }
            | EventKind::ContextCompacted { .. }
            | EventKind::ModelAsked { .. }
            | EventKind::ModelWaiting { .. }
            | EventKind::ToolStarted { .. }
            | EventKind::ToolFinished { .. }
            | EventKind::NoteChanged(_)
            | EventKind::AnswerChecked { .. }
            | EventKind::Warning { .. } => {
                self.answer.finish()?;
                self.progress.emit(event)
            }
        }
    }
}

impl<O: Write + Send, E: Write + Send> Tick for Talk<O, E> {
    fn tick(&mut self, since: Duration) -> io::Result<()> {
        // Nothing is waited for that is not seen while text comes.
        if self.said.is_empty() { self.progress.tick(since) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::protocol::{Stats, ToolCall, Usage};
    use crate::ui::{Abilities, Size};

    /// One terminal for both streams.
    #[derive(Clone, Default)]
    struct Terminal(Arc<Mutex<Vec<u8>>>);

    impl Write for Terminal {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[track_caller]
    fn check(kinds: Vec<EventKind>, expected: &str) {
        let terminal = Terminal::default();
        let simple = Abilities { cursor: false, color: false };
        let size = || Size { columns: 80, rows: 24 };
        let stream = Stream::new(terminal.clone(), size, simple);
        let mut talk = Talk::new(stream, Plain::new(terminal.clone(), || 80, false));
        for kind in kinds {
            talk.emit(&Event { seq: 1, at: chrono::DateTime::UNIX_EPOCH, kind }).unwrap();
        }
        assert_eq!(String::from_utf8(terminal.0.lock().unwrap().clone()).unwrap(), expected);
    }

    fn delta(text: &str) -> EventKind {
        EventKind::ModelDelta { text: text.to_owned() }
    }

    fn replied(text: &str, calls: usize) -> EventKind {
        let call = |number| ToolCall::new(format!("call_{number}"), "terminal", &json!({}));
        EventKind::ModelReplied {
            text: text.to_owned(),
            reasoning: None,
            calls: (0..calls).map(call).collect(),
            cut: false,
            unverified: false,
            usage: Usage::default(),
        }
    }

    fn finished(reason: StopReason, answer: &str) -> EventKind {
        let answer = answer.to_owned();
        EventKind::TurnFinished {
            turn: 1,
            reason,
            answer,
            stands_in: false,
            stats: Stats::default(),
        }
    }

    fn warning(message: &str) -> EventKind {
        EventKind::Warning { message: message.to_owned() }
    }

    #[test]
    fn an_answer_is_shown_once_whether_it_came_in_pieces_or_not() {
        let end = || finished(StopReason::Answered, "The answer.");
        check(
            vec![delta("The "), delta("answer."), replied("The answer.", 0), end()],
            "The answer.\n",
        );
        check(vec![replied("The answer.", 0), end()], "The answer.\n");
    }

    #[test]
    fn what_happens_between_has_lines_of_its_own() {
        let kinds = vec![
            delta("I look."),
            replied("I look.", 1),
            warning("one"),
            delta("Half"),
            warning("two"),
            delta(" done."),
            replied("Half done.", 0),
            finished(StopReason::Answered, "Half done."),
        ];
        check(kinds, "I look.\nwarning: one\nHalf\nwarning: two\n done.\n");
    }

    #[test]
    fn what_follows_the_answer_is_about_notes_and_not_shown() {
        let kinds = vec![
            replied("The answer.", 0),
            EventKind::LoopSaid { text: "note it".to_owned() },
            delta("Noted."),
            replied("Noted.", 0),
            finished(StopReason::Answered, "The answer."),
        ];
        check(kinds, "The answer.\n");
    }

    #[test]
    fn what_was_said_until_an_interruption_is_shown_once() {
        let kinds = vec![delta("Half of"), finished(StopReason::Cancelled, "Half of")];
        check(kinds, "Half of\n");
    }

    #[test]
    fn a_report_at_a_limit_is_shown_and_that_of_an_error_is_not() {
        check(vec![finished(StopReason::StepLimit, "So far.")], "So far.\n");
        check(vec![finished(StopReason::Failed, "So far.")], "");
    }

    #[test]
    fn a_request_that_is_sent_again_says_so() {
        let kinds =
            vec![delta("Half"), EventKind::ModelRestarted, delta("Whole."), replied("Whole.", 0)];
        check(kinds, "Half\n(the answer begins again)\nWhole.\n");
    }
}

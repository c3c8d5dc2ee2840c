//! Running the calls of a reply: side by side where they only read, results in the order of the
//! calls, each result within its tokens.

use futures::future::join_all;

use super::loop_guard::{AGAIN, SAME_AS, Verdict};
use super::transcript::INTERRUPTED;
use super::turn::Turn;
use super::{AgentError, CodebaseMaintainer};
use crate::model::{ChatReply, Finish};
use crate::protocol::{
    Completeness, Effect, EventKind, Message, StopReason, ToolCall, ToolError, ToolFailure,
    ToolFailureKind, ToolOutput,
};
use crate::support::text;

/// What a call came to.
type Called = Result<ToolOutput, ToolFailure>;

impl CodebaseMaintainer {
    /// Runs the calls of a reply. Returns why the turn must end, if it must.
    pub(super) async fn act(
        &mut self,
        turn: &mut Turn,
        reply: &ChatReply,
    ) -> Result<Option<StopReason>, AgentError> {
        let mut end = None;
        let mut understood = false;
        for group in self.groups(&reply.calls) {
            for call in group {
                self.recorder.emit(EventKind::ToolStarted {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    arguments: call.arguments.clone(),
                });
            }
            for (call, called) in group.iter().zip(self.call_all(group, reply.finish).await?) {
                understood |= !matches!(
                    &called,
                    Err(ToolFailure {
                        kind: ToolFailureKind::UnknownTool | ToolFailureKind::BadArguments,
                        ..
                    })
                );
                if self.take_result(turn, call, called) {
                    end = Some(StopReason::LoopDetected);
                }
            }
        }
        self.tell_of_unscored_notes();
        turn.used.unusable_replies = if understood { 0 } else { turn.used.unusable_replies + 1 };
        Ok(end)
    }

    /// Divides calls into runs that may go side by side: neighbours that only read.
    fn groups<'a>(&self, calls: &'a [ToolCall]) -> Vec<&'a [ToolCall]> {
        let reads = |call: &ToolCall| self.tools.only_reads(call);
        calls.chunk_by(|left, right| reads(left) && reads(right)).collect()
    }

    /// Runs calls side by side. A call that was cut by length is never run.
    async fn call_all(
        &self,
        calls: &[ToolCall],
        finish: Finish,
    ) -> Result<Vec<Called>, AgentError> {
        if finish == Finish::Length {
            return Ok(calls.iter().map(|_| Err(cut_call())).collect());
        }
        let context = self.tool_context();
        let run = |call| {
            let context = context.clone();
            async move {
                if context.cancel.is_cancelled() {
                    return Ok(Err(interrupted()));
                }
                match self.tools.dispatch(call, &context).await {
                    Ok(output) => Ok(Ok(output)),
                    Err(ToolError::Answerable(failure)) => Ok(Err(failure)),
                    Err(ToolError::Fatal(source)) => Err(AgentError::Tool(source)),
                }
            }
        };
        join_all(calls.iter().map(run)).await.into_iter().collect()
    }

    /// Makes a result part of the conversation. Returns whether the turn must end: the same call
    /// had the same result too often.
    fn take_result(&mut self, turn: &mut Turn, call: &ToolCall, called: Called) -> bool {
        let (effects, failure, full, summary) = match called {
            Ok(output) => (output.effects, None, output.for_model, output.summary),
            Err(failure) => {
                (failure.effects, Some(failure.kind), failure.for_model, failure.for_human)
            }
        };
        for effect in effects {
            self.recorder.emit(match effect {
                Effect::Command(facts) => EventKind::CommandFinished(facts),
                Effect::Note(change) => EventKind::NoteChanged(change),
            });
        }
        turn.used.refused(failure);
        let verdict = turn.guard.observe(call, &full);
        let (for_model, completeness) = match verdict {
            Verdict::Fresh | Verdict::EndTurn => self.fit(&call.id, &full),
            Verdict::SameAs(number) => {
                let text = format!("{SAME_AS} {number} of this turn.");
                (text, Completeness::Whole)
            }
            Verdict::Again(number) => {
                let text = format!(
                    "{AGAIN} {number} of this turn. It is not shown again: use what is there, look at something else, or answer."
                );
                (text, Completeness::Whole)
            }
        };
        self.recorder.emit(EventKind::ToolFinished {
            id: call.id.clone(),
            name: call.name.clone(),
            for_model: for_model.clone(),
            summary,
            completeness,
            failure,
        });
        self.messages.push(Message::Tool {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: for_model,
        });
        verdict == Verdict::EndTurn
    }

    /// Cuts a result to its tokens and its share of the room; the whole of it lies in the session's
    /// `outputs/`.
    fn fit(&mut self, call_id: &str, full: &str) -> (String, Completeness) {
        let most = self.result_tokens();
        if self.counter.fits(full, most) {
            return (full.to_owned(), Completeness::Whole);
        }
        let hint = match self.keep_output(call_id, full) {
            Some(path) => format!("the whole of it: {path}"),
            None => "narrow the command to see it".to_owned(),
        };
        let cut = text::cut(full, most, &self.counter, &hint);
        (cut.to_string(), Completeness::Cut)
    }
}

fn cut_call() -> ToolFailure {
    ToolFailure {
        kind: ToolFailureKind::BadArguments,
        for_model: "Your reply was cut off by its length limit, so this call was not run. Call again, with shorter arguments or one call at a time.".to_owned(),
        for_human: "the reply was cut off; its calls were not run".to_owned(),
        effects: Vec::new(),
    }
}

fn interrupted() -> ToolFailure {
    ToolFailure {
        kind: ToolFailureKind::Interrupted,
        for_model: INTERRUPTED.to_owned(),
        for_human: "interrupted".to_owned(),
        effects: Vec::new(),
    }
}

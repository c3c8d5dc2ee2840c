//! One call of the model: counted, shown as it comes, cut off by limits and by a person.

use std::collections::HashSet;

use tokio::sync::mpsc;

use super::turn::Turn;
use super::window::Prompt;
use super::{AgentError, CodebaseMaintainer};
use crate::model::{ChatReply, ChatRequest, Delta, Finish, ModelError, counted};
use crate::protocol::{Event, EventKind, Message, StopReason, ToolCall, ToolSpec, Usage};

/// What came of asking.
pub(super) enum Asked {
    /// A reply, already part of the conversation.
    Replied(ChatReply),
    /// The wait was cut off.
    Stopped(StopReason),
}

impl CodebaseMaintainer {
    /// Asks the model once. Room is made when the prompt nearly fills the window, and when the
    /// server says that it does not fit; then it is sent again.
    pub(super) async fn ask_model(
        &mut self,
        turn: &mut Turn,
        tools: Vec<ToolSpec>,
    ) -> Result<Asked, AgentError> {
        loop {
            let mut request = ChatRequest { messages: self.messages.clone(), tools: tools.clone() };
            let mut prompt_tokens = self.count(&request.messages) + self.count_tools(&tools);
            if self.fills_the_window(prompt_tokens) {
                self.make_room(turn, &tools, self.roomy(prompt_tokens)).await?;
                if turn.is_stuck() && !tools.is_empty() {
                    return Ok(Asked::Stopped(StopReason::WindowFull));
                }
                request.messages.clone_from(&self.messages);
                prompt_tokens = self.count(&request.messages) + self.count_tools(&tools);
            }
            turn.used.steps += 1;
            self.recorder.emit(EventKind::ModelAsked {
                step: turn.used.steps,
                messages: request.messages.len(),
                prompt_tokens,
            });
            match self.wait_for(turn, &request).await {
                Ok(Asked::Stopped(reason)) => return Ok(Asked::Stopped(reason)),
                Ok(Asked::Replied(mut reply)) => {
                    give_own_ids(&mut reply.calls, self.recorder.events());
                    self.curb(&mut reply);
                    self.take_reply(turn, &reply, prompt_tokens);
                    return Ok(Asked::Replied(reply));
                }
                Err(ModelError::Overflow { message, .. }) if !turn.is_stuck() => {
                    let freed = self.make_room(turn, &tools, self.roomy(prompt_tokens)).await?;
                    self.recorder.warn(format!(
                        "The prompt did not fit the model ({message}); making room freed {freed} tokens."
                    ));
                    if turn.is_stuck() && !tools.is_empty() {
                        return Ok(Asked::Stopped(StopReason::WindowFull));
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Waits for the reply and shows its text as it comes.
    async fn wait_for(
        &mut self,
        turn: &mut Turn,
        request: &ChatRequest,
    ) -> Result<Asked, ModelError> {
        let (sender, mut deltas) = mpsc::unbounded_channel();
        let show = move |delta| drop(sender.send(delta));
        let model = std::sync::Arc::clone(&self.model);
        let reply = model.chat(request, &show);
        tokio::pin!(reply);
        let running = self.clock.running().saturating_sub(turn.began);
        let too_long = tokio::time::sleep(self.limits.time.saturating_sub(running));
        tokio::pin!(too_long);
        turn.partial.clear();
        let replied = loop {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Ok(Asked::Stopped(StopReason::Cancelled)),
                Some(delta) = deltas.recv() => self.show(turn, delta),
                reply = &mut reply => break reply,
                () = &mut too_long => return Ok(Asked::Stopped(StopReason::TimeLimit)),
            }
        };
        // What came together with the end is part of what was said, also when the end is an error.
        while let Ok(delta) = deltas.try_recv() {
            self.show(turn, delta);
        }
        replied.map(Asked::Replied)
    }

    /// Shows a piece of the reply and keeps what was said so far.
    fn show(&mut self, turn: &mut Turn, delta: Delta) {
        match delta {
            Delta::Text(text) => {
                turn.partial.push_str(&text);
                self.recorder.emit(EventKind::ModelDelta { text });
            }
            Delta::Restart => {
                turn.partial.clear();
                self.recorder.emit(EventKind::ModelRestarted);
            }
            Delta::Waiting { reason, left } => {
                let seconds = left.as_secs();
                self.recorder.emit(EventKind::ModelWaiting { reason, seconds });
            }
            Delta::Reasoning(_) => {}
        }
    }

    /// Makes a reply part of the conversation.
    fn take_reply(&mut self, turn: &mut Turn, reply: &ChatReply, prompt_tokens: u64) {
        let usage = self.usage(reply, prompt_tokens);
        turn.used.prompt_tokens += usage.prompt_tokens.max(prompt_tokens);
        self.prompt = Prompt {
            tokens: prompt_tokens,
            messages: self.messages.len(),
            repeated: prompt_tokens,
        };
        turn.partial.clear();
        for warning in &reply.warnings {
            self.recorder.warn(warning.as_str());
        }
        if reply.finish == Finish::Length && reply.calls.is_empty() && !reply.text.is_empty() {
            self.recorder.warn(CUT_ANSWER);
        }
        self.recorder.emit(EventKind::ModelReplied {
            text: reply.text.clone(),
            reasoning: reply.reasoning.clone(),
            calls: reply.calls.clone(),
            cut: reply.finish == Finish::Length,
            unverified: reply.unverified,
            usage,
        });
        if !reply.text.is_empty() || !reply.calls.is_empty() {
            self.messages.push(Message::Assistant {
                content: reply.text.clone(),
                reasoning: reply.reasoning.clone(),
                calls: reply.calls.clone(),
            });
        }
    }

    /// Counts messages with their calls, and what was thought aloud where that is sent back.
    pub(super) fn count(&self, messages: &[Message]) -> u64 {
        let mut tokens = counted::of_messages(messages, &self.counter);
        if self.model.sends_reasoning() {
            tokens += counted::of_reasoning(messages, &self.counter);
        }
        tokens
    }

    /// Counts what the model is told of the tools.
    pub(super) fn count_tools(&self, tools: &[ToolSpec]) -> u64 {
        counted::of_tools(tools, &self.counter)
    }

    /// Returns what the server counted, or our own counts where it counts nothing, with the part of
    /// the prompt that repeats the request before. Each request begins with the one before it, or
    /// with what was left of it when room was made.
    fn usage(&self, reply: &ChatReply, prompt_tokens: u64) -> Usage {
        let usage = reply.usage.unwrap_or_else(|| self.estimate(reply, prompt_tokens));
        let repeated = u128::from(self.prompt.repeated.min(prompt_tokens));
        // In the tokens of whoever counted the prompt.
        let scaled =
            (repeated * u128::from(usage.prompt_tokens)).checked_div(u128::from(prompt_tokens));
        let repeated_tokens = scaled.and_then(|tokens| u64::try_from(tokens).ok()).unwrap_or(0);
        Usage { repeated_tokens, ..usage }
    }

    /// Returns our own counts; what was thought aloud was written too.
    pub(super) fn estimate(&self, reply: &ChatReply, prompt_tokens: u64) -> Usage {
        let thought = self.counter.count(reply.reasoning.as_deref().unwrap_or_default());
        let calls: usize = reply.calls.iter().map(|call| self.counter.count(&call.arguments)).sum();
        Usage {
            prompt_tokens,
            completion_tokens: (self.counter.count(&reply.text) + thought + calls) as u64,
            estimated: true,
            ..Usage::default()
        }
    }
}

/// Gives each call an id that no other call of the session has: some servers count anew in each
/// reply, and results are kept and found by their ids.
fn give_own_ids(calls: &mut [ToolCall], events: &[Event]) {
    if calls.is_empty() {
        return;
    }
    let made = events.iter().flat_map(|event| match &event.kind {
        EventKind::ModelReplied { calls, .. } => calls.as_slice(),
        _ => &[],
    });
    let mut taken: HashSet<String> = made.map(|call| call.id.clone()).collect();
    for call in calls {
        let stem = if call.id.is_empty() { "call".to_owned() } else { call.id.clone() };
        let mut number = 2_u64;
        let mut id = stem.clone();
        while taken.contains(&id) {
            id = format!("{stem}_{number}");
            number += 1;
        }
        taken.insert(id.clone());
        call.id = id;
    }
}

/// What is told when an answer is not all of it.
const CUT_ANSWER: &str = "The reply was cut off by the model's length limit; its end is missing.";

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_call_of_a_session_has_an_id_of_its_own() {
        let calls = |ids: &[&str]| -> Vec<ToolCall> {
            ids.iter().map(|id| ToolCall::new(*id, "terminal", &json!({}))).collect()
        };
        let replied = |calls| EventKind::ModelReplied {
            text: String::new(),
            reasoning: None,
            calls,
            cut: false,
            unverified: false,
            usage: Usage::default(),
        };
        let kinds = [replied(calls(&["call_0", "call_1"])), replied(calls(&["call_0_2"]))];
        let at = chrono::DateTime::UNIX_EPOCH;
        let events: Vec<Event> =
            (1..).zip(kinds).map(|(seq, kind)| Event { seq, at, kind }).collect();
        let mut new = calls(&["call_0", "call_9", "", "call_9"]);
        give_own_ids(&mut new, &events);
        let ids: Vec<&str> = new.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["call_0_3", "call_9", "call", "call_9_2"]);
    }
}

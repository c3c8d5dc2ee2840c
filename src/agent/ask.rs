//! One call of the model: counted, shown as it comes, cut off by limits and by a person.

use tokio::sync::mpsc;

use super::turn::Turn;
use super::{AgentError, CodebaseMaintainer, compact};
use crate::model::{ChatReply, ChatRequest, Delta, Finish, ModelError};
use crate::protocol::{EventKind, Message, StopReason, ToolSpec, Usage};

/// The share of the model's window, in percent, at which room is made.
const FULL: u64 = 75;

/// What came of asking.
pub(super) enum Asked {
    /// A reply, already part of the conversation.
    Replied(ChatReply),
    /// The wait was cut off.
    Stopped(StopReason),
}

impl CodebaseMaintainer {
    /// Asks the model once. A prompt that does not fit is shortened once in a turn and sent again.
    pub(super) async fn ask_model(
        &mut self,
        turn: &mut Turn,
        tools: Vec<ToolSpec>,
    ) -> Result<Asked, AgentError> {
        loop {
            let mut request = ChatRequest { messages: self.messages.clone(), tools: tools.clone() };
            let mut prompt_tokens = self.count(&request);
            if self.fills_the_window(prompt_tokens) && self.make_room() > 0 {
                request.messages.clone_from(&self.messages);
                prompt_tokens = self.count(&request);
            }
            turn.used.steps += 1;
            self.recorder.emit(EventKind::ModelAsked {
                step: turn.used.steps,
                messages: request.messages.len(),
                prompt_tokens,
            });
            match self.wait_for(turn, &request).await {
                Ok(Asked::Stopped(reason)) => return Ok(Asked::Stopped(reason)),
                Ok(Asked::Replied(reply)) => {
                    self.take_reply(turn, &reply, prompt_tokens);
                    return Ok(Asked::Replied(reply));
                }
                Err(ModelError::Overflow { message, .. }) if turn.overflows == 0 => {
                    turn.overflows += 1;
                    let freed = self.make_room();
                    self.recorder.warn(format!(
                        "The prompt did not fit the model ({message}); {freed} older results were shortened and it is sent again."
                    ));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns whether a prompt takes so much of the model's window that room must be made.
    fn fills_the_window(&self, prompt_tokens: u64) -> bool {
        let window = self.model.window().map(|window| window as u64);
        window.is_some_and(|window| prompt_tokens * 100 > window * FULL)
    }

    /// Shortens older results; returns how many. The prefix that a provider cached is gone then.
    fn make_room(&mut self) -> usize {
        let shortened = compact::shorten(&mut self.messages);
        if shortened > 0 {
            self.last_prompt = 0;
        }
        shortened
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
        loop {
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Ok(Asked::Stopped(StopReason::Cancelled)),
                Some(delta) = deltas.recv() => match delta {
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
                },
                reply = &mut reply => return reply.map(Asked::Replied),
                () = &mut too_long => return Ok(Asked::Stopped(StopReason::TimeLimit)),
            }
        }
    }

    /// Makes a reply part of the conversation.
    fn take_reply(&mut self, turn: &mut Turn, reply: &ChatReply, prompt_tokens: u64) {
        let usage = reply.usage.unwrap_or_else(|| self.estimate(reply, prompt_tokens));
        turn.used.prompt_tokens += usage.prompt_tokens.max(prompt_tokens);
        self.last_prompt = prompt_tokens;
        turn.partial.clear();
        for warning in &reply.warnings {
            self.recorder.warn(warning.as_str());
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

    /// Counts a request exactly: messages, calls and tools.
    fn count(&self, request: &ChatRequest) -> u64 {
        let mut tokens = 0;
        for message in &request.messages {
            tokens += self.counter.count(message.text());
            if let Message::Assistant { calls, .. } = message {
                for call in calls {
                    tokens += self.counter.count(&call.name) + self.counter.count(&call.arguments);
                }
            }
        }
        for tool in &request.tools {
            tokens += self.counter.count(&tool.description);
            tokens += self.counter.count(&tool.parameters.to_string());
        }
        tokens as u64
    }

    /// Returns our own counts for a model that tells none. Within a session each request begins
    /// with the one before it, so that is the part which a provider could have cached.
    fn estimate(&self, reply: &ChatReply, prompt_tokens: u64) -> Usage {
        let calls: usize = reply.calls.iter().map(|call| self.counter.count(&call.arguments)).sum();
        Usage {
            prompt_tokens,
            cached_tokens: self.last_prompt.min(prompt_tokens),
            completion_tokens: (self.counter.count(&reply.text) + calls) as u64,
            estimated: true,
        }
    }
}

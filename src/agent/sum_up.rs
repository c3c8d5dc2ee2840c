//! A model's own summary of what is taken out to make room, for `limits.compaction: model`.
//!
//! It stands beside the lists of the digest and never in the place of the task, the notes and the
//! calls that failed. It is asked for behind the very messages that the model was shown, so that a
//! provider has them in its cache. Whatever goes wrong with it, the digest is made without it: a
//! turn never fails for the sake of its summary.

use std::sync::Arc;

use super::turn::Turn;
use super::{AgentError, CodebaseMaintainer};
use crate::context::quote_structure as quote;
use crate::model::{ChatReply, ChatRequest, Finish, ModelError};
use crate::protocol::{Message, ToolSpec, Usage};

/// Who words what older messages came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compaction {
    /// Nobody: a digest is made from the journal and the notes.
    #[default]
    Digest,
    /// The model sums up, beside what the digest tells word for word.
    Model,
}

/// The share of what it stands for that a summary is asked to have at most, in percent.
const SHARE: u64 = 20;
/// What a summary may have in any case, so that it says something.
const LEAST: u64 = 150;
/// What a summary may have at most.
const MOST: u64 = 2000;
/// The share of the window, in percent, that the request for a summary may take.
const FITS: u64 = 90;

/// What came of asking for a summary.
#[derive(Debug, Default)]
pub(super) struct SummedUp {
    /// The summary, if it can be used.
    pub(super) text: Option<String>,
    /// What it cost, also when it cannot be used.
    pub(super) usage: Option<Usage>,
}

impl CodebaseMaintainer {
    /// Asks the model to sum up the first messages of the conversation: `whole` as it was shown
    /// them, or `cleared`, with lines in the place of results, where the whole does not fit.
    pub(super) async fn sum_up(
        &mut self,
        turn: &mut Turn,
        whole: &[Message],
        cleared: &[Message],
        tools: &[ToolSpec],
    ) -> Result<SummedUp, AgentError> {
        let replaced = self.count(cleared);
        let most = (replaced * SHARE / 100).clamp(LEAST, MOST).to_string();
        let wish = self.prompts()?.fill("compress", &[("tokens", most.as_str())])?;
        let request = |older: &[Message]| ChatRequest {
            messages: [&self.messages[..1], older, &[Message::User { content: wish.clone() }]]
                .concat(),
            tools: tools.to_vec(),
        };
        let mut asked = request(whole);
        let window = self.window().unwrap_or(u64::MAX);
        let count = |asked: &ChatRequest| self.count(&asked.messages) + self.count_tools(tools);
        if count(&asked) > window / 100 * FITS {
            asked = request(cleared);
        }
        let prompt_tokens = count(&asked);
        let reply = match self.quietly(turn, &asked).await {
            Ok(Some(reply)) => reply,
            // The loop sees by itself that it was interrupted or is out of time.
            Ok(None) => return Ok(SummedUp::default()),
            Err(error) => {
                self.refuse_summary(&error.to_string());
                return Ok(SummedUp::default());
            }
        };
        let usage = reply.usage.unwrap_or_else(|| self.estimate(&reply, prompt_tokens));
        turn.used.prompt_tokens += usage.prompt_tokens.max(prompt_tokens);
        let text = match self.fault(&reply, replaced) {
            None => Some(quote(reply.text.trim())),
            Some(fault) => {
                self.refuse_summary(fault);
                None
            }
        };
        Ok(SummedUp { text, usage: Some(usage) })
    }

    /// Says that the digest is made without a summary, and why.
    pub(super) fn refuse_summary(&mut self, why: &str) {
        self.recorder.warn(format!(
            "The model's summary of older messages is not used ({why}); a digest without it stands in their place."
        ));
    }

    /// Returns why a summary cannot be used, if it cannot.
    fn fault(&self, reply: &ChatReply, replaced: u64) -> Option<&'static str> {
        if !reply.calls.is_empty() {
            Some("it called a tool instead of writing one")
        } else if reply.text.trim().is_empty() {
            Some("it is empty")
        } else if reply.finish == Finish::Length {
            Some("it was cut off")
        } else if self.counter.count(&reply.text) as u64 >= replaced {
            Some("it is longer than what it stands for")
        } else {
            None
        }
    }

    /// Waits for a reply that nobody is shown; none when the wait was cut off.
    async fn quietly(
        &mut self,
        turn: &Turn,
        request: &ChatRequest,
    ) -> Result<Option<ChatReply>, ModelError> {
        let model = Arc::clone(&self.model);
        let running = self.clock.running().saturating_sub(turn.began);
        let left = self.limits.time.saturating_sub(running);
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Ok(None),
            reply = model.chat(request, &|_| {}) => reply.map(Some),
            () = tokio::time::sleep(left) => Ok(None),
        }
    }
}

//! Who thinks. [`ChatModel`] translates a request into a reply; it knows no transcript, decides on
//! no retries, picks no tools.

mod call_ids;
pub mod catalog;
pub(crate) mod counted;
pub mod embedding;
mod error;
pub mod offline;
pub mod openai;
pub mod recorded;
pub mod retrying;
pub mod scripted;
mod select;

use std::time::Duration;

use futures::future::BoxFuture;

pub use error::ModelError;
pub use select::{Choice, ModelOptions, SelectError, from_options};

use crate::protocol::{Message, ToolCall, ToolSpec, Usage};

/// Whatever answers.
///
/// Implemented by [`offline`] (rules, no language model), [`scripted`] (a script that checks what
/// it is shown) and by endpoints; decorators wrap one to record or to retry. An implementation
/// must not keep a transcript: all it may know is in the request.
pub trait ChatModel: Send + Sync {
    /// Returns the name, as it is shown and journaled.
    fn name(&self) -> &str;

    /// Answers one request. Text is handed to `deltas` as it comes; the reply holds all of it
    /// again.
    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>>;

    /// Looks up what the endpoint tells of itself, above all its window; called before the first
    /// request that is not small. Returns sentences that a person should read.
    fn prepare(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(async { Vec::new() })
    }

    /// Returns how many tokens prompt and answer may have together, where there is such a limit.
    fn window(&self) -> Option<usize> {
        None
    }

    /// Returns whether what was thought aloud goes back with every request, so that it takes room
    /// in the window.
    fn sends_reasoning(&self) -> bool {
        false
    }

    /// Called once when nothing more will be asked; a script says here that steps were left over.
    fn finish(&self) -> Result<(), ModelError> {
        Ok(())
    }
}

/// What a model is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The conversation; a system message first.
    pub messages: Vec<Message>,
    /// The tools that may be called, in a fixed order; empty when an answer is wanted.
    pub tools: Vec<ToolSpec>,
}

impl ChatRequest {
    /// Returns the messages with their calls as one text to look for words in.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for message in &self.messages {
            text.push_str(message.text());
            for call in message.calls() {
                text.push_str(&call.name);
                text.push_str(&call.arguments);
            }
            text.push('\n');
        }
        text
    }
}

/// What a model answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatReply {
    /// The text.
    pub text: String,
    /// What it thought aloud.
    pub reasoning: Option<String>,
    /// The calls it wants, in its order.
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish: Finish,
    /// What it cost; none when the model tells nothing.
    pub usage: Option<Usage>,
    /// Sentences for a person about how this reply came to be.
    pub warnings: Vec<String>,
    /// True when the model seems to have been shown only a part of the prompt, so that nothing
    /// it says can count as verified.
    pub unverified: bool,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    #[default]
    Stop,
    /// It ran into a length limit: the text is cut, and calls must not be run.
    Length,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    /// Text of the answer.
    Text(String),
    /// Thinking aloud.
    Reasoning(String),
    /// What was shown so far is void: the request is sent again.
    Restart,
    /// The request waits for a busy server; told again each second until it is sent.
    Waiting {
        /// Why.
        reason: String,
        /// How long it is still going to wait.
        left: Duration,
    },
}

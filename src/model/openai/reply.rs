//! From what a stream brought to a reply: thoughts taken out, calls that can be run, or the reason
//! why there is no reply.

use std::collections::HashSet;

use serde_json::Value;

use super::accumulate::Accumulator;
use super::finish::End;
use super::transport::Ending;
use super::{text_calls, think};
use crate::model::{ChatReply, ChatRequest, Finish, ModelError};
use crate::protocol::{Message, ToolCall, ToolSpec};

/// What reading a reply must know.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'a> {
    /// What was asked.
    pub(super) request: &'a ChatRequest,
    /// The host, for messages.
    pub(super) host: &'a str,
    /// Whether calls written as text count.
    pub(super) text_calls: bool,
}

impl Reading<'_> {
    /// Makes a reply of what arrived.
    pub(super) fn reply(
        self,
        arrived: Accumulator,
        ending: Ending,
    ) -> Result<ChatReply, ModelError> {
        let end = arrived.finish.as_deref().map(End::read);
        let word = arrived.finish.clone().unwrap_or_default();
        let Self { host, .. } = self;
        if end.is_none() && (ending == Ending::Open || arrived.is_empty()) {
            let what = if arrived.is_empty() { "nothing" } else { "an answer without an end" };
            return Err(ModelError::Truncated(format!("{host} sent {what}")));
        }
        let produced = arrived.usage.and_then(super::wire::Counts::completion);
        let nothing_out = arrived.is_empty() && produced.unwrap_or(0) == 0;
        if end == Some(End::WindowFull) || (end == Some(End::Length) && nothing_out) {
            let message = format!("{host} ended the answer with `{word}`: its window is full");
            return Err(ModelError::Overflow { message, window: None });
        }
        if end == Some(End::Failed) {
            return Err(ModelError::Unavailable {
                message: format!("{host} ended the answer with `{word}`"),
                hint: None,
                retry_after: None,
            });
        }
        let mut reply = ChatReply {
            usage: arrived.usage.and_then(super::wire::Counts::usage),
            finish: if end == Some(End::Length) { Finish::Length } else { Finish::Stop },
            ..ChatReply::default()
        };
        let (text, thought) = divide(&arrived.content);
        let reasoning = [arrived.reasoning.as_str(), thought.as_str()].concat();
        // An empty field is not the same as no field to servers that want it back.
        let thought = arrived.reasons || !reasoning.is_empty();
        reply.reasoning = thought.then_some(reasoning);
        reply.text = text;
        let used = self.used_ids();
        // What came before tells this answer from all others of the conversation.
        let seed = format!("{}/{}", self.request.messages.len(), used.len());
        reply.calls = arrived.calls(&used, &seed);
        if reply.calls.is_empty() && self.text_calls && reply.finish == Finish::Stop {
            self.take_text_calls(&mut reply, &used, &seed);
        }
        for call in &mut reply.calls {
            complete_arguments(call, &self.request.tools);
        }
        match end {
            Some(End::Filtered) => {
                reply.calls.clear();
                reply.warnings.push(format!(
                    "{host} ended the answer with `{word}`: its filter cut what the model wrote"
                ));
            }
            Some(End::Unknown) => reply.warnings.push(format!(
                "{host} ended the answer with the unknown word `{}`",
                super::error_text::shorten(&word)
            )),
            _ => {}
        }
        Ok(reply)
    }

    fn take_text_calls(self, reply: &mut ChatReply, used: &HashSet<&str>, seed: &str) {
        let Some((text, calls)) = text_calls::take(&reply.text, &self.request.tools) else {
            return;
        };
        let mut taken: HashSet<String> = used.iter().map(|id| (*id).to_owned()).collect();
        reply.text = text;
        for (number, call) in calls.into_iter().enumerate() {
            let id = super::ids::unused(&format!("{seed}/text/{number}"), &mut taken);
            reply.calls.push(ToolCall {
                id,
                name: call.name,
                arguments: call.arguments,
                extra: None,
            });
        }
    }

    fn used_ids(&self) -> HashSet<&str> {
        let calls = self.request.messages.iter().flat_map(Message::calls);
        calls.map(|call| call.id.as_str()).collect()
    }
}

/// Divides a text into the answer and what was thought in it.
fn divide(content: &str) -> (String, String) {
    if let Some((thought, answer)) = think::split_unopened(content) {
        return (answer.to_owned(), thought.to_owned());
    }
    let mut splitter = think::ThoughtSplitter::default();
    let first = splitter.push(content);
    let rest = splitter.finish();
    (first.answer + &rest.answer, first.thought + &rest.thought)
}

/// Fills in missing arguments of a tool that needs none. Of one that needs some they stay missing,
/// and the tool says which.
fn complete_arguments(call: &mut ToolCall, tools: &[ToolSpec]) {
    // Some models put the JSON text into a text once more.
    if let Ok(Value::String(inner)) = serde_json::from_str(&call.arguments)
        && serde_json::from_str::<Value>(&inner).is_ok_and(|inner| inner.is_object())
    {
        call.arguments = inner;
    }
    if !call.arguments.trim().is_empty() && call.arguments.trim() != "null" {
        return;
    }
    let tool = tools.iter().find(|tool| tool.name == call.name);
    let needs = tool
        .and_then(|tool| tool.parameters["required"].as_array())
        .is_some_and(|required| !required.is_empty());
    call.arguments = if needs { String::new() } else { "{}".to_owned() };
}

//! The built-in model: rules, no language model. It works without any endpoint, through the same
//! loop and the same tools as every other model.
//!
//! It looks with commands, records what it found as notes, and answers; every number of an answer
//! comes from a command that it ran, and the answer names it. It keeps no state: all it knows is
//! in the request, so the same tree and the same notes give the same dialog. It never explains
//! what code means, and says so.

mod analyze;
mod ask;
mod desk;
mod explore;
mod findings;
mod language;
mod lines;
mod lookup;
mod memory;
mod page;
mod plan;
mod programs;
mod record;
mod scope;
mod subjects;
mod survey;
#[cfg(test)]
mod tests;
mod turn;

use futures::future::BoxFuture;

use desk::Desk;
use turn::{Mode, Turn};

use super::{ChatModel, ChatReply, ChatRequest, Delta, ModelError, call_ids};
use crate::protocol::ToolCall;

/// The rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflineModel;

impl OfflineModel {
    /// Returns the rules.
    pub fn new() -> Self {
        Self
    }
}

impl ChatModel for OfflineModel {
    fn name(&self) -> &'static str {
        "offline"
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let reply = reply(request);
            for line in reply.text.split_inclusive('\n') {
                deltas(Delta::Text(line.to_owned()));
            }
            Ok(reply)
        })
    }
}

fn reply(request: &ChatRequest) -> ChatReply {
    let turn = Turn::read(request);
    if turn.asked_again {
        return text(turn.language.pick(
            "There is nothing to record: what the rules found is in the notes already.",
            "没有需要记录的内容：规则所发现的都已写入笔记。",
        ));
    }
    let desk = Desk::new(&turn);
    // Every line is written as seen from the root of the workspace.
    if turn.is_elsewhere && desk.run("cd ~").is_err() {
        return calls(request, desk);
    }
    let answer = match turn.mode {
        Mode::Explore => explore::answer(&desk),
        Mode::Analyze => analyze::answer(&desk),
        Mode::Plan => plan::answer(&desk),
        Mode::Ask => ask::answer(&desk),
    };
    if let Ok(answer) = answer {
        return text(&answer);
    }
    calls(request, desk)
}

/// Asks for what is missing.
fn calls(request: &ChatRequest, desk: Desk<'_>) -> ChatReply {
    let first = call_ids::next_number(request);
    let calls = desk.into_wanted().into_iter().enumerate().map(|(index, wanted)| ToolCall {
        id: call_ids::id(first + index),
        name: wanted.tool.to_owned(),
        arguments: wanted.arguments,
        extra: None,
    });
    ChatReply { calls: calls.collect(), ..ChatReply::default() }
}

fn text(text: &str) -> ChatReply {
    ChatReply { text: text.to_owned(), ..ChatReply::default() }
}

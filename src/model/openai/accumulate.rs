//! Puts the pieces of a stream together into one answer.
//!
//! The rules for calls come from what servers really send: no numbers, the same number for all,
//! ids that are empty or missing or repeated, names that come late or again and again. Empty never
//! overwrites, and the arguments of two calls never run together.

use std::collections::HashSet;

use serde_json::Value;

use super::ids;
use super::wire::{Arguments, CallPiece, Chunk, Counts, Piece};
use crate::protocol::ToolCall;

/// All that an answer may hold, in bytes; a server that sends more than this is out of order.
pub(super) const MOST_BYTES: usize = 64 * 1024 * 1024;

/// An answer that is being put together. Thoughts inside the text are still part of it.
#[derive(Debug, Default)]
pub(super) struct Accumulator {
    /// The text.
    pub(super) content: String,
    /// The reasoning that came in a field of its own.
    pub(super) reasoning: String,
    /// Whether there was such a field, be it empty.
    pub(super) reasons: bool,
    /// The last word for the end.
    pub(super) finish: Option<String>,
    /// The last counts.
    pub(super) usage: Option<Counts>,
    calls: Vec<OpenCall>,
    /// Whether one number was given to two calls.
    numbers_repeat: bool,
    /// In how many pieces the text came.
    pieces: usize,
}

/// What a chunk added to the answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Added {
    /// Text, thoughts inside it included.
    pub(super) content: String,
    /// Reasoning that came in a field of its own.
    pub(super) reasoning: String,
}

/// A call that may still grow.
#[derive(Debug, Default)]
struct OpenCall {
    index: Option<u64>,
    position: usize,
    id: Option<String>,
    name: String,
    arguments: String,
    extra: Option<Value>,
}

impl Accumulator {
    /// Takes a chunk that is no error. Returns what is new in it.
    pub(super) fn take(&mut self, chunk: Chunk) -> Added {
        if let Some(usage) = chunk.usage {
            self.usage = Some(usage.after(self.usage));
        }
        let Some(mut piece) = chunk.piece else { return Added::default() };
        if self.is_told_again(&piece) {
            piece.content.drain(..self.content.len());
            if piece.reasoning.starts_with(&self.reasoning) {
                piece.reasoning.drain(..self.reasoning.len());
            }
        }
        self.pieces += usize::from(!piece.content.is_empty());
        self.content.push_str(&piece.content);
        self.reasoning.push_str(&piece.reasoning);
        self.reasons |= piece.reasons;
        if piece.finish.is_some() {
            self.finish = piece.finish;
        }
        for call in piece.calls {
            self.take_call(call);
        }
        Added { content: piece.content, reasoning: piece.reasoning }
    }

    /// Returns whether the last piece holds all of the text once more, as some servers end.
    fn is_told_again(&self, piece: &Piece) -> bool {
        if piece.finish.is_none() || self.content.is_empty() {
            return false;
        }
        if piece.is_message {
            return piece.content.starts_with(&self.content);
        }
        self.pieces > 1 && piece.content == self.content
    }

    /// Returns whether nothing has arrived yet.
    pub(super) fn is_empty(&self) -> bool {
        self.content.is_empty() && self.reasoning.is_empty() && self.calls.is_empty()
    }

    /// Returns the calls. Ids are made where there are none, and where one was used before:
    /// `used` are those of the conversation, `seed` tells this answer from all others.
    pub(super) fn calls(self, used: &HashSet<&str>, seed: &str) -> Vec<ToolCall> {
        let mut taken: HashSet<String> = used.iter().map(|id| (*id).to_owned()).collect();
        let mut calls = Vec::new();
        for call in self.calls {
            if call.name.is_empty() && call.arguments.trim().is_empty() {
                continue;
            }
            // A call must have a name to be answered and to be sent back.
            let name = if call.name.is_empty() { "unnamed".to_owned() } else { call.name };
            let mut id = call.id;
            // Only a server that gives all calls one number can have put two into one.
            let several = if self.numbers_repeat { split_objects(&call.arguments) } else { None };
            for arguments in several.unwrap_or_else(|| vec![call.arguments]) {
                let id = match id.take().filter(|id| taken.insert(id.clone())) {
                    Some(id) => id,
                    None => ids::unused(&format!("{seed}/{}", calls.len()), &mut taken),
                };
                calls.push(ToolCall {
                    id,
                    name: name.clone(),
                    arguments,
                    extra: call.extra.clone(),
                });
            }
        }
        calls
    }

    fn take_call(&mut self, piece: CallPiece) {
        let place = self.find(&piece).unwrap_or_else(|| {
            let (index, position) = (piece.index, piece.position);
            self.calls.push(OpenCall { index, position, ..OpenCall::default() });
            self.calls.len() - 1
        });
        if let Some(call) = self.calls.get_mut(place) {
            call.grow(piece);
        }
    }

    /// Returns the call that a piece goes on with; none when it opens a new one.
    fn find(&mut self, piece: &CallPiece) -> Option<usize> {
        let last = |fits: &dyn Fn(&OpenCall) -> bool| self.calls.iter().rposition(fits);
        if let Some(id) = &piece.id
            && let Some(place) = last(&|call| call.id.as_ref() == Some(id))
            && !self.calls.get(place).is_some_and(|call| call.ended_before(piece))
        {
            return Some(place);
        }
        let place = match piece.index {
            Some(index) => last(&|call| call.index == Some(index)),
            None => last(&|call| call.index.is_none() && call.position == piece.position)
                .or_else(|| self.calls.len().checked_sub(1).filter(|_| piece.name.is_none())),
        }?;
        let call = self.calls.get(place)?;
        if call.goes_on_with(piece) {
            return Some(place);
        }
        self.numbers_repeat |= piece.index.is_some();
        None
    }
}

impl OpenCall {
    /// Returns whether a piece at the same place belongs to this call.
    fn goes_on_with(&self, piece: &CallPiece) -> bool {
        if let (Some(known), Some(new)) = (&self.id, &piece.id)
            && known != new
        {
            return false;
        }
        let Some(name) = &piece.name else { return true };
        if self.name.is_empty() {
            return true;
        }
        // A name that is repeated or grows belongs here, unless it begins new arguments after
        // complete ones.
        let same = name.starts_with(&self.name) || self.name.starts_with(name.as_str());
        let begins = match &piece.arguments {
            Arguments::Part(part) => part.trim_start().starts_with('{') && *part != self.arguments,
            Arguments::Whole(whole) => *whole != self.arguments,
            Arguments::Missing => false,
        };
        same && !(begins && self.is_complete())
    }

    /// Returns whether a piece under the same id is another call: some servers give all calls one
    /// id, and only the number tells them apart.
    fn ended_before(&self, piece: &CallPiece) -> bool {
        let numbers = self.index.zip(piece.index);
        numbers.is_some_and(|(own, other)| own != other)
            && piece.name.is_some()
            && self.is_complete()
    }

    fn is_complete(&self) -> bool {
        serde_json::from_str::<Value>(&self.arguments).is_ok_and(|value| value.is_object())
    }

    fn grow(&mut self, piece: CallPiece) {
        if self.id.is_none() {
            self.id = piece.id;
        }
        if let Some(name) = piece.name
            && name.len() >= self.name.len()
        {
            self.name = name;
        }
        match piece.arguments {
            Arguments::Missing => {}
            // Some servers end with all of the arguments once more.
            Arguments::Part(part) if part == self.arguments && self.is_complete() => {}
            Arguments::Part(part) => self.arguments.push_str(&part),
            Arguments::Whole(whole) => self.arguments = whole,
        }
        if piece.extra.is_some() {
            self.extra = piece.extra;
        }
    }
}

/// Divides arguments in which several objects run together, if each of them is whole.
fn split_objects(arguments: &str) -> Option<Vec<String>> {
    let objects: Result<Vec<Value>, _> =
        serde_json::Deserializer::from_str(arguments).into_iter::<Value>().collect();
    let objects = objects.ok().filter(|objects| objects.len() > 1)?;
    if objects.iter().all(Value::is_object) {
        Some(objects.iter().map(Value::to_string).collect())
    } else {
        None
    }
}

//! Events folded back into the messages that a model has seen.

use super::{compact, room};
use crate::protocol::{Event, EventKind, Message, ToolCall};
use crate::sources::Cleared;

/// What stands in the place of a result that never came.
pub(super) const INTERRUPTED: &str = "The turn was interrupted before this call ended. Its result is unknown; call again if it is needed.";

/// Returns the conversation of a session, without the system message. Each call has its result:
/// one that never came is told as interrupted.
pub fn replay(events: &[Event]) -> Vec<Message> {
    let mut messages = fold(events);
    close_open_calls(&mut messages);
    messages
}

/// Returns the conversation with the calls of the newest reply as they stand.
pub(super) fn fold(events: &[Event]) -> Vec<Message> {
    fold_without(events, &gone_on(events, false))
}

/// Like [`fold`], for a last turn that goes on: what stood in for its answer stands there no more.
pub(super) fn fold_to_go_on(events: &[Event]) -> Vec<Message> {
    fold_without(events, &gone_on(events, true))
}

/// Returns the places at which a turn ended that goes on behind them; `last` tells whether the last
/// one does.
fn gone_on(events: &[Event], last: bool) -> Vec<usize> {
    let mut goes_on = last;
    let mut places = Vec::new();
    for (place, event) in events.iter().enumerate().rev() {
        match &event.kind {
            EventKind::TurnStarted { .. } => goes_on = false,
            EventKind::TurnFinished { .. } if goes_on => places.push(place),
            EventKind::ModelAsked { .. }
            | EventKind::ModelReplied { .. }
            | EventKind::ToolStarted { .. }
            | EventKind::ToolFinished { .. } => goes_on = true,
            _ => {}
        }
    }
    places
}

fn fold_without(events: &[Event], left_out: &[usize]) -> Vec<Message> {
    let mut messages = Vec::new();
    for (place, event) in events.iter().enumerate() {
        match &event.kind {
            _ if left_out.contains(&place) => {}
            EventKind::ContextBuilt { text, .. } | EventKind::LoopSaid { text } => {
                close_open_calls(&mut messages);
                messages.push(Message::User { content: text.clone() });
            }
            EventKind::ModelReplied { text, reasoning, calls, .. } => {
                close_open_calls(&mut messages);
                if !text.is_empty() || !calls.is_empty() {
                    messages.push(Message::Assistant {
                        content: text.clone(),
                        reasoning: reasoning.clone(),
                        calls: calls.clone(),
                    });
                }
            }
            EventKind::ToolFinished { id, name, for_model, .. } => {
                if open_calls(&messages).iter().any(|(open, _)| open == id) {
                    messages.push(Message::Tool {
                        call_id: id.clone(),
                        name: name.clone(),
                        content: for_model.clone(),
                    });
                }
            }
            EventKind::ContextCompacted { cleared, replaced, digest, .. } => {
                compact::apply(&mut messages, cleared, digest.as_deref(), *replaced);
            }
            EventKind::TurnFinished { answer, stands_in: true, .. } => {
                close_open_calls(&mut messages);
                messages.push(spoken(answer));
            }
            EventKind::SessionStarted { .. }
            | EventKind::TurnStarted { .. }
            | EventKind::CommandFinished(_)
            | EventKind::ModelAsked { .. }
            | EventKind::ModelDelta { .. }
            | EventKind::ModelRestarted
            | EventKind::ModelWaiting { .. }
            | EventKind::ToolStarted { .. }
            | EventKind::NoteChanged(_)
            | EventKind::AnswerChecked { .. }
            | EventKind::Warning { .. }
            | EventKind::TurnFinished { .. } => {}
        }
    }
    messages
}

/// Returns the results that were cleared from the conversation, as the model had read them.
pub(super) fn cleared(events: &[Event]) -> Vec<Cleared> {
    let mut ids = std::collections::BTreeSet::new();
    for event in events {
        if let EventKind::ContextCompacted { cleared, .. } = &event.kind {
            ids.extend(cleared.iter().map(|result| result.id.as_str()));
        }
    }
    let mut results = Vec::new();
    let mut made: &[ToolCall] = &[];
    for event in events {
        match &event.kind {
            EventKind::ModelReplied { calls, .. } => made = calls,
            EventKind::ToolFinished { id, name, for_model, .. } if ids.contains(id.as_str()) => {
                let call = made.iter().find(|call| call.id == *id);
                let call = call.map_or_else(|| name.clone(), room::one_line);
                results.push(Cleared { call, text: for_model.clone(), at: event.at });
            }
            _ => {}
        }
    }
    results
}

/// Returns whether the conversation ends with what the model was told and not with its answer:
/// some models accept no second question after one without an answer.
pub(super) fn needs_an_answer(messages: &[Message]) -> bool {
    matches!(messages.last(), Some(Message::User { .. } | Message::Tool { .. }))
}

/// Returns a text as the model's.
pub(super) fn spoken(text: &str) -> Message {
    Message::Assistant { content: text.to_owned(), reasoning: None, calls: Vec::new() }
}

/// Gives each call of the newest reply that has no result one that says so.
pub(super) fn close_open_calls(messages: &mut Vec<Message>) {
    for (call_id, name) in open_calls(messages) {
        messages.push(Message::Tool { call_id, name, content: INTERRUPTED.to_owned() });
    }
}

/// Returns the calls of the newest reply that have no result yet, as id and tool.
fn open_calls(messages: &[Message]) -> Vec<(String, String)> {
    let mut answered = Vec::new();
    for message in messages.iter().rev() {
        match message {
            Message::Tool { call_id, .. } => answered.push(call_id.as_str()),
            Message::Assistant { calls, .. } => {
                let open = calls.iter().filter(|call| !answered.contains(&call.id.as_str()));
                return open.map(|call| (call.id.clone(), call.name.clone())).collect();
            }
            Message::System { .. } | Message::User { .. } => return Vec::new(),
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::protocol::{ClearedResult, Completeness, Usage};

    fn events(kinds: Vec<EventKind>) -> Vec<Event> {
        let at = chrono::DateTime::UNIX_EPOCH;
        (1..).zip(kinds).map(|(seq, kind)| Event { seq, at, kind }).collect()
    }

    fn said(text: &str) -> EventKind {
        EventKind::LoopSaid { text: text.to_owned() }
    }

    fn replied(text: &str, ids: &[&str]) -> EventKind {
        EventKind::ModelReplied {
            text: text.to_owned(),
            reasoning: None,
            calls: ids.iter().map(|id| ToolCall::new(*id, "terminal", &json!({}))).collect(),
            cut: false,
            unverified: false,
            usage: Usage::default(),
        }
    }

    fn finished(id: &str) -> EventKind {
        EventKind::ToolFinished {
            id: id.to_owned(),
            name: "terminal".to_owned(),
            for_model: format!("result of {id}"),
            summary: String::new(),
            completeness: Completeness::Whole,
            failure: None,
        }
    }

    #[track_caller]
    fn check(kinds: Vec<EventKind>, expected: &[&str]) {
        let spell = |message: &Message| match message {
            Message::System { .. } => "system".to_owned(),
            Message::User { content } => format!("user {content}"),
            Message::Assistant { content, calls, .. } => {
                let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
                format!("assistant {content} {}", ids.join(","))
            }
            Message::Tool { call_id, content, .. } if content == INTERRUPTED => {
                format!("interrupted {call_id}")
            }
            Message::Tool { call_id, .. } => format!("tool {call_id}"),
        };
        let messages: Vec<String> = replay(&events(kinds)).iter().map(spell).collect();
        assert_eq!(messages, expected);
    }

    #[test]
    fn a_turn_is_folded_back_in_order() {
        check(
            vec![
                said("q"),
                replied("", &["a", "b"]),
                finished("a"),
                finished("b"),
                replied("x", &[]),
            ],
            &["user q", "assistant  a,b", "tool a", "tool b", "assistant x "],
        );
    }

    #[test]
    fn a_call_without_a_result_is_told_as_interrupted_wherever_the_journal_ends() {
        let kinds = || vec![said("q"), replied("", &["a", "b"]), finished("a")];
        check(kinds(), &["user q", "assistant  a,b", "tool a", "interrupted b"]);
        let mut kinds = kinds();
        kinds.push(said("go on"));
        check(kinds, &["user q", "assistant  a,b", "tool a", "interrupted b", "user go on"]);
    }

    #[test]
    fn a_turn_without_an_answer_of_the_model_ends_with_what_stands_for_it() {
        let finished = |stands_in| EventKind::TurnFinished {
            turn: 1,
            reason: crate::protocol::StopReason::Cancelled,
            answer: "half of".to_owned(),
            stands_in,
            stats: crate::protocol::Stats::default(),
        };
        check(
            vec![said("q"), finished(true), said("go on")],
            &["user q", "assistant half of ", "user go on"],
        );
        check(vec![said("q"), replied("x", &[]), finished(false)], &["user q", "assistant x "]);
        // A turn that goes on has another answer, and its calls may still get their results.
        let ended = vec![said("q"), replied("", &["a"]), finished(true)];
        let on = EventKind::ToolFinished {
            id: "a".to_owned(),
            name: "terminal".to_owned(),
            for_model: "late".to_owned(),
            summary: String::new(),
            completeness: Completeness::Whole,
            failure: None,
        };
        let went_on = [ended.clone(), vec![on]].concat();
        check(went_on, &["user q", "assistant  a", "tool a"]);
        let goes_on = fold_to_go_on(&events(ended));
        assert_eq!(goes_on.len(), 2);
    }

    /// Returns why a conversation is none that a server takes, if it is not.
    fn fault(messages: &[Message]) -> Option<String> {
        let mut open: Vec<&str> = Vec::new();
        for message in messages {
            match message {
                Message::Tool { call_id, .. } => {
                    let Some(place) = open.iter().position(|id| id == call_id) else {
                        return Some(format!("{call_id} has a result and no call"));
                    };
                    open.remove(place);
                }
                _ if !open.is_empty() => return Some(format!("{open:?} have no results")),
                Message::Assistant { content, calls, .. } => {
                    if content.is_empty() && calls.is_empty() {
                        return Some("an empty message".to_owned());
                    }
                    open = calls.iter().map(|call| call.id.as_str()).collect();
                }
                Message::User { .. } => {}
                Message::System { .. } => return Some("a second system message".to_owned()),
            }
        }
        (!open.is_empty()).then(|| format!("{open:?} have no results at the end"))
    }

    fn any_event() -> impl Strategy<Value = EventKind> {
        let ids = proptest::sample::subsequence(vec!["a", "b", "c"], 0..=3);
        let id = prop_oneof![Just("a"), Just("b"), Just("c"), Just("z")];
        let line = |message: usize, id: &str| ClearedResult {
            message,
            id: id.to_owned(),
            text: "[cleared]".to_owned(),
        };
        prop_oneof![
            Just(said("loop")),
            Just(EventKind::Warning { message: "w".to_owned() }),
            ("x?", ids).prop_map(|(text, ids)| replied(&text, &ids)),
            id.clone().prop_map(finished),
            (0..9_usize, id, proptest::option::of(Just("digest".to_owned())), 0..9_usize).prop_map(
                move |(place, id, digest, replaced)| EventKind::ContextCompacted {
                    tokens_before: 9,
                    tokens_after: 1,
                    cleared: vec![line(place, id)],
                    replaced,
                    digest,
                    usage: None,
                }
            ),
        ]
    }

    proptest! {
        #[test]
        fn any_journal_folds_into_a_conversation_that_a_server_takes(
            kinds in proptest::collection::vec(any_event(), 0..40)
        ) {
            let events = events(kinds);
            prop_assert_eq!(fault(&replay(&events)), None);
            // Also when it ends anywhere, and when it is read anew.
            let bytes = serde_json::to_vec(&events).unwrap();
            let read: Vec<Event> = serde_json::from_slice(&bytes).unwrap();
            prop_assert_eq!(replay(&read), replay(&events));
        }
    }

    #[test]
    fn an_empty_reply_and_a_stray_result_are_no_messages() {
        check(
            vec![said("q"), replied("", &[]), finished("z"), replied("x", &[])],
            &["user q", "assistant x "],
        );
    }
}

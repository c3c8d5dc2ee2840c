//! Making room, as far as it is a matter of messages alone: which of them are old, which results
//! are worth clearing, where a round begins, and what the conversation is afterwards.
//!
//! Nothing is written and nobody is asked here. The conversation of a resumed session goes through
//! the same [`apply`] as the one that was compacted, so that both are the same.

use crate::protocol::{ClearedResult, Message};

/// The share of the conversation, in percent, that is left alone at its end.
const UNTOUCHED: usize = 30;

/// Returns where the newest part begins that is left alone. A message that reaches into it from
/// before, such as a context that is most of the conversation, is old once a round follows it.
pub(super) fn newest(messages: &[Message]) -> usize {
    let total: usize = messages.iter().map(size).sum();
    let mut behind = total;
    for (place, message) in messages.iter().enumerate() {
        behind -= size(message);
        if behind * 100 < total * UNTOUCHED {
            let after = &messages[place + 1..];
            let has_round = after.iter().any(|next| matches!(next, Message::Assistant { .. }));
            return place + usize::from(has_round);
        }
    }
    messages.len()
}

/// Returns the last place up to `newest` at which a round begins: what stands before it can go
/// without a result losing its call.
pub(super) fn round_before(messages: &[Message], newest: usize) -> usize {
    let is_result = |place: &usize| matches!(messages.get(*place), Some(Message::Tool { .. }));
    (0..=newest.min(messages.len())).rev().find(|place| !is_result(place)).unwrap_or(0)
}

/// Returns whether a line in the place of a result frees enough to be worth the change. A line
/// that stands there already never does.
pub(super) fn is_worth_it(content: &str, line: &str) -> bool {
    line.len() * 2 < content.len()
}

/// Changes a conversation (without its system message): results become their lines, then the first
/// `replaced` messages become the digest. What does not match is left alone.
pub(super) fn apply(
    messages: &mut Vec<Message>,
    cleared: &[ClearedResult],
    digest: Option<&str>,
    replaced: usize,
) {
    for ClearedResult { message, id, text } in cleared {
        if let Some(Message::Tool { call_id, content, .. }) = messages.get_mut(*message)
            && call_id == id
        {
            content.clone_from(text);
        }
    }
    if let Some(digest) = digest {
        // A result goes with its call, also where a journal says otherwise.
        let is_result = |message: &&Message| matches!(message, Message::Tool { .. });
        let replaced = replaced.min(messages.len());
        let replaced = replaced + messages[replaced..].iter().take_while(is_result).count();
        let digest = Message::User { content: digest.to_owned() };
        messages.splice(..replaced, [digest]);
    }
}

/// Returns the bytes of a message, calls included.
fn size(message: &Message) -> usize {
    let calls: usize = message.calls().iter().map(|call| call.arguments.len()).sum();
    message.text().len() + calls
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::protocol::ToolCall;

    fn result(id: &str, length: usize) -> Message {
        let content = "x".repeat(length);
        Message::Tool { call_id: id.to_owned(), name: "terminal".to_owned(), content }
    }

    fn user(length: usize) -> Message {
        Message::User { content: "u".repeat(length) }
    }

    fn call(id: &str) -> Message {
        let calls = vec![ToolCall::new(id, "terminal", &json!({}))];
        Message::Assistant { content: String::new(), reasoning: None, calls }
    }

    #[test]
    fn the_newest_third_or_a_little_more_is_left_alone() {
        let check = |lengths: &[usize], expected| {
            let messages: Vec<Message> = lengths.iter().map(|length| user(*length)).collect();
            assert_eq!(newest(&messages), expected, "{lengths:?}");
        };
        check(&[], 0);
        check(&[100], 0);
        check(&[50, 50], 1);
        check(&[10; 10], 7);
        check(&[10, 10, 980], 2);
        check(&[980, 10, 10], 0);
        assert_eq!(newest(&[user(980), call("a"), result("a", 10)]), 1);
        assert_eq!(newest(&[user(10), call("a"), result("a", 980)]), 2);
    }

    #[test]
    fn a_round_is_never_torn() {
        let messages = [user(1), call("a"), result("a", 1), result("b", 1), call("c"), user(1)];
        let check = |newest, expected| assert_eq!(round_before(&messages, newest), expected);
        check(0, 0);
        check(1, 1);
        check(2, 1);
        check(3, 1);
        check(4, 4);
        check(6, 6);
        check(60, 6);
        assert_eq!(round_before(&[result("a", 1)], 1), 1);
        assert_eq!(round_before(&[result("a", 1)], 0), 0);
    }

    #[test]
    fn results_become_lines_and_the_beginning_becomes_the_digest() {
        let cleared = |message, id: &str| ClearedResult {
            message,
            id: id.to_owned(),
            text: "line".to_owned(),
        };
        let whole = vec![user(1), call("a"), result("a", 9), call("b"), result("b", 9)];
        let mut messages = whole.clone();
        apply(&mut messages, &[cleared(2, "a"), cleared(0, "a"), cleared(9, "b")], None, 3);
        assert_eq!(messages[2].text(), "line");
        assert_eq!((&messages[..2], &messages[3..]), (&whole[..2], &whole[3..]));
        apply(&mut messages, &[cleared(4, "other")], Some("digest"), 3);
        assert_eq!(messages[0], Message::User { content: "digest".to_owned() });
        assert_eq!(messages[1..], whole[3..]);
        apply(&mut messages, &[], Some("all"), 99);
        assert_eq!(messages.len(), 1);
    }

    #[test]
    fn a_line_is_put_once_and_only_where_it_frees_something() {
        let line = "[cleared: terminal `cat a.py`: exit 0, 40 lines]";
        assert!(is_worth_it(&"x\n".repeat(200), line));
        assert!(!is_worth_it(line, line));
        assert!(!is_worth_it("short", line));
    }
}

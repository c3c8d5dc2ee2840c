//! Making room: older results become one line each.
//!
//! What was said, asked and noted stays word for word; only results of tools are shortened, and
//! the newest are left alone. The full results are in the journal.

use crate::protocol::Message;
use crate::support::text::first_line;

/// The share of the conversation, in percent, that is left alone at its end.
const UNTOUCHED: usize = 30;
/// A result of at most so many bytes is not worth shortening.
const SMALL: usize = 400;

/// Shortens older results in place and returns how many.
pub(super) fn shorten(messages: &mut [Message]) -> usize {
    let total: usize = messages.iter().map(|message| message.text().len()).sum();
    let mut ahead = total;
    let mut shortened = 0;
    for message in messages {
        ahead -= message.text().len();
        if ahead * 100 < total * UNTOUCHED {
            break;
        }
        if let Message::Tool { content, .. } = message
            && content.len() > SMALL
        {
            let lines = content.lines().count();
            let first = first_line(content, 200);
            *content =
                format!("{first}\n[shortened: {lines} lines; call again if they are needed]");
            shortened += 1;
        }
    }
    shortened
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn result(length: usize) -> Message {
        let content = format!("first\n{}", "x\n".repeat(length / 2));
        Message::Tool { call_id: "a".to_owned(), name: "terminal".to_owned(), content }
    }

    #[test]
    fn older_results_become_short_and_the_newest_stay() {
        let question = Message::User { content: "the task, word for word ".repeat(20) };
        let mut messages =
            vec![question.clone(), result(5000), result(100), result(2000), result(2000)];
        assert_eq!(shorten(&mut messages), 1);
        assert_eq!(messages[0], question);
        assert_eq!(
            messages[1].text(),
            "first\n[shortened: 2501 lines; call again if they are needed]"
        );
        assert_eq!(messages[2..], [result(100), result(2000), result(2000)]);
    }

    #[test]
    fn nothing_to_shorten_is_left_alone() {
        assert_eq!(shorten(&mut []), 0);
        assert_eq!(shorten(&mut [result(100)]), 0);
    }
}

//! Ids for the calls of models that make up their own: `call_1`, `call_2`, … over a session.

use super::ChatRequest;
use crate::protocol::Message;

const PREFIX: &str = "call_";

/// Returns the number after the highest one that the request holds, so that a session that is
/// resumed with another script goes on counting.
pub(super) fn next_number(request: &ChatRequest) -> usize {
    let number = |id: &str| id.strip_prefix(PREFIX).and_then(|number| number.parse().ok());
    let highest = request.messages.iter().flat_map(|message| match message {
        Message::Assistant { calls, .. } => {
            calls.iter().filter_map(|call| number(&call.id)).collect()
        }
        Message::Tool { call_id, .. } => Vec::from_iter(number(call_id)),
        Message::System { .. } | Message::User { .. } => Vec::new(),
    });
    highest.max().unwrap_or(0usize).saturating_add(1)
}

/// Returns the id of a number.
pub(super) fn id(number: usize) -> String {
    format!("{PREFIX}{number}")
}

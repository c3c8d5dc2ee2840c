//! The newest messages of the conversation (chapter 9.3.3).
//!
//! For callers that send the model a built context alone. Where the messages themselves are sent
//! again, as the maintainer does, this source stays empty, or the model would read them twice.

use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, Utc};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::context::{ContextPacket, ContextSource, PacketKind, Query, SourceFailure};

/// What was said, shared by whoever adds to it; clones are one and the same conversation.
#[derive(Debug, Clone)]
pub struct Conversation {
    said: Arc<Mutex<Vec<Said>>>,
    most: usize,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// `user`, `assistant`.
    pub role: String,
    /// What was said.
    pub text: String,
    /// When.
    pub at: DateTime<Utc>,
}

impl Conversation {
    /// Returns an empty conversation of which the newest `most` messages are offered.
    pub fn with_newest(most: usize) -> Self {
        Self { said: Arc::default(), most }
    }

    /// Adds a message.
    pub fn say(&self, said: Said) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).push(said);
    }
}

impl Default for Conversation {
    fn default() -> Self {
        Self::with_newest(MOST)
    }
}

impl ContextSource for Conversation {
    fn name(&self) -> &'static str {
        "conversation"
    }

    fn gather<'a>(
        &'a self,
        _query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = said.iter().skip(said.len().saturating_sub(self.most));
        let packets = newest
            .map(|said| {
                ContextPacket::new(PacketKind::Conversation, &said.role, &said.text, said.at)
                    .with_relevance(RELEVANCE)
            })
            .collect();
        std::future::ready(Ok(packets)).boxed()
    }
}

/// How many messages are offered; the chapter's default.
const MOST: usize = 5;

/// How relevant every message is; the chapter's value.
const RELEVANCE: f64 = 0.6;

#[cfg(test)]
mod tests {
    use super::super::tests::{gather, now};
    use super::*;

    #[test]
    fn the_newest_five_are_offered_in_their_order() {
        let conversation = Conversation::default();
        for number in 0..8 {
            let said = Said { role: "user".to_owned(), text: number.to_string(), at: now() };
            conversation.clone().say(said);
        }
        let packets = gather(&conversation, "x").unwrap();
        let texts: Vec<&str> = packets.iter().map(|packet| packet.content.as_str()).collect();
        assert_eq!(texts, ["3", "4", "5", "6", "7"]);
        assert_eq!(packets[0].source, "user");
        assert_eq!(packets[0].relevance, Some(0.6));
    }
}

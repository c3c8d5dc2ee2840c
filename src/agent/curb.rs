//! Replies that are larger than the conversation can bear. What a model writes into a call, beside
//! it, or thinks aloud is sent back to it with every request from then on, so one call of megabytes
//! would overfill the window for good: such a call is not run, and what is kept of it says why.
//! Texts are cut.

use super::CodebaseMaintainer;
use crate::model::ChatReply;
use crate::support::text;

/// The share of the window, in percent, that the calls of a reply, the text beside them and what
/// was thought aloud may take each.
const SHARE: u64 = 50;
/// The tokens that they may take where the window is not known.
const WITHOUT_WINDOW: u64 = 100_000;

impl CodebaseMaintainer {
    /// Takes out of a reply with calls what would overfill the window, and says so.
    pub(super) fn curb(&self, reply: &mut ChatReply) {
        if reply.calls.is_empty() {
            return;
        }
        let most = self.window().map_or(WITHOUT_WINDOW, |window| window * SHARE / 100);
        let mut taken = 0;
        for call in &mut reply.calls {
            let tokens = self.tokens_up_to(&call.arguments, most);
            if taken + tokens > most {
                let bytes = call.arguments.len();
                reply.warnings.push(format!(
                    "A call of `{}` had {bytes} bytes, which are too many for the model's window; it was not run.",
                    call.name
                ));
                let told = format!("{bytes} bytes, too many for the window; write less");
                call.arguments = serde_json::json!({ "not_run": told }).to_string();
            } else {
                taken += tokens;
            }
        }
        let room = usize::try_from(most).unwrap_or(usize::MAX);
        for text in std::iter::once(&mut reply.text).chain(&mut reply.reasoning) {
            if self.tokens_up_to(text, most) > most {
                let hint = "too long for the window";
                *text = text::cut(text, room, &self.counter, hint).to_string();
            }
        }
    }

    /// Counts a text; one that is certainly longer than `most` is not counted to its end.
    fn tokens_up_to(&self, text: &str, most: u64) -> u64 {
        /// The bytes of a token at the most, as far as anybody writes.
        const LONGEST_TOKEN: u64 = 128;
        if text.len() as u64 > (most + 1).saturating_mul(LONGEST_TOKEN) {
            return most + 1;
        }
        self.counter.count(text) as u64
    }
}

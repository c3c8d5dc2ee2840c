//! Notices a server that cuts the front of a prompt in silence: it answers 200, and only its count
//! of the prompt is too small.
//!
//! Tokenizers differ, so the server's counts are first put in relation to ours; and some servers
//! do not count the tools, or drop what was thought aloud, so that only the rest of the messages
//! proves anything.

use crate::model::counted::Counted;

/// Below this share of what was sent, the prompt was cut.
const SUSPICIOUS: f64 = 0.7;

/// Shorter prompts prove nothing: templates and tokenizers weigh too much.
const SHORT: u64 = 2000;

/// How far a foreign tokenizer may differ from ours and still be believed.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.75..=1.3;

/// The relation of a server's counts to ours.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Calibration {
    ratio: Option<f64>,
}

/// A prompt of which a part is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PromptCut {
    /// Our count.
    pub(super) sent: u64,
    /// The server's count.
    pub(super) read: u64,
}

impl Calibration {
    /// Compares the two counts of one prompt. The first that was read whole sets the relation.
    #[expect(clippy::cast_precision_loss, reason = "no prompt has 2^52 tokens")]
    pub(super) fn compare(&mut self, sent: Counted, read: u64) -> Option<PromptCut> {
        if sent.messages == 0 || read == 0 {
            return None;
        }
        let read_share = read as f64 / sent.messages as f64;
        if sent.messages > SHORT && read_share < SUSPICIOUS * self.ratio.unwrap_or(1.0) {
            return Some(PromptCut { sent: sent.total(), read });
        }
        if self.ratio.is_none() {
            let ratio = read as f64 / sent.total() as f64;
            self.ratio = Some(ratio.clamp(*PLAUSIBLE.start(), *PLAUSIBLE.end()));
        }
        None
    }
}

impl std::fmt::Display for PromptCut {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            formatter,
            "the server read only {} of about {} tokens: it cuts the prompt in silence, so that \
             nothing in this turn counts as verified; give it a larger window or set \
             `endpoint.window`",
            self.read, self.sent
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(messages: u64) -> Counted {
        Counted { messages, tools: 0 }
    }

    #[test]
    fn half_a_prompt_is_noticed() {
        let cut = Calibration::default().compare(messages(39_000), 16_386).unwrap();
        assert_eq!((cut.sent, cut.read), (39_000, 16_386));
    }

    #[test]
    fn another_tokenizer_is_no_cut() {
        let mut calibration = Calibration::default();
        assert_eq!(calibration.compare(messages(1000), 760), None);
        assert_eq!(calibration.compare(messages(10_000), 6_000), None, "0.79 of the usual");
        assert!(calibration.compare(messages(10_000), 5_000).is_some());
    }

    #[test]
    fn tools_that_are_not_counted_are_no_cut() {
        let sent = Counted { messages: 2100, tools: 1500 };
        assert_eq!(Calibration::default().compare(sent, 2080), None);
    }

    #[test]
    fn short_prompts_and_missing_counts_prove_nothing() {
        let mut calibration = Calibration::default();
        for (sent, read) in [(2000, 100), (5000, 0), (0, 10)] {
            assert_eq!(calibration.compare(messages(sent), read), None);
        }
    }

    #[test]
    fn a_cut_first_prompt_does_not_become_the_measure() {
        let mut calibration = Calibration::default();
        assert!(calibration.compare(messages(8000), 2050).is_some());
        assert!(calibration.compare(messages(8000), 2050).is_some());
    }
}

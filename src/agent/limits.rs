//! What ends a turn: steps, time, tokens, replies and commands that come to nothing.

use std::time::Duration;

use super::Compaction;
use crate::protocol::{StopReason, ToolFailureKind};

/// The limits of a turn, all on by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Calls of the model.
    pub steps: u64,
    /// Wall-clock time.
    pub time: Duration,
    /// Tokens of all prompts.
    pub prompt_tokens: u64,
    /// Replies in a row that could not be used.
    pub unusable_replies: u64,
    /// Refused commands in a row.
    pub refused_commands: u64,
    /// Tokens of one tool result, for the model.
    pub tool_output_tokens: usize,
    /// The model's window in tokens, where it is smaller than the model says or the model says
    /// nothing; 0 for the model's own.
    pub window: usize,
    /// Commits that are told of the files that a question is about; 0 for none.
    pub commits: usize,
    /// Who words what older messages came to when they make room.
    pub compaction: Compaction,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            steps: 40,
            time: Duration::from_secs(900),
            prompt_tokens: 300_000,
            unusable_replies: 3,
            refused_commands: 8,
            tool_output_tokens: 8000,
            window: 0,
            commits: 5,
            compaction: Compaction::Digest,
        }
    }
}

/// How much of the limits a turn has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) steps: u64,
    pub(super) time: Duration,
    pub(super) prompt_tokens: u64,
    pub(super) unusable_replies: u64,
    pub(super) refused_commands: u64,
}

impl Used {
    /// Counts what came of a call: refusals in a row.
    pub(super) fn refused(&mut self, failure: Option<ToolFailureKind>) {
        match failure {
            Some(ToolFailureKind::Refused) => self.refused_commands += 1,
            None => self.refused_commands = 0,
            Some(_) => {}
        }
    }
}

/// The shares of a limit, in percent, at which the model is told.
const REMINDERS: [u64; 3] = [50, 80, 95];

impl Limits {
    /// Returns the limit that is reached, if one is.
    pub(super) fn reached(&self, used: &Used) -> Option<StopReason> {
        if used.steps >= self.steps {
            Some(StopReason::StepLimit)
        } else if used.time >= self.time {
            Some(StopReason::TimeLimit)
        } else if used.prompt_tokens >= self.prompt_tokens {
            Some(StopReason::TokenLimit)
        } else if used.unusable_replies >= self.unusable_replies {
            Some(StopReason::UnusableReplies)
        } else if used.refused_commands >= self.refused_commands {
            Some(StopReason::RefusalLimit)
        } else {
            None
        }
    }

    /// Returns the largest share used, in percent, with its words, if it has passed a mark that it
    /// had not passed when `told` percent were told.
    pub(super) fn reminder(&self, used: &Used, told: u64) -> Option<(u64, String)> {
        let (percent, what) = self.shares(used).into_iter().max_by_key(|(percent, _)| *percent)?;
        let mark = REMINDERS.into_iter().rev().find(|mark| percent >= *mark)?;
        (mark > told).then_some((mark, what))
    }

    /// Returns each limit's used share in percent, with its words.
    pub(super) fn shares(&self, used: &Used) -> [(u64, String); 3] {
        let percent = |used: u64, most: u64| used.saturating_mul(100) / most.max(1);
        let (seconds, most) = (used.time.as_secs(), self.time.as_secs());
        [
            (percent(used.steps, self.steps), format!("{} of {} steps", used.steps, self.steps)),
            (percent(seconds, most), format!("{seconds} of {most} seconds")),
            (
                percent(used.prompt_tokens, self.prompt_tokens),
                format!("{} of {} prompt tokens", used.prompt_tokens, self.prompt_tokens),
            ),
        ]
    }

    /// Returns a limit that was reached, in words.
    pub(super) fn words(&self, reason: StopReason) -> String {
        match reason {
            StopReason::StepLimit => format!("{} steps", self.steps),
            StopReason::TimeLimit => format!("{} seconds", self.time.as_secs()),
            StopReason::TokenLimit => format!("{} prompt tokens", self.prompt_tokens),
            StopReason::UnusableReplies => {
                format!("{} replies in a row that could not be used", self.unusable_replies)
            }
            StopReason::RefusalLimit => {
                format!("{} refused commands in a row", self.refused_commands)
            }
            StopReason::LoopDetected => "the same call gave the same result again and again".into(),
            StopReason::WindowFull => {
                "the model's window is full, and making room twice freed next to nothing".into()
            }
            StopReason::Answered | StopReason::Cancelled | StopReason::Failed => {
                reason.name().to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(steps: u64) -> Used {
        Used { steps, ..Used::default() }
    }

    #[test]
    fn each_limit_ends_the_turn_for_its_own_reason() {
        let limits = Limits::default();
        let check = |used: Used, expected| assert_eq!(limits.reached(&used), expected);
        check(steps(39), None);
        check(steps(40), Some(StopReason::StepLimit));
        check(
            Used { time: Duration::from_secs(900), ..Used::default() },
            Some(StopReason::TimeLimit),
        );
        check(Used { prompt_tokens: 300_000, ..Used::default() }, Some(StopReason::TokenLimit));
        check(Used { unusable_replies: 3, ..Used::default() }, Some(StopReason::UnusableReplies));
        check(Used { refused_commands: 8, ..Used::default() }, Some(StopReason::RefusalLimit));
    }

    #[test]
    fn the_model_is_told_at_50_80_and_95_percent_and_once_each() {
        let limits = Limits::default();
        assert_eq!(limits.reminder(&steps(19), 0), None);
        assert_eq!(limits.reminder(&steps(20), 0), Some((50, "20 of 40 steps".to_owned())));
        assert_eq!(limits.reminder(&steps(31), 50), None);
        assert_eq!(limits.reminder(&steps(32), 50), Some((80, "32 of 40 steps".to_owned())));
        assert_eq!(limits.reminder(&steps(38), 80), Some((95, "38 of 40 steps".to_owned())));
        assert_eq!(limits.reminder(&steps(39), 95), None);
    }
}

//! What a turn knows of itself while it runs.

use std::time::Duration;

use super::limits::Used;
use super::loop_guard::LoopGuard;
use super::{Mode, Request};

/// A turn in progress.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) number: u64,
    pub(super) mode: Mode,
    pub(super) request: Request,
    /// The running time of the clock when the turn began.
    pub(super) began: Duration,
    /// Whether its context is part of the conversation already.
    pub(super) built: bool,
    /// Where its events begin among those of the session.
    pub(super) first_event: usize,
    pub(super) used: Used,
    /// The highest mark of a limit that the model was told, in percent.
    pub(super) told: u64,
    pub(super) guard: LoopGuard,
    /// The answer, once there is one; what follows it is after-care.
    pub(super) answer: Option<String>,
    /// What the model had said when the turn was cut off.
    pub(super) partial: String,
    /// How many compactions in a row freed next to nothing.
    pub(super) idle_compactions: u64,
}

impl Turn {
    pub(super) fn new(number: u64, request: Request, began: Duration, first_event: usize) -> Self {
        Self {
            number,
            mode: request.mode,
            request,
            began,
            built: false,
            first_event,
            used: Used::default(),
            told: 0,
            guard: LoopGuard::default(),
            answer: None,
            partial: String::new(),
            idle_compactions: 0,
        }
    }
}

//! Lets a test stop or fail a write before its nth system call, on its own thread.

use std::cell::Cell;
use std::io;

/// What happens at the chosen step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// As by `kill -9`: nothing after it happens, not even tidying up.
    Stop,
    /// The disk is full at this one call.
    DiskFull,
}

thread_local! {
    static PLAN: Cell<Option<(usize, Fault)>> = const { Cell::new(None) };
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// Runs `work` with a fault before the `nth` step, from 0; tells whether it came that far.
pub(crate) fn at_step<T>(nth: usize, fault: Fault, work: impl FnOnce() -> T) -> (T, bool) {
    PLAN.set(Some((nth, fault)));
    STEPS.set(0);
    let result = work();
    PLAN.set(None);
    (result, STEPS.get() > nth)
}

pub(super) fn step() -> io::Result<()> {
    let at = STEPS.get();
    STEPS.set(at + 1);
    match PLAN.get() {
        Some((nth, Fault::Stop)) if at >= nth => Err(io::Error::other("stopped")),
        Some((nth, Fault::DiskFull)) if at == nth => Err(io::ErrorKind::StorageFull.into()),
        _ => Ok(()),
    }
}

pub(super) fn is_stopped() -> bool {
    matches!(PLAN.get(), Some((nth, Fault::Stop)) if STEPS.get() > nth)
}

//! The processes of one line: who is alive, and the one switch that ends them all.
//!
//! What always holds: once stopped, nothing starts any more; a number is only signalled while its
//! process has not been waited for, so it can never be somebody else's.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ExitStatus};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// Why a line was ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The wall-clock limit.
    TimedOut,
    /// The output limit.
    Full,
    /// A person, or a caller that lost interest.
    Cancelled,
}

/// The processes of a line.
#[derive(Debug)]
pub(super) struct Children {
    state: Mutex<State>,
    wake_read: PipeReader,
    wake_write: PipeWriter,
}

#[derive(Debug, Default)]
struct State {
    alive: Vec<Pid>,
    stopped: Option<Stop>,
}

impl Children {
    /// Returns a line without processes.
    pub(super) fn new() -> io::Result<Self> {
        let (wake_read, wake_write) = io::pipe()?;
        Ok(Self { state: Mutex::default(), wake_read, wake_write })
    }

    /// Starts a process and remembers it; refuses when the line was stopped.
    pub(super) fn start(&self, start: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
        // The lock is held over the start: a stop comes before it or finds the process.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stopped.is_some() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the line was stopped"));
        }
        let child = start()?;
        state.alive.extend(pid(&child));
        Ok(child)
    }

    /// Waits for a process to end.
    pub(super) fn wait(&self, child: &mut Child) -> io::Result<ExitStatus> {
        if let Some(pid) = pid(child) {
            // Its number stays taken until it is waited for below, under the lock.
            while waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
                .is_err_and(|error| error == rustix::io::Errno::INTR)
            {}
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.alive.retain(|alive| *alive != pid);
            // Whatever it left in its group, where there is no jail, ends with it.
            let _ = kill_process_group(pid, Signal::KILL);
            return child.wait();
        }
        child.wait()
    }

    /// Ends every process of the line, with its whole group, and lets none start any more. The
    /// first reason stays.
    pub(super) fn stop(&self, reason: Stop) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let first = state.stopped.is_none();
        state.stopped.get_or_insert(reason);
        for pid in &state.alive {
            // It may have ended by itself a moment ago, which is as good.
            let _ = kill_process_group(*pid, Signal::KILL);
        }
        drop(state);
        if first {
            // One byte fits into an empty pipe, and its readers are ours.
            let _ = rustix::io::write(&self.wake_write, b".");
        }
    }

    /// Returns why the line was stopped.
    pub(super) fn stopped(&self) -> Option<Stop> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).stopped
    }

    /// Returns what becomes readable when the line is stopped.
    pub(super) fn wake(&self) -> BorrowedFd<'_> {
        self.wake_read.as_fd()
    }
}

fn pid(child: &Child) -> Option<Pid> {
    i32::try_from(child.id()).ok().and_then(Pid::from_raw)
}

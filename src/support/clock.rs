//! The time, behind a trait, so that a scenario of several days is one deterministic test.
//!
//! Nothing else in the program asks the system for the time.

use std::time::{Duration, Instant};

use chrono::{DateTime, FixedOffset, Local, Utc};

/// Tells the time.
///
/// Implemented by [`SystemClock`] and [`FixedClock`]. A clock never waits.
pub trait Clock: Send + Sync {
    /// Returns the local time with its offset.
    fn now(&self) -> DateTime<FixedOffset>;

    /// Returns how long the clock has been running; never goes back.
    fn running(&self) -> Duration;

    /// Returns the time in UTC.
    fn utc(&self) -> DateTime<Utc> {
        self.now().to_utc()
    }
}

/// The system's clock.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    started: Instant,
}

impl Default for SystemClock {
    fn default() -> Self {
        Self { started: Instant::now() }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the system")]
    fn now(&self) -> DateTime<FixedOffset> {
        Local::now().fixed_offset()
    }

    fn running(&self) -> Duration {
        self.started.elapsed()
    }
}

/// A clock that stands still.
#[derive(Debug, Clone, Copy)]
pub struct FixedClock {
    at: DateTime<FixedOffset>,
}

impl FixedClock {
    /// Returns a clock that always shows `at`.
    pub fn at(at: DateTime<FixedOffset>) -> Self {
        Self { at }
    }
}

impl Clock for FixedClock {
    fn now(&self) -> DateTime<FixedOffset> {
        self.at
    }

    fn running(&self) -> Duration {
        Duration::ZERO
    }
}

//! Ctrl-C and termination: once stops what is waited for, twice within two seconds ends the
//! program.

use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{CliError, ExitKind};

/// Within this time a second Ctrl-C does not wait for the work any more.
pub(super) const TWICE: Duration = Duration::from_secs(2);

/// How long the work may take to save what it has when the program is asked to end.
const TO_END: Duration = Duration::from_secs(2);

/// Runs `work` and cancels `cancel` at the first signal; a second one, or one that asks to
/// terminate, does not wait for the work.
pub(super) async fn guarded<T, E: Into<CliError>>(
    cancel: &CancellationToken,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, CliError> {
    Signals::listen().guard(cancel, work).await
}

/// What the system tells the program to do. From the first time on that somebody listens, Ctrl-C
/// does nothing by itself, so whoever listens goes on listening until the end.
pub(super) struct Signals {
    #[cfg(unix)]
    interrupt: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
}

/// A signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Ctrl-C.
    Interrupt,
    /// Asked to end.
    Terminate,
}

impl Told {
    /// Returns what the program ends with.
    pub(super) fn error(self) -> CliError {
        match self {
            Self::Interrupt => CliError::new(ExitKind::Interrupted, "interrupted"),
            Self::Terminate => CliError::new(ExitKind::Terminated, "terminated"),
        }
    }
}

impl Signals {
    /// Listens from now on.
    pub(super) fn listen() -> Self {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            let interrupt = signal(SignalKind::interrupt()).ok();
            Self { interrupt, terminate: signal(SignalKind::terminate()).ok() }
        }
        #[cfg(not(unix))]
        Self {}
    }

    /// Waits for the next signal; for ever where none can be listened to.
    pub(super) async fn next(&mut self) -> Told {
        #[cfg(unix)]
        {
            let Self { interrupt, terminate } = self;
            tokio::select! {
                () = one(interrupt) => Told::Interrupt,
                () = one(terminate) => Told::Terminate,
            }
        }
        #[cfg(not(unix))]
        {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            Told::Interrupt
        }
    }

    /// Runs `work` and cancels `cancel` at the first signal; a second one within two seconds, or
    /// one that asks to terminate, does not wait for the work.
    pub(super) async fn guard<T, E: Into<CliError>>(
        &mut self,
        cancel: &CancellationToken,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, CliError> {
        tokio::pin!(work);
        let mut told = tokio::select! {
            done = &mut work => return done.map_err(Into::into),
            told = self.next() => told,
        };
        loop {
            cancel.cancel();
            if told == Told::Terminate {
                return match timeout(TO_END, &mut work).await {
                    Ok(Err(error)) => Err(error.into()),
                    Ok(Ok(_)) | Err(_) => Err(told.error()),
                };
            }
            let pressed = tokio::time::Instant::now();
            told = tokio::select! {
                done = &mut work => return done.map_err(Into::into),
                told = self.next() => told,
            };
            if told == Told::Interrupt && pressed.elapsed() <= TWICE {
                return Err(told.error());
            }
        }
    }
}

#[cfg(unix)]
async fn one(signal: &mut Option<tokio::signal::unix::Signal>) {
    if let Some(signal) = signal
        && signal.recv().await.is_some()
    {
        return;
    }
    std::future::pending::<()>().await;
}

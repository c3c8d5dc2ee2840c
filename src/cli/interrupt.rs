//! Ctrl-C and termination: once stops what is waited for, twice within two seconds ends the
//! program.

use std::time::Duration;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::{CliError, ExitKind};

/// Runs `work` and cancels `cancel` at the first signal; a second one, or one that asks to
/// terminate, does not wait for the work.
pub(super) async fn guarded<T>(
    cancel: &CancellationToken,
    work: impl Future<Output = Result<T, CliError>>,
) -> Result<T, CliError> {
    tokio::pin!(work);
    let mut terminate = Terminate::listen();
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = interrupted() => {
                cancel.cancel();
                tokio::select! {
                    done = &mut work => return done,
                    twice = timeout(Duration::from_secs(2), interrupted()) => if twice.is_ok() {
                        return Err(CliError::new(ExitKind::Interrupted, "interrupted"));
                    },
                }
            }
            () = terminate.asked() => {
                cancel.cancel();
                return match timeout(Duration::from_secs(2), &mut work).await {
                    Ok(Err(error)) => Err(error),
                    Ok(Ok(_)) | Err(_) => Err(CliError::new(ExitKind::Terminated, "terminated")),
                };
            }
        }
    }
}

/// Waits for Ctrl-C; for ever where it cannot be listened to.
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Listens for a request to terminate.
struct Terminate {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Terminate {
    fn listen() -> Self {
        Self {
            #[cfg(unix)]
            signal: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).ok(),
        }
    }

    async fn asked(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal {
            signal.recv().await;
            return;
        }
        std::future::pending::<()>().await;
    }
}

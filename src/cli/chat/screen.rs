//! The terminal while nobody edits a line: what is typed during a turn is not echoed into the
//! answer and waits for the next prompt, a paste in one piece; and at the end it is as it was.

#[cfg(unix)]
use std::io::{self, Write};

/// The terminal as it was found; puts it back when dropped.
pub(super) struct Screen {
    #[cfg(unix)]
    found: Option<rustix::termios::Termios>,
}

impl Screen {
    /// Looks at the terminal.
    pub(super) fn find() -> Self {
        Self {
            #[cfg(unix)]
            found: rustix::termios::tcgetattr(io::stdin()).ok(),
        }
    }

    /// Echoes nothing until the value returned is dropped.
    #[cfg(unix)]
    pub(super) fn hush(&self) -> Hushed<'_> {
        use rustix::termios::{LocalModes, OptionalActions, tcsetattr};
        if let Some(found) = &self.found {
            let mut hushed = found.clone();
            hushed.local_modes.remove(LocalModes::ECHO);
            // Otherwise it is echoed, which is ugly and no more.
            tcsetattr(io::stdin(), OptionalActions::Now, &hushed).ok();
            mark_pastes(PASTES_ON);
        }
        Hushed(self)
    }

    /// Echoes nothing until the value returned is dropped.
    #[cfg(not(unix))]
    pub(super) fn hush(&self) -> Hushed<'_> {
        Hushed(self)
    }

    fn restore(&self) {
        #[cfg(unix)]
        if let Some(found) = &self.found {
            use rustix::termios::{OptionalActions, tcsetattr};
            tcsetattr(io::stdin(), OptionalActions::Now, found).ok();
            mark_pastes(PASTES_OFF);
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.restore();
    }
}

/// A terminal that echoes nothing.
pub(super) struct Hushed<'a>(&'a Screen);

impl Drop for Hushed<'_> {
    fn drop(&mut self) {
        self.0.restore();
    }
}

/// Makes the terminal put marks around what is pasted.
#[cfg(unix)]
const PASTES_ON: &str = "\x1b[?2004h";
#[cfg(unix)]
const PASTES_OFF: &str = "\x1b[?2004l";

/// Writes to the terminal itself, also when both outputs go elsewhere.
#[cfg(unix)]
fn mark_pastes(sequence: &str) {
    if let Ok(mut terminal) = std::fs::OpenOptions::new().write(true).open("/dev/tty") {
        terminal.write_all(sequence.as_bytes()).ok();
    }
}

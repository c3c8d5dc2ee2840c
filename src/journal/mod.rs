//! What happened: each session's events as JSON lines, and nothing else.
//!
//! The journal is the truth: transcript, report and statistics are folds over it. A line is
//! appended in one write; what a user relies on (a reply, a result, a note, the end of a turn) is
//! on disk before the program goes on. The journal never interprets what it keeps.

mod error;
mod owner;
mod read;
mod sessions;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use error::JournalError;
pub use read::{BadLine, Reading, read};
pub use sessions::{SessionSummary, Sessions};

use crate::protocol::{Event, EventKind, EventSink};

/// The file's name in a session's folder.
pub const FILE_NAME: &str = "journal.jsonl";

/// Appends the events of one session.
#[derive(Debug)]
pub struct Journal {
    file: File,
    folder: PathBuf,
    /// The last write may have left half a line: the next one starts on a line of its own.
    torn: bool,
}

impl Journal {
    /// Opens the journal of a session's folder for appending, made if it is not there. One process
    /// has it at a time, and the kernel gives it back when that process ends, however it ends.
    pub fn open(folder: &Path) -> Result<Self, JournalError> {
        let path = folder.join(FILE_NAME);
        let file = loop {
            let open = OpenOptions::new().create(true).append(true).open(&path);
            let file = open.map_err(|source| JournalError::io("opening", &path, source))?;
            match file.try_lock() {
                // A repair may have put a new file there between opening and locking.
                Ok(()) if !is_at(&file, &path) => {}
                Ok(()) => break file,
                Err(TryLockError::WouldBlock) => {
                    return Err(JournalError::InUse { owner: owner::read(folder) });
                }
                Err(TryLockError::Error(source)) => {
                    return Err(JournalError::io("locking", &path, source));
                }
            }
        };
        owner::write(folder);
        let torn = !read::ends_with_a_line(&path)
            .map_err(|source| JournalError::io("reading", &path, source))?;
        Ok(Self { file, folder: folder.to_owned(), torn })
    }

    /// Returns the session's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl EventSink for Journal {
    fn emit(&mut self, event: &Event) -> io::Result<()> {
        if event.kind.is_passing() {
            return Ok(());
        }
        let mut line = Vec::with_capacity(256);
        if self.torn {
            line.push(b'\n');
        }
        serde_json::to_writer(&mut line, event)?;
        line.push(b'\n');
        self.torn = true;
        self.file.write_all(&line)?;
        self.torn = false;
        if must_be_on_disk(&event.kind) {
            self.file.sync_data()?;
        }
        Ok(())
    }
}

/// Returns whether a file is still the one at its path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

/// Returns whether the program may go on only when the event is on disk.
fn must_be_on_disk(kind: &EventKind) -> bool {
    match kind {
        EventKind::SessionStarted { .. }
        | EventKind::TurnStarted { .. }
        | EventKind::ContextBuilt { .. }
        | EventKind::ContextCompacted { .. }
        | EventKind::ModelReplied { .. }
        | EventKind::ToolFinished { .. }
        | EventKind::NoteChanged(_)
        | EventKind::AnswerChecked { .. }
        | EventKind::TurnFinished { .. } => true,
        EventKind::CommandFinished(_)
        | EventKind::ModelAsked { .. }
        | EventKind::ModelDelta { .. }
        | EventKind::ModelRestarted
        | EventKind::ModelWaiting { .. }
        | EventKind::ToolStarted { .. }
        | EventKind::LoopSaid { .. }
        | EventKind::Warning { .. } => false,
    }
}

#[cfg(test)]
mod tests;

//! Why an operation on notes did not happen. Nothing was changed by one that failed.

use std::io;
use std::path::PathBuf;

use super::note::{NoteKind, Status};

/// Why an operation on notes did not happen.
#[derive(Debug, thiserror::Error)]
pub enum NoteError {
    /// A value cannot be taken.
    #[error("`{field}` {problem}")]
    BadValue {
        /// The argument's name.
        field: &'static str,
        /// What is wrong, and what is allowed.
        problem: String,
    },
    /// That is no id.
    #[error("`{0}` is not the id of a note")]
    BadId(String),
    /// There is no such note.
    #[error("there is no note `{0}`")]
    NotFound(String),
    /// More than one note has an id like that.
    #[error("`{part}` could be {}", list(.candidates))]
    Ambiguous {
        /// What was asked for.
        part: String,
        /// The ids that it could be, at most five.
        candidates: Vec<String>,
    },
    /// No such type.
    #[error("`{0}` is not a type of note; the types are {kinds}", kinds = list(&NoteKind::ALL.map(NoteKind::as_str)))]
    UnknownKind(String),
    /// No such status.
    #[error("`{0}` is not a status; it is one of {known}", known = list(&Status::ALL.map(Status::as_str)))]
    UnknownStatus(String),
    /// The file cannot be understood, so it is not touched.
    #[error("`{file}` cannot be understood, so it was left alone: {problem}")]
    Unreadable {
        /// The file's name.
        file: String,
        /// What is wrong, with the line.
        problem: String,
    },
    /// The new body would lose most of the old one.
    #[error("the new content would delete {percent} % of the body of `{id}`")]
    DeletesMost {
        /// The note.
        id: String,
        /// How much of it.
        percent: usize,
    },
    /// The file changed since it was read, in the same place.
    #[error("`{id}` changed since it was read, in the same place")]
    Conflict {
        /// The note.
        id: String,
        /// What is on disk against what was wanted.
        diff: String,
    },
    /// Something secret would be written down.
    #[error("line {line} of the {place} looks like {what}, and notes go into Git")]
    Secret {
        /// `title`, `tags`, `front matter` or `content`.
        place: &'static str,
        /// The line, from 1.
        line: usize,
        /// What it looks like; never the secret.
        what: &'static str,
    },
    /// The dependencies would go round in a circle.
    #[error("these notes would wait for each other: {}", .0.join(" → "))]
    Cycle(Vec<String>),
    /// There is nothing to undo.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// The note changed after what would be undone.
    #[error("`{0}` was changed after that, so it was left alone")]
    ChangedAfter(String),
    /// Another process holds the lock.
    #[error("another process is writing notes in `{}` and did not finish in {seconds} seconds", .folder.display())]
    Locked {
        /// The notes folder.
        folder: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The folder cannot be one of notes.
    #[error("`{}` {problem}", .folder.display())]
    BadFolder {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        problem: &'static str,
    },
    /// The system refused.
    #[error("{doing} `{}` failed: {source}", .path.display())]
    Io {
        /// What was tried: `reading`, `writing`.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl NoteError {
    /// Returns a constructor for what the system refuses, to be handed to `map_err`.
    pub(crate) fn io(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }

    /// Returns what a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::BadId(_) => {
                Some("an id looks like `note_20250119_153000_0`; its start or end is enough")
            }
            Self::NotFound(_) => Some("`groundskeeper notes list` shows the notes there are"),
            Self::Ambiguous { .. } => Some("write more of the id"),
            Self::Unreadable { .. } => {
                Some("`groundskeeper notes doctor` shows what is wrong with it")
            }
            Self::DeletesMost { .. } => Some(
                "`--force` does it all the same; `groundskeeper notes undo` brings the old body back",
            ),
            Self::Conflict { .. } => Some("read the note again and repeat the change"),
            Self::Secret { .. } => Some("write down where the secret is kept, not what it is"),
            Self::ChangedAfter(_) => {
                Some("the former bytes are kept in the `.trash` folder beside the notes")
            }
            Self::BadValue { .. }
            | Self::UnknownKind(_)
            | Self::UnknownStatus(_)
            | Self::Cycle(_)
            | Self::NothingToUndo
            | Self::Locked { .. }
            | Self::BadFolder { .. }
            | Self::Io { .. } => None,
        }
    }
}

fn list<T: AsRef<str>>(names: &[T]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

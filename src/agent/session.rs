//! The session that a maintainer writes into: begun with its first turn, or taken up again.

use std::path::{Path, PathBuf};

use super::CodebaseMaintainer;
use crate::journal::{Journal, Sessions};
use crate::protocol::{Event, EventKind, SCHEMA_VERSION};
use crate::support::atomic_file;

/// A session: a name, and a folder if it can be saved.
#[derive(Debug, Default)]
pub(super) struct Session {
    id: String,
    folder: Option<PathBuf>,
    turns: u64,
}

impl Session {
    /// Makes this the session of that id, which has had so many turns.
    pub(super) fn take_up(&mut self, id: String, folder: PathBuf, turns: u64) {
        *self = Self { id, folder: Some(folder), turns };
    }

    /// Returns the id; empty before the first turn.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the folder, if the session is saved.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Returns how many turns it has had.
    pub(super) fn turns(&self) -> u64 {
        self.turns
    }

    /// Counts one turn more.
    pub(super) fn next_turn(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }
}

impl CodebaseMaintainer {
    /// Begins the session if it has not begun. One that cannot be saved goes on in memory.
    pub(super) fn begin_session(&mut self) {
        if !self.session.id.is_empty() {
            // A journal may have been killed before its first line, or have lost it.
            let says = |event: &Event| matches!(event.kind, EventKind::SessionStarted { .. });
            if !self.recorder.events().iter().any(says) {
                self.tell_what_it_is();
            }
            return;
        }
        let now = self.clock.now();
        let sessions = Sessions::at(self.state.sessions());
        let prepared = self.state.prepare().map_err(|error| error.to_string());
        let opened = prepared.and_then(|()| {
            self.state.keep_project(&self.project);
            let id = sessions.create(now).map_err(|error| error.to_string())?;
            let journal = Journal::open(&sessions.path(&id)).map_err(|error| error.to_string())?;
            Ok((id, journal))
        });
        let lost = match opened {
            Ok((id, journal)) => {
                self.session.folder = Some(journal.folder().to_owned());
                self.session.id = id;
                self.recorder.write_into(journal);
                None
            }
            Err(reason) => {
                self.session.id = now.format("session_%Y%m%d_%H%M%S").to_string();
                Some(reason)
            }
        };
        self.tell_what_it_is();
        if let Some(reason) = lost {
            self.recorder.lose(&reason);
        }
    }

    fn tell_what_it_is(&mut self) {
        self.recorder.emit(EventKind::SessionStarted {
            schema: SCHEMA_VERSION,
            session: self.session.id.clone(),
            project: self.project.clone(),
            model: self.model.name().to_owned(),
            language: self.language().code().to_owned(),
        });
    }

    /// Keeps the whole of a result that was cut for the model; returns where, as the terminal
    /// reads it.
    pub(super) fn keep_output(&mut self, call_id: &str, full: &str) -> Option<String> {
        let path = self.output_path(call_id)?;
        let kept = std::fs::create_dir_all(path.parent()?)
            .and_then(|()| atomic_file::replace(&path, full.as_bytes()));
        match kept {
            Ok(()) => Some(self.shown(&path)),
            Err(error) => {
                self.recorder.lose_part("The whole of an output", &error.to_string());
                None
            }
        }
    }

    /// Returns where the whole of a result is, if it was kept, and how many lines it has.
    pub(super) fn kept_output(&self, call_id: &str) -> Option<(String, usize)> {
        let whole = self.whole_output(call_id)?;
        Some((self.shown(&self.output_path(call_id)?), whole.lines().count()))
    }

    /// Returns the whole of a result, if it was kept.
    pub(super) fn whole_output(&self, call_id: &str) -> Option<String> {
        let whole = std::fs::read(self.output_path(call_id)?).ok()?;
        Some(String::from_utf8_lossy(&whole).into_owned())
    }

    fn output_path(&self, call_id: &str) -> Option<PathBuf> {
        let safe = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let name: String = call_id.chars().map(safe).take(80).collect();
        Some(self.session.folder()?.join("outputs").join(format!("{name}.txt")))
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.workspace.root()).unwrap_or(path).display().to_string()
    }
}

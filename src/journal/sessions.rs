//! The folder of all sessions: names, order, search.
//!
//! A folder that was asked for may hold the sessions of several projects. Those of another project
//! are not listed, not the newest and not remembered, but found by their id. A session that does not
//! say whose it is counts as this project's.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use chrono::{DateTime, FixedOffset, Utc};
use serde::Serialize;

use super::read::parse;
use super::{FILE_NAME, Journal, JournalError, Reading, read};
use crate::protocol::{Event, EventKind};
use crate::support::atomic_file;
use crate::support::state_folder::StateFolder;

/// `sessions/` of a state folder. Nothing is made until a session begins.
#[derive(Debug, Clone)]
pub struct Sessions {
    folder: PathBuf,
    /// Whose they are, where others have theirs too.
    project: Option<String>,
}

/// A session in one row of a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SessionSummary {
    /// The id.
    pub id: String,
    /// When it began.
    pub started: Option<DateTime<Utc>>,
    /// The model of its last turn.
    pub model: String,
    /// How many turns it has.
    pub turns: usize,
    /// Its first question.
    pub question: String,
    /// How its last turn ended: a reason, or `unfinished`.
    pub state: String,
    /// Lines of the journal that cannot be read.
    pub bad_lines: usize,
}

impl Sessions {
    /// Returns the sessions of a folder, which need not exist.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), project: None }
    }

    /// Returns the sessions of a project.
    pub fn of(state: &StateFolder, project: &str) -> Self {
        let project = (!state.is_of_workspace()).then(|| project.to_owned());
        Self { folder: state.sessions(), project }
    }

    /// Makes the folder of a new session, `session_<date>_<time>` with a number behind when the
    /// name is taken, and returns its id.
    pub fn create(&self, now: DateTime<FixedOffset>) -> Result<String, JournalError> {
        std::fs::create_dir_all(&self.folder)
            .map_err(|source| JournalError::io("creating", &self.folder, source))?;
        let stem = now.format("session_%Y%m%d_%H%M%S").to_string();
        for number in 1_u32.. {
            let id = if number == 1 { stem.clone() } else { format!("{stem}_{number}") };
            let path = self.folder.join(&id);
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(id),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(JournalError::io("creating", &path, source)),
            }
        }
        Ok(stem)
    }

    /// Returns the folder of a session.
    pub fn path(&self, id: &str) -> PathBuf {
        self.folder.join(id)
    }

    /// Returns the ids of all sessions, oldest first.
    pub fn ids(&self) -> Result<Vec<String>, JournalError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(JournalError::io("reading", &self.folder, source)),
        };
        let mut ids: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_id(name))
            .collect();
        ids.sort_by_key(|id| sort_key(id));
        Ok(ids)
    }

    /// Returns the ids of the project's sessions, oldest first.
    pub fn own_ids(&self) -> Result<Vec<String>, JournalError> {
        let mut ids = self.ids()?;
        ids.retain(|id| self.owner_beside(id).is_none());
        Ok(ids)
    }

    /// Returns the other projects that have sessions here, in order, and how many sessions they have.
    pub fn others(&self) -> Result<(Vec<String>, usize), JournalError> {
        let ids = self.ids()?;
        let mut projects: Vec<String> = ids.iter().filter_map(|id| self.owner_beside(id)).collect();
        let count = projects.len();
        projects.sort();
        projects.dedup();
        Ok((projects, count))
    }

    /// Finds a session by its id or by a part of it that no other has; `last`, and no name at all,
    /// is the newest of the project.
    pub fn find(&self, name: Option<&str>) -> Result<String, JournalError> {
        let Some(name) = name.filter(|name| *name != "last") else {
            let ids = self.own_ids()?;
            // One that ended before it had begun has nothing to show.
            let has_begun = |id: &String| {
                let journal = std::fs::metadata(self.path(id).join(FILE_NAME));
                journal.is_ok_and(|metadata| metadata.len() > 0)
            };
            return ids.into_iter().rfind(has_begun).ok_or(JournalError::None);
        };
        let ids = self.ids()?;
        if ids.iter().any(|id| id == name) {
            return Ok(name.to_owned());
        }
        let mut candidates: Vec<String> =
            ids.into_iter().filter(|id| !name.is_empty() && id.contains(name)).collect();
        if candidates.iter().any(|id| self.owner_beside(id).is_none()) {
            candidates.retain(|id| self.owner_beside(id).is_none());
        }
        match candidates.len() {
            0 => Err(JournalError::Unknown(name.to_owned())),
            1 => Ok(candidates.remove(0)),
            _ => Err(JournalError::Ambiguous { name: name.to_owned(), candidates }),
        }
    }

    /// Reads a session's journal.
    pub fn read(&self, id: &str) -> Result<Reading, JournalError> {
        read(&self.path(id))
    }

    /// Returns a row for each session of the project, oldest first; one that cannot be read still has
    /// its row.
    pub fn list(&self) -> Result<Vec<SessionSummary>, JournalError> {
        let row = |id: String| {
            let reading = self.read(&id);
            summarize(id, reading)
        };
        Ok(self.own_ids()?.into_iter().map(row).collect())
    }

    /// Copies a session into a new one, so that both can go on; returns the new one's id. What
    /// cannot be read is left out.
    pub fn fork(&self, id: &str, now: DateTime<FixedOffset>) -> Result<String, JournalError> {
        let mut events = self.read(id)?.events;
        let forked = self.create(now)?;
        for event in &mut events {
            if let EventKind::SessionStarted { session, .. } = &mut event.kind {
                session.clone_from(&forked);
            }
        }
        self.replace(&forked, &lines(&events))?;
        Ok(forked)
    }

    /// Sets the lines that cannot be read aside, into `journal.bad`, and returns how many. Refused
    /// while another process writes: its next lines would go into the file that is replaced.
    pub fn repair(&self, id: &str) -> Result<usize, JournalError> {
        if self.read(id)?.bad_lines.is_empty() {
            return Ok(0);
        }
        let _journal = Journal::open(&self.path(id))?;
        let path = self.path(id).join(FILE_NAME);
        let bytes =
            std::fs::read(&path).map_err(|source| JournalError::io("reading", &path, source))?;
        let bad: Vec<usize> = parse(&bytes).bad_lines.iter().map(|bad| bad.line).collect();
        let (mut kept, mut aside) = (Vec::new(), Vec::new());
        for (index, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let to = if bad.contains(&(index + 1)) { &mut aside } else { &mut kept };
            to.extend_from_slice(line);
            to.push(b'\n');
        }
        let beside = self.path(id).join("journal.bad");
        let mut all = std::fs::read(&beside).unwrap_or_default();
        all.extend(aside);
        atomic_file::replace(&beside, &all)
            .map_err(|source| JournalError::io("writing", &beside, source))?;
        self.replace(id, &kept)?;
        Ok(bad.len())
    }

    /// Returns whose a session is, when it is another project's.
    fn owner_beside(&self, id: &str) -> Option<String> {
        let project = self.project.as_ref()?;
        let journal = File::open(self.path(id).join(FILE_NAME)).ok()?;
        // The first line says it, and is never long.
        let mut line = Vec::new();
        BufReader::new(journal.take(LONGEST_FIRST_LINE)).read_until(b'\n', &mut line).ok()?;
        match serde_json::from_slice::<Event>(&line).ok()?.kind {
            EventKind::SessionStarted { project: owner, .. } => {
                Some(owner).filter(|owner| owner != project)
            }
            _ => None,
        }
    }

    fn replace(&self, id: &str, bytes: &[u8]) -> Result<(), JournalError> {
        let path = self.path(id).join(FILE_NAME);
        atomic_file::replace(&path, bytes)
            .map_err(|source| JournalError::io("writing", &path, source))
    }

    /// Returns the folder of all sessions.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// More of a journal's first line is not read.
const LONGEST_FIRST_LINE: u64 = 64 * 1024;

fn summarize(id: String, reading: Result<Reading, JournalError>) -> SessionSummary {
    let mut row = SessionSummary {
        id,
        started: None,
        model: String::new(),
        turns: 0,
        question: String::new(),
        state: "empty".to_owned(),
        bad_lines: 0,
    };
    let reading = match reading {
        Ok(reading) => reading,
        Err(error) => {
            row.state = format!("unreadable: {error}");
            return row;
        }
    };
    row.bad_lines = reading.bad_lines.len();
    for event in reading.events {
        match event.kind {
            EventKind::SessionStarted { model, .. } => {
                row.started = Some(event.at);
                row.model = model;
            }
            EventKind::TurnStarted { question, model, .. } => {
                row.turns += 1;
                row.model = model;
                "unfinished".clone_into(&mut row.state);
                if row.question.is_empty() {
                    row.question = question;
                }
            }
            EventKind::TurnFinished { reason, .. } => reason.name().clone_into(&mut row.state),
            _ => {}
        }
    }
    row
}

/// Returns events as journal lines.
fn lines(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in events.iter().filter_map(|event| serde_json::to_vec(event).ok()) {
        bytes.extend(line);
        bytes.push(b'\n');
    }
    bytes
}

/// Returns whether a folder's name is a session's: `session_<8 digits>_<6 digits>[_<number>]`.
fn is_id(name: &str) -> bool {
    let digits = |text: &str, count: usize| {
        text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut parts = name.split('_');
    parts.next() == Some("session")
        && parts.next().is_some_and(|date| digits(date, 8))
        && parts.next().is_some_and(|time| digits(time, 6))
        && parts.next().is_none_or(|number| digits(number, number.len()) && !number.is_empty())
        && parts.next().is_none()
}

/// Orders ids by time, then by number (`…_10` after `…_9`).
fn sort_key(id: &str) -> (String, u64) {
    let mut parts = id.splitn(4, '_');
    let stem: Vec<&str> = parts.by_ref().take(3).collect();
    let number = parts.next().and_then(|number| number.parse().ok()).unwrap_or(1);
    (stem.join("_"), number)
}

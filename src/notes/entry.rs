//! What lists, filters and summaries know of a note without opening its file.

use chrono::{DateTime, FixedOffset, Utc};
use serde::Serialize;

use super::files::{self, Found, Stamp};
use super::format::{self, Metadata};
use super::front_matter::NoteText;
use super::note::{Note, NoteId, NoteKind, Status, read_time};

/// A file of the notes folder in short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The file's name.
    pub file: String,
    /// The id; none when neither the name nor the file has one.
    pub id: Option<NoteId>,
    /// The title.
    pub title: String,
    /// The type.
    #[serde(rename = "type")]
    pub kind: NoteKind,
    /// The status.
    pub status: Status,
    /// The tags.
    pub tags: Vec<String>,
    /// When it was created, as written.
    pub created_at: String,
    /// When it changed last, as written.
    pub updated_at: String,
    /// The thread that it names.
    pub thread: Option<String>,
    /// The ids of the notes that must be done before.
    pub depends_on: Vec<String>,
    /// Why it cannot be understood; then it is counted and found as raw text, and else nothing.
    pub problem: Option<String>,
    /// Tells whether the file changed since.
    #[serde(skip)]
    pub(super) stamp: Stamp,
    /// `updated_at` in milliseconds, in UTC or in local time.
    #[serde(skip)]
    pub(super) moment: i64,
    /// Whether `moment` is in local time.
    #[serde(skip)]
    pub(super) is_local: bool,
}

impl Entry {
    /// Returns what a list shows of a note.
    pub(super) fn of(note: &Note) -> Self {
        Self {
            file: note.file.clone(),
            id: Some(note.id.clone()),
            title: note.title.clone(),
            kind: note.kind,
            status: note.status,
            tags: note.tags.clone(),
            created_at: note.created_at.clone(),
            updated_at: note.updated_at.clone(),
            thread: note.thread.clone(),
            depends_on: note.depends_on.clone(),
            moment: note.updated.timestamp_millis(),
            ..Self::default()
        }
    }

    /// Returns whether it is a note that was understood.
    pub fn is_note(&self) -> bool {
        self.problem.is_none() && self.id.is_some()
    }

    /// Returns the thread of work: the one it names, else its first tag.
    pub fn line_of_work(&self) -> Option<&str> {
        self.thread.as_deref().or(self.tags.first().map(String::as_str))
    }

    /// Returns when it changed last; times without a zone are in `zone`.
    pub fn updated(&self, zone: FixedOffset) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(self.utc_milliseconds(zone)).unwrap_or_default()
    }

    /// Returns when it changed last, in milliseconds for comparing.
    pub(super) fn utc_milliseconds(&self, zone: FixedOffset) -> i64 {
        self.head().utc_milliseconds(zone)
    }

    /// Returns what lists sort and filter by.
    pub(super) fn head(&self) -> Head {
        Head {
            kind: self.kind,
            status: self.status,
            is_note: self.is_note(),
            is_local: self.is_local,
            moment: self.moment,
        }
    }
}

/// What lists sort and filter by, without the rest of an [`Entry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) kind: NoteKind,
    pub(super) status: Status,
    pub(super) is_note: bool,
    pub(super) is_local: bool,
    pub(super) moment: i64,
}

impl Head {
    /// Returns when it changed last, in milliseconds for comparing.
    pub(super) fn utc_milliseconds(&self, zone: FixedOffset) -> i64 {
        let offset = if self.is_local { i64::from(zone.local_minus_utc()) * 1000 } else { 0 };
        self.moment.saturating_sub(offset)
    }
}

/// Returns what the names of files are sorted by: of ids of one second, those that were given first
/// come first.
pub(super) fn file_order(name: &[u8]) -> (usize, &[u8]) {
    (name.len(), name)
}

/// A file as it was read for the catalogue: its entry and the texts that search looks at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) entry: Entry,
    /// Title and tags.
    pub(super) head: String,
    /// The body; all of the file where it was not understood.
    pub(super) text: String,
}

/// Makes an entry of a file that cannot be read as a note, from as much as can be read of it.
pub(super) fn read_start(found: &Found, problem: String, start: String) -> Reading {
    Reading { text: start, ..read(found, Err(problem)) }
}

/// Makes an entry of a file's bytes, whatever they are.
pub(super) fn read(found: &Found, bytes: Result<Vec<u8>, String>) -> Reading {
    let mut reading = Reading::default();
    reading.entry.file.clone_from(&found.name);
    reading.entry.stamp = found.stamp;
    reading.entry.id = format::identity(&found.name, "");
    set_moment(&mut reading.entry);
    let source = match bytes.map(String::from_utf8) {
        Ok(Ok(source)) => source,
        Ok(Err(error)) => {
            reading.text = files::raw_text(error.as_bytes());
            return unreadable(reading, "it is not UTF-8".to_owned());
        }
        Err(problem) => return unreadable(reading, problem),
    };
    let metadata = NoteText::parse(&source).and_then(|text| {
        let metadata = format::read_metadata(&text)?;
        text.body().clone_into(&mut reading.text);
        Ok(metadata)
    });
    match metadata {
        Ok(metadata) => {
            reading.entry.id = format::identity(&found.name, &metadata.id);
            fill(&mut reading, metadata);
            if reading.entry.id.is_none() {
                let problem = "neither its name nor its `id` is the id of a note";
                return unreadable(reading, problem.to_owned());
            }
            reading
        }
        Err(problem) => {
            reading.text = source;
            unreadable(reading, problem.to_string())
        }
    }
}

fn fill(reading: &mut Reading, metadata: Metadata) {
    let entry = &mut reading.entry;
    reading.head = format!("{} {}", metadata.title, metadata.tags.join(" "));
    entry.title = metadata.title;
    entry.kind = metadata.kind;
    entry.status = metadata.status;
    entry.tags = metadata.tags;
    entry.created_at = metadata.created_at;
    entry.updated_at = metadata.updated_at;
    entry.thread = metadata.thread;
    entry.depends_on = metadata.depends_on;
    if entry.title.is_empty() {
        entry.title = entry.id.as_ref().map_or_else(|| entry.file.clone(), NoteId::to_string);
    }
    set_moment(entry);
}

fn unreadable(mut reading: Reading, problem: String) -> Reading {
    reading.entry.problem = Some(problem);
    if reading.entry.title.is_empty() {
        reading.entry.title.clone_from(&reading.entry.file);
    }
    reading
}

/// Sets the moment from what the note says, else from its id, else from the file.
fn set_moment(entry: &mut Entry) {
    for written in [&entry.updated_at, &entry.created_at] {
        if let Some((moment, is_local)) = milliseconds(written) {
            (entry.moment, entry.is_local) = (moment, is_local);
            return;
        }
    }
    let second = entry.id.as_ref().and_then(NoteId::second);
    (entry.moment, entry.is_local) = match second {
        Some(second) => (second.and_utc().timestamp_millis(), true),
        None => (entry.stamp.modified().timestamp_millis(), false),
    };
}

/// Reads a time into milliseconds, and whether it has no zone.
fn milliseconds(written: &str) -> Option<(i64, bool)> {
    if written.is_empty() {
        return None;
    }
    let as_utc = read_time(written, &Utc)?.timestamp_millis();
    let elsewhere = FixedOffset::east_opt(3600)?;
    let is_local = read_time(written, &elsewhere)?.timestamp_millis() != as_utc;
    Some((as_utc, is_local))
}

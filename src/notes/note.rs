//! What a note is: its id, its type, its status, its text.
//!
//! Only data and its spellings. How it lies in a file is [`super::format`]'s business, and when it
//! comes back into the context [`super::lifecycle`]'s.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeZone, Utc};
use serde::Serialize;
use serde_json::Value;

/// A note as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    /// The id, which is also the file's name.
    pub id: NoteId,
    /// The title, one line.
    pub title: String,
    /// The type.
    pub kind: NoteKind,
    /// The tags, in their order.
    pub tags: Vec<String>,
    /// Where it stands; [`Status::Open`] when the file does not say.
    pub status: Status,
    /// When it was created, as written.
    pub created_at: String,
    /// When its content changed last, as written.
    pub updated_at: String,
    /// `updated_at` as a moment, for ages and orders.
    pub updated: DateTime<Utc>,
    /// The line of work that it belongs to, if it names one.
    pub thread: Option<String>,
    /// The ids of the notes that must be done before this one.
    pub depends_on: Vec<String>,
    /// The further keys of the front matter, as data.
    pub extra: BTreeMap<String, Value>,
    /// The body.
    pub content: String,
    /// The file's name inside the notes folder.
    pub file: String,
    /// The hash of the file's bytes; an update can carry it to say what it was made from.
    pub hash: String,
}

impl Note {
    /// Returns the thread of work: the one it names, else its first tag.
    pub fn line_of_work(&self) -> Option<&str> {
        self.thread.as_deref().or(self.tags.first().map(String::as_str))
    }
}

/// The id of a note: `note_<YYYYMMDD>_<HHMMSS>_<n>`. Nothing else can become a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct NoteId(String);

impl NoteId {
    /// Returns the id of the `number`th note of a second.
    pub fn new(second: NaiveDateTime, number: usize) -> Self {
        Self(format!("note_{}_{number}", second.format("%Y%m%d_%H%M%S")))
    }

    /// Reads an id; anything that is not exactly one is none.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("note_")?;
        let mut parts = rest.split('_');
        let (date, time, number) = (parts.next()?, parts.next()?, parts.next()?);
        let digits =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let is_id = parts.next().is_none()
            && date.len() == 8
            && time.len() == 6
            && number.len() <= 9
            && [date, time, number].into_iter().all(digits);
        is_id.then(|| Self(text.to_owned()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the note's file.
    pub fn file_name(&self) -> String {
        format!("{}.md", self.0)
    }

    /// Returns the moment that the id names, in local time.
    pub fn second(&self) -> Option<NaiveDateTime> {
        let digits = self.0.get(5..20)?;
        NaiveDateTime::parse_from_str(digits, "%Y%m%d_%H%M%S").ok()
    }
}

impl fmt::Display for NoteId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The type of a note; decides when it comes back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// Where a line of work stands.
    TaskState,
    /// What was found.
    Conclusion,
    /// What stands in the way.
    Blocker,
    /// What is to be done.
    Action,
    /// Where to look things up.
    Reference,
    /// Anything else.
    #[default]
    General,
}

impl NoteKind {
    /// All types, in the order of the documentation.
    pub const ALL: [Self; 6] = [
        Self::TaskState,
        Self::Conclusion,
        Self::Blocker,
        Self::Action,
        Self::Reference,
        Self::General,
    ];

    /// Returns the spelling in files and arguments.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TaskState => "task_state",
            Self::Conclusion => "conclusion",
            Self::Blocker => "blocker",
            Self::Action => "action",
            Self::Reference => "reference",
            Self::General => "general",
        }
    }

    /// Reads a spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl fmt::Display for NoteKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Where a note stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing was done about it yet.
    #[default]
    Open,
    /// It is being worked on.
    Doing,
    /// It is done or resolved.
    Done,
    /// A newer note took its place.
    Superseded,
    /// It was given up.
    Dropped,
}

impl Status {
    /// All of them, in the order of a life.
    pub const ALL: [Self; 5] =
        [Self::Open, Self::Doing, Self::Done, Self::Superseded, Self::Dropped];

    /// Returns the spelling in files and arguments.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Doing => "doing",
            Self::Done => "done",
            Self::Superseded => "superseded",
            Self::Dropped => "dropped",
        }
    }

    /// Reads a spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// What a new note is made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewNote {
    /// The title, one line.
    pub title: String,
    /// The body, Markdown.
    pub content: String,
    /// The type.
    pub kind: NoteKind,
    /// The tags.
    pub tags: Vec<String>,
    /// Further keys of the front matter (`status`, `thread`, `depends_on`, …), each on a line.
    pub extra: BTreeMap<String, Value>,
}

/// What an update changes; what is none stays as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NoteEdit {
    /// A new title.
    pub title: Option<String>,
    /// A new body.
    pub content: Option<String>,
    /// A new type.
    pub kind: Option<NoteKind>,
    /// New tags, in the place of the old ones.
    pub tags: Option<Vec<String>>,
    /// A new status.
    pub status: Option<Status>,
    /// Further keys to set; `null` removes one.
    pub extra: BTreeMap<String, Value>,
    /// Allows to delete more than half of the body.
    pub force: bool,
    /// The hash of what was read ([`Note::hash`]). When the file changed since, edits that do not
    /// overlap are merged, and others are refused with a diff.
    pub made_from: Option<String>,
}

/// Reads a time as people and tools write it: with or without fraction, zone, quotes or time of
/// day. A time without a zone is in the zone of `local`.
pub fn read_time<Z: TimeZone>(text: &str, local: &Z) -> Option<DateTime<Utc>> {
    let text = text.trim().trim_matches(['"', '\'']).trim();
    if let Ok(zoned) = DateTime::parse_from_rfc3339(text) {
        return Some(zoned.to_utc());
    }
    for format in ["%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z"] {
        if let Ok(zoned) = DateTime::parse_from_str(text, format) {
            return Some(zoned.to_utc());
        }
    }
    let naive =
        ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"]
            .into_iter()
            .find_map(|format| NaiveDateTime::parse_from_str(text, format).ok())
            .or_else(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0))?;
    Some(local.from_local_datetime(&naive).earliest()?.to_utc())
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;

    #[test]
    fn only_an_id_is_an_id() {
        let id = "note_20250119_153000_0";
        assert_eq!(NoteId::parse(id).map(|id| id.file_name()), Some(format!("{id}.md")));
        for text in [
            "",
            "note_",
            "../README",
            "note_20250119_153000",
            "note_20250119_153000_",
            "note_20250119_153000_0/../x",
            "note_20250119_153000_0_1",
            "note_2025０119_153000_0",
            "note_20250119_153000_0.md",
            "note_20250119_153000_1234567890",
        ] {
            assert_eq!(NoteId::parse(text), None, "{text}");
        }
    }

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let east = FixedOffset::east_opt(8 * 3600).unwrap();
        let read = read_time(text, &east).map(|time| time.format("%FT%T%.f").to_string());
        assert_eq!(read.as_deref(), expected, "{text}");
    }

    #[test]
    fn times_are_read_in_all_their_spellings() {
        check("2025-01-19T15:30:00", Some("2025-01-19T07:30:00"));
        check("'2025-01-19T15:30:00'", Some("2025-01-19T07:30:00"));
        check("2025-01-19T15:30:00.123456", Some("2025-01-19T07:30:00.123456"));
        check("2025-01-19 15:30:00", Some("2025-01-19T07:30:00"));
        check("2025-01-19T15:30", Some("2025-01-19T07:30:00"));
        check("2025-01-19", Some("2025-01-18T16:00:00"));
        check("2025-01-19T15:30:00Z", Some("2025-01-19T15:30:00"));
        check("2025-01-19T15:30:00+01:00", Some("2025-01-19T14:30:00"));
        check("2025-01-19 15:30:00 +0100", Some("2025-01-19T14:30:00"));
        check("2025-01-19T15:30:00+01", Some("2025-01-19T14:30:00"));
        check("yesterday", None);
        check("", None);
    }
}

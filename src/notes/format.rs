//! A note's file, both ways: bytes into a [`Note`], a new note into text, an edit into changed
//! lines.
//!
//! Reading takes what people, Git and the Python package leave behind; what cannot be understood
//! is a [`Problem`] with its line and never a guess. Writing keeps all bytes that did not change.

use std::collections::BTreeMap;
use std::fmt::Write;

use chrono::{DateTime, FixedOffset, TimeZone, Utc};
use sha2::{Digest, Sha256};

use super::front_matter::{NoteText, Problem};
use super::note::{NewNote, Note, NoteId, NoteKind, Status, read_time};
use super::{body, values};

/// The six keys of the book, which come first and in this order.
pub(super) const CORE_KEYS: [&str; 6] = ["id", "title", "type", "tags", "created_at", "updated_at"];

/// Keys with a meaning that are not among the six; their order in a new note.
const FURTHER_KEYS: [&str; 3] = ["status", "thread", "depends_on"];

/// What ends a line in one reader or another.
pub(super) const LINE_BREAKS: [char; 7] =
    ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];

/// How a time is written: local, to the second, without a zone.
pub(super) const TIME: &str = "%Y-%m-%dT%H:%M:%S";

/// What the front matter says, as far as lists and filters need it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Metadata {
    /// The `id`, as written.
    pub(super) id: String,
    /// The `title`, else the first heading or line of the body.
    pub(super) title: String,
    /// The `type`; an unknown one is `general`, and an oddity.
    pub(super) kind: NoteKind,
    /// The `tags`.
    pub(super) tags: Vec<String>,
    /// The `created_at`, as written.
    pub(super) created_at: String,
    /// The `updated_at`, as written.
    pub(super) updated_at: String,
    /// The `status`; an unknown one is `open`, and an oddity.
    pub(super) status: Status,
    /// The `thread`.
    pub(super) thread: Option<String>,
    /// The `depends_on`.
    pub(super) depends_on: Vec<String>,
    /// What is odd and harms nothing: unknown types, keys that are there twice.
    pub(super) oddities: Vec<Problem>,
}

/// Reads what lists and filters need.
pub(super) fn read_metadata(text: &NoteText<'_>) -> Result<Metadata, Problem> {
    let mut metadata = Metadata::default();
    let mut seen: Vec<&str> = Vec::new();
    for (key, line) in text.keys() {
        if seen.contains(&key) {
            let message = format!("the key `{key}` is there twice, and the last one counts");
            metadata.oddities.push(Problem::new(line, message));
            continue;
        }
        seen.push(key);
        read_key(key, text, &mut metadata)?;
    }
    if let Some(line) = text.odd_line() {
        return Err(Problem::new(line, "neither a key with a value nor a comment"));
    }
    if metadata.title.is_empty() {
        metadata.title = first_line_as_title(text.body());
    }
    Ok(metadata)
}

/// Reads a whole note. `modified` stands in for times that are missing; times without a zone are
/// in `zone`.
pub(super) fn read_note(
    file: &str,
    source: &str,
    modified: DateTime<Utc>,
    zone: FixedOffset,
) -> Result<Note, Problem> {
    let text = NoteText::parse(source)?;
    let metadata = read_metadata(&text)?;
    let id = identity(file, &metadata.id).ok_or_else(|| {
        Problem::new(1, "neither the file's name nor its `id` is the id of a note")
    })?;
    let mut extra = BTreeMap::new();
    for (key, _) in text.keys() {
        let is_known = CORE_KEYS.contains(&key) || FURTHER_KEYS.contains(&key);
        if let Some(raw) = text.value(key).filter(|_| !is_known) {
            extra.insert(key.to_owned(), values::read_value(key, raw)?);
        }
    }
    let updated = moment(&metadata, &id, zone).unwrap_or(modified);
    Ok(Note {
        title: if metadata.title.is_empty() { id.to_string() } else { metadata.title },
        id,
        kind: metadata.kind,
        tags: metadata.tags,
        status: metadata.status,
        created_at: metadata.created_at,
        updated_at: metadata.updated_at,
        updated,
        thread: metadata.thread,
        depends_on: metadata.depends_on,
        extra,
        content: text.body().to_owned(),
        file: file.to_owned(),
        hash: hash(source.as_bytes()),
    })
}

/// Returns whether a note has a title of its own, and not that of its first line.
pub(super) fn says_title(text: &NoteText<'_>) -> bool {
    text.value("title")
        .is_some_and(|raw| !one_line(values::read_loose_text("title", raw)).is_empty())
}

/// Returns the id of a note: the file's name where that is one, else what the file says.
pub(super) fn identity(file: &str, written: &str) -> Option<NoteId> {
    file.strip_suffix(".md").and_then(NoteId::parse).or_else(|| NoteId::parse(written))
}

/// Returns when a note changed last, from what it says itself.
pub(super) fn moment(metadata: &Metadata, id: &NoteId, zone: FixedOffset) -> Option<DateTime<Utc>> {
    read_time(&metadata.updated_at, &zone)
        .or_else(|| read_time(&metadata.created_at, &zone))
        .or_else(|| Some(zone.from_local_datetime(&id.second()?).earliest()?.to_utc()))
}

/// Returns the text of a new note.
pub(super) fn new_file(id: &NoteId, note: &NewNote, now: DateTime<FixedOffset>) -> String {
    let now = now.format(TIME).to_string();
    let core = [
        ("id", id.to_string()),
        ("title", values::write_text(&note.title)),
        ("type", note.kind.to_string()),
        ("tags", values::write_list(&note.tags)),
        ("created_at", now.clone()),
        ("updated_at", now),
    ];
    let further = note.extra.iter().map(|(key, value)| (key.as_str(), values::write_value(value)));
    let mut ordered: Vec<(&str, String)> = core.into_iter().chain(further).collect();
    ordered.sort_by_key(|(key, _)| {
        let known = CORE_KEYS.iter().chain(&FURTHER_KEYS).position(|known| known == key);
        known.unwrap_or(usize::MAX)
    });
    let changes: Vec<(&str, Option<String>)> =
        ordered.into_iter().map(|(key, value)| (key, Some(value))).collect();
    let empty = NoteText::parse("").map(|text| text.with_keys(&changes, &[])).unwrap_or_default();
    match NoteText::parse(&empty) {
        Ok(text) => text.with_body(&note.content),
        Err(_) => empty,
    }
}

/// Returns a file with some keys set (none removes one) and, if given, another body.
pub(super) fn edited(
    source: &str,
    changes: &[(&str, Option<String>)],
    content: Option<&str>,
) -> Result<String, Problem> {
    let text = NoteText::parse(source)?;
    let order: Vec<&str> = CORE_KEYS.iter().chain(&FURTHER_KEYS).copied().collect();
    let with_keys =
        if changes.is_empty() { source.to_owned() } else { text.with_keys(changes, &order) };
    let Some(content) = content else { return Ok(with_keys) };
    let text = NoteText::parse(&with_keys)?;
    Ok(text.with_body(&body::with_line_ends_of(text.body(), content, text.line_end())))
}

/// Returns the hash of a file's bytes: enough of it to tell versions of a note apart.
pub(super) fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().take(8).fold(String::with_capacity(16), |mut text, byte| {
        // Writing into a string cannot fail.
        _ = write!(text, "{byte:02x}");
        text
    })
}

fn read_key(key: &str, text: &NoteText<'_>, metadata: &mut Metadata) -> Result<(), Problem> {
    let Some(raw) = text.value(key) else { return Ok(()) };
    let mut odd = |message: String| metadata.oddities.push(Problem::new(raw.line, message));
    match key {
        "id" => metadata.id = values::read_loose_text(key, raw),
        "title" => metadata.title = one_line(values::read_loose_text(key, raw)),
        "created_at" => metadata.created_at = values::read_loose_text(key, raw),
        "updated_at" => metadata.updated_at = values::read_loose_text(key, raw),
        "tags" => metadata.tags = values::read_list(key, raw)?,
        "depends_on" => metadata.depends_on = values::read_list(key, raw)?,
        "thread" => {
            metadata.thread = Some(values::read_text(key, raw)?).filter(|name| !name.is_empty());
        }
        "type" => {
            let written = values::read_text(key, raw)?;
            match NoteKind::parse(&written.trim().to_ascii_lowercase()) {
                Some(kind) => metadata.kind = kind,
                None if written.is_empty() => {}
                None => odd(format!("`{written}` is not a type of note")),
            }
        }
        "status" => {
            let written = values::read_text(key, raw)?;
            match Status::parse(&written.trim().to_ascii_lowercase()) {
                Some(status) => metadata.status = status,
                None if written.is_empty() => {}
                None => odd(format!("`{written}` is not a status")),
            }
        }
        _ => {
            // Whether it can be understood at all; what it says is read when it is needed.
            values::read_text(key, raw)
                .map(drop)
                .or_else(|_| values::read_value(key, raw).map(drop))?;
        }
    }
    Ok(())
}

/// Titles are one line, also where somebody wrote one over several.
fn one_line(title: String) -> String {
    if !title.contains(LINE_BREAKS) {
        return title;
    }
    let lines = title.split(LINE_BREAKS).map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

fn first_line_as_title(body: &str) -> String {
    let line = body.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    one_line(line.trim_start_matches('#').trim().chars().take(120).collect())
}

//! Changing a note: only the lines that change, only from what was read, and never without
//! keeping what was there.

use serde_json::Value;

use super::error::NoteError;
use super::files::MAX_NOTE_BYTES;
use super::front_matter::NoteText;
use super::note::{Note, NoteEdit, Status};
use super::store::{NoteStore, refuse_conflict};
use super::trash::Deed;
use super::{body, check, files, format, secrets, values};
use crate::support::atomic_file;

/// What came of an update.
#[derive(Debug, Clone, PartialEq)]
pub struct Updated {
    /// The note as it is now, read back from disk.
    pub note: Note,
    /// What changed, one phrase each; empty when nothing did, and then nothing was written.
    pub changed: Vec<String>,
    /// Whether others' changes since the read were merged with these.
    pub merged: bool,
}

impl NoteStore {
    /// Changes a note; what is on disk when this returns is whole, the old bytes are kept.
    #[expect(clippy::needless_pass_by_value, reason = "an edit is handed over")]
    pub fn update(&self, id: &str, edit: NoteEdit) -> Result<Updated, NoteError> {
        check::edit(&edit)?;
        // What is not there is told before the lock, which makes the folder.
        self.find(id)?;
        let _lock = self.lock()?;
        let file = self.find(id)?;
        for _ in 0..TRIES {
            if let Some(updated) = self.try_update(&file, &edit)? {
                return Ok(updated);
            }
        }
        Err(NoteError::Conflict { id: id.to_owned(), diff: String::new() })
    }

    /// Changes a note unless the file changes at the same time; then there is nothing, and it can
    /// be tried again.
    fn try_update(&self, file: &str, edit: &NoteEdit) -> Result<Option<Updated>, NoteError> {
        let (note, source, stamp) = self.read_file(file)?;
        let unreadable = |problem: String| NoteError::Unreadable { file: file.to_owned(), problem };
        let text = NoteText::parse(&source).map_err(|problem| unreadable(problem.to_string()))?;
        refuse_conflict(file, &text)?;
        // Before anything tells what was wanted.
        let content = edit.content.as_deref().unwrap_or_default();
        if let Some((line, what)) = secrets::find_new(&note.content, content) {
            return Err(NoteError::Secret { place: "content", line, what });
        }
        let (edit, merged) = self.rebased(&note, edit)?;
        let changes = Changes::new(&note, &edit);
        if changes.phrases.is_empty() {
            return Ok(Some(Updated { note, changed: Vec::new(), merged }));
        }
        changes.refuse_loss(&note, &edit)?;
        self.refuse_cycle(&note.id, &edit.extra)?;
        let keys = changes.keys(&note, &text, self.clock.now());
        let new = format::edited(&source, &keys, changes.content.as_deref())
            .map_err(|problem| unreadable(problem.to_string()))?;
        if new.len() as u64 > MAX_NOTE_BYTES {
            let problem =
                format!("with the change, it is larger than {} MiB", MAX_NOTE_BYTES >> 20);
            return Err(unreadable(problem));
        }
        let expected = changes.applied_to(&note);
        let now = self
            .parse(file, &new, stamp.modified())
            .map_err(|problem| unreadable(format!("with the change, {problem}")))?;
        let says_title = NoteText::parse(&new).is_ok_and(|text| format::says_title(&text));
        if !expected.is_same_as(&now, says_title) {
            let problem =
                "its front matter is written in a way that cannot be changed line by line";
            return Err(unreadable(problem.to_owned()));
        }
        let path = self.folder.join(file);
        let after = format::hash(new.as_bytes());
        self.trash
            .keep(Deed::Update, file, source.as_bytes(), &after)
            .map_err(NoteError::io("keeping a copy of", &path))?;
        let (bytes, now) = files::read(&path).map_err(NoteError::io("reading", &path))?;
        if now != stamp || bytes != source.as_bytes() {
            return Ok(None);
        }
        atomic_file::replace(&path, new.as_bytes()).map_err(NoteError::io("writing", &path))?;
        let (note, _, _) = self.read_file(file)?;
        self.remember(&note.hash, new);
        self.change_index(&note.id, Some(&note));
        Ok(Some(Updated { note, changed: changes.phrases, merged }))
    }

    /// Returns the edit as it has to be made now: where the file changed since it was read, the
    /// changes of both are brought together, or refused with a diff.
    fn rebased(&self, note: &Note, edit: &NoteEdit) -> Result<(NoteEdit, bool), NoteError> {
        let Some(made_from) = edit.made_from.as_ref().filter(|hash| **hash != note.hash) else {
            return Ok((edit.clone(), false));
        };
        let conflict = |wanted: &str, current: &str| NoteError::Conflict {
            id: note.id.to_string(),
            diff: body::diff(current, wanted, "on disk", "wanted"),
        };
        let base = self
            .recall(made_from)
            .and_then(|text| self.parse(&note.file, &text, note.updated).ok());
        let mut edit = edit.clone();
        let Some(base) = base else {
            return match &edit.content {
                Some(content) if *content != note.content => Err(conflict(content, &note.content)),
                _ => Ok((edit, true)),
            };
        };
        if let Some(title) =
            edit.title.as_ref().filter(|title| base.title != note.title && **title != note.title)
        {
            return Err(conflict(title, &note.title));
        }
        if let Some(kind) = edit.kind.filter(|kind| base.kind != note.kind && *kind != note.kind) {
            return Err(conflict(kind.as_str(), note.kind.as_str()));
        }
        if let Some(status) =
            edit.status.filter(|status| base.status != note.status && *status != note.status)
        {
            return Err(conflict(status.as_str(), note.status.as_str()));
        }
        if let Some(tags) = &edit.tags {
            edit.tags = Some(merged_list(&base.tags, &note.tags, tags));
        }
        if let Some(content) = &edit.content {
            match body::merge(&base.content, &note.content, content) {
                Some(merged) => edit.content = Some(merged),
                None => return Err(conflict(content, &note.content)),
            }
        }
        Ok((edit, true))
    }
}

/// Returns what two sides made of a list: what either added, without what either removed.
pub(super) fn merged_list(base: &[String], ours: &[String], theirs: &[String]) -> Vec<String> {
    let kept = ours.iter().filter(|item| theirs.contains(item) || !base.contains(item));
    let mut merged: Vec<String> = kept.cloned().collect();
    for item in theirs {
        if !merged.contains(item) && !base.contains(item) {
            merged.push(item.clone());
        }
    }
    merged
}

/// How often a file may change under an update before that is an error.
const TRIES: usize = 3;

/// Shorter bodies may be replaced without asking: there is little to lose.
const SMALL_BODY: usize = 100;

/// What an edit really changes.
struct Changes {
    title: Option<String>,
    kind: Option<super::NoteKind>,
    status: Option<Status>,
    tags: Option<Vec<String>>,
    extra: Vec<(String, Value)>,
    content: Option<String>,
    phrases: Vec<String>,
}

impl Changes {
    fn new(note: &Note, edit: &NoteEdit) -> Self {
        let mut changes = Self {
            title: edit.title.clone().filter(|title| *title != note.title),
            kind: edit.kind.filter(|kind| *kind != note.kind),
            status: edit.status.filter(|status| *status != note.status),
            tags: edit.tags.clone().filter(|tags| *tags != note.tags),
            extra: edit
                .extra
                .iter()
                .filter(|(key, value)| known_value(note, key).unwrap_or(Value::Null) != **value)
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            content: edit.content.clone().filter(|content| !is_same_text(content, &note.content)),
            phrases: Vec::new(),
        };
        changes.phrases = changes.describe(note);
        changes
    }

    fn describe(&self, note: &Note) -> Vec<String> {
        let mut phrases = Vec::new();
        if self.title.is_some() {
            phrases.push("title".to_owned());
        }
        if let Some(kind) = self.kind {
            phrases.push(format!("type {} → {kind}", note.kind));
        }
        if let Some(status) = self.status {
            phrases.push(format!("status {} → {status}", note.status));
        }
        if let Some(tags) = &self.tags {
            phrases.push(format!("tags [{}] → [{}]", note.tags.join(", "), tags.join(", ")));
        }
        phrases.extend(self.extra.iter().map(|(key, _)| key.clone()));
        if let Some(content) = &self.content {
            let (added, removed) = body::changed_lines(&plain(&note.content), &plain(content));
            phrases.push(format!("content +{added} −{removed} lines"));
        }
        phrases
    }

    fn refuse_loss(&self, note: &Note, edit: &NoteEdit) -> Result<(), NoteError> {
        let Some(content) = &self.content else { return Ok(()) };
        let percent = body::percent_deleted(&note.content, content);
        // A few words are written anew; taking them away is another matter.
        let counts = note.content.len() >= SMALL_BODY || content.trim().is_empty();
        if percent > 50 && counts && !edit.force {
            return Err(NoteError::DeletesMost { id: note.id.to_string(), percent });
        }
        Ok(())
    }

    fn keys(
        &self,
        note: &Note,
        text: &NoteText<'_>,
        now: chrono::DateTime<chrono::FixedOffset>,
    ) -> Vec<(&str, Option<String>)> {
        let mut keys: Vec<(&str, Option<String>)> = Vec::new();
        if !text.has_front_matter() {
            // A bare page becomes a note with all six keys.
            keys.push(("id", Some(note.id.to_string())));
            keys.push(("title", Some(values::write_text(&note.title))));
            keys.push(("type", Some(note.kind.to_string())));
            keys.push(("tags", Some(values::write_list(&note.tags))));
            let created = note.updated.with_timezone(now.offset()).format(format::TIME).to_string();
            keys.push(("created_at", Some(created)));
        }
        let mut set = |key: &'static str, value: Option<String>| {
            if let Some(value) = value {
                keys.retain(|(known, _)| *known != key);
                keys.push((key, Some(value)));
            }
        };
        set("title", self.title.as_deref().map(values::write_text));
        set("type", self.kind.map(|kind| kind.to_string()));
        set("tags", self.tags.as_deref().map(values::write_list));
        set("updated_at", Some(now.format(format::TIME).to_string()));
        set("status", self.status.map(|status| status.to_string()));
        for (key, value) in &self.extra {
            let written = (!value.is_null()).then(|| values::write_value(value));
            keys.push((key, written));
        }
        if !text.has_front_matter() {
            let place = |key: &str| format::CORE_KEYS.iter().position(|known| *known == key);
            keys.sort_by_key(|(key, _)| place(key).unwrap_or(usize::MAX));
        }
        keys
    }

    fn applied_to(&self, note: &Note) -> Note {
        let mut expected = note.clone();
        expected.title = self.title.clone().unwrap_or(expected.title);
        expected.kind = self.kind.unwrap_or(expected.kind);
        expected.status = self.status.unwrap_or(expected.status);
        expected.tags = self.tags.clone().unwrap_or(expected.tags);
        expected.content = self.content.clone().unwrap_or(expected.content);
        for (key, value) in &self.extra {
            let text = value.as_str().unwrap_or_default();
            match key.as_str() {
                "status" => expected.status = Status::parse(text).unwrap_or_default(),
                "thread" => expected.thread = value.as_str().map(str::to_owned),
                "depends_on" => {
                    let ids = value.as_array().into_iter().flatten().filter_map(Value::as_str);
                    expected.depends_on = ids.map(str::to_owned).collect();
                }
                _ if value.is_null() => drop(expected.extra.remove(key)),
                _ => drop(expected.extra.insert(key.clone(), value.clone())),
            }
        }
        expected
    }
}

impl Note {
    /// Whether all but the times is the same. The title of a note that does not say it is its
    /// first line, which goes with the body.
    fn is_same_as(&self, other: &Self, says_title: bool) -> bool {
        (self.title == other.title || !says_title)
            && self.kind == other.kind
            && self.status == other.status
            && self.tags == other.tags
            && self.thread == other.thread
            && self.depends_on == other.depends_on
            && self.extra == other.extra
            && is_same_text(&self.content, &other.content)
    }
}

/// Whether two texts are the same but for their line ends.
fn is_same_text(a: &str, b: &str) -> bool {
    a == b || plain(a) == plain(b)
}

fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn known_value(note: &Note, key: &str) -> Option<Value> {
    match key {
        "status" => Some(Value::from(note.status.as_str())),
        "thread" => note.thread.clone().map(Value::from),
        "depends_on" => Some(Value::from(note.depends_on.clone())),
        _ => note.extra.get(key).cloned(),
    }
}

//! `notes_index.json`, in the shape of the book: for people, scripts and the Python package.
//!
//! Derived: this program writes it and never believes it, so it may be wrong, empty or gone.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::entry::Entry;
use super::files;
use super::note::NoteId;
use crate::support::atomic_file;

/// The file's name.
pub(super) const INDEX_FILE: &str = "notes_index.json";

/// Writes the index anew, if it would change.
pub(super) fn write<'a>(folder: &Path, entries: impl Iterator<Item = &'a Entry>) {
    let mut sorted: Vec<&Entry> = entries.filter(|entry| entry.is_note()).collect();
    sorted.sort_unstable_by(|a, b| a.file.cmp(&b.file));
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut text = String::from("{");
    for (at, entry) in sorted.iter().enumerate() {
        let id = entry.id.as_ref().map_or("", NoteId::as_str);
        text.push_str(if at == 0 { "\n" } else { ",\n" });
        text.push_str(&row(entry, id, &name));
    }
    text.push_str(END);
    let path = folder.join(INDEX_FILE);
    if holds(&path, text.as_bytes()) {
        return;
    }
    // A derived file: what cannot be written now is written with the next note.
    atomic_file::replace_derived(&path, text.as_bytes()).ok();
}

/// Adds a new note to the end of an index that this program wrote; whether it could.
pub(super) fn append(folder: &Path, entry: &Entry) -> bool {
    let path = folder.join(INDEX_FILE);
    let (Some(id), Some(length)) = (entry.id.as_ref(), length_if_ours(&path)) else { return false };
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let line = format!(",\n{}{END}", row(entry, id.as_str(), &name));
    atomic_file::extend_derived(&path, length - END.len() as u64, line.as_bytes()).is_ok()
}

/// Puts a note's new row in the place of its old one, or takes the old one out, in a large index
/// that this program wrote; whether it could. All other rows stay as they are.
pub(super) fn change(folder: &Path, id: &NoteId, new: Option<&Entry>) -> bool {
    let path = folder.join(INDEX_FILE);
    let Some(length) = length_if_ours(&path).filter(|length| *length >= LARGE) else {
        return false;
    };
    let mut old = Vec::with_capacity(usize::try_from(length).unwrap_or(0) + 1);
    let read = files::open(&path).and_then(|file| file.take(length + 1).read_to_end(&mut old));
    let Some(place) = read.ok().and_then(|_| find_row(&old, id)) else { return false };
    let (before, after) = (&old[..place.start], &old[place.end..]);
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let new = new.map(|entry| row(entry, id.as_str(), &name).into_bytes());
    let changed = match (new, after.strip_prefix(b",")) {
        (Some(new), _) => [before, &new, after].concat(),
        // With it goes the line end before it, and a comma on one side.
        (None, Some(after)) => [before.strip_suffix(b"\n").unwrap_or(before), after].concat(),
        (None, None) => [before.strip_suffix(b",\n").unwrap_or(before), after].concat(),
    };
    atomic_file::replace_derived(&path, &changed).is_ok()
}

/// Returns the files of the last notes of an index that this program wrote, the newest last;
/// some more or fewer than `count`.
pub(super) fn newest(folder: &Path, count: usize) -> Option<Vec<String>> {
    let path = folder.join(INDEX_FILE);
    let start = length_if_ours(&path)?.saturating_sub(count as u64 * LINE);
    let mut file = files::open(&path).ok()?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut end = Vec::new();
    file.take(count as u64 * LINE).read_to_end(&mut end).ok()?;
    let end = String::from_utf8_lossy(&end);
    let ids = end.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next());
    Some(ids.filter_map(NoteId::parse).map(|id| id.file_name()).collect())
}

/// A shorter index is quickly written anew.
const LARGE: u64 = 64 << 10;

/// What a line of the index takes, rather more than less.
const LINE: u64 = 400;

/// Returns whether a file has these bytes; what is no plain file has none.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    let Ok(file) = files::open(path) else { return false };
    let is_as_long =
        |metadata: fs::Metadata| metadata.is_file() && metadata.len() == bytes.len() as u64;
    let mut old = Vec::with_capacity(bytes.len());
    file.metadata().is_ok_and(is_as_long)
        && file.take(bytes.len() as u64 + 1).read_to_end(&mut old).is_ok()
        && old == bytes
}

/// Returns where the one row of a note is, without a comma; none where an index looks otherwise
/// than this program writes it.
fn find_row(index: &[u8], id: &NoteId) -> Option<Range<usize>> {
    let start = format!("  \"{id}\": ");
    let rows = index.strip_prefix(b"{\n")?.strip_suffix(END.as_bytes())?;
    let mut found = None;
    let mut at = 2;
    for line in rows.split(|byte| *byte == b'\n') {
        let row = line.strip_suffix(b",").unwrap_or(line);
        if !row.starts_with(b"  \"") || !row.ends_with(b"}") {
            return None;
        }
        if row.starts_with(start.as_bytes()) {
            if found.is_some() {
                return None;
            }
            found = Some(at..at + row.len());
        }
        at += line.len() + 1;
    }
    found
}

/// Returns the row of a note, without a comma.
fn row(entry: &Entry, id: &str, folder: &str) -> String {
    format!("  {}: {}", Value::from(id), Value::Object(shape(entry, id, folder)))
}

/// How an index ends.
const END: &str = "\n}\n";

/// Returns the length of an index with entries that ends as this program ends it.
fn length_if_ours(path: &Path) -> Option<u64> {
    let mut file = files::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() {
        return None;
    }
    let length = metadata.len();
    let mut end = [0; 4];
    file.seek(SeekFrom::Start(length.checked_sub(4)?)).ok()?;
    file.read_exact(&mut end).ok()?;
    (end == *b"}\n}\n").then_some(length)
}

fn shape(entry: &Entry, id: &str, folder: &str) -> Map<String, Value> {
    let pairs = [
        ("id", json!(id)),
        ("title", json!(entry.title)),
        ("type", json!(entry.kind.as_str())),
        ("tags", json!(entry.tags)),
        ("created_at", json!(entry.created_at)),
        ("updated_at", json!(entry.updated_at)),
        ("file_path", json!(format!("./{folder}/{}", entry.file))),
    ];
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: usize, title: &str) -> Entry {
        let id = NoteId::parse(&format!("note_20250101_000000_{number}"));
        let file = format!("note_20250101_000000_{number}.md");
        Entry { file, id, title: title.to_owned(), ..Entry::default() }
    }

    /// Changes one of many rows, and expects what writing all of them anew makes.
    #[track_caller]
    fn check(count: usize, number: usize, title: Option<&str>) {
        let folder = tempfile::tempdir().unwrap();
        let mut entries: Vec<Entry> =
            (0..count).map(|at| entry(at, &"标题 \"\n".repeat(50))).collect();
        write(folder.path(), entries.iter());
        let new = title.map(|title| entry(number, title));
        let old = entries.iter().position(|known| *known == entry(number, &known.title)).unwrap();
        assert!(change(folder.path(), entries[old].id.as_ref().unwrap(), new.as_ref()));
        let changed = fs::read_to_string(folder.path().join(INDEX_FILE)).unwrap();
        match new {
            Some(new) => entries[old] = new,
            None => drop(entries.remove(old)),
        }
        write(folder.path(), entries.iter());
        let anew = fs::read_to_string(folder.path().join(INDEX_FILE)).unwrap();
        assert_eq!(changed, anew);
        let parsed: Map<String, Value> = serde_json::from_str(&changed).unwrap();
        assert_eq!(parsed.len(), entries.len());
    }

    #[test]
    fn a_row_is_changed_or_goes_wherever_it_stands() {
        for number in [0, 1, 50, 98, 99] {
            check(100, number, Some("new \u{1} \"title\"},"));
            check(100, number, Some(""));
            check(100, number, None);
        }
    }

    #[test]
    fn an_index_that_looks_otherwise_is_left_for_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(INDEX_FILE);
        let entries: Vec<Entry> = (0..100).map(|at| entry(at, &"title ".repeat(200))).collect();
        let known = entries[7].id.clone().unwrap();
        let refused = |text: &str| {
            atomic_file::replace_derived(&path, text.as_bytes()).unwrap();
            assert!(!change(folder.path(), &known, None));
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        };
        write(folder.path(), entries.iter());
        let whole = fs::read_to_string(folder.path().join(INDEX_FILE)).unwrap();
        refused("");
        refused("{\n}\n");
        refused(&whole.replacen(&format!("\"{known}\": "), "\"note_20240101_000000_0\": ", 1));
        refused(&whole.replacen("},\n", "},\n<<<<<<< ours\n", 1));
        refused(&whole.replacen("},\n", "}\n,\n", 1));
        let row = row(&entries[7], known.as_str(), "notes");
        refused(&whole.replacen("},\n", &format!("}},\n{row},\n"), 1));
        refused(whole.trim_end());
    }
}

//! `notes_index.json`, in the shape of the book: for people, scripts and the Python package.
//!
//! Derived: this program writes it and never believes it, so it may be wrong, empty or gone.

use std::fmt::Write;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
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
        // Writing into a string cannot fail.
        _ = write!(text, "  {}: {}", Value::from(id), Value::Object(shape(entry, id, &name)));
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
    let object = Value::Object(shape(entry, id.as_str(), &name));
    let line = format!(",\n  \"{id}\": {object}{END}");
    atomic_file::extend_derived(&path, length - END.len() as u64, line.as_bytes()).is_ok()
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

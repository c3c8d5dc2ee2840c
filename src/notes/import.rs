//! Taking over a notes folder of the Python package `hello-agents`: the files, and what only its
//! index knows.
//!
//! The other folder is only read. Its files come out in the format of this one: titles that YAML
//! reads, readable tags, bodies without the title that the package repeats in them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::error::NoteError;
use super::files;
use super::format::{self, Metadata};
use super::front_matter::NoteText;
use super::note::{NewNote, NoteId, NoteKind, read_time};
use super::store::NoteStore;
use super::values;
use crate::support::atomic_file;

/// What an import did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// The ids of the notes that came in, each with the file that it comes from.
    pub notes: Vec<(NoteId, String)>,
    /// The files that were here already, word for word.
    pub already_here: Vec<String>,
    /// The files that could not be understood, and why; they were copied nowhere.
    pub problems: Vec<(String, String)>,
}

impl NoteStore {
    /// Takes over the notes of a folder of the Python package.
    pub fn import(&self, from: &Path) -> Result<Imported, NoteError> {
        if !from.is_dir() {
            let problem = format!("names `{}`, which is no folder", from.display());
            return Err(NoteError::BadValue { field: "folder", problem });
        }
        let scan = files::scan(from, "\0", || None::<files::Nothing>)
            .map_err(NoteError::io("reading", from))?;
        let index = read_index(&from.join("notes_index.json"));
        let _lock = self.lock()?;
        let mut imported = Imported::default();
        for found in scan.others() {
            let name = found.name.clone();
            let read = files::read(&from.join(&name)).map_err(|error| error.to_string());
            let source = read.and_then(|(bytes, _)| {
                String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
            });
            let foreign = source.and_then(|source| Foreign::read(&name, &source, &index));
            match foreign {
                Ok(foreign) => self.take_in(&foreign, name, &mut imported)?,
                Err(problem) => imported.problems.push((name, problem)),
            }
        }
        self.refresh_index();
        Ok(imported)
    }

    fn take_in(
        &self,
        foreign: &Foreign,
        name: String,
        imported: &mut Imported,
    ) -> Result<(), NoteError> {
        let second = foreign.id.second().unwrap_or_else(|| self.clock.now().naive_local());
        let mut id = foreign.id.clone();
        for number in 0.. {
            let text = foreign.written_as(&id);
            let path = self.folder.join(id.file_name());
            match atomic_file::create_new(&path, text.as_bytes()) {
                Ok(()) => {
                    imported.notes.push((id, name));
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if files::read(&path).is_ok_and(|(bytes, _)| bytes == text.as_bytes()) {
                        imported.already_here.push(name);
                        return Ok(());
                    }
                }
                Err(error) => return Err(NoteError::io("writing", path)(error)),
            }
            id = NoteId::new(second, number);
        }
        Ok(())
    }
}

/// A note of the package.
struct Foreign {
    id: NoteId,
    new: NewNote,
    created_at: String,
    updated_at: String,
}

impl Foreign {
    fn read(name: &str, source: &str, index: &BTreeMap<String, Value>) -> Result<Self, String> {
        let text = NoteText::parse(source).map_err(|problem| problem.to_string())?;
        let metadata = format::read_metadata(&text).map_err(|problem| problem.to_string())?;
        let known = index.get(name.trim_end_matches(".md")).or_else(|| index.get(&metadata.id));
        let id = format::identity(name, &metadata.id)
            .or_else(|| id_from_time(&metadata.created_at))
            .ok_or("neither its name nor its `id` is the id of a note")?;
        let new = NewNote {
            title: title(&metadata, known, text.has_front_matter()),
            content: without_title(text.body(), &metadata.title),
            kind: kind(&metadata, known, text.has_front_matter()),
            tags: tags(&metadata, known),
            extra: further(&text),
        };
        let from_index = |key: &str| known.and_then(|entry| entry[key].as_str()).map(str::to_owned);
        let time = |written: &str, key: &str| {
            Some(written.to_owned()).filter(|time| !time.is_empty()).or_else(|| from_index(key))
        };
        let created_at = time(&metadata.created_at, "created_at");
        let updated_at = time(&metadata.updated_at, "updated_at").or_else(|| created_at.clone());
        let fallback = || {
            id.second().map(|second| second.format(format::TIME).to_string()).unwrap_or_default()
        };
        Ok(Self {
            new,
            created_at: created_at.unwrap_or_else(fallback),
            updated_at: updated_at.unwrap_or_else(fallback),
            id,
        })
    }

    fn written_as(&self, id: &NoteId) -> String {
        let now = chrono::DateTime::<chrono::Utc>::UNIX_EPOCH.fixed_offset();
        let text = format::new_file(id, &self.new, now);
        let times = [
            ("created_at", Some(values::write_time(&self.created_at))),
            ("updated_at", Some(values::write_time(&self.updated_at))),
        ];
        format::edited(&text, &times, None).unwrap_or(text)
    }
}

/// Reads both shapes of index: notes by id, and a list of notes.
fn read_index(path: &Path) -> BTreeMap<String, Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let entries = match serde_json::from_str(&text) {
        Ok(Value::Object(mut object)) => match object.remove("notes") {
            Some(Value::Array(notes)) => notes,
            _ => object.into_iter().map(|(_, entry)| entry).collect(),
        },
        // The files are the truth; an index that cannot be read only has less to add.
        _ => Vec::new(),
    };
    entries
        .into_iter()
        .filter_map(|entry| Some((entry["id"].as_str()?.to_owned(), entry)))
        .collect()
}

fn title(metadata: &Metadata, known: Option<&Value>, has_front_matter: bool) -> String {
    let from_index = known.and_then(|entry| entry["title"].as_str()).filter(|_| !has_front_matter);
    let title = from_index.unwrap_or(&metadata.title);
    title.lines().next().unwrap_or("untitled").to_owned()
}

fn kind(metadata: &Metadata, known: Option<&Value>, has_front_matter: bool) -> NoteKind {
    let from_index = known.and_then(|entry| NoteKind::parse(entry["type"].as_str()?));
    if has_front_matter { metadata.kind } else { from_index.unwrap_or_default() }
}

fn tags(metadata: &Metadata, known: Option<&Value>) -> Vec<String> {
    if !metadata.tags.is_empty() {
        return metadata.tags.clone();
    }
    let from_index = known.and_then(|entry| entry["tags"].as_array()).into_iter().flatten();
    from_index.filter_map(Value::as_str).map(str::to_owned).collect()
}

fn further(text: &NoteText<'_>) -> BTreeMap<String, Value> {
    let keys = text.keys().filter(|(key, _)| !format::CORE_KEYS.contains(key));
    keys.filter_map(|(key, _)| {
        Some((key.to_owned(), values::read_value(key, text.value(key)?).ok()?))
    })
    .collect()
}

/// Takes the title off that the package writes as the body's first line.
fn without_title(body: &str, title: &str) -> String {
    let body = body.trim_matches('\n');
    let mut lines = body.splitn(2, '\n');
    let first = lines.next().unwrap_or_default();
    match first.strip_prefix("# ") {
        Some(heading) if heading.trim() == title.trim() => {
            lines.next().unwrap_or_default().trim_matches('\n').to_owned()
        }
        _ => body.to_owned(),
    }
}

fn id_from_time(created_at: &str) -> Option<NoteId> {
    Some(NoteId::new(read_time(created_at, &chrono::Utc)?.naive_utc(), 0))
}

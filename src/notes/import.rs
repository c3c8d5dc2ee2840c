//! Taking over a notes folder of the Python package `hello-agents`: the files, and what only its
//! index knows.
//!
//! The other folder is only read. Its files come out in the format of this one: titles that YAML
//! reads, readable tags, bodies without the title that the package repeats in them.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde_json::Value;

use super::conflict::TWO_NOTES;
use super::error::NoteError;
use super::files;
use super::format::{self, Metadata};
use super::front_matter::NoteText;
use super::index_file::INDEX_FILE;
use super::near::{fingerprint, likeness};
use super::note::{NewNote, Note, NoteId, NoteKind, read_time};
use super::secrets;
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
        let bad = |problem| Err(NoteError::BadValue { field: "folder", problem });
        if !from.is_dir() {
            return bad(format!("names `{}`, which is no folder", from.display()));
        }
        if from
            .canonicalize()
            .is_ok_and(|from| self.folder.canonicalize().is_ok_and(|to| from == to))
        {
            return bad(format!("names `{}`, where the notes lie already", from.display()));
        }
        let scan = files::scan(from, "\0", None::<&files::Nothing>)
            .map_err(NoteError::io("reading", from))?;
        let mut imported = Imported::default();
        let index = read_index(&from.join(INDEX_FILE)).unwrap_or_else(|problem| {
            imported.problems.push((INDEX_FILE.to_owned(), problem));
            BTreeMap::new()
        });
        let mut names: Vec<_> = scan.others().map(|found| found.name.clone()).collect();
        // Those that have an id for a name keep it.
        names.sort_by_key(|name| (format::identity(name, "").is_none(), name.clone()));
        for name in &names {
            let read = files::read(&from.join(name)).map_err(|error| error.to_string());
            let source = read.and_then(|(bytes, _)| {
                String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
            });
            match source.and_then(|source| Foreign::read(name, &source, &index)) {
                Ok(foreign) => self.take_in(&foreign, name, &mut imported)?,
                Err(problem) => imported.problems.push((name.clone(), problem)),
            }
        }
        for id in index.keys().filter(|id| !names.contains(&format!("{id}.md"))) {
            let problem = "the index names it, and there is no such file".to_owned();
            imported.problems.push((format!("{id}.md"), problem));
        }
        let _lock = self.lock()?;
        self.refresh_index();
        Ok(imported)
    }

    /// Takes one note in; others that write wait no longer than for that.
    fn take_in(
        &self,
        foreign: &Foreign,
        name: &str,
        imported: &mut Imported,
    ) -> Result<(), NoteError> {
        let _lock = self.lock()?;
        let second = foreign.id.second().unwrap_or_else(|| self.clock.now().naive_local());
        let mut id = foreign.id.clone();
        for number in 0.. {
            let text = foreign.written_as(&id);
            let path = self.folder.join(id.file_name());
            match atomic_file::create_new(&path, text.as_bytes()) {
                Ok(()) => {
                    imported.notes.push((id, name.to_owned()));
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let here = self.read_file(&id.file_name()).ok();
                    match here.map(|(note, source, _)| foreign.compare(&note, source == text)) {
                        Some(Presence::Here) => imported.already_here.push(name.to_owned()),
                        Some(Presence::Newer) => {
                            let problem = format!("it changed since it was imported as {id}");
                            imported.problems.push((name.to_owned(), problem));
                        }
                        Some(Presence::Other) | None => {
                            id = NoteId::new(second, number);
                            continue;
                        }
                    }
                    return Ok(());
                }
                Err(error) => return Err(NoteError::io("writing", path)(error)),
            }
        }
        Ok(())
    }
}

/// What a note that has the id of one of the package is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    /// The same, as it was or changed here.
    Here,
    /// The same, and changed there since.
    Newer,
    /// Another one.
    Other,
}

/// A note of the package.
struct Foreign {
    id: NoteId,
    new: NewNote,
    created_at: String,
    updated_at: String,
}

impl Foreign {
    /// Tells what a note here is. Its id tells the second alone, so more must be the same.
    fn compare(&self, here: &Note, is_same: bool) -> Presence {
        if is_same {
            return Presence::Here;
        }
        let words = |title: &str, content: &str| fingerprint(title, content);
        let alike = likeness(
            &words(&self.new.title, &self.new.content),
            &words(&here.title, &here.content),
        );
        let has_fraction = self.created_at.contains('.');
        let same_moment = here.created_at == self.created_at;
        if !same_moment || !(has_fraction || here.title == self.new.title || alike >= TWO_NOTES) {
            return Presence::Other;
        }
        let moment = |written: &str| read_time(written, &chrono::Utc);
        if moment(&self.updated_at) > moment(&here.updated_at) {
            Presence::Newer
        } else {
            Presence::Here
        }
    }

    fn read(name: &str, source: &str, index: &BTreeMap<String, Value>) -> Result<Self, String> {
        if let Some((line, what)) = secrets::find(source) {
            return Err(format!("line {line} looks like {what}, and notes go into Git"));
        }
        // What is written anew has line ends of one kind.
        let source = &source.replace("\r\n", "\n");
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

/// Reads both shapes of index: notes by id, and a list of notes. The files are the truth: an index
/// that is not there has nothing to add.
fn read_index(path: &Path) -> Result<BTreeMap<String, Value>, String> {
    let bytes = match files::read(path) {
        Ok((bytes, _)) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(error.to_string()),
    };
    let entries = match serde_json::from_slice(&bytes) {
        Ok(Value::Object(mut object)) => match object.remove("notes") {
            Some(Value::Array(notes)) => notes,
            _ => object.into_iter().map(|(_, entry)| entry).collect(),
        },
        _ => return Err("it is no index, so only the files were read".to_owned()),
    };
    let by_id = entries.into_iter().filter_map(|entry| {
        let id = NoteId::parse(entry["id"].as_str()?)?;
        Some((id.to_string(), entry))
    });
    Ok(by_id.collect())
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

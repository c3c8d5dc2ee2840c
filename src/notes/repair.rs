//! Repairing what the doctor found: conflicts, ids, names. Each file's old bytes are kept, and
//! what was written is read back before it counts.

use std::io;

use super::conflict::{self, Resolution};
use super::doctor::{Checkup, Finding};
use super::error::NoteError;
use super::front_matter::NoteText;
use super::note::NoteId;
use super::store::NoteStore;
use super::trash::Deed;
use super::{body, files, format};
use crate::support::atomic_file;

impl NoteStore {
    /// Repairs what can be; returns what was, each with its diff.
    pub(super) fn repair(&self, found: &Checkup) -> Result<Vec<Finding>, NoteError> {
        let _lock = self.lock()?;
        let mut repaired = Vec::new();
        for finding in found.findings.iter().filter(|finding| finding.fixable) {
            if let Some(diff) = self.repair_one(&finding.file)? {
                repaired.push(Finding { repaired: Some(diff), ..finding.clone() });
            }
        }
        self.refresh_index();
        Ok(repaired)
    }

    /// Repairs a file, and returns the diff; none when nothing could be done after all.
    fn repair_one(&self, file: &str) -> Result<Option<String>, NoteError> {
        let path = self.folder.join(file);
        let bytes = files::read(&path).map_err(NoteError::io("reading", &path))?.0;
        let Ok(source) = String::from_utf8(bytes) else { return Ok(None) };
        if let Some(sides) = conflict::sides(&source) {
            return match sides.resolve() {
                Resolution::Merged(merged) => self.rewrite(file, &source, &merged.text).map(Some),
                Resolution::Split(ours, theirs) => {
                    let first = self.rewrite(file, &source, &ours)?;
                    let second = self.put_under_free_id(file, &theirs)?;
                    Ok(Some(format!("{first}{second}")))
                }
            };
        }
        let Some(id) = file.strip_suffix(".md").and_then(NoteId::parse) else {
            return self.rename_by_id(file, &source).map(Some);
        };
        let fixed =
            format::edited(&source, &[("id", Some(id.to_string()))], None).map_err(|problem| {
                NoteError::Unreadable { file: file.to_owned(), problem: problem.to_string() }
            })?;
        self.rewrite(file, &source, &fixed).map(Some)
    }

    /// Gives a file the name of its id, or another id where that is taken.
    fn rename_by_id(&self, file: &str, source: &str) -> Result<String, NoteError> {
        let written = NoteText::parse(source)
            .ok()
            .and_then(|text| NoteId::parse(&format::read_metadata(&text).ok()?.id));
        let path = self.folder.join(file);
        let Some(id) = written else {
            return Ok(String::new());
        };
        // Two steps, each of which can be undone; killed between them, the same file is there twice.
        let target = self.folder.join(id.file_name());
        let done = match atomic_file::create_new(&target, source.as_bytes()) {
            Ok(()) => {
                self.remember_creation(&id.file_name(), source);
                format!("rename {file} to {}\n", id.file_name())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if files::read(&target).is_ok_and(|(bytes, _)| bytes == source.as_bytes()) {
                    format!("remove {file}, which is {} once more\n", id.file_name())
                } else {
                    let diff = self.put_under_free_id(&id.file_name(), source)?;
                    format!("rename {file}\n{diff}")
                }
            }
            Err(error) => return Err(NoteError::io("writing", target)(error)),
        };
        self.trash.take(Deed::Delete, &path, file).map_err(NoteError::io("moving", &path))?;
        Ok(done)
    }

    /// Remembers a file that was made, so that it can be undone.
    fn remember_creation(&self, file: &str, text: &str) {
        self.trash.remember_creation(file, &format::hash(text.as_bytes()));
    }

    /// Writes a text as another note of the same second.
    fn put_under_free_id(&self, file: &str, source: &str) -> Result<String, NoteError> {
        let second = file.strip_suffix(".md").and_then(NoteId::parse).and_then(|id| id.second());
        let second = second.unwrap_or_else(|| self.clock.now().naive_local());
        let deleted: Vec<String> = self.trash.kept().into_iter().map(|kept| kept.file).collect();
        for number in 0..MOST_OF_A_SECOND {
            let id = NoteId::new(second, number);
            if deleted.contains(&id.file_name()) {
                continue;
            }
            let text = format::edited(source, &[("id", Some(id.to_string()))], None)
                .unwrap_or_else(|_| source.to_owned());
            let path = self.folder.join(id.file_name());
            match atomic_file::create_new(&path, text.as_bytes()) {
                Ok(()) => {
                    self.remember_creation(&id.file_name(), &text);
                    return Ok(body::diff("", &text, "/dev/null", &id.file_name()));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(NoteError::io("writing", path)(error)),
            }
        }
        Err(NoteError::NotFound("a free number".to_owned()))
    }

    fn rewrite(&self, file: &str, old: &str, new: &str) -> Result<String, NoteError> {
        let path = self.folder.join(file);
        let after = format::hash(new.as_bytes());
        self.trash
            .keep(Deed::Update, file, old.as_bytes(), &after)
            .map_err(NoteError::io("keeping a copy of", &path))?;
        atomic_file::replace(&path, new.as_bytes()).map_err(NoteError::io("writing", &path))?;
        // What was written is read again, so that a repair never makes a note unreadable.
        self.read_file(file)?;
        Ok(body::diff(old, new, file, file))
    }
}

/// No second has more notes.
const MOST_OF_A_SECOND: usize = 100_000;

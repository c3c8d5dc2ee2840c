use std::sync::Arc;

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use futures::executor::block_on;

use crate::context::{ContextPacket, ContextSource, Query, SourceFailure};
use crate::notes::{NewNote, NoteEdit, NoteKind, NoteStore, Status};
use crate::support::clock::FixedClock;
use crate::support::paths::Workspace;
use crate::support::tokens::{Encoding, TokenCounter};

pub(super) fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_760_000_000, 0).unwrap()
}

pub(super) fn counter() -> Arc<TokenCounter> {
    Arc::new(TokenCounter::for_encoding(Encoding::O200k))
}

pub(super) fn query(text: &str) -> Query {
    Query { text: text.to_owned(), mode: "auto".to_owned(), now: now(), session: None }
}

pub(super) fn gather(
    source: &dyn ContextSource,
    text: &str,
) -> Result<Vec<ContextPacket>, SourceFailure> {
    gather_for(source, &query(text))
}

pub(super) fn gather_for(
    source: &dyn ContextSource,
    query: &Query,
) -> Result<Vec<ContextPacket>, SourceFailure> {
    block_on(source.gather(query))
}

pub(super) fn workspace(folder: &tempfile::TempDir) -> Workspace {
    Workspace::open(folder.path()).unwrap()
}

/// Makes a folder with files.
#[expect(clippy::disallowed_methods, reason = "a test's own files")]
pub(super) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// A store of notes in a folder of its own.
pub(super) struct Notes {
    folder: tempfile::TempDir,
    store: Arc<NoteStore>,
}

impl Notes {
    pub(super) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = store_at(folder.path().join("notes"));
        Self { folder, store }
    }

    /// A store whose folder is a file.
    pub(super) fn in_place_of_a_folder() -> Self {
        let folder = tree(&[("notes", "")]);
        let store = store_at(folder.path().join("notes"));
        Self { folder, store }
    }

    pub(super) fn store(&self) -> Arc<NoteStore> {
        assert!(self.folder.path().exists());
        Arc::clone(&self.store)
    }

    pub(super) fn add(&self, kind: NoteKind, title: &str, content: &str) -> String {
        self.create(NewNote { kind, ..new_note(title, content) })
    }

    /// Adds a note with a tag, which names its line of work.
    pub(super) fn add_to(&self, tag: &str, kind: NoteKind, title: &str, content: &str) -> String {
        self.create(NewNote { kind, tags: vec![tag.to_owned()], ..new_note(title, content) })
    }

    /// Adds a note that waits for another one.
    pub(super) fn add_after(&self, id: &str, kind: NoteKind, title: &str, content: &str) -> String {
        let extra = [("depends_on".to_owned(), serde_json::json!([id]))].into();
        self.create(NewNote { kind, extra, ..new_note(title, content) })
    }

    pub(super) fn set(&self, id: &str, status: Status) {
        let edit = NoteEdit { status: Some(status), ..NoteEdit::default() };
        self.store.update(id, edit).unwrap();
    }

    fn create(&self, new: NewNote) -> String {
        self.store.create(new).unwrap().note.id.as_str().to_owned()
    }
}

fn store_at(folder: PathBuf) -> Arc<NoteStore> {
    Arc::new(NoteStore::open(folder, Arc::new(FixedClock::at(now().fixed_offset()))))
}

fn new_note(title: &str, content: &str) -> NewNote {
    NewNote { title: title.to_owned(), content: content.to_owned(), ..NewNote::default() }
}

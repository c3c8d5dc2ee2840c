//! The operations on a folder, as a user meets them.

#![expect(clippy::disallowed_methods, reason = "a test writes files as people do")]

mod crashes;
mod deleting;
mod doctor;
mod hostile;
mod imports;
mod known_names;
mod merging;
mod segments;
mod spellings;
mod states;

use std::fs;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use tempfile::TempDir;

use super::trash::Deed;
use super::*;
use crate::support::clock::FixedClock;

fn at(time: &str) -> DateTime<FixedOffset> {
    DateTime::parse_from_rfc3339(time).unwrap()
}

fn store_at(folder: &TempDir, time: &str) -> NoteStore {
    NoteStore::open(folder.path().join("notes"), Arc::new(FixedClock::at(at(time))))
}

fn store(folder: &TempDir) -> NoteStore {
    store_at(folder, "2025-01-19T15:30:00+08:00")
}

fn new(title: &str, content: &str) -> NewNote {
    NewNote { title: title.to_owned(), content: content.to_owned(), ..NewNote::default() }
}

fn put(folder: &TempDir, name: &str, text: &str) {
    fs::create_dir_all(folder.path().join("notes")).unwrap();
    fs::write(folder.path().join("notes").join(name), text).unwrap();
}

fn get(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join("notes").join(name)).unwrap()
}

#[test]
fn a_new_note_lies_in_the_format_of_the_book() {
    let folder = tempfile::tempdir().unwrap();
    let created = store(&folder)
        .create(NewNote {
            title: "项目进展 - 第一阶段".to_owned(),
            content: "# 项目进展\n\n## 完成情况\n已完成数据模型层的重构".to_owned(),
            kind: NoteKind::TaskState,
            tags: vec!["refactoring".to_owned(), "phase1".to_owned(), "后端".to_owned()],
            ..NewNote::default()
        })
        .unwrap();
    assert_eq!(created.note.id.as_str(), "note_20250119_153000_0");
    let expected = "---
id: note_20250119_153000_0
title: 项目进展 - 第一阶段
type: task_state
tags: [\"refactoring\", \"phase1\", \"后端\"]
created_at: 2025-01-19T15:30:00
updated_at: 2025-01-19T15:30:00
---

# 项目进展

## 完成情况
已完成数据模型层的重构
";
    assert_eq!(get(&folder, "note_20250119_153000_0.md"), expected);
    let index: serde_json::Value = serde_json::from_str(&get(&folder, "notes_index.json")).unwrap();
    let entry = &index["note_20250119_153000_0"];
    assert_eq!(entry["type"], "task_state");
    assert_eq!(entry["file_path"], "./notes/note_20250119_153000_0.md");
    assert_eq!(entry.as_object().unwrap().len(), 7);
}

#[test]
fn nothing_is_made_before_the_first_write() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    assert_eq!(store.list(&Filter::default()).unwrap().total, 0);
    assert_eq!(store.search("x", &Filter::default()).unwrap().hits, []);
    assert_eq!(store.summary().unwrap().total_notes, 0);
    assert!(matches!(store.read("note_20250119_153000_0"), Err(NoteError::NotFound(_))));
    assert!(matches!(store.undo(), Err(NoteError::NothingToUndo)));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn ids_of_a_second_count_up_and_are_not_used_twice() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let ids: Vec<String> = (0..3)
        .map(|n| store.create(new(&format!("{n}"), "x")).unwrap().note.id.to_string())
        .collect();
    assert_eq!(ids[2], "note_20250119_153000_2");
    store.delete(&ids[0]).unwrap();
    let next = store.create(new("next", "x")).unwrap();
    assert_eq!(next.note.id.as_str(), "note_20250119_153000_3");
}

#[test]
fn the_start_or_the_end_of_an_id_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    store(&folder).create(new("a", "x")).unwrap();
    let store = store_at(&folder, "2025-02-01T09:00:00+08:00");
    store.create(new("b", "x")).unwrap();
    assert_eq!(store.read("note_20250119").unwrap().title, "a");
    assert_eq!(store.read("090000_0").unwrap().title, "b");
    assert!(matches!(store.read("_0"), Err(NoteError::Ambiguous { .. })));
    assert!(matches!(store.read("777"), Err(NoteError::NotFound(_))));
    for bad in ["../README", "", "/etc/passwd", "note_20250119_153000_0/../x"] {
        assert!(matches!(store.read(bad), Err(NoteError::BadId(_))), "{bad}");
        assert!(matches!(store.delete(bad), Err(NoteError::BadId(_))), "{bad}");
    }
}

#[test]
fn an_update_changes_its_lines_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let text = "\u{feff}---\r\n# mine\r\nid: note_20250101_000000_0\r\ncolour: red # why not\r\ntitle: Old # keep\r\ntags:\r\n  - a\r\ncreated_at: 2025-01-01\r\nupdated_at: '2025-01-01T00:00:00'\r\n---\r\nfirst\r\nsecond\r\n";
    put(&folder, "note_20250101_000000_0.md", text);
    let store = store(&folder);
    let updated = store
        .update(
            "20250101",
            NoteEdit {
                title: Some("New: title".to_owned()),
                content: Some("first\nthird\nsecond".to_owned()),
                status: Some(Status::Doing),
                ..NoteEdit::default()
            },
        )
        .unwrap();
    assert_eq!(updated.changed, ["title", "status open → doing", "content +1 −0 lines"]);
    let expected = "\u{feff}---\r\n# mine\r\nid: note_20250101_000000_0\r\ncolour: red # why not\r\ntitle: 'New: title' # keep\r\ntags:\r\n  - a\r\ncreated_at: 2025-01-01\r\nupdated_at: 2025-01-19T15:30:00\r\nstatus: doing\r\n---\r\nfirst\r\nthird\r\nsecond\r\n";
    assert_eq!(get(&folder, "note_20250101_000000_0.md"), expected);
}

#[test]
fn an_update_that_changes_nothing_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let note = store(&folder).create(new("a", "x")).unwrap().note;
    let store = store_at(&folder, "2025-03-01T00:00:00+08:00");
    let before = get(&folder, &note.file);
    let edit = NoteEdit {
        title: Some("a".to_owned()),
        content: Some("x".to_owned()),
        ..NoteEdit::default()
    };
    assert_eq!(store.update(note.id.as_str(), edit).unwrap().changed, Vec::<String>::new());
    assert_eq!(get(&folder, &note.file), before);
}

#[test]
fn deleting_most_of_a_body_needs_force_and_can_be_undone() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let long =
        "many words that took an hour to write down, one after the other, line by line, and more";
    let body = format!("{long}\n{long} again\n");
    let note = store.create(new("a", &body)).unwrap().note;
    let edit = NoteEdit { content: Some("gone".to_owned()), ..NoteEdit::default() };
    let refused = store.update(note.id.as_str(), edit.clone());
    assert!(matches!(refused, Err(NoteError::DeletesMost { percent: 100, .. })), "{refused:?}");
    store.update(note.id.as_str(), NoteEdit { force: true, ..edit }).unwrap();
    assert_eq!(store.read(note.id.as_str()).unwrap().content, "gone");
    assert_eq!(store.undo().unwrap().what, "update");
    assert_eq!(store.read(note.id.as_str()).unwrap().content, body);
    assert_eq!(store.undo().unwrap().what, "create");
    assert!(matches!(store.undo(), Err(NoteError::NothingToUndo)));
    // A few words may be written anew, and are not taken away by mistake.
    let note = store.create(new("b", "四个字的正文")).unwrap().note;
    let to = |text: &str| NoteEdit { content: Some(text.to_owned()), ..NoteEdit::default() };
    store.update(note.id.as_str(), to("别的话")).unwrap();
    for nothing in ["", " \n"] {
        let error = store.update(note.id.as_str(), to(nothing)).unwrap_err();
        assert!(matches!(error, NoteError::DeletesMost { percent: 100, .. }), "{error}");
    }
}

#[test]
fn a_creation_is_taken_back_and_its_note_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let first = store.create(new("first", "body")).unwrap().note;
    let second = store.create(new("second", "body of the second")).unwrap().note;
    let text = get(&folder, &second.file);
    let undone = store.undo().unwrap();
    assert_eq!((undone.what, undone.title.as_str()), ("create", "second"));
    assert!(!folder.path().join("notes").join(&second.file).exists());
    let kept = undone.kept.unwrap();
    assert_eq!(fs::read_to_string(&kept).unwrap(), text);
    let third = store.create(new("third", "x")).unwrap().note;
    assert_ne!(third.id, second.id, "the id is not given away");
    fs::rename(&kept, folder.path().join("notes").join(&second.file)).unwrap();
    assert_eq!(store.read(second.id.as_str()).unwrap().title, "second");
    // It goes on with what was done before.
    assert_eq!(store.undo().unwrap().id, third.id.as_str());
    assert_eq!(store.undo().unwrap().id, first.id.as_str());
    assert!(matches!(store.undo(), Err(NoteError::NothingToUndo)));
}

#[test]
fn a_new_note_that_was_edited_by_hand_is_left_alone_and_one_that_is_gone_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let first = store.create(new("first", "body")).unwrap().note;
    let second = store.create(new("second", "body of the second")).unwrap().note;
    put(&folder, &second.file, &get(&folder, &second.file).replace("body", "my"));
    assert!(matches!(store.undo(), Err(NoteError::ChangedAfter(id)) if id == second.id.as_str()));
    assert!(get(&folder, &second.file).contains("my of the second"));
    fs::remove_file(folder.path().join("notes").join(&second.file)).unwrap();
    assert_eq!(store.undo().unwrap().id, first.id.as_str());
}

#[test]
fn many_new_notes_push_out_no_former_version() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let note = store.create(new("precious", "body")).unwrap().note;
    store.delete(note.id.as_str()).unwrap();
    for number in 0..230 {
        store.create(new(&format!("{number}"), &format!("body {number}"))).unwrap();
    }
    let kept = store.trash.kept();
    assert_eq!(kept.iter().filter(|kept| kept.deed == Deed::Create).count(), 200);
    assert!(kept.iter().any(|kept| kept.deed == Deed::Delete && kept.file == note.file));
}

#[test]
fn a_deleted_note_comes_back_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let note = store.create(new("a", "body")).unwrap().note;
    let before = get(&folder, &note.file);
    assert_eq!(store.delete(note.id.as_str()).unwrap().title, "a");
    assert_eq!(store.list(&Filter::default()).unwrap().total, 0);
    let undone = store.undo().unwrap();
    assert_eq!((undone.what, undone.title.as_str()), ("delete", "a"));
    assert_eq!(get(&folder, &note.file), before);
}

#[test]
fn edits_made_from_an_old_reading_are_merged_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let note = store.create(new("a", "one\ntwo\nthree\nfour\nfive")).unwrap().note;
    let read = store.read(note.id.as_str()).unwrap();
    let by_hand = get(&folder, &note.file).replace("one", "ONE");
    put(&folder, &note.file, &by_hand);
    let from_read = |content: &str| NoteEdit {
        content: Some(content.to_owned()),
        tags: Some(vec!["new".to_owned()]),
        made_from: Some(read.hash.clone()),
        ..NoteEdit::default()
    };
    let merged = store.update(note.id.as_str(), from_read("one\ntwo\nthree\nfour\nFIVE")).unwrap();
    assert!(merged.merged);
    assert_eq!(merged.note.content, "ONE\ntwo\nthree\nfour\nFIVE");
    assert_eq!(merged.note.tags, ["new"]);
    let refused = store.update(note.id.as_str(), from_read("uno\ntwo\nthree\nfour\nfive"));
    let Err(NoteError::Conflict { diff, .. }) = refused else { panic!("{refused:?}") };
    assert!(diff.contains("-ONE") && diff.contains("+uno"), "{diff}");
}

#[test]
fn changes_by_hand_show_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let note = store.create(new("Old title", "body")).unwrap().note;
    let titles = |store: &NoteStore| -> Vec<String> {
        store.list(&Filter::default()).unwrap().notes.into_iter().map(|entry| entry.title).collect()
    };
    put(&folder, &note.file, &get(&folder, &note.file).replace("Old title", "New title"));
    assert_eq!(titles(&store), ["New title"]);
    put(&folder, "note_20250101_000000_0.md", "---\ntitle: by hand\n---\nneedle\n");
    assert_eq!(titles(&store), ["New title", "by hand"]);
    assert_eq!(store.search("needle", &Filter::default()).unwrap().hits.len(), 1);
    fs::remove_file(folder.path().join("notes").join(&note.file)).unwrap();
    assert_eq!(titles(&store), ["by hand"]);
    for junk in ["", "{", "[]", "<<<<<<< HEAD\n{}\n", "\0\u{1}"] {
        put(&folder, "notes_index.json", junk);
        put(&folder, ".search_index", junk);
        assert_eq!(titles(&store), ["by hand"]);
    }
}

#[test]
fn a_note_that_cannot_be_understood_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    store.create(new("good", "body")).unwrap();
    put(&folder, "note_20250101_000000_0.md", "---\ntitle: x\ntags: [a, b\n---\nburied treasure\n");
    put(&folder, "ideas.md", "just a page with a treasure\n");
    fs::write(folder.path().join("notes/note_20250101_000000_1.md"), b"\xff\xfe treasure").unwrap();
    let listing = store.list(&Filter::default()).unwrap();
    assert_eq!((listing.total, listing.unreadable.len()), (1, 3));
    let found = store.search("treasure", &Filter::default()).unwrap();
    assert_eq!((found.hits.len(), found.unreadable, found.searched), (3, 3, 1));
    assert!(found.hits.iter().all(|hit| hit.note.is_none() && hit.snippet.contains("treasure")));
    let before = get(&folder, "note_20250101_000000_0.md");
    let edit = NoteEdit { title: Some("y".to_owned()), ..NoteEdit::default() };
    let refused = store.update("note_20250101_000000_0", edit);
    assert!(matches!(refused, Err(NoteError::Unreadable { .. })), "{refused:?}");
    assert_eq!(get(&folder, "note_20250101_000000_0.md"), before);
}

#[test]
fn search_tells_what_it_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    store.create(new("Connection pool", "the pool is exhausted under load")).unwrap();
    let old = NewNote { tags: vec!["db".to_owned()], ..new("Old pool", "an older pool") };
    let old = store.create(old).unwrap().note;
    let edit = NoteEdit { status: Some(Status::Superseded), ..NoteEdit::default() };
    store.update(old.id.as_str(), edit).unwrap();
    let found = store.search("the pools unicorn", &Filter::default()).unwrap();
    assert_eq!((found.hits.len(), found.hidden, found.searched), (1, 1, 2));
    assert_eq!(found.missing_terms, ["unicorn"]);
    assert_eq!(found.hits[0].snippet, "the pool is exhausted under load");
    store.create(new("Names", "the `file_name` in HomePage and a codebase")).unwrap();
    for spelled in ["filename", "file_name", "homepages", "codeBase"] {
        let found = store.search(spelled, &Filter::default()).unwrap();
        assert_eq!((found.total, found.missing_terms.len()), (1, 0), "{spelled}");
    }
    let asked = Filter { status: Some(Status::Superseded), ..Filter::default() };
    assert_eq!(store.search("pool", &asked).unwrap().hits[0].entry.title, "Old pool");
    let tagged = Filter { tags: vec!["other".to_owned(), "DB".to_owned()], ..Filter::default() };
    assert_eq!(store.search("pool", &tagged).unwrap().hidden, 1);
}

#[test]
fn blockers_actions_and_states_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let add = |time: &str, title: &str, kind: NoteKind, tags: &[&str]| {
        let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        let note = NewNote { kind, tags, ..new(title, title) };
        store_at(&folder, time).create(note).unwrap().note.id.to_string()
    };
    let blocker = add("2025-01-01T00:00:00Z", "blocker", NoteKind::Blocker, &[]);
    add("2025-01-01T00:00:00Z", "state 1", NoteKind::TaskState, &["refactoring", "phase1"]);
    add("2025-01-02T00:00:00Z", "state 2", NoteKind::TaskState, &["refactoring"]);
    add("2025-01-01T00:00:00Z", "other", NoteKind::TaskState, &["docs"]);
    let action = add("2025-01-01T00:00:00Z", "action", NoteKind::Action, &[]);
    add("2025-01-01T00:00:00Z", "conclusion", NoteKind::Conclusion, &[]);
    let store = store_at(&folder, "2025-01-03T00:00:00Z");
    let titles = |notes: Result<Vec<Note>, NoteError>| -> Vec<String> {
        notes.unwrap().into_iter().map(|note| note.title).collect()
    };
    assert_eq!(titles(store.open_blockers()), ["blocker"]);
    assert_eq!(titles(store.current_task_states()), ["state 2", "other"]);
    assert_eq!(titles(store.open_actions()), ["action"]);
    let summary = store.summary().unwrap();
    assert_eq!((summary.total_notes, summary.recent_notes.len()), (6, 5));
    assert_eq!(summary.type_distribution[&NoteKind::TaskState], 3);
    for id in [&blocker, &action] {
        let done = NoteEdit { status: Some(Status::Done), ..NoteEdit::default() };
        store.update(id, done).unwrap();
    }
    assert_eq!(titles(store.open_blockers()), Vec::<String>::new());
    assert_eq!(titles(store.open_actions()), Vec::<String>::new());
}

#[test]
fn bad_values_and_secrets_are_refused_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let refused = |note: NewNote| store.create(note).unwrap_err().to_string();
    assert!(refused(new("", "x")).contains("`title` is empty"));
    assert!(refused(new("a\nb", "x")).contains("more than one line"));
    assert!(refused(new(&"t".repeat(201), "x")).contains("at most 200"));
    let tagged = NewNote { tags: vec!["a\nb".to_owned()], ..new("a", "x") };
    assert!(refused(tagged).contains("`tags`"));
    let secret = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dE3fG6");
    let message = refused(new("a", &format!("one\ntwo {secret}")));
    assert!(message.contains("line 2 of the content") && !message.contains(&secret), "{message}");
    assert!(!folder.path().join("notes").exists(), "nothing was made");
}

#[test]
fn a_near_duplicate_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let text = "the connection pool is exhausted when more than fifty requests come at once";
    let first = store.create(new("Pool exhausted", text)).unwrap();
    assert_eq!(first.near_duplicate, None);
    let second = store.create(new("Pool is exhausted", text)).unwrap();
    assert_eq!(second.near_duplicate.map(|near| near.id), Some(first.note.id));
    let third = store.create(new("Rename the helper", "in src/app.py")).unwrap();
    assert_eq!(third.near_duplicate, None);
}

#[test]
fn circles_of_dependencies_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let first = store.create(new("a", "x")).unwrap().note.id.to_string();
    let depends = |id: &str| [("depends_on".to_owned(), serde_json::json!([id]))].into();
    let second = NewNote { extra: depends(&first), ..new("b", "y") };
    let second = store.create(second).unwrap().note;
    assert_eq!(second.depends_on, [first.as_str()]);
    let edit = NoteEdit { extra: depends(second.id.as_str()), ..NoteEdit::default() };
    assert!(matches!(store.update(&first, edit), Err(NoteError::Cycle(_))));
}

/// Copies a folder of `fixtures/notes` into a notes folder.
fn fixture(name: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/notes").join(name);
    fs::create_dir(folder.path().join("notes")).unwrap();
    for file in fs::read_dir(from).unwrap().flatten() {
        fs::copy(file.path(), folder.path().join("notes").join(file.file_name())).unwrap();
    }
    folder
}

#[test]
fn what_people_git_and_python_leave_behind_is_read() {
    let folder = fixture("readable");
    let store = store(&folder);
    let listing = store.list(&Filter::default()).unwrap();
    assert_eq!((listing.total, listing.unreadable.len()), (5, 0), "{:?}", listing.unreadable);
    let read = |number: usize| store.read(&format!("note_20250119_153000_{number}")).unwrap();
    assert_eq!((read(0).kind, read(0).tags.len()), (NoteKind::TaskState, 3));
    assert_eq!(
        (read(1).title.as_str(), read(1).tags[0].as_str()),
        ("fix: the parser [WIP] #12", "重构")
    );
    assert_eq!((read(2).title.as_str(), read(2).status), ("saved on Windows", Status::Doing));
    assert_eq!(
        (read(2).extra["colour"].as_str(), read(2).tags.as_slice()),
        (Some("red"), &["a".to_owned(), "b".to_owned()][..])
    );
    assert_eq!(read(2).content, "first line\r\nsecond line");
    assert_eq!(read(3).title, "A page without front matter");
    assert_eq!(read(4).tags, ["ours"]);
}

#[test]
fn what_nobody_understands_is_counted_found_and_left_alone() {
    let folder = fixture("unreadable");
    let store = store(&folder);
    let listing = store.list(&Filter::default()).unwrap();
    assert_eq!((listing.total, listing.unreadable.len()), (0, 4));
    let found = store.search("raw text", &Filter::default()).unwrap();
    assert_eq!((found.hits.len(), found.unreadable), (4, 4));
    assert_eq!(store.doctor(true).unwrap().worst(), Some(Severity::Error));
    for file in fs::read_dir(folder.path().join("notes")).unwrap().flatten() {
        let name = file.file_name();
        if name.to_string_lossy().ends_with(".md") {
            let from =
                std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/notes/unreadable");
            assert_eq!(fs::read(file.path()).unwrap(), fs::read(from.join(name)).unwrap());
        }
    }
}

#[test]
fn a_large_folder_is_written_and_searched_like_a_small_one() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..2_100 {
        let text = format!("---\ntitle: number {number}\n---\n\nword{number} common\n");
        put(&folder, &format!("note_20250101_000000_{number}.md"), &text);
    }
    let store = store(&folder);
    assert_eq!(store.search("word77", &Filter::default()).unwrap().total, 1);
    let first = store.create(new("Pool", "the pool of connections is exhausted")).unwrap();
    assert_eq!(first.near_duplicate, None);
    let twin = store.create(new("Pool", "the pool of connections is exhausted")).unwrap();
    assert_eq!(twin.near_duplicate.map(|near| near.id), Some(first.note.id));
    let old = store.create(new("number 5", "word5 common")).unwrap();
    assert_eq!(old.near_duplicate.map(|near| near.title), Some("number 5".to_owned()));
    for number in 0..80 {
        store.create(new(&format!("later {number}"), &format!("later{number}"))).unwrap();
    }
    let listing = store.list(&Filter::default()).unwrap();
    assert_eq!((listing.total, listing.unreadable.len()), (2_183, 0));
    assert_eq!(listing.notes[0].title, "later 79");
    for query in ["word2099", "later79", "later3"] {
        assert_eq!(store.search(query, &Filter::default()).unwrap().total, 1, "{query}");
    }
    let index: serde_json::Value = serde_json::from_str(&get(&folder, "notes_index.json")).unwrap();
    assert_eq!(index.as_object().unwrap().len(), 2_183);
    // A damaged segment and a changed file are noticed.
    put(&folder, "note_20250101_000000_7.md", "---\ntitle: changed\n---\n\nfresh\n");
    assert_eq!(store.search("word7", &Filter::default()).unwrap().total, 0);
    assert_eq!(store.search("fresh", &Filter::default()).unwrap().total, 1);
    put(&folder, ".search_index", "gknotes3 and then nothing");
    let reopened = self::store(&folder);
    assert_eq!(reopened.search("fresh", &Filter::default()).unwrap().total, 1);
    assert_eq!(reopened.list(&Filter::default()).unwrap().total, 2_183);
}

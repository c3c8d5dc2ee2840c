//! Each write, stopped before each of its system calls as by `kill -9`, or failed there as by a
//! full disk: what was acknowledged is there, and the store opens.

use super::*;
use crate::support::atomic_file::faults::{Fault, at_step};

/// A folder with two notes, and something already deleted.
fn prepared() -> (TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let first = store.create(new("first", "body of the first")).unwrap().note.id.to_string();
    let second = store.create(new("second", "body of the second")).unwrap().note.id.to_string();
    let gone = store.create(new("gone", "x")).unwrap().note.id.to_string();
    store.delete(&gone).unwrap();
    (folder, first, second)
}

fn titles(store: &NoteStore) -> Vec<String> {
    let listing = store.list(&Filter::default()).unwrap();
    assert_eq!(listing.unreadable, []);
    let mut titles: Vec<String> = listing.notes.into_iter().map(|note| note.title).collect();
    titles.sort();
    titles
}

type Write = fn(&NoteStore, &str) -> Result<(), NoteError>;

/// Runs a write with a fault before its nth step, for every n, and checks what a new process sees.
#[track_caller]
fn check(write: Write, before: &[&str], after: &[&str]) {
    for fault in [Fault::Stop, Fault::DiskFull] {
        for nth in 0.. {
            let (folder, first, _) = prepared();
            let (result, came_there) = at_step(nth, fault, || write(&store(&folder), &first));
            let reopened = store(&folder);
            let now = titles(&reopened);
            assert!(now == before || now == after, "step {nth}, {fault:?}: {now:?}");
            if result.is_ok() {
                assert_eq!(now, after, "step {nth}, {fault:?}: it was acknowledged");
            }
            // The next write works, tidies up and loses nothing.
            let later = store_at(&folder, "2025-01-20T09:00:00+08:00");
            later.create(new("later", "z")).unwrap();
            let mut expected = now;
            expected.push("later".to_owned());
            expected.sort();
            assert_eq!(titles(&later), expected);
            for place in ["notes", "notes/.trash"] {
                let left = fs::read_dir(folder.path().join(place)).unwrap().flatten();
                let unfinished = left
                    .filter(|entry| entry.file_name().to_string_lossy().starts_with(".unfinished"));
                assert_eq!(unfinished.count(), 0, "step {nth}, {fault:?}, {place}");
            }
            if !came_there {
                assert!(result.is_ok());
                break;
            }
        }
    }
}

#[test]
fn a_creation_is_whole_or_not_there() {
    check(
        |store, _| store.create(new("third", "body of the third")).map(drop),
        &["first", "second"],
        &["first", "second", "third"],
    );
}

#[test]
fn an_update_is_old_or_new() {
    check(
        |store, id| {
            let edit = NoteEdit { title: Some("changed".to_owned()), ..NoteEdit::default() };
            store.update(id, edit).map(drop)
        },
        &["first", "second"],
        &["changed", "second"],
    );
}

#[test]
fn a_deletion_happens_or_not() {
    check(|store, id| store.delete(id).map(drop), &["first", "second"], &["second"]);
}

#[test]
fn a_creation_is_taken_back_or_not() {
    for nth in 0..40 {
        let (folder, _, _) = prepared();
        let made = store(&folder).create(new("made", "text of it")).unwrap().note;
        let text = get(&folder, &made.file);
        let (_, came_there) = at_step(nth, Fault::Stop, || store(&folder).undo().map(drop));
        let store = store(&folder);
        let in_trash =
            store.trash.kept().into_iter().any(|kept| {
                kept.file == made.file && fs::read_to_string(&kept.path).unwrap() == text
            });
        let is_there = store.read(made.id.as_str()).is_ok();
        assert!(is_there != in_trash, "step {nth}: the note is in one place");
        // What was half done is not in the way of what was before.
        let next = store.undo().unwrap();
        assert_eq!(next.what, if is_there { "create" } else { "delete" }, "step {nth}");
        if !came_there {
            return;
        }
    }
    panic!("an undoing has more steps than this test tries");
}

#[test]
fn an_undo_happens_or_not() {
    check(|store, _| store.undo().map(drop), &["first", "second"], &["first", "gone", "second"]);
}

#[test]
fn an_interrupted_update_can_still_be_undone_to_the_old_bytes() {
    for nth in 0..40 {
        let (folder, first, _) = prepared();
        let before = get(&folder, &format!("{first}.md"));
        let edit = NoteEdit { content: Some("new body".to_owned()), ..NoteEdit::default() };
        let (_, came_there) =
            at_step(nth, Fault::Stop, || store(&folder).update(&first, edit.clone()));
        let store = store(&folder);
        if store.read(&first).unwrap().content == "new body" {
            store.undo().unwrap();
        }
        assert_eq!(get(&folder, &format!("{first}.md")), before);
        if !came_there {
            return;
        }
    }
    panic!("an update has more steps than this test tries");
}

#[test]
fn a_full_disk_is_told_in_a_sentence() {
    let (folder, _, _) = prepared();
    let (result, _) = at_step(2, Fault::DiskFull, || store(&folder).create(new("third", "x")));
    let message = result.unwrap_err().to_string();
    assert!(message.starts_with("writing `") && message.contains("storage"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, first, _) = prepared();
    let notes = folder.path().join("notes");
    let set = |mode| fs::set_permissions(&notes, fs::Permissions::from_mode(mode)).unwrap();
    set(0o555);
    let store = store(&folder);
    assert_eq!(titles(&store), ["first", "second"]);
    assert_eq!(store.search("body", &Filter::default()).unwrap().hits.len(), 2);
    let result = store.create(new("third", "x"));
    set(0o755);
    // Root may write everywhere.
    if let Err(error) = result {
        assert!(matches!(error, NoteError::Io { .. }), "{error}");
    }
    assert_eq!(store.read(&first).unwrap().title, "first");
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let (folder, _, _) = prepared();
    let secret = folder.path().join("secret.md");
    fs::write(&secret, "---\ntitle: secret\n---\nsecret words\n").unwrap();
    let link = folder.path().join("notes/note_20250101_000000_0.md");
    std::os::unix::fs::symlink(&secret, &link).unwrap();
    let store = store(&folder);
    assert_eq!(store.list(&Filter::default()).unwrap().unreadable.len(), 1);
    assert!(store.read("note_20250101_000000_0").is_err());
    assert_eq!(store.search("secret", &Filter::default()).unwrap().hits, []);
    let edit = NoteEdit { title: Some("x".to_owned()), ..NoteEdit::default() };
    assert!(store.update("note_20250101_000000_0", edit).is_err());
    assert!(fs::read_to_string(&secret).unwrap().contains("title: secret"));

    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let linked = folder.path().join("linked");
    std::os::unix::fs::symlink(&elsewhere, &linked).unwrap();
    let through = NoteStore::open(linked, Arc::new(FixedClock::at(at("2025-01-19T15:30:00Z"))));
    assert!(matches!(through.create(new("x", "y")), Err(NoteError::BadFolder { .. })));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn many_writers_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let folder = &folder;
            scope.spawn(move || {
                // A store of its own each, as processes have.
                let store = store(folder);
                for number in 0..10 {
                    store.create(new(&format!("{writer}-{number}"), "x")).unwrap();
                }
            });
        }
    });
    let store = store(&folder);
    let listing = store.list(&Filter::default()).unwrap();
    assert_eq!((listing.total, listing.unreadable.len()), (80, 0));
    let index: serde_json::Value = serde_json::from_str(&get(&folder, "notes_index.json")).unwrap();
    assert_eq!(index.as_object().unwrap().len(), 80);
}

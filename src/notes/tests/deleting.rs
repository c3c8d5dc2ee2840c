//! What cannot be understood can be deleted by its name, and comes back as it was.

use super::*;

/// Deletes a file by a name and takes it back; the bytes are the same before and after.
#[track_caller]
fn check(file: &str, bytes: &[u8], name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes").join(file);
    put(&folder, "note_20250101_000000_5.md", "---\ntitle: a note\n---\n");
    fs::write(&path, bytes).unwrap();
    let store = store(&folder);
    let deleted = store.delete_file(name).unwrap();
    assert_eq!(deleted.title, file);
    assert!(deleted.problem.is_some());
    assert!(!path.exists());
    assert!(store.list(&Filter::default()).unwrap().unreadable.is_empty());
    let undone = store.undo().unwrap();
    assert_eq!((undone.what, undone.id.as_str()), ("delete", file.trim_end_matches(".md")));
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert!(matches!(store.undo(), Err(NoteError::NothingToUndo)));
}

#[test]
fn a_file_that_cannot_be_understood_goes_by_its_name_and_comes_back() {
    let broken = b"---\ntitle: never closed\nbody\n";
    check("note_20250101_000000_0.md", broken, "note_20250101_000000_0");
    check("note_20250101_000000_0.md", broken, "note_20250101_000000_0.md");
    check("note_20250101_000000_0.md", broken, "000000_0");
    check("broken.md", broken, "broken.md");
    check("笔记 一.md", broken, "笔记 一");
    check("note_20250101_000000_0.md", b"\xff\xfe\x00", "note_20250101_000000_0");
    // Longer than any note may be.
    check("note_20250101_000000_0.md", &vec![b'x'; 5 << 20], "note_20250101_000000_0");
}

#[test]
fn a_name_takes_nothing_but_what_is_broken_among_the_notes() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, "broken.md", "---\ntitle: never closed\n");
    put(&folder, "notes_index.json", "{}");
    fs::write(folder.path().join("outside.md"), "---\ntitle: never closed\n").unwrap();
    fs::create_dir(folder.path().join("notes/folder.md")).unwrap();
    std::os::unix::fs::symlink("../outside.md", folder.path().join("notes/link.md")).unwrap();
    let store = store(&folder);
    for name in ["", ".", "..", "../outside", "../outside.md", "notes_index.json", "brok", "gone"] {
        let error = store.delete_file(name).unwrap_err();
        assert!(matches!(error, NoteError::BadId(_) | NoteError::NotFound(_)), "{name}: {error}");
    }
    for name in ["link", "folder.md"] {
        let error = store.delete_file(name).unwrap_err().to_string();
        assert!(error.contains("not a plain file"), "{name}: {error}");
    }
    assert!(folder.path().join("outside.md").exists());
    assert_eq!(store.list(&Filter::default()).unwrap().unreadable.len(), 3);
    // A note goes as by `delete`.
    let id = store.create(new("a note", "body")).unwrap().note.id;
    let deleted = store.delete_file(id.as_str()).unwrap();
    assert_eq!((deleted.title.as_str(), deleted.problem), ("a note", None));
}

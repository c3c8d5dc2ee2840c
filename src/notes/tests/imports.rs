//! A folder of the Python package, taken over.

use super::*;

/// A folder as the Python package leaves it behind, with either shape of index.
fn foreign(index: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "note_20250119_153000_0.md",
        "---\nid: note_20250119_153000_0\ntitle: fix: [WIP] 解析器 #12\ntype: blocker\ntags: [\"\\u91cd\\u6784\", \"\\ud83d\\ude00\"]\ncreated_at: 2025-01-19T15:30:00.123456\nupdated_at: 2025-01-19T16:30:00.123456\n---\n\n# fix: [WIP] 解析器 #12\n\n## 现象\n崩溃",
    );
    write("note_20250119_153000_1.md", "no front matter\n");
    write("README.md", "# what this folder is\n");
    write("notes_index.json", index);
    folder
}

#[test]
fn a_folder_of_the_python_package_is_taken_over() {
    let by_id = r#"{"note_20250119_153000_1": {"id": "note_20250119_153000_1", "title": "From the index", "type": "action", "tags": ["x"], "created_at": "2025-01-18T10:00:00"}}"#;
    let list = format!(
        r#"{{"notes": [{}], "metadata": {{"total_notes": 1}}}}"#,
        &by_id[27..by_id.len() - 1]
    );
    for index in [by_id, &list] {
        let from = foreign(index);
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let imported = store.import(from.path()).unwrap();
        assert_eq!(imported.notes.len(), 2);
        assert_eq!(imported.problems.len(), 1);
        let first = get(&folder, "note_20250119_153000_0.md");
        let expected = "---\nid: note_20250119_153000_0\ntitle: 'fix: [WIP] 解析器 #12'\ntype: blocker\ntags: [\"重构\", \"😀\"]\ncreated_at: 2025-01-19T15:30:00.123456\nupdated_at: 2025-01-19T16:30:00.123456\n---\n\n## 现象\n崩溃\n";
        assert_eq!(first, expected);
        let second = store.read("note_20250119_153000_1").unwrap();
        assert_eq!((second.title.as_str(), second.kind), ("From the index", NoteKind::Action));
        assert_eq!((second.tags[0].as_str(), second.content.as_str()), ("x", "no front matter"));
        assert_eq!(second.created_at, "2025-01-18T10:00:00");
        let again = store.import(from.path()).unwrap();
        assert_eq!((again.notes.len(), again.already_here.len()), (0, 2));
    }
}

#[test]
fn an_id_that_is_taken_becomes_the_next_one() {
    let from = foreign("{}");
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    store.create(new("mine", "x")).unwrap();
    let imported = store.import(from.path()).unwrap();
    let ids: Vec<&str> = imported.notes.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["note_20250119_153000_1", "note_20250119_153000_2"]);
    assert_eq!(store.read("note_20250119_153000_0").unwrap().title, "mine");
    assert!(store.import(&folder.path().join("nowhere")).is_err());
}

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

#[test]
fn a_note_that_changed_after_its_import_is_not_taken_in_again() {
    let from = foreign("{}");
    let folder = tempfile::tempdir().unwrap();
    let store = store_at(&folder, "2026-01-19T15:30:00+08:00");
    assert_eq!(store.import(from.path()).unwrap().notes.len(), 2);
    let edit = NoteEdit { title: Some("mine".to_owned()), ..NoteEdit::default() };
    store.update("note_20250119_153000_0", edit).unwrap();
    let again = store.import(from.path()).unwrap();
    assert_eq!((again.notes.len(), again.already_here.len()), (0, 2));
    // What changed there is told and not thrown in.
    let path = from.path().join("note_20250119_153000_0.md");
    let changed =
        fs::read_to_string(&path).unwrap().replace("updated_at: 2025", "updated_at: 2027");
    fs::write(path, changed).unwrap();
    let again = store.import(from.path()).unwrap();
    let told: Vec<&str> = again.problems.iter().map(|(_, problem)| problem.as_str()).collect();
    assert!(
        told.contains(&"it changed since it was imported as note_20250119_153000_0"),
        "{told:?}"
    );
    assert_eq!(store.read("note_20250119_153000_0").unwrap().title, "mine");
}

#[test]
fn what_could_not_be_taken_over_is_told() {
    let from = foreign(
        r#"{"notes": [{"id": "note_20250119_153009_0", "file_path": "../../x.md"}, {"id": "../x"}, 5]}"#,
    );
    let write = |name: &str, text: &str| fs::write(from.path().join(name), text).unwrap();
    let token = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dE3fG6");
    write("note_20250119_153002_0.md", &format!("---\ntitle: t\n---\n{token}\n"));
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let imported = store.import(from.path()).unwrap();
    let told = |imported: &Imported| {
        let lines = imported.problems.iter().map(|(file, problem)| format!("{file}: {problem}"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let problems = told(&imported);
    assert!(
        problems.contains("153009_0.md: the index names it, and there is no such"),
        "{problems}"
    );
    assert!(problems.contains("153002_0.md: line 4 looks like a GitHub token"), "{problems}");
    assert!(!problems.contains(&token) && imported.problems.len() == 3, "{problems}");
    write("notes_index.json", "{\"notes\":");
    let problems = told(&store.import(from.path()).unwrap());
    assert!(problems.contains("notes_index.json: it is no index"), "{problems}");
    // Its own notes would come in a second time.
    let error = store.import(store.folder()).unwrap_err().to_string();
    assert!(error.contains("where the notes lie already"), "{error}");
}

#[test]
fn windows_line_ends_and_strange_cases_are_taken_over_as_usual_ones() {
    let from = tempfile::tempdir().unwrap();
    let text =
        "\u{feff}---\nid: note_20250119_153000_0\ntitle: t\ntype: Blocker\n---\n\n# t\n\na\nb\n";
    fs::write(from.path().join("note_20250119_153000_0.md"), text.replace('\n', "\r\n")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(store(&folder).import(from.path()).unwrap().notes.len(), 1);
    let text = get(&folder, "note_20250119_153000_0.md");
    assert!(text.ends_with("---\n\na\nb\n") && text.contains("type: blocker\n"), "{text:?}");
}

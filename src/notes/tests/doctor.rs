//! What the doctor finds, and what it leaves behind when it repairs.

use super::*;

const FRONT: &str = "---\nid: note_20250101_000000_0\ntitle: t\ntype: general\ntags: []\ncreated_at: 2025-01-01T00:00:00\nupdated_at: 2025-01-01T00:00:00\n---\n";

fn messages(store: &NoteStore) -> Vec<String> {
    let checkup = store.doctor(false).unwrap();
    let line = |finding: Finding| {
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}: {}", finding.file, finding.message)
    };
    checkup.findings.into_iter().map(line).collect()
}

#[track_caller]
fn check(files: &[(&str, &str)], wanted: &str) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        put(&folder, name, text);
    }
    let messages = messages(&store(&folder));
    assert!(messages.iter().any(|message| message.contains(wanted)), "{wanted}: {messages:#?}");
}

#[test]
fn a_healthy_folder_has_no_findings() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    assert_eq!(store.doctor(true).unwrap(), Checkup { files: 0, findings: Vec::new() });
    store.create(new("a", "one thing")).unwrap();
    store.create(new("b", "quite another matter")).unwrap();
    let checkup = store.doctor(true).unwrap();
    assert_eq!((checkup.files, checkup.findings.len(), checkup.worst()), (2, 0, None));
}

#[test]
fn damage_is_found_with_its_line() {
    let name = "note_20250101_000000_0.md";
    check(
        &[(name, "---\ntitle: x\ntags: [a, b\n---\n")],
        "_0.md:3: the value of `tags` is not YAML",
    );
    check(&[(name, "---\ntitle: x\n")], "_0.md:1: the front matter has no closing `---`");
    let long = format!("---\nx: {}\n---\n", "y".repeat(20_000));
    check(&[(name, &long)], "longer than 16 KiB");
    check(&[(name, "---\ntitle: x\ntype: bug\n---\n")], "_0.md:3: `bug` is not a type of note");
    check(&[(name, "---\ntitle: x\ntitle: y\n---\n")], "_0.md:3: the key `title` is there twice");
    check(&[(name, "just text\n")], "it has no front matter");
    check(&[("page.md", "just text\n")], "neither the file's name nor its `id`");
    check(&[("page.md", FRONT)], "page.md: the file should be named note_20250101_000000_0.md");
    check(
        &[("note_20250101_000000_7.md", FRONT)],
        "its `id` is note_20250101_000000_0, and the file's name counts",
    );
    check(
        &[(name, FRONT), ("page.md", FRONT)],
        "page.md: note_20250101_000000_0.md has the id note_20250101_000000_0 too",
    );
    let waiting = FRONT.replace("tags: []", "depends_on: [note_20200101_000000_0]");
    check(&[(name, &waiting)], "it depends on note_20200101_000000_0, which is not there");
    let circle = FRONT.replace("tags: []", "depends_on: [note_20250101_000000_0]");
    check(
        &[(name, &circle)],
        "wait for each other: note_20250101_000000_0 → note_20250101_000000_0",
    );
    let state = FRONT.replace("general", "task_state").replace("tags: []", "tags: [docs]");
    let newer =
        state.replace("_0\n", "_1\n").replace("updated_at: 2025-01-01", "updated_at: 2025-01-02");
    check(
        &[(name, &state), ("note_20250101_000000_1.md", &newer)],
        "_0.md: `docs` has a newer state, note_20250101_000000_1",
    );
    let key = format!("{FRONT}\n-----BEGIN {} KEY-----\n", "PRIVATE");
    check(&[(name, &key)], "_0.md:10: this looks like a private key");
    let words =
        "the pool of connections is exhausted whenever fifty requests come at the same time";
    let text = format!("{FRONT}\n{words}\n");
    check(
        &[(name, &text), ("note_20250101_000000_1.md", &text.replace("_0\n", "_1\n"))],
        "_1.md: it says almost the same as note_20250101_000000_0.md (100 % of the words)",
    );
}

#[test]
fn conflicts_in_the_front_matter_are_resolved_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let name = "note_20250101_000000_0.md";
    let conflicted = "---\nid: note_20250101_000000_0\ntitle: t\ntype: action\n<<<<<<< HEAD\ntags: [a, b]\nstatus: doing\nupdated_at: 2025-01-03T00:00:00\n=======\ntags: [a, c]\nstatus: done\nupdated_at: 2025-01-02T00:00:00\n>>>>>>> other\n---\n\nbody\n";
    put(&folder, name, conflicted);
    let store = store(&folder);
    // It is read all the same, and not changed by half.
    assert_eq!(store.read(name).unwrap().tags, ["a", "b"]);
    let edit = NoteEdit { title: Some("x".to_owned()), ..NoteEdit::default() };
    assert!(matches!(store.update(name, edit), Err(NoteError::Unreadable { .. })));
    assert_eq!(store.doctor(false).unwrap().worst(), Some(Severity::Error));
    assert_eq!(get(&folder, name), conflicted, "looking changes nothing");

    let checkup = store.doctor(true).unwrap();
    assert_eq!(checkup.worst(), None, "{checkup:#?}");
    let diff = checkup.findings[0].repaired.as_deref().unwrap();
    assert!(diff.contains("-<<<<<<< HEAD"), "{diff}");
    let expected = "---\nid: note_20250101_000000_0\ntitle: t\ntype: action\ntags: [\"a\", \"b\", \"c\"]\nstatus: done\nupdated_at: 2025-01-03T00:00:00\n---\n\nbody\n";
    assert_eq!(get(&folder, name), expected);
    store.undo().unwrap();
    assert_eq!(get(&folder, name), conflicted);
}

#[test]
fn a_conflict_that_a_person_must_decide_stays_in_the_body() {
    let folder = tempfile::tempdir().unwrap();
    let name = "note_20250101_000000_0.md";
    put(
        &folder,
        name,
        &format!("{FRONT}\nsame\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"),
    );
    let store = store(&folder);
    let checkup = store.doctor(true).unwrap();
    assert_eq!(checkup.worst(), Some(Severity::Error));
    let text = get(&folder, name);
    assert!(text.contains("ours\n") && text.contains("theirs\n"), "{text}");
}

#[test]
fn two_notes_under_one_id_become_two() {
    let folder = tempfile::tempdir().unwrap();
    let name = "note_20250101_000000_0.md";
    let ours = FRONT.replace("title: t", "title: pool exhausted") + "\nfifty requests at once\n";
    let theirs =
        FRONT.replace("title: t", "title: rename helper") + "\nit lies about what it does\n";
    put(&folder, name, &format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> other\n"));
    let store = store(&folder);
    let checkup = store.doctor(true).unwrap();
    assert_eq!(checkup.worst(), None, "{checkup:#?}");
    assert_eq!(get(&folder, name), ours);
    let second = store.read("note_20250101_000000_1").unwrap();
    assert_eq!(second.title, "rename helper");

    put(&folder, "page.md", &ours.replace("fifty", "sixty"));
    let checkup = store.doctor(true).unwrap();
    assert_eq!(checkup.worst().filter(|worst| *worst == Severity::Error), None, "{checkup:#?}");
    assert!(store.read("note_20250101_000000_2").unwrap().content.contains("sixty"));
    assert!(!folder.path().join("notes/page.md").exists());
}

#[test]
fn names_and_ids_are_put_right() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, "page.md", FRONT);
    put(&folder, "note_20250101_000000_7.md", &FRONT.replace("title: t", "title: seven"));
    let store = store(&folder);
    store.doctor(true).unwrap();
    assert_eq!(get(&folder, "note_20250101_000000_0.md"), FRONT);
    assert!(get(&folder, "note_20250101_000000_7.md").contains("id: note_20250101_000000_7\n"));
    assert_eq!(store.doctor(false).unwrap().worst(), Some(Severity::Warning).filter(|_| false));
}

fn files(folder: &TempDir) -> Vec<(String, String)> {
    let all = fs::read_dir(folder.path().join("notes")).unwrap().flatten();
    let notes = all.filter(|file| file.path().extension().is_some_and(|ending| ending == "md"));
    let names = notes.map(|file| file.file_name().to_string_lossy().into_owned());
    let mut files: Vec<_> = names.map(|name| (name.clone(), get(folder, &name))).collect();
    files.sort();
    files
}

#[test]
fn every_repair_is_undone_step_by_step() {
    let name = "note_20250101_000000_0.md";
    let two = format!(
        "<<<<<<< HEAD\n{}apples\n=======\n{}pears\n>>>>>>> b\n",
        FRONT.replace("title: t", "title: one"),
        FRONT.replace("title: t", "title: two")
    );
    let other = format!("{FRONT}other\n");
    for before in [
        vec![(name, two.as_str())],
        vec![("copy.md", other.as_str()), (name, FRONT)],
        vec![("wrong.md", other.as_str())],
        vec![("a.md", FRONT), ("b.md", other.as_str())],
    ] {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in &before {
            put(&folder, name, text);
        }
        let as_before = files(&folder);
        assert_eq!(store(&folder).doctor(true).unwrap().worst(), None, "{before:?}");
        assert_ne!(files(&folder), as_before);
        while store(&folder).undo().is_ok() {}
        assert_eq!(files(&folder), as_before);
    }
}

#[test]
fn a_copy_that_a_killed_repair_left_is_no_other_note() {
    let folder = tempfile::tempdir().unwrap();
    put(&folder, "wrong.md", FRONT);
    put(&folder, "note_20250101_000000_0.md", FRONT);
    assert_eq!(store(&folder).doctor(true).unwrap().worst(), None);
    let names: Vec<String> = files(&folder).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["note_20250101_000000_0.md"]);
}

#[test]
fn what_only_a_person_can_resolve_is_left_as_it_is() {
    let name = "note_20250101_000000_0.md";
    let conflict = "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> b\n";
    let nested = "<<<<<<< a\n<<<<<<< b\nx\n=======\ny\n>>>>>>> b\n=======\nz\n>>>>>>> a\n";
    let code = format!("as Git writes it:\n```\n{conflict}```\n");
    for (body, severity) in
        [(conflict, Severity::Error), (nested, Severity::Error), (code.as_str(), Severity::Warning)]
    {
        let folder = tempfile::tempdir().unwrap();
        put(&folder, name, &format!("{FRONT}\n{body}"));
        let before = files(&folder);
        let checkup = store(&folder).doctor(true).unwrap();
        assert_eq!((checkup.findings.len(), checkup.worst()), (1, Some(severity)), "{body}");
        assert!(!checkup.findings[0].fixable && checkup.findings[0].repaired.is_none());
        assert_eq!(files(&folder), before);
    }
    // What can be resolved beside it is, once, and no mark of a base appears that there was not.
    let folder = tempfile::tempdir().unwrap();
    let header =
        FRONT.replace("title: t\n", "<<<<<<< HEAD\ntitle: t\n=======\ntitle: u\n>>>>>>> b\n");
    put(&folder, name, &format!("{header}\nboth of them say so\n{conflict}"));
    for repairs in [1, 0] {
        let checkup = store(&folder).doctor(true).unwrap();
        let repaired = checkup.findings.iter().filter(|finding| finding.repaired.is_some());
        assert_eq!((repaired.count(), checkup.worst()), (repairs, Some(Severity::Error)));
    }
    let text = get(&folder, name);
    assert!(text.contains("title: t\n") && !text.contains("|||||||"), "{text}");
    assert!(text.ends_with("<<<<<<< ours\nmine\n=======\ntheirs\n>>>>>>> theirs\n"), "{text}");
}

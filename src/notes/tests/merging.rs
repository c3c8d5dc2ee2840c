//! Two versions of a note into one.

use super::*;

fn version(fields: &str, body: &str) -> String {
    format!(
        "---\nid: note_20250101_000000_0\ntitle: t\ntype: action\n{fields}created_at: 2025-01-01T00:00:00\n---\n\n{body}\n"
    )
}

#[track_caller]
fn check(base: (&str, &str), ours: (&str, &str), theirs: (&str, &str), expected: (&str, &str)) {
    let [base, ours, theirs, expected] =
        [base, ours, theirs, expected].map(|(fields, body)| version(fields, body));
    let merged = merge_versions(Some(&base), &ours, &theirs);
    assert_eq!(merged.text, expected);
    assert_eq!(merged.conflicts, 0);
}

#[test]
fn fields_are_merged_by_what_they_are() {
    check(
        ("tags: [a, b]\nstatus: open\nupdated_at: 2025-01-01T00:00:00\n", "x"),
        ("tags: [b, c]\nstatus: done\nupdated_at: 2025-01-03T00:00:00\n", "x"),
        ("tags: [a, b, d]\nstatus: doing\nupdated_at: 2025-01-02T00:00:00\n", "x"),
        ("tags: [\"b\", \"c\", \"d\"]\nstatus: done\nupdated_at: 2025-01-03T00:00:00\n", "x"),
    );
    check(
        ("updated_at: 2025-01-01T00:00:00\n", "x"),
        ("updated_at: 2025-01-02T00:00:00\n", "x"),
        ("updated_at: 2025-01-03T00:00:00\n", "x"),
        ("updated_at: 2025-01-03T00:00:00\n", "x"),
    );
}

#[test]
fn what_one_side_adds_comes_in() {
    let base = version("updated_at: 2025-01-01\n", "x");
    let ours = version("updated_at: 2025-01-02\n", "x");
    let theirs = version("updated_at: 2025-01-03\n# a comment\ncolour: red\n", "x");
    let merged = merge_versions(Some(&base), &ours, &theirs);
    assert!(merged.text.contains("colour: red\n---"), "{}", merged.text);
    assert_eq!(merge_versions(Some(&base), &ours, &base).text, ours);
    assert_eq!(merge_versions(Some(&base), &base, &theirs).text, theirs);
}

#[test]
fn lists_of_maps_are_sets_too() {
    let evidence = |paths: &[&str]| {
        let items: Vec<String> =
            paths.iter().map(|path| format!("  - {{path: {path}}}\n")).collect();
        format!("evidence:\n{}updated_at: 2025-01-01\n", items.concat())
    };
    let base = version(&evidence(&["a.rs"]), "x");
    let ours = version(&evidence(&["a.rs", "b.rs"]), "x");
    let theirs = version(&evidence(&["a.rs", "c.rs"]), "x");
    let merged = merge_versions(Some(&base), &ours, &theirs);
    assert_eq!(merged.text, version(&evidence(&["a.rs", "b.rs", "c.rs"]), "x"));
}

#[test]
fn bodies_are_merged_line_by_line() {
    check(
        ("updated_at: 2025-01-01\n", "one\ntwo\nthree"),
        ("updated_at: 2025-01-01\n", "ONE\ntwo\nthree"),
        ("updated_at: 2025-01-01\n", "one\ntwo\nthree\nfour"),
        ("updated_at: 2025-01-01\n", "ONE\ntwo\nthree\nfour"),
    );
    let base = version("updated_at: 2025-01-01\n", "one\ntwo");
    let ours = version("updated_at: 2025-01-02\n", "eins\ntwo");
    let theirs = version("updated_at: 2025-01-03\n", "uno\ntwo");
    let merged = merge_versions(Some(&base), &ours, &theirs);
    assert_eq!(merged.conflicts, 1);
    let wanted = "updated_at: 2025-01-03\ncreated_at: 2025-01-01T00:00:00\n---\n\n<<<<<<< ours\neins\n||||||| base\none\n=======\nuno\n>>>>>>> theirs\ntwo\n";
    assert!(merged.text.ends_with(wanted), "{}", merged.text);
}

#[test]
fn files_that_are_no_notes_are_merged_as_text() {
    let merged = merge_versions(Some("a\nb\nc\n"), "A\nb\nc\n", "a\nb\nC\n");
    assert_eq!((merged.text.as_str(), merged.conflicts), ("A\nb\nC\n", 0));
    let merged = merge_versions(None, "a\n", "b\n");
    assert_eq!(merged.conflicts, 1);
}

#[test]
fn the_driver_puts_the_result_where_git_wants_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, body) in [("base", "a\nb\nc"), ("ours", "A\nb\nc"), ("theirs", "a\nb\nC")] {
        fs::write(path(name), version("updated_at: 2025-01-01\n", body)).unwrap();
    }
    let (base, ours, theirs) = (path("base"), path("ours"), path("theirs"));
    assert_eq!(merge_files(&base, &ours, &theirs, Some(&path("notes/a.md"))).unwrap(), 0);
    assert!(fs::read_to_string(path("ours")).unwrap().ends_with("A\nb\nC\n"));
    assert!(merge_files(&base, &path("missing"), &theirs, None).is_err());
}

#[test]
fn two_notes_that_got_one_id_are_not_made_one() {
    let folder = tempfile::tempdir().unwrap();
    let note = |title: &str, body: &str| {
        format!(
            "---\nid: note_20250119_153000_0\ntitle: {title}\ncreated_at: 2025-01-19T15:30:00\n---\n\n{body}"
        )
    };
    let (ours, theirs) = (note("one", "apples and trees\n"), note("two", "cars or boats"));
    let merged = merge_versions(Some(""), &ours, &theirs);
    assert_eq!(merged.conflicts, 1);
    put(&folder, "note_20250119_153000_0.md", &merged.text);
    assert_eq!(store(&folder).doctor(true).unwrap().worst(), None);
    assert_eq!(get(&folder, "note_20250119_153000_0.md"), ours);
    assert_eq!(store(&folder).read("note_20250119_153000_1").unwrap().content, "cars or boats");
    // One note that both branches took over from elsewhere stays one.
    let changed = ours.replace("title: one", "title: one\ntags: [a]");
    let merged = merge_versions(Some(""), &ours, &changed);
    assert_eq!((merged.text, merged.conflicts), (changed, 0));
}

#[test]
fn comments_of_both_sides_stay_and_are_there_once() {
    let head = |title: &str, comments: [&str; 2]| {
        format!(
            "---\nid: note_20250119_153000_0\n{}title: {title}  # the title\ntype: general\n{}updated_at: 2025-01-{}T00:00:00\n---\n\nbody\n",
            comments[0],
            comments[1],
            title.len() + 10
        )
    };
    let base = head("T", ["# old\n", ""]);
    let ours = head("ours", ["# old\n# of ours\n", ""]);
    let theirs = head("theirs", ["# of theirs\n", "# last\n"]);
    let merged = merge_versions(Some(&base), &ours, &theirs);
    let expected = head("theirs", ["# old\n# of ours\n# of theirs\n", "# last\n"]);
    assert_eq!((merged.text, merged.conflicts), (expected, 0));
}

#[test]
fn line_ends_that_one_side_changed_are_no_conflict() {
    let note = |first: &str, last: &str| {
        format!("---\nid: note_20250119_153000_0\ntitle: t\n---\n\n{first}\n\nb\n\n{last}\n")
    };
    let windows = |text: String| text.replace('\n', "\r\n");
    let (base, merged) = (note("a", "c"), note("A", "C"));
    for (base, ours, theirs, expected) in [
        (base.clone(), note("A", "c"), windows(note("a", "C")), windows(merged.clone())),
        (base.clone(), windows(note("A", "c")), note("a", "C"), windows(merged.clone())),
        (windows(base.clone()), windows(note("A", "c")), note("a", "C"), merged.clone()),
        (windows(base.clone()), windows(note("A", "c")), windows(note("a", "C")), windows(merged)),
    ] {
        let merged = merge_versions(Some(&base), &ours, &theirs);
        assert_eq!((merged.text, merged.conflicts), (expected, 0));
    }
}

#[test]
fn a_conflict_of_line_ends_is_repaired_at_once() {
    let note = |first: &str, last: &str| {
        version("updated_at: 2025-01-01\n", &format!("{first}\nb\nc\n{last}"))
    };
    let (ours, theirs) = (note("A", "d"), note("a", "d\nE"));
    for (ours, theirs) in
        [(ours.replace('\n', "\r\n"), theirs.clone()), (ours, theirs.replace('\n', "\r\n"))]
    {
        let folder = tempfile::tempdir().unwrap();
        let name = "note_20250101_000000_0.md";
        put(&folder, name, &format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> side\n"));
        store(&folder).doctor(true).unwrap();
        let text = get(&folder, name);
        // What only one side added is there, and only the line that both changed is left.
        assert!(
            text.contains("<<<<<<< ours\r\nA\r\n=======\r\na\r\n>>>>>>> theirs\r\nb\r\n"),
            "{text}"
        );
        assert!(text.ends_with("d\r\nE\r\n"), "{text}");
        let again = store(&folder).doctor(false).unwrap();
        assert!(!again.findings.iter().any(|finding| finding.fixable), "{again:?}");
    }
}

#[test]
fn git_is_told_once_and_only_when_there_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("part/.groundskeeper");
    fs::create_dir_all(&state).unwrap();
    fs::write(state.join(".gitignore"), "*").unwrap();
    let program = std::path::Path::new("/opt/it's \"here\"/groundskeeper");
    let set_up = |state| set_up_merging(&folder.path().join("part"), state, program);
    assert!(set_up(&state).is_err());
    fs::create_dir(folder.path().join(".git")).unwrap();
    let old = b"# Andr\xe9\n[core]\n\tbare = false";
    fs::write(folder.path().join(".git/config"), old).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let error = set_up(elsewhere.path()).unwrap_err().to_string();
    assert!(error.contains("lies outside of the repository"), "{error}");
    let written = set_up(&state).unwrap();
    assert_eq!(written.len(), 3);
    assert_eq!(fs::read_to_string(state.join(".gitignore")).unwrap(), "*\n!.gitattributes\n");
    let bytes = fs::read(folder.path().join(".git/config")).unwrap();
    assert!(bytes.starts_with(old));
    let config = String::from_utf8_lossy(&bytes);
    assert!(config.contains("false\n[merge \"groundskeeper-note\"]\n"), "{config}");
    assert!(config.contains(r#"echo '/opt/it'\\''s \"here\"/groundskeeper')"#), "{config}");
    assert_eq!(set_up(&state).unwrap(), []);
    assert_eq!(fs::read(folder.path().join(".git/config")).unwrap(), bytes);

    // A program that lies elsewhere now takes the place of the old one, and nothing else moves.
    let more = [&bytes[..], b"[user]\n\tname = x"].concat();
    fs::write(folder.path().join(".git/config"), &more).unwrap();
    let elsewhere = std::path::Path::new("/elsewhere/groundskeeper");
    let written = set_up_merging(&folder.path().join("part"), &state, elsewhere).unwrap();
    assert_eq!(written.len(), 1);
    let bytes = fs::read(folder.path().join(".git/config")).unwrap();
    assert!(bytes.starts_with(&[&old[..], b"\n[user]\n\tname = x\n[merge "].concat()));
    let config = String::from_utf8_lossy(&bytes);
    assert!(config.contains("/elsewhere/groundskeeper") && !config.contains("/opt/"), "{config}");
    assert_eq!(config.matches("[merge ").count(), 1);
}

//! Whatever people and models write comes back as it was, and no edit changes another line.

use chrono::Offset;
use proptest::prelude::*;

use super::*;
use crate::notes::front_matter::NoteText;

const TITLES: [&str; 24] = [
    "fix: parser",
    "issue #12 # trailing",
    "[WIP] \"quoted\" & *star*",
    "@todo",
    "`code`",
    "true",
    "null",
    "~",
    "2025-01-19",
    "12.50",
    "  padded ",
    "---",
    "...",
    "- item",
    "? key",
    "{a: b}",
    "it's",
    "a\\b",
    "标题：重构",
    "😀 ok",
    "! tag",
    "% percent",
    "a: ",
    "|",
];

const BODIES: [&str; 20] = [
    "",
    "hello",
    "\n",
    "\n\nx",
    "x\n\n",
    "before\n\n---\n\nafter",
    "---\nafter",
    "---\nid: evil\n---\nx",
    "# Findings\n- a",
    "    code\nmore",
    "a\r\nb\r\n",
    "a\rb",
    "a\0b\u{1b}[31m",
    "\u{feff}mark",
    "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n",
    "...",
    "标题\n正文",
    "tab\there ",
    "\r\n",
    " ",
];

#[test]
fn hostile_titles_tags_and_bodies_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    for title in TITLES {
        for body in BODIES {
            let tags = vec![title.trim().to_owned(), "a,b".to_owned(), "q\"q".to_owned()];
            let note = NewNote { tags: tags.clone(), ..new(title, body) };
            let text = format::new_file(
                &NoteId::parse("note_20250101_000000_0").unwrap(),
                &note,
                at("2025-01-01T00:00:00Z"),
            );
            let read = format::read_note(
                "note_20250101_000000_0.md",
                &text,
                DateTime::default(),
                chrono::Utc.fix(),
            );
            let read =
                read.unwrap_or_else(|problem| panic!("{title:?} {body:?}: {problem}\n{text}"));
            assert_eq!((read.title.as_str(), read.content.as_str()), (title, body), "{text:?}");
            assert_eq!(read.tags, tags);
            let yaml: serde_json::Value = crate::support::yaml::read(front_of(&text)).unwrap();
            assert_eq!(yaml["title"], title);
            assert_eq!(yaml["tags"], serde_json::json!(tags));
        }
    }
    let created = store.create(new(TITLES[2], BODIES[7])).unwrap().note;
    assert_eq!(store.read(created.id.as_str()).unwrap().content, BODIES[7]);
}

fn front_of(text: &str) -> &str {
    text.strip_prefix("---\n").unwrap().split("\n---\n").next().unwrap()
}

#[track_caller]
fn check_read(front: &str, title: &str, tags: &[&str]) {
    let text = format!("---\n{front}\n---\nbody\n");
    let text = NoteText::parse(&text).unwrap();
    let metadata = format::read_metadata(&text).unwrap();
    assert_eq!(
        (metadata.title.as_str(), metadata.tags.as_slice()),
        (title, &*tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>())
    );
    assert_eq!(text.body(), "body");
}

#[test]
fn every_spelling_is_read() {
    check_read("title: a: b", "a: b", &[]);
    check_read("title: \"a: b\" # c", "a: b", &[]);
    check_read("title: 'it''s'", "it's", &[]);
    check_read("title: [WIP] x", "[WIP] x", &[]);
    check_read("title: \"unclosed", "\"unclosed", &[]);
    check_read("\"title\": x", "x", &[]);
    check_read("title: >-\n  folded\n  text", "folded text", &[]);
    check_read("title: x\ntags: [a, \"b c\", 'd']", "x", &["a", "b c", "d"]);
    check_read("title: x\ntags:\n- a\n- b", "x", &["a", "b"]);
    check_read("title: x\ntags:\n  - a\n  # why\n  - b", "x", &["a", "b"]);
    check_read("title: x\ntags: a, b", "x", &["a", "b"]);
    check_read("title: x\ntags: [\"\\u91cd\\u6784\"]", "x", &["重构"]);
    check_read("title: x\ntags:", "x", &[]);
    check_read("title: x\ntags: [2024, true, 1.10]", "x", &["2024", "true", "1.10"]);
    check_read("title: x\ntags: [\n  a,\n  b\n  ]", "x", &["a", "b"]);
    check_read("type: action", "body", &[]);
}

#[test]
fn deep_nesting_is_not_read_for_long() {
    let text = format!("---\ntitle: x\nevil: {}\n---\n", "[".repeat(100_000));
    let problem = NoteText::parse(&text).unwrap_err();
    assert!(problem.message.contains("longer than 16 KiB"), "{problem}");
}

/// A file as people could have written it.
fn file() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("plain"),
        Just("'it''s' # c"),
        Just("[x, y]"),
        Just("\n  - x\n  - y"),
        Just(""),
        Just("2025-01-01"),
    ];
    let key = prop_oneof![Just("title"), Just("colour"), Just("created_at"), Just("updated_at")];
    let line = (key, value).prop_map(|(key, value)| format!("{key}: {value}\n"));
    let lines = proptest::collection::btree_set(line, 0..6);
    let comment = prop_oneof![Just(""), Just("# mine\n"), Just("\n")];
    let body =
        prop_oneof![Just(""), Just("body\n"), Just("\nbody\n\nmore"), Just("\n\n---\n\nx\n")];
    (lines, comment, body, any::<bool>(), any::<bool>()).prop_map(
        |(lines, comment, body, crlf, mark)| {
            let lines: String = lines.into_iter().collect();
            let text = format!("---\n{comment}{lines}{comment}---\n{body}");
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            if mark { format!("\u{feff}{text}") } else { text }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_keeps_all_lines_but_its_own(source in file(), title in "[\\PC&&[^\u{2028}\u{2029}]]{1,20}", body in "[a-z\\n \\-]{0,40}") {
        let changes = [("title", Some(values::write_text(&title)))];
        let edited = format::edited(&source, &changes, Some(&body)).unwrap();
        let before = NoteText::parse(&source).unwrap();
        let after = NoteText::parse(&edited).unwrap();
        let metadata = format::read_metadata(&after).unwrap();
        prop_assert_eq!(&metadata.title, &title, "{:?}", edited);
        prop_assert_eq!(after.body().replace("\r\n", "\n"), &*body, "{:?}", edited);
        let others = |text: &NoteText<'_>| -> Vec<String> {
            let keys = text.keys().filter(|(key, _)| *key != "title");
            keys.map(|(key, _)| text.value(key).unwrap().lines.to_owned()).collect()
        };
        prop_assert_eq!(others(&before), others(&after));
        prop_assert_eq!(source.starts_with('\u{feff}'), edited.starts_with('\u{feff}'));
        let comments = |text: &str| text.matches("# mine").count();
        prop_assert_eq!(comments(&source), comments(&edited));
        // Back again: the bytes are those of before, but for a title that was not there.
        let old = before.value("title");
        if let Some(old) = old && old.is_one_line() {
            let back = [("title", Some(old.inline.split(" #").next().unwrap_or_default().trim_end().to_owned()))];
            let restored = format::edited(&edited, &back, Some(before.body())).unwrap();
            let restored_text = NoteText::parse(&restored).unwrap();
            prop_assert_eq!(restored_text.body(), before.body());
            prop_assert_eq!(others(&restored_text), others(&before));
        }
    }

    #[test]
    fn texts_and_lists_are_read_as_they_were_written(texts in proptest::collection::vec("\\PC{0,24}", 0..5), text in "[\\PC\\t]{0,30}") {
        let front = format!("---\ntitle: {}\ntags: {}\n---\n", values::write_text(&text), values::write_list(&texts));
        let parsed = NoteText::parse(&front).unwrap();
        let title = values::read_text("title", parsed.value("title").unwrap()).unwrap();
        prop_assert_eq!(title, text, "{}", front);
        let tags = values::read_list("tags", parsed.value("tags").unwrap()).unwrap();
        prop_assert_eq!(tags, texts, "{}", front);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), front in "[a-z:\\- \\n\\[\\]'\"#]{0,80}") {
        let lossy = String::from_utf8_lossy(&bytes);
        drop(NoteText::parse(&lossy).map(|text| format::read_metadata(&text)));
        let text = format!("---\n{front}\n---\nbody");
        drop(NoteText::parse(&text).map(|text| format::read_metadata(&text)));
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_among_the_notes_and_no_pipe_is_waited_for() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    let pipe = |path: &std::path::Path| {
        rustix::fs::mkfifoat(rustix::fs::CWD, path, rustix::fs::Mode::RWXU).unwrap();
    };
    for name in [".lock", ".search_index", "notes_index.json", ".trash"] {
        for is_link in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            put(&folder, "note_20250101_000000_0.md", "---\ntitle: first\n---\nbody\n");
            let path = folder.path().join("notes").join(name);
            if is_link {
                symlink(outside.path().join(name), &path).unwrap();
            } else {
                pipe(&path);
            }
            let store = store(&folder);
            assert_eq!(store.list(&Filter::default()).unwrap().total, 1, "{name}");
            // Whether it works or is refused, it ends, and nothing comes to be elsewhere.
            store.create(new("second", "x")).ok();
            store.delete("note_20250101_000000_0").ok();
            store.undo().ok();
            let left = fs::read_dir(outside.path()).unwrap().count();
            assert_eq!(left, 0, "{name}");
            if name == ".lock" {
                let error = store.create(new("third", "x")).unwrap_err().to_string();
                assert!(error.ends_with("it is not a plain file"), "{error}");
            }
        }
    }
    // A folder at the other end of the link, which could be written into.
    let folder = tempfile::tempdir().unwrap();
    put(&folder, "note_20250101_000000_0.md", "---\ntitle: first\n---\nbody\n");
    symlink(outside.path(), folder.path().join("notes/.trash")).unwrap();
    let error = store(&folder).delete("note_20250101_000000_0").unwrap_err().to_string();
    assert!(error.contains("symbolic link"), "{error}");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    assert_eq!(store(&folder).list(&Filter::default()).unwrap().total, 1);
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_no_plain_file_is_told_as_such() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    put(&folder, "note_20250101_000000_0.md", "---\ntitle: first\n---\nbody\n");
    let notes = folder.path().join("notes");
    fs::create_dir(notes.join("note_20250101_000000_1.md")).unwrap();
    std::os::unix::fs::symlink("nowhere", notes.join("note_20250101_000000_2.md")).unwrap();
    fs::write(notes.join(OsStr::from_bytes(b"note_\xff.md")), "x").unwrap();
    let listing = store(&folder).list(&Filter::default()).unwrap();
    let mut problems: Vec<String> =
        listing.unreadable.into_iter().filter_map(|entry| entry.problem).collect();
    problems.sort();
    let plain = "it is not a plain file";
    assert_eq!(problems, [plain, plain, "its name is not UTF-8"]);
    let error = store(&folder).read("note_20250101_000000_2").unwrap_err().to_string();
    assert!(error.ends_with("it is a symbolic link, and none is followed"), "{error}");
}

#[test]
fn what_is_no_note_is_found_as_raw_text_whatever_it_is_written_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join("notes").join(name);
    put(&folder, "note_20250101_000000_0.md", "---\ntitle: first\n---\nbody\n");
    let wide: Vec<u16> = "\u{feff}---\ntitle: 宽\n---\nsechzehnbit 重构\n".encode_utf16().collect();
    for (name, bytes) in [
        ("note_20250101_000000_1.md", wide.iter().flat_map(|unit| unit.to_le_bytes()).collect()),
        ("note_20250101_000000_2.md", wide.iter().flat_map(|unit| unit.to_be_bytes()).collect()),
        ("note_20250101_000000_3.md", b"caf\xe9 sechzehnbit".to_vec()),
        ("note_20250101_000000_4.md", "sechzehnbit word\n".repeat(400_000).into_bytes()),
    ] {
        let bytes: Vec<u8> = bytes;
        fs::write(path(name), bytes).unwrap();
    }
    let found = store(&folder).search("sechzehnbit", &Filter::default()).unwrap();
    assert_eq!((found.hits.len(), found.unreadable), (4, 4));
    for hit in &found.hits {
        assert!(hit.note.is_none() && hit.snippet.contains("sechzehnbit"), "{hit:?}");
    }
}

#[test]
fn strange_names_in_the_trash_stop_no_change_and_are_not_brought_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let id = store.create(new("first", "x")).unwrap().note.id;
    for name in [
        "18446744073709551615.update.-.note_20250101_000000_0.md",
        "00000009.delete.-...",
        "00000010.delete.-..hidden.md",
        "00000011.delete.-.notes_index.json",
        "junk",
    ] {
        fs::write(folder.path().join("notes/.trash").join(name), "hostile").unwrap();
    }
    let edit = NoteEdit { title: Some("second".to_owned()), ..NoteEdit::default() };
    store.update(id.as_str(), edit).unwrap();
    store.delete(id.as_str()).unwrap();
    let undone: Vec<&str> = (0..3).map(|_| store.undo().unwrap().what).collect();
    assert_eq!(undone, ["delete", "update", "create"]);
    assert!(matches!(store.undo(), Err(NoteError::NothingToUndo)));
    assert!(!get(&folder, "notes_index.json").contains("hostile"));
}

#[test]
fn no_update_makes_a_note_too_large_to_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let name = "note_20250101_000000_0";
    let before = format!("---\nid: {name}\ntitle: t\n---\n{}\n", "w".repeat((4 << 20) - 60));
    put(&folder, &format!("{name}.md"), &before);
    let edit =
        NoteEdit { tags: Some(vec!["a long word of a tag".to_owned()]), ..NoteEdit::default() };
    let error = store(&folder).update(name, edit).unwrap_err().to_string();
    assert!(error.contains("with the change, it is larger than 4 MiB"), "{error}");
    assert_eq!(get(&folder, &format!("{name}.md")), before);
}

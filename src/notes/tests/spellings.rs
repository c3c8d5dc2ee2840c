//! The spellings of front matter that people, formatters and other programs leave behind.

use std::fmt::Write;

use super::*;
use crate::support::yaml;

const NAME: &str = "note_20250119_153000_0";

fn read(folder: &TempDir, header: &str, body: &str) -> Result<Note, NoteError> {
    put(folder, &format!("{NAME}.md"), &format!("---\nid: {NAME}\n{header}\n---\n{body}"));
    store(folder).read(NAME)
}

#[track_caller]
fn check_tags(header: &str, expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let note = read(&folder, &format!("title: t\n{header}\nlast: 1"), "").unwrap();
    assert_eq!(note.tags, expected, "{header}");
    assert_eq!((note.title.as_str(), &note.extra["last"]), ("t", &serde_json::json!(1)));
    // And what can be read can be changed.
    let edit = NoteEdit { tags: Some(vec!["new".to_owned()]), ..NoteEdit::default() };
    let now = store(&folder).update(NAME, edit).unwrap().note;
    assert_eq!((now.tags, now.extra), (vec!["new".to_owned()], note.extra), "{header}");
}

#[test]
fn tags_are_read_in_any_spelling() {
    check_tags("tags: [\n  a,\n  b,\n]", &["a", "b"]);
    check_tags("tags: [a,\nb c,\n\"d\"]", &["a", "b c", "d"]);
    check_tags("tags:\n  [\n    \"a\",\n    'b]' # [ no\n  ]", &["a", "b]"]);
    check_tags("tags: [\n  \"\\u91cd\\u6784\", \"\\ud83d\\ude00\"\n]", &["重构", "😀"]);
    check_tags("tags: [\n  \"\\ud83d\\ude00\",\n  \"\\ud83d\",\n]", &["😀", "\u{fffd}"]);
    check_tags("tags: {a, b}", &["a", "b"]);
    check_tags("tags: [[a, b], c]", &["a", "b", "c"]);
    check_tags("tags:\n- fix: it\n- x:", &["fix: it", "x"]);
    check_tags(
        "tags:\n- 0x1F\n- -.1\n- 1_000\n- 2025-01-19\n- no",
        &["0x1F", "-.1", "1_000", "2025-01-19", "no"],
    );
    check_tags("tags:\n- a\n- ~\n-\n- null", &["a"]);
    check_tags("base: &base [a, b]\ntags: *base", &["a", "b"]);
    check_tags("tags: 12", &["12"]);
    check_tags("tags: \"a,\nb\"", &["a", "b"]);
}

#[test]
fn marks_and_empty_lines_above_the_front_matter_hide_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("{NAME}.md");
    for above in ["\u{feff}", "\u{feff}\u{feff}", "\n", "\r\n \t\n", "\u{feff}\n\n"] {
        let text = format!("{above}---\nid: {NAME}\ntitle: t\ntype: blocker\n---\n\nbody\n");
        put(&folder, &file, &text);
        let note = store(&folder).read(NAME).unwrap();
        assert_eq!((note.kind, note.content.as_str()), (NoteKind::Blocker, "body"), "{above:?}");
        assert_eq!(store(&folder).list(&Filter::default()).unwrap().notes[0].title, "t");
        let edit = NoteEdit { title: Some("x".to_owned()), ..NoteEdit::default() };
        store(&folder).update(NAME, edit).unwrap();
        assert!(get(&folder, &file).starts_with(&format!("{above}---\nid: {NAME}\ntitle: x\n")));
    }
    // A page that begins with a rule is a page.
    for page in ["\n---\nNote: this\n---\nis text\n", "\n---\ntitle: this\nis text\n"] {
        put(&folder, &file, page);
        assert_eq!(store(&folder).read(NAME).unwrap().content, page.trim_end_matches('\n'));
    }
}

#[track_caller]
fn check_title(written: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let note = read(&folder, &format!("title: {written}"), "").unwrap();
    assert_eq!(note.title, expected, "{written}");
}

#[test]
fn titles_are_one_line_and_as_they_are_written() {
    check_title("-.1", "-.1");
    check_title("'over\n  two lines'", "over two lines");
    check_title("|\n  first\n  second\n", "first second");
    check_title(">-\n  folded\n  text", "folded text");
    check_title("\"\\ud83d\\ude00 ok\"", "😀 ok");
    check_title("\"next\\Nline\"", "next line");
    check_title("a\tb", "a\tb");
}

#[test]
fn a_merge_key_and_other_keys_with_aliases_hide_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let header = "title: t\nbase: &base {owner: me}\n<<: *base\nreview: *base";
    let note = read(&folder, header, "").unwrap();
    assert_eq!(note.extra["review"], serde_json::json!({"owner": "me"}));
    // Without the anchor the alias would mean nothing, so it stays.
    let extra = [("base".to_owned(), serde_json::Value::Null)].into();
    let error = store(&folder).update(NAME, NoteEdit { extra, ..NoteEdit::default() });
    assert!(matches!(error, Err(NoteError::Unreadable { .. })), "{error:?}");
    assert!(get(&folder, &format!("{NAME}.md")).contains(header));
    // Many aliases cost little.
    let mut many = "a: &a x\n".to_owned();
    for number in 0..1500 {
        _ = writeln!(many, "k{number}: *a");
    }
    assert!(read(&folder, many.trim_end(), "").is_err());
}

#[test]
fn an_open_bracket_takes_no_key_along() {
    let folder = tempfile::tempdir().unwrap();
    for title in ["[WIP unclosed", "'it", "\"it", "{x"] {
        let note = read(&folder, &format!("title: {title}\ntags: [a]\ntype: action"), "").unwrap();
        assert_eq!((note.title.as_str(), note.kind), (title, NoteKind::Action));
        assert_eq!(note.tags, ["a"]);
    }
    assert!(read(&folder, "title: x [\nwhat is this", "").is_err());
    let error = read(&folder, "title: [x\nwhat is this\ntype: action", "").unwrap_err().to_string();
    assert!(error.contains("line 4: neither a key"), "{error}");
}

#[test]
fn a_note_without_a_title_of_its_own_can_be_changed() {
    for header in ["type: action", "type: action\ntitle:", "type: action\ntitle: ''  # none"] {
        let folder = tempfile::tempdir().unwrap();
        let note = read(&folder, header, "\n# First line\nbody\n").unwrap();
        assert_eq!(note.title, "First line");
        let edit = NoteEdit { content: Some("other\nbody".to_owned()), ..NoteEdit::default() };
        let now = store(&folder).update(NAME, edit).unwrap().note;
        assert_eq!((now.title.as_str(), now.content.as_str()), ("other", "other\nbody"));
        let file = get(&folder, &format!("{NAME}.md"));
        let is_there = |line: &str| file.lines().any(|other| other == line);
        assert!(header.lines().all(is_there), "no other line changed: {file}");
    }
}

#[test]
fn a_body_that_goes_and_comes_leaves_no_lines_behind() {
    for body in ["", "\n", "\nbody\n"] {
        let folder = tempfile::tempdir().unwrap();
        let old = read(&folder, "title: t\nupdated_at: 2025-01-19T15:30:00", body).unwrap();
        let before = get(&folder, &format!("{NAME}.md"));
        let set = |content: &str| {
            let content = Some(content.to_owned());
            store(&folder)
                .update(NAME, NoteEdit { content, force: true, ..NoteEdit::default() })
                .unwrap();
        };
        for _ in 0..3 {
            for content in ["other", "", &old.content] {
                set(content);
            }
        }
        assert_eq!(get(&folder, &format!("{NAME}.md")).trim_end(), before.trim_end());
        let line_ends = |text: &str| text.len() - text.trim_end().len();
        assert!(line_ends(&get(&folder, &format!("{NAME}.md"))) <= line_ends(&before).max(2));
    }
}

#[test]
fn a_body_with_other_line_ends_than_the_front_matter_ends_with_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let note = read(&folder, "title: t", "\r\na\r\nb\r\n").unwrap();
    assert_eq!(note.content, "a\r\nb");
    let content = Some("a\nc".to_owned());
    store(&folder).update(NAME, NoteEdit { content, ..NoteEdit::default() }).unwrap();
    let now = get(&folder, &format!("{NAME}.md"));
    assert!(now.starts_with("---\nid: ") && now.ends_with("---\n\r\na\r\nc\r\n"), "{now:?}");
}

#[test]
fn a_key_that_is_there_twice_is_removed_twice() {
    let folder = tempfile::tempdir().unwrap();
    read(&folder, "title: t\nowner: me\nowner: you", "").unwrap();
    let extra = [("owner".to_owned(), serde_json::Value::Null)].into();
    let now = store(&folder).update(NAME, NoteEdit { extra, ..NoteEdit::default() }).unwrap().note;
    assert_eq!(now.extra.len(), 0, "{:?}", now.extra);
}

#[test]
fn what_older_yaml_takes_for_truth_numbers_and_dates_is_quoted() {
    let folder = tempfile::tempdir().unwrap();
    for title in ["yes", "No", "on", "OFF", "y", "1_000", "1:30", "190:20:30", "2025-01-19", "="] {
        let file = store(&folder).create(new(title, "")).unwrap().note.file;
        let line = get(&folder, &file).lines().nth(2).unwrap().to_owned();
        assert!(line.ends_with(['\'', '"']), "{line}");
        let read: yaml::Value = yaml::read(&line).unwrap();
        assert_eq!(read["title"], yaml::Value::from(title));
    }
    for title in ["2025 in review", "on call", "1st: x", "0.1 and 0.2"] {
        let file = store(&folder).create(new(title, "")).unwrap().note.file;
        let line = get(&folder, &file).lines().nth(2).unwrap().to_owned();
        assert_eq!(line.contains('\''), title.contains(": "), "{line}");
    }
}

#[test]
fn a_comment_behind_a_value_stays_whatever_is_in_it() {
    for (value, comment) in [
        ("old", "  # it's \"mine\" ]"),
        ("\"old # no\"", " # it's \"mine\" ]"),
        ("'it''s # no'", "  # it's"),
        ("old", "\t# behind a tab"),
        ("old \u{a0}", "  # behind a wide space"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        read(&folder, &format!("title: {value}{comment}"), "").unwrap();
        let edit = NoteEdit { title: Some("a: b".to_owned()), ..NoteEdit::default() };
        let now = store(&folder).update(NAME, edit).unwrap().note;
        assert_eq!(now.title, "a: b");
        let file = get(&folder, &format!("{NAME}.md"));
        assert!(file.contains(&format!("\ntitle: 'a: b'{comment}\n")), "{file}");
    }
    let folder = tempfile::tempdir().unwrap();
    read(&folder, "title: t\ntags: # why\n  - a\nstatus: # none", "").unwrap();
    let edit = NoteEdit {
        tags: Some(vec!["b".to_owned()]),
        status: Some(Status::Done),
        ..NoteEdit::default()
    };
    store(&folder).update(NAME, edit).unwrap();
    let file = get(&folder, &format!("{NAME}.md"));
    assert!(file.contains("\ntags: [\"b\"] # why\n"), "{file}");
    assert!(file.contains("\nstatus: done # none\n"), "{file}");
    let folder = tempfile::tempdir().unwrap();
    let header = "title: \"\\N\"\ntags: [\"a # b\", 'c]'] # \"tags\"";
    let note = read(&folder, header, "first line").unwrap();
    assert_eq!(
        (note.title.as_str(), &note.tags[..]),
        ("first line", &["a # b".to_owned(), "c]".to_owned()][..])
    );
    let edit = NoteEdit {
        content: Some("other line".to_owned()),
        tags: Some(vec!["d".to_owned()]),
        ..NoteEdit::default()
    };
    store(&folder).update(NAME, edit).unwrap();
    let file = get(&folder, &format!("{NAME}.md"));
    assert!(file.contains("\ntags: [\"d\"] # \"tags\"\n"), "{file}");
}

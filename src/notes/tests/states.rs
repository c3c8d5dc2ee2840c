//! Who writes a new state is told of the one that was current.

use super::*;

fn state(title: &str, tags: &[&str]) -> NewNote {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    NewNote { kind: NoteKind::TaskState, tags, ..new(title, &format!("body of {title}")) }
}

/// Writes a state, and returns the title of the one that it comes after.
fn write(store: &NoteStore, state: NewNote) -> Option<String> {
    store.create(state).unwrap().former_state.map(|former| former.title)
}

#[test]
fn a_new_state_tells_which_one_was_current() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    assert_eq!(write(&store, state("first", &["refactoring", "x"])), None);
    assert_eq!(write(&store, state("another line", &["x", "refactoring"])), None);
    assert_eq!(write(&store, state("second", &["refactoring"])).as_deref(), Some("first"));
    let mut third = state("third", &["y"]);
    third.extra.insert("thread".to_owned(), "refactoring".into());
    let third = store.create(third).unwrap();
    let former = third.former_state.unwrap();
    assert_eq!((former.title.as_str(), former.thread.as_deref()), ("second", Some("refactoring")));
    // The other note stays as it is.
    assert_eq!(store.read(former.id.as_str()).unwrap().status, Status::Open);
    for id in [&former.id, &third.note.id] {
        let edit = NoteEdit { status: Some(Status::Superseded), ..NoteEdit::default() };
        store.update(id.as_str(), edit).unwrap();
    }
    assert_eq!(write(&store, state("fourth", &["refactoring"])).as_deref(), Some("first"));
}

#[test]
fn nobody_is_told_where_no_state_was_open_or_none_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    assert_eq!(write(&store, state("without a line", &[])), None);
    assert_eq!(write(&store, state("another", &[])).as_deref(), Some("without a line"));
    store.create(new("general", "body")).unwrap();
    assert_eq!(write(&store, state("of a line", &["x"])), None);
    let mut settled = state("settled", &["x"]);
    settled.extra.insert("status".to_owned(), "done".into());
    assert_eq!(write(&store, settled), None);
    let conclusion = NewNote { kind: NoteKind::Conclusion, ..state("conclusion", &["x"]) };
    assert_eq!(write(&store, conclusion), None);
}

#[test]
fn in_a_large_folder_what_the_files_say_now_counts() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..300 {
        let text = format!(
            "---\ntitle: State {number}\ntype: task_state\ntags: [line{}]\n---\n\nword{number} {}\n",
            number % 3,
            number * number,
        );
        put(&folder, &format!("note_20250101_0000{:02}_{number}.md", number % 60), &text);
    }
    // From the second on a creation does not look at the folder.
    assert_eq!(write(&store(&folder), state("other", &["other"])), None);
    let newest = "note_20250101_000059_299.md";
    assert_eq!(write(&store(&folder), state("a", &["line2"])).as_deref(), Some("State 299"));
    let text = get(&folder, newest).replace("type: task_state", "type: general");
    put(&folder, newest, &text);
    assert_eq!(write(&store(&folder), state("b", &["line2"])).as_deref(), Some("a"));
    // More new notes than are looked at for a likeness.
    let kept = store(&folder);
    for number in 0..40 {
        kept.create(new(&format!("n{number}"), &format!("other{number} words"))).unwrap();
    }
    assert_eq!(write(&store(&folder), state("c", &["line2"])).as_deref(), Some("b"));
}

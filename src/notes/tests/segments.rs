//! What comes out of the derived file of a search is what the files say, whatever changed since.

use super::*;

/// So many notes that a segment file is written.
const MANY: usize = 80;

fn many(folder: &TempDir) {
    for number in 0..MANY {
        let status = if number % 7 == 0 { "superseded" } else { "doing" };
        let text = format!(
            "---\nid: note_20250101_000000_{number}\ntitle: Note {number} 标题\ntype: action\n\
             tags: [tag{}, 重构]\nstatus: {status}\nthread: thread{number}\n\
             depends_on: [note_20250101_000000_0]\ncreated_at: 2025-01-01T00:00:00\n\
             updated_at: 2025-01-02T00:00:{:02}\n---\n\nbody {number}\n",
            number % 3,
            number % 60,
        );
        put(folder, &format!("note_20250101_000000_{number}.md"), &text);
    }
    put(folder, "broken.md", "---\ntitle: [\n---\n");
}

/// Lists with a store that knows nothing yet.
fn list(folder: &TempDir, filter: &Filter) -> Listing {
    store(folder).list(filter).unwrap()
}

#[test]
fn a_list_out_of_a_segment_is_the_list_out_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    many(&folder);
    let tagged = Filter { tags: vec!["TAG1".to_owned()], ..Filter::default() };
    let superseded = Filter { status: Some(Status::Superseded), limit: 5, ..Filter::default() };
    let none = Filter { limit: 0, ..Filter::default() };
    for filter in [Filter::default(), tagged, superseded, none] {
        fs::remove_file(folder.path().join("notes/.search_index")).ok();
        let out_of_files = list(&folder, &filter);
        assert!(folder.path().join("notes/.search_index").exists());
        let out_of_segment = list(&folder, &filter);
        assert_eq!(out_of_segment, out_of_files);
        assert_eq!(out_of_files.unreadable.len(), 1);
        assert_eq!(out_of_files.notes.len(), out_of_files.total.min(filter.limit));
    }
    let newest = &list(&folder, &Filter { limit: 1, ..Filter::default() }).notes[0];
    assert_eq!(newest.file, "note_20250101_000000_59.md");
    assert_eq!(newest.thread.as_deref(), Some("thread59"));
    assert_eq!(newest.depends_on, ["note_20250101_000000_0"]);
}

#[test]
fn what_was_added_removed_renamed_and_edited_shows_in_the_next_list() {
    let folder = tempfile::tempdir().unwrap();
    many(&folder);
    list(&folder, &Filter::default());
    let path =
        |number: usize| folder.path().join(format!("notes/note_20250101_000000_{number}.md"));
    // An edit in place that keeps the size and puts the time back.
    let before = fs::metadata(path(3)).unwrap().modified().unwrap();
    let text = get(&folder, "note_20250101_000000_3.md").replace("Note 3", "Mote 3");
    fs::write(path(3), text).unwrap();
    let file = fs::OpenOptions::new().write(true).open(path(3)).unwrap();
    file.set_modified(before).unwrap();
    fs::remove_file(path(4)).unwrap();
    fs::rename(path(5), path(500)).unwrap();
    fs::copy(path(6), path(600)).unwrap();
    let listing = list(&folder, &Filter::default());
    let files: Vec<&str> = listing.notes.iter().map(|entry| entry.file.as_str()).collect();
    assert_eq!(listing.total, MANY);
    for (number, is_there) in [(4, false), (5, false), (500, true), (6, true), (600, true)] {
        let name = format!("note_20250101_000000_{number}.md");
        assert_eq!(files.contains(&name.as_str()), is_there, "{name}");
    }
    let edited = listing.notes.iter().find(|entry| entry.file.ends_with("_3.md")).unwrap();
    assert_eq!(edited.title, "Mote 3 标题");
    let found = store(&folder).search("body 7", &Filter::default()).unwrap();
    assert_eq!(found.searched, MANY);
    assert_eq!(found.hidden, MANY.div_ceil(7));
}

#[test]
fn a_segment_that_was_damaged_anywhere_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    many(&folder);
    let whole = list(&folder, &Filter::default());
    let search = || store(&folder).search("body 17 标题 重构", &Filter::default()).unwrap();
    let found = search();
    let path = folder.path().join("notes/.search_index");
    let bytes = fs::read(&path).unwrap();
    for at in (0..bytes.len()).step_by(bytes.len() / 20) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        fs::write(&path, &damaged).unwrap();
        assert_eq!(list(&folder, &Filter::default()), whole, "byte {at}");
        fs::write(&path, &damaged).unwrap();
        assert_eq!(search(), found, "byte {at}");
        fs::write(&path, &bytes[..at]).unwrap();
        assert_eq!(search(), found, "cut at {at}");
    }
}

#[test]
fn a_creation_in_a_large_folder_is_compared_with_old_and_new_notes() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..300 {
        let text = format!("---\ntitle: Note {number}\n---\n\nbody word{number} thing{number}\n");
        put(&folder, &format!("note_20250101_000000_{number}.md"), &text);
    }
    let text = |name: &str| format!("{name}1 {name}2 {name}3 {name}4 {name}5 {name}6");
    // The first makes the indices; from then on no creation looks at the folder.
    store(&folder).create(new("alpha", &text("alpha"))).unwrap();
    let beta = store(&folder).create(new("beta", &text("beta"))).unwrap();
    assert_eq!(beta.near_duplicate, None);
    let kept = store(&folder);
    for title in ["alpha", "beta"] {
        let again = kept.create(new(title, &text(title))).unwrap();
        assert_eq!(again.near_duplicate.map(|near| near.title).as_deref(), Some(title));
    }
    fs::remove_file(folder.path().join(format!("notes/{}.md", beta.note.id))).unwrap();
    let index: serde_json::Value = serde_json::from_str(&get(&folder, "notes_index.json")).unwrap();
    assert_eq!(index.as_object().unwrap().len(), 304);
    // An index that is wrong costs a warning at the worst.
    for broken in ["", "{}", "{\n  \"x\": 1\n}\n", "{\n  \"../../x\": {}\n}\n"] {
        put(&folder, "notes_index.json", broken);
        store(&folder).create(new("gamma", broken)).unwrap();
    }
    assert_eq!(store(&folder).list(&Filter::default()).unwrap().total, 307);
}

#[test]
fn nothing_is_missed_in_a_folder_that_several_threads_look_at() {
    let folder = tempfile::tempdir().unwrap();
    let name = |number: usize| format!("note_20250101_000000_{number}.md");
    let text = |number: usize| format!("---\ntitle: Note {number}\n---\n\nbody {number}\n");
    for number in 0..2000 {
        put(&folder, &name(number), &text(number));
    }
    let kept = store(&folder);
    let titles = |store: &NoteStore| {
        let listing = store.list(&Filter::default()).unwrap();
        assert_eq!(listing.total, listing.notes.len());
        let mut titles: Vec<String> = listing.notes.into_iter().map(|note| note.title).collect();
        titles.sort();
        titles
    };
    let mut expected: Vec<String> = (0..2000).map(|number| format!("Note {number}")).collect();
    // The first change is found with what the segment knows, the others with what changed before.
    for round in 0..3 {
        for number in (round..2000).step_by(400) {
            put(&folder, &name(number), &text(number).replace("Note", &format!("Mote{round}")));
            expected[number] = format!("Mote{round} {number}");
        }
        fs::remove_file(folder.path().join("notes").join(name(1000 + round))).unwrap();
        expected[1000 + round] = String::new();
        put(&folder, &name(3000 + round), &text(3000 + round));
        expected.push(format!("Note {}", 3000 + round));
        let mut sorted = expected.clone();
        sorted.retain(|title| !title.is_empty());
        sorted.sort();
        assert_eq!(titles(&kept), sorted, "round {round}");
        assert_eq!(titles(&store(&folder)), sorted, "round {round}");
    }
}

#[test]
fn an_update_and_a_deletion_in_a_large_folder_show_in_the_index() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..400 {
        let text = format!("---\ntitle: Note {number} {}\n---\n\nbody\n", "长标题".repeat(20));
        put(&folder, &format!("note_20250101_000000_{number}.md"), &text);
    }
    let index = || -> serde_json::Value {
        serde_json::from_str(&get(&folder, "notes_index.json")).unwrap()
    };
    let edit = |title: &str| NoteEdit { title: Some(title.to_owned()), ..NoteEdit::default() };
    let kept = store(&folder);
    kept.update("note_20250101_000000_7", edit("first")).unwrap();
    // What is in the index by hand stays there until it is made anew.
    put(&folder, "note_20250101_000000_8.md", "---\ntitle: by hand\n---\n");
    kept.update("note_20250101_000000_9", edit("second")).unwrap();
    kept.delete("note_20250101_000000_399").unwrap();
    let now = index();
    assert_eq!(now.as_object().unwrap().len(), 399);
    assert_eq!(now["note_20250101_000000_7"]["title"], "first");
    assert_eq!(now["note_20250101_000000_9"]["title"], "second");
    assert_ne!(now["note_20250101_000000_8"]["title"], "by hand");
    for number in 0..64 {
        kept.update("note_20250101_000000_7", edit(&number.to_string())).unwrap();
    }
    let now = index();
    assert_eq!(now["note_20250101_000000_7"]["title"], "63");
    assert_eq!(now["note_20250101_000000_8"]["title"], "by hand");
    assert_eq!(now.as_object().unwrap().len(), 399);
}

#[test]
fn a_slip_of_the_finger_finds_what_is_in_the_segment_and_what_came_after() {
    let folder = tempfile::tempdir().unwrap();
    many(&folder);
    // So many words with one beginning that they fill several blocks.
    let letters = || ('a'..='z').chain('A'..='J').map(|letter| letter.to_ascii_lowercase());
    let words: Vec<String> = letters()
        .flat_map(|one| letters().map(move |other| format!("q{one}{other}{one}")))
        .chain(letters().map(|letter| format!("quorum{letter}nz")))
        .collect();
    let note = |id: &str, body: &str| {
        let text = format!("---\nid: {id}\ntitle: {id}\ntype: general\n---\n\n{body}\n");
        put(&folder, &format!("{id}.md"), &text);
    };
    note("note_20250103_000000_0", &format!("{}\n\nthe quorum votes", words.join(" ")));
    list(&folder, &Filter::default());
    assert!(folder.path().join("notes/.search_index").exists());
    note("note_20250103_000000_1", "one more and its leader");
    for (slip, expected) in
        [("qurum", 1), ("qourum", 1), ("leadre", 1), ("leeaders", 1), ("quorxx", 0)]
    {
        let found = store(&folder).search(slip, &Filter::default()).unwrap();
        assert_eq!(found.total, expected, "{slip}");
        assert_eq!(found.missing_terms, [slip]);
        let is_shown = |word: &str| found.hits.iter().all(|hit| hit.snippet.contains(word));
        assert!(is_shown("quorum") || is_shown("leader"), "{:?}", found.hits);
    }
    // What was deleted is meant by nobody.
    fs::remove_file(folder.path().join("notes/note_20250103_000000_1.md")).unwrap();
    assert_eq!(store(&folder).search("leadre", &Filter::default()).unwrap().total, 0);
}

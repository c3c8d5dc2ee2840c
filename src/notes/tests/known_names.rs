//! Names that need not be read again: what comes to the folder or goes shows all the same.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use super::super::files::{Known, Stamp};
use super::super::segment::Segment;
use super::*;

/// So many notes that several threads look at them.
const MANY: usize = 700;

/// Long after every change that a test makes.
const LATER: &str = "2100-01-01T00:00:00Z";

fn name(number: usize) -> String {
    format!("note_20250101_000000_{number}.md")
}

fn text(title: &str) -> String {
    format!("---\ntitle: {title}\ncreated_at: 2025-01-01T00:00:00\n---\n\nbody\n")
}

/// Returns a folder of notes with a segment file.
fn folder_of(count: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..count {
        put(&folder, &name(number), &text(&format!("Note {number}")));
    }
    assert_eq!(titles(&folder, LATER).len(), count);
    folder
}

/// Returns what a store that knows nothing yet shows, sorted.
fn titles(folder: &TempDir, now: &str) -> Vec<String> {
    let listing = store_at(folder, now).list(&Filter::default()).unwrap();
    let mut titles: Vec<String> = listing.notes.into_iter().map(|note| note.title).collect();
    titles.sort();
    titles
}

fn notes(folder: &TempDir) -> PathBuf {
    folder.path().join("notes")
}

fn segment_file(folder: &TempDir) -> PathBuf {
    notes(folder).join(".search_index")
}

fn stamp(folder: &TempDir) -> Stamp {
    Stamp::of(&fs::metadata(notes(folder)).unwrap())
}

/// Returns whether the names of the folder are known as it is now.
fn are_known(folder: &TempDir) -> bool {
    let segment = Segment::open(File::open(segment_file(folder)).unwrap());
    segment.is_some_and(|segment| segment.count_in(stamp(folder)).is_some())
}

/// Returns whether names are ever known on the file system of temporary folders.
fn can_be_known(folder: &TempDir) -> bool {
    files::scan(&notes(folder), "\0", None::<&files::Nothing>).unwrap().folder.is_some()
}

/// Changes something, and goes on until the clock of the system has ticked.
fn change(folder: &TempDir, change: impl FnOnce()) {
    let before = stamp(folder);
    change();
    while stamp(folder) == before {
        put(folder, "scratch", "");
        fs::remove_file(notes(folder).join("scratch")).unwrap();
    }
}

#[test]
fn names_are_known_when_nothing_came_or_went_for_a_while() {
    let folder = folder_of(MANY);
    assert!(!are_known(&folder), "writing the segment file changed the folder");
    let changed = fs::metadata(notes(&folder)).unwrap().ctime();
    let soon = DateTime::from_timestamp(changed + 1, 0).unwrap().to_rfc3339();
    titles(&folder, &soon);
    assert!(!are_known(&folder), "another change might have the same stamp");
    titles(&folder, "2000-01-01T00:00:00Z");
    assert!(!are_known(&folder), "the clock was set back");
    titles(&folder, LATER);
    assert_eq!(are_known(&folder), can_be_known(&folder));
    let written = fs::metadata(segment_file(&folder)).unwrap().ctime_nsec();
    assert_eq!(titles(&folder, LATER).len(), MANY);
    assert_eq!(fs::metadata(segment_file(&folder)).unwrap().ctime_nsec(), written);
}

#[test]
fn what_comes_goes_and_changes_shows_though_names_are_known() {
    let folder = folder_of(MANY);
    let at = |number: usize| notes(&folder).join(name(number));
    let mut expected = titles(&folder, LATER);
    let kept = store_at(&folder, LATER);
    let mut check = |removed: Option<&str>, added: Option<&str>| {
        expected.retain(|title| Some(title.as_str()) != removed);
        expected.extend(added.map(str::to_owned));
        expected.sort();
        assert_eq!(titles(&folder, LATER), expected, "{removed:?} {added:?}");
        let listing = kept.list(&Filter::default()).unwrap();
        assert_eq!(listing.total, expected.len());
        assert_eq!(are_known(&folder), can_be_known(&folder), "{removed:?} {added:?}");
    };
    check(None, None);
    // In place, of the same size, with the time put back: the folder stays as it is.
    let before = fs::metadata(at(3)).unwrap().modified().unwrap();
    fs::write(at(3), text("Mote 3")).unwrap();
    File::options().write(true).open(at(3)).unwrap().set_modified(before).unwrap();
    check(Some("Note 3"), Some("Mote 3"));
    change(&folder, || put(&folder, &name(2000), &text("Added")));
    check(None, Some("Added"));
    change(&folder, || fs::remove_file(at(5)).unwrap());
    check(Some("Note 5"), None);
    change(&folder, || fs::rename(at(6), at(3000)).unwrap());
    check(None, None);
    change(&folder, || fs::rename(at(7), notes(&folder).join("seven.txt")).unwrap());
    check(Some("Note 7"), None);
    change(&folder, || {
        put(&folder, "new", &text("Replaced"));
        fs::rename(notes(&folder).join("new"), at(8)).unwrap();
    });
    check(Some("Note 8"), Some("Replaced"));
    change(&folder, || {
        fs::remove_file(at(9)).unwrap();
        std::os::unix::fs::symlink(at(10), at(9)).unwrap();
    });
    check(Some("Note 9"), None);
    // One that was known beside those of the segment changes, and goes.
    fs::write(at(2000), text("Edited")).unwrap();
    check(Some("Added"), Some("Edited"));
    change(&folder, || fs::remove_file(at(2000)).unwrap());
    check(Some("Edited"), None);
}

#[test]
fn a_name_that_is_no_text_is_read_each_time() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder_of(80);
    let name = std::ffi::OsStr::from_bytes(b"\xff.md");
    if File::create(notes(&folder).join(name)).is_err() {
        // Some systems take no such names.
        return;
    }
    for _ in 0..3 {
        let listing = store_at(&folder, LATER).list(&Filter::default()).unwrap();
        assert_eq!((listing.total, listing.unreadable.len()), (80, 1));
        assert!(!are_known(&folder));
    }
}

#[test]
fn names_beside_the_segment_that_were_damaged_are_read_again() {
    let folder = folder_of(80);
    let end = fs::metadata(segment_file(&folder)).unwrap().len();
    put(&folder, &name(2000), &text("Added"));
    let expected = titles(&folder, LATER);
    assert_eq!(are_known(&folder), can_be_known(&folder));
    for damaged in [&b"xote"[..], b"", b"note_20250101_000000_1.md\0"] {
        let file = OpenOptions::new().write(true).open(segment_file(&folder)).unwrap();
        file.set_len(end + 1).unwrap();
        file.write_all_at(damaged, end).unwrap();
        assert!(!are_known(&folder), "{damaged:?}");
        assert_eq!(titles(&folder, LATER), expected, "{damaged:?}");
        assert_eq!(are_known(&folder), can_be_known(&folder), "{damaged:?}");
    }
}

#[test]
fn a_header_that_was_damaged_or_written_half_is_none() {
    let folder = folder_of(80);
    let expected = titles(&folder, LATER);
    // The folder stands at the end of the header, before byte 300; the eight bytes left out tell
    // where the names beside the segment's begin, and there are none.
    for at in (0..200).step_by(9).chain(200..256).chain(264..300) {
        let byte = fs::read(segment_file(&folder)).unwrap()[at];
        // In place, since another file of that name would change the folder.
        let file = OpenOptions::new().write(true).open(segment_file(&folder)).unwrap();
        file.write_all_at(&[byte ^ 0x10], at as u64).unwrap();
        assert!(!are_known(&folder), "byte {at}");
        assert_eq!(titles(&folder, LATER), expected, "byte {at}");
        change(&folder, || fs::remove_file(notes(&folder).join(name(7))).unwrap());
        assert_eq!(titles(&folder, LATER).len(), expected.len() - 1, "byte {at}");
        put(&folder, &name(7), &text("Note 7"));
        assert_eq!(titles(&folder, LATER), expected, "byte {at}");
    }
}

#[test]
fn an_index_that_is_a_link_is_neither_followed_nor_written() {
    let folder = folder_of(MANY);
    let file = segment_file(&folder);
    fs::rename(&file, folder.path().join("segment")).unwrap();
    // Through a link nothing is written, and none is followed.
    std::os::unix::fs::symlink(folder.path().join("segment"), &file).unwrap();
    let before = fs::read(folder.path().join("segment")).unwrap();
    assert_eq!(titles(&folder, LATER).len(), MANY);
    assert_eq!(fs::read(folder.path().join("segment")).unwrap(), before);
}

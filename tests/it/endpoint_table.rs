//! Each habit of a server is told on the page, has a recorded answer or request, and a test that is
//! named after it.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::collections::BTreeSet;
use std::path::Path;

use pretty_assertions::assert_eq;
use regex::Regex;

/// How many habits of each kind there are: streams, refusals, usage, errors.
const KINDS: [(char, usize); 4] = [('S', 35), ('R', 18), ('U', 10), ('E', 13)];

#[test]
fn every_habit_is_told_recorded_and_tested() {
    let numbered = |(kind, most): (char, usize)| (1..=most).map(move |n| format!("{kind}{n:02}"));
    let all: BTreeSet<String> = KINDS.into_iter().flat_map(numbered).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));

    let page = std::fs::read_to_string(root.join("docs/models.md")).unwrap();
    assert_eq!(found(r"(?m)^\| ([SRUE]\d\d) \| [^|]+ \| [^|]+ \|$", &page), all, "docs/models.md");

    let names = names(&root.join("fixtures/wire")).join("\n");
    assert_eq!(found(r"(?m)^([SRUE]\d\d)[-.]", &names), all, "fixtures/wire");

    let mut tests = String::new();
    for name in self::names(&root.join("src/model/openai/tests")) {
        tests += &std::fs::read_to_string(root.join("src/model/openai/tests").join(name)).unwrap();
    }
    let tested = found(r"#\[(?:tokio::)?test\]\n(?:async )?fn ([srue]\d\d)_", &tests);
    assert_eq!(tested.iter().map(|id| id.to_uppercase()).collect::<BTreeSet<_>>(), all, "tests");
}

fn found(pattern: &str, text: &str) -> BTreeSet<String> {
    let pattern = Regex::new(pattern).unwrap();
    pattern.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

//! Looking up what an answer cites: each `path:line` must be a line of a file of the workspace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::support::paths::Workspace;
use crate::support::plural::counted;

/// What came of looking.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Checked {
    /// How many different places are cited.
    pub(super) claims: usize,
    /// Those that are wrong, each with what the file really has.
    pub(super) wrong: Vec<String>,
}

/// A path with an ending or a folder, a colon, a line or a range of lines.
static CLAIM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"([\p{L}\p{N}_.@+/-]*[\p{L}\p{N}_]\.[A-Za-z][A-Za-z0-9_]*|[\p{L}\p{N}_.@+-]+/[\p{L}\p{N}_.@+/-]*[\p{L}\p{N}_]):(\d{1,7})(?:-(\d{1,7}))?\b").ok()
});

/// At most so many places are looked up.
const MOST_CLAIMS: usize = 500;

/// Checks each place that `answer` cites. What looks like a place of another kind (a URL with a
/// port, a version, a time) is left alone.
pub(super) fn check(answer: &str, workspace: &Workspace) -> Checked {
    let mut checked = Checked::default();
    let mut lines_of: BTreeMap<String, Option<u64>> = BTreeMap::new();
    let is_there = |path: &str| count_lines(workspace, path).is_some();
    for (path, from, to) in cited(answer, is_there) {
        let count = *lines_of.entry(path.clone()).or_insert_with(|| count_lines(workspace, &path));
        checked.claims += 1;
        let place =
            if from == to { format!("{path}:{from}") } else { format!("{path}:{from}-{to}") };
        match count {
            None => checked.wrong.push(format!("`{place}`: there is no such file")),
            Some(count) if from == 0 || to > count || from > to => {
                let lines = counted(count, "line", "lines");
                checked.wrong.push(format!("`{place}`: the file has {lines}"));
            }
            Some(_) => {}
        }
    }
    checked
}

/// Returns the places that an answer cites. A code span that names a file as a whole is taken
/// whole, since a name may hold spaces; elsewhere a place ends where its word does.
fn cited(answer: &str, is_there: impl Fn(&str) -> bool) -> BTreeSet<(String, u64, u64)> {
    let mut words = String::with_capacity(answer.len());
    let mut places = BTreeSet::new();
    for (index, part) in answer.split('`').enumerate() {
        let span = if index % 2 == 1 { spaced_span(part) } else { None };
        match span.filter(|(path, ..)| is_there(path)) {
            Some(place) => drop(places.insert(place)),
            None => words.push_str(part),
        }
        words.push('`');
    }
    places.extend(cited_in_words(&words));
    places.into_iter().take(MOST_CLAIMS).collect()
}

/// Reads a code span as one place whose name holds spaces.
fn spaced_span(span: &str) -> Option<(String, u64, u64)> {
    let (path, lines) = span.rsplit_once(':')?;
    let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
    let path = path.strip_prefix("./").unwrap_or(path);
    path.contains(char::is_whitespace).then_some(())?;
    Some((path.to_owned(), from.parse().ok()?, to.parse().ok()?))
}

fn cited_in_words(answer: &str) -> BTreeSet<(String, u64, u64)> {
    let Some(claim) = CLAIM.as_ref() else { return BTreeSet::new() };
    let place = |found: regex::Captures<'_>| {
        let whole = found.get(0)?;
        let before = &answer[..whole.start()];
        if before.ends_with("//") || before.ends_with(':') || before.ends_with('\\') {
            return None;
        }
        let path = found.get(1)?.as_str();
        let path = path.strip_prefix("./").unwrap_or(path);
        let from = found.get(2)?.as_str().parse().ok()?;
        let to = found.get(3).map_or(Some(from), |to| to.as_str().parse().ok())?;
        Some((path.to_owned(), from, to))
    };
    claim.captures_iter(answer).filter_map(place).collect()
}

/// Returns how many lines a file of the workspace has; none when it is not there, not inside, or
/// no file.
fn count_lines(workspace: &Workspace, path: &str) -> Option<u64> {
    let relative = Path::new(path);
    let inside = relative.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let full = workspace.root().join(relative);
    if !inside || !full.is_file() {
        return None;
    }
    let mut reader = BufReader::new(File::open(full).ok()?);
    let mut count = 0;
    loop {
        let available = reader.fill_buf().ok()?;
        if available.is_empty() {
            return Some(count);
        }
        let length = available.len();
        // A last line without its end counts: the next round sees whether more follows.
        let ends = available.split(|byte| *byte == b'\n').count() as u64 - 1;
        let unfinished = available.last() != Some(&b'\n');
        reader.consume(length);
        count += ends;
        if unfinished && reader.fill_buf().ok()?.is_empty() {
            return Some(count + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[track_caller]
    fn check_wrong(answer: &str, claims: usize, wrong: &[&str]) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test's own files")]
        for (name, text) in
            [("src/a.rs", "1\n2\n3\n"), ("src/模型.py", "1\n2"), ("子 目录.py", "1\n")]
        {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let workspace = Workspace::open(folder.path()).unwrap();
        let checked = check(answer, &workspace);
        assert_eq!(
            (checked.claims, checked.wrong),
            (claims, wrong.iter().map(|w| (*w).to_owned()).collect())
        );
    }

    #[test]
    fn a_place_that_is_there_is_right() {
        check_wrong("see `src/a.rs:3`, src/a.rs:1-3 and ./src/a.rs:3, src/模型.py:2。", 3, &[]);
    }

    #[test]
    fn a_place_that_is_not_there_is_told() {
        check_wrong(
            "src/a.rs:4 and src/b.rs:1 and src/a.rs:2-9 and src/a.rs:0 and ../x/a.rs:1",
            5,
            &[
                "`../x/a.rs:1`: there is no such file",
                "`src/a.rs:0`: the file has 3 lines",
                "`src/a.rs:2-9`: the file has 3 lines",
                "`src/a.rs:4`: the file has 3 lines",
                "`src/b.rs:1`: there is no such file",
            ],
        );
    }

    #[test]
    fn a_name_with_spaces_is_one_name_in_a_code_span() {
        check_wrong(
            "`子 目录.py:1`, `子 目录.py:2`, run `wc -l src/a.rs:2`",
            3,
            &["`子 目录.py:2`: the file has 1 line"],
        );
    }

    #[test]
    fn what_only_looks_like_a_place_is_left_alone() {
        check_wrong("http://localhost:8080 at 12:30, https://example.org:443/x, ratio 3:1", 0, &[]);
    }
}

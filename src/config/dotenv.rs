//! A `.env` file: lines of `NAME=value`, as many tools write them.
//!
//! It comes with the current folder, so it is believed less than anything that a person has set
//! elsewhere. What is no assignment is passed over; nothing is expanded and nothing is run.

use std::collections::BTreeMap;
use std::path::Path;

/// A longer file is no `.env`.
const MOST_BYTES: u64 = 64 * 1024;

/// Reads a file; one that is not there or not readable holds nothing.
pub(super) fn read(path: &Path) -> BTreeMap<String, String> {
    let is_small_file = std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MOST_BYTES);
    if !is_small_file {
        return BTreeMap::new();
    }
    let bytes = std::fs::read(path).unwrap_or_default();
    parse(&String::from_utf8_lossy(&bytes))
}

/// Reads the lines; the later of two assignments counts.
fn parse(text: &str) -> BTreeMap<String, String> {
    text.trim_start_matches('\u{feff}').lines().filter_map(assignment).collect()
}

fn assignment(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim();
    let is_name = name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && name.chars().next().is_some_and(|letter| !letter.is_ascii_digit());
    if !is_name {
        return None;
    }
    Some((name.to_owned(), unquoted(value.trim())))
}

fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote)
            && let Some((inner, _)) = rest.split_once(quote)
        {
            return inner.to_owned();
        }
    }
    // A comment begins with a blank before it, so that `#` in a value stays.
    value.split(" #").next().unwrap_or_default().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignments_are_read_and_all_else_is_passed_over() {
        let found = parse(
            "\u{feff}# a comment\nA=1\n export B = 'two # words' # why\nC=\"x\"\r\nD=a#b # c\n\
             E=\nno assignment\n2F=x\nA=again\nÜ=x\n",
        );
        let found: Vec<_> =
            found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let expected = [("A", "again"), ("B", "two # words"), ("C", "x"), ("D", "a#b"), ("E", "")];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_no_small_file_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).is_empty());
        assert!(read(&folder.path().join("no")).is_empty());
        let path = folder.path().join(".env");
        #[expect(clippy::disallowed_methods, reason = "a test's own file")]
        std::fs::write(&path, b"A=\xff\nB=2\n").unwrap();
        assert_eq!(read(&path).get("B").map(String::as_str), Some("2"));
    }
}

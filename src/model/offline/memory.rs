//! What the notes tool answers, as far as the rules need it: ids and the lines they stand on.

use std::sync::LazyLock;

use regex::Regex;

static ID: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"note_\d{8}_\d{6}_\d+").ok());

/// A note as a list or a search shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: String,
    /// The line that names it.
    pub(super) line: String,
}

impl Entry {
    /// Returns whether the line shows this title and no longer one.
    pub(super) fn has_title(&self, title: &str) -> bool {
        self.line.match_indices(title).any(|(at, _)| {
            let before = self.line[..at].chars().next_back();
            let after = self.line[at + title.len()..].chars().next();
            let goes_on = |letter: Option<char>| {
                letter.is_some_and(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '/'))
            };
            !goes_on(before) && !goes_on(after)
        })
    }
}

/// Returns the notes of a list or a search, each once, in its order.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.lines() {
        if let Some(id) = first_id(line)
            && !entries.iter().any(|entry| entry.id == id)
        {
            entries.push(Entry { id, line: line.to_owned() });
        }
    }
    entries
}

/// Returns the first id in a text.
pub(super) fn first_id(text: &str) -> Option<String> {
    ID.as_ref()?.find(text).map(|found| found.as_str().to_owned())
}

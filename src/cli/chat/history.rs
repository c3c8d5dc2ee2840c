//! What was typed in earlier chats: one file of the user, outside every repository.
//!
//! A line of the file is one entry as a JSON string. The file is bounded, readable by its owner
//! alone, and shared by all chats of the user: each entry is added to what the others left. A
//! history that cannot be read or written is told once and changes nothing else.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::support::atomic_file::{self, Lock};

/// The file keeps so many entries.
const MOST_ENTRIES: usize = 1000;

/// A longer entry is not kept: it is a pasted file rather than something typed.
const LONGEST_ENTRY: usize = 16 * 1024;

/// The file is at most so long.
const MOST_BYTES: usize = 1024 * 1024;

/// How long to wait for another chat that is writing.
const PATIENCE: Duration = Duration::from_secs(1);

/// The history file of a user.
#[derive(Debug)]
pub(super) struct History {
    file: PathBuf,
}

impl History {
    /// Returns the history in the user's state folder.
    pub(super) fn in_folder(folder: &Path) -> Self {
        Self { file: folder.join("chat_history.jsonl") }
    }

    /// Returns the entries, the oldest first; lines that are none are left out.
    pub(super) fn read(&self) -> io::Result<Vec<String>> {
        let bytes = match fs::read(&self.file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let tail = &bytes[bytes.len().saturating_sub(MOST_BYTES)..];
        let text = String::from_utf8_lossy(tail);
        let entries = text.lines().filter_map(|line| serde_json::from_str(line).ok());
        Ok(entries.collect())
    }

    /// Adds an entry. What is like the newest one, too long, or begins with a blank is not kept.
    pub(super) fn add(&self, entry: &str) -> io::Result<()> {
        if entry.trim().is_empty() || entry.starts_with(' ') || entry.len() > LONGEST_ENTRY {
            return Ok(());
        }
        if let Some(folder) = self.file.parent() {
            atomic_file::make_private_folder(folder)?;
        }
        let _lock = Lock::take(&self.file.with_extension("lock"), PATIENCE)?;
        let mut entries = self.read()?;
        if entries.last().is_some_and(|last| last == entry) {
            return Ok(());
        }
        entries.push(entry.to_owned());
        let mut lines: Vec<String> = Vec::new();
        let mut bytes = 0;
        for entry in entries.iter().rev().take(MOST_ENTRIES) {
            let line = serde_json::to_string(entry)? + "\n";
            bytes += line.len();
            if bytes > MOST_BYTES {
                break;
            }
            lines.push(line);
        }
        lines.reverse();
        atomic_file::replace_private(&self.file, lines.concat().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn history() -> (tempfile::TempDir, History) {
        let folder = tempfile::tempdir().unwrap();
        let history = History::in_folder(&folder.path().join("state"));
        (folder, history)
    }

    #[test]
    fn entries_come_back_word_for_word_also_those_of_another_chat() {
        let (_folder, history) = history();
        let other = History { file: history.file.clone() };
        assert_eq!(history.read().unwrap(), Vec::<String>::new());
        history.add("one\ntwo \\ \"three\"").unwrap();
        other.add("订单").unwrap();
        history.add("订单").unwrap();
        history.add(" not this").unwrap();
        history.add("\n").unwrap();
        assert_eq!(other.read().unwrap(), ["one\ntwo \\ \"three\"", "订单"]);
    }

    #[test]
    fn the_file_is_bounded_whatever_is_typed() {
        let (_folder, history) = history();
        history.add(&"x".repeat(LONGEST_ENTRY + 1)).unwrap();
        assert_eq!(history.read().unwrap().len(), 0);
        let old = "\"entry\"\n".repeat(MOST_ENTRIES + 5);
        fs::create_dir_all(history.file.parent().unwrap()).unwrap();
        atomic_file::replace(&history.file, old.as_bytes()).unwrap();
        history.add("newest").unwrap();
        let entries = history.read().unwrap();
        assert_eq!(entries.len(), MOST_ENTRIES);
        assert_eq!(entries.last().unwrap(), "newest");
        for number in 0..100 {
            history.add(&format!("{number}{}", "y".repeat(LONGEST_ENTRY - 4))).unwrap();
        }
        assert!(fs::read(&history.file).unwrap().len() <= MOST_BYTES);
        assert!(history.read().unwrap().last().unwrap().starts_with("99y"));
    }

    #[test]
    fn damage_costs_no_more_than_the_damaged_line() {
        let (_folder, history) = history();
        history.add("good").unwrap();
        let damaged = b"\xff\xfe not a string\n\"good\"\n\"torn".to_vec();
        atomic_file::replace(&history.file, &damaged).unwrap();
        history.add("new").unwrap();
        assert_eq!(history.read().unwrap(), ["good", "new"]);
    }

    #[test]
    #[cfg(unix)]
    fn nobody_else_reads_it() {
        use std::os::unix::fs::PermissionsExt;
        let (_folder, history) = history();
        history.add("secret question").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&history.file), 0o600);
        assert_eq!(mode(history.file.parent().unwrap()), 0o700);
        // Also when it was made by somebody who let others read.
        fs::set_permissions(&history.file, fs::Permissions::from_mode(0o644)).unwrap();
        history.add("another").unwrap();
        assert_eq!(mode(&history.file), 0o600);
    }
}

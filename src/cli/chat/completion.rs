//! What a word of the line may go on with: commands of the chat, modes, ids of notes.

use super::input::Slash;
use crate::agent::Mode;

/// A word that may stand there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// What is put into the line.
    pub(super) word: String,
    /// What is shown when there are several.
    pub(super) shown: String,
}

/// Returns where the word before the cursor begins, and what may stand there. `notes` is asked for
/// ids and titles when one could be meant.
pub(super) fn complete(
    line: &str,
    cursor: usize,
    notes: impl FnOnce() -> Vec<(String, String)>,
) -> (usize, Vec<Candidate>) {
    let before = line.get(..cursor).unwrap_or(line);
    let start = before.rfind([' ', '\n', '\t', '`', '(']).map_or(0, |at| at + 1);
    let word = &before[start..];
    let candidates = if let Some(name) = before.strip_prefix('/').filter(|_| start == 0) {
        let known = Slash::ALL.into_iter().filter(|slash| slash.name().starts_with(name));
        known.map(command).collect()
    } else if before[..start].trim_end() == "/mode" {
        let names = Mode::ALL.map(|mode| mode.row().name);
        names.into_iter().filter(|name| name.starts_with(word)).map(plain).collect()
    } else if is_id(word) {
        let ids = notes().into_iter().filter(|(id, _)| id.starts_with(word));
        ids.map(|(id, title)| Candidate { shown: format!("{id}  {title}"), word: id }).collect()
    } else {
        Vec::new()
    };
    (start, candidates)
}

fn command(slash: Slash) -> Candidate {
    let name = slash.name();
    let space = if slash.arguments().is_empty() { "" } else { " " };
    Candidate { word: format!("/{name}{space}"), shown: format!("/{name}") }
}

fn plain(word: &str) -> Candidate {
    Candidate { word: word.to_owned(), shown: word.to_owned() }
}

/// Returns whether a word is the beginning of a note's id.
fn is_id(word: &str) -> bool {
    const START: &str = "note_";
    word.starts_with(START) || (word.len() >= 2 && START.starts_with(word))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[track_caller]
    fn check(line: &str, start: usize, expected: &[&str]) {
        let notes = || {
            ["note_20250119_153000_0", "note_20250119_153000_1", "note_20250203_090000_0"]
                .map(|id| (id.to_owned(), "标题".to_owned()))
                .to_vec()
        };
        let (at, candidates) = complete(line, line.len(), notes);
        let words: Vec<&str> = candidates.iter().map(|candidate| candidate.word.as_str()).collect();
        assert_eq!((at, words), (start, expected.to_vec()), "{line:?}");
    }

    #[test]
    fn commands_modes_and_ids_are_known() {
        check("/mo", 0, &["/mode ", "/model "]);
        check("/q", 0, &["/quit"]);
        check("/x", 0, &[]);
        check("/mode ", 6, &["auto", "explore", "analyze", "plan"]);
        check("/mode e", 6, &["explore"]);
        check("what of note_2025011", 8, &["note_20250119_153000_0", "note_20250119_153000_1"]);
        check(
            "订单与 no",
            "订单与 ".len(),
            &["note_20250119_153000_0", "note_20250119_153000_1", "note_20250203_090000_0"],
        );
        check("n", 0, &[]);
        check("where /mo", 6, &[]);
        check("", 0, &[]);
    }
}

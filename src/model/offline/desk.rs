//! What has been looked up, and what must still be looked up.
//!
//! The rules are written as if every look gave its answer at once. A look whose answer is not in
//! the transcript yet gives none, is put on the list of calls, and the rules are run again when
//! its result is there. So a look never happens twice, and independent looks go out together.

use std::cell::RefCell;

use serde_json::{Value, json};

use super::language::Language;
use super::turn::Turn;

/// What a look gives: its answer, or that it must be waited for.
pub(super) type Looked<T> = Result<T, Pending>;

/// A look whose result is not in the transcript yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pending;

/// A call that the rules want.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) tool: &'static str,
    pub(super) arguments: String,
}

/// The transcript as a place to look things up.
pub(super) struct Desk<'a> {
    turn: &'a Turn,
    wanted: RefCell<Vec<Wanted>>,
}

impl<'a> Desk<'a> {
    /// Returns the desk of a turn.
    pub(super) fn new(turn: &'a Turn) -> Self {
        Self { turn, wanted: RefCell::default() }
    }

    /// Returns the turn.
    pub(super) fn turn(&self) -> &'a Turn {
        self.turn
    }

    /// Returns the turn's language.
    pub(super) fn language(&self) -> Language {
        self.turn.language
    }

    /// Returns what a command line gave, once it has run.
    pub(super) fn run(&self, line: &str) -> Looked<Output> {
        self.call("terminal", &json!({ "command": line })).map(|result| match result {
            Some(text) => Output::read(text),
            None => Output::not_run(),
        })
    }

    /// Returns what the notes answered; none inside when they could not be asked any more.
    pub(super) fn note(&self, arguments: &Value) -> Looked<Option<&'a str>> {
        self.call("note", arguments)
    }

    /// Returns the calls that must be made before the rules can go on.
    pub(super) fn into_wanted(self) -> Vec<Wanted> {
        self.wanted.into_inner()
    }

    fn call(&self, tool: &'static str, arguments: &Value) -> Looked<Option<&'a str>> {
        let arguments = arguments.to_string();
        let known = self.turn.answered.iter();
        let mut known = known.filter(|call| call.tool == tool && call.arguments == arguments);
        if let Some(call) = known.next() {
            return Ok(Some(&call.result));
        }
        if !self.turn.tools.iter().any(|known| known == tool) {
            return Ok(None);
        }
        let wanted = Wanted { tool, arguments };
        if !self.wanted.borrow().contains(&wanted) {
            self.wanted.borrow_mut().push(wanted);
        }
        Err(Pending)
    }
}

/// What came of a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Output {
    lines: Vec<String>,
    state: State,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// It ran; its exit code says nothing by itself (`grep` without a match has 1).
    Ran,
    /// It was refused.
    Refused,
    /// It broke off.
    Failed,
    /// The turn ended before.
    #[default]
    NotRun,
}

impl Output {
    fn read(text: &str) -> Self {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let first_remark = lines.iter().position(|line| is_remark(line)).unwrap_or(lines.len());
        let remarks = lines.split_off(first_remark);
        let refused = lines.first().is_some_and(|line| line.starts_with("Refused"));
        let broken = remarks.iter().any(|line| breaks_off(line) || is_fatal(line));
        let state = match (refused, broken) {
            (true, _) => State::Refused,
            (false, true) => State::Failed,
            (false, false) => State::Ran,
        };
        if state != State::Ran {
            lines.clear();
        }
        Self { lines, state }
    }

    fn not_run() -> Self {
        Self::default()
    }

    /// Returns whether the lines are an answer: the command ran to its end.
    pub(super) fn is_answer(&self) -> bool {
        self.state == State::Ran
    }

    /// Returns whether it was not allowed to run.
    pub(super) fn is_refused(&self) -> bool {
        self.state == State::Refused
    }

    /// Returns the lines of the output.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(String::as_str)
    }

    /// Returns the one number that a counting command printed.
    pub(super) fn number(&self) -> Option<u64> {
        self.lines().find_map(|line| line.trim().parse().ok())
    }

    /// Returns the rows of a command that prints a number, then a name.
    pub(super) fn counted(&self) -> Vec<Counted> {
        let row = |line: &str| {
            let line = line.trim_start();
            let (count, name) = line.split_once([' ', '\t'])?;
            Some(Counted { count: count.parse().ok()?, name: name.to_owned() })
        };
        self.lines().filter_map(row).collect()
    }

    /// Returns the rows of one kind, of a command that prints a kind, a number and a name.
    pub(super) fn kind(&self, kind: &str) -> Vec<Counted> {
        let rows = self.columns::<3>().into_iter().filter(|row| row[0] == kind);
        rows.filter_map(|[_, count, name]| {
            Some(Counted { count: count.parse().ok()?, name: name.to_owned() })
        })
        .collect()
    }

    /// Returns the rows of a command that prints columns divided by tabs.
    pub(super) fn columns<const N: usize>(&self) -> Vec<[&str; N]> {
        self.lines()
            .filter_map(|line| line.splitn(N, '\t').collect::<Vec<_>>().try_into().ok())
            .collect()
    }
}

/// A number and what it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Counted {
    pub(super) count: u64,
    pub(super) name: String,
}

/// Returns whether a line is the terminal's own remark after the output.
fn is_remark(line: &str) -> bool {
    const REMARKS: [&str; 6] =
        ["[stderr]", "[exit code ", "[no output", "[no match", "[the ", "[cut"];
    line.starts_with('[')
        && (REMARKS.iter().any(|remark| line.starts_with(remark)) || breaks_off(line))
}

/// Returns whether a remark says that a command gave up: Git found no repository, a program was
/// not there or was ended by a signal. What counted its output counted nothing.
fn is_fatal(remark: &str) -> bool {
    let code = remark.strip_prefix("[exit code ").and_then(|rest| rest.strip_suffix(']'));
    let code = code.and_then(|code| code.parse::<u32>().ok());
    let gave_up = ["fatal: ", "sort: ", "awk: ", "mawk: ", "gawk: ", "xargs: "];
    gave_up.iter().any(|start| remark.starts_with(start)) || code.is_some_and(|code| code >= 124)
}

/// Returns whether a remark says that a part of the output is missing.
fn breaks_off(remark: &str) -> bool {
    const BREAKS: [&str; 5] =
        ["[cut", "[the output was cut", "[the time limit", "[the command was interrupted", "[…"];
    BREAKS.iter().any(|start| remark.starts_with(start))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[track_caller]
    fn check(text: &str, lines: &[&str], is_answer: bool) {
        let output = Output::read(text);
        assert_eq!(output.lines().collect::<Vec<_>>(), lines, "{text}");
        assert_eq!(output.is_answer(), is_answer, "{text}");
    }

    #[test]
    fn remarks_of_the_terminal_are_not_output() {
        check("12\n", &["12"], true);
        check("[no output]", &[], true);
        check("[no match]", &[], true);
        check("a\n[stderr]\nwc: x: No such file\n[exit code 123]", &["a"], true);
        check("[x] a list item\nb", &["[x] a list item", "b"], true);
    }

    #[test]
    fn what_was_cut_or_refused_is_no_answer() {
        check("0\n[stderr]\nfatal: not a git repository", &[], false);
        check("0\n[exit code 137]", &[], false);
        check("Refused, and nothing was run: `awk` is not allowed.", &[], false);
        check(
            "1 a\n[the output was cut at the limit of 10 MiB; narrow the command down]",
            &[],
            false,
        );
        check(
            "1 a\n[the time limit of 30 s ended the command; what it had printed is above]",
            &[],
            false,
        );
    }

    #[test]
    fn rows_are_numbers_and_names() {
        let output = Output::read("      3 src/a b.rs\n12\tx\nnot a row\n");
        let row = |count, name: &str| Counted { count, name: name.to_owned() };
        assert_eq!(output.counted(), [row(3, "src/a b.rs"), row(12, "x")]);
        assert_eq!(Output::read("long\t3\ta.py:1\n").columns::<3>(), [["long", "3", "a.py:1"]]);
        assert_eq!(Output::read("12\n").number(), Some(12));
    }
}

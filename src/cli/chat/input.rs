//! What a person sends, as data: a message, a command of the chat, a line for the terminal.
//!
//! The same rules hold for lines that are typed and for lines of a pipe. Nothing is done here.

use crate::support::nearest::nearest;
use crate::support::text;

/// What was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    /// Nothing, or blanks.
    Nothing,
    /// A message for the model.
    Message(String),
    /// A command of the chat, and what stands behind it.
    Slash(Slash, String),
    /// A command line for the terminal.
    Shell(String),
    /// A word behind a slash that is no command.
    Unknown(String),
}

/// The commands of the chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slash {
    Help,
    Mode,
    Notes,
    Context,
    Board,
    Undo,
    Model,
    Report,
    Quit,
}

impl Slash {
    /// All of them, in the order in which they are shown.
    pub(super) const ALL: [Self; 9] = [
        Self::Help,
        Self::Mode,
        Self::Notes,
        Self::Context,
        Self::Board,
        Self::Undo,
        Self::Model,
        Self::Report,
        Self::Quit,
    ];

    /// Returns the name without its slash.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Help => "help",
            Self::Mode => "mode",
            Self::Notes => "notes",
            Self::Context => "context",
            Self::Board => "board",
            Self::Undo => "undo",
            Self::Model => "model",
            Self::Report => "report",
            Self::Quit => "quit",
        }
    }

    /// Returns what may stand behind it.
    pub(super) fn arguments(self) -> &'static str {
        match self {
            Self::Mode => "[auto|explore|analyze|plan]",
            Self::Notes => "[WORDS]",
            Self::Context => "[QUESTION]",
            Self::Model => "[NAME]",
            Self::Help | Self::Board | Self::Undo | Self::Report | Self::Quit => "",
        }
    }

    /// Returns what it does.
    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Help => "show this list",
            Self::Mode => "show or choose what the coming messages are for",
            Self::Notes => "list the notes, or search them",
            Self::Context => "show what would be sent, with the quality report",
            Self::Board => "show open blockers, ready actions and current task states",
            Self::Undo => "take the latest creation, update or deletion of a note back",
            Self::Model => "show or change who answers the coming messages",
            Self::Report => "show the report of this session",
            Self::Quit => "leave; Ctrl-D does too",
        }
    }
}

impl Input {
    /// Reads what was sent.
    pub(super) fn read(sent: &str) -> Self {
        let sent = text::clean(sent);
        let sent = sent.trim();
        if sent.is_empty() {
            return Self::Nothing;
        }
        if let Some(line) = sent.strip_prefix('!') {
            return Self::Shell(line.trim().to_owned());
        }
        let Some(rest) = sent.strip_prefix('/') else { return Self::Message(sent.to_owned()) };
        if rest.starts_with('/') {
            return Self::Message(rest.to_owned());
        }
        let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        match Slash::ALL.into_iter().find(|slash| slash.name() == name) {
            Some(slash) => Self::Slash(slash, arguments.trim().to_owned()),
            None => Self::Unknown(name.to_owned()),
        }
    }
}

/// Returns the command that a mistyped name was meant to be.
pub(super) fn meant(name: &str) -> Option<&'static str> {
    nearest(name, Slash::ALL.map(Slash::name))
}

/// Returns whether a block between lines of three backticks is open at the end of a text.
pub(super) fn is_in_block(text: &str) -> bool {
    text.lines().filter(|line| is_fence(line)).count() % 2 == 1
}

/// Returns whether a line opens or closes a block.
pub(super) fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

/// Returns whether the last character is a backslash that stands for itself alone: two of them are
/// the end of a message that ends with one.
pub(super) fn ends_with_backslash(text: &str) -> bool {
    let backslashes = text.len() - text.trim_end_matches('\\').len();
    backslashes % 2 == 1
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[track_caller]
    fn check(sent: &str, expected: &Input) {
        assert_eq!(&Input::read(sent), expected, "{sent:?}");
    }

    #[test]
    fn the_first_character_says_what_it_is() {
        let message = |text: &str| Input::Message(text.to_owned());
        check("", &Input::Nothing);
        check(" \n\t", &Input::Nothing);
        check("where are orders?", &message("where are orders?"));
        check("订单在哪里处理？", &message("订单在哪里处理？"));
        check("a\n/quit", &message("a\n/quit"));
        check("//etc is empty", &message("/etc is empty"));
        check("!ls | wc -l", &Input::Shell("ls | wc -l".to_owned()));
        check("! ", &Input::Shell(String::new()));
        check("/quit", &Input::Slash(Slash::Quit, String::new()));
        check("  /mode   plan ", &Input::Slash(Slash::Mode, "plan".to_owned()));
        check("/notes two words", &Input::Slash(Slash::Notes, "two words".to_owned()));
        check("/", &Input::Unknown(String::new()));
        check("/usr/lib is full", &Input::Unknown("usr/lib".to_owned()));
        check("/Quit", &Input::Unknown("Quit".to_owned()));
    }

    #[test]
    fn escape_sequences_of_a_paste_are_no_part_of_a_message() {
        check("a\u{1b}[31mb\rc", &Input::Message("ab\nc".to_owned()));
    }

    #[test]
    fn a_slip_leads_to_the_command_that_was_meant() {
        assert_eq!(meant("moed"), Some("mode"));
        assert_eq!(meant("Quit"), Some("quit"));
        assert_eq!(meant("usr/lib"), None);
    }

    #[test]
    fn a_block_is_open_between_its_fences_and_a_backslash_stands_for_itself_alone() {
        for (text, open, backslash) in [
            ("a", false, false),
            ("a\\", false, true),
            ("a\\\\", false, false),
            ("look:\n```\nlet a;", true, false),
            ("look:\n  ```rust\nlet a;\n```", false, false),
            ("in `` ` `` and ``` here", false, false),
            ("", false, false),
        ] {
            assert_eq!(is_in_block(text), open, "{text:?}");
            assert_eq!(ends_with_backslash(text), backslash, "{text:?}");
        }
    }
}

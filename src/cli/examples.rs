//! The examples that stand under `--help` of each command.
//!
//! They are data, because a test runs each of them as it stands: what is not true fails there.
//! Here nothing is parsed and nothing decided.

use clap::Command;

/// Puts the examples under the help of each command.
pub(super) fn under_help(command: Command) -> Command {
    ROWS.iter().fold(command, |command, row| attach(command, row.words, row.text()))
}

fn attach(command: Command, words: &'static [&'static str], text: String) -> Command {
    match words {
        [] => command.after_help(text),
        [first, rest @ ..] => command.mut_subcommand(*first, |inner| attach(inner, rest, text)),
    }
}

/// A command.
struct Row {
    words: &'static [&'static str],
    /// Command lines, each with what it is for where it does not speak for itself.
    examples: &'static [(&'static str, &'static str)],
    /// What else is told below them.
    more: &'static str,
}

impl Row {
    /// Lays the examples out in two columns.
    fn text(&self) -> String {
        let told = self.examples.iter().filter(|(_, what)| !what.is_empty());
        let width = told.map(|(line, _)| line.len()).max().unwrap_or_default();
        let line = |(line, what): &(&str, &str)| format!("  {line:width$}  {what}");
        let lines = self.examples.iter().map(|example| line(example).trim_end().to_owned());
        let mut text = format!("Examples:\n{}", lines.collect::<Vec<_>>().join("\n"));
        if !self.more.is_empty() {
            text.push_str("\n\n");
            text.push_str(self.more);
        }
        text
    }
}

/// Every command, in the order in which the help lists them.
const ROWS: [Row; 34] = [
    Row {
        words: &[],
        examples: &[
            ("groundskeeper explore", "what is here, and what is wrong with it"),
            ("groundskeeper -C ../shop analyze", "how good another folder is"),
            ("groundskeeper plan", "what comes next, from the notes"),
            ("groundskeeper ask \"where are orders processed?\"", "one question"),
            ("groundskeeper chat", "one question after the other"),
            (
                "groundskeeper sh 'git ls-files | wc -l'",
                "the read-only terminal, as a model has it",
            ),
        ],
        more: "Without a configured endpoint the built-in offline model answers: rules, no language model.\n\
             Exit codes: 0 answered, 1 failed, 2 usage, 3 configuration, 4 endpoint, 5 quota, 6 limit reached,\n\
             7 could not be saved, 8 sandbox missing, 130 interrupted, 143 ended by a signal.",
    },
    Row {
        words: &["explore"],
        examples: &[
            ("groundskeeper explore", "all of the repository"),
            ("groundskeeper explore app/services", "a folder or a file"),
            ("groundskeeper explore payment", "a topic"),
        ],
        more: "",
    },
    Row {
        words: &["analyze"],
        examples: &[
            ("groundskeeper analyze", "all of the repository"),
            ("groundskeeper analyze app/services", "a folder or a file"),
            ("groundskeeper analyze --report quality.json", "with a copy of the report"),
        ],
        more: "",
    },
    Row {
        words: &["plan"],
        examples: &[
            ("groundskeeper plan", "all of the work"),
            ("groundskeeper plan \"the next release\"", "the work for one purpose"),
        ],
        more: "",
    },
    Row {
        words: &["ask"],
        examples: &[
            ("groundskeeper ask \"where are orders processed?\"", ""),
            ("groundskeeper ask \"and who takes the payment?\" --session last", ""),
            ("git diff | groundskeeper ask \"what could go wrong with this?\"", ""),
            ("groundskeeper ask - < question.txt", ""),
        ],
        more: "",
    },
    Row {
        words: &["chat"],
        examples: &[
            ("groundskeeper chat", "at a terminal: /help helps, Ctrl-D leaves"),
            ("groundskeeper chat --session last", "goes on with the newest session"),
            ("printf 'what is here?\\n/report\\n' | groundskeeper chat", ""),
        ],
        more: "From a pipe a message is a line; a line that ends with a backslash and a block between lines of\n\
             ``` go on in the next one. The exit code is then the highest of all messages.",
    },
    Row {
        words: &["notes"],
        examples: &[
            ("groundskeeper notes create --title 'Pool exhausted' --type blocker", "prints the id"),
            ("groundskeeper notes list --type blocker", "what stands in the way"),
            ("groundskeeper notes search payments", "notes about a word"),
            ("groundskeeper notes update 153000_0 --status done", "settles a note"),
        ],
        more: "",
    },
    Row {
        words: &["notes", "create"],
        examples: &[
            (
                "groundskeeper notes create --title 'Pool exhausted' --type blocker --content 'see src/db.rs:40'",
                "",
            ),
            (
                "git log -n 3 | groundskeeper notes create --title 'Newest commits' --content-file -",
                "",
            ),
        ],
        more: "",
    },
    Row {
        words: &["notes", "read"],
        examples: &[
            ("groundskeeper notes read note_20250119_153000_0", ""),
            ("groundskeeper notes read 153000_0", "the end of an id is enough"),
        ],
        more: "",
    },
    Row {
        words: &["notes", "update"],
        examples: &[
            ("groundskeeper notes update 153000_0 --status done", "settles it"),
            (
                "groundskeeper notes update 153000_0 --title \"Pool is larger\" --tag db --tag done",
                "",
            ),
        ],
        more: "",
    },
    Row {
        words: &["notes", "search"],
        examples: &[
            ("groundskeeper notes search payments", ""),
            ("groundskeeper notes search \"process_order retries\" --type blocker --limit 3", ""),
        ],
        more: "",
    },
    Row {
        words: &["notes", "list"],
        examples: &[
            ("groundskeeper notes list --type action --status open", "what is to be done"),
            ("groundskeeper notes list --tag db --json", "as data"),
        ],
        more: "",
    },
    Row {
        words: &["notes", "summary"],
        examples: &[
            ("groundskeeper notes summary", ""),
            ("groundskeeper notes summary --json", "as data"),
        ],
        more: "",
    },
    Row {
        words: &["notes", "delete"],
        examples: &[
            ("groundskeeper notes delete 153000_0", ""),
            ("groundskeeper notes undo", "brings it back"),
        ],
        more: "",
    },
    Row {
        words: &["notes", "undo"],
        examples: &[
            ("groundskeeper notes undo", "the latest change"),
            ("groundskeeper notes undo", "once more: the one before"),
        ],
        more: "",
    },
    Row {
        words: &["notes", "import"],
        examples: &[("groundskeeper notes import ../agent/notes", "")],
        more: "",
    },
    Row {
        words: &["notes", "doctor"],
        examples: &[
            ("groundskeeper notes doctor", "only looks"),
            ("groundskeeper notes doctor --fix", "repairs, and shows each change as a diff"),
        ],
        more: "",
    },
    Row {
        words: &["notes", "merge-driver"],
        examples: &[(
            "groundskeeper init --git",
            "after it, Git calls this for each note that both sides changed",
        )],
        more: "",
    },
    Row {
        words: &["sh"],
        examples: &[
            ("groundskeeper sh 'git ls-files | wc -l'", ""),
            ("groundskeeper sh --explain 'find . -delete'", "why it is refused"),
        ],
        more: "",
    },
    Row {
        words: &["context"],
        examples: &[
            ("groundskeeper context \"where are orders processed?\"", ""),
            ("groundskeeper context --mode plan", "what a plan would be made from"),
            ("groundskeeper context \"who pays?\" --set context.max_tokens=4000", "with less room"),
        ],
        more: "",
    },
    Row {
        words: &["report"],
        examples: &[
            ("groundskeeper report", "of the newest session"),
            ("groundskeeper report --json", "as data"),
        ],
        more: "",
    },
    Row {
        words: &["session"],
        examples: &[
            ("groundskeeper session list", "all of them"),
            ("groundskeeper session show", "what happened in the newest"),
            ("groundskeeper session export last", "its dialog as Markdown"),
        ],
        more: "",
    },
    Row {
        words: &["session", "list"],
        examples: &[
            ("groundskeeper session list", ""),
            ("groundskeeper session list --json", "as data"),
        ],
        more: "",
    },
    Row {
        words: &["session", "show"],
        examples: &[
            ("groundskeeper session show", "the newest"),
            ("groundskeeper session show session_20250119_153000", "the one of that time"),
        ],
        more: "",
    },
    Row {
        words: &["session", "resume"],
        examples: &[
            ("groundskeeper session resume", "the newest"),
            ("groundskeeper session resume last --model offline", "with another model"),
        ],
        more: "",
    },
    Row {
        words: &["session", "fork"],
        examples: &[("groundskeeper session fork", ""), ("groundskeeper session fork last", "")],
        more: "",
    },
    Row {
        words: &["session", "export"],
        examples: &[("groundskeeper session export > dialog.md", "")],
        more: "",
    },
    Row {
        words: &["session", "repair"],
        examples: &[("groundskeeper session repair", "")],
        more: "",
    },
    Row {
        words: &["init"],
        examples: &[("groundskeeper init", ""), ("groundskeeper init --git", "")],
        more: "",
    },
    Row {
        words: &["config"],
        examples: &[
            ("groundskeeper config show --origin", "every setting, and where its value comes from"),
            ("groundskeeper config edit", "opens the settings of the project"),
        ],
        more: "",
    },
    Row {
        words: &["config", "show"],
        examples: &[
            ("groundskeeper config show", ""),
            (
                "groundskeeper config show --origin --set lang=zh",
                "with where each value comes from",
            ),
        ],
        more: "",
    },
    Row {
        words: &["config", "edit"],
        examples: &[
            ("groundskeeper config edit", "the settings of the project"),
            ("groundskeeper config edit --user", "your own, for all projects"),
        ],
        more: "",
    },
    Row {
        words: &["doctor"],
        examples: &[("groundskeeper doctor", ""), ("groundskeeper doctor --json", "as data")],
        more: "",
    },
    Row {
        words: &["completions"],
        examples: &[
            (
                "groundskeeper completions bash > ~/.groundskeeper.bash",
                "then `source` it in ~/.bashrc",
            ),
            ("groundskeeper completions fish", ""),
        ],
        more: "",
    },
];

//! The command line as types. Parsing does nothing but parse: paths, files and the environment are
//! looked at later, in `wiring`.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::notes::NotesCommand;
use super::sh::ShArgs;
use crate::agent::Mode;

/// Maintains a codebase over days and weeks: explores it with read-only commands, keeps what it
/// learns as notes, and puts the right few thousand tokens in front of a model.
#[derive(Debug, Parser)]
#[command(name = "groundskeeper", version, max_term_width = 100)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: GlobalArgs,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
pub(super) struct GlobalArgs {
    /// The folder to look after; without it, the repository around the current folder.
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub(super) directory: Option<PathBuf>,
    /// Who answers: `offline`, `script:FILE`, or the name of a model at the endpoint.
    #[arg(long, value_name = "MODEL", global = true)]
    pub(super) model: Option<String>,
    /// Where the endpoint is, as `http://localhost:11434/v1`.
    #[arg(long, value_name = "URL", global = true)]
    pub(super) base_url: Option<String>,
    /// Write the dialog with the model into FILE as a script, for `--model script:FILE`.
    #[arg(long, value_name = "FILE", global = true)]
    pub(super) record: Option<PathBuf>,
    /// Print data instead of text: one event a line, or one document.
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// The language of prompts and answers.
    #[arg(long, value_name = "LANGUAGE", global = true)]
    pub(super) lang: Option<LanguageArg>,
    /// Keep notes and sessions in DIR instead of `.groundskeeper/`.
    #[arg(long, value_name = "DIR", global = true)]
    pub(super) state_dir: Option<PathBuf>,
    /// Override a setting, as `--set context.max_tokens=8000`; repeatable.
    #[arg(long, value_name = "KEY=VALUE", global = true)]
    pub(super) set: Vec<String>,
    /// Stop the clock at a time, as `2025-01-19T15:30:00+08:00`, for tests and demonstrations.
    #[arg(long, value_name = "TIME", global = true, hide = true)]
    pub(super) clock: Option<String>,
    /// When to use colour.
    #[arg(long, value_name = "WHEN", global = true, default_value = "auto")]
    pub(super) color: ColorArg,
}

/// `--lang`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum LanguageArg {
    /// English.
    En,
    /// Chinese.
    Zh,
    /// That of the question.
    Auto,
}

impl LanguageArg {
    /// Returns the value of the setting.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
            Self::Auto => "auto",
        }
    }
}

/// `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorArg {
    /// On a terminal that shows it.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Explore the repository, or a part or topic of it.
    Explore(ExploreArgs),
    /// Judge the quality: debt, hot spots, tests.
    Analyze(AnalyzeArgs),
    /// Plan the next steps from the notes.
    Plan(PlanArgs),
    /// Ask a question about the repository.
    Ask(AskArgs),
    /// Ask one question after the other, in one session.
    Chat(ChatArgs),
    /// Write, find, change and mend notes.
    #[command(subcommand)]
    Notes(NotesCommand),
    /// Run a read-only command line, exactly as the model would.
    Sh(ShArgs),
    /// Show what would be sent to the model, with the quality report.
    Context(ContextArgs),
    /// Show the report of a session.
    Report(ReportArgs),
    /// List, show, resume, copy, print and mend sessions.
    #[command(subcommand)]
    Session(SessionCommand),
    /// Prepare `.groundskeeper/` in the repository.
    Init {
        /// Also tell this repository's Git to merge notes field by field.
        #[arg(long)]
        git: bool,
    },
    /// Show or edit the settings.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Try whether everything works: the kernel's jail, the notes, the endpoint.
    Doctor,
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// `explore`.
#[derive(Debug, Args)]
pub(super) struct ExploreArgs {
    /// A path or a topic; all of the repository without one.
    #[arg(default_value = "", hide_default_value = true)]
    pub(super) target: String,
    #[command(flatten)]
    pub(super) turn: TurnArgs,
}

/// `analyze`.
#[derive(Debug, Args)]
pub(super) struct AnalyzeArgs {
    /// A path or a topic; all of the repository without one.
    #[arg(default_value = "", hide_default_value = true)]
    pub(super) focus: String,
    #[command(flatten)]
    pub(super) turn: TurnArgs,
}

/// `plan`.
#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    /// What the plan is for; all of the work without it.
    #[arg(default_value = "", hide_default_value = true)]
    pub(super) purpose: String,
    #[command(flatten)]
    pub(super) turn: TurnArgs,
}

/// `ask`.
#[derive(Debug, Args)]
pub(super) struct AskArgs {
    /// The question; `-` reads it from standard input. What is piped in beside a question is shown
    /// to the model with it.
    pub(super) question: String,
    #[command(flatten)]
    pub(super) turn: TurnArgs,
}

/// `chat`.
#[derive(Debug, Args)]
pub(super) struct ChatArgs {
    /// What the first messages are for; `/mode` changes it.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub(super) mode: ModeArg,
    #[command(flatten)]
    pub(super) turn: TurnArgs,
}

/// What the commands that ask a model have in common.
#[derive(Debug, Args)]
pub(super) struct TurnArgs {
    /// Go on in a session: its id, a part of it, or `last`.
    #[arg(long, value_name = "SESSION")]
    pub(super) session: Option<String>,
    /// Write a copy of the session's report to FILE, as JSON when it ends in `.json`.
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

/// `context`.
#[derive(Debug, Args)]
pub(super) struct ContextArgs {
    /// The question that the context is for.
    #[arg(default_value = "", hide_default_value = true)]
    pub(super) question: String,
    /// What the turn would be for.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    pub(super) mode: ModeArg,
}

/// `--mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ModeArg {
    /// A question.
    Auto,
    /// What is here.
    Explore,
    /// How good it is.
    Analyze,
    /// What comes next.
    Plan,
}

impl ModeArg {
    /// Returns the mode.
    pub(super) fn mode(self) -> Mode {
        match self {
            Self::Auto => Mode::Auto,
            Self::Explore => Mode::Explore,
            Self::Analyze => Mode::Analyze,
            Self::Plan => Mode::Plan,
        }
    }
}

/// `report`.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// A session's id, a part of it, or `last`; the newest without one.
    pub(super) session: Option<String>,
}

/// `session …`.
#[derive(Debug, Subcommand)]
pub(super) enum SessionCommand {
    /// List the project's sessions, oldest first.
    List {
        /// Also those of other projects in the same state folder.
        #[arg(long)]
        all: bool,
    },
    /// Show what happened in a session.
    Show {
        /// A session's id, a part of it, or `last`; the newest without one.
        session: Option<String>,
    },
    /// Go on with a turn that was cut off.
    Resume {
        /// A session's id, a part of it, or `last`; the newest without one.
        session: Option<String>,
    },
    /// Copy a session into a new one, and print its id.
    Fork {
        /// A session's id, a part of it, or `last`; the newest without one.
        session: Option<String>,
    },
    /// Print the whole dialog of a session as Markdown.
    Export {
        /// A session's id, a part of it, or `last`; the newest without one.
        session: Option<String>,
    },
    /// Set lines of a journal that cannot be read aside.
    Repair {
        /// A session's id, a part of it, or `last`; the newest without one.
        session: Option<String>,
    },
}

/// `config …`.
#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Show every setting.
    Show {
        /// Also show where each value comes from.
        #[arg(long)]
        origin: bool,
    },
    /// Open the project's config file in `$VISUAL` or `$EDITOR`, and check it afterwards.
    Edit {
        /// Your own config file instead, for all projects.
        #[arg(long)]
        user: bool,
    },
}

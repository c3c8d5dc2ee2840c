//! A line that was read and checked: what will run, and nothing about how it was written.
//!
//! Everything here is private to `terminal`; only the checker makes a [`Plan`], only the executor
//! looks into one.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::support::paths::WorkspacePath;

/// A checked command line. There is no public constructor: `Terminal::plan` makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The line, as it was written.
    pub(super) line: String,
    /// Where it starts.
    pub(super) start: WorkspacePath,
    /// Its pipelines, in order.
    pub(super) steps: Vec<Step>,
}

/// A pipeline and what its running hangs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    /// When it runs.
    pub(super) when: When,
    /// The folder that it runs in: the checker follows `cd`.
    pub(super) directory: WorkspacePath,
    /// Its commands, joined by pipes.
    pub(super) stages: Vec<Stage>,
}

/// When a pipeline runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Always: the first one, and after `;` or a newline.
    Always,
    /// After `&&`.
    IfSucceeded,
    /// After `||`.
    IfFailed,
}

/// One command of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stage {
    /// What runs.
    pub(super) action: Action,
    /// Where its input comes from, if not from the pipe (the first stage's pipe is `/dev/null`).
    pub(super) input: Option<PathBuf>,
    /// Where its output goes.
    pub(super) stdout: Target,
    /// Where its messages go.
    pub(super) stderr: Target,
}

/// Where a stream goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// Where it went at the start: output into the pipe or to us, messages to us.
    Default,
    /// `/dev/null`.
    Null,
    /// Where the output goes (`2>&1`).
    Stdout,
    /// Where the messages go (`1>&2`).
    Stderr,
}

/// What a stage does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// A program of the system, in the jail.
    Program(Invocation),
    /// Ours, in the process: `cd`, `pwd`, `echo`, …; the first word is its name.
    Builtin(Vec<OsString>),
    /// Ours: runs a command over the items of its input, each batch checked before it runs.
    Xargs(Xargs),
    /// `find … -exec COMMAND`: the search alone, then the command over what it found.
    FindExec {
        /// `find` without its `-exec`, ending in `-print0`.
        find: Invocation,
        /// The command over the results.
        command: Xargs,
    },
}

/// A program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Invocation {
    /// The absolute path, in a root-owned system folder.
    pub(super) program: PathBuf,
    /// The arguments, the name first, as the program receives them: pinned options included.
    pub(super) arguments: Vec<OsString>,
    /// Whether it is Git, which gets pins of its own in the environment.
    pub(super) git: bool,
}

/// `xargs`, as we run it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Xargs {
    /// The command and its fixed arguments.
    pub(super) command: Vec<OsString>,
    /// How the input is divided.
    pub(super) items: Items,
    /// `-I TEXT`: one run an item, the text replaced in each argument.
    pub(super) replace: Option<String>,
    /// `-n N`: at most so many items a run.
    pub(super) most: Option<usize>,
    /// `-L N`: the items of at most so many lines a run.
    pub(super) lines: Option<usize>,
    /// `-r`: no run without items. (`find -exec` never runs without.)
    pub(super) skip_empty: bool,
    /// Whether the names of its items are printed before each command: `-print -exec`.
    pub(super) announces: bool,
}

/// How the items of an input are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Items {
    /// By white space, with quotes, as `xargs` does.
    Words,
    /// By lines (`-d '\n'`, and `-I`).
    Lines,
    /// By NUL (`-0`).
    Nul,
}

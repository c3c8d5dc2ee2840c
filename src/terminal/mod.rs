//! Reading everything, changing nothing: command lines that only read, without a shell.
//!
//! [`Terminal::plan`] is pure: our own lexer and parser read the line, rules say what may run, and
//! what is not certain to be read-only is refused. What was not planned cannot run; the kernel
//! enforces it a second time.
//!
//! This module knows no model and no agent: `groundskeeper sh` is the path that a model uses.

mod arguments;
mod check;
mod commands;
mod explain;
mod git;
mod glob;
mod lexer;
mod parser;
mod plan;
mod programs;
mod refusal;
mod rules;
mod scripts;
mod xargs;

use std::path::PathBuf;

pub use explain::{ExplainedWord, Explanation};
pub use plan::Plan;
pub use refusal::{Allowed, Instead, Refusal};

use crate::support::paths::{Workspace, WorkspacePath};
use check::Checker;

/// How command lines are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Whether `cd` is allowed.
    pub allow_cd: bool,
    /// Folders outside the workspace that can be read too.
    pub readable: Vec<PathBuf>,
}

/// Reads command lines that only read, inside a workspace.
#[derive(Debug)]
pub struct Terminal {
    checker: Checker,
}

impl Terminal {
    /// Opens a terminal in a workspace. Nothing is started and nothing is written.
    pub fn open(workspace: Workspace, options: &Options) -> Self {
        let add = |workspace: Workspace, folder: &PathBuf| workspace.with_readable(folder);
        let workspace = options.readable.iter().fold(workspace, add);
        Self { checker: Checker::open(workspace, options.allow_cd) }
    }

    /// Reads a line, seen from a folder, and decides whether it only reads. Nothing is run.
    pub fn plan(&self, line: &str, from: &WorkspacePath) -> Result<Plan, Refusal> {
        self.checker.plan(line, from)
    }

    /// Says what each word of a line is taken for, and what comes of it. Nothing is run.
    pub fn explain(&self, line: &str, from: &WorkspacePath) -> Explanation {
        self.checker.explain(line, from)
    }
}

#[cfg(test)]
mod tests;

//! Reading everything, changing nothing: command lines that only read, without a shell.
//!
//! [`Terminal::plan`] is pure: our own lexer and parser read the line, rules say what may run, and
//! what is not certain to be read-only is refused. [`Terminal::run`] takes nothing but a
//! [`Plan`], so what was not checked cannot run; the kernel enforces it a second time.
//!
//! This module knows no model and no agent: `groundskeeper sh` is the path that a model uses.

mod arguments;
mod capture;
mod check;
mod children;
mod clean;
mod commands;
mod environment;
mod error;
mod execute;
mod explain;
mod git;
mod glob;
mod jail;
mod lexer;
mod parser;
mod plan;
mod programs;
mod refusal;
mod repair;
mod report;
mod rules;
mod scripts;
mod spawn;
mod xargs;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub use error::TerminalError;
pub use explain::{ExplainedWord, Explanation};
pub use jail::{
    Check, JailReport, jail_helper_requested, run_jail_helper, survive_the_largest_file,
};
pub use plan::Plan;
pub use refusal::{Allowed, Refusal};
pub use report::{CommandReport, StageReport};

use crate::support::paths::{Workspace, WorkspacePath};
use check::Checker;
use children::{Children, Stop};
use environment::GitFacts;
use execute::Surroundings;
use jail::{Layer, Limits};
use spawn::Launcher;

/// How command lines run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How long a line may take.
    pub timeout: Duration,
    /// How much it may print, over all its commands.
    pub max_output_bytes: u64,
    /// Whether `cd` is allowed.
    pub allow_cd: bool,
    /// How much of the kernel's jail is wanted.
    pub sandbox: Sandbox,
    /// Whether token-shaped secrets are taken out of the output.
    pub redact: bool,
    /// The binary whose `main` calls [`run_jail_helper`] when [`jail_helper_requested`].
    pub helper: PathBuf,
    /// Folders outside the workspace that can be read too.
    pub readable: Vec<PathBuf>,
}

impl Options {
    /// Returns the usual limits, with the running program as its own helper: its `main` must call
    /// [`run_jail_helper`] when [`jail_helper_requested`].
    pub fn of_this_program() -> Self {
        Self::with_helper(std::env::current_exe().unwrap_or_default())
    }

    /// Returns the usual limits, with the program that jails itself.
    pub fn with_helper(helper: PathBuf) -> Self {
        Self {
            timeout: Duration::from_secs(30),
            max_output_bytes: 10 << 20,
            allow_cd: true,
            sandbox: Sandbox::Auto,
            redact: true,
            helper,
            readable: Vec::new(),
        }
    }
}

/// How much of the kernel's jail is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// Nothing runs unless every layer is there.
    Required,
    /// What the system offers; what is missing is said.
    Auto,
    /// None: only the checks before a line runs.
    Off,
}

/// Runs command lines that only read, inside a workspace.
#[derive(Debug)]
pub struct Terminal {
    checker: Arc<Checker>,
    options: Options,
    launcher: Arc<Launcher>,
}

impl Terminal {
    /// Opens a terminal in a workspace. Nothing is started and nothing is written.
    pub fn open(workspace: Workspace, options: Options) -> Result<Self, TerminalError> {
        // A program that does not know the helper's name would start itself for ever.
        if jail_helper_requested() {
            return Err(TerminalError::HelperNotCalled);
        }
        let add = |workspace: Workspace, folder: &PathBuf| workspace.with_readable(folder);
        let workspace = options.readable.iter().fold(workspace, add);
        let launcher = Arc::new(launcher(&workspace, &options));
        let checker = Arc::new(Checker::open(workspace, options.allow_cd));
        Ok(Self { checker, options, launcher })
    }

    /// Returns the workspace.
    pub fn workspace(&self) -> &Workspace {
        self.checker.workspace()
    }

    /// Reads and checks a line, seen from a folder: what will run, or why nothing will. Looks at
    /// the file system, changes nothing, starts nothing.
    pub fn plan(&self, line: &str, directory: &WorkspacePath) -> Result<Plan, Refusal> {
        self.checker.plan(line, directory)
    }

    /// Reads and checks a line as [`Self::plan`] does, for a session in which `cd` was run before:
    /// `cd -` goes back to that folder.
    pub fn plan_from(
        &self,
        line: &str,
        directory: &WorkspacePath,
        before: Option<&WorkspacePath>,
    ) -> Result<Plan, Refusal> {
        self.checker.plan_from(line, directory, before)
    }

    /// Reads and checks a line, and says which rule allows or refuses each word.
    pub fn explain(&self, line: &str, directory: &WorkspacePath) -> Explanation {
        self.checker.explain(line, directory)
    }

    /// Returns what of the kernel's jail works here. The first call starts a process that tries.
    pub fn probe(&self) -> &JailReport {
        self.launcher.probe()
    }

    /// Returns a sentence about what is missing from the jail, when it was not switched off: what
    /// a person should know once.
    pub fn degraded(&self) -> Option<String> {
        let report = self.probe();
        if self.options.sandbox == Sandbox::Off || report.is_whole() {
            return None;
        }
        let missing = report.missing.join("; ");
        Some(format!("commands run without the whole of the kernel's jail: {missing}"))
    }

    /// Runs a checked line to its end, to a limit, or until it is cancelled, and returns what came
    /// of it. When the caller loses interest, so does the line: nothing goes on behind its back.
    pub async fn run(
        &self,
        plan: Plan,
        cancel: &CancellationToken,
    ) -> Result<CommandReport, TerminalError> {
        let system = TerminalError::system;
        let children = Arc::new(Children::new().map_err(system("making a pipe"))?);
        let interest = Interest(Arc::clone(&children));
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let line = Line {
            checker: Arc::clone(&self.checker),
            options: self.options.clone(),
            launcher: Arc::clone(&self.launcher),
            children,
            plan,
        };
        // The kernel ends a program with the thread that started it, so the thread is the line's
        // own and not one of a pool.
        std::thread::Builder::new()
            .name("groundskeeper line".to_owned())
            // Nobody listens any more when the caller went away.
            .spawn(move || drop(sender.send(line.run())))
            .map_err(system("starting a thread"))?;
        let mut receiver = receiver;
        let ended = tokio::select! {
            ended = &mut receiver => ended,
            () = cancel.cancelled() => {
                interest.0.stop(Stop::Cancelled);
                receiver.await
            }
        };
        let gone = || std::io::Error::other("the thread of the command ended without an answer");
        ended.map_err(|_| system("running the command")(gone()))?
    }
}

/// A line on its way, with everything that it takes.
struct Line {
    checker: Arc<Checker>,
    options: Options,
    launcher: Arc<Launcher>,
    children: Arc<Children>,
    plan: Plan,
}

impl Line {
    fn run(self) -> Result<CommandReport, TerminalError> {
        let report = self.launcher.probe();
        if self.options.sandbox == Sandbox::Required && !report.is_whole() {
            return Err(TerminalError::NoJail { missing: report.missing.clone() });
        }
        execute::run(
            &self.plan,
            &Surroundings {
                workspace: self.checker.workspace(),
                launcher: &self.launcher,
                check: &|xargs, words, directory| {
                    let action = self.checker.command(xargs, words, directory);
                    action.map_err(|refusal| refusal.for_human())
                },
                children: &self.children,
                timeout: self.options.timeout,
                max_output_bytes: self.options.max_output_bytes,
                redact: self.options.redact,
            },
        )
    }
}

/// Ends a line when its caller drops the future.
struct Interest(Arc<Children>);

impl Drop for Interest {
    fn drop(&mut self) {
        self.0.stop(Stop::Cancelled);
    }
}

fn launcher(workspace: &Workspace, options: &Options) -> Launcher {
    /// Seconds of processor time; a longer time limit raises it.
    const CPU_SECONDS: u64 = 30;
    let limits = Limits {
        cpu_seconds: CPU_SECONDS.max(options.timeout.as_secs().saturating_add(1)),
        memory: 4 << 30,
        descriptors: 512,
    };
    let layer = match options.sandbox {
        Sandbox::Required => Layer::Must,
        Sandbox::Auto => Layer::Try,
        Sandbox::Off => Layer::Off,
    };
    let mut readable = vec![workspace.root().to_owned()];
    readable.extend_from_slice(workspace.readable());
    readable.extend_from_slice(workspace.git_elsewhere());
    // Programs start in other folders, so a relative path would mean something else there.
    let helper = std::path::absolute(&options.helper).ok().filter(|helper| helper.is_file());
    let git = GitFacts::of(workspace);
    Launcher::new(workspace.root().to_owned(), readable, helper, layer, limits, git)
}

/// Cleans what was read from a file as the output of a command is cleaned: decoded, without escape
/// sequences and token-shaped secrets, with passages marked that talk to a model.
pub fn clean_text(bytes: &[u8]) -> String {
    let mut cleaner = clean::Cleaner::new(u64::MAX, true);
    cleaner.push(bytes);
    cleaner.finish().text
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

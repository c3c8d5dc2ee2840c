//! The terminal, as a model calls it: one line of read-only commands a call, and a current folder
//! that stays from call to call.
//!
//! Everything that a line may do is decided in [`crate::terminal`]; here its report and its
//! refusals become what a model reads and what the journal keeps.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{Tool, ToolContext};
use crate::protocol::{
    CommandFacts, CommandOrigin, Completeness, Effect, ToolError, ToolFailure, ToolFailureKind,
    ToolOutput,
};
use crate::support::paths::WorkspacePath;
use crate::support::plural::counted;
use crate::support::text::first_line;
use crate::terminal::{CommandReport, Refusal, Terminal, TerminalError};

/// Looks things up in the workspace with read-only command lines.
#[derive(Debug)]
pub struct TerminalTool {
    terminal: Arc<Terminal>,
    directory: Mutex<WorkspacePath>,
    /// The folder before the last `cd`.
    before: Mutex<Option<WorkspacePath>>,
}

/// One line of read-only commands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminalArgs {
    /// The command line, for example `grep -rn "TODO" src | head -20`.
    pub command: String,
}

/// What came of a line that could be run or refused.
enum Outcome {
    Ran(Box<CommandReport>),
    Refused(Refusal),
}

impl TerminalTool {
    /// Returns the tool over a terminal, standing at the root of the workspace.
    pub fn new(terminal: Arc<Terminal>) -> Self {
        let directory = Mutex::new(terminal.workspace().top());
        Self { terminal, directory, before: Mutex::default() }
    }

    /// Runs a line and returns what a model would read: the output, or the refusal.
    pub async fn run_line(&self, line: &str) -> Result<String, TerminalError> {
        Ok(match self.look_up(line, &CancellationToken::new()).await? {
            Outcome::Ran(report) => report.for_model(),
            Outcome::Refused(refusal) => refusal.for_model(),
        })
    }

    /// Runs a line for the agent or a person; returns what to journal, and what a model would read:
    /// the output, or the refusal as an error.
    pub async fn look(
        &self,
        line: &str,
        origin: CommandOrigin,
        cancel: &CancellationToken,
    ) -> Result<(CommandFacts, Result<String, String>), TerminalError> {
        Ok(match self.look_up(line, cancel).await? {
            Outcome::Ran(report) => (report.facts(origin), Ok(report.for_model())),
            Outcome::Refused(refusal) => (refusal.facts(line, origin), Err(refusal.for_model())),
        })
    }

    /// Runs a line for a person; returns the report, or why nothing was run.
    pub async fn run_for_person(
        &self,
        line: &str,
        cancel: &CancellationToken,
    ) -> Result<Result<CommandReport, Refusal>, TerminalError> {
        Ok(match self.look_up(line, cancel).await? {
            Outcome::Ran(report) => Ok(*report),
            Outcome::Refused(refusal) => Err(refusal),
        })
    }

    /// Returns what a person should know of a jail that is not whole; none when it is.
    pub fn degraded(&self) -> Option<String> {
        self.terminal.degraded()
    }

    /// Returns why a line would be refused at the top of the workspace; runs nothing.
    pub fn refusal(&self, line: &str) -> Option<String> {
        let top = self.terminal.workspace().top();
        self.terminal.plan(line, &top).err().map(|refusal| refusal.for_human())
    }

    /// Returns the folder where the next line starts, from the root of the workspace.
    pub fn directory(&self) -> WorkspacePath {
        let mut directory = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
        // Somebody may have removed it meanwhile: then the session is back at the root.
        if !self.terminal.workspace().absolute(&directory).is_dir() {
            *directory = self.terminal.workspace().top();
        }
        directory.clone()
    }

    /// Stands in a folder, told from the root of the workspace, where an earlier process stood;
    /// returns whether it is there.
    pub fn stand_in(&self, folder: &Path) -> bool {
        let workspace = self.terminal.workspace();
        let Ok(Some(found)) = workspace.folder(&workspace.top(), folder) else { return false };
        *self.directory.lock().unwrap_or_else(PoisonError::into_inner) = found;
        true
    }

    async fn look_up(
        &self,
        line: &str,
        cancel: &CancellationToken,
    ) -> Result<Outcome, TerminalError> {
        let before = self.before.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let plan = match self.terminal.plan_from(line, &self.directory(), before.as_ref()) {
            Ok(plan) => plan,
            Err(refusal) => return Ok(Outcome::Refused(refusal)),
        };
        let report = self.terminal.run(plan, cancel).await?;
        if report.directory_before.is_some() {
            let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
            before.clone_from(&report.directory_before);
            let mut directory = self.directory.lock().unwrap_or_else(PoisonError::into_inner);
            directory.clone_from(&report.directory_after);
        }
        Ok(Outcome::Ran(Box::new(report)))
    }
}

impl Tool for TerminalTool {
    const NAME: &'static str = "terminal";

    type Args = TerminalArgs;

    /// A line that moves the current folder must not run beside another.
    fn only_reads(&self, arguments: &TerminalArgs) -> bool {
        let words = arguments.command.split(|c: char| !c.is_alphanumeric() && c != '_');
        !words.into_iter().any(|word| word == "cd")
    }

    async fn call(
        &self,
        arguments: TerminalArgs,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        match self.look_up(&arguments.command, &context.cancel).await {
            Ok(Outcome::Ran(report)) if report.cancelled => Err(interrupted(&report)),
            Ok(Outcome::Ran(report)) => Ok(output(&report)),
            Ok(Outcome::Refused(refusal)) => Err(refused(&arguments.command, &refusal)),
            Err(error) => Err(failed(error)),
        }
    }
}

fn output(report: &CommandReport) -> ToolOutput {
    let whole = !report.truncated && !report.timed_out;
    ToolOutput {
        for_model: report.for_model(),
        summary: summary(report),
        completeness: if whole { Completeness::Whole } else { Completeness::Cut },
        effects: vec![Effect::Command(report.facts(CommandOrigin::Model))],
    }
}

/// One line for a person: how much came, and whether it went well.
fn summary(report: &CommandReport) -> String {
    let mut parts = vec![counted(report.stdout.lines().count(), "line", "lines")];
    match report.exit_code {
        Some(0) => {}
        Some(code) => parts.push(format!("exit code {code}")),
        None if report.timed_out => parts.push("timed out".to_owned()),
        None => parts.push("cut".to_owned()),
    }
    if report.directory_after != report.directory {
        let folder = report.directory_after.relative();
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        parts.push(format!("now in `{}`", folder.display()));
    }
    parts.join(", ")
}

fn refused(line: &str, refusal: &Refusal) -> ToolError {
    ToolError::Answerable(ToolFailure {
        kind: ToolFailureKind::Refused,
        for_model: refusal.for_model(),
        for_human: format!("refused: {}", refusal.for_human()),
        effects: vec![Effect::Command(refusal.facts(line, CommandOrigin::Model))],
    })
}

fn interrupted(report: &CommandReport) -> ToolError {
    ToolError::Answerable(ToolFailure {
        kind: ToolFailureKind::Interrupted,
        for_model: report.for_model(),
        for_human: format!("interrupted: `{}`", first_line(&report.line, 60)),
        effects: vec![Effect::Command(report.facts(CommandOrigin::Model))],
    })
}

fn failed(error: TerminalError) -> ToolError {
    let for_model = match &error {
        // No later call can do better, and none must run without the jail.
        TerminalError::NoJail { .. }
        | TerminalError::JailFailed(_)
        | TerminalError::HelperNotCalled => return ToolError::Fatal(Box::new(error)),
        TerminalError::System { doing, .. } => {
            format!("The command was not run: {doing} failed. Trying again later may work.")
        }
    };
    let for_human = error.to_string();
    let kind = ToolFailureKind::Failed;
    ToolError::Answerable(ToolFailure { kind, for_model, for_human, effects: Vec::new() })
}

#[cfg(test)]
mod tests;

//! Runs a plan: pipelines that we wire ourselves, one after the other, without a shell.
//!
//! Each command of a pipeline has a thread of its own that starts it and waits for it, or does its
//! work when it is one of ours; the thread that runs the line reads what comes out. All of it ends
//! with the line: no thread and no process outlives [`run`].

mod builtins;
mod xargs;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};

use super::capture::Capture;
use super::children::{Children, Stop};
use super::clean::Cleaner;
use super::error::TerminalError;
use super::jail::SETUP_FAILED;
use super::plan::{Action, Invocation, Plan, Stage, Step, Target, When, Xargs};
use super::report::{CommandReport, StageReport};
use super::spawn::{Launcher, Streams};
use crate::support::paths::{Workspace, WorkspacePath};

/// Checks a command that came up while running (a batch of `xargs`), or says why not.
pub(super) type Check<'a> =
    dyn Fn(&Xargs, &[OsString], &WorkspacePath) -> Result<Action, String> + Sync + 'a;

/// What running a line takes.
pub(super) struct Surroundings<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) launcher: &'a Launcher,
    pub(super) check: &'a Check<'a>,
    pub(super) children: &'a Children,
    pub(super) timeout: Duration,
    pub(super) max_output_bytes: u64,
    pub(super) redact: bool,
}

/// The three streams of a command.
struct Pipes {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
}

/// Runs a plan to its end or to a limit. The calling thread must live as long as that takes.
pub(super) fn run(
    plan: &Plan,
    surroundings: &Surroundings<'_>,
) -> Result<CommandReport, TerminalError> {
    let started = Instant::now();
    let deadline = started.checked_add(surroundings.timeout).unwrap_or(started);
    let cleaner = || Cleaner::new(surroundings.max_output_bytes, surroundings.redact);
    let mut capture = Capture::new(cleaner(), cleaner(), surroundings.max_output_bytes, deadline);
    let mut directory = plan.start.clone();
    let mut stages = Vec::new();
    let mut code = Some(0);
    for step in &plan.steps {
        let due = match step.when {
            When::Always => true,
            When::IfSucceeded => code == Some(0),
            When::IfFailed => code != Some(0),
        };
        if !due {
            continue;
        }
        let codes = run_step(step, surroundings, &mut capture)?;
        if codes.contains(&Some(SETUP_FAILED)) {
            return Err(TerminalError::JailFailed(capture.stderr.finish().text.trim().to_owned()));
        }
        code = codes.last().copied().flatten();
        if code == Some(0)
            && let Some(moved) = moved(step, surroundings.workspace)
        {
            directory = moved;
        }
        stages.extend(
            step.stages
                .iter()
                .zip(codes)
                .map(|(stage, exit_code)| StageReport { command: shown(&stage.action), exit_code }),
        );
        if surroundings.children.stopped().is_some() {
            code = None;
            break;
        }
    }
    let stopped = surroundings.children.stopped();
    let (bytes, stdout, stderr) = (capture.bytes, capture.stdout.finish(), capture.stderr.finish());
    Ok(CommandReport {
        line: plan.line.clone(),
        directory: plan.start.clone(),
        directory_after: directory,
        exit_code: code,
        stages,
        encoding: stdout.encoding.or(stderr.encoding).map(str::to_owned),
        redacted: stdout.redacted + stderr.redacted,
        stdout: stdout.text,
        stderr: stderr.text,
        bytes,
        truncated: stopped == Some(Stop::Full),
        timed_out: stopped == Some(Stop::TimedOut),
        cancelled: stopped == Some(Stop::Cancelled),
        timeout: surroundings.timeout,
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
    })
}

/// Runs one pipeline and returns the exit code of each of its commands.
fn run_step(
    step: &Step,
    surroundings: &Surroundings<'_>,
    capture: &mut Capture,
) -> Result<Vec<Option<i32>>, TerminalError> {
    let system = TerminalError::system;
    let runner = Runner { surroundings, directory: &step.directory };
    let (stdout, stdout_end) = pipe().map_err(system("making a pipe"))?;
    let (stderr, stderr_end) = pipe().map_err(system("making a pipe"))?;
    let (ended, ended_end) = pipe().map_err(system("making a pipe"))?;
    let wired = runner.wire(&step.stages, &stdout_end, &stderr_end);
    let wired = wired.map_err(system("making a pipe"))?;
    // The commands have copies; ours would keep the pipes from ending.
    drop((stdout_end, stderr_end));
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (stage, pipes) in step.stages.iter().zip(wired) {
            let alive = ended_end.try_clone().map_err(system("making a pipe"))?;
            let runner = &runner;
            let body = move || {
                let code = match pipes {
                    Ok(pipes) => runner.run(&stage.action, pipes),
                    Err(code) => Some(code),
                };
                // The reader of this pipe sees its end when the last stage is over.
                drop(alive);
                code
            };
            let thread = std::thread::Builder::new()
                .name("groundskeeper stage".to_owned())
                .spawn_scoped(scope, body)
                .map_err(|source| {
                    surroundings.children.stop(Stop::Cancelled);
                    TerminalError::System { doing: "starting a thread", source }
                })?;
            threads.push(thread);
        }
        drop(ended_end);
        let followed = capture.follow(stdout, stderr, ended.as_fd(), surroundings.children);
        if followed.is_err() {
            surroundings.children.stop(Stop::Cancelled);
        }
        let codes = threads.into_iter().map(|thread| thread.join().ok().flatten()).collect();
        followed.map_err(system("reading the output"))?;
        Ok(codes)
    })
}

/// Runs single commands in a folder.
struct Runner<'a> {
    surroundings: &'a Surroundings<'a>,
    directory: &'a WorkspacePath,
}

impl Runner<'_> {
    /// Connects the commands of a pipeline. A command whose input cannot be opened is told by the
    /// exit code that it gets instead.
    fn wire(
        &self,
        stages: &[Stage],
        stdout: &OwnedFd,
        stderr: &OwnedFd,
    ) -> io::Result<Vec<Result<Pipes, i32>>> {
        let mut wired = Vec::with_capacity(stages.len());
        let mut previous: Option<OwnedFd> = None;
        for (index, stage) in stages.iter().enumerate() {
            let (next, output) = if index + 1 == stages.len() {
                (None, stdout.try_clone()?)
            } else {
                let (next, output) = pipe()?;
                (Some(next), output)
            };
            let piped = std::mem::replace(&mut previous, next);
            let messages = redirect(stage.stderr, &output, stderr, stderr)?;
            let stdin = match (&stage.input, piped) {
                (Some(path), _) => self.open_input(path),
                (None, Some(pipe)) => Ok(pipe),
                (None, None) => null(),
            };
            wired.push(match stdin {
                Ok(stdin) => {
                    let output = redirect(stage.stdout, &output, stderr, &output)?;
                    Ok(Pipes { stdin, stdout: output, stderr: messages })
                }
                Err(error) => {
                    tell(messages, format_args!("the input cannot be opened: {error}"));
                    Err(1)
                }
            });
        }
        Ok(wired)
    }

    /// Opens the file of `< FILE`: a regular file, by a path that was resolved, without waiting.
    fn open_input(&self, path: &Path) -> io::Result<OwnedFd> {
        let path = self.folder().join(path);
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
        let file = File::from(rustix::fs::open(&path, flags | OFlags::NOCTTY, Mode::empty())?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(file.into())
    }

    /// Runs a command to its end and returns its exit code; none when it was ended.
    fn run(&self, action: &Action, pipes: Pipes) -> Option<i32> {
        match action {
            Action::Program(invocation) => self.program(invocation, pipes),
            Action::Builtin(words) => Some(builtins::run(words, self, pipes)),
            Action::Xargs(xargs) => xargs::run(xargs, self, pipes),
            Action::FindExec { find, command } => xargs::find_exec(find, command, self, pipes),
        }
    }

    fn program(&self, invocation: &Invocation, pipes: Pipes) -> Option<i32> {
        let complaints = pipes.stderr.try_clone();
        let streams = Streams { stdin: pipes.stdin, stdout: pipes.stdout, stderr: pipes.stderr };
        let children = self.surroundings.children;
        let launcher = self.surroundings.launcher;
        let started = children.start(|| launcher.start(invocation, &self.folder(), streams));
        match started {
            Ok(mut child) => self.wait(&mut child),
            Err(_) if children.stopped().is_some() => None,
            Err(error) => {
                if let Ok(complaints) = complaints {
                    let name = invocation.arguments.first().cloned().unwrap_or_default();
                    tell(complaints, format_args!("{}: cannot be run: {error}", name.display()));
                }
                Some(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
            }
        }
    }

    fn wait(&self, child: &mut Child) -> Option<i32> {
        let status = self.surroundings.children.wait(child);
        if self.surroundings.children.stopped().is_some() {
            // Whoever had ended by itself before is told apart by its code.
            return status.ok().as_ref().and_then(ExitStatus::code);
        }
        status.ok().map(code)
    }

    fn folder(&self) -> PathBuf {
        self.surroundings.workspace.absolute(self.directory)
    }

    fn is_stopped(&self) -> bool {
        self.surroundings.children.stopped().is_some()
    }
}

/// Returns where the line stands after a step that succeeded, if it is a `cd`.
fn moved(step: &Step, workspace: &Workspace) -> Option<WorkspacePath> {
    let [Stage { action: Action::Builtin(words), .. }] = step.stages.as_slice() else {
        return None;
    };
    match words.as_slice() {
        [name] if name == "cd" => Some(workspace.top()),
        [name, .., target] if name == "cd" => {
            workspace.folder(&step.directory, Path::new(target)).ok().flatten()
        }
        _ => None,
    }
}

fn redirect(
    target: Target,
    output: &OwnedFd,
    messages: &OwnedFd,
    default: &OwnedFd,
) -> io::Result<OwnedFd> {
    match target {
        Target::Default => default.try_clone(),
        Target::Null => null(),
        Target::Stdout => output.try_clone(),
        Target::Stderr => messages.try_clone(),
    }
}

fn null() -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY;
    Ok(rustix::fs::open("/dev/null", flags, Mode::empty())?)
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(pipe_with(PipeFlags::CLOEXEC)?)
}

/// Writes a message where those of a command go.
fn tell(messages: OwnedFd, message: std::fmt::Arguments<'_>) {
    // Nobody is left to read it when this fails.
    drop(File::from(messages).write_all(format!("{message}\n").as_bytes()));
}

/// As a shell counts: 128 and the number of the signal that ended it.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// Returns a command as it ran, for the report.
fn shown(action: &Action) -> String {
    let join = |words: &[OsString]| {
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        words.join(" ")
    };
    match action {
        Action::Program(invocation) => join(&invocation.arguments),
        Action::Builtin(words) => join(words),
        Action::Xargs(xargs) => format!("xargs {}", join(&xargs.command)),
        Action::FindExec { find, command } => {
            format!("{} -exec {}", join(&find.arguments), join(&command.command))
        }
    }
}

#[cfg(test)]
mod tests;

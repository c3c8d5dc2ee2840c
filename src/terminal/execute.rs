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
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};

use super::capture::Capture;
use super::children::{Children, Stop};
use super::clean::Cleaner;
use super::error::TerminalError;
use super::jail::SETUP_FAILED;
use super::plan::{Action, Invocation, Plan, Stage, Step, Target, When, Xargs};
use super::report::{CommandReport, StageReport};
use super::spawn::{Launcher, Streams};
use crate::support::paths::{Workspace, WorkspacePath};

/// What ends a writer whose reader has gone away; the same number everywhere.
const SIGPIPE: i32 = 13;

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

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// By itself. A writer whose reader had enough counts as 141, as in a shell.
    Code(i32),
    /// By a signal that we did not send.
    Signal(i32),
    /// By us, or not started because the line was over.
    Stopped,
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
    let (mut directory, mut before) = (plan.start.clone(), None);
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
        let ends = run_step(step, surroundings, &mut capture)?;
        if ends.contains(&End::Code(SETUP_FAILED)) {
            return Err(TerminalError::JailFailed(capture.stderr.finish().text.trim().to_owned()));
        }
        code = ends.last().and_then(|end| end.code());
        if code == Some(0)
            && let Some(moved) = moved(step, surroundings.workspace)
        {
            before = Some(std::mem::replace(&mut directory, moved));
        }
        stages.extend(step.stages.iter().zip(ends).map(|(stage, end)| StageReport {
            command: shown(&stage.action),
            exit_code: end.code(),
            signal: end.signal(),
        }));
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
        directory_before: before,
        exit_code: code,
        stages,
        encoding: stdout.encoding.or(stderr.encoding).map(str::to_owned),
        redacted: stdout.redacted + stderr.redacted,
        marked: stdout.marked + stderr.marked,
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

/// Runs one pipeline and returns how each of its commands ended.
fn run_step(
    step: &Step,
    surroundings: &Surroundings<'_>,
    capture: &mut Capture,
) -> Result<Vec<End>, TerminalError> {
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
                    Err(code) => End::Code(code),
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
        let codes =
            threads.into_iter().map(|thread| thread.join().unwrap_or(End::Stopped)).collect();
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
        let file = File::from(open_resolved(self.surroundings.workspace.root(), &path)?);
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(file.into())
    }

    /// Runs a command to its end.
    fn run(&self, action: &Action, pipes: Pipes) -> End {
        match action {
            Action::Program(invocation) => self.program(invocation, pipes),
            Action::Builtin(words) => End::Code(builtins::run(words, self, pipes)),
            Action::Xargs(xargs) => xargs::run(xargs, self, pipes),
            Action::FindExec { find, command } => xargs::find_exec(find, command, self, pipes),
        }
    }

    fn program(&self, invocation: &Invocation, pipes: Pipes) -> End {
        let complaints = pipes.stderr.try_clone();
        let streams = Streams { stdin: pipes.stdin, stdout: pipes.stdout, stderr: pipes.stderr };
        let children = self.surroundings.children;
        let launcher = self.surroundings.launcher;
        let started = children.start(|| launcher.start(invocation, &self.folder(), streams));
        match started {
            Ok(mut child) => self.wait(&mut child),
            Err(_) if children.stopped().is_some() => End::Stopped,
            Err(error) => {
                if let Ok(complaints) = complaints {
                    let name = invocation.arguments.first().cloned().unwrap_or_default();
                    tell(complaints, format_args!("{}: cannot be run: {error}", name.display()));
                }
                End::Code(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
            }
        }
    }

    fn wait(&self, child: &mut Child) -> End {
        let Ok(status) = self.surroundings.children.wait(child) else { return End::Stopped };
        match (status.code(), status.signal()) {
            // Whoever had ended by itself before a stop is told apart by its code.
            (Some(code), _) => End::Code(code),
            (None, _) if self.is_stopped() => End::Stopped,
            (None, Some(SIGPIPE)) => End::Code(128 + SIGPIPE),
            (None, Some(signal)) => End::Signal(signal),
            (None, None) => End::Stopped,
        }
    }

    fn folder(&self) -> PathBuf {
        self.surroundings.workspace.absolute(self.directory)
    }

    fn is_stopped(&self) -> bool {
        self.surroundings.children.stopped().is_some()
    }
}

impl End {
    fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) | Self::Stopped => None,
        }
    }

    fn signal(self) -> Option<i32> {
        match self {
            Self::Signal(signal) => Some(signal),
            Self::Code(_) | Self::Stopped => None,
        }
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
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}

/// Opens a file to read, by a path that was resolved. We are not in the jail, so the kernel is
/// asked to follow no link that may have come since, as far as it can.
fn open_resolved(root: &Path, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let flags = flags | OFlags::NOFOLLOW;
    #[cfg(target_os = "linux")]
    if let Ok(inside) = path.strip_prefix(root) {
        use rustix::fs::{ResolveFlags, openat2};
        let folder = rustix::fs::open(root, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        match openat2(&folder, inside, flags, Mode::empty(), resolve) {
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
            opened => return Ok(opened?),
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = root;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Writes a message where those of a command go.
fn tell(messages: OwnedFd, message: std::fmt::Arguments<'_>) {
    // Nobody is left to read it when this fails.
    drop(File::from(messages).write_all(format!("{message}\n").as_bytes()));
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

//! The only place that starts a process.
//!
//! A program is never started directly where there is a jail: our own binary is started as the
//! helper, with the environment and the streams of the command, and becomes it. Starting a fresh
//! process by `posix_spawn` costs the same however large this one is; forking would not.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::environment::{self, GitFacts};
use super::jail::{Cell, HELPER_NAME, JailReport, Job, Layer, Limits, Processes, loader_of};
use super::plan::Invocation;

/// Where programs find what they cannot start without. What is not there on a distribution costs
/// nothing.
const LIBRARIES: &[&str] = &[
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/etc/ld-musl-x86_64.path",
    "/etc/ld-musl-aarch64.path",
    "/usr/share/zoneinfo",
    "/usr/share/misc",
    "/usr/share/file",
    "/etc/magic",
];

/// What `df` reads, and nobody else: the helper finds its own.
const MOUNTS: &str = "/proc/self/mountinfo";

/// What is said where there can be none.
const NO_JAIL: &str = "no jail on this system: only the rules stand between a line and the files";

/// What is said when there is no helper.
const NO_HELPER: &str = "no program that jails itself: commands run without the kernel's jail";

/// How long the self-test may take; it takes a few milliseconds.
const PROBE_TIME: Duration = Duration::from_secs(5);

/// Starts programs in their cells.
#[derive(Debug)]
pub(super) struct Launcher {
    /// The workspace's root: where the self-test starts.
    pub(super) root: PathBuf,
    /// What of the file system can be read.
    pub(super) readable: Vec<PathBuf>,
    /// The binary that jails itself; none where there is no jail.
    pub(super) helper: Option<PathBuf>,
    /// How much of the jail is wanted.
    pub(super) layer: Layer,
    /// What a program may use up.
    pub(super) limits: Limits,
    /// What Git's pins depend on.
    pub(super) git: GitFacts,
    loaders: Mutex<HashMap<PathBuf, Option<PathBuf>>>,
    probed: OnceLock<JailReport>,
}

/// The three streams of a program.
pub(super) struct Streams {
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

impl Launcher {
    /// Returns a launcher; nothing is started yet.
    pub(super) fn new(
        root: PathBuf,
        readable: Vec<PathBuf>,
        helper: Option<PathBuf>,
        layer: Layer,
        limits: Limits,
        git: GitFacts,
    ) -> Self {
        Self {
            root,
            readable,
            helper,
            layer,
            limits,
            git,
            loaders: Mutex::default(),
            probed: OnceLock::new(),
        }
    }

    /// Starts a program in a folder, in a process group of its own.
    ///
    /// The calling thread must live as long as the program: the kernel ends the program with it.
    pub(super) fn start(
        &self,
        invocation: &Invocation,
        directory: &Path,
        streams: Streams,
    ) -> io::Result<Child> {
        // A helper that did not answer is another program: it is never started twice.
        let helper = self.helper.as_ref().filter(|_| self.probe().has_answered());
        let mut command = if let Some(helper) = helper {
            let job = Job::Run {
                program: invocation.program.clone(),
                arguments: invocation.arguments.clone(),
            };
            helper_command(helper, &self.cell(invocation), &job)
        } else {
            bare_command(invocation)
        };
        command
            .env_clear()
            .envs(environment::variables(invocation, &self.git))
            .current_dir(directory)
            .process_group(0)
            .stdin(streams.stdin)
            .stdout(streams.stdout)
            .stderr(streams.stderr);
        command.spawn()
    }

    /// Returns what of the jail works here: asks the helper, once.
    pub(super) fn probe(&self) -> &JailReport {
        self.probed.get_or_init(|| {
            if !cfg!(target_os = "linux") {
                return JailReport::none(NO_JAIL);
            }
            let Some(helper) = &self.helper else {
                return JailReport::none(NO_HELPER);
            };
            let printed = self.run_probe(helper);
            let report = printed.map(|printed| JailReport::read(&printed));
            let mut report =
                report.unwrap_or_else(|error| JailReport::none(format!("{NO_HELPER}: {error}")));
            if self.layer == Layer::Off {
                report.missing.insert(0, "the sandbox is off".to_owned());
            }
            report
        })
    }

    fn run_probe(&self, helper: &Path) -> io::Result<String> {
        let nothing = Invocation { program: PathBuf::new(), arguments: Vec::new(), git: true };
        let mut cell = self.cell(&nothing);
        // What is missing is to be told, not to end the test.
        cell.landlock = Layer::Try;
        cell.seccomp = Layer::Try;
        let mut command = helper_command(helper, &cell, &Job::Probe);
        command
            .env_clear()
            .current_dir(&self.root)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn()?;
        let printed = child.stdout.take().map_or(Ok(String::new()), read_for_a_while);
        // A program that is not our helper may do anything but end.
        drop(child.kill());
        drop(child.wait());
        printed
    }

    fn cell(&self, invocation: &Invocation) -> Cell {
        let mut executable = vec![invocation.program.clone()];
        executable.extend(self.loader(&invocation.program));
        let mut libraries: Vec<PathBuf> = LIBRARIES.iter().map(PathBuf::from).collect();
        if invocation.program.file_name().is_some_and(|name| name == "df") {
            libraries.push(PathBuf::from(MOUNTS));
        }
        Cell {
            landlock: self.layer,
            seccomp: self.layer,
            processes: Processes::One,
            opens_for_writing: invocation.git,
            readable: self.readable.clone(),
            libraries,
            executable,
            limits: self.limits,
            parent: std::process::id(),
        }
    }

    fn loader(&self, program: &Path) -> Option<PathBuf> {
        let mut loaders = self.loaders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(loader) = loaders.get(program) {
            return loader.clone();
        }
        let loader = loader_of(program);
        loaders.insert(program.to_owned(), loader.clone());
        loader
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts processes")]
fn helper_command(helper: &Path, cell: &Cell, job: &Job) -> Command {
    let mut command = Command::new(helper);
    command.arg(HELPER_NAME).args(cell.to_arguments(job));
    command
}

#[expect(clippy::disallowed_methods, reason = "the one place that starts processes")]
fn bare_command(invocation: &Invocation) -> Command {
    let mut command = Command::new(&invocation.program);
    let mut arguments = invocation.arguments.iter();
    command.arg0(arguments.next().map_or(invocation.program.as_os_str(), OsString::as_os_str));
    command.args(arguments);
    command
}

/// Reads until the end or until the time is up.
fn read_for_a_while(mut stream: impl Read + std::os::fd::AsFd) -> io::Result<String> {
    let mut printed = Vec::new();
    let mut chunk = [0; 4096];
    let wait = Timespec { tv_sec: PROBE_TIME.as_secs().cast_signed(), tv_nsec: 0 };
    while poll(&mut [PollFd::new(&stream, PollFlags::IN)], Some(&wait))? > 0 {
        match stream.read(&mut chunk)? {
            0 => break,
            count => printed.extend_from_slice(&chunk[..count]),
        }
        if printed.len() > 1 << 16 {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&printed).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    /// Runs a program without a jail and returns what it prints.
    fn printed(arguments: &[&str]) -> String {
        let root = std::env::temp_dir();
        let git = GitFacts { root: root.clone(), sha256: false };
        let limits = Limits { cpu_seconds: 30, memory: 1 << 32, descriptors: 512 };
        let launcher = Launcher::new(root.clone(), Vec::new(), None, Layer::Off, limits, git);
        let program = PathBuf::from(format!("/usr/bin/{}", arguments[0]));
        let arguments = arguments.iter().map(OsString::from).collect();
        let (mut reader, writer) = io::pipe().unwrap();
        let null = || OwnedFd::from(File::open("/dev/null").unwrap());
        let streams = Streams { stdin: null(), stdout: writer.into(), stderr: null() };
        let invocation = Invocation { program, arguments, git: false };
        let mut child = launcher.start(&invocation, &root, streams).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        child.wait().unwrap();
        text
    }

    #[test]
    fn nothing_of_our_environment_reaches_a_command() {
        assert!(std::env::vars_os().count() > 0, "there is something to hide");
        let printed = printed(&["env"]);
        let names: Vec<&str> =
            printed.lines().filter_map(|line| line.split_once('=')).map(|pair| pair.0).collect();
        let fixed = ["HOME", "LANG", "LC_ALL", "NO_COLOR", "PAGER", "PATH", "TERM", "TZ"];
        assert_eq!(names, fixed, "{printed}");
    }
}

//! What the tests of the binary share: an environment of their own, cleared but for what they set,
//! with a copied repository and a clock that stands still.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

pub(crate) mod dialog;
pub(crate) mod server;
pub(crate) mod watched;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use groundskeeper::protocol::EventKind;
use serde_json::Value;
use tempfile::TempDir;

/// When the tests' clock stands still, unless a test says otherwise.
pub(crate) const NOW: &str = "2025-01-19T15:30:00+08:00";

/// An environment: a folder with a HOME, a workspace and scripts.
pub(crate) struct Env {
    folder: TempDir,
    model: String,
}

impl Env {
    /// Returns an environment with an empty workspace.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "ws"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder, model: "offline".to_owned() }
    }

    /// Copies a repository of `fixtures/repos` into the workspace and commits it.
    pub(crate) fn repo(self, name: &str) -> Self {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/repos").join(name);
        copy_tree(&from, &self.workspace());
        self.commit("initial import");
        self
    }

    /// Writes a file into the workspace.
    pub(crate) fn file(self, path: impl AsRef<OsStr>, text: impl AsRef<[u8]>) -> Self {
        write(&self.workspace().join(path.as_ref()), text.as_ref());
        self
    }

    /// Takes a script for the model.
    pub(crate) fn script(mut self, text: &str) -> Self {
        let path = self.folder.path().join("script.yaml");
        write(&path, text.as_bytes());
        self.model = format!("script:{}", path.display());
        self
    }

    /// Returns the workspace.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    /// Returns the folder that holds everything.
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Makes the workspace a Git repository, if it is none, and commits all of it.
    pub(crate) fn commit(&self, message: &str) {
        if !self.workspace().join(".git").exists() {
            self.git(&["init", "-q", "-b", "main"]);
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// Runs Git in the workspace.
    #[track_caller]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let output = self.command("git").args(arguments).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs a shell line in the workspace: what an independent program says.
    #[track_caller]
    pub(crate) fn shell(&self, line: &str) -> String {
        let output = self.command("bash").args(["-c", line]).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Runs the program in the workspace.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ran {
        Ran(self.groundskeeper().args(arguments).output().unwrap())
    }

    /// Returns the program, ready to be given arguments.
    pub(crate) fn groundskeeper(&self) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_groundskeeper"));
        command.env("GROUNDSKEEPER_MODEL", &self.model).env("GROUNDSKEEPER_CLOCK", NOW);
        command
    }

    /// Returns the names and contents and times of all files of the workspace outside
    /// `.groundskeeper/`.
    pub(crate) fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
        let mut found = Vec::new();
        collect(&self.workspace(), &mut found);
        found.sort();
        found
    }

    #[expect(clippy::disallowed_methods, reason = "tests start programs of their own")]
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.workspace())
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.folder.path().join("home"))
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .stdin(Stdio::null());
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "Ann")
                .env(format!("GIT_{who}_EMAIL"), "ann@example.org")
                .env(format!("GIT_{who}_DATE"), "2025-01-10T09:00:00Z");
        }
        command
    }
}

/// Returns the calls that had begun and had no result.
pub(crate) fn begun_without_a_result<'a>(
    events: impl IntoIterator<Item = &'a EventKind>,
) -> Vec<String> {
    let mut open = Vec::new();
    for kind in events {
        match kind {
            EventKind::ToolStarted { id, .. } => open.push(id.clone()),
            EventKind::ToolFinished { id, .. } => open.retain(|begun| begun != id),
            _ => {}
        }
    }
    open
}

/// What came of running the program.
pub(crate) struct Ran(pub(crate) Output);

impl Ran {
    /// Returns stdout.
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.0.stdout).into_owned()
    }

    /// Returns stderr.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }

    /// Checks the exit code.
    #[track_caller]
    pub(crate) fn code(self, expected: i32) -> Self {
        let code = self.0.status.code();
        assert_eq!(code, Some(expected), "{}\n{}", self.stdout(), self.stderr());
        self
    }

    /// Reads stdout as JSON lines.
    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        self.stdout().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Reads stdout as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.0.stdout).unwrap()
    }
}

/// Writes a file and the folders above it.
#[expect(clippy::disallowed_methods, reason = "a test's own files")]
pub(crate) fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Copies a folder with all that is in it.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), &target).unwrap();
        }
    }
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>, std::time::SystemTime)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = entry.path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if path.ends_with(".groundskeeper") {
            continue;
        }
        if metadata.is_dir() {
            collect(&path, found);
        } else {
            let bytes = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            found.push((path, bytes, metadata.modified().unwrap()));
        }
    }
}

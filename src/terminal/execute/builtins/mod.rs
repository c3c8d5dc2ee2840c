//! The small commands that we answer ourselves: no process, no difference between systems.
//!
//! They read the names of files and nothing else: only `tree`, `test`, `which` and `whereis` look
//! at the file system, and the first two not outside the workspace.

mod names;
mod printf;
mod programs;
mod seq;
mod test;
mod tree;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use super::{Pipes, Runner, tell};
use crate::support::paths::{Workspace, WorkspacePath};

/// Where a builtin stands, and where it writes.
struct Desk<'a> {
    workspace: &'a Workspace,
    directory: &'a WorkspacePath,
    out: BufWriter<File>,
    stopped: &'a dyn Fn() -> bool,
}

/// How a builtin ended when it did not succeed.
#[derive(Debug)]
enum Failure {
    /// It was called with words that it does not take: 2, and a message.
    Usage(String),
    /// It did not find what it should: 1, and perhaps a message.
    Negative(Option<String>),
    /// Its output cannot be written: nobody reads it any more.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

type Result<T> = std::result::Result<T, Failure>;

/// Runs a builtin and returns its exit code.
pub(super) fn run(words: &[OsString], runner: &Runner<'_>, pipes: Pipes) -> i32 {
    let stopped = || runner.is_stopped();
    let mut desk = Desk {
        workspace: runner.surroundings.workspace,
        directory: runner.directory,
        out: BufWriter::new(File::from(pipes.stdout)),
        stopped: &stopped,
    };
    let Some((name, words)) = words.split_first() else { return 0 };
    let name = name.to_string_lossy();
    let result = call(&name, words, &mut desk);
    // What was printed before a failure is printed all the same.
    let result = desk.out.flush().map_err(Failure::from).and(result);
    // A reader that is gone must not be written to again when the buffer goes.
    drop(desk.out.into_parts());
    match result {
        Ok(()) => 0,
        Err(Failure::Usage(message)) => {
            tell(pipes.stderr, format_args!("{name}: {message}"));
            2
        }
        Err(Failure::Negative(message)) => {
            if let Some(message) = message {
                tell(pipes.stderr, format_args!("{name}: {message}"));
            }
            1
        }
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 141,
        Err(Failure::Output(error)) => {
            tell(pipes.stderr, format_args!("{name}: {error}"));
            1
        }
    }
}

fn call(name: &str, words: &[OsString], desk: &mut Desk<'_>) -> Result<()> {
    match name {
        "cd" => cd(words, desk),
        "pwd" => Ok(desk.line(desk.folder().as_os_str().as_bytes())?),
        "true" => Ok(()),
        "false" => Err(Failure::Negative(None)),
        "echo" => printf::echo(words, desk),
        "printf" => printf::printf(words, desk),
        "test" | "[" => test::test(name, words, desk),
        "seq" => seq::seq(words, desk),
        "basename" => names::basename(words, desk),
        "dirname" => names::dirname(words, desk),
        "which" => programs::which(words, desk),
        "whereis" => programs::whereis(words, desk),
        "tree" => tree::tree(words, desk),
        _ => Err(Failure::Usage("no such command".to_owned())),
    }
}

/// The checker has looked at the folder already; it may have gone since.
fn cd(words: &[OsString], desk: &mut Desk<'_>) -> Result<()> {
    let Some(target) = words.iter().rfind(|word| *word != "--") else { return Ok(()) };
    match desk.workspace.folder(desk.directory, target.as_ref()) {
        // `cd -` tells where it went, as in a shell.
        Ok(Some(_)) if words.len() > 1 && words[0] == "-" => {
            Ok(desk.line(target.as_encoded_bytes())?)
        }
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(Failure::Negative(Some(format!("no such folder: {}", target.display())))),
        Err(problem) => Err(Failure::Negative(Some(format!("{} {problem}", target.display())))),
    }
}

impl Desk<'_> {
    fn folder(&self) -> PathBuf {
        self.workspace.absolute(self.directory)
    }

    fn line(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.out.write_all(b"\n")
    }

    fn is_stopped(&self) -> bool {
        (self.stopped)()
    }
}

#[cfg(test)]
mod tests;

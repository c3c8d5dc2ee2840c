//! From what was read to what will run: commands against rules, paths against the workspace.
//!
//! The checker looks at the file system and changes nothing. What it is not certain about it
//! refuses. It follows `cd`, so that each pipeline is checked in the folder that it will run in.

mod place;

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::arguments::{Argument, Origin, is_null_device};
use super::explain::{Explanation, Notes};
use super::glob;
use super::lexer::{RedirectOperator, Word};
use super::parser::{Command, Pipeline, Redirect, parse};
use super::plan::{Action, Plan, Stage, Step, Target};
use super::programs::Programs;
use super::refusal::Refusal;
use super::repair::{Repair, without_shell};
use super::rules::{RULES, Rules};
use crate::support::paths::{PathProblem, Workspace, WorkspacePath};
use place::{Moves, Place, Spot};

/// Reads lines and decides.
#[derive(Debug)]
pub(in crate::terminal) struct Checker {
    workspace: Workspace,
    rules: &'static Rules,
    programs: Programs,
    allow_cd: bool,
}

/// Where a command stands while it is checked.
pub(super) struct Scene<'a> {
    /// The checker.
    pub(super) checker: &'a Checker,
    /// The folder that it runs in.
    pub(super) directory: &'a WorkspacePath,
    /// The folder before the last `cd`.
    pub(super) before: Option<&'a WorkspacePath>,
    /// How many names the globs of the line have looked at.
    pub(super) looked_at: &'a Cell<usize>,
    /// Whether its input is a pipe or a file.
    pub(super) fed: bool,
    /// Whether it runs over items of `xargs` or `find -exec`.
    pub(super) nested: bool,
    /// What is noted for an explanation.
    pub(super) notes: &'a mut Notes,
}

impl Checker {
    /// Opens the rules and looks for the programs.
    pub(in crate::terminal) fn open(workspace: Workspace, allow_cd: bool) -> Self {
        let rules = &*RULES;
        let programs = Programs::find(rules.programs());
        Self { workspace, rules, programs, allow_cd }
    }

    /// Returns the workspace.
    pub(in crate::terminal) fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the absolute path of a program that the rules name.
    pub(in crate::terminal) fn program(&self, name: &str) -> Option<&Path> {
        self.programs.path(name)
    }

    /// Returns the rules.
    pub(super) fn rules(&self) -> &'static Rules {
        self.rules
    }

    /// Returns whether `cd` is allowed.
    pub(super) fn allows_cd(&self) -> bool {
        self.allow_cd
    }

    /// Reads and checks a line.
    pub(in crate::terminal) fn plan(
        &self,
        line: &str,
        start: &WorkspacePath,
    ) -> Result<Plan, Refusal> {
        self.plan_from(line, start, None)
    }

    /// Reads and checks a line that may go back to the folder before the last `cd`.
    pub(in crate::terminal) fn plan_from(
        &self,
        line: &str,
        start: &WorkspacePath,
        before: Option<&WorkspacePath>,
    ) -> Result<Plan, Refusal> {
        let spot = Spot { directory: start.clone(), before: before.cloned() };
        self.read(line, &spot, &mut Notes::default())
            .map_err(|refusal| self.with_closest(refusal, line, &spot))
    }

    /// Reads and checks a line, and says what each word was taken for.
    pub(in crate::terminal) fn explain(&self, line: &str, start: &WorkspacePath) -> Explanation {
        let mut notes = Notes::kept();
        let spot = Spot { directory: start.clone(), before: None };
        let result = self
            .read(line, &spot, &mut notes)
            .map_err(|refusal| self.with_closest(refusal, line, &spot));
        Explanation { words: notes.into_words(), result }
    }

    /// Checks the words of one batch of `xargs` or `find -exec`.
    pub(super) fn nested(
        &self,
        words: &[Argument],
        directory: &WorkspacePath,
    ) -> Result<Action, Refusal> {
        let notes = &mut Notes::default();
        let looked_at = &Cell::new(0);
        let (before, fed, nested) = (None, false, true);
        Scene { checker: self, directory, before, looked_at, fed, nested, notes }.action(words)
    }

    /// Adds the line without what was refused, if that line is allowed.
    fn with_closest(&self, refusal: Refusal, line: &str, start: &Spot) -> Refusal {
        let works = |form: &String| self.read(form, start, &mut Notes::default()).is_ok();
        let without_word = refusal.how_to_repair().and_then(|repair| repair.apply(line));
        match without_word.filter(works).or_else(|| without_shell(line).filter(works)) {
            Some(form) => refusal.form(form),
            None => refusal,
        }
    }

    fn read(&self, line: &str, start: &Spot, notes: &mut Notes) -> Result<Plan, Refusal> {
        let mut steps = Vec::new();
        let mut place = Place::at(start.clone());
        let looked_at = Cell::new(0);
        for pipeline in parse(line)? {
            let spot = place.spot(pipeline.when, line)?;
            let moves = pipeline.commands.len() == 1;
            let stages = self.pipeline(&pipeline, &spot, &looked_at, line, notes)?;
            let target = match stages.first() {
                Some(Stage { action: Action::Builtin(words), .. }) if moves => {
                    self.cd_target(words, &spot.directory)?
                }
                _ => Moves::Stays,
            };
            place.after(pipeline.when, &spot, target);
            steps.push(Step { when: pipeline.when, directory: spot.directory, stages });
        }
        Ok(Plan { line: line.to_owned(), start: start.directory.clone(), steps })
    }

    fn pipeline(
        &self,
        pipeline: &Pipeline,
        spot: &Spot,
        looked_at: &Cell<usize>,
        line: &str,
        notes: &mut Notes,
    ) -> Result<Vec<Stage>, Refusal> {
        let mut stages = Vec::with_capacity(pipeline.commands.len());
        for (index, command) in pipeline.commands.iter().enumerate() {
            let reads_file = command
                .redirects
                .iter()
                .any(|redirect| redirect.operator == RedirectOperator::Input);
            let fed = index > 0 || reads_file;
            let mut scene = Scene {
                checker: self,
                directory: &spot.directory,
                before: spot.before.as_ref(),
                looked_at,
                fed,
                nested: false,
                notes: &mut *notes,
            };
            stages.push(scene.stage(command, line)?);
        }
        Ok(stages)
    }

    /// Returns where a checked `cd` leads.
    fn cd_target(&self, words: &[OsString], from: &WorkspacePath) -> Result<Moves, Refusal> {
        if words.first().is_none_or(|name| name != "cd") {
            return Ok(Moves::Stays);
        }
        let operand = words[1..].last().map_or_else(|| OsStr::new(""), OsString::as_os_str);
        let folder = if operand.is_empty() {
            Ok(Some(self.workspace.top()))
        } else {
            self.workspace.folder(from, Path::new(operand))
        };
        match folder {
            Ok(Some(folder)) => Ok(Moves::To(folder)),
            Ok(None) => Ok(Moves::Fails),
            Err(problem) => Err(outside(operand, &problem)),
        }
    }
}

impl Scene<'_> {
    /// Notes which rule allows a word.
    pub(super) fn note(&mut self, word: &str, rule: impl FnOnce() -> String) {
        self.notes.add(word, rule);
    }

    /// Resolves a path that is read, and refuses it outside.
    pub(super) fn path(&self, path: &OsStr) -> Result<PathBuf, Refusal> {
        if is_null_device(path) {
            return Ok(PathBuf::from("/dev/null"));
        }
        self.checker
            .workspace
            .resolve(self.directory, Path::new(path))
            .map_err(|problem| outside(path, &problem))
    }

    fn stage(&mut self, command: &Command, line: &str) -> Result<Stage, Refusal> {
        let mut words = Vec::with_capacity(command.words.len());
        for (index, word) in command.words.iter().enumerate() {
            if index == 0 {
                // The parser has seen to it that a name is not expanded.
                words.push(Argument::typed(word.text()));
            } else {
                self.expand(word, line, &mut words)?;
            }
        }
        let action = self.action(&words)?;
        let (input, stdout, stderr) = self.redirects(&command.redirects, line)?;
        Ok(Stage { action, input, stdout, stderr })
    }

    /// Adds what a word stands for: itself, the workspace for `~`, or the names that it matches.
    fn expand(
        &mut self,
        word: &Word,
        line: &str,
        words: &mut Vec<Argument>,
    ) -> Result<(), Refusal> {
        let written = &line[word.span.clone()];
        let workspace = &self.checker.workspace;
        if let Some(names) = glob::expand(word, written, workspace, self.directory, self.looked_at)?
        {
            self.note(written, || format!("glob, {} names", names.len()));
            for name in &names {
                if let Err(refusal) = self.path(name) {
                    let refusal = Refusal::new(
                        written,
                        format!("matches `{}`, which {}", refusal.word, refusal.reason),
                    )
                    .advice("Narrow the pattern so that it leaves this name out");
                    return Err(match self.harmless(&names) {
                        Some(list) => refusal.repair(Repair::Replace(word.span.clone(), list)),
                        None => refusal,
                    });
                }
            }
            words.extend(names.into_iter().map(Argument::data));
            return Ok(());
        }
        let text = word.text();
        let home = word.pieces.first().is_some_and(|piece| !piece.quoted);
        match text.strip_prefix('~').filter(|_| home) {
            Some(rest) => {
                let mut path = self.checker.workspace.root().as_os_str().to_owned();
                path.push(rest);
                if std::fs::symlink_metadata(&path).is_err() {
                    return Err(Refusal::new(
                        written,
                        "is not there: `~` is the top of the workspace, not a home",
                    )
                    .form("ls -la ~"));
                }
                self.note(written, || "`~` is the workspace".into());
                words.push(Argument::typed(path));
            }
            None => words.push(Argument::typed(text)),
        }
        Ok(())
    }

    /// Returns the names that can be read, as they could be written instead of a glob.
    fn harmless(&self, names: &[OsString]) -> Option<String> {
        const MOST: usize = 16;
        let plain = |name: &str| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._/+-".contains(&byte))
        };
        let harmless: Vec<&str> = names
            .iter()
            .filter(|name| self.path(name).is_ok())
            .map(|name| name.to_str().filter(|name| plain(name)))
            .collect::<Option<_>>()?;
        (1..=MOST).contains(&harmless.len()).then(|| harmless.join(" "))
    }

    /// Decides what a command does, or refuses it.
    pub(super) fn action(&mut self, words: &[Argument]) -> Result<Action, Refusal> {
        let Some((name, rest)) = words.split_first() else {
            return Err(Refusal::new("", "holds no command"));
        };
        if name.origin == Origin::Data {
            return Err(Refusal::new(name.shown(), "comes from data and cannot name a command"));
        }
        let written = name.shown();
        let name = Programs::name(&written).unwrap_or(&written);
        super::commands::action(name, &written, rest, self)
    }

    fn redirects(
        &mut self,
        redirects: &[Redirect],
        line: &str,
    ) -> Result<(Option<PathBuf>, Target, Target), Refusal> {
        let mut input = None;
        // Each stream as it stands while the redirects are read from left to right.
        let (mut stdout, mut stderr) = (Stream::Output, Stream::Messages);
        for redirect in redirects {
            let written = &line[redirect.span.clone()];
            match redirect.operator {
                RedirectOperator::Input => {
                    let Some(target) = &redirect.target else { continue };
                    let mut words = Vec::new();
                    self.expand(target, line, &mut words)?;
                    let [path] = words.as_slice() else {
                        return Err(Refusal::new(
                            &line[target.span.clone()],
                            "matches several files, and `<` takes one",
                        )
                        .form("cat FILES | COMMAND"));
                    };
                    input = Some(self.path(&path.text)?);
                    self.note(&path.shown(), || "file inside, read as input".into());
                }
                RedirectOperator::Output | RedirectOperator::Messages | RedirectOperator::Both => {
                    check_null(redirect, written, line)?;
                    if redirect.operator != RedirectOperator::Messages {
                        stdout = Stream::Nothing;
                    }
                    if redirect.operator != RedirectOperator::Output {
                        stderr = Stream::Nothing;
                    }
                    self.note(written, || "redirect to `/dev/null`".into());
                }
                RedirectOperator::MessagesToOutput => stderr = stdout,
                RedirectOperator::OutputToMessages => stdout = stderr,
            }
        }
        let stdout = match stdout {
            Stream::Output => Target::Default,
            Stream::Messages => Target::Stderr,
            Stream::Nothing => Target::Null,
        };
        let stderr = match stderr {
            Stream::Output => Target::Stdout,
            Stream::Messages => Target::Default,
            Stream::Nothing => Target::Null,
        };
        Ok((input, stdout, stderr))
    }
}

/// Where a stream goes while redirects are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Output,
    Messages,
    Nothing,
}

/// Refuses a redirect of output to anything but `/dev/null`.
fn check_null(redirect: &Redirect, written: &str, line: &str) -> Result<(), Refusal> {
    let Some(target) = &redirect.target else { return Ok(()) };
    if target.text() == "/dev/null" {
        return Ok(());
    }
    let shown = format!("{written} {}", &line[target.span.clone()]);
    let whole = redirect.span.start..target.span.end;
    Err(Refusal::new(shown, "would write a file, and nothing can be written here").advice(
        "Leave the redirect out: the output is shown to you; `>/dev/null`, `2>/dev/null`, `2>&1` \
         and `1>&2` are allowed",
    )
    .repair(Repair::Replace(whole, String::new())))
}

/// Refuses a path for what is wrong with it.
fn outside(path: &OsStr, problem: &PathProblem) -> Refusal {
    let refusal = Refusal::new(path.to_string_lossy(), problem.to_string());
    match problem {
        PathProblem::Outside | PathProblem::LinkOutside => refusal.advice(
            "Only the workspace can be read; write paths relative to the current folder, such as \
             `.` or `src/main.rs`, and `~` for the top of the workspace",
        ),
        PathProblem::System => refusal.advice(
            "Only the workspace can be read; `-` is the standard input, and `/dev/null` is allowed",
        ),
        PathProblem::Special(_) => refusal
            .advice("Reading it could wait for ever; `ls -l` of its folder and `find` show it"),
        PathProblem::Circle | PathProblem::Malformed => refusal.advice("Name another path"),
    }
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;

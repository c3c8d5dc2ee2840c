//! `git`: its reading subcommands, each by a rule of its own, with what a repository could turn
//! against its reader switched off.
//!
//! A repository's own configuration is hostile code; the environment pins most of it, and here are
//! the options that only a command line can give.

use std::ffi::OsString;
use std::path::Path;

use super::arguments::{Argument, Origin, Reading, read};
use super::check::Scene;
use super::commands::{add_without_operands, invocation, program};
use super::plan::Action;
use super::refusal::Refusal;
use super::repair::Repair;
use super::rules::Rule;
use crate::support::paths::WorkspacePath;

/// Decides what a `git` does.
pub(super) fn action(words: &[Argument], scene: &mut Scene<'_>) -> Result<Action, Refusal> {
    let git = program("git", scene)?;
    let mut directory = scene.directory.clone();
    let mut arguments: Vec<OsString> = Vec::new();
    let mut at = 0;
    let subcommand = loop {
        let Some(word) = words.get(at) else {
            return Err(Refusal::new("git", "names no subcommand").form("git status --short"));
        };
        at += 1;
        if word.origin == Origin::Data {
            return Err(Refusal::new(
                word.shown(),
                "comes from data and cannot name a subcommand of `git`",
            ));
        }
        let text = word.shown();
        match text.as_str() {
            "-C" => {
                let Some(folder) = words.get(at) else {
                    return Err(Refusal::new("-C", "needs a folder").form("git -C src log"));
                };
                at += 1;
                directory = move_to(folder, &directory, scene)?;
                scene.note("-C", || "folder inside, where `git` runs".into());
                arguments.extend([word.text.clone(), folder.text.clone()]);
            }
            "--no-pager"
            | "-P"
            | "--no-optional-locks"
            | "--literal-pathspecs"
            | "--glob-pathspecs"
            | "--noglob-pathspecs"
            | "--icase-pathspecs"
            | "--no-replace-objects" => {
                scene.note(&text, || "option of `git`".into());
                arguments.push(word.text.clone());
            }
            "--version" | "-v" if words.len() == 1 => break "version".to_owned(),
            _ if text.starts_with('-') => return Err(global(&text)),
            _ => break text,
        }
    };
    let mut inner = Scene {
        checker: scene.checker,
        before: None,
        looked_at: scene.looked_at,
        directory: &directory,
        fed: scene.fed,
        nested: scene.nested,
        notes: &mut *scene.notes,
    };
    let call = subcommand_call(&subcommand, &words[at..], &mut inner)?;
    arguments.extend(call);
    Ok(Action::Program(invocation(&git, "git", arguments)))
}

/// Returns the arguments of a subcommand, its name first.
fn subcommand_call(
    subcommand: &str,
    words: &[Argument],
    scene: &mut Scene<'_>,
) -> Result<Vec<OsString>, Refusal> {
    if subcommand == "version" {
        return match words {
            [] => Ok(vec!["version".into()]),
            [word, ..] => {
                Err(Refusal::new(word.shown(), "is too much for `git version`").form("git version"))
            }
        };
    }
    if let Some(second) = words.first().filter(|second| changes(subcommand, second)) {
        return Err(Refusal::new(
            format!("git {subcommand} {}", second.shown()),
            "changes the repository or asks another one, and nothing is changed here",
        )
        .form(if subcommand == "reflog" { "git reflog -10" } else { "git remote -v" }));
    }
    // Two words name some subcommands: `stash list`.
    let (name, words) = match words.split_first() {
        Some((second, rest))
            if matches!(subcommand, "stash" | "worktree" | "remote" | "reflog" | "config")
                && second.origin == Origin::Typed
                && rule(scene, &format!("{subcommand} {}", second.shown())).is_some() =>
        {
            (format!("{subcommand} {}", second.shown()), rest)
        }
        _ => (subcommand.to_owned(), words),
    };
    let Some(rule) = rule(scene, &name) else { return Err(unknown(&name, words, scene)) };
    scene.note(&name, || format!("subcommand of `git`: {}", rule.about));
    repository(scene)?;
    let mut reading = read(rule, words, scene)?;
    add_without_operands(rule, &mut reading, scene);
    check(&name, &reading)?;
    let mut call: Vec<OsString> = match name.as_str() {
        // It would start another `git` for this, and nothing here starts a second program.
        "stash list" => {
            let mut call: Vec<OsString> =
                ["log", "--ignore-missing", "--format=%gd: %gs", "-g", "--first-parent"]
                    .map(OsString::from)
                    .into();
            call.append(&mut reading.arguments);
            call.extend(["refs/stash", "--"].map(OsString::from));
            return Ok(call);
        }
        _ => name.split(' ').map(OsString::from).collect(),
    };
    call.append(&mut reading.arguments);
    Ok(call)
}

/// Refuses what a rule of options and operands cannot say.
fn check(name: &str, reading: &Reading) -> Result<(), Refusal> {
    match name {
        "branch" | "tag" => {
            let lists = reading.has(&["--list", "-l"]);
            if let Some(word) = reading.operands.first().filter(|_| !lists) {
                return Err(Refusal::new(
                    word.shown(),
                    format!("would be the name of a new {name}, and nothing is made here"),
                )
                .form(format!("git {name} --list {}", word.shown())));
            }
        }
        // Options may stand before it.
        "reflog" => {
            if let Some(word) = reading.operands.first().filter(|word| changes("reflog", word)) {
                return Err(Refusal::new(
                    word.shown(),
                    "changes the reflog, and nothing is changed here",
                )
                .form("git reflog -10"));
            }
        }
        "remote show" if !reading.has(&["-n"]) => {
            return Err(Refusal::new("git remote show", "asks the other side over the network")
                .form("git remote show -n origin"));
        }
        "config" => {
            let reads = ["--get", "--get-all", "--get-regexp", "--get-urlmatch", "--list", "-l"];
            if reading.operands.len() > 1 && !reading.has(&["--get-regexp", "--get-urlmatch"]) {
                return Err(Refusal::new(
                    reading.operands[1].shown(),
                    "would be the new value of a setting, and nothing is changed here",
                )
                .form(format!("git config --get {}", reading.operands[0].shown())));
            }
            if reading.operands.is_empty() && !reading.has(&reads) {
                return Err(
                    Refusal::new("git config", "names no setting").form("git config --list")
                );
            }
        }
        "symbolic-ref" if reading.operands.len() != 1 => {
            return Err(Refusal::new("git symbolic-ref", "reads one name here")
                .form("git symbolic-ref --short HEAD"));
        }
        _ => {}
    }
    Ok(())
}

/// Returns whether the second word of a `git remote` or `git reflog` makes it change something.
fn changes(subcommand: &str, second: &Argument) -> bool {
    let second = second.shown();
    match subcommand {
        "reflog" => matches!(second.as_str(), "expire" | "delete" | "drop" | "write"),
        "remote" => matches!(
            second.as_str(),
            "add"
                | "rename"
                | "remove"
                | "rm"
                | "set-head"
                | "set-branches"
                | "set-url"
                | "prune"
                | "update"
        ),
        _ => false,
    }
}

/// Refuses a repository that lies outside, behind a link or a file named `.git`.
fn repository(scene: &Scene<'_>) -> Result<(), Refusal> {
    let workspace = scene.checker.workspace();
    if !workspace.git_elsewhere().is_empty() {
        return Ok(());
    }
    let mut folder = Some(scene.directory.relative().to_owned());
    // All of them: from a `.git` that is no repository, Git climbs on.
    while let Some(relative) = folder {
        folder = relative.parent().map(Path::to_owned);
        let git = workspace.root().join(&relative).join(".git");
        let Ok(metadata) = std::fs::symlink_metadata(&git) else { continue };
        let elsewhere = || {
            Err(Refusal::new(".git", "leads to a repository outside the workspace")
                .advice("Only a repository inside the workspace can be read"))
        };
        if metadata.is_symlink() && scene.path(git.as_os_str()).is_err() {
            return elsewhere();
        }
        let lists = [git.join("objects/info/alternates"), git.join("commondir")];
        for list in lists.into_iter().chain(metadata.is_file().then(|| git.clone())) {
            let Ok(text) = std::fs::read_to_string(&list) else { continue };
            let base = match list.file_name() {
                Some(name) if name == "alternates" => git.join("objects"),
                Some(name) if name == ".git" => workspace.root().join(&relative),
                _ => git.clone(),
            };
            for line in text.lines() {
                let path = line.strip_prefix("gitdir:").unwrap_or(line).trim();
                if !path.is_empty() && scene.path(base.join(path).as_os_str()).is_err() {
                    return elsewhere();
                }
            }
        }
    }
    Ok(())
}

fn move_to(
    folder: &Argument,
    from: &WorkspacePath,
    scene: &Scene<'_>,
) -> Result<WorkspacePath, Refusal> {
    let path = Path::new(&folder.text);
    match scene.checker.workspace().folder(from, path) {
        Ok(Some(folder)) => Ok(folder),
        Ok(None) => Err(Refusal::new(folder.shown(), "is no folder").form("git log --oneline")),
        Err(problem) => Err(Refusal::new(folder.shown(), problem.to_string())
            .advice("Only the workspace can be read; `git` runs in it without `-C`")),
    }
}

fn rule(scene: &Scene<'_>, name: &str) -> Option<&'static Rule> {
    scene.checker.rules().get(&format!("git {name}"))
}

fn global(text: &str) -> Refusal {
    let reason = match text.split('=').next().unwrap_or(text) {
        "--git-dir" | "--work-tree" | "--namespace" => "names another repository",
        "--paginate" | "-p" => "starts a pager",
        "--exec-path" => "names a folder of programs",
        "--help" | "-h" => "opens a manual",
        name if name == "--config-env" || name.starts_with("-c") => {
            "sets a configuration, which can start programs"
        }
        _ => "is not among the options of `git` that are allowed",
    };
    // `-c NAME=VALUE` is two words, `--git-dir=X` is one.
    let more = usize::from(matches!(text, "-c" | "--git-dir" | "--work-tree" | "--exec-path"));
    let refusal = Refusal::new(text, reason).repair(Repair::LeaveOut(text.to_owned(), more));
    refusal.allowed(
        "options of `git` before the subcommand",
        ["-C FOLDER", "--no-pager", "--no-optional-locks"].map(str::to_owned).into(),
    )
}

fn unknown(name: &str, words: &[Argument], scene: &Scene<'_>) -> Refusal {
    let rules = scene.checker.rules();
    let known: Vec<String> =
        rules.all().filter_map(|rule| rule.name.strip_prefix("git ")).map(str::to_owned).collect();
    let second = words.first().map(Argument::shown).unwrap_or_default();
    let form = match name {
        "checkout" | "switch" | "restore" => Some("git show BRANCH:PATH"),
        "stash" => Some("git stash list"),
        "fetch" | "pull" | "push" | "ls-remote" | "clone" => Some("git remote -v"),
        "worktree" => Some("git worktree list"),
        "fsck" | "gc" => Some("git log --oneline -5"),
        "difftool" => Some("git diff"),
        "whatchanged" => Some("git log --stat"),
        "submodule" => Some("git ls-files --stage"),
        "help" => Some("git log --oneline -10"),
        "range-diff" => Some("git diff main...BRANCH"),
        "archive" => Some("git ls-tree -r --name-only HEAD"),
        "bisect" => Some("git log --oneline"),
        "notes" => Some("git log --notes"),
        "add" | "commit" | "rm" | "mv" | "reset" | "clean" | "apply" => Some("git status --short"),
        "cherry" | "merge" | "rebase" | "cherry-pick" | "revert" => {
            Some("git log --oneline main..BRANCH")
        }
        "var" => Some("git config --list"),
        _ => None,
    };
    let shown = if matches!(name, "stash" | "worktree" | "remote") && !second.is_empty() {
        format!("git {name} {second}")
    } else {
        format!("git {name}")
    };
    let refusal =
        Refusal::new(shown, "is not among the reading subcommands of `git` that are allowed");
    let refusal = match form {
        Some(form) => refusal.form(form),
        None => refusal,
    };
    refusal.allowed("subcommands of `git`", known)
}

//! The commands, from a name to what runs: most by their rule alone, a few by a reader of their own.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::arguments::{Argument, Reading, read};
use super::check::Scene;
use super::git;
use super::plan::{Action, Invocation};
use super::programs::Programs;
use super::refusal::Refusal;
use super::repair::Repair;
use super::rules::{Rule, Runs};
use super::scripts::{find, test};
use super::xargs;
use crate::support::nearest::nearest;

/// The largest count of numbers that `seq` prints.
const MOST_NUMBERS: f64 = 1_000_000.0;

/// Decides what a command does.
pub(super) fn action(
    name: &str,
    written: &str,
    words: &[Argument],
    scene: &mut Scene<'_>,
) -> Result<Action, Refusal> {
    let Some(rule) = scene.checker.rules().get(name).filter(|_| !name.contains(' ')) else {
        return Err(unknown(written, words, scene));
    };
    scene.note(written, || format!("command: {}", rule.about));
    if scene.nested && matches!(name, "cd" | "xargs") {
        return Err(Refusal::new(name, "makes no sense for each item of another command")
            .advice("Run it by itself"));
    }
    let typed = |words: &[Argument]| -> Vec<OsString> {
        words.iter().map(|word| word.text.clone()).collect()
    };
    match name {
        "cd" => cd(words, scene),
        "echo" => Ok(builtin(name, typed(words))),
        "printf" => printf(words),
        "seq" => seq(rule, words, scene),
        "test" => {
            test::check(words, scene)?;
            Ok(builtin("test", typed(words)))
        }
        "[" => {
            let Some((last, inner)) = words.split_last().filter(|(last, _)| last.text == "]")
            else {
                return Err(Refusal::new("[", "is not closed by a `]`").form("[ -f Cargo.toml ]"));
            };
            test::check(inner, scene)?;
            scene.note(&last.shown(), || "end of the `test`".into());
            Ok(builtin("test", typed(inner)))
        }
        "xargs" => {
            let xargs = xargs::read(words, scene)?;
            check_over_items(&xargs, scene)?;
            Ok(Action::Xargs(xargs))
        }
        "find" => {
            let read = find::read(words, scene)?;
            let find = invocation(&program("find", scene)?, "find", read.arguments);
            match read.command {
                None => Ok(Action::Program(find)),
                Some(command) => {
                    if scene.nested {
                        return Err(Refusal::new("-exec", "stands inside another command")
                            .advice("Run the search by itself"));
                    }
                    check_over_items(&command, scene)?;
                    Ok(Action::FindExec { find, command })
                }
            }
        }
        "git" => git::action(words, scene),
        _ => by_rule(rule, words, scene),
    }
}

/// Runs a command as its rule says.
fn by_rule(rule: &Rule, words: &[Argument], scene: &mut Scene<'_>) -> Result<Action, Refusal> {
    let mut reading = read(rule, words, scene)?;
    add_without_operands(rule, &mut reading, scene);
    let name = rule.name.as_str();
    match &rule.runs {
        Runs::Builtin => Ok(builtin(name, reading.arguments)),
        Runs::Either => match program(name, scene) {
            Ok(path) => Ok(Action::Program(invocation(&path, name, reading.arguments))),
            Err(_) => Ok(builtin(name, reading.arguments)),
        },
        Runs::Program => {
            let path = program(name, scene)?;
            if name == "awk" && is_gnu_awk(&path, scene) {
                reading.arguments.insert(0, "--sandbox".into());
            }
            Ok(Action::Program(invocation(&path, name, reading.arguments)))
        }
        Runs::As(command) => {
            let Some((name, first)) = command.split_first() else {
                return Err(Refusal::new(name, "has no program"));
            };
            let path = program(name, scene)?;
            let arguments = first.iter().map(OsString::from).chain(reading.arguments).collect();
            Ok(Action::Program(invocation(&path, name, arguments)))
        }
    }
}

/// Returns whether the system's `awk` is the one that can forbid itself to write and to run.
fn is_gnu_awk(program: &std::path::Path, scene: &Scene<'_>) -> bool {
    let file = |path: &std::path::Path| {
        std::fs::metadata(path).ok().map(|facts| (facts.dev(), facts.ino()))
    };
    let gnu = scene.checker.program("gawk").and_then(file);
    gnu.is_some() && gnu == file(program)
}

/// Adds what stands for no operand, where no input stands for it.
pub(super) fn add_without_operands(rule: &Rule, reading: &mut Reading, scene: &Scene<'_>) {
    if scene.fed || reading.before_separator > 0 || rule.without_operands.is_empty() {
        return;
    }
    let at = reading.separator.unwrap_or(reading.arguments.len());
    reading.arguments.splice(at..at, rule.without_operands.iter().map(OsString::from));
}

/// Returns the absolute path of a program.
pub(super) fn program(name: &str, scene: &Scene<'_>) -> Result<PathBuf, Refusal> {
    scene.checker.program(name).map(PathBuf::from).ok_or_else(|| {
        let refusal = Refusal::new(name, "is not installed on this machine");
        match name {
            "rg" => refusal.form("grep -rn PATTERN ."),
            "gawk" => refusal.form("awk '{print $1}' FILE"),
            "jq" => refusal.form("grep -n '\"name\"' package.json"),
            _ => refusal.allowed("commands", names(scene)),
        }
    })
}

/// Returns a program's call, the name first.
pub(super) fn invocation(
    program: &std::path::Path,
    name: &str,
    arguments: Vec<OsString>,
) -> Invocation {
    let mut all = Vec::with_capacity(arguments.len() + 1);
    all.push(OsString::from(name));
    all.extend(arguments);
    Invocation { program: program.to_owned(), arguments: all, git: name == "git" }
}

fn builtin(name: &str, arguments: Vec<OsString>) -> Action {
    let mut words = vec![OsString::from(name)];
    words.extend(arguments);
    Action::Builtin(words)
}

/// Checks the command of an `xargs` as it will be, over one path.
fn check_over_items(command: &super::plan::Xargs, scene: &mut Scene<'_>) -> Result<(), Refusal> {
    let name = command.command.first().map(|name| name.to_string_lossy().into_owned());
    if let (Some(name), Some(replace)) = (name, &command.replace)
        && name.contains(replace.as_str())
    {
        return Err(Refusal::new(name, "comes from data and cannot name a command")
            .advice("Write the name of the command out, as in `xargs -I{} head -n 5 {}`"));
    }
    let words = xargs::marked(command, &xargs::over(command, "./item"))?;
    let mut inner = Scene {
        checker: scene.checker,
        directory: scene.directory,
        before: None,
        looked_at: scene.looked_at,
        fed: false,
        nested: true,
        notes: &mut *scene.notes,
    };
    inner.action(&words).map(drop)
}

/// What is said instead of a folder that is none.
const FORMS: &str = "Name the folder: `cd src`, `cd ..`, or `cd ~` for the top of the workspace";

fn cd(words: &[Argument], scene: &mut Scene<'_>) -> Result<Action, Refusal> {
    if !scene.checker.allows_cd() {
        return Err(Refusal::new("cd", "is switched off by the setting `allow_cd`")
            .advice("Name the paths from the current folder, such as `ls src`"));
    }
    let words = match words {
        [first, rest @ ..] if first.text == "--" => rest,
        words => words,
    };
    let Some(folder) = words.first() else { return Ok(builtin("cd", Vec::new())) };
    if folder.looks_like_an_option() || folder.text.is_empty() {
        let shown = format!("cd {}", folder.shown());
        return Err(Refusal::new(shown, "names no folder, and `cd` takes no option").advice(FORMS));
    }
    if let Some(second) = words.get(1) {
        return Err(
            Refusal::new(second.shown(), "is a second folder, and `cd` takes one").form("cd src")
        );
    }
    if folder.text == "-" {
        let Some(before) = scene.before else {
            return Err(
                Refusal::new("cd -", "goes back, and no `cd` stands before it").advice(FORMS)
            );
        };
        let path = scene.checker.workspace().absolute(before).into_os_string();
        scene.note("-", || "the folder before the last `cd`".into());
        return Ok(builtin("cd", vec!["-".into(), path]));
    }
    scene.path(&folder.text)?;
    scene.note(&folder.shown(), || "folder inside; later commands run there".into());
    Ok(builtin("cd", vec![folder.text.clone()]))
}

fn printf(words: &[Argument]) -> Result<Action, Refusal> {
    if let Some(first) = words.first()
        && first.text == "-v"
    {
        return Err(Refusal::new("-v", "sets a variable, and there are none here")
            .form("printf '%s\\n' text"));
    }
    let format = words.iter().find(|word| word.text != "--").map(Argument::shown);
    if let Some(wide) = format.as_deref().and_then(too_wide) {
        return Err(Refusal::new(wide, "asks for more than a thousand characters at once")
            .form("printf '%s\\n' text"));
    }
    Ok(builtin("printf", words.iter().map(|word| word.text.clone()).collect()))
}

/// Returns the part of a format of `printf` that could fill the memory: `%1000000d`, `%*d`.
fn too_wide(format: &str) -> Option<String> {
    const MOST: u32 = 1_000;
    let parts = format.split('%').skip(1);
    parts.into_iter().find_map(|part| {
        let end = part.find(|character: char| !"-+ #0123456789.*".contains(character));
        let size = &part[..end.unwrap_or(part.len())];
        let numbers = size.split(|character: char| !character.is_ascii_digit());
        let large = numbers
            .filter(|number| !number.is_empty())
            .any(|number| number.parse().map_or(true, |number: u32| number > MOST));
        (large || size.contains('*')).then(|| format!("%{size}"))
    })
}

fn seq(rule: &Rule, words: &[Argument], scene: &mut Scene<'_>) -> Result<Action, Refusal> {
    let is_number = |word: &Argument| {
        word.text.to_str().is_some_and(|text| text.parse::<f64>().is_ok_and(f64::is_finite))
    };
    // Negative numbers look like options, and the numbers come last.
    let takes_value = |word: &Argument| matches!(word.text.to_str(), Some("-s" | "--separator"));
    let mut first = 0;
    while words.get(first).is_some_and(|word| word.looks_like_an_option() && !is_number(word)) {
        first += if takes_value(&words[first]) { 2 } else { 1 };
    }
    let (options, numbers) = words.split_at(first.min(words.len()));
    read(rule, options, scene)?;
    let mut values = Vec::new();
    for word in numbers {
        if !is_number(word) {
            return Err(Refusal::new(word.shown(), "is no number").form("seq 1 10"));
        }
        values.extend(word.text.to_str().and_then(|text| text.parse::<f64>().ok()));
    }
    let (from, by, to) = match values.as_slice() {
        [to] => (1.0, 1.0, *to),
        [from, to] => (*from, 1.0, *to),
        [from, by, to] => (*from, *by, *to),
        _ => {
            return Err(Refusal::new("seq", "takes one to three numbers").form("seq 1 10"));
        }
    };
    let count = (to - from) / by;
    if !count.is_finite() || count > MOST_NUMBERS {
        return Err(
            Refusal::new("seq", "would print more than a million numbers").form("seq 1 1000")
        );
    }
    Ok(builtin("seq", words.iter().map(|word| word.text.clone()).collect()))
}

fn unknown(written: &str, words: &[Argument], scene: &Scene<'_>) -> Refusal {
    let rules = scene.checker.rules();
    if written.contains('/') && Programs::name(written).is_none() {
        return Refusal::new(
            written,
            "is a file, and no file is run, only the commands of the list",
        )
        .allowed("commands", names(scene));
    }
    let name = Programs::name(written).unwrap_or(written);
    let refusal =
        Refusal::new(written, "is not among the commands that are allowed, which only read");
    let refusal = match (rules.advice(name), name) {
        (Some(advice), "tee") => {
            refusal.advice(advice).repair(Repair::EndBefore(written.to_owned()))
        }
        (Some(_), "command") if words.first().is_some_and(|word| word.text == "-v") => {
            let names: Vec<String> = words[1..].iter().map(Argument::shown).collect();
            refusal.form(format!("which {}", names.join(" ")))
        }
        // What these run may be allowed by itself.
        (
            Some(advice),
            "sudo" | "doas" | "nice" | "nohup" | "command" | "builtin" | "exec" | "env",
        ) => refusal.advice(advice).repair(Repair::LeaveOut(written.to_owned(), 0)),
        (Some(advice), "timeout") => {
            refusal.advice(advice).repair(Repair::LeaveOut(written.to_owned(), 1))
        }
        (Some(advice), _) => refusal.advice(advice),
        (None, _) => match nearest(name, rules.all().map(|rule| rule.name.as_str())) {
            Some(near) if name.len() > 2 && name.get(..1) == near.get(..1) => {
                refusal.advice(format!("Perhaps `{near}` is meant"))
            }
            _ => refusal,
        },
    };
    refusal.allowed("commands", names(scene))
}

fn names(scene: &Scene<'_>) -> Vec<String> {
    let rules = scene.checker.rules();
    let names = rules.all().map(|rule| rule.name.clone());
    names.filter(|name| !name.contains(' ')).collect()
}

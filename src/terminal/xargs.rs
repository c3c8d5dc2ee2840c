//! `xargs`, read and checked; it runs in our process, and each batch is checked before it runs.

use std::ffi::OsString;

use super::arguments::{Argument, Origin};
use super::check::{Checker, Scene};
use super::plan::{Action, Items, Xargs};
use super::refusal::Refusal;
use crate::support::paths::WorkspacePath;

/// Reads the words of an `xargs`, without its name, and checks its command over one item.
pub(super) fn read(words: &[Argument], scene: &mut Scene<'_>) -> Result<Xargs, Refusal> {
    let mut xargs = Xargs {
        command: Vec::new(),
        items: Items::Words,
        replace: None,
        most: None,
        lines: None,
        skip_empty: false,
        announces: false,
    };
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if !word.looks_like_an_option() || word.origin == Origin::Data {
            break;
        }
        let mut text = word.shown();
        at += 1;
        if text == "--" {
            break;
        }
        // `-0n1` is `-0 -n1`.
        while text.len() > 2 && matches!(text.as_bytes(), [b'-', b'0' | b'r', ..]) {
            match text.remove(1) {
                '0' => xargs.items = Items::Nul,
                _ => xargs.skip_empty = true,
            }
        }
        scene.note(&text, || "option of `xargs`".into());
        let mut value = |short: &str, long: &str| -> Option<Result<String, Refusal>> {
            let attached = text
                .strip_prefix(short)
                .filter(|_| !text.starts_with("--"))
                .or_else(|| text.strip_prefix(long).and_then(|rest| rest.strip_prefix('=')));
            if let Some(attached) = attached.filter(|attached| !attached.is_empty()) {
                return Some(Ok(attached.to_owned()));
            }
            if text != short && text != long {
                return None;
            }
            let next = words.get(at).map(Argument::shown);
            at += 1;
            Some(next.ok_or_else(|| {
                Refusal::new(text.clone(), "needs a value, and the command ends after it")
            }))
        };
        if let Some(most) = value("-n", "--max-args") {
            xargs.most = Some(number(&most?, "-n")?);
            xargs.lines = None;
        } else if let Some(lines) = value("-L", "--max-lines") {
            xargs.lines = Some(number(&lines?, "-L")?);
            (xargs.most, xargs.replace) = (None, None);
        } else if let Some(replace) = value("-I", "--replace") {
            let replace = replace?;
            if replace.is_empty() {
                return Err(
                    Refusal::new(text, "names nothing to replace").form("xargs -I{} COMMAND {}")
                );
            }
            xargs.replace = Some(replace);
            (xargs.most, xargs.lines) = (None, None);
            if xargs.items == Items::Words {
                xargs.items = Items::Lines;
            }
        } else if let Some(delimiter) = value("-d", "--delimiter") {
            xargs.items = match delimiter?.as_str() {
                "\\n" | "\n" => Items::Lines,
                "\\0" => Items::Nul,
                other => {
                    return Err(Refusal::new(
                        other,
                        "is a delimiter that `xargs` does not know here",
                    )
                    .form("tr ',' '\\n' | xargs -d '\\n' COMMAND"));
                }
            };
        } else if let Some(processes) = value("-P", "--max-procs") {
            // One after the other prints the same.
            if !(1..=64).contains(&number(&processes?, "-P")?) {
                return Err(Refusal::new("-P", "asks for processes without end").form("xargs -n 1"));
            }
        } else {
            match text.as_str() {
                "-0" | "--null" => xargs.items = Items::Nul,
                "-r" | "--no-run-if-empty" => xargs.skip_empty = true,
                "-x" | "--exit" => {}
                _ => return Err(unknown(&text)),
            }
        }
    }
    xargs.command = words[at.min(words.len())..].iter().map(|word| word.text.clone()).collect();
    if xargs.command.is_empty() {
        xargs.command.push("echo".into());
    }
    Ok(xargs)
}

/// Returns the words of a run over one item.
pub(super) fn over(xargs: &Xargs, item: &str) -> Vec<OsString> {
    let Some(replace) = &xargs.replace else {
        return xargs.command.iter().cloned().chain([OsString::from(item)]).collect();
    };
    let words = xargs.command.iter().enumerate().map(|(index, word)| match word.to_str() {
        Some(text) if index > 0 => OsString::from(text.replace(replace.as_str(), item)),
        _ => word.clone(),
    });
    words.collect()
}

/// Marks the words of a run that came from the items, and refuses one that begins an option.
pub(super) fn marked(xargs: &Xargs, words: &[OsString]) -> Result<Vec<Argument>, Refusal> {
    let mark = |(index, word): (usize, &OsString)| match xargs.command.get(index) {
        Some(fixed) if fixed == word => Ok(Argument::typed(word)),
        // The items may complete a value, as in `--include={}`, and nothing else of an option.
        Some(fixed) if fixed.as_encoded_bytes().starts_with(b"-") => {
            let text = fixed.to_string_lossy();
            let before = xargs.replace.as_ref().and_then(|replace| text.find(replace.as_str()));
            let before = &text[..before.unwrap_or_default()];
            if before.starts_with("--") && before.contains('=') {
                Ok(Argument::typed(word))
            } else {
                Err(Refusal::new(text, "would make an option of what the items say")
                    .advice("Put the items into words of their own: `xargs -I{} head -n 5 {}`"))
            }
        }
        Some(_) | None => Ok(Argument::data(word)),
    };
    words.iter().enumerate().map(mark).collect()
}

impl Checker {
    /// Checks one run of `xargs` or of `find -exec`, with the very words that it gets.
    ///
    /// What came from the items is known by comparison with the command's fixed words. It is never
    /// an option and never names the command: it gets `./` in front where it is a path, and is
    /// refused where it could be anything else. The action is to be run, not the words: it has them
    /// as they must be.
    pub(in crate::terminal) fn command(
        &self,
        xargs: &Xargs,
        words: &[OsString],
        directory: &WorkspacePath,
    ) -> Result<Action, Refusal> {
        self.nested(&marked(xargs, words)?, directory)
    }
}

fn number(text: &str, option: &str) -> Result<usize, Refusal> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| {
        Refusal::new(text, format!("stands where `xargs {option}` takes a number above 0"))
    })
}

fn unknown(text: &str) -> Refusal {
    let refusal = match text {
        "-a" | "--arg-file" => {
            Refusal::new(text, "is not an option that is allowed").form("xargs COMMAND < FILE")
        }
        _ if text.starts_with("-l") => {
            Refusal::new(text, "is an old form of another option").form("xargs -L 1 COMMAND")
        }
        _ if text.starts_with("-i") => {
            Refusal::new(text, "is an old form of another option").form("xargs -I{} COMMAND {}")
        }
        "-p" | "-o" | "--interactive" | "--open-tty" => {
            Refusal::new(text, "asks a person, and nobody sits here").form("xargs COMMAND")
        }
        _ => Refusal::new(text, "is not among the options of `xargs` that are allowed"),
    };
    refusal.allowed(
        "options of `xargs`",
        ["-0", "-d '\\n'", "-I TEXT", "-L NUMBER", "-n NUMBER", "-P NUMBER", "-r"]
            .map(str::to_owned)
            .into(),
    )
}

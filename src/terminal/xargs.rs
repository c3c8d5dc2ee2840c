//! `xargs`, read and checked; it runs in our process, and each batch is checked before it runs.

use std::ffi::OsString;

use super::arguments::{Argument, Origin};
use super::check::{Checker, Scene};
use super::plan::{Action, Items, Xargs};
use super::refusal::Refusal;
use crate::support::paths::WorkspacePath;

/// Reads the words of an `xargs`, without its name. Its command is checked by whoever calls.
pub(super) fn read(words: &[Argument], scene: &mut Scene<'_>) -> Result<Xargs, Refusal> {
    let xargs = Xargs {
        command: Vec::new(),
        items: Items::Words,
        replace: None,
        most: None,
        lines: None,
        skip_empty: false,
        announces: false,
    };
    let mut options = Options { words, at: 0, xargs };
    let is_option = |word: &&Argument| word.looks_like_an_option() && word.origin == Origin::Typed;
    while let Some(word) = words.get(options.at).filter(is_option) {
        options.at += 1;
        if word.text == "--" {
            break;
        }
        let text = options.without_flags(word.shown());
        scene.note(&text, || "option of `xargs`".into());
        options.take(&text)?;
    }
    let Options { at, mut xargs, .. } = options;
    xargs.command = words[at.min(words.len())..].iter().map(|word| word.text.clone()).collect();
    if xargs.command.is_empty() {
        xargs.command.push("echo".into());
    }
    Ok(xargs)
}

/// The options of an `xargs` while they are read.
struct Options<'a> {
    words: &'a [Argument],
    /// Where the next word is; behind the last one when a value is missing.
    at: usize,
    xargs: Xargs,
}

impl Options<'_> {
    /// Takes the letters without a value off a word: `-0n1` is `-0 -n1`.
    fn without_flags(&mut self, mut text: String) -> String {
        while text.len() > 2 && matches!(text.as_bytes(), [b'-', b'0' | b'r', ..]) {
            match text.remove(1) {
                '0' => self.xargs.items = Items::Nul,
                _ => self.xargs.skip_empty = true,
            }
        }
        text
    }

    fn take(&mut self, text: &str) -> Result<(), Refusal> {
        if let Some(most) = self.value(text, "-n", "--max-args")? {
            self.xargs.most = Some(number(&most, "-n")?);
            self.xargs.lines = None;
        } else if let Some(lines) = self.value(text, "-L", "--max-lines")? {
            self.xargs.lines = Some(number(&lines, "-L")?);
            (self.xargs.most, self.xargs.replace) = (None, None);
        } else if let Some(replace) = self.value(text, "-I", "--replace")? {
            self.replace(text, replace)?;
        } else if let Some(delimiter) = self.value(text, "-d", "--delimiter")? {
            self.xargs.items = items_between(&delimiter)?;
        } else if let Some(processes) = self.value(text, "-P", "--max-procs")? {
            // One after the other prints the same.
            if !(1..=64).contains(&number(&processes, "-P")?) {
                return Err(Refusal::new("-P", "asks for processes without end").form("xargs -n 1"));
            }
        } else {
            match text {
                "-0" | "--null" => self.xargs.items = Items::Nul,
                "-r" | "--no-run-if-empty" => self.xargs.skip_empty = true,
                "-x" | "--exit" => {}
                _ => return Err(unknown(text)),
            }
        }
        Ok(())
    }

    /// Returns the value of an option, attached or the next word; none when it is another option.
    fn value(&mut self, text: &str, short: &str, long: &str) -> Result<Option<String>, Refusal> {
        let attached = text
            .strip_prefix(short)
            .filter(|_| !text.starts_with("--"))
            .or_else(|| text.strip_prefix(long).and_then(|rest| rest.strip_prefix('=')));
        if let Some(attached) = attached.filter(|attached| !attached.is_empty()) {
            return Ok(Some(attached.to_owned()));
        }
        if text != short && text != long {
            return Ok(None);
        }
        let next = self.words.get(self.at).map(Argument::shown);
        self.at += 1;
        let missing = || Refusal::new(text, "needs a value, and the command ends after it");
        next.ok_or_else(missing).map(Some)
    }

    fn replace(&mut self, text: &str, replace: String) -> Result<(), Refusal> {
        if replace.is_empty() {
            return Err(
                Refusal::new(text, "names nothing to replace").form("xargs -I{} COMMAND {}")
            );
        }
        self.xargs.replace = Some(replace);
        (self.xargs.most, self.xargs.lines) = (None, None);
        if self.xargs.items == Items::Words {
            self.xargs.items = Items::Lines;
        }
        Ok(())
    }
}

fn items_between(delimiter: &str) -> Result<Items, Refusal> {
    match delimiter {
        "\\n" | "\n" => Ok(Items::Lines),
        "\\0" => Ok(Items::Nul),
        other => Err(Refusal::new(other, "is a delimiter that `xargs` does not know here")
            .form("tr ',' '\\n' | xargs -d '\\n' COMMAND")),
    }
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

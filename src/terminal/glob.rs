//! Globs, expanded by us: `*`, `?`, `[…]`, as bash does without options.
//!
//! Results are sorted; one that starts with `-` gets `./` in front, so that no file name becomes an
//! option. Only folders inside the workspace are listed. A pattern without a match stays a word.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use super::lexer::Word;
use super::refusal::Refusal;
use crate::support::paths::{PathProblem, Workspace, WorkspacePath};

/// The most results of one glob.
pub(super) const MOST_RESULTS: usize = 4_096;

/// The most names that are looked at for the globs of one line.
const MOST_NAMES: usize = 200_000;

/// Expands a word, or returns `None` when it is no pattern or nothing matches. Counts the names that
/// it looks at.
pub(super) fn expand(
    word: &Word,
    written: &str,
    workspace: &Workspace,
    directory: &WorkspacePath,
    looked_at: &Cell<usize>,
) -> Result<Option<Vec<OsString>>, Refusal> {
    if !word.has_bare(&['*', '?', '[']) {
        return Ok(None);
    }
    let parts = split(&symbols(word, workspace));
    if !parts.iter().any(|part| is_pattern(part)) {
        return Ok(None);
    }
    let mut search = Search { workspace, directory, written, looked_at, results: Vec::new() };
    search.walk(Vec::new(), &parts)?;
    let mut results = search.results;
    if results.is_empty() {
        return Ok(None);
    }
    results.sort_unstable();
    let safe = |path: Vec<u8>| {
        let mut name = OsString::new();
        if path.starts_with(b"-") {
            name.push("./");
        }
        name.push(OsStr::from_bytes(&path));
        name
    };
    Ok(Some(results.into_iter().map(safe).collect()))
}

/// A character of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Symbol {
    character: char,
    quoted: bool,
}

/// Returns the characters of a word; `~` in front is the workspace.
fn symbols(word: &Word, workspace: &Workspace) -> Vec<Symbol> {
    let mut symbols: Vec<Symbol> = word
        .pieces
        .iter()
        .flat_map(|piece| {
            piece.text.chars().map(|character| Symbol { character, quoted: piece.quoted })
        })
        .collect();
    if let Some(Symbol { character: '~', quoted: false }) = symbols.first() {
        let root = workspace.root().to_string_lossy().into_owned();
        let root = root.chars().map(|character| Symbol { character, quoted: true });
        symbols.splice(0..1, root.collect::<Vec<_>>());
    }
    symbols
}

/// Splits a pattern at its slashes; an absolute one starts with an empty part.
fn split(symbols: &[Symbol]) -> Vec<Vec<Symbol>> {
    symbols.split(|symbol| symbol.character == '/').map(<[Symbol]>::to_vec).collect()
}

fn is_pattern(part: &[Symbol]) -> bool {
    part.iter().any(|symbol| !symbol.quoted && matches!(symbol.character, '*' | '?' | '['))
}

struct Search<'a> {
    workspace: &'a Workspace,
    directory: &'a WorkspacePath,
    written: &'a str,
    looked_at: &'a Cell<usize>,
    results: Vec<Vec<u8>>,
}

impl Search<'_> {
    /// Finds what the parts match below `before`, which ends in `/` or is empty.
    fn walk(&mut self, before: Vec<u8>, parts: &[Vec<Symbol>]) -> Result<(), Refusal> {
        let Some((part, rest)) = parts.split_first() else { return Ok(()) };
        if !is_pattern(part) {
            let mut path = before;
            path.extend(part.iter().map(|symbol| symbol.character).collect::<String>().bytes());
            return self.go_on(path, rest);
        }
        let folder = if before.is_empty() { b".".as_slice() } else { &before };
        let path = Path::new(OsStr::from_bytes(folder));
        let resolved = match self.workspace.resolve(self.directory, path) {
            Ok(resolved) => resolved,
            // Neither holds names, so there is no match, as in a shell.
            Err(PathProblem::Special(_) | PathProblem::Circle) => return Ok(()),
            Err(problem) => {
                let reason = format!("looks for names where one {problem}");
                return Err(Refusal::new(self.written, reason).advice(
                    "A glob lists folders inside the workspace only; write it relative to the \
                     current folder, as in `src/*.rs`",
                ));
            }
        };
        for name in self.names(resolved)? {
            let hidden = name.as_bytes().starts_with(b".");
            let shown = part.first().is_some_and(|symbol| symbol.character == '.');
            if (hidden && !shown) || !matches(part, &name) {
                continue;
            }
            let mut path = before.clone();
            path.extend(name.as_bytes());
            self.go_on(path, rest)?;
        }
        Ok(())
    }

    fn go_on(&mut self, mut path: Vec<u8>, rest: &[Vec<Symbol>]) -> Result<(), Refusal> {
        if !rest.is_empty() {
            path.push(b'/');
            return self.walk(path, rest);
        }
        let relative = PathBuf::from(OsString::from_vec(path.clone()));
        let absolute = self.workspace.absolute(self.directory).join(relative);
        if std::fs::symlink_metadata(absolute).is_err() {
            return Ok(());
        }
        if self.results.len() == MOST_RESULTS {
            return Err(Refusal::new(
                self.written,
                format!("matches more than {MOST_RESULTS} names"),
            )
            .advice("Narrow the pattern, or use `find … -exec command {} +`"));
        }
        self.results.push(path);
        Ok(())
    }

    fn names(&mut self, folder: PathBuf) -> Result<Vec<OsString>, Refusal> {
        let mut names = Vec::new();
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(names) };
        for entry in entries.flatten() {
            self.looked_at.set(self.looked_at.get() + 1);
            if self.looked_at.get() > MOST_NAMES {
                return Err(Refusal::new(
                    self.written,
                    format!("would look at more than {MOST_NAMES} names"),
                )
                .advice("Narrow the pattern, or use `find`"));
            }
            names.push(entry.file_name());
        }
        Ok(names)
    }
}

/// Returns whether a name matches a part of a pattern. Names that are not UTF-8 match by `*`.
fn matches(part: &[Symbol], name: &OsStr) -> bool {
    let name: Vec<char> = match name.to_str() {
        Some(name) => name.chars().collect(),
        // Each byte counts as a character, as in bash; none equals a character of the pattern.
        None => name.as_bytes().iter().map(|byte| byte_character(*byte)).collect(),
    };
    // The last `*` is the only one that ever needs to take more.
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        match step(part, at, name[from]) {
            Step::Star => {
                star = Some((at + 1, from));
                at += 1;
            }
            Step::Matched(next) => {
                at = next;
                from += 1;
            }
            Step::Failed => {
                let Some((after, start)) = star else { return false };
                star = Some((after, start + 1));
                (at, from) = (after, start + 1);
            }
        }
    }
    part[at..].iter().all(|symbol| !symbol.quoted && symbol.character == '*')
}

fn byte_character(byte: u8) -> char {
    if byte.is_ascii() { byte.into() } else { char::REPLACEMENT_CHARACTER }
}

enum Step {
    Star,
    Matched(usize),
    Failed,
}

fn step(part: &[Symbol], at: usize, character: char) -> Step {
    let Some(symbol) = part.get(at) else { return Step::Failed };
    match symbol.character {
        '*' if !symbol.quoted => Step::Star,
        '?' if !symbol.quoted => Step::Matched(at + 1),
        '[' if !symbol.quoted => match bracket(part, at, character) {
            Some((true, next)) => Step::Matched(next),
            None if character == '[' => Step::Matched(at + 1),
            Some((false, _)) | None => Step::Failed,
        },
        literal if literal == character => Step::Matched(at + 1),
        _ => Step::Failed,
    }
}

/// Matches `[…]` at `at`; `None` when nothing closes it, so that the `[` is literal.
fn bracket(part: &[Symbol], at: usize, character: char) -> Option<(bool, usize)> {
    let mut index = at + 1;
    let is_bare = |index: usize, wanted: char| {
        part.get(index).is_some_and(|symbol| !symbol.quoted && symbol.character == wanted)
    };
    let negated = is_bare(index, '!') || is_bare(index, '^');
    if negated {
        index += 1;
    }
    let start = index;
    let mut found = false;
    loop {
        let symbol = part.get(index)?;
        if !symbol.quoted && symbol.character == ']' && index > start {
            return Some((found != negated, index + 1));
        }
        if !symbol.quoted && symbol.character == '[' && is_bare(index + 1, ':') {
            let rest = &part[index + 2..];
            let end = rest
                .windows(2)
                .position(|pair| pair[0].character == ':' && pair[1].character == ']');
            if let Some(end) = end {
                let class: String = rest[..end].iter().map(|symbol| symbol.character).collect();
                found |= in_class(&class, character);
                index += 2 + end + 2;
                continue;
            }
        }
        let low = symbol.character;
        if is_bare(index + 1, '-') && part.get(index + 2).is_some() && !is_bare(index + 2, ']') {
            let high = part[index + 2].character;
            found |= (low..=high).contains(&character);
            index += 3;
        } else {
            found |= low == character;
            index += 1;
        }
    }
}

fn in_class(class: &str, character: char) -> bool {
    match class {
        "alpha" => character.is_alphabetic(),
        "digit" => character.is_ascii_digit(),
        "alnum" => character.is_alphanumeric(),
        "upper" => character.is_uppercase(),
        "lower" => character.is_lowercase(),
        "space" => character.is_whitespace(),
        "blank" => matches!(character, ' ' | '\t'),
        "punct" => character.is_ascii_punctuation(),
        "xdigit" => character.is_ascii_hexdigit(),
        "cntrl" => character.is_control(),
        "graph" => !character.is_control() && !character.is_whitespace(),
        "print" => !character.is_control(),
        "word" => character.is_alphanumeric() || character == '_',
        _ => false,
    }
}

#[cfg(test)]
mod tests;

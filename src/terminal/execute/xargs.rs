//! `xargs` and `find -exec`, as ours: every command is checked as if it had been typed, with the
//! very words that it gets, before it runs. A file name that looks like an option is no way in.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::iter::Peekable;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::{End, Pipes, Runner, SIGPIPE, null, pipe, tell};
use crate::terminal::plan::{Action, Invocation, Items, Xargs};

/// The most bytes of items in one command; the system's limit is far above.
const MOST_BYTES: usize = 1 << 17;

/// The most bytes that are read before the first command has to fit.
const MOST_INPUT: usize = 1 << 26;

/// The exit codes of `xargs`: a command failed; a command was refused; one could not be found.
const SOME_FAILED: i32 = 123;
const REFUSED: i32 = 126;

/// Runs a command over the items of the input.
pub(super) fn run(xargs: &Xargs, runner: &Runner<'_>, pipes: Pipes) -> End {
    let input = match read_all(pipes.stdin) {
        Ok(input) => input,
        Err(error) => {
            tell(pipes.stderr, format_args!("xargs: the input cannot be read: {error}"));
            return End::Code(1);
        }
    };
    let mut failed = false;
    for words in Commands::over(&input, xargs) {
        if runner.is_stopped() {
            return End::Stopped;
        }
        let Batch { words, names } = match words {
            Ok(batch) => batch,
            Err(message) => {
                tell(pipes.stderr, format_args!("xargs: {message}"));
                return End::Code(1);
            }
        };
        let (Ok(stdout), Ok(stderr), Ok(stdin)) =
            (pipes.stdout.try_clone(), pipes.stderr.try_clone(), null())
        else {
            tell(pipes.stderr, format_args!("xargs: no descriptors are left"));
            return End::Code(1);
        };
        let action = match (runner.surroundings.check)(xargs, &words, runner.directory) {
            Ok(action) => action,
            Err(refusal) => {
                tell(pipes.stderr, format_args!("xargs: {refusal}"));
                return End::Code(REFUSED);
            }
        };
        match action {
            Action::Program(_) | Action::Builtin(_) => {}
            Action::Xargs(_) | Action::FindExec { .. } => {
                tell(pipes.stderr, format_args!("xargs: only a plain command can be run"));
                return End::Code(REFUSED);
            }
        }
        let mut output = File::from(stdout);
        if output.write_all(&names).is_err() {
            return End::Code(128 + SIGPIPE);
        }
        match runner.run(&action, Pipes { stdin, stdout: output.into(), stderr }) {
            End::Code(0) => {}
            // It cannot be run, or the reader of our output has had enough.
            end @ (End::Code(126 | 127 | 141) | End::Signal(_) | End::Stopped) => return end,
            End::Code(_) => failed = true,
        }
    }
    End::Code(if failed { SOME_FAILED } else { 0 })
}

/// Runs `find` and the command over what it finds.
pub(super) fn find_exec(
    find: &Invocation,
    command: &Xargs,
    runner: &Runner<'_>,
    pipes: Pipes,
) -> End {
    let (found, found_end) = match pipe() {
        Ok(ends) => ends,
        Err(error) => {
            tell(pipes.stderr, format_args!("find: {error}"));
            return End::Code(1);
        }
    };
    let Ok(messages) = pipes.stderr.try_clone() else { return End::Code(1) };
    let search = Pipes { stdin: pipes.stdin, stdout: found_end, stderr: messages };
    let actions = Pipes { stdin: found, stdout: pipes.stdout, stderr: pipes.stderr };
    let (searched, acted) = std::thread::scope(|scope| {
        let search = scope.spawn(|| runner.program(find, search));
        let acted = run(command, runner, actions);
        (search.join().unwrap_or(End::Stopped), acted)
    });
    // With one command an item, `find` does not care how each ended; with `+` it does.
    let each = command.replace.is_some() || command.most == Some(1);
    match (searched, acted) {
        (_, end @ (End::Code(126 | 127 | 141) | End::Signal(_) | End::Stopped)) => end,
        (End::Code(0), End::Code(code)) if code != 0 && !each => End::Code(1),
        (end, End::Code(_)) => end,
    }
}

fn read_all(stdin: OwnedFd) -> io::Result<Vec<u8>> {
    let mut input = Vec::new();
    File::from(stdin).take(MOST_INPUT as u64 + 1).read_to_end(&mut input)?;
    if input.len() > MOST_INPUT {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "more than 64 MiB of items"));
    }
    Ok(input)
}

/// A command to run.
struct Batch {
    words: Vec<OsString>,
    /// What is printed before it: the names of its items, when they are to be told.
    names: Vec<u8>,
}

/// The commands to run, each with its share of the items; made one by one, because the items of a
/// large input take many times its memory.
struct Commands<'a> {
    xargs: &'a Xargs,
    items: Peekable<Split<'a>>,
    any: bool,
}

impl<'a> Commands<'a> {
    fn over(input: &'a [u8], xargs: &'a Xargs) -> Self {
        let split = Split { rest: input, items: xargs.items, replaces: xargs.replace.is_some() };
        Self { xargs, items: split.peekable(), any: false }
    }
}

impl Iterator for Commands<'_> {
    type Item = Result<Batch, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        let xargs = self.xargs;
        if let Some(place) = &xargs.replace {
            let item = self.items.next()?;
            return Some(item.map(|item| Batch {
                words: replaced(&xargs.command, place, &item.text),
                names: xargs.name(&item),
            }));
        }
        let first = !std::mem::replace(&mut self.any, true);
        if self.items.peek().is_none() && (!first || xargs.skip_empty) {
            return None;
        }
        let most = xargs.most.unwrap_or(usize::MAX).max(1);
        let most_lines = xargs.lines.unwrap_or(usize::MAX).max(1);
        let (mut words, mut names) = (xargs.command.clone(), Vec::new());
        let (mut count, mut lines, mut bytes) = (0, 0, 0);
        while count < most && lines < most_lines {
            let fits = |item: &Item| count == 0 || bytes + item.text.len() <= MOST_BYTES;
            let next = self.items.next_if(|item| item.as_ref().map_or(true, fits));
            match next {
                Some(Ok(item)) => {
                    count += 1;
                    lines += usize::from(item.ends_line);
                    bytes += item.text.len() + 1;
                    names.extend(xargs.name(&item));
                    words.push(item.text);
                }
                // What came before it has not run, as with the system's own.
                Some(Err(message)) => return Some(Err(message)),
                None => break,
            }
        }
        Some(Ok(Batch { words, names }))
    }
}

impl Xargs {
    /// Returns the line that tells an item, if any does.
    fn name(&self, item: &Item) -> Vec<u8> {
        if self.announces { [item.text.as_bytes(), b"\n"].concat() } else { Vec::new() }
    }
}

fn replaced(command: &[OsString], place: &str, item: &OsStr) -> Vec<OsString> {
    let replace = |word: &OsString| {
        let (mut rest, mut whole) = (word.as_bytes(), Vec::new());
        while let Some(at) = find(rest, place.as_bytes()) {
            whole.extend_from_slice(&rest[..at]);
            whole.extend_from_slice(item.as_bytes());
            rest = &rest[at + place.len()..];
        }
        whole.extend_from_slice(rest);
        OsString::from_vec(whole)
    };
    // The command's name is fixed: no item can choose what runs.
    let name = command.iter().take(1).cloned();
    name.chain(command.iter().skip(1).map(replace)).collect()
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    if part.is_empty() {
        return None;
    }
    text.windows(part.len()).position(|window| window == part)
}

/// An item of the input.
struct Item {
    text: OsString,
    /// Whether it is the last of its line.
    ends_line: bool,
}

/// Divides an input into items.
struct Split<'a> {
    rest: &'a [u8],
    items: Items,
    replaces: bool,
}

impl<'a> Split<'a> {
    /// Takes everything up to a byte, and the byte.
    fn up_to(&mut self, end: u8) -> &'a [u8] {
        let at = self.rest.iter().position(|byte| *byte == end);
        let (part, rest) = self.rest.split_at(at.unwrap_or(self.rest.len()));
        self.rest = rest.get(1..).unwrap_or_default();
        part
    }
}

impl Iterator for Split<'_> {
    type Item = Result<Item, &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        let item =
            |bytes: &[u8]| Item { text: OsString::from_vec(bytes.to_vec()), ends_line: true };
        let end = match self.items {
            Items::Words => return word(&mut self.rest),
            Items::Nul => 0,
            Items::Lines => b'\n',
        };
        while !self.rest.is_empty() {
            let part = self.up_to(end);
            // With `-I`, blanks before an item do not belong to it.
            let trims = end == b'\n' && self.replaces;
            let part = if trims { part.trim_ascii_start() } else { part };
            if !part.is_empty() {
                return Some(Ok(item(part)));
            }
        }
        None
    }
}

/// Takes a word as `xargs` does: white space, quotes that end on their line, a backslash before any
/// character. A line with blanks at its end goes on in the next one.
fn word(rest: &mut &[u8]) -> Option<Result<Item, &'static str>> {
    let mut word: Option<Vec<u8>> = None;
    let whole = |text, ends_line| Some(Ok(Item { text: OsString::from_vec(text), ends_line }));
    let mut take = || {
        let (byte, others) = rest.split_first()?;
        *rest = others;
        Some(*byte)
    };
    while let Some(byte) = take() {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => {
                if let Some(text) = word.take() {
                    return whole(text, byte == b'\n');
                }
            }
            b'\'' | b'"' => {
                let word = word.get_or_insert_default();
                loop {
                    match take() {
                        Some(end) if end == byte => break,
                        None | Some(b'\n') => {
                            return Some(Err(
                                "a quote does not end; use `-0`, or `-d '\\n'` for names",
                            ));
                        }
                        Some(inside) => word.push(inside),
                    }
                }
            }
            b'\\' => word.get_or_insert_default().extend(take()),
            0 => {}
            other => word.get_or_insert_default().push(other),
        }
    }
    whole(word?, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn xargs(items: Items, replace: Option<&str>, most: Option<usize>) -> Xargs {
        Xargs {
            command: vec!["grep".into(), "x".into()],
            items,
            replace: replace.map(str::to_owned),
            most,
            lines: None,
            skip_empty: false,
            announces: false,
        }
    }

    #[track_caller]
    fn check(input: &str, xargs: &Xargs, expected: &[&str]) {
        let shown: Vec<String> = Commands::over(input.as_bytes(), xargs)
            .map(|batch| batch.unwrap().words)
            .map(|words| {
                words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>()
            })
            .map(|words| words.join("|"))
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn items_are_divided_as_xargs_does() {
        let words = xargs(Items::Words, None, None);
        check("a 'b c'\td\\ e\n\nf\"g h\"i", &words, &["grep|x|a|b c|d e|fg hi"]);
        check("", &words, &["grep|x"]);
        check("''", &words, &["grep|x|"]);
        check("a b\n'c\n", &xargs(Items::Lines, None, None), &["grep|x|a b|'c"]);
        check("a b\0c\nd\0", &xargs(Items::Nul, None, None), &["grep|x|a b|c\nd"]);
        check("a b c", &xargs(Items::Words, None, Some(2)), &["grep|x|a|b", "grep|x|c"]);
        assert!(Commands::over(b"it's", &words).any(|words| words.is_err()));
    }

    #[test]
    fn lines_are_counted_where_that_is_asked_for() {
        let by = |lines| Xargs { lines: Some(lines), ..xargs(Items::Words, None, None) };
        check("a b\nc\n\n  d e", &by(1), &["grep|x|a|b", "grep|x|c", "grep|x|d|e"]);
        check("a b\nc\nd\n", &by(2), &["grep|x|a|b|c", "grep|x|d"]);
        // Blanks at the end of a line join it with the next.
        check("a \nb\nc\n", &by(1), &["grep|x|a|b", "grep|x|c"]);
        check("'a\tb'\n", &by(1), &["grep|x|a\tb"]);
    }

    #[test]
    fn an_item_replaces_its_mark_but_never_the_name() {
        let mut xargs = xargs(Items::Lines, Some("{}"), None);
        xargs.command = vec!["{}".into(), "-e".into(), "a{}b{}".into()];
        check("  x y\nz\n", &xargs, &["{}|-e|ax ybx y", "{}|-e|azbz"]);
        check("", &xargs, &[]);
    }

    #[test]
    fn the_names_of_its_items_are_told_before_a_command() {
        let told = |xargs: &Xargs| -> Vec<Vec<u8>> {
            Commands::over(b"a\0b c\0", xargs).map(|batch| batch.unwrap().names).collect()
        };
        let all = Xargs { announces: true, ..xargs(Items::Nul, None, None) };
        assert_eq!(told(&all), [b"a\nb c\n".to_vec()]);
        let each = Xargs { announces: true, ..xargs(Items::Nul, Some("{}"), None) };
        assert_eq!(told(&each), [b"a\n".to_vec(), b"b c\n".to_vec()]);
        assert_eq!(told(&xargs(Items::Nul, None, None)), [b"".to_vec()]);
    }

    #[test]
    fn a_command_does_not_grow_without_bound() {
        let items = "x".repeat(1000).add_lines(400);
        let by_lines = xargs(Items::Lines, None, None);
        let commands: Vec<_> = Commands::over(items.as_bytes(), &by_lines).collect();
        assert_eq!(commands.len(), 4);
    }

    trait AddLines {
        fn add_lines(self, count: usize) -> String;
    }

    impl AddLines for String {
        fn add_lines(self, count: usize) -> String {
            format!("{self}\n").repeat(count)
        }
    }
}

//! `xargs` and `find -exec`, as ours: every command is checked as if it had been typed, with the
//! very words that it gets, before it runs. A file name that looks like an option is no way in.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::{End, Pipes, Runner, null, pipe, tell};
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
    let items = match split(&input, xargs) {
        Ok(items) => items,
        Err(message) => {
            tell(pipes.stderr, format_args!("xargs: {message}"));
            return End::Code(1);
        }
    };
    let mut failed = false;
    for words in commands(xargs, items) {
        if runner.is_stopped() {
            return End::Stopped;
        }
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
        match runner.run(&action, Pipes { stdin, stdout, stderr }) {
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

/// Returns the commands to run, each with its share of the items.
fn commands(xargs: &Xargs, items: Vec<Item>) -> Vec<Vec<OsString>> {
    if let Some(place) = &xargs.replace {
        return items.iter().map(|item| replaced(&xargs.command, place, &item.text)).collect();
    }
    if items.is_empty() {
        let never = xargs.skip_empty;
        return if never { Vec::new() } else { vec![xargs.command.clone()] };
    }
    let most = xargs.most.unwrap_or(usize::MAX).max(1);
    let most_lines = xargs.lines.unwrap_or(usize::MAX).max(1);
    let mut commands: Vec<Vec<OsString>> = Vec::new();
    let (mut count, mut lines, mut bytes) = (most, 0, 0);
    for item in items {
        if count >= most || lines >= most_lines || bytes + item.text.len() > MOST_BYTES {
            commands.push(xargs.command.clone());
            (count, lines, bytes) = (0, 0, 0);
        }
        count += 1;
        lines += usize::from(item.ends_line);
        bytes += item.text.len() + 1;
        if let Some(command) = commands.last_mut() {
            command.push(item.text);
        }
    }
    commands
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

/// Divides the input into items.
fn split(input: &[u8], xargs: &Xargs) -> Result<Vec<Item>, &'static str> {
    let item = |bytes: &[u8]| Item { text: OsString::from_vec(bytes.to_vec()), ends_line: true };
    match xargs.items {
        Items::Nul => {
            Ok(input.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(item).collect())
        }
        Items::Lines => {
            let lines = input.split(|byte| *byte == b'\n').map(|line| {
                // With `-I`, blanks before an item do not belong to it.
                if xargs.replace.is_some() { line.trim_ascii_start() } else { line }
            });
            Ok(lines.filter(|line| !line.is_empty()).map(item).collect())
        }
        Items::Words => words(input),
    }
}

/// Divides as `xargs` does: white space, quotes that end on their line, a backslash before any
/// character. A line with blanks at its end goes on in the next one.
fn words(input: &[u8]) -> Result<Vec<Item>, &'static str> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let whole = |text, ends_line| Item { text: OsString::from_vec(text), ends_line };
    let mut bytes = input.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => {
                words.extend(word.take().map(|text| whole(text, byte == b'\n')));
            }
            b'\'' | b'"' => {
                let word = word.get_or_insert_default();
                loop {
                    match bytes.next() {
                        Some(end) if end == byte => break,
                        None | Some(b'\n') => {
                            return Err("a quote does not end; use `-0`, or `-d '\\n'` for names");
                        }
                        Some(inside) => word.push(inside),
                    }
                }
            }
            b'\\' => word.get_or_insert_default().extend(bytes.next()),
            0 => {}
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word.map(|text| whole(text, true)));
    Ok(words)
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
        }
    }

    #[track_caller]
    fn check(input: &str, xargs: &Xargs, expected: &[&str]) {
        let items = split(input.as_bytes(), xargs).unwrap();
        let commands = commands(xargs, items);
        let shown: Vec<String> = commands
            .iter()
            .map(|words| words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>())
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
        assert!(split(b"it's", &words).is_err());
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
    fn a_command_does_not_grow_without_bound() {
        let items = "x".repeat(1000).add_lines(400);
        let commands = commands(
            &xargs(Items::Lines, None, None),
            split(items.as_bytes(), &xargs(Items::Lines, None, None)).unwrap(),
        );
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

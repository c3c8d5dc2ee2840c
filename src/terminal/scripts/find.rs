//! `find`: an allow-list of predicates, and `-exec` at the end as our own `xargs`.

use std::ffi::OsString;

use crate::terminal::arguments::{Argument, Origin};
use crate::terminal::check::Scene;
use crate::terminal::plan::{Items, Xargs};
use crate::terminal::refusal::Refusal;
use crate::terminal::repair::Repair;

use Takes::{Nothing, Number, Path, Text};

/// What was read of a `find`.
pub(in crate::terminal) struct Find {
    /// Its arguments without `-exec`, and with `-print0` in its place.
    pub(in crate::terminal) arguments: Vec<OsString>,
    /// The command over the results.
    pub(in crate::terminal) command: Option<Xargs>,
}

/// What a predicate takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    Text,
    Number,
    Path,
}

/// The predicates that only look.
const PREDICATES: [(&str, Takes); 69] = [
    ("!", Nothing),
    ("(", Nothing),
    (")", Nothing),
    (",", Nothing),
    ("-a", Nothing),
    ("-amin", Number),
    ("-and", Nothing),
    ("-anewer", Path),
    ("-atime", Number),
    ("-cmin", Number),
    ("-cnewer", Path),
    ("-ctime", Number),
    ("-d", Nothing),
    ("-daystart", Nothing),
    ("-depth", Nothing),
    ("-empty", Nothing),
    ("-executable", Nothing),
    ("-false", Nothing),
    ("-fstype", Text),
    ("-gid", Number),
    ("-group", Text),
    ("-ignore_readdir_race", Nothing),
    ("-ilname", Text),
    ("-iname", Text),
    ("-inum", Number),
    ("-ipath", Text),
    ("-iregex", Text),
    ("-iwholename", Text),
    ("-links", Number),
    ("-lname", Text),
    ("-ls", Nothing),
    ("-maxdepth", Number),
    ("-mindepth", Number),
    ("-mmin", Number),
    ("-mount", Nothing),
    ("-mtime", Number),
    ("-name", Text),
    ("-newer", Path),
    ("-nogroup", Nothing),
    ("-noignore_readdir_race", Nothing),
    ("-noleaf", Nothing),
    ("-not", Nothing),
    ("-nouser", Nothing),
    ("-nowarn", Nothing),
    ("-o", Nothing),
    ("-or", Nothing),
    ("-path", Text),
    ("-perm", Text),
    ("-print", Nothing),
    ("-print0", Nothing),
    ("-printf", Text),
    ("-prune", Nothing),
    ("-quit", Nothing),
    ("-readable", Nothing),
    ("-regex", Text),
    ("-regextype", Text),
    ("-samefile", Path),
    ("-size", Text),
    ("-true", Nothing),
    ("-type", Text),
    ("-uid", Number),
    ("-used", Number),
    ("-user", Text),
    ("-warn", Nothing),
    ("-wholename", Text),
    ("-writable", Nothing),
    ("-xdev", Nothing),
    ("-xtype", Text),
    ("-context", Text),
];

/// Reads the words of a `find`.
pub(in crate::terminal) fn read(
    words: &[Argument],
    scene: &mut Scene<'_>,
) -> Result<Find, Refusal> {
    let (starts, expression) = starting_points(words, scene)?;
    let mut reader =
        Reader { find: Find { arguments: starts, command: None }, prints: 0, told: None };
    let mut rest = expression;
    while let Some((word, behind)) = rest.split_first() {
        let text = word.shown();
        if word.origin == Origin::Data {
            return Err(Refusal::new(
                text,
                "is a name that an unquoted pattern matched, and `find` takes none there",
            )
            .form("find . -name '*.py'"));
        }
        if text == "-exec" {
            reader.exec(behind, scene)?;
            break;
        }
        rest = reader.predicate(word, &text, behind, scene)?;
    }
    Ok(reader.find)
}

/// Reads the options in front and the folders to search, each inside; returns them with the words
/// behind.
fn starting_points<'a>(
    words: &'a [Argument],
    scene: &mut Scene<'_>,
) -> Result<(Vec<OsString>, &'a [Argument]), Refusal> {
    let mut starts: Vec<OsString> = Vec::new();
    let mut are_options = true;
    for (at, word) in words.iter().enumerate() {
        if word.origin == Origin::Typed && begins_expression(word) {
            let text = word.shown();
            if !are_options || !matches!(text.as_str(), "-P" | "-H" | "-O1" | "-O2" | "-O3") {
                return Ok((starts, &words[at..]));
            }
            starts.push(word.text.clone());
            continue;
        }
        are_options = false;
        let path = word.as_path(|bytes| matches!(bytes, [b'-' | b'(' | b')' | b'!' | b',', ..]));
        scene.note(&word.shown(), || "where `find` starts, inside".into());
        scene.path(&path)?;
        starts.push(path);
    }
    Ok((starts, &[]))
}

/// The expression of a `find` while it is read.
struct Reader {
    find: Find,
    /// How many predicates print.
    prints: usize,
    /// Where a `-print` ended that tells the name of the very item: with an `-exec` directly behind
    /// it the two are one.
    told: Option<usize>,
}

impl Reader {
    /// Reads a predicate and the value that it takes; returns the words behind.
    fn predicate<'a>(
        &mut self,
        word: &Argument,
        text: &str,
        behind: &'a [Argument],
        scene: &mut Scene<'_>,
    ) -> Result<&'a [Argument], Refusal> {
        let Some(takes) = takes(text) else { return Err(unknown(text)) };
        scene.note(text, || "predicate of `find` that only looks".into());
        self.prints += usize::from(matches!(text, "-print" | "-print0" | "-printf" | "-ls"));
        let arguments = &mut self.find.arguments;
        let negated = arguments.last().is_some_and(|last| last == "!" || last == "-not");
        arguments.push(word.text.clone());
        if text == "-print" && !negated {
            self.told = Some(arguments.len());
        }
        if takes == Nothing {
            return Ok(behind);
        }
        let Some((value, behind)) = behind.split_first() else {
            return Err(Refusal::new(text, "needs a value, and the command ends after it"));
        };
        match takes {
            Path => {
                scene.path(&value.text)?;
            }
            Number if !is_number(value) => {
                let reason = format!("stands where `{text}` takes a number");
                return Err(Refusal::new(value.shown(), reason));
            }
            Nothing | Text | Number => {}
        }
        scene.note(&value.shown(), || format!("value of `{text}`"));
        arguments.push(value.text.clone());
        Ok(behind)
    }

    /// Reads an `-exec`, which ends the words: the search prints its items for the command.
    fn exec(&mut self, words: &[Argument], scene: &mut Scene<'_>) -> Result<(), Refusal> {
        let arguments = &mut self.find.arguments;
        let announces = self.prints == 1 && self.told == Some(arguments.len());
        if self.prints > 0 && !announces {
            return Err(Refusal::new(
                "-exec",
                "comes after another predicate that prints, so its items would be mixed up",
            )
            .advice("Leave the other one out, or write the search as a command of its own"));
        }
        self.find.command = Some(Xargs { announces, ..exec(words)? });
        if announces {
            arguments.pop();
        }
        arguments.push("-print0".into());
        scene.note("-exec … {}", || "run as `xargs`, its command checked".into());
        Ok(())
    }
}

/// Returns what a predicate takes, or `None` for one that is not known to only look.
fn takes(name: &str) -> Option<Takes> {
    // `-newermt TIME`, `-newercm FILE`: which time of a file, against a time or another file's.
    if let Some([b'a' | b'B' | b'c' | b'm', right]) = name.strip_prefix("-newer").map(str::as_bytes)
    {
        return match right {
            b't' => Some(Text),
            b'a' | b'B' | b'c' | b'm' => Some(Path),
            _ => None,
        };
    }
    PREDICATES.iter().find(|(known, _)| *known == name).map(|(_, takes)| *takes)
}

/// Reads `COMMAND {} +` or `COMMAND … \;`, which must end the words.
fn exec(words: &[Argument]) -> Result<Xargs, Refusal> {
    let texts: Vec<String> = words.iter().map(Argument::shown).collect();
    let end = texts.iter().enumerate().find(|(index, text)| {
        *text == ";" || (*text == "+" && *index > 0 && texts[index - 1] == "{}")
    });
    let Some((end, _)) = end else {
        return Err(Refusal::new("-exec", "is not ended by `{} +` or `\\;`")
            .form("find . -name '*.py' -exec grep -n TODO {} +"));
    };
    if end + 1 != words.len() {
        return Err(Refusal::new(
            texts[end + 1].clone(),
            "follows an `-exec`, which may only be the last part of a `find`",
        )
        .form("find . -name '*.py' -print0 | xargs -0 grep -n TODO"));
    }
    let all = texts[end] == "+";
    let command = if all { &words[..end - 1] } else { &words[..end] };
    if command.is_empty() {
        return Err(Refusal::new("-exec", "names no command")
            .form("find . -name '*.py' -exec grep -n TODO {} +"));
    }
    if all && texts[..end - 1].iter().any(|text| text.contains("{}")) {
        return Err(Refusal::new("{}", "stands twice before `+`")
            .form("find . -name '*.py' -exec grep -n TODO {} +"));
    }
    Ok(Xargs {
        command: command.iter().map(|word| word.text.clone()).collect(),
        items: Items::Nul,
        replace: (!all).then(|| "{}".to_owned()),
        most: None,
        lines: None,
        skip_empty: true,
        announces: false,
    })
}

fn begins_expression(word: &Argument) -> bool {
    let bytes = word.text.as_encoded_bytes();
    word.looks_like_an_option() || matches!(bytes, b"!" | b"(" | b")" | b",")
}

fn unknown(text: &str) -> Refusal {
    let pipe = "find . -name '*.py' -exec grep -n TODO {} +";
    match text {
        "-delete" => Refusal::new(text, "deletes files, and nothing is changed here")
            .advice("Leave it out: the files that it would delete are printed")
            .repair(Repair::LeaveOut(text.to_owned(), 0)),
        "-execdir" | "-ok" | "-okdir" => {
            Refusal::new(text, "runs a command in a way that is not done here").form(pipe)
        }
        "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
            Refusal::new(text, "writes a file, and nothing can be written here")
                .advice("Leave it out, or use `-print` or `-printf FORMAT`: the output is shown")
                .repair(Repair::LeaveOut(text.to_owned(), if text == "-fprintf" { 2 } else { 1 }))
        }
        "-L" | "-follow" => {
            Refusal::new(text, "follows links, which may lead outside the workspace")
                .advice("Links themselves are found with `-type l`, and are not followed")
        }
        "-files0-from" => Refusal::new(text, "takes the folders to search from a file")
            .form("find src tests -name '*.py'"),
        _ if text.starts_with('-') => {
            Refusal::new(text, "is not among the predicates of `find` that are allowed").allowed(
                "predicates of `find`",
                PREDICATES.iter().map(|(name, _)| (*name).to_owned()).collect(),
            )
        }
        _ => Refusal::new(text, "stands after the first predicate, where `find` takes no path")
            .advice("Name the folders first, and quote patterns: `find src -name '*.py'`"),
    }
}

fn is_number(value: &Argument) -> bool {
    let text = value.shown();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(&text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

//! The closest line that works: the one that was refused, changed in one place.
//!
//! Nothing here decides anything: a line that comes from here is offered only after it was checked
//! like any other.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::lexer::{Token, Word, lex};

/// A change of the line that takes out what was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Repair {
    /// A part of the line is replaced.
    Replace(Range<usize>, String),
    /// The first such word is left out, and as many words behind it.
    LeaveOut(String, usize),
    /// A letter of such a cluster of options is left out, with its value if it takes one.
    LeaveOutLetter(String, char, bool),
    /// The line ends before the pipe to such a command.
    EndBefore(String),
}

impl Repair {
    /// Returns the line as it would be after the repair.
    pub(super) fn apply(&self, line: &str) -> Option<String> {
        let words = || lex(line).ok().map(|tokens| words(&tokens));
        let cut = |from: usize, to: usize, with: &str| {
            Some(format!("{}{with}{}", line.get(..from)?, line.get(to..)?))
        };
        let repaired = match self {
            Repair::Replace(span, with) => cut(span.start, span.end, with)?,
            Repair::LeaveOut(word, more) => {
                let words = words()?;
                let at = words.iter().position(|other| other.text() == *word)?;
                let last = words.get(at + more)?;
                cut(words[at].span.start, last.span.end, "")?
            }
            Repair::LeaveOutLetter(word, letter, takes_value) => {
                let words = words()?;
                let at = words.iter().position(|other| other.text() == *word)?;
                let (before, after) = word.split_once(*letter)?;
                let (kept, more) = match (takes_value, after) {
                    (false, after) => (format!("{before}{after}"), 0),
                    (true, "") => (before.to_owned(), 1),
                    (true, _) => (before.to_owned(), 0),
                };
                let kept = if kept == "-" { "" } else { &kept };
                cut(words[at].span.start, words.get(at + more)?.span.end, kept)?
            }
            Repair::EndBefore(word) => {
                let at = words()?.iter().position(|other| other.text() == *word)?;
                let start = words()?.get(at)?.span.start;
                line.get(..start)?.trim_end().strip_suffix('|')?.to_owned()
            }
        };
        Some(tidied(&repaired))
    }
}

/// Returns a line in which what belongs to a shell is written without one.
pub(super) fn without_shell(line: &str) -> Option<String> {
    /// What is looked for, and what stands there instead.
    static FORMS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        const LOOP: &str =
            r#"^for (\w+) in ([^;|&<>$]+?) *; *do +([^;|&<>$]+?) +"?\$\{?(\w+)\}?"? *;? *done$"#;
        const READ: &str = r#"^(.+?) *\| *while +(?:IFS= +)?read +(?:-r +)?(\w+) *; *do +([^;|&<>$]+?) +"?\$\{?(\w+)\}?"? *;? *done$"#;
        let forms = [
            (LOOP, "$3 $2"),
            (READ, "$1 | xargs -d '\\n' -n 1 $3"),
            (
                r"^if +([^;|&]+?) *; *then +([^;|&]+?) *; *else +([^;|&]+?) *; *fi$",
                "$1 && $2 || $3",
            ),
            (r"^if +([^;|&]+?) *; *then +([^;|&]+?) *; *fi$", "$1 && $2"),
            (r#"^([^|;&<>$`()]+?) +"?\$\(([^()$`]+)\)"?$"#, "$2 | xargs $1"),
            (r#"^([^|;&<>$`()]+?) +"?`([^()$`]+)`"?$"#, "$2 | xargs $1"),
            (r"^(?:/bin/|/usr/bin/)?(?:ba|da|z)?sh +-[a-z]*c +'([^']+)'$", "$1"),
            (r#"^(?:/bin/|/usr/bin/)?(?:ba|da|z)?sh +-[a-z]*c +"([^"\\`$]+)"$"#, "$1"),
            (r"^\[\[ +(.+?) +\]\]", "test $1"),
            (r"^\(([^()]+)\)$", "$1"),
            (r"^\{ +([^{}]+?) *;? *\}$", "$1"),
            (r#""?\$\{?PWD\b\}?"?"#, "."),
            (r#""?\$\{?HOME\b\}?"?"#, "~"),
            (
                r"([^\s{}'\x22]*)\{([^\s{},'\x22]+),([^\s{},'\x22]+)\}([^\s{}'\x22]*)",
                "$1$2$4 $1$3$4",
            ),
        ];
        forms.into_iter().filter_map(|(form, with)| Some((Regex::new(form).ok()?, with))).collect()
    });
    let line = line.trim();
    let (form, with) = FORMS.iter().find(|(form, _)| form.is_match(line))?;
    // A loop over one name that prints another cannot be written so.
    let loops = [("$3", 1), ("$1 | xargs -d", 2)];
    if let Some((_, named)) = loops.iter().find(|(begin, _)| with.starts_with(begin)) {
        let found = form.captures(line)?;
        if found.get(4)?.as_str() != found.get(*named)?.as_str() {
            return None;
        }
    }
    Some(form.replace_all(line, *with).into_owned())
}

/// Returns the words of a line.
fn words(tokens: &[Token]) -> Vec<Word> {
    let word = |token: &Token| match token {
        Token::Word(word) => Some(word.clone()),
        Token::Operator(..) | Token::Redirect(..) => None,
    };
    tokens.iter().filter_map(word).collect()
}

/// Returns a line without the blanks that a cut left behind.
fn tidied(line: &str) -> String {
    line.replace("  ", " ")
        .replace(" ;", ";")
        .trim()
        .trim_end_matches([';', '&', '|'])
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_do_is_written_without_one() {
        for (line, expected) in [
            ("for f in src/*.rs; do wc -l $f; done", Some("wc -l src/*.rs")),
            ("for f in a b; do head -n 3 \"$f\"; done", Some("head -n 3 a b")),
            ("for f in a b; do head $g; done", None),
            (
                "ls src | while read -r f; do wc -l \"$f\"; done",
                Some("ls src | xargs -d '\\n' -n 1 wc -l"),
            ),
            ("ls src | while read f; do wc -l $g; done", None),
            ("cat $(git ls-files '*.rs')", Some("git ls-files '*.rs' | xargs cat")),
            ("wc -l `ls src`", Some("ls src | xargs wc -l")),
            ("if [ -f a ]; then cat a; fi", Some("[ -f a ] && cat a")),
            ("if test -f a; then cat a; else ls; fi", Some("test -f a && cat a || ls")),
            ("[[ -f a ]] && cat a", Some("test -f a && cat a")),
            ("(cd src && ls)", Some("cd src && ls")),
            ("{ ls; pwd; }", Some("ls; pwd")),
            ("ls $PWD/src ${HOME}", Some("ls ./src ${HOME}")),
            ("ls src/{a,b}.rs", Some("ls src/a.rs src/b.rs")),
            ("grep -r x --include=*.{js,ts} .", Some("grep -r x --include=*.js --include=*.ts .")),
            ("bash -lc 'ls | wc -l'", Some("ls | wc -l")),
            ("sh -c \"grep -n 'a b' x\"", Some("grep -n 'a b' x")),
            ("ls -la", None),
        ] {
            assert_eq!(without_shell(line).as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_word_or_a_letter_is_left_out_of_a_line() {
        let word = |text: &str, more| Repair::LeaveOut(text.to_owned(), more);
        let letter =
            |text: &str, letter, takes| Repair::LeaveOutLetter(text.to_owned(), letter, takes);
        for (line, repair, expected) in [
            ("tail -f x", word("-f", 0), Some("tail x")),
            ("sort -o y x", word("-o", 1), Some("sort x")),
            ("sort -o", word("-o", 1), None),
            ("tail -fn5 x", letter("-fn5", 'f', false), Some("tail -n5 x")),
            ("sort -uo y x", letter("-uo", 'o', true), Some("sort -u x")),
            ("sort -uoy x", letter("-uoy", 'o', true), Some("sort -u x")),
            ("cat x | tee y", Repair::EndBefore("tee".to_owned()), Some("cat x")),
            ("ls > y", Repair::Replace(3..6, String::new()), Some("ls")),
        ] {
            assert_eq!(repair.apply(line).as_deref(), expected, "{line}");
        }
    }
}

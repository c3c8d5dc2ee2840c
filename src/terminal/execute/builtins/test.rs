//! `test`: questions about files of the workspace, texts and numbers.

use std::cmp::Ordering;
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::fs::Access;

use super::{Desk, Failure, Result};

/// Succeeds when the expression is true.
pub(super) fn test(name: &str, words: &[OsString], desk: &Desk<'_>) -> Result<()> {
    let words = match (name, words.split_last()) {
        ("[", Some((last, words))) if last == "]" => words,
        ("[", _) => return Err(Failure::Usage("the `]` is missing".to_owned())),
        _ => words,
    };
    let mut parser = Parser { words, at: 0, desk };
    // With one or two words, an operator is a text like any other.
    let value = match words {
        [] => false,
        [word] => !word.is_empty(),
        [not, word] if not == "!" => word.is_empty(),
        _ => {
            let value = parser.any()?;
            if let Some(word) = parser.peek() {
                return Err(Failure::Usage(format!("too many words at {}", word.display())));
            }
            value
        }
    };
    if value { Ok(()) } else { Err(Failure::Negative(None)) }
}

struct Parser<'a> {
    words: &'a [OsString],
    at: usize,
    desk: &'a Desk<'a>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<&'a OsString> {
        self.words.get(self.at)
    }

    fn take(&mut self, word: &str) -> bool {
        let taken = self.peek().is_some_and(|next| next == word);
        self.at += usize::from(taken);
        taken
    }

    fn next(&mut self) -> Result<&'a OsString> {
        let word = self.peek().ok_or_else(|| Failure::Usage("a word is missing".to_owned()))?;
        self.at += 1;
        Ok(word)
    }

    fn any(&mut self) -> Result<bool> {
        let mut value = self.all()?;
        while self.take("-o") {
            value |= self.all()?;
        }
        Ok(value)
    }

    fn all(&mut self) -> Result<bool> {
        let mut value = self.negated()?;
        while self.take("-a") {
            value &= self.negated()?;
        }
        Ok(value)
    }

    fn negated(&mut self) -> Result<bool> {
        let mut value = true;
        while self.words.len() > self.at + 1 && self.take("!") {
            value = !value;
        }
        Ok(self.primary()? == value)
    }

    fn primary(&mut self) -> Result<bool> {
        let word = self.next()?;
        // A comparison wins over a question: `test -f = -f` compares texts.
        if let Some(operator) = self.peek().filter(|word| is_comparison(word)) {
            self.at += 1;
            let right = self.next()?;
            return self.compare(word, operator, right);
        }
        if word == "(" {
            let value = self.any()?;
            return if self.take(")") {
                Ok(value)
            } else {
                Err(Failure::Usage("a `)` is missing".to_owned()))
            };
        }
        match word.as_bytes() {
            [b'-', letter] if b"nz".contains(letter) && self.peek().is_some() => {
                Ok(self.next()?.is_empty() == (*letter == b'z'))
            }
            [b'-', letter] if b"bcdefghkLOGprsStuwx".contains(letter) && self.peek().is_some() => {
                let path = self.next()?;
                Ok(self.ask(*letter, path))
            }
            _ => Ok(!word.is_empty()),
        }
    }

    fn compare(&self, left: &OsStr, operator: &OsStr, right: &OsStr) -> Result<bool> {
        let texts = left.as_bytes().cmp(right.as_bytes());
        let operator = operator.to_string_lossy();
        Ok(match operator.as_ref() {
            "=" | "==" => texts == Ordering::Equal,
            "!=" => texts != Ordering::Equal,
            "<" => texts == Ordering::Less,
            ">" => texts == Ordering::Greater,
            "-nt" | "-ot" => {
                let [left, right] = [left, right].map(|path| self.facts(path).map(|it| age(&it)));
                if operator == "-nt" { left > right } else { left < right }
            }
            "-ef" => match (self.facts(left), self.facts(right)) {
                (Some(left), Some(right)) => (left.dev(), left.ino()) == (right.dev(), right.ino()),
                _ => false,
            },
            _ => {
                let order = integer(left)?.cmp(&integer(right)?);
                match operator.as_ref() {
                    "-eq" => order == Ordering::Equal,
                    "-ne" => order != Ordering::Equal,
                    "-lt" => order == Ordering::Less,
                    "-le" => order != Ordering::Greater,
                    "-gt" => order == Ordering::Greater,
                    _ => order != Ordering::Less,
                }
            }
        })
    }

    fn ask(&self, question: u8, path: &OsStr) -> bool {
        if matches!(question, b'L' | b'h') {
            // The link itself may lead anywhere; its folder may not.
            let path = Path::new(path);
            let Some(name) = path.file_name() else { return false };
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            let folder = self.desk.workspace.folder(self.desk.directory, folder).ok().flatten();
            let link = folder.map(|folder| self.desk.workspace.absolute(&folder).join(name));
            return link
                .and_then(|link| link.symlink_metadata().ok())
                .is_some_and(|facts| facts.file_type().is_symlink());
        }
        let Some(facts) = self.facts(path) else { return false };
        let kind = facts.file_type();
        match question {
            b'e' => true,
            b'f' => kind.is_file(),
            b'd' => kind.is_dir(),
            b's' => facts.len() > 0,
            b'r' => self.allows(path, Access::READ_OK),
            b'x' => self.allows(path, Access::EXEC_OK),
            b'p' => kind.is_fifo(),
            b'S' => kind.is_socket(),
            b'b' => kind.is_block_device(),
            b'c' => kind.is_char_device(),
            b'u' => facts.permissions().mode() & 0o4000 != 0,
            b'g' => facts.permissions().mode() & 0o2000 != 0,
            b'k' => facts.permissions().mode() & 0o1000 != 0,
            // Nothing can be written here, nothing is a terminal, and nobody owns anything.
            _ => false,
        }
    }

    fn facts(&self, path: &OsStr) -> Option<Metadata> {
        self.inside(path)?.metadata().ok()
    }

    fn allows(&self, path: &OsStr, access: Access) -> bool {
        self.inside(path).is_some_and(|path| rustix::fs::access(path, access).is_ok())
    }

    fn inside(&self, path: &OsStr) -> Option<std::path::PathBuf> {
        self.desk.workspace.resolve(self.desk.directory, Path::new(path)).ok()
    }
}

fn is_comparison(word: &OsStr) -> bool {
    const ALL: &[&str] =
        &["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];
    ALL.iter().any(|operator| word == *operator)
}

fn age(facts: &Metadata) -> (i64, i64) {
    (facts.mtime(), facts.mtime_nsec())
}

fn integer(word: &OsStr) -> Result<i128> {
    let text = word.to_string_lossy();
    let number = text.trim().parse();
    number.map_err(|_| Failure::Usage(format!("not a whole number: {text}")))
}

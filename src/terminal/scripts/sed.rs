//! `sed` scripts: parsed, so that no command of them runs, reads or writes anything else.

use crate::terminal::refusal::Refusal;

/// Refuses a script that does more than print the lines of its input, changed or not.
///
/// In brackets a delimiter is an ordinary character to some `sed` and ends the expression to
/// others, so what such a script holds must be harmless in both readings.
pub(in crate::terminal) fn check(script: &str) -> Result<(), Refusal> {
    let mut parser = Parser::of(script, true);
    parser.run()?;
    if parser.doubtful {
        let mut other = Parser::of(script, false);
        // A script that is none in this reading stops such a `sed` before it does anything.
        if let Err(refusal) = other.run()
            && other.harmful
        {
            return Err(refusal);
        }
    }
    Ok(())
}

struct Parser<'a> {
    script: &'a str,
    at: usize,
    depth: usize,
    /// Whether a delimiter in brackets is an ordinary character.
    brackets: bool,
    /// Whether one was met.
    doubtful: bool,
    /// Whether a command was refused for what it does.
    harmful: bool,
}

impl<'a> Parser<'a> {
    fn of(script: &'a str, brackets: bool) -> Self {
        Self { script, at: 0, depth: 0, brackets, doubtful: false, harmful: false }
    }
}

impl Parser<'_> {
    fn run(&mut self) -> Result<(), Refusal> {
        loop {
            self.skip(|character| character.is_whitespace() || character == ';');
            if self.peek().is_none() {
                return if self.depth == 0 {
                    Ok(())
                } else {
                    Err(self.unclear("{", "is not closed"))
                };
            }
            let start = self.at;
            self.addresses()?;
            self.skip(|character| character.is_whitespace() || character == '!');
            self.command(start)?;
        }
    }

    fn addresses(&mut self) -> Result<(), Refusal> {
        if !self.address()? {
            return Ok(());
        }
        self.skip(char::is_whitespace);
        if self.peek() == Some(',') {
            self.at += 1;
            self.skip(char::is_whitespace);
            if matches!(self.peek(), Some('+' | '~')) {
                self.at += 1;
                self.skip(|character| character.is_ascii_digit());
            } else if !self.address()? {
                return Err(self.unclear(",", "is not followed by an address"));
            }
        }
        Ok(())
    }

    fn address(&mut self) -> Result<bool, Refusal> {
        match self.peek() {
            Some('0'..='9') => {
                self.skip(|character| character.is_ascii_digit());
                if self.peek() == Some('~') {
                    self.at += 1;
                    self.skip(|character| character.is_ascii_digit());
                }
            }
            Some('$') => self.at += 1,
            Some('/') => {
                self.at += 1;
                self.regex('/')?;
                self.skip(|character| matches!(character, 'I' | 'M'));
            }
            Some('\\') => {
                self.at += 1;
                let delimiter = self.delimiter()?;
                self.regex(delimiter)?;
                self.skip(|character| matches!(character, 'I' | 'M'));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn command(&mut self, start: usize) -> Result<(), Refusal> {
        let Some(command) = self.peek() else {
            return Err(self.unclear(&self.script[start..], "is an address without a command"));
        };
        self.at += command.len_utf8();
        match command {
            '#' => {
                self.skip(|character| character != '\n');
                Ok(())
            }
            '{' => {
                self.depth += 1;
                Ok(())
            }
            '}' => {
                let Some(depth) = self.depth.checked_sub(1) else {
                    return Err(self.unclear("}", "closes nothing"));
                };
                self.depth = depth;
                self.end_of_command()
            }
            '=' | 'd' | 'D' | 'F' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' => {
                self.end_of_command()
            }
            'l' | 'L' | 'q' | 'Q' => {
                self.skip(|character| character == ' ');
                self.skip(|character| character.is_ascii_digit());
                self.end_of_command()
            }
            ':' | 'b' | 't' | 'T' => {
                self.skip(|character| matches!(character, ' ' | '\t'));
                self.skip(|character| character.is_alphanumeric() || "_.-".contains(character));
                self.end_of_command()
            }
            'a' | 'i' | 'c' => {
                self.text();
                Ok(())
            }
            's' => self.substitute(),
            'y' => {
                let delimiter = self.delimiter()?;
                self.until(delimiter)?;
                self.until(delimiter)?;
                self.end_of_command()
            }
            // What follows a version after a blank is the next command to `sed`.
            'v' => {
                self.skip(|character| matches!(character, ' ' | '\t'));
                self.skip(|character| character.is_ascii_digit() || character == '.');
                self.end_of_command()
            }
            'e' => Err(self.refused("e", "would run a program", start)),
            'r' | 'R' => Err(self
                .refused(&command.to_string(), "reads another file", start)
                .advice("Name the file as an operand of a command of its own")),
            'w' | 'W' => Err(self.refused(
                &command.to_string(),
                "writes a file, and nothing can be written here",
                start,
            )),
            other => Err(self.unclear(&other.to_string(), "is not a command of `sed`")),
        }
    }

    /// Reads the text of `a`, `i`, `c`: up to a line end without a backslash before it.
    fn text(&mut self) {
        let mut escaped = false;
        while let Some(character) = self.peek() {
            self.at += character.len_utf8();
            match character {
                '\n' if !escaped => return,
                '\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
    }

    fn substitute(&mut self) -> Result<(), Refusal> {
        let start = self.at - 1;
        let delimiter = self.delimiter()?;
        self.regex(delimiter)?;
        self.until(delimiter)?;
        while let Some(flag) = self.peek() {
            match flag {
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => self.at += 1,
                'e' => return Err(self.refused("e", "would run the result as a program", start)),
                'w' => {
                    return Err(self.refused(
                        "w",
                        "writes a file, and nothing can be written here",
                        start,
                    ));
                }
                _ => break,
            }
        }
        self.end_of_command()
    }

    fn delimiter(&mut self) -> Result<char, Refusal> {
        match self.peek() {
            Some(character) if character.is_ascii() && !matches!(character, '\n' | '\\') => {
                self.at += 1;
                Ok(character)
            }
            _ => Err(self.unclear(self.script, "has a delimiter that is not read here")),
        }
    }

    /// Skips a regular expression; in brackets the delimiter is an ordinary character.
    fn regex(&mut self, delimiter: char) -> Result<(), Refusal> {
        let mut bracket: Option<usize> = None;
        while let Some(character) = self.peek() {
            self.at += character.len_utf8();
            if let Some(start) = bracket {
                // `]` is literal directly after `[` or `[^`; `[:alpha:]` has one of its own.
                let inside = &self.script[start..self.at - character.len_utf8()];
                if character == '[' && self.script[self.at..].starts_with([':', '.', '=']) {
                    let kind = &self.script[self.at..=self.at];
                    let end = format!("{kind}]");
                    if let Some(length) = self.script[self.at + 1..].find(&end) {
                        let name = &self.script[self.at + 1..self.at + 1 + length];
                        self.doubtful |= name.contains(delimiter);
                        self.at += 1 + length + 2;
                    }
                } else if character == ']' && !matches!(inside, "" | "^") {
                    bracket = None;
                } else if character == '\n' {
                    break;
                } else if character == delimiter {
                    self.doubtful = true;
                }
                continue;
            }
            match character {
                '\\' => self.at += self.peek().map_or(0, char::len_utf8),
                '\n' => break,
                '[' if delimiter != '[' && self.brackets => bracket = Some(self.at),
                other if other == delimiter => return Ok(()),
                _ => {}
            }
        }
        Err(self.unclear(self.script, "has a pattern that does not end"))
    }

    /// Skips to the delimiter, over what is escaped.
    fn until(&mut self, delimiter: char) -> Result<(), Refusal> {
        while let Some(character) = self.peek() {
            self.at += character.len_utf8();
            match character {
                '\\' => self.at += self.peek().map_or(0, char::len_utf8),
                other if other == delimiter => return Ok(()),
                _ => {}
            }
        }
        Err(self.unclear(self.script, "has a replacement that does not end"))
    }

    fn end_of_command(&mut self) -> Result<(), Refusal> {
        self.skip(|character| matches!(character, ' ' | '\t'));
        match self.peek() {
            None | Some('}' | '#') => Ok(()),
            Some(';' | '\n') => {
                self.at += 1;
                Ok(())
            }
            Some(other) => Err(self.unclear(&other.to_string(), "follows a complete command")),
        }
    }

    fn refused(&mut self, command: &str, effect: &str, start: usize) -> Refusal {
        self.harmful = true;
        let shown = self.script[start..].lines().next().unwrap_or(command);
        Refusal::new(shown, format!("uses `{command}` of `sed`, which {effect}")).advice(
            "Print lines with `sed -n '1,5p' FILE` or show a change with `sed 's/a/b/' FILE`",
        )
    }

    fn unclear(&self, word: &str, problem: &str) -> Refusal {
        Refusal::new(word, format!("{problem}, in the `sed` script `{}`", self.script))
            .form("sed -n '1,5p' FILE")
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        while let Some(character) = self.peek().filter(|character| skipped(*character)) {
            self.at += character.len_utf8();
        }
    }

    fn peek(&self) -> Option<char> {
        self.script[self.at..].chars().next()
    }
}

#[cfg(test)]
mod tests {
    #[track_caller]
    fn check(script: &str, expected: Result<(), &str>) {
        match (super::check(script), expected) {
            (Ok(()), Ok(())) => {}
            (Err(refusal), Err(says)) if refusal.for_human().contains(says) => {}
            (result, _) => panic!("{script:?}: {result:?}"),
        }
    }

    #[test]
    fn scripts_that_print_are_allowed() {
        for script in [
            "p",
            "5q",
            "$=",
            "1,5p",
            "10,$p",
            "1~2p",
            "2,+3p",
            "2,~4p",
            "0,/x/p",
            "/a/,/b/p",
            "/a/I,$d",
            "\\,a/b,p",
            "1!p",
            "1 ! { p ; n }",
            "/a/{=;p}",
            "{p;{p}}",
            "s/a/b/",
            "s/a/b/gp2",
            "s|a\\|b|c|I",
            "s/a\\/b/c/",
            "s/[/]/x/g",
            "s/[/.]/_/g;p",
            "s,[^,]*,,;s/[^/]*$//",
            "/^[^/]*$/p",
            "s/[^/]*$//",
            "s/[]/]x/y/",
            "s/[[:alpha:]/]*/x/",
            "s,a,w e r,",
            "s/x/\\n/;P;D",
            "y/abc/xyz/",
            "y/a\\/b/xyz/",
            ":a;N;$!ba;s/\\n/ /g",
            ":a\ns/x/y/;ta",
            "$!{h;d}",
            "x;G;1!h",
            "a text with ; w and } in it",
            "a\\\n  line\\\n  w more\np",
            "1i\\\nheader",
            "$!N;l 5",
            "#n\np",
            "p # w x\np",
            "z;F",
            "v;p",
            "v 4.2\np",
            "/x/c\\new",
            "q5",
            "Q",
            "\\nanp",
            "s/a/b/;s/c/d/;",
            "   p  ;  p ",
            "/\\/w/p",
            "s/./&/m",
            "1,3{/x/!s/a/b/}",
        ] {
            check(script, Ok(()));
        }
    }

    #[test]
    fn scripts_that_do_more_are_refused() {
        for (script, says) in [
            ("w x", "writes"),
            ("1w x", "writes"),
            ("/a/w x", "writes"),
            ("/a/,/b/w x", "writes"),
            ("$!W x", "writes"),
            ("{p;w x\n}", "writes"),
            ("p;w x", "writes"),
            ("p\nw x", "writes"),
            ("s/a/b/w x", "writes"),
            ("s/a/b/gw x", "writes"),
            ("s/a/b/ ; w x", "writes"),
            ("s/[/]/x/;w x", "writes"),
            ("s/[]]/x/;w x", "writes"),
            ("s/[^]]/x/;w x", "writes"),
            ("s/\\[/x/;w x", "writes"),
            ("s/[[:alpha:]]/x/;w x", "writes"),
            ("s/[\\]/x/;w x", "writes"),
            ("sxaxbxw x", "writes"),
            ("s;a;b;w x", "writes"),
            ("y/a/b/;w x", "writes"),
            ("v 4.2 w x", "follows a complete command"),
            ("v w x", "follows a complete command"),
            ("v;w x", "writes"),
            (":a;w x", "writes"),
            ("ba;w x", "writes"),
            ("a text\nw x", "writes"),
            ("a\\\ntext\nw x", "writes"),
            ("# x\nw x", "writes"),
            ("e", "run"),
            ("e ls", "run"),
            ("1e ls", "run"),
            ("s/a/b/e", "run"),
            ("s/a/b/ge", "run"),
            ("s/a/b/2pe", "run"),
            ("r x", "reads"),
            ("R x", "reads"),
            ("$r x", "reads"),
            ("5,6r x", "reads"),
            ("k", "not a command"),
            ("{p", "is not closed"),
            ("}", "closes nothing"),
            ("1", "without a command"),
            ("s/a/b", "does not end"),
            ("s/a", "does not end"),
            ("/a", "does not end"),
            ("1,p", "address"),
            ("pp", "follows a complete command"),
            ("s/a/b/x", "follows a complete command"),
            ("sé", "delimiter"),
            ("y/a/b/g", "follows a complete command"),
            ("s", "delimiter"),
            // Where brackets do not hide a delimiter, these write and run.
            ("s/[/]a/w out/", "writes"),
            ("s/[/x/w out]/y/", "writes"),
            ("s/[/]a/e/", "run"),
            ("s,[,]a,w out,", "writes"),
            ("/[/w out]/p", "writes"),
            ("s/[[.x/y/w out.]]/y/", "writes"),
            ("\\", "delimiter"),
        ] {
            check(script, Err(says));
        }
    }
}

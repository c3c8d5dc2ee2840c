//! Our own reading of a line into words and operators.
//!
//! It knows far less than a shell, on purpose: what it does not know it refuses, so for a line that
//! it accepts, bash would make the same words (a test compares them). It expands nothing; a word
//! keeps what was quoted, so that the next floor can tell `*.rs` from `'*.rs'`.

mod characters;
mod expansions;

use std::ops::Range;

pub(super) use characters::is_invisible;
use expansions::{
    Quotes, backtick, check_braces, check_descriptor, check_dollar, check_tilde, parenthesis,
};

use super::refusal::Refusal;
use super::repair::Repair;

/// A word: pieces that were quoted or not, glued together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Where it stands in the line.
    pub(super) span: Range<usize>,
    /// Its pieces, in order.
    pub(super) pieces: Vec<Piece>,
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// The text, quotes and backslashes removed.
    pub(super) text: String,
    /// Whether it stood in quotes or after a backslash.
    pub(super) quoted: bool,
}

impl Word {
    /// Returns the word with its quotes removed.
    pub(super) fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// Returns the text if nothing in it was quoted.
    pub(super) fn bare(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [Piece { text, quoted: false }] => Some(text),
            _ => None,
        }
    }

    /// Returns whether an unquoted character of the set stands in it.
    pub(super) fn has_bare(&self, set: &[char]) -> bool {
        self.pieces.iter().any(|piece| !piece.quoted && piece.text.contains(set))
    }
}

/// What a line is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word.
    Word(Word),
    /// An operator.
    Operator(Operator, Range<usize>),
    /// A redirect, up to its target, which is the next word.
    Redirect(RedirectOperator, Range<usize>),
}

/// What joins commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `|`
    Pipe,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;`
    Semicolon,
    /// A line break.
    Newline,
}

/// What moves a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedirectOperator {
    /// `<`
    Input,
    /// `>` or `>>`: the output.
    Output,
    /// `2>` or `2>>`: the messages.
    Messages,
    /// `&>` or `&>>`: both.
    Both,
    /// `2>&1`, whole.
    MessagesToOutput,
    /// `>&2` or `1>&2`, whole.
    OutputToMessages,
}

/// Reads a line.
pub(super) fn lex(line: &str) -> Result<Vec<Token>, Refusal> {
    characters::check(line)?;
    Lexer { line, at: 0, tokens: Vec::new() }.run()
}

struct Lexer<'a> {
    line: &'a str,
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn run(mut self) -> Result<Vec<Token>, Refusal> {
        loop {
            self.skip_continuations();
            let start = self.at;
            let Some(character) = self.peek() else { return Ok(self.tokens) };
            match character {
                ' ' | '\t' => self.at += 1,
                '#' => {
                    let rest = &self.line[self.at..];
                    self.at += rest.find('\n').unwrap_or(rest.len());
                }
                '\n' => self.operator(Operator::Newline, start),
                ';' => self.semicolon(start)?,
                '&' => self.ampersand(start)?,
                '|' => self.pipe(start)?,
                '(' | ')' => return Err(parenthesis(character)),
                '<' | '>' => self.redirect(start, None)?,
                _ => self.word()?,
            }
        }
    }

    /// Ends the operator at `start` after one more character.
    fn operator(&mut self, operator: Operator, start: usize) {
        self.at += 1;
        self.tokens.push(Token::Operator(operator, start..self.at));
    }

    fn semicolon(&mut self, start: usize) -> Result<(), Refusal> {
        self.operator(Operator::Semicolon, start);
        self.skip_continuations();
        match self.peek() {
            Some(';') => Err(Refusal::new(";;", "belongs to `case`, and there is no shell here")
                .advice("Join commands with one `;`")),
            Some('&') => Err(Refusal::new(";&", "belongs to `case`, and there is no shell here")
                .advice("Join commands with one `;`")),
            _ => Ok(()),
        }
    }

    fn ampersand(&mut self, start: usize) -> Result<(), Refusal> {
        self.at += 1;
        self.skip_continuations();
        match self.peek() {
            Some('&') => {
                self.operator(Operator::And, start);
                Ok(())
            }
            Some('>') => {
                self.at += 1;
                self.skip_continuations();
                if self.peek() == Some('>') {
                    self.at += 1;
                }
                self.tokens.push(Token::Redirect(RedirectOperator::Both, start..self.at));
                Ok(())
            }
            _ => Err(Refusal::new(
                "&",
                "would start a command in the background, and every command here is waited for",
            )
            .advice(
                "Join commands with `;` or `&&`, and quote an `&` that belongs to a word: `'&'`",
            )
            .repair(Repair::Replace(start..self.at, ";".to_owned()))),
        }
    }

    fn pipe(&mut self, start: usize) -> Result<(), Refusal> {
        self.at += 1;
        self.skip_continuations();
        match self.peek() {
            Some('|') => self.operator(Operator::Or, start),
            Some('&') => {
                return Err(Refusal::new("|&", "is not read here")
                    .advice("Write `2>&1 |`, which means the same")
                    .repair(Repair::Replace(start..self.at + 1, "2>&1 |".to_owned())));
            }
            _ => self.tokens.push(Token::Operator(Operator::Pipe, start..self.at)),
        }
        Ok(())
    }

    /// Reads a redirect; `number` is what was written directly before it.
    fn redirect(&mut self, start: usize, number: Option<&str>) -> Result<(), Refusal> {
        let input = self.peek() == Some('<');
        self.at += 1;
        self.skip_continuations();
        if input {
            return self.input(start, number);
        }
        let descriptor = match number {
            None | Some("1") => RedirectOperator::Output,
            Some("2") => RedirectOperator::Messages,
            Some(other) => {
                return Err(Refusal::new(
                    format!("{other}>"),
                    "moves a stream other than the output and the messages",
                )
                .advice("Only `>/dev/null`, `2>/dev/null`, `2>&1` and `1>&2` are allowed"));
            }
        };
        match self.peek() {
            Some('&') => self.duplicate(start, descriptor),
            Some('(') => Err(Refusal::new(">(", "would run a command, and there is no shell here")
                .advice("Send the output on with a pipe: `… | command`")),
            Some('|') => Err(Refusal::new(">|", "writes a file, and nothing can be written here")
                .advice("Leave it out: the output is shown to you")),
            Some('>') => {
                self.at += 1;
                self.tokens.push(Token::Redirect(descriptor, start..self.at));
                Ok(())
            }
            _ => {
                self.tokens.push(Token::Redirect(descriptor, start..self.at));
                Ok(())
            }
        }
    }

    fn input(&mut self, start: usize, number: Option<&str>) -> Result<(), Refusal> {
        let refusal = match self.peek() {
            Some('<') => {
                Refusal::new("<<", "gives a command text of the line, and there is no shell here")
                    .advice("Use `printf '%s\\n' 'text' | command`, or name a file with `< file`")
            }
            Some('(') => Refusal::new("<(", "would run a command, and there is no shell here")
                .advice("Run the inner command by itself, or join both with a pipe"),
            Some('>') => {
                Refusal::new("<>", "opens a file for writing, and nothing is written here")
                    .form("< file")
            }
            Some('&') => Refusal::new("<&", "moves a stream of a shell, and there is none here")
                .form("< file"),
            _ if number.is_some_and(|number| number != "0") => {
                Refusal::new("<", "gives a file to a stream other than the input").form("< file")
            }
            _ => {
                self.tokens.push(Token::Redirect(RedirectOperator::Input, start..self.at));
                return Ok(());
            }
        };
        Err(refusal)
    }

    /// Reads what follows `>&`: only the other of the two streams.
    fn duplicate(&mut self, start: usize, from: RedirectOperator) -> Result<(), Refusal> {
        self.at += 1;
        let rest = &self.line[self.at..];
        let end = rest.find([' ', '\t', '\n', ';', '|', '&', '<', '>', '(', ')']);
        let target = &rest[..end.unwrap_or(rest.len())];
        let operator = match (from, target) {
            (RedirectOperator::Messages, "1") => RedirectOperator::MessagesToOutput,
            (RedirectOperator::Output, "2") => RedirectOperator::OutputToMessages,
            _ => {
                return Err(Refusal::new(
                    format!("{}{target}", &self.line[start..self.at]),
                    "is not one of the redirects that are allowed",
                )
                .advice("Only `>/dev/null`, `2>/dev/null`, `2>&1` and `1>&2` are allowed"));
            }
        };
        self.at += target.len();
        self.tokens.push(Token::Redirect(operator, start..self.at));
        Ok(())
    }

    fn word(&mut self) -> Result<(), Refusal> {
        let start = self.at;
        let mut word = Word { span: start..start, pieces: Vec::new() };
        loop {
            self.skip_continuations();
            let Some(character) = self.peek() else { break };
            match character {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')' => break,
                '<' | '>' => {
                    let number = word.bare().filter(|text| is_number(text)).map(str::to_owned);
                    if let Some(number) = number {
                        return self.redirect(start, Some(&number));
                    }
                    check_descriptor(&word, &self.line[start..self.at])?;
                    break;
                }
                '\'' => self.single_quotes(&mut word)?,
                '"' => self.double_quotes(&mut word)?,
                '\\' => self.backslash(&mut word)?,
                '`' => return Err(backtick()),
                '$' => self.dollar(&mut word)?,
                other => {
                    push(&mut word, other, false);
                    self.at += other.len_utf8();
                }
            }
        }
        word.span.end = self.at;
        if self.peek() == Some('(') {
            return Err(Refusal::new(
                format!("{}(", &self.line[word.span]),
                "looks like a function or a pattern of a shell, and there is no shell here",
            )
            .advice("Put a word that holds parentheses in single quotes"));
        }
        check_braces(&word, &self.line[word.span.clone()])?;
        check_tilde(&word, &self.line[word.span.clone()])?;
        self.tokens.push(Token::Word(word));
        Ok(())
    }

    fn single_quotes(&mut self, word: &mut Word) -> Result<(), Refusal> {
        let rest = &self.line[self.at + 1..];
        let Some(end) = rest.find('\'') else { return Err(unclosed('\'')) };
        push_all(word, &rest[..end]);
        self.at += end + 2;
        Ok(())
    }

    fn double_quotes(&mut self, word: &mut Word) -> Result<(), Refusal> {
        self.at += 1;
        push_all(word, "");
        loop {
            let Some(character) = self.peek() else { return Err(unclosed('"')) };
            self.at += character.len_utf8();
            match character {
                '"' => return Ok(()),
                '`' => return Err(backtick()),
                '$' => {
                    check_dollar(&self.line[self.at..], Quotes::Double)?;
                    push(word, '$', true);
                }
                '\\' => match self.peek() {
                    Some('\n') => self.at += 1,
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => {
                        push(word, escaped, true);
                        self.at += 1;
                    }
                    _ => push(word, '\\', true),
                },
                other => push(word, other, true),
            }
        }
    }

    fn backslash(&mut self, word: &mut Word) -> Result<(), Refusal> {
        self.at += 1;
        let Some(character) = self.peek() else {
            return Err(Refusal::new("\\", "stands at the end of the line and escapes nothing")
                .advice("Put a backslash that is meant literally in single quotes: `'\\'`"));
        };
        push(word, character, true);
        self.at += character.len_utf8();
        Ok(())
    }

    fn dollar(&mut self, word: &mut Word) -> Result<(), Refusal> {
        self.at += 1;
        check_dollar(&self.line[self.at..], Quotes::None)?;
        push(word, '$', true);
        Ok(())
    }

    fn skip_continuations(&mut self) {
        while self.line[self.at..].starts_with("\\\n") {
            self.at += 2;
        }
    }

    fn peek(&self) -> Option<char> {
        self.line[self.at..].chars().next()
    }
}

fn push(word: &mut Word, character: char, quoted: bool) {
    match word.pieces.last_mut() {
        Some(piece) if piece.quoted == quoted => piece.text.push(character),
        _ => word.pieces.push(Piece { text: character.to_string(), quoted }),
    }
}

fn push_all(word: &mut Word, text: &str) {
    match word.pieces.last_mut() {
        Some(piece) if piece.quoted => piece.text.push_str(text),
        _ => word.pieces.push(Piece { text: text.to_owned(), quoted: true }),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn unclosed(quote: char) -> Refusal {
    Refusal::new(quote.to_string(), "opens a quotation that nothing closes")
        .advice("Close it, and write a quote inside a word as `\"'\"` or `'\"'`")
}

#[cfg(test)]
mod bash;
#[cfg(test)]
mod tests;

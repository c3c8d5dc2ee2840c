//! Our own reading of a line into words and operators.
//!
//! It knows far less than a shell, on purpose: what it does not know it refuses, so for a line that
//! it accepts, bash would make the same words (a test compares them). It expands nothing; a word
//! keeps what was quoted, so that the next floor can tell `*.rs` from `'*.rs'`.

use std::ops::Range;

use super::refusal::{Refusal, Repair};

/// The longest line that is read.
pub(super) const MOST_CHARACTERS: usize = 8_000;

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
    check_characters(line)?;
    Lexer { line, at: 0, tokens: Vec::new() }.run()
}

/// Returns whether a character cannot be seen, so that a line could hold what nobody reads.
pub(super) fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || (character.is_whitespace() && !matches!(character, ' ' | '\t' | '\n'))
}

/// Refuses a line that is too long or holds characters that nobody sees.
fn check_characters(line: &str) -> Result<(), Refusal> {
    let count = line.chars().count();
    if count > MOST_CHARACTERS {
        return Err(Refusal::new(
            line.chars().take(40).collect::<String>() + "…",
            format!("is {count} characters long, and a line may have {MOST_CHARACTERS}"),
        )
        .advice("Send it as several shorter commands"));
    }
    for character in line.chars() {
        if matches!(character, ' ' | '\t' | '\n') {
            continue;
        }
        if character.is_control() || is_invisible(character) {
            return Err(Refusal::new(
                character.to_string(),
                "is a control character or cannot be seen, and a line may only hold what can be \
                 read",
            )
            .advice("Leave the character out, or match it with `grep -P '\\x{…}'`"));
        }
    }
    Ok(())
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
                    self.check_dollar(Quotes::Double)?;
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
        self.check_dollar(Quotes::None)?;
        push(word, '$', true);
        Ok(())
    }

    /// Refuses what a shell would replace; a `$` before anything else is only a `$`.
    fn check_dollar(&self, quotes: Quotes) -> Result<(), Refusal> {
        let rest = &self.line[self.at..];
        let Some(next) = rest.chars().next() else { return Ok(()) };
        let refusal = match next {
            '(' => Refusal::new("$(", "would run a command inside the line").advice(
                "Run the inner command first and use what it prints, or join the two with a pipe: \
                 `inner | xargs outer`",
            ),
            '{'
            | '['
            | '@'
            | '*'
            | '#'
            | '?'
            | '$'
            | '!'
            | '-'
            | '_'
            | '0'..='9'
            | 'a'..='z'
            | 'A'..='Z' => {
                let name: String = rest
                    .chars()
                    .take_while(|character| character.is_alphanumeric() || *character == '_')
                    .collect();
                let name = if name.is_empty() { next.to_string() } else { name };
                Refusal::new(
                    format!("${name}"),
                    "is a variable of a shell, and there is no shell and no variable here",
                )
                .advice(
                    "Write the value itself, and put a `$` that is meant literally in single \
                     quotes: `'$name'`",
                )
            }
            '\'' | '"' if quotes == Quotes::None => {
                Refusal::new(format!("${next}"), "is a way of quoting that is not read here")
                    .advice("Use plain single quotes: `'text'`")
            }
            '\\' if rest.starts_with("\\\n") => Refusal::new("$", "stands before a continued line")
                .advice("Put a `$` that is meant literally in single quotes: `'$'`"),
            _ => return Ok(()),
        };
        Err(refusal)
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
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

/// Refuses `{a,b}` and `{1..3}`; `{}`, `HEAD@{1}` and `a{` stay as they are, as in bash.
fn check_braces(word: &Word, written: &str) -> Result<(), Refusal> {
    if !word.has_bare(&['{']) {
        return Ok(());
    }
    let bare: String = word
        .pieces
        .iter()
        .map(|piece| if piece.quoted { "\"" } else { piece.text.as_str() })
        .collect();
    let inside = bare.split_once('{').map_or("", |(_, rest)| rest);
    if inside.contains(',') || inside.contains("..") {
        return Err(Refusal::new(written, "has braces that a shell would expand").advice(
            "Write the words one by one, use a glob like `src/*.rs`, or put the word in single \
             quotes if the braces are meant literally",
        ));
    }
    Ok(())
}

/// Refuses the homes of others and the tildes that bash expands after `=` and `:`.
fn check_tilde(word: &Word, written: &str) -> Result<(), Refusal> {
    let Some(first) = word.pieces.first().filter(|piece| !piece.quoted) else { return Ok(()) };
    let refusal = Refusal::new(written, "has a `~` that stands for a folder of a shell").advice(
        "`~` and `~/path` are the workspace; every other path is relative to the current folder",
    );
    if let Some(rest) = first.text.strip_prefix('~') {
        let alone = rest.is_empty() && word.pieces.len() == 1;
        return if alone || rest.starts_with('/') { Ok(()) } else { Err(refusal) };
    }
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.starts_with(|character: char| character.is_ascii_digit())
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    if let Some((name, _)) = first.text.split_once('=')
        && is_name(name.strip_suffix('+').unwrap_or(name))
        && word.has_bare(&['~'])
    {
        return Err(refusal);
    }
    Ok(())
}

fn parenthesis(character: char) -> Refusal {
    Refusal::new(
        character.to_string(),
        "groups commands or makes a function in a shell, and there is no shell here",
    )
    .advice(
        "Join commands with `;`, `&&`, `||` or `|`, and quote parentheses that belong to a word: \
         `'('` or `\\(`",
    )
}

fn backtick() -> Refusal {
    Refusal::new("`…`", "would run a command inside the line").advice(
        "Run the inner command first and use what it prints, or join the two with a pipe: `inner \
         | xargs outer`; put a backtick that is meant literally in single quotes",
    )
}

fn unclosed(quote: char) -> Refusal {
    Refusal::new(quote.to_string(), "opens a quotation that nothing closes")
        .advice("Close it, and write a quote inside a word as `\"'\"` or `'\"'`")
}

#[cfg(test)]
mod bash;
#[cfg(test)]
mod tests;

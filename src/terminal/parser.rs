//! From words and operators to pipelines of simple commands: the whole grammar that there is.
//!
//! ```text
//! line      pipelines joined by `&&`, `||`, `;` or a line break
//! pipeline  commands joined by `|`
//! command   words and redirects, at least one word
//! ```
//!
//! Loops, conditions, functions, assignments are not in it; each is refused with what works.

use std::ops::Range;

use super::lexer::{Operator, RedirectOperator, Token, Word, lex};
use super::plan::When;
use super::refusal::Refusal;
use super::repair::Repair;

/// The most commands that a line may hold.
pub(super) const MOST_COMMANDS: usize = 64;

/// A pipeline and what its running hangs on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pipeline {
    /// When it runs.
    pub(super) when: When,
    /// Its commands, at least one.
    pub(super) commands: Vec<Command>,
}

/// A simple command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// Its words, at least one.
    pub(super) words: Vec<Word>,
    /// Its redirects, in order.
    pub(super) redirects: Vec<Redirect>,
}

/// A redirect with its target, where it has one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    /// What it moves.
    pub(super) operator: RedirectOperator,
    /// Where it stands in the line.
    pub(super) span: Range<usize>,
    /// The file that it names.
    pub(super) target: Option<Word>,
}

/// Reads a line into pipelines.
pub(super) fn parse(line: &str) -> Result<Vec<Pipeline>, Refusal> {
    // A loop is refused as a loop, whatever else it holds.
    let tokens = lex(line).map_err(|refusal| keyword_of(line).unwrap_or(refusal))?;
    let mut parser = Parser { line, tokens: tokens.into_iter().peekable() };
    let pipelines = parser.line()?;
    let commands: usize = pipelines.iter().map(|pipeline| pipeline.commands.len()).sum();
    if commands > MOST_COMMANDS {
        return Err(Refusal::new(
            line.chars().take(40).collect::<String>(),
            format!("begins a line of {commands} commands, and a line may have {MOST_COMMANDS}"),
        )
        .advice("Send it as several shorter lines"));
    }
    if pipelines.is_empty() {
        return Err(
            Refusal::new("", "holds no command").advice("Write a command, for example `ls -la`")
        );
    }
    Ok(pipelines)
}

struct Parser<'a> {
    line: &'a str,
    tokens: std::iter::Peekable<std::vec::IntoIter<Token>>,
}

impl Parser<'_> {
    fn line(&mut self) -> Result<Vec<Pipeline>, Refusal> {
        let mut pipelines = Vec::new();
        self.skip_newlines();
        let mut when = When::Always;
        while self.tokens.peek().is_some() {
            pipelines.push(Pipeline { when, commands: self.pipeline()? });
            when = match self.tokens.next() {
                None => break,
                Some(Token::Operator(operator, _)) => match operator {
                    Operator::And => self.joined(When::IfSucceeded, "&&")?,
                    Operator::Or => self.joined(When::IfFailed, "||")?,
                    Operator::Semicolon | Operator::Newline => {
                        self.skip_newlines();
                        When::Always
                    }
                    Operator::Pipe => return Err(misplaced("|")),
                },
                Some(Token::Word(word)) => return Err(misplaced(&self.line[word.span])),
                Some(Token::Redirect(_, span)) => return Err(misplaced(&self.line[span])),
            };
        }
        Ok(pipelines)
    }

    /// Asks for a command after `&&` or `||`.
    fn joined(&mut self, when: When, operator: &str) -> Result<When, Refusal> {
        self.skip_newlines();
        if self.tokens.peek().is_none() {
            return Err(unfinished(operator));
        }
        Ok(when)
    }

    fn pipeline(&mut self) -> Result<Vec<Command>, Refusal> {
        let mut commands = vec![self.command()?];
        while self.next_is_pipe() {
            self.tokens.next();
            self.skip_newlines();
            if self.tokens.peek().is_none() {
                return Err(unfinished("|"));
            }
            commands.push(self.command()?);
        }
        Ok(commands)
    }

    fn command(&mut self) -> Result<Command, Refusal> {
        let mut command = Command { words: Vec::new(), redirects: Vec::new() };
        loop {
            match self.tokens.peek() {
                Some(Token::Word(_)) => {
                    let Some(Token::Word(word)) = self.tokens.next() else { break };
                    if command.words.is_empty() {
                        check_first(&word, &self.line[word.span.clone()])?;
                    }
                    command.words.push(word);
                }
                Some(Token::Redirect(..)) => {
                    let Some(Token::Redirect(operator, span)) = self.tokens.next() else { break };
                    let target = self.target(operator, &span)?;
                    command.redirects.push(Redirect { operator, span, target });
                }
                Some(Token::Operator(..)) | None => break,
            }
        }
        if !command.words.is_empty() {
            return Ok(command);
        }
        if let Some(redirect) = command.redirects.first() {
            return Err(Refusal::new(
                &self.line[redirect.span.clone()],
                "is a redirect without a command",
            )
            .advice("Put a command before it, for example `cat < file`"));
        }
        match self.tokens.next() {
            Some(Token::Operator(_, span)) => Err(misplaced(&self.line[span])),
            _ => Err(unfinished("|")),
        }
    }

    fn target(
        &mut self,
        operator: RedirectOperator,
        span: &Range<usize>,
    ) -> Result<Option<Word>, Refusal> {
        match operator {
            RedirectOperator::MessagesToOutput | RedirectOperator::OutputToMessages => Ok(None),
            RedirectOperator::Input
            | RedirectOperator::Output
            | RedirectOperator::Messages
            | RedirectOperator::Both => match self.tokens.peek() {
                Some(Token::Word(_)) => {
                    let Some(Token::Word(word)) = self.tokens.next() else { return Ok(None) };
                    Ok(Some(word))
                }
                _ => Err(Refusal::new(&self.line[span.clone()], "names no file")
                    .advice("Only `>/dev/null`, `2>/dev/null`, `2>&1`, `1>&2` and `< file` work")),
            },
        }
    }

    fn next_is_pipe(&mut self) -> bool {
        matches!(self.tokens.peek(), Some(Token::Operator(Operator::Pipe, _)))
    }

    fn skip_newlines(&mut self) {
        while matches!(self.tokens.peek(), Some(Token::Operator(Operator::Newline, _))) {
            self.tokens.next();
        }
    }
}

/// Refuses what begins something that only a shell knows.
fn check_first(word: &Word, written: &str) -> Result<(), Refusal> {
    if word.pieces.iter().all(|piece| piece.quoted) {
        return Ok(());
    }
    let Some(bare) = word.pieces.first() else { return Ok(()) };
    if let Some((name, _)) = bare.text.split_once('=').filter(|_| !bare.quoted) {
        let name = name.strip_suffix('+').unwrap_or(name);
        let name = name.split_once('[').map_or(name, |(name, _)| name);
        let is_name = !name.is_empty()
            && !name.starts_with(|character: char| character.is_ascii_digit())
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
        if is_name {
            return Err(Refusal::new(
                written,
                "sets a variable, and there are no variables and no environment here",
            )
            .advice("Write the command alone, with the values in it")
            .repair(Repair::LeaveOut(word.text(), 0)));
        }
    }
    if let Some(bare) = word.bare() {
        check_keyword(bare)?;
    }
    // To a shell, `name[` begins the name of an element, up to a `]` behind any blanks.
    if word.has_bare(&['*', '?']) || (word.has_bare(&['[']) && bare.text != "[") {
        return Err(Refusal::new(written, "is a pattern where the name of a command is expected")
            .advice("Write the name of the command out"));
    }
    if !bare.quoted && bare.text.starts_with('~') {
        return Err(Refusal::new(written, "is a file, and no file is run, only listed commands")
            .advice("Write the name of a command, such as `cat` or `grep`"));
    }
    Ok(())
}

/// Returns the refusal of the first word, or of a later one that begins a loop or a condition.
fn keyword_of(line: &str) -> Option<Refusal> {
    let mut before = "";
    line.split_whitespace().find_map(|word| {
        let begins = before.is_empty()
            || before.ends_with([';', '|', '&'])
                && matches!(word, "for" | "while" | "until" | "if");
        before = word;
        begins.then(|| check_keyword(word).err()).flatten()
    })
}

/// Refuses a word that begins something in the language of a shell.
fn check_keyword(word: &str) -> Result<(), Refusal> {
    let advice = match word {
        "for" | "while" | "until" | "select" => {
            "Give a command several files with a glob, as in `wc -l src/*.rs`, or the results of a \
             search with `find … -exec command {} +` or `… | xargs command`"
        }
        "if" | "then" | "elif" | "else" | "fi" | "case" | "esac" | "[[" | "]]" => {
            "Join commands with `&&` and `||`, as in `test -f Cargo.toml && head Cargo.toml`"
        }
        "{" | "}" => "Write the commands without braces, joined with `;`, `&&` or `||`",
        "!" => "Use `||` for what shall run when the command fails",
        "do" | "done" | "in" => "Write each command out, or use a glob or `xargs`",
        "function" | "coproc" => "Write the commands out where they are needed",
        "time" => "Write the command without `time`; how long it took is told anyway",
        _ => return Ok(()),
    };
    let refusal = Refusal::new(word, "is a word of the shell language, and there is no shell here")
        .advice(advice);
    Err(if word == "time" { refusal.repair(Repair::LeaveOut(word.to_owned(), 0)) } else { refusal })
}

fn misplaced(operator: &str) -> Refusal {
    let operator = if operator == "\n" { "\\n" } else { operator };
    Refusal::new(operator, "stands where a command is expected")
        .advice("Put exactly one operator between two commands")
}

fn unfinished(operator: &str) -> Refusal {
    Refusal::new(operator, "is the end of the line, and a command must follow it")
        .advice("Write the command that follows, or leave the operator out")
}

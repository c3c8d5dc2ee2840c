//! The lines of front matter: which begin a key, which go on with its value, where a comment stands,
//! and which Git put there.
//!
//! Only as much of YAML is read as it takes to find them.

use std::ops::Range;

use super::{Header, KeyLines, MAX_FRONT_MATTER, Problem};

/// Which side of a conflict the lines belong to; that of the other branch is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// This branch, or both.
    Ours,
    /// The other branch, or the common ancestor.
    Theirs,
}

pub(super) struct Reader<'a, 'h> {
    pub(super) text: &'a str,
    pub(super) header: &'h mut Header,
    pub(super) number: usize,
    pub(super) side: Side,
}

impl Reader<'_, '_> {
    /// Reads keys until the closing line, whose range it returns.
    pub(super) fn read_keys(&mut self, start: usize) -> Result<Option<Range<usize>>, Problem> {
        let mut at = start;
        while at < self.text.len() {
            let range = line_at(self.text, at);
            self.number += 1;
            let line = &self.text[range.clone()];
            if matches!(line.trim_end(), "---" | "...") {
                return Ok(Some(range));
            }
            if range.end - start > MAX_FRONT_MATTER {
                if self.header.keys.is_empty() && key_of(line.trim_end()).is_none() {
                    return Ok(None);
                }
                let limit = MAX_FRONT_MATTER / 1024;
                return Err(Problem::new(
                    self.number,
                    format!("the front matter is longer than {limit} KiB"),
                ));
            }
            self.take(line, range.clone());
            at = range.end;
        }
        Ok(None)
    }

    fn take(&mut self, line: &str, range: Range<usize>) {
        if let Some(side) = conflict_marker(line) {
            self.header.conflict.get_or_insert(self.number);
            self.side = side;
            return;
        }
        if self.side == Side::Theirs {
            return;
        }
        let content = line.trim_end();
        if content.is_empty() || content.starts_with('#') {
            return;
        }
        if content.starts_with([' ', '\t']) || content == "-" || content.starts_with("- ") {
            match self.header.keys.last_mut() {
                Some(key) => key.lines.end = range.end,
                None => _ = self.header.odd.get_or_insert(self.number),
            }
            return;
        }
        match key_of(content) {
            Some((key, length)) => self.header.keys.push(KeyLines {
                key: key.to_owned(),
                value: range.start + length,
                lines: range,
                line: self.number,
                margin: None,
            }),
            // YAML does not mind where the lines of an open bracket or quote begin.
            None => match self.header.keys.last_mut().filter(|key| key.is_open(self.text)) {
                Some(key) => {
                    key.lines.end = range.end;
                    key.margin.get_or_insert(self.number);
                }
                None => _ = self.header.odd.get_or_insert(self.number),
            },
        }
    }
}

impl KeyLines {
    /// Returns whether the value begins with a bracket or a quote that its lines do not close.
    pub(super) fn is_open(&self, text: &str) -> bool {
        let value = text[self.value..self.lines.end].trim_start();
        value.starts_with(['[', '{', '"', '\'']) && end_of_enclosed(value).is_none()
    }
}

/// Returns the end of a value that begins with a bracket or a quote, if that is closed.
fn end_of_enclosed(value: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    let mut before = ' ';
    let mut characters = value.char_indices();
    while let Some((at, character)) = characters.next() {
        match (quote, character) {
            (Some('"'), '\\') => _ = characters.next(),
            (Some(open), _) if open == character => quote = None,
            // Within a word a quote begins nothing.
            (None, '"' | '\'') if !before.is_alphanumeric() => quote = Some(character),
            (None, '#') if before.is_whitespace() => {
                characters.by_ref().find(|(_, character)| *character == '\n');
            }
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (Some(_) | None, _) => {}
        }
        let is_doubled = character == '\'' && value[at + 1..].starts_with('\'');
        if depth == 0 && quote.is_none() && !is_doubled {
            return Some(at + character.len_utf8());
        }
        before = character;
    }
    None
}

/// Returns the side that a conflict marker begins.
fn conflict_marker(line: &str) -> Option<Side> {
    let line = line.trim_end();
    let is = |mark: &str| {
        line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    if is("<<<<<<<") || is(">>>>>>>") {
        Some(Side::Ours)
    } else if is("=======") || is("|||||||") {
        Some(Side::Theirs)
    } else {
        None
    }
}

/// Returns the key that a line begins with, and the length up to behind the colon.
fn key_of(line: &str) -> Option<(&str, usize)> {
    if let Some(quote) = line.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        let end = line[1..].find(quote)? + 1;
        let rest = &line[end + 1..];
        let colon = rest.len() - rest.trim_start().len();
        return rest[colon..].starts_with(':').then(|| (&line[1..end], end + 1 + colon + 1));
    }
    if line.starts_with(['[', '{', ']', '}', ',', '&', '*', '!', '|', '>', '%', '@', '`', '?']) {
        return None;
    }
    let colon = line
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| line[at + 1..].chars().next().is_none_or(char::is_whitespace))?;
    let key = line[..colon].trim_end();
    (!key.is_empty() && !key.contains(" #")).then_some((key, colon + 1))
}

/// Returns the comment behind a value, with the space before it.
pub(super) fn trailing_comment(line: &str) -> &str {
    let value = trimmed(line);
    let start = match value.chars().next() {
        // In quotes and brackets a `#` is no comment.
        Some('"' | '\'' | '[' | '{') => end_of_enclosed(value),
        _ => Some(0),
    };
    let comment = start.and_then(|start| Some(start + comment_at(&value[start..])?));
    comment.map_or("", |at| with_space(value, at))
}

/// Returns where a comment begins behind a plain text.
pub(in crate::notes) fn comment_at(text: &str) -> Option<usize> {
    let mut places = text.match_indices('#').map(|(at, _)| at);
    places.find(|at| text[..*at].ends_with([' ', '\t']))
}

/// Returns a value without the space around it, in YAML's sense: other spaces belong to the text.
pub(in crate::notes) fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

/// Returns what begins at `at`, with all the space before it.
fn with_space(line: &str, at: usize) -> &str {
    &line[line[..at].trim_end_matches([' ', '\t']).len()..]
}

/// Returns the line that starts at `start`, with its end.
pub(super) fn line_at(text: &str, start: usize) -> Range<usize> {
    let end = text[start..].find('\n').map_or(text.len(), |at| start + at + 1);
    start..end
}

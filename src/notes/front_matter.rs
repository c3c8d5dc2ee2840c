//! A note's file taken apart into its lines, and put together again with some of them changed.
//!
//! Nothing is rewritten that did not change: comments, unknown keys, their order, line ends, a byte
//! order mark and the body stay byte for byte. It knows keys and where their lines are; what a
//! value means is [`super::values`]' business.

mod lines;

use std::ops::Range;

use lines::{Reader, Side, line_at, trailing_comment};
pub(super) use lines::{comment_at, trimmed};

/// More front matter than this is refused: the YAML parsers take quadratic time on hostile nesting.
pub(super) const MAX_FRONT_MATTER: usize = 16 * 1024;

/// A file's text and where its parts are.
#[derive(Debug, Clone)]
pub(super) struct NoteText<'a> {
    text: &'a str,
    header: Option<Header>,
    /// Where the body starts: behind the line that closes the front matter, or behind the mark.
    body: usize,
    /// The line end of the file.
    line_end: &'static str,
}

#[derive(Debug, Clone)]
struct Header {
    /// What is between the two `---` lines.
    inside: Range<usize>,
    keys: Vec<KeyLines>,
    conflict: Option<usize>,
    odd: Option<usize>,
}

/// A key of the front matter and the lines that hold its value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KeyLines {
    key: String,
    /// The lines, with their ends.
    lines: Range<usize>,
    /// Behind the colon.
    value: usize,
    line: usize,
    /// The first line that only an open bracket or quote makes a part of the value.
    margin: Option<usize>,
}

/// What is wrong with a file, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub(super) struct Problem {
    /// The line, from 1.
    pub(super) line: usize,
    /// What is wrong with it.
    pub(super) message: String,
}

impl Problem {
    /// Returns a problem of a line.
    pub(super) fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

/// The value of a key as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RawValue<'a> {
    /// What stands behind the colon in the key's own line.
    pub(super) inline: &'a str,
    /// All lines of the key, the key included.
    pub(super) lines: &'a str,
    /// All that stands behind the colon.
    pub(super) whole: &'a str,
    /// The whole front matter, in which an anchor may stand that the value refers to.
    pub(super) header: &'a str,
    /// The number of the key's line in the file.
    pub(super) line: usize,
}

impl RawValue<'_> {
    /// Returns whether the value is on the key's line alone.
    pub(super) fn is_one_line(&self) -> bool {
        self.lines.trim_end().lines().nth(1).is_none()
    }
}

impl<'a> NoteText<'a> {
    /// Takes a file apart.
    pub(super) fn parse(text: &'a str) -> Result<Self, Problem> {
        let start = text.len() - text.trim_start_matches(BYTE_ORDER_MARK).len();
        let mut opening = line_at(text, start);
        let line_end = if text[opening.clone()].ends_with("\r\n") { "\r\n" } else { "\n" };
        let without = Self { text, header: None, body: start, line_end };
        // Somebody may have left empty lines above it.
        let mut number = 1;
        while !opening.is_empty() && text[opening.clone()].trim().is_empty() {
            opening = line_at(text, opening.end);
            number += 1;
        }
        if text[opening.clone()].trim_end() != FENCE {
            return Ok(without);
        }
        let mut header = Header {
            inside: opening.end..opening.end,
            keys: Vec::new(),
            conflict: None,
            odd: None,
        };
        let is_below = number > 1;
        let mut reader = Reader { text, header: &mut header, number, side: Side::Ours };
        let closing = reader.read_keys(opening.end);
        // A page may begin with a rule, and below an empty line it more often does.
        let is_page = is_below && !header.has_any_of(&["id", "title", "type", "tags"]);
        let closing = match closing {
            Ok(None) if header.keys.is_empty() || is_below => return Ok(without),
            _ if is_page => return Ok(without),
            Ok(None) => return Err(Problem::new(1, "the front matter has no closing `---`")),
            Ok(Some(closing)) => closing,
            Err(problem) => return Err(problem),
        };
        header.inside.end = closing.start;
        let mut unclosed =
            header.keys.iter().filter(|key| key.margin.is_some() && key.is_open(text));
        header.odd = header.odd.or(unclosed.find_map(|key| key.margin));
        Ok(Self { text, header: Some(header), body: closing.end, line_end })
    }

    /// Returns whether there is any front matter.
    pub(super) fn has_front_matter(&self) -> bool {
        self.header.is_some()
    }

    /// Returns the keys in their order, as often as they are there.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&str, usize)> {
        self.keys_with_lines().iter().map(|key| (key.key.as_str(), key.line))
    }

    /// Returns the value of a key; of several with one name the last, as most readers do.
    pub(super) fn value(&self, key: &str) -> Option<RawValue<'a>> {
        let found = self.keys_with_lines().iter().rev().find(|lines| lines.key == key)?;
        let line_end = line_at(self.text, found.lines.start).end;
        let inside = self.header.as_ref().map_or(0..0, |header| header.inside.clone());
        Some(RawValue {
            inline: trimmed(&self.text[found.value..line_end]),
            lines: &self.text[found.lines.clone()],
            whole: trimmed(&self.text[found.value..found.lines.end]),
            header: &self.text[inside],
            line: found.line,
        })
    }

    /// Returns the line of the first conflict marker in the front matter.
    pub(super) fn conflict(&self) -> Option<usize> {
        self.header.as_ref()?.conflict
    }

    /// Returns the first line of the front matter that is neither a key, nor its value, nor a
    /// comment.
    pub(super) fn odd_line(&self) -> Option<usize> {
        self.header.as_ref()?.odd
    }

    /// Returns the body: without the empty line before it and the line end after it, else byte for
    /// byte.
    pub(super) fn body(&self) -> &'a str {
        &self.text[self.body_range()]
    }

    /// Returns the line end that the file uses.
    pub(super) fn line_end(&self) -> &'static str {
        self.line_end
    }

    /// Returns the file with some keys set, or removed where the value is none; every value is one
    /// line, or lines that begin with a line end. `order` tells where a new key belongs.
    pub(super) fn with_keys(&self, changes: &[(&str, Option<String>)], order: &[&str]) -> String {
        let Some(header) = &self.header else { return self.with_new_header(changes) };
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for (key, value) in changes {
            let mut places = header.keys.iter().rev().filter(|lines| lines.key == *key);
            match (places.next(), value) {
                (Some(lines), Some(value)) => edits.push(self.replaced_value(lines, value)),
                (Some(lines), None) => {
                    // Of a key that is there twice the other would count again.
                    let all = std::iter::once(lines).chain(places);
                    edits.extend(all.map(|lines| (lines.lines.clone(), String::new())));
                }
                (None, Some(value)) => {
                    let at = header.place_for(key, order);
                    edits.push((at..at, self.key_line(key, value)));
                }
                (None, None) => {}
            }
        }
        edits.sort_by_key(|(range, _)| range.start);
        self.with_edits(edits)
    }

    /// Returns a value for a key without its comment, where the key has one that stays.
    pub(super) fn without_second_comment(&self, key: &str, value: String) -> String {
        let has_comment =
            self.value(key).is_some_and(|old| !trailing_comment(old.inline).is_empty());
        let comment = if value.contains('\n') { "" } else { trailing_comment(&value) };
        match value.strip_suffix(comment) {
            Some(bare) if has_comment => bare.to_owned(),
            _ => value,
        }
    }

    /// Returns the file with the comments of another version that neither this one nor the one
    /// that both come from has, each before the key that it stands before there.
    pub(super) fn with_comments_of(&self, other: &Self, base: &Self) -> String {
        let Some(header) = &self.header else { return self.text.to_owned() };
        let (known, old): (Vec<_>, Vec<_>) = (self.comments().collect(), base.comments().collect());
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for (at, comment) in other.comments() {
            if known.iter().chain(&old).any(|(_, line)| *line == comment) {
                continue;
            }
            let next = other.keys_with_lines().iter().find(|key| key.lines.start > at);
            let place = next.and_then(|next| header.keys.iter().find(|key| key.key == next.key));
            let at = place.map_or(header.inside.end, |key| key.lines.start);
            edits.push((at..at, format!("{comment}{}", self.line_end)));
        }
        edits.sort_by_key(|(range, _)| range.start);
        self.with_edits(edits)
    }

    /// Returns the lines between the keys that are comments, and where they begin.
    fn comments(&self) -> impl Iterator<Item = (usize, &'a str)> {
        let inside = self.header.as_ref().map_or(0..0, |header| header.inside.clone());
        let mut at = inside.start;
        let lines = self.text[inside].split_inclusive('\n').map(move |line| {
            let start = at;
            at += line.len();
            (start, line.trim_end())
        });
        let values: Vec<_> = self.keys_with_lines().iter().map(|key| key.lines.clone()).collect();
        lines.filter(move |(start, line)| {
            line.starts_with('#') && !values.iter().any(|value| value.contains(start))
        })
    }

    /// Returns the file with another body, which has the line ends that it should have.
    pub(super) fn with_body(&self, body: &str) -> String {
        let range = self.body_range();
        let mut before = self.text[..range.start].to_owned();
        if self.header.is_some() {
            if !before.ends_with('\n') {
                before.push_str(self.line_end);
            }
            let has_gap = range.start > self.body;
            let starts_empty = body.starts_with('\n') || body.starts_with("\r\n");
            let is_first = self.text.len() == self.body && !body.is_empty();
            if !has_gap && (starts_empty || is_first) {
                before.push_str(self.line_end);
            }
        }
        let after = match &self.text[range.end..] {
            // Nothing has no line end; else each change to nothing and back would add a line.
            _ if body.is_empty() => "",
            "" if range.is_empty() || body.ends_with('\n') => self.line_end,
            after => after,
        };
        format!("{before}{body}{after}")
    }

    fn keys_with_lines(&self) -> &[KeyLines] {
        self.header.as_ref().map_or(&[], |header| &header.keys)
    }

    fn body_range(&self) -> Range<usize> {
        let mut range = self.body..self.text.len();
        if self.header.is_some() {
            let rest = &self.text[range.clone()];
            let gap = ["\n", "\r\n"].into_iter().find(|end| rest.starts_with(end));
            range.start += gap.map_or(0, str::len);
        }
        let rest = &self.text[range.clone()];
        let end = ["\r\n", "\n"].into_iter().find(|end| rest.ends_with(end));
        range.end -= end.map_or(0, str::len);
        range
    }

    fn replaced_value(&self, lines: &KeyLines, value: &str) -> (Range<usize>, String) {
        let first = line_at(self.text, lines.lines.start);
        let line = &self.text[lines.value..first.end];
        let comment = if trimmed(line).starts_with('#') {
            line.trim_end_matches(['\r', '\n'])
        } else if lines.lines.end == first.end {
            trailing_comment(line)
        } else {
            ""
        };
        let last = self.text[lines.lines.clone()].ends_with("\r\n");
        let end = if last { "\r\n" } else { "\n" };
        let value = value.replace('\n', end);
        let gap = if value.starts_with(['\r', '\n']) { "" } else { " " };
        (lines.value..lines.lines.end, format!("{gap}{value}{comment}{end}"))
    }

    fn key_line(&self, key: &str, value: &str) -> String {
        let gap = if value.starts_with('\n') { "" } else { " " };
        format!("{key}:{gap}{value}\n").replace('\n', self.line_end)
    }

    fn with_new_header(&self, changes: &[(&str, Option<String>)]) -> String {
        let mut header = format!("{FENCE}{}", self.line_end);
        for (key, value) in changes {
            if let Some(value) = value {
                header.push_str(&self.key_line(key, value));
            }
        }
        let end = self.line_end;
        let (mark, body) = self.text.split_at(self.body);
        format!("{mark}{header}{FENCE}{end}{end}{body}")
    }

    fn with_edits(&self, edits: Vec<(Range<usize>, String)>) -> String {
        let mut text = String::with_capacity(self.text.len() + 64);
        let mut done = 0;
        for (range, replacement) in edits {
            text.push_str(&self.text[done..range.start]);
            text.push_str(&replacement);
            done = range.end;
        }
        text.push_str(&self.text[done..]);
        text
    }
}

const BYTE_ORDER_MARK: char = '\u{feff}';

const FENCE: &str = "---";

impl Header {
    fn has_any_of(&self, keys: &[&str]) -> bool {
        self.keys.iter().any(|lines| keys.contains(&lines.key.as_str()))
    }

    /// Returns where a new key goes: behind the nearest of the keys that come before it.
    fn place_for(&self, key: &str, order: &[&str]) -> usize {
        let before = order.iter().position(|known| *known == key).map_or(order, |at| &order[..at]);
        let is_ordered = before.len() < order.len();
        let end_of = |name: &str| {
            self.keys.iter().rev().find(|lines| lines.key == name).map(|lines| lines.lines.end)
        };
        let behind = before.iter().rev().find_map(|name| end_of(name));
        match behind {
            Some(end) if is_ordered => end,
            None if is_ordered => self.inside.start,
            Some(_) | None => self.inside.end,
        }
    }
}

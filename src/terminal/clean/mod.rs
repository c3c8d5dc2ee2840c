//! Makes what a command printed safe to show to a person and to a model, as it comes.
//!
//! Escape sequences and control characters go, what is invisible becomes visible, overlong lines
//! are split, token-shaped secrets are taken out, and what talks to a model is marked. Nothing
//! else changes: a line of plain text leaves as it came. Of an unfinished line no more
//! than some eighty kibibytes are held.

mod addressed;
mod decode;
mod redact;
mod screen;
mod visible;

use std::borrow::Cow;

use addressed::Marker;
use decode::Decoder;
use redact::Redactor;
use unicode_width::UnicodeWidthChar;

/// The most cells of a line; a longer one goes on below, marked.
const WIDEST: usize = 2_000;

/// What begins the rest of a line that was split.
const CONTINUED: &str = "\n↪ ";

/// How many bytes of an unfinished line are held back.
const LONGEST_HELD: usize = 1 << 16;

/// How many bytes of whole lines are looked at as one.
const BLOCK: usize = 1 << 12;

/// How much of the text of an overlong line is kept back, so that nothing is cut in two: longer
/// than the longest token.
const OVERLAP: usize = 1 << 14;

/// Cleans one stream.
#[derive(Debug)]
pub(super) struct Cleaner {
    text: String,
    most: usize,
    held: Vec<u8>,
    pending: String,
    column: usize,
    decoder: Decoder,
    redactor: Option<Redactor>,
    marker: Marker,
}

/// A cleaned stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cleaned {
    /// The text.
    pub(super) text: String,
    /// The name of its encoding, when it is not UTF-8.
    pub(super) encoding: Option<&'static str>,
    /// How many secrets were taken out.
    pub(super) redacted: usize,
    /// How many passages that talk to a model were marked.
    pub(super) marked: usize,
}

impl Cleaner {
    /// Returns a cleaner that stops at about so many bytes of clean text.
    pub(super) fn new(most: u64, redact: bool) -> Self {
        Self {
            text: String::new(),
            most: usize::try_from(most).unwrap_or(usize::MAX),
            held: Vec::new(),
            pending: String::new(),
            column: 0,
            decoder: Decoder::default(),
            redactor: redact.then(Redactor::default),
            marker: Marker::default(),
        }
    }

    /// Takes more of the stream.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        match self.decoder.wide(bytes) {
            Some(text) => self.push_lines(text.as_bytes()),
            None => self.push_lines(bytes),
        }
    }

    /// Returns whether there is as much clean text as there may be.
    pub(super) fn is_full(&self) -> bool {
        self.text.len() > self.most
    }

    /// Returns the clean text.
    pub(super) fn finish(mut self) -> Cleaned {
        self.flush();
        let redacted = self.redactor.map_or(0, |redactor| redactor.count());
        let (encoding, marked) = (self.decoder.name(), self.marker.count());
        Cleaned { text: self.text, encoding, redacted, marked }
    }

    fn push_lines(&mut self, mut bytes: &[u8]) {
        if !self.held.is_empty() || !self.pending.is_empty() {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let (line, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.hold(line);
            if end.is_none() {
                return;
            }
            self.end_line(b"");
            bytes = &rest[1..];
        }
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        let (mut lines, rest) = bytes.split_at(whole);
        while !lines.is_empty() {
            let near = &lines[BLOCK.min(lines.len()) - 1..];
            let more = near.iter().position(|byte| *byte == b'\n').unwrap_or(near.len() - 1);
            let (block, others) = lines.split_at(lines.len() - near.len() + more + 1);
            match screen::plain(block) {
                Some(text) => self.push_plain(text),
                None => block.split_inclusive(|byte| *byte == b'\n').for_each(|line| {
                    self.end_line(line.strip_suffix(b"\n").unwrap_or(line));
                }),
            }
            lines = others;
        }
        self.hold(rest);
    }

    /// Takes whole lines without anything hidden: those that need no closer look together.
    fn push_plain(&mut self, text: &str) {
        let mut signs = screen::Signs::of(text);
        let mut start = 0;
        while start < text.len() {
            let end = if self.redactor.as_ref().is_some_and(Redactor::is_inside_key) {
                start
            } else {
                let sign = signs.first_from(start).unwrap_or(text.len());
                let before = text[start..sign].rfind('\n').map_or(0, |line_feed| line_feed + 1);
                // No character takes more cells than it has bytes.
                let mut fitting = 0;
                for line in text[start..start + before].split_inclusive('\n') {
                    if line.len() > WIDEST {
                        break;
                    }
                    fitting += line.len();
                }
                start + fitting
            };
            self.text.push_str(&text[start..end]);
            let Some(line) = text[end..].split_inclusive('\n').next() else { return };
            self.end_line(line.trim_end_matches('\n').as_bytes());
            start = end + line.len();
        }
    }

    /// Holds a part of a line back, and cleans what is too much to hold.
    fn hold(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
        while self.held.len() > LONGEST_HELD {
            let rest = self.held.split_off(piece(&self.held));
            let held = std::mem::replace(&mut self.held, rest);
            self.pending.push_str(&visible::visible(self.decoder.decode(&held)));
            let rest = self.pending.split_off(cut(&self.pending));
            let text = std::mem::replace(&mut self.pending, rest);
            self.clean(Cow::Owned(text));
        }
    }

    /// Cleans the rest of a line, without its line feed.
    fn end_line(&mut self, rest: &[u8]) {
        if self.held.is_empty() && self.pending.is_empty() {
            let text = visible::visible(self.decoder.decode(rest));
            let (redactor, marker) = (&mut self.redactor, &mut self.marker);
            clean(&mut self.text, &mut self.column, redactor, marker, text);
        } else {
            self.hold(rest);
            self.flush();
        }
        self.text.push('\n');
        self.column = 0;
    }

    /// Cleans everything that was held back.
    fn flush(&mut self) {
        let held = std::mem::take(&mut self.held);
        let mut pending = std::mem::take(&mut self.pending);
        pending.push_str(&visible::visible(self.decoder.decode(&held)));
        if !pending.is_empty() {
            self.clean(Cow::Owned(pending));
        }
    }

    /// Cleans a line, or a piece of one, in which nothing is hidden any more.
    fn clean(&mut self, text: Cow<'_, str>) {
        let (redactor, marker) = (&mut self.redactor, &mut self.marker);
        clean(&mut self.text, &mut self.column, redactor, marker, text);
    }
}

fn clean(
    clean: &mut String,
    column: &mut usize,
    redactor: &mut Option<Redactor>,
    marker: &mut Marker,
    text: Cow<'_, str>,
) {
    let text = match redactor {
        Some(redactor) => redactor.redact(text),
        None => text,
    };
    let text = marker.mark(text);
    if text.is_ascii() && *column + text.len() <= WIDEST {
        *column += text.len();
        clean.push_str(&text);
        return;
    }
    for character in text.chars() {
        let width = character.width().unwrap_or(1);
        if *column + width > WIDEST {
            clean.push_str(CONTINUED);
            *column = 2;
        }
        *column += width;
        clean.push(character);
    }
}

/// Returns where to end a piece of an overlong line: so far from its end that a secret that is not
/// all there begins behind it, and never inside one.
fn cut(text: &str) -> usize {
    let mut end = text.len().saturating_sub(OVERLAP);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let places: Vec<_> = redact::places(text).chain(addressed::places(text)).collect();
    while let Some(place) = places.iter().find(|place| place.start < end && end < place.end) {
        if place.start == 0 {
            // All of the text is one: it goes as it is.
            return place.end;
        }
        end = place.start;
    }
    end
}

/// Returns where to cut an overlong line of bytes: before an escape sequence that may not be all
/// there, else between characters.
fn piece(held: &[u8]) -> usize {
    const SEQUENCE: usize = 32;
    let near = &held[LONGEST_HELD - SEQUENCE..LONGEST_HELD];
    if let Some(escape) = near.iter().rposition(|byte| *byte == 0x1b) {
        return LONGEST_HELD - SEQUENCE + escape;
    }
    // A character of UTF-8 has at most three bytes that continue it.
    let continues = |index: &usize| held[*index] & 0b1100_0000 == 0b1000_0000;
    (LONGEST_HELD - 3..=LONGEST_HELD).rev().find(|index| !continues(index)).unwrap_or(LONGEST_HELD)
}

#[cfg(test)]
mod tests;

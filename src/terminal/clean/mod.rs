//! Makes what a command printed safe to show to a person and to a model, as it comes.
//!
//! Escape sequences and control characters go, what is invisible becomes visible, overlong lines
//! are split, token-shaped secrets are taken out, and what talks to a model is marked. Nothing
//! else changes: a line of plain text leaves as it came. At most one unfinished line is held
//! beside the clean text.

mod addressed;
mod decode;
mod redact;
mod visible;

use addressed::Marker;
use decode::Decoder;
use redact::Redactor;
use unicode_width::UnicodeWidthChar;

/// The most cells of a line; a longer one goes on below, marked.
const WIDEST: usize = 2_000;

/// What begins the rest of a line that was split.
const CONTINUED: &str = "\n↪ ";

/// How much of an unfinished line is held back.
const LONGEST_HELD: usize = 1 << 16;

/// Cleans one stream.
#[derive(Debug)]
pub(super) struct Cleaner {
    text: String,
    most: usize,
    held: Vec<u8>,
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
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            self.clean(&held);
        }
        let redacted = self.redactor.map_or(0, |redactor| redactor.count());
        let (encoding, marked) = (self.decoder.name(), self.marker.count());
        Cleaned { text: self.text, encoding, redacted, marked }
    }

    fn push_lines(&mut self, mut bytes: &[u8]) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes.split_at(end);
            if self.held.is_empty() {
                self.clean(line);
            } else {
                self.held.extend_from_slice(line);
                let held = std::mem::take(&mut self.held);
                self.clean(&held);
            }
            self.text.push('\n');
            self.column = 0;
            bytes = &rest[1..];
        }
        self.held.extend_from_slice(bytes);
        while self.held.len() > LONGEST_HELD {
            let rest = self.held.split_off(piece(&self.held));
            let held = std::mem::replace(&mut self.held, rest);
            self.clean(&held);
        }
    }

    /// Cleans a line, or a piece of one, without its line feed.
    fn clean(&mut self, bytes: &[u8]) {
        let text = self.decoder.decode(bytes);
        let text = visible::visible(text);
        let text = match &mut self.redactor {
            Some(redactor) => redactor.redact(text),
            None => text,
        };
        let text = self.marker.mark(text);
        if text.is_ascii() && self.column + text.len() <= WIDEST {
            self.column += text.len();
            self.text.push_str(&text);
            return;
        }
        for character in text.chars() {
            let width = character.width().unwrap_or(1);
            if self.column + width > WIDEST {
                self.text.push_str(CONTINUED);
                self.column = 2;
            }
            self.column += width;
            self.text.push(character);
        }
    }
}

/// Returns where to cut an overlong line: after white space near the end, so that a word is not
/// taken apart, else between characters.
fn piece(held: &[u8]) -> usize {
    const NEAR: usize = 4096;
    let start = LONGEST_HELD - NEAR;
    let near = &held[start..LONGEST_HELD];
    if let Some(space) = near.iter().rposition(u8::is_ascii_whitespace) {
        return start + space + 1;
    }
    // A character of UTF-8 has at most three bytes that continue it.
    let continues = |index: &usize| held[*index] & 0b1100_0000 == 0b1000_0000;
    (LONGEST_HELD - 3..=LONGEST_HELD).rev().find(|index| !continues(index)).unwrap_or(LONGEST_HELD)
}

#[cfg(test)]
mod tests;

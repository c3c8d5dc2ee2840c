//! What the expressions of the encodings match, without the expressions.
//!
//! Each encoding is published as a regular expression that cuts a text into words, numbers,
//! punctuation and blanks before any tokens are looked for. Here is what these expressions match,
//! by hand: they need look-ahead and give up on long runs, and to compile one takes longer than to
//! count a context. Looking at a text takes linear time whatever it is, and every character is in
//! exactly one match.

use super::Encoding;
use super::layout::{BLANK, BLOCK, LINE_END, LOWER, MARK, NUMBER, OTHER, PLAIN, UPPER};

const LETTER: u8 = UPPER | LOWER | PLAIN;

/// Returns what the encoding's expression matches in a text, one after the other.
pub(super) fn matches(encoding: Encoding, text: &str) -> impl Iterator<Item = &[u8]> {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        if start >= bytes.len() {
            return None;
        }
        let end = match encoding {
            Encoding::O200k => end_of_o200k(bytes, start),
            Encoding::Cl100k => end_of_cl100k(bytes, start),
        };
        let found = &bytes[start..end];
        start = end;
        Some(found)
    })
}

/// The end of the match of
/// `'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+$|\s*[\r\n]|\s+(?!\S)|\s`.
fn end_of_cl100k(bytes: &[u8], start: usize) -> usize {
    if let Some(end) = end_of_contraction(bytes, start) {
        return end;
    }
    let (class, next) = class_at(bytes, start);
    if class & LETTER != 0 {
        return end_of_run(bytes, next, LETTER);
    }
    if class & NUMBER != 0 {
        return end_of_number(bytes, next);
    }
    if class & LINE_END == 0 {
        let (after, end) = class_at(bytes, next);
        if after & LETTER != 0 {
            return end_of_run(bytes, end, LETTER);
        }
    }
    if let Some(mut end) = end_of_punctuation(bytes, start) {
        while matches!(bytes.get(end), Some(b'\r' | b'\n')) {
            end += 1;
        }
        return end;
    }
    let blanks = Blanks::at(bytes, start);
    // At the end of the text all blanks are one match, line ends or not.
    if blanks.end == bytes.len() { blanks.end } else { blanks.end_of_match(bytes) }
}

/// The end of the match of
/// `[^\r\n\p{L}\p{N}]?U*L+C?|[^\r\n\p{L}\p{N}]?U+L*C?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
/// where U is `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, L is `[\p{Ll}\p{Lm}\p{Lo}\p{M}]` and C is
/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)`.
fn end_of_o200k(bytes: &[u8], start: usize) -> usize {
    let (class, next) = class_at(bytes, start);
    if class & NUMBER != 0 {
        return end_of_number(bytes, next);
    }
    let word = if class & LETTER != 0 {
        end_of_word(bytes, start)
    } else if class & LINE_END != 0 {
        None
    } else {
        match (end_of_word(bytes, next), class & MARK != 0) {
            // A mark is part of the word itself where the rest alone would need a lower case that
            // it does not have.
            (Some(word), true) if !word.ends_low => Some(Word { end: next, ends_low: true }),
            (None, true) => Some(Word { end: next, ends_low: true }),
            (word, _) => word,
        }
    };
    if let Some(Word { end, .. }) = word {
        return end_of_contraction(bytes, end).unwrap_or(end);
    }
    if let Some(mut end) = end_of_punctuation(bytes, start) {
        while matches!(bytes.get(end), Some(b'\r' | b'\n' | b'/')) {
            end += 1;
        }
        return end;
    }
    Blanks::at(bytes, start).end_of_match(bytes)
}

/// What is matched of a word in `o200k_base`.
struct Word {
    end: usize,
    /// Whether its last character is one that may stand in lower case.
    ends_low: bool,
}

/// What `U*L+` matches, or else `U+L*`.
fn end_of_word(bytes: &[u8], start: usize) -> Option<Word> {
    let mut end = start;
    let mut end_of_low = start;
    loop {
        let (class, next) = class_at(bytes, end);
        if class & LOWER != 0 {
            let end = end_of_run(bytes, next, LOWER | PLAIN | MARK);
            return Some(Word { end, ends_low: true });
        }
        if class & (UPPER | PLAIN | MARK) == 0 {
            break;
        }
        end = next;
        if class & UPPER == 0 {
            end_of_low = next;
        }
    }
    if end_of_low > start {
        // What is behind it in upper case is given back.
        return Some(Word { end: end_of_low, ends_low: true });
    }
    (end > start).then_some(Word { end, ends_low: false })
}

/// What is matched of a number that goes on at `next`: three digits at the most.
fn end_of_number(bytes: &[u8], next: usize) -> usize {
    let mut end = next;
    for _ in 0..2 {
        let (class, next) = class_at(bytes, end);
        if class & NUMBER == 0 {
            break;
        }
        end = next;
    }
    end
}

/// What ` ?[^\s\p{L}\p{N}]+` matches.
fn end_of_punctuation(bytes: &[u8], start: usize) -> Option<usize> {
    let from = start + usize::from(bytes[start] == b' ');
    let end = end_of_run(bytes, from, OTHER | MARK);
    (end > from).then_some(end)
}

/// What `(?i:'s|'t|'re|'ve|'m|'ll|'d)` matches; the long s is an s here too.
fn end_of_contraction(bytes: &[u8], start: usize) -> Option<usize> {
    let rest = bytes.get(start..)?.strip_prefix(b"'")?;
    let length = match rest {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => 1,
        [b'l' | b'L', b'l' | b'L', ..]
        | [b'v' | b'V' | b'r' | b'R', b'e' | b'E', ..]
        | [0xC5, 0xBF, ..] => 2,
        _ => return None,
    };
    Some(start + 1 + length)
}

/// A run of blanks and line ends.
struct Blanks {
    start: usize,
    /// Behind the last line end; the start when there is none.
    end_of_lines: usize,
    start_of_last: usize,
    end: usize,
}

impl Blanks {
    fn at(bytes: &[u8], start: usize) -> Self {
        let mut blanks = Self { start, end_of_lines: start, start_of_last: start, end: start };
        loop {
            let (class, next) = class_at(bytes, blanks.end);
            if class & (BLANK | LINE_END) == 0 {
                return blanks;
            }
            if class & LINE_END != 0 {
                blanks.end_of_lines = next;
            }
            blanks.start_of_last = blanks.end;
            blanks.end = next;
        }
    }

    /// Up to the last line end; without one, up to the last blank, which goes with what follows.
    fn end_of_match(&self, bytes: &[u8]) -> usize {
        if self.end_of_lines > self.start {
            self.end_of_lines
        } else if self.end == bytes.len() || self.start_of_last == self.start {
            self.end
        } else {
            self.start_of_last
        }
    }
}

fn end_of_run(bytes: &[u8], start: usize, classes: u8) -> usize {
    let mut end = start;
    loop {
        let (class, next) = class_at(bytes, end);
        if class & classes == 0 {
            return end;
        }
        end = next;
    }
}

/// Returns the class of the character that begins at a place, and where the next one begins; no
/// class behind the end.
fn class_at(bytes: &[u8], at: usize) -> (u8, usize) {
    let Some(&first) = bytes.get(at) else { return (0, at) };
    if first < 0x80 {
        return (BLOCKS[usize::from(first)], at + 1);
    }
    let low = |further: usize| u32::from(bytes.get(at + further).copied().unwrap_or(0) & 0x3F);
    let first = u32::from(first);
    let (character, length) = match first {
        0..0xE0 => ((first & 0x1F) << 6 | low(1), 2),
        0xE0..0xF0 => ((first & 0x0F) << 12 | low(1) << 6 | low(2), 3),
        _ => ((first & 0x07) << 18 | low(1) << 12 | low(2) << 6 | low(3), 4),
    };
    let (index, _) = INDEX.as_chunks::<2>();
    let block = usize::from(u16::from_le_bytes(index[character as usize / BLOCK]));
    (BLOCKS[block * BLOCK + character as usize % BLOCK], at + length)
}

static BLOCKS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.blocks"));
static INDEX: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes.index"));

//! Cutting and cleaning of text.
//!
//! Cuts keep the head and the tail, fall between lines where they can and between characters
//! always, and say what is missing. Nothing here changes what it keeps, except [`clean`], which
//! says what it takes out.

use std::borrow::Cow;
use std::fmt;

use super::plural::counted;
use super::tokens::TokenCounter;

/// A text whose middle may be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut<'a> {
    /// What is kept of the beginning; everything when nothing is missing.
    pub head: &'a str,
    /// What is kept of the end.
    pub tail: &'a str,
    /// How many lines are missing, wholly or in part.
    pub missing_lines: usize,
    /// How many bytes are missing.
    pub missing_bytes: usize,
    /// What tells of the gap; empty when nothing is missing or when there is no room to tell.
    pub mark: String,
}

impl Cut<'_> {
    /// Returns whether nothing is missing.
    pub fn is_whole(&self) -> bool {
        self.missing_bytes == 0
    }
}

impl fmt::Display for Cut<'_> {
    /// Writes head, mark and tail, the mark on a line of its own.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.head)?;
        if self.mark.is_empty() {
            return formatter.write_str(self.tail);
        }
        if !self.head.is_empty() && !self.head.ends_with('\n') {
            formatter.write_str("\n")?;
        }
        formatter.write_str(&self.mark)?;
        if !self.tail.is_empty() {
            write!(formatter, "\n{}", self.tail)?;
        }
        Ok(())
    }
}

/// Cuts a text so that it has, with its mark, at most `most` tokens: 60 % of the room for the head
/// and the rest for the tail, by whole lines. A line that would take more than half of its share is
/// cut inside. `hint` goes into the mark: where the rest is to be found.
pub fn cut<'a>(text: &'a str, most: usize, counter: &TokenCounter, hint: &str) -> Cut<'a> {
    if counter.fits(text, most) {
        let mark = String::new();
        return Cut { head: text, tail: "", missing_lines: 0, missing_bytes: 0, mark };
    }
    let mut room = most.saturating_sub(counter.count(&mark(text, hint)) + 2);
    loop {
        let cut = cut_to(text, room, counter, hint);
        let count = counter.count(&cut.to_string());
        if count <= most {
            return cut;
        }
        if room == 0 {
            return Cut { mark: String::new(), ..cut };
        }
        room = room.saturating_sub(count - most);
    }
}

/// Takes out what is not text: escape sequences and other control characters, direction overrides,
/// and the marks that some programs put at the start of a file. Every kind of line end becomes a
/// line feed.
pub fn clean(text: &str) -> Cow<'_, str> {
    if is_clean(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' | '\u{0B}' | '\u{0C}' | '\u{85}' | '\u{2028}' | '\u{2029}' => clean.push('\n'),
            '\u{1B}' => skip_escape(&mut characters),
            unwanted if is_unwanted(unwanted) => {}
            wanted => clean.push(wanted),
        }
    }
    Cow::Owned(clean)
}

/// Returns the largest character boundary that is not after `index`.
pub fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// Returns the smallest character boundary that is not before `index`.
pub fn ceil_char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index += 1;
    }
    index
}

/// Returns at most `most` characters of the first line, with `…` where something is missing.
pub fn first_line(text: &str, most: usize) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(most) {
        Some(_) => line.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        None => line.to_owned(),
    }
}

fn cut_to<'a>(text: &'a str, room: usize, counter: &TokenCounter, hint: &str) -> Cut<'a> {
    let head_room = room * 6 / 10;
    let head = &text[..whole_lines_start(text, counter.fit_start(text, head_room))];
    let rest = &text[head.len()..];
    let tail_room = room.saturating_sub(counter.count(head));
    let tail = &rest[whole_lines_end(rest, counter.fit_end(rest, tail_room))..];
    let gap = &rest[..rest.len() - tail.len()];
    Cut {
        head,
        tail,
        missing_lines: gap.lines().count(),
        missing_bytes: gap.len(),
        mark: mark(gap, hint),
    }
}

fn mark(gap: &str, hint: &str) -> String {
    let lines = counted(gap.lines().count(), "line", "lines");
    let hint = if hint.is_empty() { String::new() } else { format!("; {hint}") };
    format!("[… {lines}, {} bytes left out{hint} …]", gap.len())
}

/// Moves the end of a head back to the end of a line, unless most of the head would be lost.
fn whole_lines_start(text: &str, end: usize) -> usize {
    match text[..end].rfind('\n') {
        _ if end == text.len() => end,
        Some(newline) if (newline + 1) * 2 >= end => newline + 1,
        _ => end,
    }
}

/// Moves the start of a tail forward to the start of a line, unless most of the tail would be lost.
fn whole_lines_end(text: &str, start: usize) -> usize {
    if start == 0 || text[..start].ends_with('\n') {
        return start;
    }
    match text[start..].find('\n') {
        Some(newline) if (newline + 1) * 2 <= text.len() - start => start + newline + 1,
        _ => start,
    }
}

/// Tells whether [`clean`] has nothing to do, many bytes at a time: nearly every text is clean.
fn is_clean(text: &[u8]) -> bool {
    // So few that they are in the nearest memory, so many that the loop inside has no end in sight.
    const STEP: usize = 1024;
    // Behind the text stands what completes nothing.
    let last = |at: usize| text.len().checked_sub(at).map_or(b' ', |at| text[at]);
    let end = [last(2), last(1), b' ', b' '];
    let windows = [text, &end].into_iter().flat_map(|text| {
        let starts = (0..text.len().saturating_sub(2)).step_by(STEP);
        starts.map(move |start| &text[start..text.len().min(start + STEP + 2)])
    });
    let is_wanted = |first: u8, second: u8, third: u8| {
        let is_control = (first < b' ' && first != b'\n' && first != b'\t') || first == 0x7F;
        // U+0080 to U+009F.
        let is_high_control = first == 0xC2 && second < 0xA0;
        // U+2028 to U+202E, and U+2066 to U+2069.
        let is_override = first == 0xE2
            && ((second == 0x80 && (0xA8..=0xAE).contains(&third))
                || (second == 0x81 && (0xA6..=0xA9).contains(&third)));
        let is_mark = first == 0xEF && second == 0xBB && third == 0xBF;
        !(is_control || is_high_control || is_override || is_mark)
    };
    windows.into_iter().all(|window| {
        let thirds = window.iter().zip(&window[1..]).zip(&window[2..]);
        thirds.fold(true, |all, ((first, second), third)| all & is_wanted(*first, *second, *third))
    })
}

fn is_unwanted(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        // Overrides of the direction hide what a line says; the rest would be taken for line ends
        // by some readers, or is the byte order mark.
        '\u{202A}'..='\u{202E}'
        | '\u{2066}'..='\u{2069}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{FEFF}' => true,
        other => other.is_control(),
    }
}

/// Skips the rest of an escape sequence: colours and cursors (`[ … letter`), titles (`] … BEL`).
/// One without its end takes nothing beyond its line.
fn skip_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let Some(kind) = characters.next_if(|character| *character != '\n') else { return };
    if kind != '[' && kind != ']' {
        return;
    }
    while let Some(character) = characters.next_if(|character| *character != '\n') {
        match (kind, character) {
            ('[', '@'..='~') | (']', '\u{07}') => return,
            (']', '\u{1B}') => {
                characters.next_if_eq(&'\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;

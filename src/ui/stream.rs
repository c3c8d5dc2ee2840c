//! Markdown on a terminal while it comes: a piece is shown at once as it is, and each block, once
//! it is whole, takes on its rendered form in its place.
//!
//! A block ends with a blank line outside a fence that something follows. What stood there can be
//! written over only while all of it is on the screen and the width is what it was; otherwise it
//! stays as it came, which reads well too. Control characters of the text never reach the terminal.

use std::io::{self, Write};

use unicode_width::UnicodeWidthChar;

use super::markdown;
use crate::support::text::clean;

/// Columns and rows of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

/// How a terminal may be written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    /// Whether what was written can be written over.
    pub cursor: bool,
    /// Whether styles are wanted.
    pub color: bool,
}

/// Writes a text that comes in pieces.
pub struct Stream<W> {
    out: W,
    size: Box<dyn Fn() -> Size + Send>,
    abilities: Abilities,
    /// The block that has begun, as it came.
    block: String,
    /// The columns of the terminal when the block began.
    columns: usize,
    /// Whether the block can be written over so far.
    is_in_place: bool,
}

impl<W: Write> Stream<W> {
    /// Returns a stream onto a terminal of which `size` is asked each time.
    pub fn new(out: W, size: impl Fn() -> Size + Send + 'static, abilities: Abilities) -> Self {
        Self {
            out,
            size: Box::new(size),
            abilities,
            block: String::new(),
            columns: 0,
            is_in_place: true,
        }
    }

    /// Shows a piece.
    pub fn push(&mut self, piece: &str) -> io::Result<()> {
        let piece = clean(piece);
        let mut rest: &str = &piece;
        // Blank lines before a block are no part of it.
        if self.block.is_empty() {
            rest = rest.trim_start_matches('\n');
        }
        for line in rest.split_inclusive('\n') {
            if starts_anew(&self.block, line) && self.end_block()? {
                writeln!(self.out)?;
            }
            self.add(line)?;
        }
        self.out.flush()
    }

    /// Ends the text: what has begun is whole now, and the next thing begins on a line of its own.
    pub fn finish(&mut self) -> io::Result<()> {
        if !self.block.is_empty() {
            self.end_block()?;
        }
        self.out.flush()
    }

    fn add(&mut self, text: &str) -> io::Result<()> {
        let size = (self.size)();
        if self.block.is_empty() {
            self.columns = size.columns;
            self.is_in_place = self.abilities.cursor;
        }
        self.block.push_str(text);
        self.is_in_place &= size.columns == self.columns;
        self.out.write_all(text.as_bytes())
    }

    /// Puts the rendered block in the place of what stands there, if it can; returns whether it did.
    fn end_block(&mut self) -> io::Result<bool> {
        let block = std::mem::take(&mut self.block);
        let size = (self.size)();
        let down = rows_below(&block, size.columns);
        if !self.is_in_place || size.columns != self.columns || down + 1 >= size.rows {
            if !block.ends_with('\n') {
                writeln!(self.out)?;
            }
            return Ok(false);
        }
        if down > 0 {
            write!(self.out, "\x1b[{down}A")?;
        }
        let rendered = markdown::render(&block);
        let rendered = if self.abilities.color {
            rendered
        } else {
            anstream::adapter::strip_str(&rendered).to_string()
        };
        writeln!(self.out, "\r\x1b[J{rendered}")?;
        Ok(true)
    }
}

/// Returns whether a line begins a new block after what has come: after a blank line, outside a
/// fence, and not indented, which would continue an item of a list.
fn starts_anew(block: &str, line: &str) -> bool {
    if !(block.ends_with("\n\n") || block.ends_with("\n \n")) {
        return false;
    }
    let is_continued = line.starts_with([' ', '\t', '\n']);
    let fences = block.lines().filter(|line| line.trim_start().starts_with("```")).count();
    !is_continued && fences % 2 == 0
}

/// Returns how many rows below its beginning a text ends on so many columns. A cell that would be
/// cut in half goes into the next row.
fn rows_below(text: &str, columns: usize) -> usize {
    let (mut row, mut column) = (0, 0);
    for character in text.chars() {
        let cells = match character {
            '\n' => {
                row += 1;
                column = 0;
                continue;
            }
            '\t' => 8 - column % 8,
            other => other.width().unwrap_or(0),
        };
        if column + cells > columns.max(2) {
            // A tab stops at the edge.
            if character == '\t' {
                column = columns;
                continue;
            }
            row += 1;
            column = 0;
        }
        column += cells;
    }
    row
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pretty_assertions::assert_eq;

    use super::*;

    const ALL: Abilities = Abilities { cursor: true, color: false };

    fn shown(abilities: Abilities, size: Size, pieces: &[&str]) -> String {
        let mut out = Vec::new();
        let mut stream = Stream::new(&mut out, move || size, abilities);
        for piece in pieces {
            stream.push(piece).unwrap();
        }
        stream.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    const WIDE: Size = Size { columns: 80, rows: 24 };

    #[test]
    fn a_block_takes_on_its_form_when_it_is_whole() {
        let pieces = ["# Ti", "tle\n", "\n- o", "ne\n- **two**"];
        let expected = "# Title\n\n\u{1b}[2A\r\u{1b}[JTitle\n\n- one\n- **two**\u{1b}[1A\r\u{1b}[J• one\n• two\n";
        assert_eq!(shown(ALL, WIDE, &pieces), expected);
    }

    #[test]
    fn pieces_of_any_size_come_to_the_same_screen() {
        let text =
            "Some **text** here.\n\n```\nlet a;\n\nlet b;\n```\n\n1. one\n\n   more\n\n2. two\n";
        let whole = screen(&shown(ALL, WIDE, &[text]));
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(screen(&shown(ALL, WIDE, &letters)), whole);
        assert_eq!(whole[..5], ["Some text here.", "", "    let a;", "    ", "    let b;"]);
    }

    #[test]
    fn without_a_cursor_the_text_stays_as_it_came() {
        let simple = Abilities { cursor: false, color: false };
        assert_eq!(shown(simple, WIDE, &["# T\n\n*a*"]), "# T\n\n*a*\n");
    }

    #[test]
    fn what_has_left_the_screen_stays_as_it_came() {
        let low = Size { columns: 10, rows: 3 };
        assert_eq!(shown(ALL, low, &["**a**\nb\nc\n"]), "**a**\nb\nc\n");
    }

    #[test]
    fn a_block_that_met_another_width_stays_as_it_came() {
        let columns = Arc::new(AtomicUsize::new(80));
        let asked = Arc::clone(&columns);
        let mut out = Vec::new();
        let size = move || Size { columns: asked.load(Ordering::Relaxed), rows: 24 };
        let mut stream = Stream::new(&mut out, size, ALL);
        stream.push("**a").unwrap();
        columns.store(40, Ordering::Relaxed);
        stream.push("** b").unwrap();
        stream.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "**a** b\n");
    }

    #[test]
    fn rows_are_counted_by_cells() {
        #[track_caller]
        fn check(text: &str, columns: usize, expected: usize) {
            assert_eq!(rows_below(text, columns), expected, "{text:?}");
        }
        check("", 10, 0);
        check("abcdefghij", 10, 0);
        check("abcdefghijk", 10, 1);
        check("abcdefghij\n", 10, 1);
        check("中文字符中文", 10, 1);
        // The fifth does not fit into the last cell of nine columns.
        check("中文字符中", 9, 1);
        check("a\tb", 10, 0);
        check("a\tbcd", 10, 1);
        check("abc", 1, 1);
    }

    #[test]
    fn the_text_cannot_command_the_terminal() {
        let text = shown(ALL, WIDE, &["a\u{1b}[2Jb\u{1b}]0;title\u{7}c"]);
        assert!(!text.replace("\u{1b}[J", "").contains('\u{1b}'), "{text:?}");
    }

    /// Plays what is written on a small terminal: text, line feeds, up, return, clear below.
    fn screen(written: &str) -> Vec<String> {
        let (mut rows, mut row, mut column) = (vec![String::new()], 0_usize, 0_usize);
        let mut rest = written;
        while let Some(character) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("\u{1b}[J") {
                rows.truncate(row + 1);
                rows[row].truncate(column);
                rest = after;
            } else if let Some(after) = rest.strip_prefix("\u{1b}[") {
                let (count, after) = after.split_once('A').unwrap();
                row -= count.parse::<usize>().unwrap();
                rest = after;
            } else {
                match character {
                    '\n' => {
                        (row, column) = (row + 1, 0);
                        rows.resize(rows.len().max(row + 1), String::new());
                    }
                    '\r' => column = 0,
                    other => {
                        rows[row].truncate(column);
                        rows[row].push(other);
                        column = rows[row].len();
                    }
                }
                rest = &rest[character.len_utf8()..];
            }
        }
        rows
    }
}

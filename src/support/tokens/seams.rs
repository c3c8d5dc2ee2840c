//! Where a text may be taken apart without changing its count.
//!
//! Both encodings first cut a text by a regular expression and then each match into tokens. A seam
//! is a place that no match reaches across and behind which matching starts afresh, whatever
//! stands on either side:
//!
//! - between a character that is not blank and a space or a tab: a blank only ever begins a match
//!   or is part of a match of blanks;
//! - between a line feed and a character that is neither blank nor `/`: a match that takes the line
//!   feed ends with it, because blank runs match up to their last line feed, and only `/` may
//!   follow a line feed inside of a match (`o200k_base`, after punctuation).
//!
//! A blank run that is longer than the expression's patience is cut into blocks besides. There is
//! nothing to compare with then (the tables' code panics); for runs of one kind of blank the block
//! length is a multiple of the longest token of blanks, so the sum is what the merge rules give; for
//! runs of several kinds it may be a token too high for each block.

/// Pieces are at least this long, so that the cost of a call does not matter.
const PIECE: usize = 16 * 1024;

/// Blank runs of more than twice this many characters are cut into blocks of this many.
const BLANK_BLOCK: usize = 128 * 1024;

/// Returns the text in pieces whose counts add up to the count of the text.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(piece_length(rest));
        rest = after;
        Some(piece)
    })
}

/// Returns the text cut at every seam that is the end of a line.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut ends = rest.match_indices('\n').map(|(at, newline)| at + newline.len());
        let end = ends.find(|end| rest[*end..].starts_with(|after| is_seam('\n', after)));
        let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(line)
    })
}

/// Returns the length of the first piece of a text that is not empty.
fn piece_length(text: &str) -> usize {
    if text.len() <= PIECE {
        return text.len();
    }
    let mut before = ' ';
    let mut blanks = 0;
    let mut block_end = 0;
    for (at, character) in text.char_indices() {
        if at >= PIECE && is_seam(before, character) {
            return at;
        }
        if is_patient_blank(character) {
            blanks += 1;
            if blanks == BLANK_BLOCK {
                block_end = at + character.len_utf8();
            }
            // The end of a run goes with what follows it, so the block ends well before that.
            if blanks > 2 * BLANK_BLOCK {
                return block_end;
            }
        } else {
            blanks = 0;
        }
        before = character;
    }
    text.len()
}

fn is_seam(before: char, after: char) -> bool {
    match (before, after) {
        (before, ' ' | '\t') => !before.is_whitespace(),
        ('\n', after) => !after.is_whitespace() && after != '/',
        _ => false,
    }
}

/// Tells whether a character is a blank of the kind that is matched one by one; line feeds are not.
fn is_patient_blank(character: char) -> bool {
    character.is_whitespace() && character != '\n' && character != '\r'
}

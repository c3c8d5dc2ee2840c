//! Where a text may be taken apart at its line ends without changing its count.
//!
//! Both encodings first cut a text by an expression and then each match into tokens. No match
//! reaches across a place between a line feed and a character that is neither blank nor `/`, and
//! behind it matching starts afresh, whatever stands on either side: a match that takes the line
//! feed ends with it, because blank runs match up to their last line feed, and only `/` may follow a
//! line feed inside of a match (`o200k_base`, after punctuation).

/// Returns the text cut at every line end where it may be; the counts add up.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut ends = rest.match_indices('\n').map(|(at, newline)| at + newline.len());
        let end = ends.find(|end| rest[*end..].starts_with(starts_afresh));
        let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(line)
    })
}

fn starts_afresh(character: char) -> bool {
    !character.is_whitespace() && character != '/'
}

//! Small pieces of a large request, to show where a script and a dialog part.

/// Characters on each side of a place, and at an end.
const AROUND: usize = 120;
const AT_END: usize = 400;

/// Returns a sentence that shows where `needle` stands in `text`, which holds it at byte `at`.
pub(super) fn place(text: &str, at: usize, needle: &str) -> String {
    let line = text[..at].matches('\n').count() + 1;
    format!("it stands in line {line} of the request: {}", around(text, at, at + needle.len()))
}

/// Returns a sentence that shows the place that comes closest to `needle`, else how the text ends.
pub(super) fn closest(text: &str, needle: &str) -> String {
    match longest_start(text, needle) {
        Some((at, length)) => format!(
            "the request has only its start {:?}: {}",
            &needle[..length],
            around(text, at, at + length)
        ),
        None => end(text),
    }
}

/// Returns a sentence that shows how `text` ends.
pub(super) fn end(text: &str) -> String {
    let text = text.trim_end();
    let start = back(text, text.len(), AT_END);
    let mark = if start > 0 { "…" } else { "" };
    format!("the request ends with: {mark}{:?}", &text[start..])
}

/// Returns where the longest start of `needle` stands; it must be long enough to be telling.
fn longest_start(text: &str, needle: &str) -> Option<(usize, usize)> {
    let ends: Vec<usize> = needle.char_indices().map(|(at, _)| at).skip(1).collect();
    let least = needle.chars().count().div_ceil(3).max(4);
    ends.iter()
        .skip(least.saturating_sub(1))
        .rev()
        .find_map(|length| text.find(&needle[..*length]).map(|at| (at, *length)))
}

fn around(text: &str, from: usize, to: usize) -> String {
    let start = back(text, from, AROUND);
    let end = text[to..].char_indices().nth(AROUND).map_or(text.len(), |(at, _)| to + at);
    let before = if start > 0 { "…" } else { "" };
    let after = if end < text.len() { "…" } else { "" };
    format!("{before}{:?}{after}", &text[start..end])
}

/// Returns the byte `count` characters before `at`.
fn back(text: &str, at: usize, count: usize) -> usize {
    text[..at].char_indices().rev().take(count).last().map_or(at, |(start, _)| start)
}

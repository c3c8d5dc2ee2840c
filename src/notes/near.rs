//! Notes that say almost the same: the ranking proposes, and the words decide.

use std::collections::HashSet;

use super::catalog::Catalog;
use super::lifecycle;
use super::note::{NewNote, Note, NoteId};
use super::rank::rank;
use crate::support::words::{self, TermKind};

/// A note that says almost the same as another.
#[derive(Debug, Clone, PartialEq)]
pub struct NearDuplicate {
    /// Its id.
    pub id: NoteId,
    /// Its title.
    pub title: String,
    /// How alike they are, `0.0..=1.0`.
    pub likeness: f64,
    /// Whether type, title and body are the same to the letter.
    pub is_same: bool,
}

/// From here on two notes say almost the same.
pub(super) const ALIKE: f64 = 0.8;

/// So many of the best hits are looked at.
const LOOKED_AT: usize = 3;

/// So much of a new note is asked for: a long text is recognised by its beginning.
const ASKED: usize = 400;

/// Returns the note that is most like a new one, if it is almost the same.
pub(super) fn find(
    catalog: &Catalog,
    new: &NewNote,
    read: impl Fn(&str) -> Option<Note>,
) -> Option<NearDuplicate> {
    let wanted = fingerprint(&new.title, &new.content);
    let beginning: String = new.content.chars().take(ASKED).collect();
    let ranked = rank(catalog, &format!("{} {beginning}", new.title));
    let candidates = ranked.into_iter().filter_map(|(document, _)| catalog.entry(document));
    candidates
        .filter(|entry| lifecycle::is_live(entry))
        .take(LOOKED_AT)
        .filter_map(|entry| read(&entry.file))
        .filter(|note| !name_different_things(&new.title, &note.title))
        .map(|note| {
            let likeness = likeness(&wanted, &fingerprint(&note.title, &note.content));
            let is_same = note.kind == new.kind
                && note.title.trim() == new.title.trim()
                && note.content.trim() == new.content.trim();
            NearDuplicate { id: note.id, title: note.title, likeness, is_same }
        })
        .filter(|near| near.likeness >= ALIKE)
        .max_by(|a, b| a.is_same.cmp(&b.is_same).then(a.likeness.total_cmp(&b.likeness)))
}

/// Returns whether two titles name different functions, files and the like: then their notes may
/// well use the same words, and are not the same.
pub(super) fn name_different_things(a: &str, b: &str) -> bool {
    let (a, b) = (names(a), names(b));
    !a.is_subset(&b) && !b.is_subset(&a)
}

/// Returns what a title names: what stands as code, and what looks like a path or an identifier.
fn names(title: &str) -> HashSet<&str> {
    let is_name = |word: &&str| {
        let inside = word.trim_matches(|end: char| !end.is_alphanumeric());
        inside.contains(['/', '_', '.', ':'])
    };
    let parts = title.split('`').enumerate();
    let names = parts.flat_map(|(at, part)| {
        let is_code = at % 2 == 1;
        let words = part.split(|gap: char| gap.is_whitespace() || "（），。、：".contains(gap));
        words.filter(move |word| !word.is_empty() && (is_code || is_name(word)))
    });
    names.map(|name| name.trim_end_matches(['.', ':', ','])).collect()
}

/// Returns what two notes are compared by: their words, and the pairs of scripts without spaces.
pub(super) fn fingerprint(title: &str, content: &str) -> HashSet<String> {
    let mut fingerprint = HashSet::new();
    for text in [title, content] {
        words::visit(text, |kind, term| match kind {
            TermKind::Word | TermKind::Pair => _ = fingerprint.insert(term.to_owned()),
            TermKind::Identifier | TermKind::Character => {}
        });
    }
    fingerprint
}

/// Returns the share of the terms that both have.
#[expect(clippy::cast_precision_loss, reason = "counts of words are far below 2^52")]
pub(super) fn likeness(a: &HashSet<String>, b: &HashSet<String>) -> f64 {
    let both = a.intersection(b).count();
    let any = a.len() + b.len() - both;
    if any == 0 { 0.0 } else { both as f64 / any as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(a: &str, b: &str, expected: bool) {
        assert_eq!(name_different_things(a, b), expected, "{a} | {b}");
        assert_eq!(name_different_things(b, a), expected, "{b} | {a}");
    }

    #[test]
    fn titles_that_name_other_functions_and_files_are_of_other_things() {
        check("`parse` in src/a.rs is too complex", "`help` in src/a.rs is too complex", true);
        check("src/a.rs 中的 `help` 过于复杂", "src/b.rs 中的 `fmt` 过于复杂", true);
        check("process_order is too deep", "`process_order` in app/o.py is too deep", false);
        check("The pool is exhausted", "the pool of connections is exhausted", false);
        check("The pool is exhausted.", "`pool` is exhausted", false);
    }
}

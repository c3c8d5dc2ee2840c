//! Words of a question that no note has: the word that is one slip of a finger away from them, if
//! notes have one.
//!
//! A slip is a letter too many, left out or replaced, or two that changed places; people seldom
//! mistake the first, so only words with the same beginning are looked at. Words with digits and
//! short words are left alone: too many others are near them. It guesses for a few words of a
//! question only, because it looks at all words of the notes with their first letters.

use super::{Role, Term, postings};
use crate::support::bm25::{Posting, Postings};
use crate::support::words::{TermKind, short_stems};

/// The words of a question that may be slips.
#[derive(Debug, Default)]
pub(super) struct Slips(Vec<Term>);

impl Slips {
    /// Takes a word that no document has, unless there are enough.
    pub(super) fn push(&mut self, word: Term) {
        let may_be_slip =
            word.text.chars().all(char::is_alphabetic) && word.text.chars().count() >= SHORTEST;
        if may_be_slip && self.0.len() < MOST {
            self.0.push(word);
        }
    }

    /// Returns what is meant by those that have a neighbour in the index.
    pub(super) fn meant(self, index: &impl Postings) -> Vec<(Term, Vec<Posting>)> {
        let mut firsts: Vec<char> = self.0.iter().filter_map(|word| first(&word.text)).collect();
        firsts.sort_unstable();
        firsts.dedup();
        let mut near: Vec<Vec<String>> = vec![Vec::new(); self.0.len()];
        let mut compare = |term: &str, spelled: &str| {
            for (word, near) in self.0.iter().zip(&mut near) {
                if is_near(&word.text, term) {
                    near.push(spelled.to_owned());
                }
            }
        };
        if !firsts.is_empty() {
            short_stems().for_each(|(long, short)| compare(long, short));
            index.terms(TermKind::Word, &firsts, &mut |term| compare(term, term));
        }
        let meant = |(word, near): (Term, Vec<String>)| {
            let (text, postings) = most_frequent(index, near)?;
            Some((Term { role: Role::Misspelled, text, ..word }, postings))
        };
        self.0.into_iter().zip(near).filter_map(meant).collect()
    }
}

/// Fewer letters are another word and no slip.
const SHORTEST: usize = 5;

/// A question with more unknown words speaks of something else.
const MOST: usize = 4;

/// Returns the term that most documents have; of equals the first by the alphabet.
fn most_frequent(index: &impl Postings, mut terms: Vec<String>) -> Option<(String, Vec<Posting>)> {
    terms.sort_unstable();
    let mut best: Option<(String, Vec<Posting>)> = None;
    for term in terms {
        let postings = postings(index, TermKind::Word, &term);
        if postings.len() > best.as_ref().map_or(0, |(_, best)| best.len()) {
            best = Some((term, postings));
        }
    }
    best
}

fn first(word: &str) -> Option<char> {
    word.chars().next()
}

/// Tells whether two words begin with the same letter and are one slip apart.
fn is_near(one: &str, other: &str) -> bool {
    one.len().abs_diff(other.len()) <= LONGEST_LETTER
        && first(one) == first(other)
        && is_one_slip(one, other)
}

/// The bytes of the longest letter.
const LONGEST_LETTER: usize = 4;

/// Tells whether one letter too many, left out or replaced, or two that changed places, make one
/// word the other.
fn is_one_slip(one: &str, other: &str) -> bool {
    let pairs = one.chars().zip(other.chars());
    let same: usize = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (one, other) = (&one[same..], &other[same..]);
    let (mut behind_one, mut behind_other) = (one.chars(), other.chars());
    let (a, b) = (behind_one.next(), behind_other.next());
    if a == b {
        return false;
    }
    let is_missing = behind_one.as_str() == other || one == behind_other.as_str();
    let is_replaced = behind_one.as_str() == behind_other.as_str();
    let is_turned = behind_one.next() == b
        && behind_other.next() == a
        && behind_one.as_str() == behind_other.as_str();
    is_missing || is_replaced || is_turned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notes::rank::meant;
    use crate::support::bm25::{Document, Index};

    #[track_caller]
    fn check(one: &str, other: &str, expected: bool) {
        assert_eq!(is_one_slip(one, other), expected, "{one} {other}");
        assert_eq!(is_one_slip(other, one), expected, "{other} {one}");
    }

    #[test]
    fn one_slip_is_a_letter_more_another_letter_or_two_turned() {
        for other in ["paser", "parsser", "parset", "parsre", "praser", "parserr", "arser", "parse"]
        {
            check("parser", other, true);
        }
        for other in ["parser", "parsing", "prasre", "pars", "parserss", "", "rapser", "größer"] {
            check("parser", other, false);
        }
        check("größe", "große", true);
        check("größe", "gröse", true);
        check("größe", "grße", true);
        check("ab", "", false);
        check("a", "", true);
    }

    #[track_caller]
    fn check_meant(question: &str, expected: &[&str]) {
        let texts = ["the services of a host", "a service", "an environment", "servics", "nodes"];
        let index = Index::new(texts.map(|text| Document { title: "-", text }));
        assert_eq!(meant(&index, question), expected, "{question}");
    }

    #[test]
    fn a_word_that_no_note_has_is_the_nearest_that_most_notes_have() {
        check_meant("serivces", &["servic"]);
        check_meant("sevices", &["servic"]);
        // Long forms are known by their short ones.
        check_meant("enviroment", &["env"]);
    }

    #[test]
    fn words_that_notes_have_are_no_slips_and_short_ones_and_numbers_never() {
        for question in ["services", "modes", "noddes", "servic3", "xservices", "unlike", ""] {
            check_meant(question, &[]);
        }
    }

    #[test]
    fn a_question_with_many_unknown_words_costs_a_bounded_time() {
        check_meant("aaaaaa bbbbbb cccccc dddddd serivces", &[]);
        check_meant("bbbbbb cccccc dddddd serivces", &["servic"]);
    }
}

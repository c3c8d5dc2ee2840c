//! Which texts mention the terms of a question, and how often, without cutting them into words.
//!
//! Ranking needs the frequencies of the question's terms and the lengths of the texts; all other
//! words of the texts do not matter. So the texts are searched for what words with these stems
//! begin with, many bytes at a time, and only what stands around a hit is cut into words (see
//! `finder.rs`). The frequencies are those of [`super::words::visit`], with one rule besides: an
//! identifier counts where it has a word of the question among its parts. Lengths are measured in
//! letters and digits, which says nearly the same as counting words, because all texts are measured
//! alike.

mod finder;
mod surface;

pub use finder::Finder;

use super::bm25::{Document, Posting, Postings, mean_of};
use super::in_parts::in_parts;
use super::words::{self, Normal, TermKind, normalized};

/// The mentions of a question's terms in a list of texts; ranks like an index over the texts.
#[derive(Debug)]
pub struct Mentions {
    finder: Finder,
    documents: usize,
    /// For each term of the finder.
    postings: Vec<Vec<Posting>>,
    /// For each document: letters and digits, characters of scripts without spaces.
    lengths: [Vec<u32>; 2],
    means: [f64; 2],
}

impl Mentions {
    /// Searches the texts for the terms of a question; the documents' numbers are their places.
    pub fn of(query: &str, texts: &[&str]) -> Self {
        let finder = Finder::new(&words::query_terms(query));
        let searched = in_parts(texts, |text| text.len(), |part| Searched::of(&finder, part));
        Self::joined(finder, searched)
    }

    /// Returns whether any text mentions a term.
    pub fn has(&self, kind: TermKind, term: &str) -> bool {
        self.finder.number_of(kind, term).is_some_and(|number| !self.postings[number].is_empty())
    }

    fn joined(finder: Finder, searched: Vec<Searched>) -> Self {
        let mut postings = vec![Vec::new(); finder.terms().len()];
        let mut lengths = [Vec::new(), Vec::new()];
        for part in searched {
            let first = u32::try_from(lengths[0].len()).unwrap_or(u32::MAX);
            for (all, more) in postings.iter_mut().zip(part.postings) {
                let place = |posting: Posting| Posting {
                    document: posting.document.saturating_add(first),
                    ..posting
                };
                all.extend(more.into_iter().map(place));
            }
            for (all, more) in lengths.iter_mut().zip(part.lengths) {
                all.extend(more);
            }
        }
        let means = [mean_of(&lengths[0]), mean_of(&lengths[1])];
        Self { finder, documents: lengths[0].len(), postings, lengths, means }
    }
}

impl Postings for Mentions {
    fn documents(&self) -> usize {
        self.documents
    }

    fn look_up(&self, kind: TermKind, term: &str, found: &mut dyn FnMut(Posting)) {
        let number = self.finder.number_of(kind, term);
        number.into_iter().flat_map(|number| &self.postings[number]).copied().for_each(found);
    }

    fn length(&self, kind: TermKind, document: u32) -> u32 {
        self.lengths[measure_of(kind)].get(document as usize).copied().unwrap_or(0)
    }

    fn mean_length(&self, kind: TermKind) -> f64 {
        self.means[measure_of(kind)]
    }
}

/// Returns where the length for a kind of terms is.
fn measure_of(kind: TermKind) -> usize {
    match kind {
        TermKind::Word | TermKind::Identifier => 0,
        TermKind::Pair | TermKind::Character => 1,
    }
}

/// What one thread found.
struct Searched {
    postings: Vec<Vec<Posting>>,
    lengths: [Vec<u32>; 2],
}

impl Searched {
    fn of(finder: &Finder, texts: &[&str]) -> Self {
        let mut searched = Self {
            postings: vec![Vec::new(); finder.terms().len()],
            lengths: [Vec::with_capacity(texts.len()), Vec::with_capacity(texts.len())],
        };
        for (document, text) in (0..).zip(texts) {
            let (title, rest) = Document { title: "", text }.parts();
            let mut lengths = [letters_and_digits(text.as_bytes()), 0];
            for (text, is_title) in [(title, true), (rest, false)] {
                let normal = normalized(text);
                searched.search(finder, document, &normal, is_title);
                lengths[0] += normal.others;
                lengths[1] += normal.spaceless;
            }
            for (all, length) in searched.lengths.iter_mut().zip(lengths) {
                all.push(u32::try_from(length).unwrap_or(u32::MAX));
            }
        }
        searched
    }

    /// Notes what a text mentions.
    fn search(&mut self, finder: &Finder, document: u32, text: &Normal<'_>, is_title: bool) {
        finder.find_in(text, |number| {
            let list = &mut self.postings[number];
            if list.last().is_none_or(|last| last.document != document) {
                list.push(Posting { document, title: 0, text: 0 });
            }
            let Some(posting) = list.last_mut() else { return };
            let count = if is_title { &mut posting.title } else { &mut posting.text };
            *count = count.saturating_add(1);
        });
    }
}

/// Returns how many letters and digits of ASCII there are, many bytes at a time.
fn letters_and_digits(text: &[u8]) -> usize {
    // So few that their number is a byte.
    let few = text.chunks(128);
    let count =
        |few: &[u8]| few.iter().map(|byte| u8::from(byte.is_ascii_alphanumeric())).sum::<u8>();
    few.map(|few| usize::from(count(few))).sum()
}

#[cfg(test)]
mod tests;

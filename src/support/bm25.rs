//! BM25 over the terms of [`super::words`]: which texts answer a question, best first.
//!
//! One ranking serves packets and notes. Words, identifiers and the pairs and characters of
//! scripts without spaces are fields of their own, each with its own lengths, so that a Chinese
//! paragraph in an English note is not drowned. The formula needs postings and lengths only, so it
//! runs over an index in memory ([`Index`]) and over one that lies on a disk alike ([`Postings`]).

use std::collections::HashMap;

use super::text::floor_char_boundary;
use super::words::{self, TermKind, Terms};

/// A text to be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document<'a> {
    /// What it is called; counts more than the text. Empty: the text's first two lines are the
    /// title, or the first, or the beginning of one that is a whole paragraph.
    pub title: &'a str,
    /// The text.
    pub text: &'a str,
}

/// One document's share of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The document's number.
    pub document: u32,
    /// How often the term stands in the title.
    pub title: u16,
    /// How often the term stands in the text.
    pub text: u16,
}

/// An index that can be ranked over.
///
/// Implemented by [`Index`] and by the index file of the notes. It only looks up; a term that is
/// not there is an empty list.
pub trait Postings {
    /// Returns how many documents there are; their numbers are below that.
    fn documents(&self) -> usize;
    /// Calls `found` with each posting of a term.
    fn look_up(&self, kind: TermKind, term: &str, found: &mut dyn FnMut(Posting));
    /// Returns how many terms of a kind a document has.
    fn length(&self, kind: TermKind, document: u32) -> u32;
    /// Returns the mean length of the documents that have any term of the kind.
    fn mean_length(&self, kind: TermKind) -> f64;
    /// Calls `found` with each term of a kind that begins with one of some letters, in no order. An
    /// index that knows only what it was asked for has none to tell.
    fn terms(&self, _kind: TermKind, _firsts: &[char], _found: &mut dyn FnMut(&str)) {}
}

/// Returns the documents that share a term with the query, best first, each with its score;
/// equal scores in the order of the documents.
pub fn rank(index: &impl Postings, query: &str) -> Vec<(usize, f64)> {
    let terms = words::query_terms(query);
    let mut scores = vec![0.0; index.documents()];
    for (kind, term, repetitions) in distinct(&terms) {
        let mut postings = Vec::new();
        index.look_up(kind, term, &mut |posting| postings.push(posting));
        let rarity = rarity(index.documents(), postings.len()).powf(rarity_exponent(kind));
        let importance = weight(kind) * rarity * repetition(kind, repetitions);
        let saturation = saturation(kind);
        let title_weight = title_weight(kind);
        let mean = index.mean_length(kind).max(1.0);
        for posting in postings {
            let length = f64::from(index.length(kind, posting.document)) / mean;
            let count = f64::from(posting.title) * title_weight + f64::from(posting.text);
            let frequency = count / (1.0 - LENGTH_SHARE + LENGTH_SHARE * length);
            if let Some(score) = scores.get_mut(posting.document as usize) {
                *score += importance * frequency * (saturation + 1.0) / (frequency + saturation);
            }
        }
    }
    let mut ranked: Vec<(usize, f64)> =
        scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked
}

/// Returns for every document a number in `0.0..=1.0`: its score over the best score.
pub fn relevance(index: &impl Postings, query: &str) -> Vec<f64> {
    let ranked = rank(index, query);
    let best = ranked.first().map_or(1.0, |(_, score)| *score);
    let mut relevance = vec![0.0; index.documents()];
    for (document, score) in ranked {
        relevance[document] = score / best;
    }
    relevance
}

/// Returns the words of the query that no document has, as the query spells their stems.
pub fn missing<'a>(index: &impl Postings, terms: &'a Terms) -> Vec<&'a str> {
    let lists = [(TermKind::Word, &terms.words), (TermKind::Pair, &terms.pairs)];
    let mut missing: Vec<&str> = Vec::new();
    for (kind, term) in
        lists.into_iter().flat_map(|(kind, list)| list.iter().map(move |term| (kind, term)))
    {
        let mut found = false;
        index.look_up(kind, term, &mut |_| found = true);
        if !found && !missing.contains(&term.as_str()) {
            missing.push(term);
        }
    }
    missing
}

/// An index in memory.
#[derive(Debug, Clone, Default)]
pub struct Index {
    documents: usize,
    postings: [HashMap<Box<str>, Vec<Posting>>; 4],
    lengths: [Vec<u32>; 4],
    means: [f64; 4],
}

impl Index {
    /// Reads the documents; their numbers are their places.
    pub fn new<'a>(documents: impl IntoIterator<Item = Document<'a>>) -> Self {
        let mut index = Self::default();
        for document in documents {
            index.add(document);
        }
        for (mean, lengths) in index.means.iter_mut().zip(&index.lengths) {
            *mean = mean_of(lengths);
        }
        index
    }

    /// Returns the documents that share a term with the query, best first; see [`rank`].
    pub fn score(&self, query: &str) -> Vec<(usize, f64)> {
        rank(self, query)
    }

    /// Returns for every document its share of the best score; see [`relevance`].
    pub fn relevance(&self, query: &str) -> Vec<f64> {
        relevance(self, query)
    }

    /// Returns the terms of a kind with their postings, in no order.
    pub fn postings(&self, kind: TermKind) -> impl Iterator<Item = (&str, &[Posting])> {
        self.postings[slot(kind)].iter().map(|(term, list)| (&**term, list.as_slice()))
    }

    fn add(&mut self, document: Document<'_>) {
        let number = u32::try_from(self.documents).unwrap_or(u32::MAX);
        self.documents += 1;
        self.lengths.iter_mut().for_each(|lengths| lengths.push(0));
        let (title, text) = document.parts();
        self.add_field(number, title, true);
        self.add_field(number, text, false);
    }

    fn add_field(&mut self, number: u32, text: &str, is_title: bool) {
        words::visit(text, |kind, term| {
            let slot = slot(kind);
            if let Some(length) = self.lengths[slot].last_mut() {
                *length += 1;
            }
            if !self.postings[slot].contains_key(term) {
                self.postings[slot].insert(term.into(), Vec::new());
            }
            let Some(list) = self.postings[slot].get_mut(term) else { return };
            if list.last().is_none_or(|last| last.document != number) {
                list.push(Posting { document: number, title: 0, text: 0 });
            }
            let Some(posting) = list.last_mut() else { return };
            let count = if is_title { &mut posting.title } else { &mut posting.text };
            *count = count.saturating_add(1);
        });
    }
}

impl Postings for Index {
    fn documents(&self) -> usize {
        self.documents
    }

    fn look_up(&self, kind: TermKind, term: &str, found: &mut dyn FnMut(Posting)) {
        self.postings[slot(kind)].get(term).into_iter().flatten().copied().for_each(found);
    }

    fn length(&self, kind: TermKind, document: u32) -> u32 {
        self.lengths[slot(kind)].get(document as usize).copied().unwrap_or(0)
    }

    fn mean_length(&self, kind: TermKind) -> f64 {
        self.means[slot(kind)]
    }

    fn terms(&self, kind: TermKind, firsts: &[char], found: &mut dyn FnMut(&str)) {
        let terms = self.postings[slot(kind)].keys().map(|term| &**term);
        terms.filter(|term| term.starts_with(firsts)).for_each(found);
    }
}

impl<'a> Document<'a> {
    /// Returns the title and the rest of the text.
    pub fn parts(self) -> (&'a str, &'a str) {
        if !self.title.is_empty() {
            return (self.title, self.text);
        }
        // A file's path and a function's name, a heading and its first words.
        let mut ends = self.text.match_indices('\n').map(|(at, _)| at);
        let first = ends.next().unwrap_or(self.text.len());
        let second = ends.next().unwrap_or(self.text.len());
        let end = [second, first].into_iter().find(|end| *end <= LONGEST_TITLE);
        self.text.split_at(end.unwrap_or_else(|| end_of_title(self.text)))
    }
}

/// Returns where the beginning of a paragraph ends, at a space if one is near.
fn end_of_title(paragraph: &str) -> usize {
    let end = floor_char_boundary(paragraph, LONGEST_TITLE);
    let space = paragraph[..end].rfind(char::is_whitespace);
    space.filter(|space| *space > LONGEST_TITLE / 2).unwrap_or(end)
}

/// All kinds of terms, each at its [`slot`].
pub const KINDS: [TermKind; 4] =
    [TermKind::Word, TermKind::Identifier, TermKind::Pair, TermKind::Character];

/// Returns the place of a kind in arrays of four.
pub fn slot(kind: TermKind) -> usize {
    match kind {
        TermKind::Word => 0,
        TermKind::Identifier => 1,
        TermKind::Pair => 2,
        TermKind::Character => 3,
    }
}

/// Returns the mean of the lengths that are not 0.
pub fn mean_of(lengths: &[u32]) -> f64 {
    let (mut total, mut count) = (0.0, 0.0);
    for length in lengths.iter().filter(|length| **length > 0) {
        total += f64::from(*length);
        count += 1.0;
    }
    if count > 0.0 { total / count } else { 0.0 }
}

/// How much a long text is held against it (`b`).
const LENGTH_SHARE: f64 = 0.75;

/// A longer first line is a paragraph, and no more than this of it is a title.
const LONGEST_TITLE: usize = 300;

/// What a term of each kind is worth.
fn weight(kind: TermKind) -> f64 {
    match kind {
        TermKind::Word => 2.0,
        TermKind::Pair => 1.0,
        TermKind::Identifier | TermKind::Character => 0.5,
    }
}

/// How often a term of the title counts.
fn title_weight(kind: TermKind) -> f64 {
    match kind {
        TermKind::Word | TermKind::Identifier => 3.5,
        TermKind::Pair | TermKind::Character => 2.5,
    }
}

/// What it means that a question repeats a term: of a word something, of a pair nothing.
fn repetition(kind: TermKind, times: f64) -> f64 {
    match kind {
        TermKind::Word | TermKind::Identifier => times.sqrt(),
        TermKind::Pair | TermKind::Character => 1.0,
    }
}

/// How fast a repeated term stops to count (`k1`).
fn saturation(kind: TermKind) -> f64 {
    match kind {
        TermKind::Word | TermKind::Identifier => 1.25,
        TermKind::Pair | TermKind::Character => 1.2,
    }
}

/// How much more a rare term counts than its rarity says.
fn rarity_exponent(kind: TermKind) -> f64 {
    match kind {
        TermKind::Word | TermKind::Identifier => 1.15,
        TermKind::Pair | TermKind::Character => 1.0,
    }
}

/// Returns the inverse document frequency, which is never negative.
#[expect(clippy::cast_precision_loss, reason = "counts of documents are far below 2^52")]
fn rarity(documents: usize, with_term: usize) -> f64 {
    let (documents, with_term) = (documents as f64, with_term as f64);
    ((documents - with_term + 0.5) / (with_term + 0.5) + 1.0).ln()
}

/// Returns each term once, with how often it is there.
fn distinct(terms: &Terms) -> Vec<(TermKind, &str, f64)> {
    let lists = [
        (TermKind::Word, &terms.words),
        (TermKind::Identifier, &terms.identifiers),
        (TermKind::Pair, &terms.pairs),
        (TermKind::Character, &terms.characters),
    ];
    let mut all: Vec<(TermKind, &str)> = lists
        .into_iter()
        .flat_map(|(kind, list)| list.iter().map(move |term| (kind, term.as_str())))
        .collect();
    all.sort_unstable();
    let mut distinct: Vec<(TermKind, &str, f64)> = Vec::with_capacity(all.len());
    for (kind, term) in all {
        match distinct.last_mut() {
            Some((last_kind, last, count)) if *last_kind == kind && *last == term => *count += 1.0,
            _ => distinct.push((kind, term, 1.0)),
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], query: &str, expected: &[usize]) {
        let index = Index::new(texts.iter().map(|text| Document { title: "", text }));
        let found: Vec<usize> = index.score(query).into_iter().map(|(number, _)| number).collect();
        assert_eq!(found, expected, "{query}");
    }

    #[test]
    fn words_identifiers_and_chinese_are_found() {
        let texts = [
            "the parser\nreads tokens with WalkBuilder",
            "数据库连接\n业务逻辑层的重构被依赖冲突阻塞",
            "flask_shop/app.py\nhas a `get_user` function",
            "",
        ];
        check(&texts, "parsers", &[0]);
        check(&texts, "walk builder", &[0]);
        check(&texts, "重构", &[1]);
        check(&texts, "哪个模块被依赖冲突阻塞了？", &[1]);
        check(&texts, "getUser", &[2]);
        check(&texts, "app.py", &[2]);
        check(&texts, "", &[]);
        check(&texts, "nothing like it", &[]);
        check(&[], "parser", &[]);
    }

    #[test]
    fn a_title_counts_more_and_a_rare_word_too() {
        check(&["x\n-\nlock y z", "lock\n-\nx y z"], "lock", &[1, 0]);
        check(&["a1 common", "b1 common", "c1 rare", "common"], "rare common", &[2, 3, 0, 1]);
    }

    #[track_caller]
    fn check_title(text: &str, expected: usize) {
        let (title, rest) = Document { title: "", text }.parts();
        assert_eq!((title.len(), title.len() + rest.len()), (expected, text.len()), "{title}");
    }

    #[test]
    fn a_text_without_a_title_is_called_by_its_beginning() {
        check_title("", 0);
        check_title("one line", 8);
        check_title("src/a.rs\nfn a()\n{}", 15);
        check_title(&format!("heading\n{}\n", "word ".repeat(99)), 7);
        // A paragraph counts as other texts do, so that its length is not held against it.
        check_title(&"word ".repeat(99), 299);
        check_title(&"锁".repeat(200), 300);
        check_title(&format!("x{}", "锁".repeat(200)), 298);
        let texts =
            [format!("lock {}", "and more ".repeat(50)), format!("lock {}", "and ".repeat(9))];
        let documents = texts.iter().map(|text| Document { title: "", text });
        let ranked = Index::new(documents).score("lock");
        assert!(ranked[1].1 > ranked[0].1 * 0.3, "{ranked:?}");
    }

    #[test]
    fn an_index_tells_its_terms() {
        let index = Index::new([Document { title: "", text: "lock locate file 锁定" }]);
        let beginning = |kind, firsts: &[char]| {
            let mut terms = Vec::new();
            index.terms(kind, firsts, &mut |term| terms.push(term.to_owned()));
            terms.sort();
            terms
        };
        assert_eq!(beginning(TermKind::Word, &['l']), ["loc", "lock"]);
        assert_eq!(beginning(TermKind::Word, &['f', 'z']), ["file"]);
        assert_eq!(beginning(TermKind::Pair, &['锁']), ["锁定"]);
    }

    #[test]
    fn relevance_is_a_share_of_the_best() {
        let texts = ["lock file", "lock", "other"];
        let index = Index::new(texts.map(|text| Document { title: "", text }));
        let relevance = index.relevance("lock");
        assert!((relevance[1] - 1.0).abs() < f64::EPSILON && relevance[0] < 1.0);
        assert!(relevance[0] > 0.0 && relevance[2] == 0.0);
    }

    #[test]
    fn words_without_a_hit_are_told() {
        let index = Index::new([Document { title: "", text: "lock file" }]);
        let terms = words::query_terms("the lock unicorn unicorn");
        assert_eq!(missing(&index, &terms), ["unicorn"]);
    }
}

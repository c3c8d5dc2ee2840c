//! How notes are ranked for a question: a sum over the question's terms, words by the logarithm of
//! how much more of them a note has than others, pairs of Chinese characters by BM25.
//!
//! The same terms and postings as [`crate::support::bm25`], with a formula and weights of its own,
//! because a question asked of notes is longer than one asked of packets. In code a word that
//! stands often means more than BM25 grants it, and a logarithm goes on growing; pairs are many for
//! one word, and BM25 keeps one of them from outweighing the rest. Words that only ask (怎么, 如何)
//! count little, and a Latin word counts the more, the more of the question is Chinese. A word that
//! no note has is taken for a slip of the finger ([`slips`]). It reads postings only, so a search
//! over ten thousand notes opens the files of its hits alone.

mod slips;

use self::slips::Slips;
use crate::support::bm25::{Posting, Postings};
use crate::support::words::{self, TermKind};

/// Returns the documents that share a term with the question, best first, each with its score;
/// equal scores in the order of the documents.
pub fn rank(index: &impl Postings, question: &str) -> Vec<(usize, f64)> {
    let found = found(index, question);
    let count =
        |roles: &[Role]| found.iter().filter(|(term, _)| roles.contains(&term.role)).count();
    let words = count(&[Role::Word, Role::Respelled, Role::Misspelled]);
    let words = share_of_words(words, count(&[Role::Pair]));
    let mut scores = vec![0.0; index.documents()];
    for (term, postings) in &found {
        let role = term.role;
        let kind = role.kind();
        let mean = index.mean_length(kind).max(1.0);
        let frequency = |posting: &Posting| {
            let length = f64::from(index.length(kind, posting.document)) / mean;
            role.frequency(*posting, length)
        };
        let rarity = rarity(index.documents(), postings.len());
        let weight = term.times * role.weight();
        if role.is_spaceless() {
            let importance = weight * rarity;
            add(&mut scores, postings, |posting| {
                let frequency = frequency(posting);
                importance * frequency * (SATURATION + 1.0) / (frequency + SATURATION)
            });
        } else {
            let importance = weight * words * rarity.powf(0.4);
            let gain = 0.3 * surplus(index.documents(), postings.len()).powf(0.65);
            add(&mut scores, postings, |posting| importance * (gain * frequency(posting)).ln_1p());
        }
    }
    let all = scores.into_iter().enumerate();
    let mut ranked: Vec<(usize, f64)> = all.filter(|(_, score)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked
}

fn add(scores: &mut [f64], postings: &[Posting], score: impl Fn(&Posting) -> f64) {
    for posting in postings {
        if let Some(sum) = scores.get_mut(posting.document as usize) {
            *sum += score(posting);
        }
    }
}

/// Returns the words that a question may mean where it has words that no document has.
pub(super) fn meant(index: &impl Postings, question: &str) -> Vec<String> {
    let found = found(index, question).into_iter();
    found.filter(|(term, _)| term.role == Role::Misspelled).map(|(term, _)| term.text).collect()
}

/// Returns the terms of a question that some document has, with their postings.
fn found(index: &impl Postings, question: &str) -> Vec<(Term, Vec<Posting>)> {
    let mut found: Vec<(Term, Vec<Posting>)> = Vec::new();
    let mut slips = Slips::default();
    for term in terms(question) {
        let postings = postings(index, term.looked_up, &term.text);
        let is_known = || found.last().is_some_and(|(last, _)| last.text == term.text);
        if !postings.is_empty() {
            found.push((term, postings));
        } else if term.role == Role::Word && !is_known() {
            slips.push(term);
        }
    }
    found.extend(slips.meant(index));
    found
}

fn postings(index: &impl Postings, kind: TermKind, term: &str) -> Vec<Posting> {
    let mut postings = Vec::new();
    index.look_up(kind, term, &mut |posting| postings.push(posting));
    postings
}

/// What a term is to the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Word,
    /// Neighbours in one: *walk builder* asks for `WalkBuilder`.
    Joined,
    /// A word that a note may write in several parts, or the other way round: *filesystem* and
    /// `file_system`.
    Respelled,
    /// A word that notes have, for one that none has.
    Misspelled,
    Pair,
    Character,
}

// The numbers were chosen on many sets of questions; `docs/benchmarks.md` tells how well they do on
// others.
impl Role {
    /// The kind whose lengths count.
    fn kind(self) -> TermKind {
        match self {
            Self::Word | Self::Respelled | Self::Misspelled => TermKind::Word,
            Self::Joined => TermKind::Identifier,
            Self::Pair => TermKind::Pair,
            Self::Character => TermKind::Character,
        }
    }

    fn is_spaceless(self) -> bool {
        matches!(self, Self::Pair | Self::Character)
    }

    fn weight(self) -> f64 {
        match self {
            Self::Word => 5.0,
            Self::Misspelled => 3.5,
            Self::Joined => 0.6,
            Self::Respelled | Self::Character => 1.25,
            Self::Pair => 1.0,
        }
    }

    /// Returns how often a document has a term, for its length (in means) and with its title, which
    /// counts more than its text.
    fn frequency(self, posting: Posting, length: f64) -> f64 {
        let (title, text) = (f64::from(posting.title), f64::from(posting.text));
        if self.is_spaceless() {
            (title * 1.5 + text) / (0.25 + 0.75 * length)
        } else {
            // To the power of 0.75: twice as long is not twice as little.
            let root = length.sqrt();
            (title * 6.0 + text) / (0.15 + 0.85 * root * root.sqrt())
        }
    }
}

/// How fast a repeated pair stops to count (`k1`).
const SATURATION: f64 = 3.0;

/// Returns what words are worth beside the pairs of a question: names in a Chinese sentence count
/// more than a sentence of words with a few Chinese characters in it.
#[expect(clippy::cast_precision_loss, reason = "a question has few terms")]
fn share_of_words(words: usize, pairs: usize) -> f64 {
    if pairs == 0 { 1.0 } else { (pairs as f64 / (words + pairs) as f64).sqrt() }
}

/// What a term is worth that only asks.
const ASKING: f64 = 0.3;

/// What Chinese questions ask with, and what says nothing alone.
const ASKING_WORDS: [&str; 23] = [
    "怎么办",
    "怎么样",
    "为什么",
    "什么",
    "怎么",
    "怎样",
    "如何",
    "哪些",
    "哪个",
    "哪里",
    "哪种",
    "是否",
    "能否",
    "可以",
    "是不是",
    "有没有",
    "多少",
    "请问",
    "吗",
    "呢",
    "吧",
    "的",
    "了",
];

/// A term of a question.
#[derive(Debug)]
struct Term {
    role: Role,
    /// The kind under which documents have it.
    looked_up: TermKind,
    text: String,
    /// What it means how often the question has it: of a word something, of a pair nothing.
    times: f64,
}

/// Returns each term of a question once.
#[expect(clippy::cast_precision_loss, reason = "a question has few words")]
fn terms(question: &str) -> Vec<Term> {
    let terms = words::query_terms(question);
    let asking: Vec<&str> =
        ASKING_WORDS.into_iter().filter(|word| question.contains(word)).collect();
    let lists = [
        (Role::Word, terms.words),
        (Role::Joined, terms.identifiers),
        (Role::Pair, terms.pairs),
        (Role::Character, terms.characters),
    ];
    let mut distinct = Vec::new();
    for (role, mut list) in lists {
        list.sort_unstable();
        for same in list.chunk_by(|a, b| a == b) {
            let text = same[0].clone();
            let is_asking = || asking.iter().any(|word| word.contains(&text));
            let times = if !role.is_spaceless() {
                (same.len() as f64).sqrt()
            } else if is_asking() {
                ASKING
            } else {
                1.0
            };
            let respelled = match role {
                Role::Word => Some(TermKind::Identifier),
                Role::Joined => Some(TermKind::Word),
                _ => None,
            };
            if let Some(looked_up) = respelled {
                distinct.push(Term { role: Role::Respelled, looked_up, text: text.clone(), times });
            }
            distinct.push(Term { role, looked_up: role.kind(), text, times });
        }
    }
    distinct
}

/// Returns the inverse document frequency, which is never negative.
#[expect(clippy::cast_precision_loss, reason = "counts of documents are far below 2^52")]
fn rarity(documents: usize, with_term: usize) -> f64 {
    let (documents, with_term) = (documents as f64, with_term as f64);
    ((documents - with_term + 0.5) / (with_term + 0.5) + 1.0).ln()
}

/// Returns how many times as many documents there are as have a term.
#[expect(clippy::cast_precision_loss, reason = "counts of documents are far below 2^52")]
fn surplus(documents: usize, with_term: usize) -> f64 {
    documents as f64 / with_term.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::bm25::{Document, Index};

    #[track_caller]
    fn check(texts: &[&str], question: &str, expected: &[usize]) {
        let documents = texts.iter().map(|text| Document { title: "-", text });
        let ranked = rank(&Index::new(documents), question);
        let found: Vec<usize> = ranked.into_iter().map(|(document, _)| document).collect();
        assert_eq!(found, expected, "{question}");
    }

    #[test]
    fn a_note_with_more_of_the_question_comes_first() {
        let often = "pool pool pool pool pool pool";
        check(&[often, "the pool of connections is empty", "x"], "empty connection pool", &[1, 0]);
        check(&["锁锁锁锁", "数据库的锁", "x"], "数据库锁", &[1, 0]);
    }

    #[test]
    fn words_that_only_ask_count_little() {
        check(&["怎么怎么怎么办", "登录需要密码", "其他内容"], "怎么登录", &[1, 0]);
    }

    #[test]
    fn a_word_is_found_in_one_part_and_in_several() {
        let texts = ["the `file_system` of it", "a filesystem", "utf8 text", "x"];
        check(&texts, "filesystem", &[1, 0]);
        check(&texts, "fileSystem", &[0, 1]);
        check(&texts, "UTF-8", &[2]);
        // A part of a word keeps an `e` that the stem of the whole loses.
        let texts = ["the `file_name` of it", "filenames", "x"];
        check(&texts, "filename", &[1, 0]);
        check(&texts, "file_name", &[0, 1]);
        check(&texts, "fileNames", &[0, 1]);
    }

    #[test]
    fn a_name_counts_more_the_more_of_the_question_is_chinese() {
        let shares =
            [(0, 4), (1, 4), (4, 4), (4, 1)].map(|(words, pairs)| share_of_words(words, pairs));
        assert!(shares.is_sorted_by(|one, other| one > other), "{shares:?}");
        assert!((share_of_words(4, 0) - 1.0).abs() < f64::EPSILON);
        let mut texts = vec!["数据的恢复", "TiFlash 的副本"];
        texts.resize(12, "数据的备份和恢复怎么做");
        let index = Index::new(texts.iter().map(|text| Document { title: "-", text }));
        assert_eq!(rank(&index, "TiFlash 数据恢复")[0].0, 1);
    }

    #[test]
    fn a_word_that_stands_often_goes_on_counting() {
        let twice = "pool pool and something else that is said here of locks and of files";
        let often = "pool pool pool pool pool pool pool pool here of locks and of files";
        check(&[twice, often, "x"], "pool", &[1, 0]);
    }

    #[test]
    fn nothing_is_found_where_nothing_is() {
        check(&["a b"], "", &[]);
        check(&[], "pool", &[]);
        check(&["pool"], "the of and", &[]);
    }
}

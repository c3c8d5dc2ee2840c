//! How notes are ranked for a question: BM25 over title, tags and body, times the share of the
//! question that a note has.
//!
//! The same terms and postings as [`crate::support::bm25`], with weights of its own, because a
//! question asked of notes is longer than one asked of packets: a note that has many of its words
//! comes before one that has a single word often, and the words that only ask (怎么, 如何) count
//! little. It reads postings only, so a search over ten thousand notes opens the files of its hits
//! alone.

use crate::support::bm25::Postings;
use crate::support::words::{self, TermKind};

/// Returns the documents that share a term with the question, best first, each with its score;
/// equal scores in the order of the documents.
pub fn rank(index: &impl Postings, question: &str) -> Vec<(usize, f64)> {
    let mut scores = vec![Score::default(); index.documents()];
    let mut whole = 0.0;
    for term in distinct(question) {
        let mut postings = Vec::new();
        index.look_up(term.kind, &term.text, &mut |posting| postings.push(posting));
        if postings.is_empty() {
            continue;
        }
        let weights = Weights::of(term.kind);
        let rarity = rarity(index.documents(), postings.len());
        let importance = term.times * weights.term * rarity.powf(weights.rarity_exponent);
        let share = if weights.covers { weights.term * rarity } else { 0.0 };
        whole += share;
        let mean = index.mean_length(term.kind).max(1.0);
        for posting in postings {
            let Some(score) = scores.get_mut(posting.document as usize) else { continue };
            let length = f64::from(index.length(term.kind, posting.document)) / mean;
            let count = f64::from(posting.title) * weights.title + f64::from(posting.text);
            let frequency = count / (1.0 - LENGTH_SHARE + LENGTH_SHARE * length);
            let saturated =
                frequency * (weights.saturation + 1.0) / (frequency + weights.saturation);
            score.sum += importance * saturated;
            score.covered += share;
        }
    }
    let whole = if whole > 0.0 { whole } else { 1.0 };
    let total = |score: Score| score.sum * (1.0 - COVERAGE + COVERAGE * score.covered / whole);
    let all = scores.into_iter().enumerate().map(|(document, score)| (document, total(score)));
    let mut ranked: Vec<(usize, f64)> = all.filter(|(_, score)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    ranked
}

#[derive(Debug, Clone, Copy, Default)]
struct Score {
    sum: f64,
    /// The weight of the question's terms that are there.
    covered: f64,
}

/// What a kind of terms is worth.
struct Weights {
    term: f64,
    /// How often a term of the title counts.
    title: f64,
    /// How fast a repeated term stops to count (`k1`).
    saturation: f64,
    /// How much more a rare term counts than its rarity says.
    rarity_exponent: f64,
    /// Whether it counts for the share of the question that a note has.
    covers: bool,
}

impl Weights {
    /// Chosen on the even lines of three sets of questions; `docs/benchmarks.md` tells how well
    /// they do on the odd ones.
    fn of(kind: TermKind) -> Self {
        let word =
            Self { term: 2.0, title: 4.0, saturation: 2.0, rarity_exponent: 1.15, covers: true };
        let pair =
            Self { term: 1.0, title: 2.5, saturation: 1.2, rarity_exponent: 1.0, covers: true };
        match kind {
            TermKind::Word => word,
            TermKind::Identifier => Self { term: 0.5, covers: false, ..word },
            TermKind::Pair => pair,
            TermKind::Character => Self { term: 0.5, covers: false, ..pair },
        }
    }
}

/// How much a long text is held against it (`b`).
const LENGTH_SHARE: f64 = 0.75;

/// How much of a score depends on how much of the question is there.
const COVERAGE: f64 = 0.3;

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

struct Term {
    kind: TermKind,
    text: String,
    /// What it means how often the question has it: of a word something, of a pair nothing.
    times: f64,
}

/// Returns each term of a question once.
#[expect(clippy::cast_precision_loss, reason = "a question has few words")]
fn distinct(question: &str) -> Vec<Term> {
    let terms = words::query_terms(question);
    let asking: Vec<&str> =
        ASKING_WORDS.into_iter().filter(|word| question.contains(word)).collect();
    let lists = [
        (TermKind::Word, terms.words),
        (TermKind::Identifier, terms.identifiers),
        (TermKind::Pair, terms.pairs),
        (TermKind::Character, terms.characters),
    ];
    let mut distinct = Vec::new();
    for (kind, mut list) in lists {
        list.sort_unstable();
        for same in list.chunk_by(|a, b| a == b) {
            let text = same[0].clone();
            let is_asking = asking.iter().any(|word| word.contains(&text));
            let times = match kind {
                TermKind::Word | TermKind::Identifier => (same.len() as f64).sqrt(),
                TermKind::Pair | TermKind::Character if is_asking => ASKING,
                TermKind::Pair | TermKind::Character => 1.0,
            };
            distinct.push(Term { kind, text, times });
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
    fn nothing_is_found_where_nothing_is() {
        check(&["a b"], "", &[]);
        check(&[], "pool", &[]);
        check(&["pool"], "the of and", &[]);
    }
}

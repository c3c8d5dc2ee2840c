//! Whether two texts say the same: nearly the same words in nearly the same order.
//!
//! Punctuation, case and layout do not matter. Texts that are made from one template and differ in
//! a name are not the same, and short texts are only when they are equal: they may differ in the
//! one word that matters.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::support::words::{self, TermKind};

/// What a text says: its words and pairs of characters, and its runs of three of them, as hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Saying {
    /// Sorted, each once.
    terms: Vec<u64>,
    /// Sorted, each once.
    runs: Vec<u64>,
}

impl Saying {
    /// Reads a text.
    pub(super) fn of(text: &str) -> Self {
        let mut terms = Vec::new();
        words::visit(text, |kind, term| match kind {
            TermKind::Word | TermKind::Pair => terms.push(hash(term)),
            TermKind::Identifier | TermKind::Character => {}
        });
        let runs = distinct(terms.windows(RUN).map(run_hash).collect());
        Self { terms: distinct(terms), runs }
    }

    /// Returns the distinct words and pairs.
    pub(super) fn terms(&self) -> &[u64] {
        &self.terms
    }

    /// Returns whether two texts say the same.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        if self.runs.len() < FEW {
            return false;
        }
        // Few texts are like another, and most are unlike from their first runs on.
        let (mut common, mut only) = (0, 0);
        let (mut own, mut others) = (self.runs.as_slice(), other.runs.as_slice());
        let most = (self.runs.len() + other.runs.len()) / MOST_DIFFERENT;
        while let ([first, own_rest @ ..], [second, others_rest @ ..]) = (own, others) {
            if first == second {
                common += 1;
            } else {
                only += 1;
                if only > most {
                    return false;
                }
            }
            if first <= second {
                own = own_rest;
            }
            if second <= first {
                others = others_rest;
            }
        }
        let all = common + only + own.len() + others.len();
        common * SAME.1 >= all * SAME.0
    }
}

/// How many terms a run has.
const RUN: usize = 3;

/// A text with fewer runs is like no other.
const FEW: usize = 12;

/// Texts whose runs overlap by this much say the same: nine in ten.
const SAME: (usize, usize) = (9, 10);

/// Texts of which more than one in so many runs is in one alone overlap by less than that: of all
/// runs a tenth may be, and there are at most as many as both have together.
const MOST_DIFFERENT: usize = 10;

fn distinct(mut hashes: Vec<u64>) -> Vec<u64> {
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

fn run_hash(run: &[u64]) -> u64 {
    let mix =
        |all: u64, next: &u64| (all.rotate_left(23) ^ next).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    run.iter().fold(0, mix)
}

fn hash(term: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(one: &str, other: &str, expected: bool) {
        assert_eq!(Saying::of(one).is_like(&Saying::of(other)), expected);
    }

    #[test]
    fn one_word_in_a_long_text_makes_no_difference_and_in_a_short_one_it_does() {
        let words: Vec<String> = (0..200).map(|number| format!("word{number}x")).collect();
        let mut changed = words.clone();
        changed[100] = "another".to_owned();
        check(&words.join(" "), &changed.join(",\n"), true);
        check(&words[90..110].join(" "), &changed[90..110].join(" "), false);
        check(&words[..40].join(" "), &words[80..120].join(" "), false);
    }

    #[test]
    fn short_texts_are_like_none() {
        check("rename the helper", "rename the helper", false);
        check("", "", false);
    }

    #[test]
    fn chinese_is_compared_too() {
        let text = "订单列表接口没有分页，一次返回全部数据，导致结账页面加载缓慢，需要尽快处理";
        check(text, &text.replace('，', ","), true);
        check(
            text,
            "用户可以重复注册同一个邮箱，因为模型里没有唯一约束，需要尽快处理这个问题",
            false,
        );
    }
}

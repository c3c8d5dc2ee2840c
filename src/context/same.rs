//! Whether two texts say the same: nearly the same words in nearly the same order.
//!
//! Punctuation, case and layout do not matter. Texts that are made from one template and differ in
//! a name are not the same, and short texts are only when they are equal: they may differ in the
//! one word that matters.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::score::overlap;
use crate::support::words::{self, TermKind};

/// What a text says: its runs of three words, or pairs of characters, as hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Saying {
    runs: HashSet<u64>,
}

impl Saying {
    /// Reads a text.
    pub(super) fn of(text: &str) -> Self {
        let mut terms = Vec::new();
        words::visit(text, |kind, term| match kind {
            TermKind::Word | TermKind::Pair => terms.push(hash(term)),
            TermKind::Identifier | TermKind::Character => {}
        });
        Self { runs: terms.windows(RUN).map(|run| hash(&run)).collect() }
    }

    /// Returns whether two texts say the same.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.runs.len() >= FEW && overlap(&self.runs, &other.runs) >= SAME
    }
}

/// How many terms a run has.
const RUN: usize = 3;

/// A text with fewer runs is like no other.
const FEW: usize = 12;

/// Texts whose runs overlap by this much say the same.
const SAME: f64 = 0.9;

fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
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

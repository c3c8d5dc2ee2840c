//! Byte pairs merged by rank: how a match falls into tokens.
//!
//! Of all neighbours whose joined bytes are a token those with the lowest rank become one, the
//! first of several, until there are none. Short matches are searched again for each merge; long
//! ones have a queue, so that a megabyte of one letter takes no quadratic time. Memory is bounded:
//! a match of more than eight mebibytes, which is no text that anybody wrote, is merged in blocks of
//! that size, and may have a token or two too many where they meet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::layout::{self, NO_TOKEN};
use super::vocabulary::Vocabulary;

/// Longer matches are merged with a queue.
const SHORT: usize = 64;

/// Where parts of a byte begin.
const FIRST_STARTS: [u8; SHORT + 1] = {
    let mut starts = [0; SHORT + 1];
    let mut at = 1;
    while at < starts.len() {
        starts[at] = starts[at - 1] + 1;
        at += 1;
    }
    starts
};

/// Longer matches are merged in blocks; a multiple of the longest token.
const BLOCK: usize = 8 * 1024 * 1024;

/// Merges one match after the other, in memory that is used again.
pub(super) struct Merger {
    vocabulary: &'static Vocabulary,
    /// By where a part begins: what is known of it.
    parts: Vec<Part>,
    /// Ranks of neighbours and where the first of them begins, the lowest on top. What has been
    /// merged otherwise since stays in it and is passed over.
    queue: BinaryHeap<Reverse<(u32, u32)>>,
}

/// A part of a long match.
#[derive(Clone, Copy)]
struct Part {
    /// Where the part before it begins.
    before: u32,
    end: u32,
    /// The rank of it together with the next part.
    rank: u32,
}

impl Merger {
    pub(super) fn new(vocabulary: &'static Vocabulary) -> Self {
        Self { vocabulary, parts: Vec::new(), queue: BinaryHeap::new() }
    }

    /// Calls `found` with the length of each token of a match, in order.
    pub(super) fn tokens(&mut self, matched: &[u8], found: &mut impl FnMut(usize)) {
        if matched.len() == 1 || self.vocabulary.rank(matched) != NO_TOKEN {
            found(matched.len());
            return;
        }
        // Of Chinese whole sentences are one match, and few neighbours in it ever become one.
        let (mut start, mut at, mut left) = (0, 0, 0);
        while let Some(first) = matched.get(at) {
            let end = at + layout::length_of_character(*first);
            let character = layout::packed(matched.get(at..end).unwrap_or_default());
            let beyond_ascii = left >= 0x80 && character >= 0x80;
            if beyond_ascii && !self.vocabulary.may_join(left, character) {
                self.merge(&matched[start..at], found);
                start = at;
            }
            (at, left) = (end, character);
        }
        self.merge(&matched[start..], found);
    }

    fn merge(&mut self, part: &[u8], found: &mut impl FnMut(usize)) {
        if part.len() <= SHORT {
            self.merge_short(part, found);
        } else {
            for block in part.chunks(BLOCK) {
                self.merge_long(block, found);
            }
        }
    }

    fn merge_short(&self, matched: &[u8], found: &mut impl FnMut(usize)) {
        let mut parts = matched.len();
        // Where the parts begin, and the rank of each together with the next.
        let mut starts = FIRST_STARTS;
        let mut ranks = [NO_TOKEN; SHORT + 1];
        for (at, pair) in matched.windows(2).enumerate() {
            ranks[at] = self.vocabulary.rank(pair);
        }
        loop {
            let (mut lowest, mut at) = (NO_TOKEN, 0);
            for (place, rank) in ranks[..parts - 1].iter().enumerate() {
                if *rank < lowest {
                    (lowest, at) = (*rank, place);
                }
            }
            if lowest == NO_TOKEN {
                break;
            }
            starts.copy_within(at + 2..=parts, at + 1);
            ranks.copy_within(at + 2..parts, at + 1);
            parts -= 1;
            let rank = |from: usize| match starts[..=parts].get(from + 2) {
                Some(end) => {
                    self.vocabulary.rank(&matched[usize::from(starts[from])..usize::from(*end)])
                }
                None => NO_TOKEN,
            };
            ranks[at] = rank(at);
            if at > 0 {
                ranks[at - 1] = rank(at - 1);
            }
        }
        for ends in starts[..=parts].windows(2) {
            found(usize::from(ends[1] - ends[0]));
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "a block is shorter than 2^32")]
    fn merge_long(&mut self, matched: &[u8], found: &mut impl FnMut(usize)) {
        let Self { vocabulary, parts, queue } = self;
        let length = matched.len() as u32;
        let rank_of = |from: u32, to: u32| vocabulary.rank(&matched[from as usize..to as usize]);
        parts.clear();
        queue.clear();
        let mut ranks = std::mem::take(queue).into_vec();
        for at in 0..length {
            let rank = if at + 2 <= length { rank_of(at, at + 2) } else { NO_TOKEN };
            parts.push(Part { before: at.saturating_sub(1), end: at + 1, rank });
            if rank != NO_TOKEN {
                ranks.push(Reverse((rank, at)));
            }
        }
        *queue = BinaryHeap::from(ranks);
        while let Some(Reverse((rank, start))) = queue.pop() {
            let part = parts[start as usize];
            // No other pair that ever begins here is the same token.
            if part.rank != rank {
                continue;
            }
            let end = parts[part.end as usize].end;
            parts[part.end as usize].rank = NO_TOKEN;
            let mut join = |start: u32, middle: u32| {
                let next = parts.get(middle as usize).map(|next| next.end);
                let rank = next.map_or(NO_TOKEN, |next| rank_of(start, next));
                let part = &mut parts[start as usize];
                (part.end, part.rank) = (middle, rank);
                if rank != NO_TOKEN {
                    queue.push(Reverse((rank, start)));
                }
            };
            join(start, end);
            if start > 0 {
                join(part.before, start);
            }
            if let Some(next) = parts.get_mut(end as usize) {
                next.before = start;
            }
        }
        let mut start = 0;
        while let Some(part) = parts.get(start) {
            found(part.end as usize - start);
            start = part.end as usize;
        }
    }
}

//! The tokens of an encoding, as the build script laid them out.
//!
//! The tables lie in the program ready to use: nothing is read, built or allocated before the first
//! look-up, and only the pages that look-ups touch come into memory.

use super::Encoding;
use super::layout::{self, ANY, FREE, LONGEST_TOKEN, NO_TOKEN, RANK_BITS};

/// The tokens of one encoding.
pub(super) struct Vocabulary {
    /// The bytes of all tokens by rank.
    bytes: &'static [u8],
    /// Where each begins in them, and where the last one ends.
    starts: &'static [[u8; 4]],
    /// A hash table with open places: the rank, and bits of the hash above it.
    places: &'static [[u8; 4]],
    /// The ranks of all pairs of bytes, with which every merge begins.
    pairs: &'static [[u8; 4]],
    /// Bits of neighbouring characters that tokens reach across.
    joints: &'static [u8],
}

impl Vocabulary {
    /// Returns the tokens of an encoding.
    pub(super) fn of(encoding: Encoding) -> &'static Self {
        match encoding {
            Encoding::O200k => &O200K,
            Encoding::Cl100k => &CL100K,
        }
    }

    /// Returns the rank of a token, or [`NO_TOKEN`].
    pub(super) fn rank(&self, bytes: &[u8]) -> u32 {
        if let [first, second] = *bytes {
            return u32::from_le_bytes(self.pairs[layout::pair(first, second)]);
        }
        if bytes.len() > LONGEST_TOKEN {
            return NO_TOKEN;
        }
        let hash = layout::hash(bytes);
        let tag = layout::tag(hash);
        let mut place = layout::place(hash, self.places.len());
        loop {
            let found = u32::from_le_bytes(self.places[place]);
            if found == FREE {
                return NO_TOKEN;
            }
            let rank = found & ((1 << RANK_BITS) - 1);
            if found - rank == tag && self.token(rank as usize) == bytes {
                return rank;
            }
            place = layout::next_place(place, self.places.len());
        }
    }

    /// Tells whether a token may reach across the place between two characters beyond ASCII. When
    /// none does, what stands on either side is merged without regard to the other.
    pub(super) fn may_join(&self, left: u32, right: u32) -> bool {
        [(left, right), (left, ANY), (ANY, right)].into_iter().any(|(left, right)| {
            let bit = layout::joint(left, right);
            self.joints[bit / 8] >> (bit % 8) & 1 == 1
        })
    }

    fn token(&self, rank: usize) -> &'static [u8] {
        let [start, end] = [self.starts[rank], self.starts[rank + 1]].map(u32::from_le_bytes);
        &self.bytes[start as usize..end as usize]
    }
}

static O200K: Vocabulary = Vocabulary {
    bytes: include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base.bytes")),
    starts: numbers(include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base.starts"))),
    places: numbers(include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base.places"))),
    pairs: numbers(include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base.pairs"))),
    joints: include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base.joints")),
};

static CL100K: Vocabulary = Vocabulary {
    bytes: include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base.bytes")),
    starts: numbers(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base.starts"))),
    places: numbers(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base.places"))),
    pairs: numbers(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base.pairs"))),
    joints: include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base.joints")),
};

const fn numbers(bytes: &'static [u8]) -> &'static [[u8; 4]] {
    bytes.as_chunks().0
}

//! What the build script and the counter have to agree on: how the tables are laid out.
//!
//! Compiled into both, so that they cannot differ. Nothing here depends on the machine.

/// A place of the hash table has the rank in so many low bits, and above it bits of the hash, so
/// that what is not in the table is hardly ever compared with what is.
pub(crate) const RANK_BITS: u32 = 18;

/// A place of the hash table without a rank.
pub(crate) const FREE: u32 = u32::MAX;

/// The rank of what is no token: higher than all others.
pub(crate) const NO_TOKEN: u32 = u32::MAX;

/// No token has more bytes.
pub(crate) const LONGEST_TOKEN: usize = 128;

/// How many characters have their classes in one block.
pub(crate) const BLOCK: usize = 128;

// The classes of characters that the expressions of the encodings tell apart, as bits.

/// A letter in upper or title case.
pub(crate) const UPPER: u8 = 1;
/// A letter in lower case.
pub(crate) const LOWER: u8 = 2;
/// A letter without case, such as those of Chinese.
pub(crate) const PLAIN: u8 = 4;
/// A mark that goes onto another character.
pub(crate) const MARK: u8 = 8;
/// A digit or another number.
pub(crate) const NUMBER: u8 = 16;
/// White space that does not end a line.
pub(crate) const BLANK: u8 = 32;
/// A line feed or a carriage return.
pub(crate) const LINE_END: u8 = 64;
/// Everything else: punctuation, symbols, control characters, what is not assigned.
pub(crate) const OTHER: u8 = 128;

/// Returns a hash of a token's bytes.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let seed = mix(bytes.len() as u64 ^ SEED);
    // What is not a multiple of a word long is read with an overlap.
    if let Some(last) = bytes.last_chunk::<8>() {
        let (words, _) = bytes.as_chunks::<8>();
        let hash = words.iter().fold(seed, |hash, word| mix(hash ^ u64::from_le_bytes(*word)));
        mix(hash ^ u64::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        mix(seed ^ (u64::from(first) << 32 | u64::from(last)))
    } else {
        mix(seed ^ bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
    }
}

/// Returns where a token with this hash is looked for first.
pub(crate) fn place(hash: u64, places: usize) -> usize {
    (hash >> 32) as usize & (places - 1)
}

/// Returns where it is looked for next.
pub(crate) fn next_place(place: usize, places: usize) -> usize {
    (place + 1) & (places - 1)
}

/// Returns the bits of a hash that stand above the rank.
#[expect(clippy::cast_possible_truncation, reason = "only these bits are wanted")]
pub(crate) fn tag(hash: u64) -> u32 {
    (hash as u32) << RANK_BITS
}

/// Returns where a pair of bytes has its rank in the table of pairs.
pub(crate) fn pair(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

/// How many bits the table of joints has.
pub(crate) const JOINTS: usize = 1 << 19;

/// Stands for every character in a joint.
pub(crate) const ANY: u32 = 0;

/// Returns the bit that is set when a token reaches across the place between two characters; it may
/// be set for others too.
#[expect(clippy::cast_possible_truncation, reason = "the bit is below the number of bits")]
pub(crate) fn joint(left: u32, right: u32) -> usize {
    mix(SEED ^ (u64::from(left) << 32 | u64::from(right))) as usize & (JOINTS - 1)
}

/// Returns the bytes of a character as a number.
pub(crate) fn packed(character: &[u8]) -> u32 {
    character.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Returns how many bytes a character has that begins so.
pub(crate) fn length_of_character(first: u8) -> usize {
    match first {
        0..0xC0 => 1,
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    }
}

fn mix(word: u64) -> u64 {
    let product = u128::from(word) * u128::from(SEED);
    #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
    let halves = (product as u64, (product >> 64) as u64);
    halves.0 ^ halves.1
}

const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

//! Exact token counts; the only user of tiktoken.
//!
//! Counting is linear in the length of the text and never panics, whatever the text is: long texts
//! are counted in pieces that end where no token can reach across (`seams.rs`), and very long
//! blank runs, on which the regular expression of the tables gives up, are counted in blocks.
//! Strings that look like special tokens (`<|endoftext|>`) are ordinary text. The tables are loaded
//! by the first count, never by making a counter, so commands that count nothing do not pay for them.

mod seams;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

/// Counts tokens exactly in one encoding; remembers the counts of lines by their hashes.
pub struct TokenCounter {
    encoding: Encoding,
    hasher: RandomState,
    remembered: Mutex<Remembered>,
}

/// The tables that a model cuts its text with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `o200k_base`: current models, and our guess for unknown ones.
    O200k,
    /// `cl100k_base`: GPT-4 and GPT-3.5.
    Cl100k,
}

impl Encoding {
    /// Returns the encoding of a model; [`Encoding::O200k`] when the name is unknown.
    pub fn for_model(name: &str) -> Self {
        Self::of_known_model(name).unwrap_or(Self::O200k)
    }

    /// Returns the encoding of a model whose encoding we know; for others counts are an estimate.
    pub fn of_known_model(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_prefix("ft:").unwrap_or(&name);
        // Gateways put the vendor in front: `openai/gpt-4o`.
        let name = name.rsplit('/').next().unwrap_or(name);
        MODELS.iter().find(|(prefix, _)| is_of_family(name, prefix)).map(|(_, encoding)| *encoding)
    }

    /// Returns the name of the tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::O200k => "o200k_base",
            Self::Cl100k => "cl100k_base",
        }
    }

    fn tables(self) -> &'static CoreBPE {
        match self {
            Self::O200k => o200k_base_singleton(),
            Self::Cl100k => cl100k_base_singleton(),
        }
    }
}

/// The families of models whose encoding is known; the longer name first where one begins another.
const MODELS: &[(&str, Encoding)] = &[
    ("gpt-4o", Encoding::O200k),
    ("chatgpt-4o", Encoding::O200k),
    ("gpt-4.1", Encoding::O200k),
    ("gpt-4.5", Encoding::O200k),
    ("gpt-5", Encoding::O200k),
    ("gpt-oss", Encoding::O200k),
    ("o1", Encoding::O200k),
    ("o3", Encoding::O200k),
    ("o4-mini", Encoding::O200k),
    ("codex-mini", Encoding::O200k),
    ("gpt-4", Encoding::Cl100k),
    ("gpt-3.5", Encoding::Cl100k),
    ("gpt-35", Encoding::Cl100k),
    ("davinci-002", Encoding::Cl100k),
    ("babbage-002", Encoding::Cl100k),
    ("text-embedding-3", Encoding::Cl100k),
    ("text-embedding-ada-002", Encoding::Cl100k),
];

impl TokenCounter {
    /// Returns a counter; loads nothing yet.
    pub fn for_encoding(encoding: Encoding) -> Self {
        Self { encoding, hasher: RandomState::new(), remembered: Mutex::default() }
    }

    /// Returns a counter for a model's encoding; loads nothing yet.
    pub fn for_model(name: &str) -> Self {
        Self::for_encoding(Encoding::for_model(name))
    }

    /// Returns the encoding.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns how many tokens `text` is.
    pub fn count(&self, text: &str) -> usize {
        if text.len() > LONG {
            return self.count_remembering(text);
        }
        // Contexts and conversations are counted again and again, each time with a little more or
        // in another frame, and it is their lines that stay the same.
        seams::lines(text).map(|lines| self.count_remembering(lines)).sum()
    }

    fn count_remembering(&self, text: &str) -> usize {
        if text.len() < WORTH_REMEMBERING {
            return self.count_anew(text);
        }
        let key = (self.hasher.hash_one(text), text.len());
        if let Some(count) = self.with_remembered(|remembered| remembered.get(key)) {
            return count;
        }
        let count = self.count_anew(text);
        self.with_remembered(|remembered| remembered.insert(key, count));
        count
    }

    /// Returns the length in bytes of the longest beginning of `text` that was found to have at most
    /// `most` tokens. It ends at a character boundary.
    pub fn fit_start(&self, text: &str, most: usize) -> usize {
        let mut room = most;
        let mut end = 0;
        for piece in seams::pieces(text) {
            let lengths = self.token_lengths(piece);
            if lengths.len() <= room {
                room -= lengths.len();
                end += piece.len();
                continue;
            }
            end += lengths[..room].iter().sum::<usize>();
            break;
        }
        // What is cut off inside of a piece may fall into other tokens than it did with its end.
        let mut end = super::text::floor_char_boundary(text, end);
        while end > 0 && self.count_anew(&text[..end]) > most {
            end = super::text::floor_char_boundary(text, end - 1);
        }
        end
    }

    /// Returns where the longest end of `text` begins that was found to have at most `most` tokens.
    pub fn fit_end(&self, text: &str, most: usize) -> usize {
        if most == 0 {
            return text.len();
        }
        // Only as much as may fit is looked at, not the megabytes before it.
        let mut window = most.saturating_mul(8);
        let mut start = loop {
            let from = super::text::ceil_char_boundary(text, text.len().saturating_sub(window));
            let lengths: Vec<usize> =
                seams::pieces(&text[from..]).flat_map(|piece| self.token_lengths(piece)).collect();
            if lengths.len() >= most || from == 0 {
                let skipped = lengths.len().saturating_sub(most);
                break from + lengths[..skipped].iter().sum::<usize>();
            }
            window = window.saturating_mul(2);
        };
        start = super::text::ceil_char_boundary(text, start);
        while start < text.len() && self.count_anew(&text[start..]) > most {
            start = super::text::ceil_char_boundary(text, start + 1);
        }
        start
    }

    fn count_anew(&self, text: &str) -> usize {
        seams::pieces(text)
            .map(|piece| self.encode(piece).map_or(piece.len(), |ids| ids.len()))
            .sum()
    }

    /// Returns how many bytes each token of a piece covers.
    fn token_lengths(&self, piece: &str) -> Vec<usize> {
        let Some(ids) = self.encode(piece) else { return vec![1; piece.len()] };
        let tables = self.encoding.tables();
        let length = |id: &u32| tables.decode_bytes(&[*id]).map_or(1, |bytes| bytes.len());
        ids.iter().map(length).collect()
    }

    /// Returns the tokens, or none where the tables' own code panics: then every byte counts as a
    /// token, which is never too few.
    fn encode(&self, piece: &str) -> Option<Vec<u32>> {
        if piece.is_empty() {
            return Some(Vec::new());
        }
        let tables = self.encoding.tables();
        catch_unwind(AssertUnwindSafe(|| tables.encode_ordinary(piece))).ok()
    }

    fn with_remembered<T>(&self, act: impl FnOnce(&mut Remembered) -> T) -> T {
        act(&mut self.remembered.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl std::fmt::Debug for TokenCounter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("TokenCounter")
            .field("encoding", &self.encoding)
            .finish_non_exhaustive()
    }
}

/// Shorter texts are counted about as fast as they are looked up.
const WORTH_REMEMBERING: usize = 8;

/// Of longer texts only the whole is remembered, because their lines would push out all others.
const LONG: usize = 256 * 1_024;

/// How many counts one generation holds; there are two, of some 250 KB each.
const REMEMBERED: usize = 8_192;

/// Counts by hash and length, in two generations: a full one becomes the old one, and what is
/// asked for again moves back. So memory is bounded and what is in use stays.
#[derive(Default)]
struct Remembered {
    young: HashMap<(u64, usize), usize>,
    old: HashMap<(u64, usize), usize>,
}

impl Remembered {
    fn get(&mut self, key: (u64, usize)) -> Option<usize> {
        if let Some(count) = self.young.get(&key) {
            return Some(*count);
        }
        let count = self.old.remove(&key)?;
        self.insert(key, count);
        Some(count)
    }

    fn insert(&mut self, key: (u64, usize), count: usize) {
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, count);
    }
}

/// Tells whether a model's name is `family` or `family` with something behind it (`-mini`, `.1`,
/// `:online`): `o1-preview` is of the family `o1`, `o1x` is not.
fn is_of_family(name: &str, family: &str) -> bool {
    let Some(rest) = name.strip_prefix(family) else { return false };
    rest.chars().next().is_none_or(|next| !next.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests;

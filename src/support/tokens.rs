//! Exact token counts, in the encodings of OpenAI.
//!
//! A text is cut into matches (`matches.rs`), and each match is merged into tokens (`merge.rs`) by
//! tables that the build script made and that lie in the program ready to use (`vocabulary.rs`).
//! Counting takes linear time but for a logarithm, loads nothing and never panics, whatever the
//! text is. Strings that look like special tokens (`<|endoftext|>`) are ordinary text.

mod layout;
mod lines;
mod matches;
mod merge;
mod vocabulary;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use merge::Merger;
use vocabulary::Vocabulary;

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
    /// Returns a counter.
    pub fn for_encoding(encoding: Encoding) -> Self {
        Self { encoding, hasher: RandomState::new(), remembered: Mutex::default() }
    }

    /// Returns a counter for a model's encoding.
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
        lines::lines(text).map(|lines| self.count_remembering(lines)).sum()
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

    /// Tells whether `text` has at most `most` tokens; of a long text only so much is looked at as it
    /// takes to tell.
    pub fn fits(&self, text: &str, most: usize) -> bool {
        if text.len() <= most {
            // Every token covers a byte at least.
            return true;
        }
        if text.len() <= LONG {
            return self.count(text) <= most;
        }
        let mut count = 0;
        let mut merger = self.merger();
        matches::matches(self.encoding, text).all(|matched| {
            merger.tokens(matched, &mut |_| count += 1);
            count <= most
        })
    }

    /// Returns the length in bytes of the longest beginning of `text` that was found to have at most
    /// `most` tokens. It ends at a character boundary.
    pub fn fit_start(&self, text: &str, most: usize) -> usize {
        let (mut room, mut end) = (most, 0);
        let mut merger = self.merger();
        for matched in matches::matches(self.encoding, text) {
            merger.tokens(matched, &mut |length| {
                if let Some(left) = room.checked_sub(1) {
                    room = left;
                    end += length;
                }
            });
            if room == 0 {
                break;
            }
        }
        // What is cut off inside of a match may fall into other tokens than it did with its end.
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
            let lengths = self.token_lengths(&text[from..]);
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
        let mut count = 0;
        let mut merger = self.merger();
        for matched in matches::matches(self.encoding, text) {
            merger.tokens(matched, &mut |_| count += 1);
        }
        count
    }

    /// Returns how many bytes each token covers.
    fn token_lengths(&self, text: &str) -> Vec<usize> {
        let mut lengths = Vec::new();
        let mut merger = self.merger();
        for matched in matches::matches(self.encoding, text) {
            merger.tokens(matched, &mut |length| lengths.push(length));
        }
        lengths
    }

    fn merger(&self) -> Merger {
        Merger::new(Vocabulary::of(self.encoding))
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

//! Ids of calls: made where a server gives none, changed where the next server would refuse them.
//!
//! They follow from what they stand for, so that the same conversation is always the same bytes.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

/// Nine letters or digits fit every server; some take nothing else.
const LENGTH: usize = 9;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Returns an id that follows from a text.
pub(super) fn made_from(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let letter = |byte: &u8| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]);
    digest.iter().take(LENGTH).map(letter).collect()
}

/// Returns an id that follows from a seed and is not taken, and takes it.
pub(super) fn unused(seed: &str, taken: &mut HashSet<String>) -> String {
    let mut id = made_from(seed);
    while !taken.insert(id.clone()) {
        id = made_from(&format!("{seed}/{id}"));
    }
    id
}

/// Returns the id as the server takes it: as it is, or another that follows from it.
pub(super) fn for_server(id: &str, short: bool) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || (!short && "_-".contains(letter));
    let length = if short { LENGTH..=LENGTH } else { 1..=64 };
    if length.contains(&id.len()) && id.chars().all(plain) {
        return id.to_owned();
    }
    made_from(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_nine_letters_or_digits_and_always_the_same() {
        let id = made_from("call 1");
        assert_eq!((id.len(), id.as_str()), (9, made_from("call 1").as_str()));
        assert!(id.chars().all(|letter| letter.is_ascii_alphanumeric()));
        assert_ne!(id, made_from("call 2"));
    }

    #[test]
    fn only_an_id_that_would_be_refused_is_changed() {
        assert_eq!(for_server("call_abc-1", false), "call_abc-1");
        assert_eq!(for_server("Ab3dE6gH9", true), "Ab3dE6gH9");
        for (id, short) in [("call_1", true), ("call:1", false), ("", false), ("调用", false)] {
            assert_eq!(for_server(id, short), made_from(id));
        }
    }
}

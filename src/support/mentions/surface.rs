//! What a word may begin with in a text when it is a certain term for the tokeniser.
//!
//! The tokeniser lowers the case, cuts endings and shortens; a text is searched for what all of
//! that leaves standing at the front. Too much may be found this way and is looked at again;
//! nothing may be missed.

use crate::support::words::forms_of;

/// Returns the beginnings, in each case that one part of an identifier may have, of all ASCII words
/// that become `term`.
pub(super) fn beginnings_of(term: &str) -> Vec<String> {
    let mut beginnings = Vec::new();
    for stem in std::iter::once(term).chain(forms_of(term)) {
        for beginning in beginnings_of_stem(stem) {
            beginnings.extend(in_each_case(&beginning));
        }
    }
    beginnings.sort_unstable();
    beginnings.dedup();
    // What begins with a shorter one is found with it.
    let all = beginnings.clone();
    beginnings.retain(|one| !all.iter().any(|other| other != one && one.starts_with(other)));
    beginnings
}

/// More of a word tells nothing more.
const LONGEST: usize = 12;

/// Returns what the words with this stem begin with. The stemmer cuts, and where it adds it adds
/// at the end: an `e`, an `i` for a `y`, or `le` (*ability* becomes *able*), of which the `e` may go.
fn beginnings_of_stem(stem: &str) -> Vec<String> {
    let is_word = stem.bytes().all(|byte| byte.is_ascii_lowercase());
    let (mut kept, mut others) = (stem, None);
    if is_word && stem.len() > 3 && stem.ends_with("ble") {
        kept = &stem[..stem.len() - 2];
    } else if is_word && stem.len() > 3 && (stem.ends_with('e') || stem.ends_with("bl")) {
        kept = &stem[..stem.len() - 1];
    } else if is_word && stem.len() > 1 && stem.ends_with('i') {
        others = Some(format!("{}y", &stem[..stem.len() - 1]));
    }
    let short = |text: &str| text.chars().take(LONGEST).collect::<String>();
    std::iter::once(short(kept)).chain(others.as_deref().map(short)).collect()
}

/// Returns the cases that the beginning of a part may have: a part is small letters, or begins with
/// one capital, or has capitals up to its first digit. Anything else is several parts.
fn in_each_case(beginning: &str) -> [String; 3] {
    let digit = beginning.find(|character: char| character.is_ascii_digit());
    let capitals = digit.unwrap_or(beginning.len());
    let upper_to = |end: usize| beginning[..end].to_ascii_uppercase() + &beginning[end..];
    [beginning.to_owned(), upper_to(capitals.min(1)), upper_to(capitals)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::words::{TermKind, visit};

    /// Every ending that the stemmer knows, behind stems of many shapes, in each case.
    #[test]
    fn no_word_begins_otherwise_than_its_term_says() {
        let stems = [
            "relat", "hop", "fil", "abil", "sens", "pon", "o", "sa", "t", "ab", "conf", "run",
            "us", "agr", "pars", "plann", "decis", "at", "iz", "bl", "ti", "form", "hope", "triv",
            "sky", "ya", "control", "fall", "buzz", "miss", "y", "ey", "config", "argu", "db",
        ];
        let endings = [
            "", "s", "es", "ies", "ied", "ed", "ing", "eed", "y", "ys", "e", "ational", "tional",
            "ency", "ancy", "izer", "ably", "ally", "ently", "ely", "ously", "ization", "ation",
            "ator", "alism", "iveness", "fulness", "ousness", "ality", "ivity", "bility", "icate",
            "ative", "alize", "icity", "ical", "ful", "ness", "ement", "ance", "ence", "able",
            "ible", "ment", "ant", "ent", "ism", "ate", "ity", "ous", "ive", "ize", "ion", "al",
            "er", "ic", "ou", "or", "ing", "ling", "ll", "sses", "ers", "erly", "ability", "ble",
        ];
        for stem in stems {
            for ending in endings {
                for second in ["", "s", "ed", "ing", "ly", "er", "ness", "ity"] {
                    check(&format!("{stem}{ending}{second}"));
                }
            }
        }
        for word in ["function", "Configuration", "cfg", "DATABASE", "db", "Id", "IDENTIFIER"] {
            check(word);
        }
    }

    #[track_caller]
    fn check(word: &str) {
        let mut capital = word.to_owned();
        capital[..1].make_ascii_uppercase();
        for word in [word.to_owned(), capital, word.to_ascii_uppercase()] {
            visit(&word, |kind, term| {
                let beginnings = beginnings_of(term);
                let begins = beginnings.iter().any(|beginning| word.starts_with(beginning));
                assert!(kind == TermKind::Word && begins, "{word} {term} {beginnings:?}");
            });
        }
    }

    #[test]
    fn a_beginning_is_as_long_as_it_can_be() {
        assert_eq!(beginnings_of("object"), ["OBJECT", "Object", "object"]);
        assert_eq!(beginnings_of("file"), ["FIL", "Fil", "fil"]);
        assert_eq!(beginnings_of("utf8x"), ["UTF8x", "Utf8x", "utf8x"]);
        assert_eq!(beginnings_of("poni"), ["PONI", "PONY", "Poni", "Pony", "poni", "pony"]);
        assert_eq!(beginnings_of("12"), ["12"]);
    }
}

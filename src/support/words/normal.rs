//! Texts in the one spelling of Unicode that the tokeniser reads (NFKC).
//!
//! A text is copied only where a character has another spelling that matters: full-width
//! punctuation stands in nearly every Chinese text, divides words as its narrow form does, and is
//! left as it is.

use std::borrow::Cow;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::is_spaceless;

/// A text that the tokeniser can read, and what was seen on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::support) struct Normal<'a> {
    pub(in crate::support) text: Cow<'a, str>,
    /// How many characters of scripts without spaces it has.
    pub(in crate::support) spaceless: usize,
    /// How many other characters it has that are not ASCII and may be letters.
    pub(in crate::support) others: usize,
    /// Whether it has `İ`, the one letter with ASCII in its lower case that is not ASCII.
    pub(in crate::support) has_dotted_capital: bool,
}

/// Returns a text as the tokeniser reads it.
pub(in crate::support) fn normalized(text: &str) -> Normal<'_> {
    let (normal, is_plain) = look_at(text);
    if is_plain || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        return normal;
    }
    let text: String = text.nfkc().collect();
    let Normal { spaceless, others, has_dotted_capital, .. } = look_at(&text).0;
    Normal { text: Cow::Owned(text), spaceless, others, has_dotted_capital }
}

/// Returns what is in a text, and whether nothing in it has another spelling that matters.
fn look_at(text: &str) -> (Normal<'_>, bool) {
    let mut normal =
        Normal { text: Cow::Borrowed(text), spaceless: 0, others: 0, has_dotted_capital: false };
    let mut is_plain = true;
    let mut rest = text;
    while !rest.is_empty() {
        rest = &rest[ascii_length(rest.as_bytes())..];
        let mut characters = rest.chars();
        for character in characters.by_ref().take_while(|character| !character.is_ascii()) {
            match character {
                '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' => normal.spaceless += 1,
                divider if is_divider(divider) => {}
                other => {
                    if is_spaceless(other) {
                        normal.spaceless += 1;
                    } else {
                        normal.others += 1;
                        normal.has_dotted_capital |= other == 'İ';
                    }
                    is_plain &= canonical_combining_class(other) == 0
                        && is_nfkc_quick(std::iter::once(other)) == IsNormalized::Yes;
                }
            }
        }
        rest = characters.as_str();
    }
    (normal, is_plain)
}

/// Returns how many bytes of ASCII a text begins with.
fn ascii_length(bytes: &[u8]) -> usize {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let (words, _) = bytes.as_chunks::<8>();
    let whole = words.iter().take_while(|word| u64::from_ne_bytes(**word) & HIGH == 0).count() * 8;
    whole + bytes[whole..].iter().take_while(|byte| byte.is_ascii()).count()
}

/// Tells whether a character divides words, and its other spelling, if it has one, does too.
fn is_divider(character: char) -> bool {
    matches!(character,
        '\u{2014}' | '\u{2018}'..='\u{201D}' | '\u{2026}' | '\u{3000}'..='\u{3002}'
        | '\u{3008}'..='\u{3011}'
        | '\u{FF01}'..='\u{FF0C}' | '\u{FF0E}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}'
        | '\u{FF3B}'..='\u{FF3E}' | '\u{FF40}' | '\u{FF5B}'..='\u{FF5E}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_divider_has_no_spelling_that_belongs_to_a_word() {
        for character in ('\u{80}'..=char::MAX).filter(|character| is_divider(*character)) {
            assert!(!is_spaceless(character) && !character.is_alphanumeric(), "{character:?}");
            assert_eq!(canonical_combining_class(character), 0, "{character:?}");
            for spelled in std::iter::once(character).nfkc() {
                let in_word = spelled.is_alphanumeric() || matches!(spelled, '_' | '-');
                assert!(!in_word && !is_spaceless(spelled), "{character:?}");
            }
        }
    }

    #[test]
    fn a_text_is_copied_only_where_it_must_be() {
        for text in ["", "plain", "你好，世界（测试）！", "naïve Größe Привет", "—“x”…"]
        {
            assert!(matches!(normalized(text).text, Cow::Borrowed(_)), "{text}");
        }
        for (text, expected) in
            [("Ｍatch，x", "Match,x"), ("e\u{301}，", "é,"), ("ﬁle", "file"), ("\u{212A}", "K")]
        {
            assert_eq!(normalized(text).text, expected);
        }
    }

    #[test]
    fn what_a_text_has_is_seen() {
        let seen = |text| {
            let normal = normalized(text);
            (normal.spaceless, normal.others, normal.has_dotted_capital)
        };
        assert_eq!(seen("abc，你好 def"), (2, 0, false));
        assert_eq!(seen("12345678 é"), (0, 1, false));
        assert_eq!(seen("İ你"), (1, 1, true));
        assert_eq!(seen("ｦ"), (1, 0, false));
    }

    #[test]
    fn only_two_letters_have_ascii_in_their_lower_case() {
        let ascii: Vec<char> = ('\u{80}'..=char::MAX)
            .filter(|letter| letter.to_lowercase().any(|small| small.is_ascii()))
            .collect();
        // The sign of the kelvin has another spelling, so it never comes to the tokeniser.
        assert_eq!(ascii, ['İ', '\u{212A}']);
    }
}

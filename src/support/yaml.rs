//! The only user of the YAML crate, so that it can be swapped in one place.
//!
//! What it reads besides YAML: the two escapes by which JSON writes a character beyond the first
//! 65,536 (`"\\ud83d\\ude00"`), wherever a text in double quotes has them.

use std::fmt::Write as _;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use serde_yaml::{Error, Mapping, Value};

/// Reads a document. The caller bounds its size: YAML parsers are quadratic on hostile nesting.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    serde_yaml::from_str(text).or_else(|error| match with_whole_characters(text) {
        Some(text) => serde_yaml::from_str(&text).map_err(|_| error),
        None => Err(error),
    })
}

/// Writes a document.
pub fn write<T: Serialize>(value: &T) -> Result<String, Error> {
    serde_yaml::to_string(value)
}

/// Returns a text whose escaped halves of characters are put together, as YAML writes them; a half
/// alone becomes the sign for what cannot be shown. None where there are no halves.
fn with_whole_characters(text: &str) -> Option<String> {
    let mut whole = String::with_capacity(text.len());
    let (mut quote, mut before, mut found) = (None, ' ', false);
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let mut length = character.len_utf8();
        match (quote, character) {
            (Some('"'), '\\') => match half(rest) {
                Some(first) => {
                    found = true;
                    length = ESCAPE;
                    let second = half(&rest[ESCAPE..]).filter(|_| first < 0xdc00);
                    let pair =
                        second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
                    length += if pair.is_some() { ESCAPE } else { 0 };
                    let character = u32::from(pair.unwrap_or(char::REPLACEMENT_CHARACTER));
                    // Writing into a string cannot fail.
                    _ = write!(whole, "\\U{character:08x}");
                    rest = &rest[length..];
                    continue;
                }
                None => length += rest[length..].chars().next().map_or(0, char::len_utf8),
            },
            (Some(open), _) if open == character => quote = None,
            // Within a word a quote begins nothing.
            (None, '"' | '\'') if !before.is_alphanumeric() => quote = Some(character),
            (Some(_) | None, _) => {}
        }
        whole.push_str(&rest[..length]);
        rest = &rest[length..];
        before = character;
    }
    found.then_some(whole)
}

/// The length of an escape of four digits.
const ESCAPE: usize = r"\u0000".len();

/// Returns the half of a character that a text begins with, escaped.
fn half(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let unit = u16::from_str_radix(digits, 16).ok().filter(|_| is_hexadecimal)?;
    (0xd800..0xe000).contains(&unit).then_some(unit)
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(read::<Vec<String>>(text).unwrap(), expected, "{text}");
    }

    #[test]
    fn characters_that_json_writes_as_two_escapes_are_read() {
        check(r#"["\ud83d\ude00", 'b', ]"#, &["😀", "b"]);
        check("[\n  \"a\\ud83d\\uDE00b\",\n  it's,\n]", &["a😀b", "it's"]);
        check("- \"\\ud83d\\ude00\" # \"\\ud83d\"\n- '\\ud83d\\ude00'", &["😀", r"\ud83d\ude00"]);
        // Halves alone and in the wrong order, and what only looks like one.
        check(
            r#"["\ud83d", "\ude00\ud83d", "\ud83d\u0041"]"#,
            &["\u{fffd}", "\u{fffd}\u{fffd}", "\u{fffd}A"],
        );
        check(r#"["\\ud83d", "\ud83d\ude00"]"#, &[r"\ud83d", "😀"]);
        assert!(read::<Vec<String>>(r#"["\ud83"]"#).is_err());
        assert!(read::<Vec<String>>("[\"\\ud83d\\").is_err());
    }
}

//! The one tokeniser: what a text is made of, for ranking packets and for searching notes.
//!
//! English, identifiers and Chinese at once and without a dictionary. Words are normalised (NFKC,
//! lower case) and stemmed; identifiers (`camelCase`, `snake_case`, `kebab-case`) are split *and*
//! kept whole, in one spelling for all three styles; Chinese, Japanese and Korean runs become
//! pairs of neighbours, and single characters. It ranks nothing (see [`super::bm25`]), and takes
//! time linear in the text, whatever the text is.

mod known;
mod normal;

use std::collections::HashSet;

pub(super) use known::forms_of;
pub use known::short_stems;
pub(super) use normal::{Normal, normalized};

use super::stem::{stem, stem_in_place};
use known::{is_stop_word, short_stem};

/// What a term is; each kind is a field of its own, with lengths and frequencies of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TermKind {
    /// A stemmed word, or a number.
    Word,
    /// An identifier of several parts, joined and stemmed as one word: `snake_case` is `snakecas`.
    Identifier,
    /// Two neighbouring characters of a script without spaces.
    Pair,
    /// One character of a script without spaces.
    Character,
}

/// The terms of a text, in its order, with repetitions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// Stemmed words and numbers, without stop words.
    pub words: Vec<String>,
    /// Identifiers of several parts, joined.
    pub identifiers: Vec<String>,
    /// Pairs of neighbouring characters.
    pub pairs: Vec<String>,
    /// Single characters.
    pub characters: Vec<String>,
}

impl Terms {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
            && self.identifiers.is_empty()
            && self.pairs.is_empty()
            && self.characters.is_empty()
    }
}

/// Returns the terms of a text.
pub fn terms(text: &str) -> Terms {
    let mut terms = Terms::default();
    visit(text, |kind, term| {
        let list = match kind {
            TermKind::Word => &mut terms.words,
            TermKind::Identifier => &mut terms.identifiers,
            TermKind::Pair => &mut terms.pairs,
            TermKind::Character => &mut terms.characters,
        };
        list.push(term.to_owned());
    });
    terms
}

/// Returns the terms of a question: those of the text, and neighbouring words joined, because
/// *walk builder* asks for `WalkBuilder`.
pub fn query_terms(text: &str) -> Terms {
    let mut terms = terms(text);
    let mut known: HashSet<String> = terms.identifiers.iter().cloned().collect();
    for count in [2, 3] {
        for neighbours in terms.words.windows(count) {
            // Nobody knows any more how the last of them was written.
            let joined = neighbours.concat();
            let stemmed = stem(&joined);
            for joined in [joined, stemmed] {
                if known.insert(joined.clone()) {
                    terms.identifiers.push(joined);
                }
            }
        }
    }
    terms
}

/// Calls `found` with every term of a text, in order, without allocating for each.
pub fn visit(text: &str, found: impl FnMut(TermKind, &str)) {
    visit_normalized(&normalized(text).text, found);
}

/// Calls `found` with every term of a text that is normalised already.
pub(super) fn visit_normalized(text: &str, mut found: impl FnMut(TermKind, &str)) {
    let mut tokeniser = Tokeniser::default();
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        // Most of most texts is words in lower case, which need no look at each letter.
        let small = bytes[at..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        if small > 0 {
            tokeniser.take_small_letters(&text[at..at + small], &mut found);
            at += small;
        } else if byte.is_ascii() {
            tokeniser.take_ascii(byte, &mut found);
            at += 1;
        } else {
            let Some(character) = text[at..].chars().next() else { break };
            tokeniser.take(character, &mut found);
            at += character.len_utf8();
        }
    }
    tokeniser.end_run(&mut found);
}

/// Returns whether a character belongs to a script that is written without spaces.
pub fn is_spaceless(character: char) -> bool {
    matches!(character,
        '\u{2E80}'..='\u{2FDF}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30FF}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3134F}')
}

/// A longer identifier is data (a hash, base64), and only its parts are kept.
const LONGEST_IDENTIFIER: usize = 64;

/// A longer part is cut, so that a minified file is not one huge term.
pub(super) const LONGEST_PART: usize = 64;

/// Where the last character stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Last {
    #[default]
    None,
    Lower,
    Upper,
    Digit,
}

/// The state between two characters.
#[derive(Debug, Default)]
struct Tokeniser {
    /// The part being read, in lower case.
    part: String,
    /// The stems of the identifier's parts so far, joined.
    joined: String,
    /// How long that was without the last part, and how that one is written; empty where it has a
    /// short form.
    before: usize,
    tail: String,
    /// How many parts the identifier has so far.
    parts: usize,
    last: Last,
    /// A `_` or `-` was seen after a part: the next letter continues the identifier.
    joint: bool,
    /// The last character of a run without spaces.
    previous: Option<char>,
}

impl Tokeniser {
    fn take(&mut self, character: char, found: &mut impl FnMut(TermKind, &str)) {
        if is_spaceless(character) {
            self.end_identifier(found);
            self.take_spaceless(character, found);
            return;
        }
        self.previous = None;
        if character.is_alphanumeric() {
            self.take_letter(character, found);
        } else if matches!(character, '_' | '-') && self.last != Last::None && !self.joint {
            self.end_part(found);
            self.joint = true;
        } else {
            self.end_identifier(found);
        }
    }

    /// Takes letters `a` to `z`, at least one.
    fn take_small_letters(&mut self, letters: &str, found: &mut impl FnMut(TermKind, &str)) {
        let (first, rest) = letters.split_at(1);
        self.previous = None;
        self.take_ascii_letter(first.as_bytes()[0], Last::Lower, found);
        if self.part.len() + rest.len() <= LONGEST_PART {
            self.part.push_str(rest);
            return;
        }
        for letter in rest.bytes() {
            self.take_ascii_letter(letter, Last::Lower, found);
        }
    }

    fn take_ascii(&mut self, byte: u8, found: &mut impl FnMut(TermKind, &str)) {
        self.previous = None;
        match byte {
            b'a'..=b'z' => self.take_ascii_letter(byte, Last::Lower, found),
            b'A'..=b'Z' => self.take_ascii_letter(byte, Last::Upper, found),
            b'0'..=b'9' => self.take_ascii_letter(byte, Last::Digit, found),
            b'_' | b'-' => self.take(char::from(byte), found),
            _ if self.last == Last::None => {}
            _ => self.end_identifier(found),
        }
    }

    fn take_ascii_letter(&mut self, byte: u8, kind: Last, found: &mut impl FnMut(TermKind, &str)) {
        self.continue_part(kind, found);
        self.part.push(char::from(byte.to_ascii_lowercase()));
    }

    fn take_letter(&mut self, character: char, found: &mut impl FnMut(TermKind, &str)) {
        let kind = if character.is_numeric() {
            Last::Digit
        } else if character.is_uppercase() {
            Last::Upper
        } else {
            Last::Lower
        };
        self.continue_part(kind, found);
        self.part.extend(character.to_lowercase());
    }

    /// Ends the part where a letter or digit of this kind begins another.
    fn continue_part(&mut self, kind: Last, found: &mut impl FnMut(TermKind, &str)) {
        match (self.last, kind) {
            (Last::Lower | Last::Digit, Last::Upper) => self.end_part(found),
            (Last::Upper, Last::Lower) => self.split_acronym(found),
            _ => {}
        }
        self.joint = false;
        self.last = kind;
        if self.part.len() >= LONGEST_PART {
            self.end_part(found);
        }
    }

    /// `HTTPServer`: the last capital belongs to the word that follows.
    fn split_acronym(&mut self, found: &mut impl FnMut(TermKind, &str)) {
        if self.part.chars().count() < 2 {
            return;
        }
        let Some(first) = self.part.pop() else { return };
        self.end_part(found);
        self.part.push(first);
    }

    fn end_part(&mut self, found: &mut impl FnMut(TermKind, &str)) {
        if self.part.is_empty() {
            return;
        }
        let stop = is_stop_word(self.part.as_bytes());
        self.tail.clear();
        if self.parts > 0 {
            self.tail.push_str(&self.part);
        }
        stem_in_place(&mut self.part);
        if let Some(short) = short_stem(&self.part) {
            self.tail.clear();
            self.part.clear();
            self.part.push_str(short);
        }
        if !stop {
            found(TermKind::Word, &self.part);
        }
        if self.joined.len() <= LONGEST_IDENTIFIER {
            self.before = self.joined.len();
            self.joined.push_str(&self.part);
        }
        self.parts += 1;
        self.part.clear();
    }

    fn end_identifier(&mut self, found: &mut impl FnMut(TermKind, &str)) {
        self.end_part(found);
        if self.parts > 1 && self.joined.len() <= LONGEST_IDENTIFIER {
            // The stem of *filename* has lost a letter that the stem of *name* keeps.
            if !self.tail.is_empty() {
                self.joined.truncate(self.before);
                self.joined.push_str(&self.tail);
                stem_in_place(&mut self.joined);
            }
            found(TermKind::Identifier, &self.joined);
        }
        self.joined.clear();
        self.parts = 0;
        self.last = Last::None;
        self.joint = false;
    }

    fn take_spaceless(&mut self, character: char, found: &mut impl FnMut(TermKind, &str)) {
        let mut buffer = [0; 8];
        let length = character.encode_utf8(&mut buffer).len();
        if let Ok(single) = std::str::from_utf8(&buffer[..length]) {
            found(TermKind::Character, single);
        }
        if let Some(previous) = self.previous.replace(character) {
            let first = previous.encode_utf8(&mut buffer).len();
            let second = character.encode_utf8(&mut buffer[first..]).len();
            if let Ok(pair) = std::str::from_utf8(&buffer[..first + second]) {
                found(TermKind::Pair, pair);
            }
        }
    }

    fn end_run(&mut self, found: &mut impl FnMut(TermKind, &str)) {
        self.end_identifier(found);
        self.previous = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, words: &[&str], identifiers: &[&str]) {
        let terms = terms(text);
        assert_eq!(terms.words, words, "words of {text:?}");
        assert_eq!(terms.identifiers, identifiers, "identifiers of {text:?}");
    }

    #[test]
    fn identifiers_are_split_and_kept_whole_in_one_spelling() {
        check("walkBuilder", &["walk", "build"], &["walkbuild"]);
        check(
            "walk_builder walk-builder",
            &["walk", "build", "walk", "build"],
            &["walkbuild", "walkbuild"],
        );
        check("HTTPServer", &["http", "serv"], &["httpserv"]);
        check("src/notes.rs:12", &["src", "note", "rs", "12"], &[]);
        check("GIT_CONFIG_GLOBAL", &["git", "config", "global"], &["gitconfigglob"]);
        check("file_name filename", &["file", "name", "filenam"], &["filenam"]);
        check("--no-ignore", &["no", "ignor"], &["noign"]);
        check("parse_args", &["pars", "arg"], &["parsarg"]);
        check("argument parser", &["arg", "pars"], &[]);
        check("__init__ a--b", &["init", "b"], &[]);
    }

    #[test]
    fn words_are_folded_and_stemmed_and_stop_words_go() {
        check("The Ｍatches were NOT matching", &["match", "not", "match"], &[]);
        check("don't panic", &["panic"], &[]);
        check("Größe", &["größe"], &[]);
    }

    #[test]
    fn scripts_without_spaces_become_pairs_and_characters() {
        let terms = terms("用 TiDB 数据库");
        assert_eq!(terms.pairs, ["数据", "据库"]);
        assert_eq!(terms.characters, ["用", "数", "据", "库"]);
        assert_eq!(terms.identifiers, ["tidb"]);
    }

    #[test]
    fn a_question_joins_neighbours() {
        let terms = query_terms("the walk builder type");
        assert_eq!(
            terms.identifiers,
            ["walkbuild", "buildtype", "buildtyp", "walkbuildtype", "walkbuildtyp"]
        );
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for text in
            ["a".repeat(1 << 20), "aB".repeat(1 << 19), "_".repeat(1 << 20), "y".repeat(1 << 20)]
        {
            let terms = terms(&text);
            assert!(terms.identifiers.iter().all(|term| term.len() <= 2 * LONGEST_IDENTIFIER));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_terms_without_spaces(text in ".{0,200}") {
            let terms = terms(&text);
            for term in terms.words.iter().chain(&terms.identifiers).chain(&terms.pairs) {
                proptest::prop_assert!(!term.is_empty() && !term.contains(' '));
            }
        }
    }
}

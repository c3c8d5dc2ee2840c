//! Finds terms in a text. Substrings are searched for with the machine's wide registers, and what
//! stands around a hit is read by the tokeniser itself.

use aho_corasick::{AhoCorasick, MatchKind, packed};

use super::surface::beginnings_of;
use crate::support::words::{
    LONGEST_PART, Normal, TermKind, Terms, is_spaceless, normalized, visit_normalized,
};

/// Finds the terms of a question in texts.
#[derive(Debug)]
pub struct Finder {
    /// Sorted, each once.
    terms: Vec<(TermKind, String)>,
    search: Search,
    /// Terms of a single ASCII letter or digit: those are searched for on their own, because a
    /// search for many strings is only as fast as the shortest of them is long.
    letters: Vec<u8>,
    /// Whether a term has letters that are neither ASCII nor of a script without spaces.
    is_foreign: bool,
}

#[derive(Debug)]
enum Search {
    Nothing,
    /// For up to some dozens of strings, where the processor has what it needs.
    Wide(packed::Searcher),
    Automaton(AhoCorasick),
}

/// What is told of a run of letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    All,
    /// Everything but words of one letter, and identifiers that are found by those alone.
    LongWords,
    /// Only those.
    Letters,
}

impl Finder {
    /// Returns a finder of these terms.
    pub fn new(terms: &Terms) -> Self {
        let lists = [
            (TermKind::Word, &terms.words),
            (TermKind::Identifier, &terms.identifiers),
            (TermKind::Pair, &terms.pairs),
            (TermKind::Character, &terms.characters),
        ];
        let mut all: Vec<(TermKind, String)> = lists
            .into_iter()
            .flat_map(|(kind, list)| list.iter().map(move |term| (kind, term.clone())))
            .collect();
        all.sort_unstable();
        all.dedup();
        let mut strings = Vec::new();
        let mut letters = Vec::new();
        let mut is_foreign = false;
        for (kind, term) in &all {
            match kind {
                TermKind::Word if !term.is_ascii() => is_foreign = true,
                TermKind::Word if term.len() == 1 => letters.extend(term.bytes()),
                TermKind::Word => strings.extend(beginnings_of(term)),
                // A pair is found by its first character.
                TermKind::Pair | TermKind::Character => {
                    strings.extend(term.chars().next().map(String::from));
                }
                TermKind::Identifier => {}
            }
        }
        strings.sort_unstable();
        strings.dedup();
        Self { terms: all, search: Search::new(&strings), letters, is_foreign }
    }

    /// Returns the terms; their places are their numbers.
    pub fn terms(&self) -> &[(TermKind, String)] {
        &self.terms
    }

    /// Returns the number of a term.
    pub fn number_of(&self, kind: TermKind, term: &str) -> Option<usize> {
        let compare = |(other_kind, other): &(TermKind, String)| {
            (*other_kind, other.as_str()).cmp(&(kind, term))
        };
        self.terms.binary_search_by(compare).ok()
    }

    /// Calls `found` with the number of a term for each mention of it.
    pub fn find(&self, text: &str, found: impl FnMut(usize)) {
        self.find_in(&normalized(text), found);
    }

    pub(super) fn find_in(&self, text: &Normal<'_>, mut found: impl FnMut(usize)) {
        if text.has_dotted_capital || (self.is_foreign && text.others > 0) {
            self.read_whole(&text.text, &mut found);
            return;
        }
        self.find_strings(&text.text, &mut found);
        if !self.letters.is_empty() {
            self.find_letters(&text.text, &mut found);
        }
    }

    fn find_strings(&self, text: &str, found: &mut impl FnMut(usize)) {
        let mut at = 0;
        // The end of the last run of letters that was read.
        let mut read = 0;
        while let Some(hit) = self.search.next(text, at) {
            if !text.as_bytes()[hit].is_ascii() {
                at = self.read_spaceless(text, hit, found);
            } else if may_begin_part(text.as_bytes(), hit) {
                let (start, end) = run_around(text, read, hit);
                self.read_run(&text[start..end], Told::LongWords, found);
                (at, read) = (end, end);
            } else {
                at = hit + 1;
            }
        }
    }

    fn find_letters(&self, text: &str, found: &mut impl FnMut(usize)) {
        let bytes = text.as_bytes();
        let mut is_wanted = [false; 256];
        for letter in &self.letters {
            is_wanted[usize::from(*letter)] = true;
            is_wanted[usize::from(letter.to_ascii_uppercase())] = true;
        }
        let (mut at, mut read) = (0, 0);
        while let Some(step) = bytes[at..].iter().position(|byte| is_wanted[usize::from(*byte)]) {
            let hit = at + step;
            if may_be_letter(bytes, hit) && may_begin_part(bytes, hit) {
                let (start, end) = run_around(text, read, hit);
                self.read_run(&text[start..end], Told::Letters, found);
                (at, read) = (end, end);
            } else {
                at = hit + 1;
            }
        }
    }

    /// Reads everything: there are letters whose case or spelling a search does not know.
    fn read_whole(&self, text: &str, found: &mut impl FnMut(usize)) {
        let mut at = 0;
        while let Some(character) = text[at..].chars().next() {
            if is_spaceless(character) {
                at = self.read_spaceless(text, at, found);
            } else if is_of_run(character) {
                let end = run_around(text, at, at).1;
                self.read_run(&text[at..end], Told::All, found);
                at = end;
            } else {
                at += character.len_utf8();
            }
        }
    }

    /// Tells of the character at `at`, and of the pair with its neighbour. Returns where it ends.
    fn read_spaceless(&self, text: &str, at: usize, found: &mut impl FnMut(usize)) -> usize {
        let mut ends =
            text[at..].char_indices().map(|(start, next)| (start + next.len_utf8(), next));
        let Some((first, _)) = ends.next() else { return text.len() };
        let mut tell = |kind, end: usize| {
            if let Some(number) = self.number_of(kind, &text[at..at + end]) {
                found(number);
            }
        };
        tell(TermKind::Character, first);
        if let Some((second, _)) = ends.next().filter(|(_, next)| is_spaceless(*next)) {
            tell(TermKind::Pair, second);
        }
        at + first
    }

    /// Tells of the words and identifiers in a run of letters, digits and joints.
    fn read_run(&self, run: &str, told: Told, found: &mut impl FnMut(usize)) {
        let (mut long_words, mut letters) = (false, false);
        let mut identifiers = Vec::new();
        visit_normalized(run, |kind, term| {
            let Some(number) = self.number_of(kind, term) else { return };
            let is_letter = term.len() == 1;
            match kind {
                TermKind::Word if is_letter => letters = true,
                TermKind::Word => long_words = true,
                TermKind::Identifier => return identifiers.push(number),
                TermKind::Pair | TermKind::Character => return,
            }
            if told == Told::All || is_letter == (told == Told::Letters) {
                found(number);
            }
        });
        let tells_identifiers = match told {
            Told::All => long_words || letters,
            Told::LongWords => long_words,
            Told::Letters => letters && !long_words,
        };
        if tells_identifiers {
            identifiers.into_iter().for_each(found);
        }
    }
}

impl Search {
    fn new(strings: &[String]) -> Self {
        if strings.is_empty() {
            return Self::Nothing;
        }
        let wide = packed::Config::new().builder().extend(strings).build();
        if let Some(wide) = wide {
            return Self::Wide(wide);
        }
        // The first hit is the one that begins first, as it is in the other search.
        let mut builder = AhoCorasick::builder();
        let built = builder.match_kind(MatchKind::LeftmostFirst).build(strings);
        built.map_or(Self::Nothing, Self::Automaton)
    }

    /// Returns where the next hit at or behind `at` begins.
    fn next(&self, text: &str, at: usize) -> Option<usize> {
        match self {
            Self::Nothing => None,
            Self::Wide(wide) => {
                let span = (at..text.len()).into();
                wide.find_in(text, span).map(|hit| hit.start())
            }
            Self::Automaton(automaton) => {
                let input = aho_corasick::Input::new(text).range(at..);
                automaton.find(input).map(|hit| hit.start())
            }
        }
    }
}

/// Tells whether a part of an identifier may begin here: not inside of a word, but for capitals, and
/// for the places where the tokeniser cuts what is too long for a word.
fn may_begin_part(text: &[u8], at: usize) -> bool {
    let inside = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii();
    let Some(before) = at.checked_sub(1).map(|before| text[before]) else { return true };
    !before.is_ascii_alphanumeric()
        || text[at].is_ascii_uppercase()
        || at
            .checked_sub(LONGEST_PART)
            .is_some_and(|start| text[start..at].iter().rev().all(inside))
}

/// Tells whether the word that begins here may have a single letter as its stem. With a vowel it may
/// be longer (*ies*); otherwise it ends here.
fn may_be_letter(text: &[u8], at: usize) -> bool {
    let is_vowel = matches!(text[at].to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u');
    let next = text.get(at + 1);
    is_vowel || next.is_none_or(|next| !next.is_ascii_lowercase() && !next.is_ascii_digit())
}

/// Returns where the run of letters, digits and joints around `at` begins and ends; it begins at
/// `least` at the earliest.
fn run_around(text: &str, least: usize, at: usize) -> (usize, usize) {
    let before = text[least..at].char_indices().rev();
    let start = before.take_while(|(_, character)| is_of_run(*character)).last();
    let mut behind = text[at..].char_indices();
    let end = behind.find(|(_, character)| !is_of_run(*character));
    (
        start.map_or(at, |(start, _)| least + start),
        end.map_or(text.len(), |(length, _)| at + length),
    )
}

fn is_of_run(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    }
    character.is_alphanumeric() && !is_spaceless(character)
}

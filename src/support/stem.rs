//! English word forms brought to one stem, after Martin Porter's algorithm of 1980: *matcher*,
//! *matching* and *matched* become *match*. One step is ours: *parser* and *parsing* meet too.
//!
//! Only lower-case ASCII words are touched; a stem is for comparing and is often no word itself.

/// Returns the stem of a lower-case word; anything else comes back as it is.
pub fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    stem_in_place(&mut stem);
    stem
}

/// Longer strings are no words, and the search for syllables takes quadratic time.
const LONGEST_WORD: usize = 32;

/// Cuts `word` down to its stem.
pub fn stem_in_place(word: &mut String) {
    if word.len() < 3 || word.len() > LONGEST_WORD {
        return;
    }
    if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    plural(word);
    past_and_progressive(word);
    if word.ends_with('y') && has_vowel(&word[..word.len() - 1]) {
        replace(word, "y", "i");
    }
    if ends_like(word, &LONG_ENDS) {
        replace_first(word, &LONG_SUFFIXES, 0);
    }
    if ends_like(word, &MEDIUM_ENDS) {
        replace_first(word, &MEDIUM_SUFFIXES, 0);
    }
    if ends_like(word, &RESIDUAL_ENDS) {
        residual(word);
    }
    final_e_and_double_l(word);
    doer(word);
}

/// Step 2 of the algorithm.
const LONG_SUFFIXES: [(&str, &str); 20] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
];

/// Step 3 of the algorithm.
const MEDIUM_SUFFIXES: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Step 4 of the algorithm: what is dropped after a stem of two syllables.
const RESIDUAL_SUFFIXES: [&str; 19] = [
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "ion", "al", "er", "ic", "ou",
];

/// The last two letters of each of the long suffixes: most words end otherwise, and need no
/// comparison with each of them.
const LONG_ENDS: [[u8; 2]; 9] =
    [*b"al", *b"ci", *b"er", *b"li", *b"on", *b"or", *b"sm", *b"ss", *b"ti"];

const MEDIUM_ENDS: [[u8; 2]; 7] = [*b"te", *b"ve", *b"ze", *b"ti", *b"al", *b"ul", *b"ss"];

const RESIDUAL_ENDS: [[u8; 2]; 14] = [
    *b"nt", *b"ce", *b"le", *b"sm", *b"te", *b"ti", *b"us", *b"ve", *b"ze", *b"on", *b"al", *b"er",
    *b"ic", *b"ou",
];

fn ends_like(word: &str, ends: &[[u8; 2]]) -> bool {
    word.as_bytes().last_chunk::<2>().is_some_and(|last| ends.contains(last))
}

fn plural(word: &mut String) {
    if word.ends_with("sses") || word.ends_with("ies") {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") {
        word.truncate(word.len() - 1);
    }
}

fn past_and_progressive(word: &mut String) {
    if word.ends_with("eed") {
        if measure(&word[..word.len() - 3]) > 0 {
            word.truncate(word.len() - 1);
        }
        return;
    }
    let cut =
        ["ed", "ing"].into_iter().find(|suffix| word.strip_suffix(suffix).is_some_and(has_vowel));
    let Some(suffix) = cut else { return };
    word.truncate(word.len() - suffix.len());
    if ["at", "bl", "iz"].iter().any(|ending| word.ends_with(ending)) {
        word.push('e');
    } else if ends_with_double_consonant(word) && !word.ends_with(['l', 's', 'z']) {
        word.truncate(word.len() - 1);
    } else if measure(word) == 1 && ends_short(word) {
        word.push('e');
    }
}

fn replace_first(word: &mut String, table: &[(&str, &str)], least: usize) {
    if let Some((suffix, with)) = table.iter().find(|(suffix, _)| word.ends_with(suffix))
        && measure(&word[..word.len() - suffix.len()]) > least
    {
        replace(word, suffix, with);
    }
}

fn residual(word: &mut String) {
    let Some(suffix) = RESIDUAL_SUFFIXES.iter().find(|suffix| word.ends_with(**suffix)) else {
        return;
    };
    let rest = &word[..word.len() - suffix.len()];
    let allowed = *suffix != "ion" || rest.ends_with(['s', 't']);
    if allowed && measure(rest) > 1 {
        word.truncate(rest.len());
    }
}

fn final_e_and_double_l(word: &mut String) {
    if let Some(rest) = word.strip_suffix('e') {
        let syllables = measure(rest);
        if syllables > 1 || (syllables == 1 && !ends_short(rest)) {
            word.truncate(rest.len());
        }
    }
    if word.ends_with("ll") && measure(&word[..word.len() - 1]) > 1 {
        word.truncate(word.len() - 1);
    }
}

/// Cuts *-er* and *-or* off what is left of a word for who or what does something.
fn doer(word: &mut String) {
    for suffix in ["er", "or"] {
        let Some(rest) = word.strip_suffix(suffix).filter(|rest| rest.len() > 3) else { continue };
        word.truncate(rest.len());
        if ends_with_double_consonant(word) && !word.ends_with(['l', 's', 'z']) {
            word.truncate(word.len() - 1);
        }
        break;
    }
    if word.len() > 4 && word.ends_with('e') {
        word.truncate(word.len() - 1);
    }
}

fn replace(word: &mut String, suffix: &str, with: &str) {
    word.truncate(word.len() - suffix.len());
    word.push_str(with);
}

/// Whether the letter at `at` is a consonant; `y` is one at the start and after a vowel.
fn is_consonant(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'a' | b'e' | b'i' | b'o' | b'u' => false,
        b'y' => at == 0 || !is_consonant(word, at - 1),
        _ => true,
    }
}

fn has_vowel(word: &str) -> bool {
    (0..word.len()).any(|at| !is_consonant(word.as_bytes(), at))
}

/// Returns how often a vowel is followed by a consonant: about the number of syllables.
fn measure(word: &str) -> usize {
    let bytes = word.as_bytes();
    let mut count = 0;
    let mut after_vowel = false;
    for at in 0..bytes.len() {
        let consonant = is_consonant(bytes, at);
        count += usize::from(consonant && after_vowel);
        after_vowel = !consonant;
    }
    count
}

fn ends_with_double_consonant(word: &str) -> bool {
    let bytes = word.as_bytes();
    let length = bytes.len();
    length >= 2 && bytes[length - 1] == bytes[length - 2] && is_consonant(bytes, length - 1)
}

/// Whether the end is consonant, vowel, consonant and the last is none of `w`, `x`, `y`.
fn ends_short(word: &str) -> bool {
    let bytes = word.as_bytes();
    let length = bytes.len();
    length >= 3
        && is_consonant(bytes, length - 3)
        && !is_consonant(bytes, length - 2)
        && is_consonant(bytes, length - 1)
        && !matches!(bytes[length - 1], b'w' | b'x' | b'y')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: &str, words: &[&str]) {
        for word in words {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn the_forms_of_a_word_have_one_stem() {
        check("match", &["match", "matches", "matched", "matching", "matcher"]);
        check("config", &["config", "configs"]);
        check("depend", &["depend", "depends", "dependent", "dependence"]);
        check("hop", &["hop", "hopping", "hopped"]);
        check("file", &["file", "files", "filing"]);
        check("relat", &["relate", "related", "relational", "relating"]);
        check("poni", &["pony", "ponies"]);
        check("pars", &["parse", "parser", "parsers", "parsing"]);
        check("plan", &["plan", "planner", "planning"]);
    }

    #[test]
    fn the_quick_look_at_the_last_letters_misses_no_suffix() {
        let long = LONG_SUFFIXES.iter().map(|(suffix, _)| (*suffix, &LONG_ENDS[..]));
        let medium = MEDIUM_SUFFIXES.iter().map(|(suffix, _)| (*suffix, &MEDIUM_ENDS[..]));
        let residual = RESIDUAL_SUFFIXES.iter().map(|suffix| (*suffix, &RESIDUAL_ENDS[..]));
        for (suffix, ends) in long.chain(medium).chain(residual) {
            assert!(ends_like(suffix, ends), "{suffix}");
        }
    }

    #[test]
    fn short_and_foreign_words_stay() {
        for word in ["", "a", "is", "größe", "Files", "utf8", "数据库"] {
            assert_eq!(stem(word), word);
        }
    }
}

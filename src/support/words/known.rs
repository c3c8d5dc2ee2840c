//! Words that the tokeniser knows: those too common to tell one text from another, and what
//! programs and people shorten.
//!
//! Every word of every text is looked up here, so both look-ups take one multiplication and a look
//! or two into a table; both tables are made of the lists below, and nothing else is in them.

use std::sync::LazyLock;

use crate::support::stem::stem;

/// Returns whether a word is too common to tell one text from another.
pub(super) fn is_stop_word(word: &[u8]) -> bool {
    if word.len() > LONGEST_STOP_WORD {
        return false;
    }
    let key = packed(word);
    let mut place = place_of(key, STOP_PLACES);
    while STOP_TABLE[place] != 0 {
        if STOP_TABLE[place] == key {
            return true;
        }
        place = (place + 1) % STOP_PLACES;
    }
    false
}

/// Returns the stem that a stem of a long or another short form becomes.
pub(super) fn short_stem(stem: &str) -> Option<&'static str> {
    let known = &*SHORT_STEMS;
    if stem.len() > known.longest {
        return None;
    }
    let mut place = place_of(packed(stem.as_bytes()), SHORT_PLACES);
    while let Some((long, short)) = &known.table[place] {
        if long == stem {
            return Some(short);
        }
        place = (place + 1) % SHORT_PLACES;
    }
    None
}

/// Returns the stems of all long forms, each with the stem that it becomes.
pub fn short_stems() -> impl Iterator<Item = (&'static str, &'static str)> {
    let known = SHORT_STEMS.table.iter().flatten();
    known.map(|(long, short)| (long.as_str(), short.as_str()))
}

/// Returns the stems of the forms that become `short`.
pub(in crate::support) fn forms_of(short: &str) -> impl Iterator<Item = &str> {
    let known = SHORT_STEMS.table.iter().flatten();
    known.filter(move |(_, other)| other == short).map(|(long, _)| long.as_str())
}

/// The stems of long forms by a hash of their letters.
struct ShortStems {
    longest: usize,
    table: Vec<Option<(String, String)>>,
}

static SHORT_STEMS: LazyLock<ShortStems> = LazyLock::new(|| {
    let mut known = ShortStems { longest: 0, table: vec![None; SHORT_PLACES] };
    for (long, short) in ABBREVIATIONS {
        let (long, short) = (stem(long), stem(short));
        known.longest = known.longest.max(long.len());
        let mut place = place_of(packed(long.as_bytes()), SHORT_PLACES);
        while known.table[place].as_ref().is_some_and(|(other, _)| *other != long) {
            place = (place + 1) % SHORT_PLACES;
        }
        known.table[place] = Some((long, short));
    }
    known
});

/// Far more places than words, and a power of two.
const STOP_PLACES: usize = 1_024;

const SHORT_PLACES: usize = 512;

const LONGEST_STOP_WORD: usize = 8;

static STOP_TABLE: [u64; STOP_PLACES] = stop_table();

const fn stop_table() -> [u64; STOP_PLACES] {
    let mut table = [0; STOP_PLACES];
    let mut at = 0;
    while at < STOP_WORDS.len() {
        let word = STOP_WORDS[at].as_bytes();
        assert!(word.len() <= LONGEST_STOP_WORD, "a longer word is never looked up");
        let key = packed(word);
        let mut place = place_of(key, STOP_PLACES);
        while table[place] != 0 {
            place = (place + 1) % STOP_PLACES;
        }
        table[place] = key;
        at += 1;
    }
    table
}

/// Returns the first eight bytes as a number. Words have no zero bytes, so those of up to eight
/// bytes are different numbers.
const fn packed(word: &[u8]) -> u64 {
    let mut key = 0;
    let mut at = 0;
    while at < word.len() && at < 8 {
        key |= (word[at] as u64) << (8 * at);
        at += 1;
    }
    key
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "shifted until it is below the number of places"
)]
const fn place_of(key: u64, places: usize) -> usize {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - places.trailing_zeros())) as usize
}

/// Words too common to tell one text from another, sorted.
pub(super) const STOP_WORDS: [&str; 140] = [
    "a", "about", "above", "again", "against", "all", "also", "am", "an", "and", "any", "are",
    "aren", "as", "at", "be", "because", "been", "being", "below", "between", "both", "but", "by",
    "can", "cannot", "could", "couldn", "did", "didn", "do", "does", "doesn", "doing", "don",
    "during", "each", "either", "else", "few", "for", "from", "further", "had", "hadn", "has",
    "hasn", "have", "haven", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if",
    "in", "into", "is", "isn", "it", "its", "itself", "just", "ll", "me", "more", "most", "my",
    "neither", "nor", "now", "of", "once", "only", "or", "other", "our", "ours", "out", "own",
    "per", "re", "same", "shall", "she", "should", "shouldn", "so", "some", "such", "t", "than",
    "that", "the", "their", "theirs", "them", "then", "there", "these", "they", "this", "those",
    "through", "to", "too", "upon", "us", "ve", "very", "via", "was", "wasn", "we", "were",
    "weren", "what", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why",
    "will", "with", "within", "won", "would", "wouldn", "yet", "you", "your", "yours",
];

/// What programs and people shorten, and the short form that both become.
const ABBREVIATIONS: [(&str, &str); 118] = [
    ("address", "addr"),
    ("administrator", "admin"),
    ("allocate", "alloc"),
    ("allocation", "alloc"),
    ("application", "app"),
    ("argument", "arg"),
    ("asynchronous", "async"),
    ("asynchronously", "async"),
    ("attribute", "attr"),
    ("authenticate", "auth"),
    ("authentication", "auth"),
    ("authorization", "authz"),
    ("boolean", "bool"),
    ("buffer", "buf"),
    ("button", "btn"),
    ("calculate", "calc"),
    ("certificate", "cert"),
    ("cfg", "config"),
    ("character", "char"),
    ("column", "col"),
    ("command", "cmd"),
    ("compare", "cmp"),
    ("conf", "config"),
    ("configurable", "config"),
    ("configuration", "config"),
    ("configure", "config"),
    ("connection", "conn"),
    ("context", "ctx"),
    ("credential", "cred"),
    ("database", "db"),
    ("declaration", "decl"),
    ("definition", "def"),
    ("delimiter", "delim"),
    ("dependency", "dep"),
    ("description", "desc"),
    ("dest", "dst"),
    ("destination", "dst"),
    ("development", "dev"),
    ("directory", "dir"),
    ("distribution", "dist"),
    ("document", "doc"),
    ("documentation", "doc"),
    ("dynamic", "dyn"),
    ("element", "elem"),
    ("environment", "env"),
    ("error", "err"),
    ("evaluate", "eval"),
    ("execute", "exec"),
    ("execution", "exec"),
    ("expression", "expr"),
    ("extension", "ext"),
    ("format", "fmt"),
    ("func", "fn"),
    ("function", "fn"),
    ("generate", "gen"),
    ("header", "hdr"),
    ("identifier", "id"),
    ("image", "img"),
    ("implement", "impl"),
    ("implementation", "impl"),
    ("index", "idx"),
    ("information", "info"),
    ("initialization", "init"),
    ("initialize", "init"),
    ("instruction", "insn"),
    ("integer", "int"),
    ("iterator", "iter"),
    ("javascript", "js"),
    ("kubernetes", "k8s"),
    ("length", "len"),
    ("library", "lib"),
    ("location", "loc"),
    ("manager", "mgr"),
    ("maximum", "max"),
    ("memory", "mem"),
    ("message", "msg"),
    ("minimum", "min"),
    ("mutable", "mut"),
    ("number", "num"),
    ("object", "obj"),
    ("option", "opt"),
    ("package", "pkg"),
    ("parameter", "param"),
    ("pattern", "pat"),
    ("pointer", "ptr"),
    ("position", "pos"),
    ("previous", "prev"),
    ("process", "proc"),
    ("production", "prod"),
    ("python", "py"),
    ("random", "rand"),
    ("reader", "rdr"),
    ("reference", "ref"),
    ("regexp", "regex"),
    ("repository", "repo"),
    ("request", "req"),
    ("response", "resp"),
    ("separator", "sep"),
    ("sequence", "seq"),
    ("source", "src"),
    ("specification", "spec"),
    ("statement", "stmt"),
    ("string", "str"),
    ("structure", "struct"),
    ("symbol", "sym"),
    ("synchronization", "sync"),
    ("synchronize", "sync"),
    ("temp", "tmp"),
    ("temporary", "tmp"),
    ("transaction", "txn"),
    ("typescript", "ts"),
    ("utility", "util"),
    ("value", "val"),
    ("variable", "var"),
    ("vector", "vec"),
    ("version", "ver"),
    ("window", "win"),
    ("writer", "wtr"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stop_word_is_one_and_its_neighbours_are_not() {
        for word in STOP_WORDS {
            assert!(is_stop_word(word.as_bytes()), "{word}");
            for other in [format!("{word}z"), format!("z{word}"), word.to_uppercase()] {
                let listed = STOP_WORDS.contains(&other.as_str());
                assert_eq!(is_stop_word(other.as_bytes()), listed, "{other}");
            }
        }
        assert!(!is_stop_word(b"") && !is_stop_word("größe".as_bytes()));
    }

    #[test]
    fn each_long_form_becomes_the_stem_of_its_short_form() {
        for (long, short) in ABBREVIATIONS {
            assert_eq!(short_stem(&stem(long)), Some(stem(short).as_str()), "{long}");
            assert!(forms_of(&stem(short)).any(|form| form == stem(long)), "{long}");
        }
        assert_eq!(short_stem("parser"), None);
        assert_eq!(short_stem(""), None);
    }
}

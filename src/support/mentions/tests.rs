use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::support::bm25::Index;
use crate::support::words::{Terms, query_terms, terms};

/// The frequencies as the tokeniser has them, with the rule for identifiers: each run of letters,
/// digits and joints is read on its own, and its identifiers count where it has a word that is
/// wanted.
fn by_tokeniser(wanted: &Terms, text: &str) -> HashMap<(TermKind, String), usize> {
    let normal = normalized(text).text.into_owned();
    let in_run = |character: char| {
        (character.is_alphanumeric() && !words::is_spaceless(character))
            || matches!(character, '_' | '-')
    };
    let mut counts = HashMap::new();
    let mut count = |kind, list: &[String], found: Vec<String>| {
        for term in found.into_iter().filter(|term| list.contains(term)) {
            *counts.entry((kind, term)).or_insert(0) += 1;
        }
    };
    for run in normal.split(|character| !in_run(character)) {
        let found = terms(run);
        if found.words.iter().any(|word| wanted.words.contains(word)) {
            count(TermKind::Identifier, &wanted.identifiers, found.identifiers);
        }
    }
    let all = terms(text);
    count(TermKind::Word, &wanted.words, all.words);
    count(TermKind::Pair, &wanted.pairs, all.pairs);
    count(TermKind::Character, &wanted.characters, all.characters);
    counts
}

fn by_finder(wanted: &Terms, text: &str) -> HashMap<(TermKind, String), usize> {
    let finder = Finder::new(wanted);
    let mut counts = HashMap::new();
    finder.find(text, |number| *counts.entry(finder.terms()[number].clone()).or_insert(0) += 1);
    counts
}

#[track_caller]
fn check(query: &str, text: &str, expected: &[(&str, usize)]) {
    let wanted = query_terms(query);
    let found = by_finder(&wanted, text);
    assert_eq!(found, by_tokeniser(&wanted, text), "{query} in {text}");
    for (term, count) in expected {
        let all: usize =
            found.iter().filter(|((_, other), _)| other == term).map(|(_, count)| count).sum();
        assert_eq!(all, *count, "{term} in {text}");
    }
}

#[test]
fn words_are_found_in_every_form_that_has_their_stem() {
    check("parsers", "Parser parse PARSING sparse parsed, parse_ing", &[("pars", 5)]);
    check("ability", "able ability disability abilities", &[]);
    check("file", "files filing profile FILE_NAME myFile", &[("file", 4)]);
    check("pony", "pony ponies PONY", &[("poni", 3)]);
    check("configuration", "cfg conf.config CONFIGURE reconfigure", &[("config", 4)]);
    check("the of", "the of it", &[]);
    check("", "anything", &[]);
}

#[test]
fn identifiers_are_found_with_a_word_of_the_question() {
    check("walk builder", "WalkBuilder walk_builder walk builder", &[("walkbuild", 2)]);
    check("HTTPServer", "httpServer HTTPServerX http-server", &[("httpserv", 2)]);
    check("x", "x-ray X x1 max aX x_y", &[("x", 4)]);
    check("x y", "x-y xY X_Y", &[("xy", 3)]);
    check("utf8 12", "UTF8 utf8-12 12 v12 UTF8x", &[("utf8", 2)]);
}

#[test]
fn scripts_without_spaces_are_found_in_pairs() {
    check("数据库", "数据库，数 据库；数据 ", &[("数据", 2), ("据库", 2), ("数", 3)]);
    check("订单x", "订单x订x单", &[("订单", 1), ("x", 2)]);
}

#[test]
fn other_spellings_are_found() {
    check("match", "Ｍａｔｃｈ match，ｍatches", &[("match", 3)]);
    check("größe", "Größe GRÖSSE größe gro\u{308}ße", &[("größe", 3)]);
    check("kelvin", "\u{212A}elvin Kelvin", &[("kelvin", 2)]);
    check("stanbul", "İstanbul Xİstanbul", &[]);
    check("привет мир", "Привет, мир!", &[("привет", 1)]);
    check("cafe", "café caf\u{e9} cafe\u{301} cafe", &[("cafe", 1)]);
}

#[test]
fn what_is_too_long_for_a_word_is_cut_alike() {
    for length in [62, 63, 64, 65, 127, 128, 129] {
        for letter in ["a", "A", "é", "1"] {
            check("walk x", &format!("{}walk x{}x", letter.repeat(length), letter.repeat(63)), &[]);
        }
    }
}

#[test]
fn a_megabyte_of_hits_takes_linear_time() {
    for (query, unit) in [
        ("walk", "walk"),
        ("walk", "Walk"),
        ("walk", "walk_"),
        ("x", "X"),
        ("x", "x-"),
        ("数", "数"),
    ] {
        let finder = Finder::new(&query_terms(query));
        let mut count = 0;
        finder.find(&unit.repeat((1 << 20) / unit.len()), |_| count += 1);
        assert!(count <= 1 << 20);
    }
}

#[test]
fn a_question_of_many_words_is_answered_too() {
    let words: Vec<String> = (0..400).map(|number| format!("word{number} größe{number}")).collect();
    let query = words.join(" ");
    check(&query, "word7 Word399 größe3 wordle word400", &[("word7", 1), ("word399", 1)]);
}

#[test]
fn texts_rank_as_an_index_ranks_them() {
    let texts = [
        "the parser\nreads tokens with WalkBuilder, the parser of all parsers, and more",
        "数据库连接\n业务逻辑层的重构被依赖冲突阻塞，需要先升级数据库",
        "flask_shop/app.py\nhas a `get_user` function and a parser",
        "",
    ];
    let index = Index::new(texts.map(|text| Document { title: "", text }));
    for query in ["parsers", "walk builder", "重构数据库", "getUser parser", "nothing"] {
        let mentions = Mentions::of(query, &texts);
        let places = |ranked: Vec<(usize, f64)>| {
            ranked.into_iter().map(|(place, _)| place).collect::<Vec<_>>()
        };
        assert_eq!(
            places(crate::support::bm25::rank(&mentions, query)),
            places(index.score(query))
        );
    }
}

#[test]
fn many_texts_are_searched_in_parts_with_the_same_result() {
    let text = "the parser of things\nand more of it ".repeat(20);
    let texts: Vec<&str> = std::iter::repeat_n(text.as_str(), (2 << 20) / text.len()).collect();
    let mentions = Mentions::of("parser", &texts);
    assert_eq!(mentions.documents(), texts.len());
    let mut documents = Vec::new();
    mentions.look_up(TermKind::Word, "pars", &mut |posting| {
        assert_eq!((posting.title, posting.text), (2, 18));
        documents.push(posting.document as usize);
    });
    assert!(documents.iter().copied().eq(0..texts.len()));
}

fn any_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "(walk|Walk|WALK|build|er|ing|s|e|y|i|ies|_|-| |x|X|1|12|utf8)",
        "(config|cfg|Configure|able|ability|ably|hop|hopping|file|filing|db|Database)",
        "(数|据|库|数据|的|，|。|カ|한|\u{3099})",
        "(Ｗ|ａ|ｌｋ|é|e\u{301}|ß|İ|i\u{307}|\u{212A}|ﬁ|Größe|größe|🙂|\u{200b}|\u{3000}|…|ǅ)",
        "[a-zA-Z0-9_\\- ]{1,70}",
        "\\PC{1,4}",
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_the_frequencies_that_the_tokeniser_counts(query in any_text(), text in any_text()) {
        let wanted = query_terms(&query);
        prop_assert_eq!(by_finder(&wanted, &text), by_tokeniser(&wanted, &text));
        let of_itself = query_terms(&text);
        prop_assert_eq!(by_finder(&of_itself, &text), by_tokeniser(&of_itself, &text));
    }
}

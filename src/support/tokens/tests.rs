use proptest::prelude::*;

use super::*;

fn counter() -> TokenCounter {
    TokenCounter::for_encoding(Encoding::O200k)
}

/// What tiktoken-rs says.
fn plain(encoding: Encoding, text: &str) -> usize {
    let oracle = match encoding {
        Encoding::O200k => tiktoken_rs::o200k_base_singleton(),
        Encoding::Cl100k => tiktoken_rs::cl100k_base_singleton(),
    };
    oracle.encode_ordinary(text).len()
}

#[track_caller]
fn check_exact(text: &str) {
    for encoding in [Encoding::O200k, Encoding::Cl100k] {
        let shown: String = text.chars().take(40).collect();
        let count = TokenCounter::for_encoding(encoding).count(text);
        assert_eq!(count, plain(encoding, text), "{encoding:?} {} bytes of {shown:?}", text.len());
    }
}

#[test]
fn counts_are_those_that_openai_publishes() {
    assert_eq!(counter().count("hello world"), 2);
    assert_eq!(counter().count("antidisestablishmentarianism"), 6);
    let old = TokenCounter::for_encoding(Encoding::Cl100k);
    assert_eq!(old.count("tiktoken is great!"), 6);
    assert_eq!(old.count("お誕生日おめでとう"), 9);
}

#[test]
fn nothing_is_no_token() {
    assert_eq!(counter().count(""), 0);
}

#[test]
fn special_tokens_are_ordinary_text() {
    assert!(counter().count("<|endoftext|>") > 1);
    assert!(counter().count("<|endofprompt|>") > 1);
}

#[test]
fn models_have_their_encodings() {
    for (name, expected) in [
        ("gpt-4o-mini", Some(Encoding::O200k)),
        ("gpt-4.1", Some(Encoding::O200k)),
        ("gpt-4-32k-0314", Some(Encoding::Cl100k)),
        ("GPT-4", Some(Encoding::Cl100k)),
        ("gpt-3.5-turbo", Some(Encoding::Cl100k)),
        ("ft:gpt-3.5-turbo:acme::7p4lURel", Some(Encoding::Cl100k)),
        ("openai/gpt-4-turbo", Some(Encoding::Cl100k)),
        ("o1-preview", Some(Encoding::O200k)),
        ("gpt-5.4-pro", Some(Encoding::O200k)),
        ("o1x", None),
        ("deepseek-chat", None),
        ("qwen3:8b", None),
        ("", None),
    ] {
        assert_eq!(Encoding::of_known_model(name), expected, "{name}");
    }
    assert_eq!(Encoding::for_model("deepseek-chat"), Encoding::O200k);
}

#[test]
fn long_texts_are_counted_in_pieces_without_changing_the_count() {
    let code = "\tif x { y() } // 中文 …\n\n    /* a */\r\n/usr/bin/env\n\"\"\"\n/ /\n  \n";
    for unit in [
        code,
        "word ",
        "word,\n/",
        "!!!\n/\n",
        " \n",
        "\n \t",
        "\u{3000}x",
        "a  b   c    d",
        "It's we're I'LL ",
        "123456 7890\n",
        "、。中文 ",
        "e\u{301} \n\u{301}x",
        "\r\n\t\t",
    ] {
        check_exact(&unit.repeat(60_000 / unit.len()));
    }
}

#[test]
fn long_runs_are_exact_where_tiktoken_can_count_them() {
    for unit in ["a", "A", " ", "\n", "\t", "中", "1", "=", "\u{3000}", "é", "🙂", " \n", "\u{301}"]
    {
        check_exact(&unit.repeat(20_000));
    }
    for end in ["", "x", "\nx"] {
        check_exact(&format!("x{}{end}", " ".repeat(262_145)));
    }
    // Around the lengths from which matches are merged with a queue.
    for length in 80..120 {
        check_exact(&"qzxj".repeat(length).as_str()[..length]);
        check_exact(&"天地玄黃宇宙洪荒".repeat(length)[..length / 3 * 3]);
    }
}

#[test]
fn megabytes_of_anything_are_counted() {
    // tiktoken-rs panics on so many blanks; its longest token of blanks is 128 long.
    assert_eq!(counter().count(&" ".repeat(2_304_000)), 18_000);
    for unit in ["a", "中"] {
        let text = unit.repeat(1_100_000 / unit.len());
        let count = counter().count(&text);
        assert!(count > 1_000 && count <= text.len(), "{unit:?}: {count}");
    }
}

#[test]
fn it_is_told_whether_a_text_fits_without_counting_all_of_it() {
    for text in ["word ".repeat(100), "word, 你好\n".repeat(60_000)] {
        let count = counter().count(&text);
        assert!(counter().fits(&text, count));
        assert!(!counter().fits(&text, count - 1));
        assert!(!counter().fits(&text, 0));
        assert!(counter().fits(&text, text.len()));
    }
    assert!(counter().fits("", 0));
}

#[test]
fn what_fits_fits_and_one_token_more_does_not() {
    let text = "fn main() {\n    println!(\"你好, world\");\n}\n🙂🙂 end of it\n".repeat(40);
    let counter = counter();
    for most in [0, 1, 2, 3, 10, 57, 200] {
        let end = counter.fit_start(&text, most);
        assert!(counter.count(&text[..end]) <= most);
        assert!(most < 2 || counter.count(&text[..end]) >= most - 1, "{most}");
        let start = counter.fit_end(&text, most);
        assert!(counter.count(&text[start..]) <= most);
        assert!(most < 2 || counter.count(&text[start..]) >= most - 1, "{most}");
    }
    assert_eq!(counter.fit_start(&text, 1_000_000), text.len());
    assert_eq!(counter.fit_end(&text, 1_000_000), 0);
}

#[test]
fn a_text_that_grows_is_counted_from_memory() {
    let text = "fn main() {\n    body();\n}\nthe end of it, 你好\n".repeat(50);
    for framed in [format!("[State]\n{text}\nmore"), format!("{text}[Task]\n- x"), text.repeat(2)] {
        let counter = counter();
        counter.count(&text);
        let before = counter.with_remembered(|remembered| remembered.young.len());
        assert_eq!(counter.count(&framed), plain(Encoding::O200k, &framed));
        let after = counter.with_remembered(|remembered| remembered.young.len());
        assert!(after - before <= 3, "{after} after {before} of {framed:?}");
    }
}

#[test]
fn memory_of_counts_is_bounded() {
    let mut remembered = Remembered::default();
    for key in 0..40_000 {
        remembered.insert((key, 1), 7);
    }
    assert!(remembered.young.len() + remembered.old.len() <= 2 * REMEMBERED);
    assert_eq!(remembered.get((39_999, 1)), Some(7));
    assert_eq!(remembered.get((0, 1)), None);
}

/// What has a meaning for one of the expressions, or had a fault in somebody's tokenizer.
const PARTS: &[&str] = &[
    "a",
    "B",
    "it's",
    "'S",
    "'ll",
    "'LL",
    "'Ve",
    "'rE",
    "'d",
    "'M",
    "'t",
    "'ſ",
    "'l",
    "'x",
    "’s",
    " ",
    "  ",
    "    ",
    "\t",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "\u{b}",
    "\u{c}",
    "\u{1c}",
    "\u{85}",
    "\u{a0}",
    "\u{1680}",
    "\u{2009}",
    "\u{200b}",
    "\u{2028}",
    "\u{3000}",
    "\u{feff}",
    "/",
    "//",
    "!",
    "…",
    "_",
    "--",
    "\"",
    "'",
    "中",
    "文字",
    "天地玄黃宇宙洪荒",
    "，",
    "。",
    "한국어",
    "カタカナ",
    "ไทย",
    "हिन्दी",
    "العربية",
    "עברית",
    "é",
    "e\u{301}",
    "\u{301}",
    "\u{20dd}",
    "\u{fe0f}",
    "\u{93e}",
    "İ",
    "ſ",
    "K",
    "ǅ",
    "ß",
    "ª",
    "ʰ",
    "Ⅷ",
    "ⅷ",
    "Ⓐ",
    "ⓐ",
    "1",
    "12",
    "1234",
    "²",
    "½",
    "٣",
    "१२३४",
    "〇",
    "🙂",
    "👩\u{200d}👩\u{200d}👧",
    "🇩🇪",
    "👍🏽",
    "camelCase",
    "HTTPServer",
    "McDonald's",
    "ÀÉ",
    "àé",
    "Привет",
    "мир",
    "ΑΒΓ",
    "αβγ",
    "the",
    "ing",
    " the",
    "<|endoftext|>",
    "<|fim_prefix|>",
    "<|endofprompt|>",
    "\u{0}",
    "\u{1b}",
    "\u{7f}",
    "\u{378}",
    "\u{e000}",
    "\u{fdd0}",
    "\u{ffff}",
    "\u{10ffff}",
    "\u{1d400}",
    "\u{10400}",
    "\u{10428}",
    "\u{20000}",
    "\u{3134a}",
];

fn hostile() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        12 => prop::sample::select(PARTS).prop_map(str::to_owned),
        2 => prop::char::any().prop_map(String::from),
        1 => prop::char::range('\0', '\u{3100}').prop_map(String::from),
        1 => (prop::sample::select(PARTS), 2_usize..60).prop_map(|(part, times)| part.repeat(times)),
        1 => "[a-zA-Z']{1,12}",
        1 => "\\PC{1,8}",
    ];
    prop::collection::vec(part, 1..14).prop_map(|parts| parts.concat())
}

proptest! {
    // A million of them by hand: `PROPTEST_CASES=1000000 cargo test --release --lib tokens::`.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_text_is_counted_exactly(text in hostile()) {
        for encoding in [Encoding::O200k, Encoding::Cl100k] {
            let counter = TokenCounter::for_encoding(encoding);
            let lengths = counter.token_lengths(&text);
            prop_assert_eq!(counter.count(&text), plain(encoding, &text));
            prop_assert_eq!(lengths.len(), counter.count(&text));
            prop_assert_eq!(lengths.iter().sum::<usize>(), text.len());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn repeated_text_is_counted_exactly(parts in prop::collection::vec("\\PC{0,8}|[ \\t\\n\\r/]{1,6}|[a-z']{1,9}", 0..40), times in 1usize..2_000) {
        let text = parts.concat();
        let times = times.min(50_000 / text.len().max(1)).max(1);
        check_exact(&text.repeat(times));
    }
}

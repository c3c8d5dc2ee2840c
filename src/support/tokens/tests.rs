use proptest::prelude::*;

use super::*;

fn counter() -> TokenCounter {
    TokenCounter::for_encoding(Encoding::O200k)
}

/// What the tables say without any of our cutting.
fn plain(encoding: Encoding, text: &str) -> usize {
    encoding.tables().encode_ordinary(text).len()
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
fn hostile_runs_are_exact_where_the_plain_tables_can_count_them() {
    for unit in ["a", "A", " ", "\n", "\t", "中", "1", "=", "\u{3000}", "é", "🙂", " \n", "\u{301}"]
    {
        check_exact(&unit.repeat(50_000));
    }
    for length in [262_144, 262_145, 400_001] {
        for end in ["", "x", "\nx"] {
            check_exact(&format!("x{}{end}", " ".repeat(length)));
        }
    }
}

#[test]
fn a_megabyte_of_anything_is_counted() {
    for unit in ["a", " ", "中", "="] {
        let text = unit.repeat(1_100_000 / unit.len());
        let count = counter().count(&text);
        assert!(count > 1_000 && count <= text.len(), "{unit:?}: {count}");
    }
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_counted_exactly(parts in prop::collection::vec("\\PC{0,8}|[ \\t\\n\\r/]{1,6}|[a-z']{1,9}", 0..40), times in 1usize..2_000) {
        let text = parts.concat();
        let times = times.min(50_000 / text.len().max(1)).max(1);
        check_exact(&text.repeat(times));
    }
}

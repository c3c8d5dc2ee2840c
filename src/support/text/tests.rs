use proptest::prelude::*;

use super::*;
use crate::support::tokens::Encoding;

fn counter() -> TokenCounter {
    TokenCounter::for_encoding(Encoding::O200k)
}

#[test]
fn a_text_that_fits_is_untouched() {
    let cut = cut("one\ntwo\n", 100, &counter(), "");
    assert!(cut.is_whole());
    assert_eq!(cut.to_string(), "one\ntwo\n");
}

#[test]
fn head_and_tail_are_whole_lines_and_the_gap_is_counted() {
    let lines: Vec<String> = (1..=100).map(|line| format!("line number {line}\n")).collect();
    let text = lines.concat();
    let cut = cut(&text, 120, &counter(), "see outputs/3.txt");
    assert!(cut.head.starts_with("line number 1\n") && cut.head.ends_with('\n'));
    assert!(cut.tail.starts_with("line number ") && cut.tail.ends_with("line number 100\n"));
    let kept = cut.head.lines().count() + cut.tail.lines().count();
    assert_eq!(cut.missing_lines, 100 - kept);
    assert_eq!(cut.missing_bytes, text.len() - cut.head.len() - cut.tail.len());
    let expected = format!(
        "[… {} lines, {} bytes left out; see outputs/3.txt …]",
        cut.missing_lines, cut.missing_bytes
    );
    assert_eq!(cut.mark, expected);
    assert!(cut.to_string().contains(&format!("\n{expected}\nline number")));
    let share = cut.head.len() * 100 / (cut.head.len() + cut.tail.len());
    assert!((50..=68).contains(&share), "the head has {share} %");
}

#[test]
fn one_huge_line_is_cut_inside() {
    let text = "中文abc".repeat(20_000);
    let cut = cut(&text, 200, &counter(), "");
    assert!(!cut.head.is_empty() && !cut.tail.is_empty());
    assert_eq!(cut.missing_lines, 1);
    assert!(counter().count(&cut.to_string()) <= 200);
}

#[test]
fn a_huge_line_among_small_ones_does_not_waste_the_room() {
    let text = format!("first\n{}\nlast\n", "let x = 1; ".repeat(10_000));
    let cut = cut(&text, 300, &counter(), "");
    assert!(counter().count(&cut.to_string()) > 200);
    assert!(cut.head.starts_with("first\n") && cut.tail.ends_with("\nlast\n"));
}

#[test]
fn without_room_for_the_mark_nothing_is_left() {
    let text = "some words ".repeat(50);
    assert_eq!(cut(&text, 3, &counter(), "").to_string(), "");
    assert_eq!(cut(&text, 0, &counter(), "").to_string(), "");
}

#[test]
fn control_characters_and_escapes_are_taken_out() {
    for (dirty, expected) in [
        ("plain\ttext\n", "plain\ttext\n"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\u{1b}[31mred\u{1b}[0m", "red"),
        ("\u{1b}]0;title\u{7}x\u{1b}]8;;u\u{1b}\\y", "xy"),
        ("\u{1b}[31\nnext", "\nnext"),
        ("\u{1b}", ""),
        ("a\0b\u{7f}\u{9b}c", "abc"),
        ("\u{feff}a\u{202e}b\u{2028}c", "ab\nc"),
        ("中文 🙂", "中文 🙂"),
    ] {
        assert_eq!(clean(dirty), expected, "{dirty:?}");
    }
}

#[test]
fn what_is_clean_is_seen_by_its_bytes() {
    let surely = |text: &str| !text.chars().any(|one| one != '\n' && is_unwanted(one));
    for character in '\0'..=char::MAX {
        for text in [format!("{character}"), format!("{character}a"), format!("ab中{character}")] {
            assert_eq!(is_clean(text.as_bytes()), surely(&text), "{text:?}");
        }
    }
    for length in (1_000..1_060).chain(2_040..2_060) {
        let long = "x".repeat(length);
        assert!(is_clean(long.as_bytes()));
        assert!(!is_clean(format!("{long}\u{202E}").as_bytes()), "{length}");
        assert!(!is_clean(format!("{long}\u{202E}{long}").as_bytes()), "{length}");
    }
}

#[test]
fn a_first_line_is_shortened_between_characters() {
    assert_eq!(first_line("\n  你好世界\nmore", 3), "你好…");
    assert_eq!(first_line("你好\nmore", 3), "你好");
    assert_eq!(first_line("", 3), "");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_cut_never_exceeds_and_never_invents(text in "(\\PC|\n|[ \t]){0,2000}", most in 0usize..300) {
        let counter = counter();
        let cut = cut(&text, most, &counter, "");
        prop_assert!(counter.count(&cut.to_string()) <= most);
        prop_assert!(text.starts_with(cut.head));
        prop_assert!(text.ends_with(cut.tail));
        prop_assert_eq!(cut.head.len() + cut.tail.len() + cut.missing_bytes, text.len());
    }
}

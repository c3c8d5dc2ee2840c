//! A first look at a block of lines: whether anything in it may have to be changed.
//!
//! Nearly all that commands print is plain text, and it leaves as it came. The screen finds the
//! first line that is not certainly so; it may be wrong about a line that needs nothing, never about
//! one that does.

use std::sync::OnceLock;

use regex::Regex;

use super::{addressed, redact, visible};

/// Returns a block as text, when no character of it has to be changed: UTF-8, without control
/// characters and without what hides.
pub(super) fn plain(block: &[u8]) -> Option<&str> {
    // Counting has no branches inside a chunk, so sixteen bytes are looked at in one step.
    let is_ascii = block.chunks(64).all(|chunk| {
        let plain = |byte: &&u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n');
        chunk.iter().filter(plain).count() == chunk.len()
    });
    let text = std::str::from_utf8(block).ok()?;
    let is_shown = |character: char| character == '\n' || visible::is_shown(character);
    (is_ascii || text.chars().all(is_shown)).then_some(text)
}

/// Where things stand in a text that may have to be taken out or marked.
pub(super) struct Signs<'a> {
    text: &'a str,
    /// The next place of each expression; none when there is no further one.
    next: Vec<(&'static Regex, Option<usize>)>,
}

impl<'a> Signs<'a> {
    /// Returns the signs of a text.
    pub(super) fn of(text: &'a str) -> Self {
        let next = |signs: &'static Regex| (signs, signs.find(text).map(|found| found.start()));
        Self { text, next: signs().iter().map(next).collect() }
    }

    /// Returns the first place at or behind another, which never goes back.
    pub(super) fn first_from(&mut self, at: usize) -> Option<usize> {
        for (signs, next) in &mut self.next {
            if next.is_some_and(|next| next < at) {
                *next = signs.find_at(self.text, at).map(|found| found.start());
            }
        }
        self.next.iter().filter_map(|(_, next)| *next).min()
    }
}

fn signs() -> &'static [Regex] {
    static SIGNS: OnceLock<Vec<Regex>> = OnceLock::new();
    SIGNS.get_or_init(|| {
        let any_of = |signs: &mut dyn Iterator<Item = &'static str>| {
            signs.map(regex::escape).collect::<Vec<_>>().join("|")
        };
        let secrets = any_of(&mut redact::signs());
        let tokens = any_of(&mut redact::beginnings());
        let passages = any_of(&mut addressed::signs());
        // A test sees that all four are expressions.
        let signs = [secrets.as_str(), &tokens, &passages, addressed::ORDERS];
        signs.iter().filter_map(|signs| Regex::new(signs).ok()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_need_a_change_is_seen_and_plain_text_is_not() {
        assert_eq!(signs().len(), 4);
        for (text, expected) in [
            ("fn main() {}\n修复：超时\n", None),
            ("a\nkey AKIA", Some(6)),
            ("a\nkey hvs.CAES", Some(6)),
            ("a\nplease IgNoRe", Some(9)),
            ("see https://example.org", Some(9)),
            ("-----BEGIN RSA", Some(0)),
            ("x\n[Task]", Some(2)),
            ("请忽略", Some(3)),
        ] {
            assert_eq!(Signs::of(text).first_from(0), expected, "{text}");
        }
    }

    #[test]
    fn signs_come_one_after_the_other() {
        let mut signs = Signs::of("AKIA [Task] x AKIA");
        let places = [0, 1, 6, 15].map(|at| signs.first_from(at));
        assert_eq!(places, [Some(0), Some(5), Some(14), None]);
    }

    #[test]
    fn only_text_without_anything_hidden_is_plain() {
        for (block, expected) in [
            (&b"a\tb\n"[..], true),
            ("名前\né\n".as_bytes(), true),
            (b"a\x1b[0m\n", false),
            (b"a\r\n", false),
            (b"\x7f\n", false),
            (b"\xff\n", false),
            ("a\u{200b}\n".as_bytes(), false),
            ("a\u{85}\n".as_bytes(), false),
        ] {
            assert_eq!(plain(block).is_some(), expected, "{block:?}");
        }
    }
}

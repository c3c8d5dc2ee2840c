//! Bytes to text: UTF-8 where it is, another encoding where a line is not, and never an error.
//!
//! The decision falls line by line, because one search may print lines of files in different
//! encodings.

use std::borrow::Cow;
use std::fmt;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// The name of what is no text at all.
const BINARY: &str = "binary";

/// Decodes one stream.
#[derive(Default)]
pub(super) struct Decoder {
    started: bool,
    wide: Option<encoding_rs::Decoder>,
    detector: Option<EncodingDetector>,
    name: Option<&'static str>,
}

impl Decoder {
    /// Returns the text of a chunk when the stream is UTF-16, which its first two bytes tell. Lines
    /// cannot be found in it before.
    pub(super) fn wide(&mut self, bytes: &[u8]) -> Option<String> {
        if !self.started && !bytes.is_empty() {
            self.started = true;
            let encoding = match bytes {
                [0xff, 0xfe, ..] => Some(UTF_16LE),
                [0xfe, 0xff, ..] => Some(UTF_16BE),
                _ => None,
            };
            self.name = encoding.map(Encoding::name);
            self.wide = encoding.map(Encoding::new_decoder_with_bom_removal);
        }
        let wide = self.wide.as_mut()?;
        let mut text = String::with_capacity(wide.max_utf8_buffer_length(bytes.len())?);
        // The room is what the decoder asks for, so it takes everything.
        drop(wide.decode_to_string(bytes, &mut text, false));
        Some(text)
    }

    /// Returns the text of a line.
    pub(super) fn decode<'a>(&mut self, line: &'a [u8]) -> Cow<'a, str> {
        if let Ok(text) = std::str::from_utf8(line) {
            return Cow::Borrowed(text);
        }
        if is_cut_utf8(line, self.detector.is_some()) {
            return String::from_utf8_lossy(line);
        }
        if line.contains(&0) {
            self.name.get_or_insert(BINARY);
            return String::from_utf8_lossy(line);
        }
        let detector =
            self.detector.get_or_insert_with(|| EncodingDetector::new(Iso2022JpDetection::Deny));
        // More lines make a better guess.
        detector.feed(line, false);
        let encoding = detector.guess(None, Utf8Detection::Deny);
        if self.name != Some(BINARY) {
            self.name = Some(encoding.name());
        }
        encoding.decode_without_bom_handling(line).0
    }

    /// Returns the name of the encoding, when it is not UTF-8.
    pub(super) fn name(&self) -> Option<&'static str> {
        self.name
    }
}

/// Returns whether a line is UTF-8 in which characters were cut, as by `cut -c` and `head -c`, which
/// count bytes: it has whole characters of several bytes, and what is broken is the rest of one at
/// an end of the line, or rare. Where lines in another encoding were met, it must be clearer.
fn is_cut_utf8(line: &[u8], is_mixed: bool) -> bool {
    let (mut whole, mut broken, mut within, mut at) = (0, 0, 0, 0);
    for chunk in line.utf8_chunks() {
        // Three bytes are hardly ever a character by chance, two sometimes are.
        let weight = |character: char| [0, 1, 3, 3][character.len_utf8() - 1];
        whole += chunk.valid().chars().map(weight).sum::<usize>();
        let start = at + chunk.valid().len();
        at = start + chunk.invalid().len();
        let Some(first) = chunk.invalid().first() else { continue };
        broken += 1;
        let is_rest = start < 3 && line[..at].iter().all(|byte| (0x80..0xc0).contains(byte));
        let is_beginning = *first >= 0xc2 && line[at..].iter().all(u8::is_ascii_whitespace);
        within += usize::from(!is_rest && !is_beginning);
    }
    broken > 0 && whole >= if within == 0 && !is_mixed { 4 } else { 12 * broken }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Decoder").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &[u8], expected: bool) {
        assert_eq!(is_cut_utf8(line, false), expected, "{}", String::from_utf8_lossy(line));
    }

    #[test]
    fn a_line_that_was_cut_is_utf8_wherever_it_was_cut() {
        let line = "这是一个很长的中文说明段落，用来测试截断。".as_bytes();
        for start in 0..4 {
            for end in 12..line.len() {
                let part = &line[start..end];
                check(part, std::str::from_utf8(part).is_err());
                check(&[part, b"\n"].concat(), std::str::from_utf8(part).is_err());
            }
        }
        check(b"caf\xc3\xa9 \xc3\xa0 la br\xc3\xbbl\xc3\xa9e \xc3", true);
        let joined = [&"修复数据库连接".as_bytes()[..19], b"..", "测试截断".as_bytes()].concat();
        check(&joined, true);
    }

    #[test]
    fn other_encodings_are_no_cut_utf8() {
        check(b"caf\xe9", false);
        check(b"\xe9t\xe9 \xe0 la cr\xe8me br\xfbl\xe9e", false);
        check(b"\xff\xfe\x80", false);
        let common = "修复数据库连接在超时后没有关闭的一是不了人我有这个大来到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可里小么天心多都然事发成只作当想看文无开手十用主行方又如前所本见经头面公同已老从动两长知样现";
        let common: Vec<char> = common.chars().collect();
        let (mut all, mut wrong, mut wrong_later) = (0, 0, 0);
        for first in &common {
            for second in &common {
                for third in common.iter().step_by(7) {
                    let text: String = [*first, *second, *third].iter().collect();
                    let bytes = encoding_rs::GBK.encode(&text).0;
                    all += 1;
                    wrong += usize::from(is_cut_utf8(&bytes, false));
                    wrong_later += usize::from(is_cut_utf8(&bytes, true));
                }
            }
        }
        assert!(wrong * 500 < all, "{wrong} of {all} words in GBK");
        assert_eq!(wrong_later, 0);
    }
}

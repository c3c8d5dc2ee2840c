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

impl fmt::Debug for Decoder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Decoder").field("name", &self.name).finish_non_exhaustive()
    }
}

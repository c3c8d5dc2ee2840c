//! An API key: checked when it is made, and never shown.
//!
//! Neither `Debug` nor serialisation gives it away, and [`ApiKey::mask`] takes it out of any text
//! that a server sends back. It leaves this file only into the header of a request.

use std::fmt;

/// What stands in the place of a key.
pub(super) const MASKED: &str = "***";

/// A key is at most this long; what is longer is a file that was pasted by mistake.
const LONGEST: usize = 4096;

/// A key, without the blanks and line ends that come along when it is copied.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey {
    secret: String,
    origin: String,
}

/// Why a text is no key. It never quotes the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    /// Nothing is left after trimming.
    #[error("the key from {0} is empty")]
    Empty(String),
    /// A character that no header may hold.
    #[error("the key from {0} has a blank, a line end or a character outside ASCII in it")]
    Characters(String),
    /// Longer than any key.
    #[error("the key from {0} is longer than {LONGEST} bytes")]
    TooLong(String),
}

impl ApiKey {
    /// Takes a key; `origin` names the place it comes from, for messages.
    pub fn new(text: &str, origin: impl Into<String>) -> Result<Self, BadKey> {
        let origin = origin.into();
        let secret = text.trim().trim_matches(['"', '\'']);
        if secret.is_empty() {
            return Err(BadKey::Empty(origin));
        }
        if secret.len() > LONGEST {
            return Err(BadKey::TooLong(origin));
        }
        if !secret.chars().all(|letter| letter.is_ascii_graphic()) {
            return Err(BadKey::Characters(origin));
        }
        Ok(Self { secret: secret.to_owned(), origin })
    }

    /// Returns where the key comes from.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Returns the text with the key taken out of it.
    pub fn mask(&self, text: &str) -> String {
        if self.secret.len() < 4 {
            return text.to_owned();
        }
        text.replace(&self.secret, MASKED)
    }

    /// Returns the key itself, for the header.
    pub(super) fn secret(&self) -> &str {
        &self.secret
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ApiKey({MASKED} from {})", self.origin)
    }
}

/// A key as a settings file holds it, not yet checked.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredKey(String);

impl StoredKey {
    /// Returns the text, for making an [`ApiKey`] of it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for StoredKey {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for StoredKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(MASKED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copied_key_loses_its_line_end_and_quotes() {
        let key = ApiKey::new(" \"sk-abc\"\r\n", "`OPENAI_API_KEY`").unwrap();
        assert_eq!((key.secret(), key.origin()), ("sk-abc", "`OPENAI_API_KEY`"));
    }

    #[test]
    fn what_is_no_key_is_told_without_quoting_it() {
        for text in ["", " \n", "sk abc", "sk-\u{5bc6}", "sk\nabc", &"x".repeat(5000)] {
            let error = ApiKey::new(text, "`K`").unwrap_err().to_string();
            assert!(error.starts_with("the key from `K` "), "{error}");
            assert!(text.trim().is_empty() || !error.contains(text), "{error}");
        }
    }

    #[test]
    fn a_key_is_never_shown() {
        let key = ApiKey::new("sk-verysecret", "`K`").unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(*** from `K`)");
        assert_eq!(key.mask("no sk-verysecret here"), "no *** here");
        let stored = StoredKey::from("sk-verysecret".to_owned());
        assert_eq!(format!("{stored:?}"), "***");
    }
}

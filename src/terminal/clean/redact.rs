//! Takes out what has the shape of a secret: keys and tokens of known services, passwords in
//! addresses, private keys. The shape decides, not the name of the file or of a variable, so
//! ordinary code stays as it is.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex::{Captures, Regex};

use crate::support::secrets;

/// What stands for a secret.
const REDACTED: &str = "[redacted]";

/// Shapes that are secrets wherever they stand, besides the tokens of [`secrets`], each with texts
/// of which it holds one, so that most text is never looked at twice. A named group limits what is
/// taken out.
///
/// The borders of words are those of ASCII: a key glued to Chinese is a key.
const SHAPES: &[(&[&str], &str)] = &[
    // Amazon, Google, GitHub, GitLab, Slack, Stripe, npm, PyPI, Hugging Face, DigitalOcean,
    // SendGrid, Telegram.
    (&["AKIA", "ASIA", "ABIA", "ACCA"], r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b"),
    (&["AIza"], r"\bAIza[0-9A-Za-z_-]{35}"),
    (&["ya29."], r"\bya29\.[0-9A-Za-z_-]{20,}"),
    (&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"\bgh[pousr]_[0-9A-Za-z]{30,}"),
    (&["github_pat_"], r"\bgithub_pat_[0-9A-Za-z_]{22,}"),
    (&["glpat-"], r"\bglpat-[0-9A-Za-z_-]{20,}"),
    (&["xox"], r"\bxox[abeoprs]-[0-9A-Za-z-]{10,}"),
    (&["xapp-"], r"\bxapp-[0-9A-Za-z-]{20,}"),
    (&["k_live_", "k_test_"], r"\b(?:sk|rk)_(?:live|test)_[0-9A-Za-z]{16,}"),
    (&["npm_"], r"\bnpm_[0-9A-Za-z]{36}"),
    (&["pypi-AgE"], r"\bpypi-AgE[0-9A-Za-z_-]{40,}"),
    (&["hf_"], r"\bhf_[0-9A-Za-z]{30,}"),
    (&["dop_v1_"], r"\bdop_v1_[0-9a-f]{64}"),
    (&["SG."], r"\bSG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{30,}"),
    // OpenAI, Anthropic and those that copied the form; names like `sk-learn-…` have no digit.
    (&["sk-"], r"\b(?P<digits>sk-[0-9A-Za-z_-]{18,})"),
    // JSON web tokens.
    (&["eyJ"], r"\beyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}"),
    // Passwords in addresses, and what follows `Bearer`.
    (&["://"], r"://[^\s/:@]*:(?P<password>[^\s/@]+)@"),
    (
        &["Bearer", "bearer", "BEARER"],
        r"\b(?:Bearer|bearer|BEARER)\s+(?P<bearer>[0-9A-Za-z._~+/-]{20,}=*)",
    ),
    (
        &["secret_access_key", "SECRET_ACCESS_KEY", "SecretAccessKey"],
        r#"(?:secret_access_key|SECRET_ACCESS_KEY|SecretAccessKey)["']?\s*[:=]\s*["']?(?P<amazon>[0-9A-Za-z/+]{40})\b"#,
    ),
];

/// What a private key begins and ends with.
const KEY_BORDERS: [&str; 2] = ["-----BEGIN ", "-----END "];

/// Redacts one stream, line by line.
#[derive(Debug, Default)]
pub(super) struct Redactor {
    count: usize,
    inside_key: bool,
}

impl Redactor {
    /// Returns a line without secrets.
    pub(super) fn redact<'a>(&mut self, line: Cow<'a, str>) -> Cow<'a, str> {
        if let Some(line) = self.private_key(&line) {
            return Cow::Owned(line);
        }
        let line = self.tokens(line);
        let Some(shapes) = shapes() else { return line };
        if !shapes.is_match(&line) {
            return line;
        }
        let clean = shapes.replace_all(&line, |found: &Captures<'_>| self.replace(found));
        Cow::Owned(clean.into_owned())
    }

    /// Takes out the tokens of known services.
    fn tokens<'a>(&mut self, line: Cow<'a, str>) -> Cow<'a, str> {
        let mut ranges: Vec<Range<usize>> =
            secrets::in_text(&line).map(|(range, _)| range).collect();
        if ranges.is_empty() {
            return line;
        }
        ranges.sort_unstable_by_key(|range| (range.start, range.end));
        let mut clean = String::with_capacity(line.len());
        let mut at = 0;
        for range in ranges {
            if range.start >= at {
                self.count += 1;
                clean.push_str(&line[at..range.start]);
                clean.push_str(REDACTED);
            }
            at = at.max(range.end);
        }
        clean.push_str(&line[at..]);
        Cow::Owned(clean)
    }

    /// Returns whether the next line belongs to a private key.
    pub(super) fn is_inside_key(&self) -> bool {
        self.inside_key
    }

    /// Returns how many secrets were taken out.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    fn replace(&mut self, found: &Captures<'_>) -> String {
        let whole = &found[0];
        let has_digit = |word: &str| word.bytes().any(|byte| byte.is_ascii_digit());
        if found.name("digits").is_some_and(|word| !has_digit(word.as_str())) {
            return whole.to_owned();
        }
        let part = ["password", "bearer", "amazon"].iter().find_map(|name| found.name(name));
        if part.is_some_and(|part| part.as_str() == REDACTED) {
            // A token that stood for a password is gone, and counted, already.
            return whole.to_owned();
        }
        self.count += 1;
        match (part, found.get(0)) {
            (Some(part), Some(all)) => {
                let (before, after) = (part.start() - all.start(), part.end() - all.start());
                format!("{}{REDACTED}{}", &whole[..before], &whole[after..])
            }
            _ => REDACTED.to_owned(),
        }
    }

    /// Takes out the lines of a private key between its first and its last.
    fn private_key(&mut self, line: &str) -> Option<String> {
        if let Some(at) = line.find("-----BEGIN ")
            && line[at..].contains("PRIVATE KEY")
        {
            self.count += 1;
            // A key on one line, as in JSON, ends where it began.
            self.inside_key = !line[at..].contains("-----END ");
            return Some(format!("{}{REDACTED}", &line[..at]));
        }
        if !self.inside_key {
            return None;
        }
        if line.contains("-----END ") {
            self.inside_key = false;
            return Some(REDACTED.to_owned());
        }
        // Something that is no line of a key: the end was not printed.
        if line.contains(' ') && !line.trim_start().starts_with(|c: char| c.is_ascii_alphanumeric())
        {
            self.inside_key = false;
            return None;
        }
        Some(REDACTED.to_owned())
    }
}

/// Returns the texts without which there is no secret of our own shapes.
pub(super) fn signs() -> impl Iterator<Item = &'static str> {
    let shapes = SHAPES.iter().flat_map(|(signs, _)| signs.iter().copied());
    shapes.chain(KEY_BORDERS)
}

/// Returns what the other tokens begin with: a list of its own, because a search for few strings is
/// much faster than one for many.
pub(super) fn beginnings() -> impl Iterator<Item = &'static str> {
    let beginnings = secrets::TOKENS.iter().map(|(beginning, ..)| *beginning);
    beginnings.filter(|beginning| !signs().any(|sign| beginning.contains(sign)))
}

/// Returns where secrets, and the borders of private keys, stand in a text.
pub(super) fn places(text: &str) -> impl Iterator<Item = Range<usize>> {
    static BORDERS: OnceLock<Option<Regex>> = OnceLock::new();
    let borders = BORDERS
        .get_or_init(|| Regex::new(r"-----(?:BEGIN|END) [A-Z0-9 ]{0,40}PRIVATE KEY-----").ok());
    let found = shapes().into_iter().chain(borders).flat_map(|regex| regex.find_iter(text));
    let tokens = secrets::in_text(text).map(|(range, _)| range);
    found.map(|found| found.range()).chain(tokens)
}

fn shapes() -> Option<&'static Regex> {
    static SHAPE: OnceLock<Option<Regex>> = OnceLock::new();
    // A test sees that the expression is one.
    SHAPE
        .get_or_init(|| {
            let shapes: Vec<String> =
                SHAPES.iter().map(|(_, shape)| shape.replace(r"\b", r"(?-u:\b)")).collect();
            Regex::new(&shapes.join("|")).ok()
        })
        .as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &str) {
        assert_eq!(Redactor::default().redact(Cow::Borrowed(line)), expected);
    }

    #[test]
    fn token_shaped_secrets_are_taken_out() {
        assert!(shapes().is_some());
        check("AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE", "AWS_ACCESS_KEY_ID=[redacted]");
        check(
            "url = https://ann:s3cret@example.org/x",
            "url = https://ann:[redacted]@example.org/x",
        );
        check("key: sk-proj-0123456789abcdefghij", "key: [redacted]");
        check("Authorization: Bearer abcdefghijklmnopqrst0", "Authorization: Bearer [redacted]");
        check("ghp_0123456789abcdefghijklmnopqrstuvwxyz", "[redacted]");
        check("密钥AKIAIOSFODNN7EXAMPLE。", "密钥[redacted]。");
    }

    #[test]
    fn tokens_of_every_known_service_are_taken_out() {
        let random = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dE3fG6hJ9kL2mN5pQ8sT1vW4yZ".repeat(2);
        for (beginning, letters, least, what) in secrets::TOKENS {
            let random = match letters {
                secrets::Letters::Capitals => random.to_uppercase(),
                _ => random.clone(),
            };
            let token = format!("{beginning}{}", &random[..least]);
            check(
                &format!("{what}: \"{token}\", {token}"),
                &format!("{what}: \"{REDACTED}\", {REDACTED}"),
            );
            let is_seen = signs().chain(beginnings()).any(|sign| token.contains(sign));
            assert!(is_seen, "{what}: {token}");
            let is_placed = places(&token).any(|range| range == (0..token.len()));
            assert!(is_placed, "{what}: {token}");
        }
    }

    #[test]
    fn a_token_in_the_place_of_a_password_is_one_secret() {
        let mut redactor = Redactor::default();
        let line = format!("https://ann:ghp_{}@example.org/x", "aB3dE6gH9j".repeat(4));
        let clean = redactor.redact(Cow::Borrowed(&line));
        assert_eq!(clean, "https://ann:[redacted]@example.org/x");
        assert_eq!(redactor.count(), 1);
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for line in [
            "pip install sk-learn-contrib-imbalanced-learn",
            "see https://example.org:8080/a@b and http://[::1]:80/",
            "ann@example.org:shop.git",
            "let token = bearer_of_news();",
            "5f2b6c0d9e3a4b5c6d7e8f90123456789abcdef0",
        ] {
            check(line, line);
        }
    }

    #[test]
    fn a_private_key_is_taken_out_between_its_lines() {
        let mut redactor = Redactor::default();
        let lines = [
            "a",
            "-----BEGIN RSA PRIVATE KEY-----",
            "MIIEow",
            "-----END RSA PRIVATE KEY-----",
            "b",
        ];
        let clean: Vec<_> =
            lines.iter().map(|line| redactor.redact(Cow::Borrowed(*line)).into_owned()).collect();
        assert_eq!(clean, ["a", "[redacted]", "[redacted]", "[redacted]", "b"]);
        assert_eq!(redactor.count(), 1);
    }
}

//! Looks for secrets in what would be written down: notes go into Git and into requests.
//!
//! Only shapes that are hardly ever anything else; it never returns what it found.

use std::collections::HashSet;

use crate::support::secrets::{self as tokens, Letters, is_random, token};
use crate::support::text::floor_char_boundary;

/// Returns the first line, from 1, that looks like a secret, and what it looks like.
pub(super) fn find(text: &str) -> Option<(usize, &'static str)> {
    text.lines().zip(1..).find_map(|(line, number)| Some((number, kind_of(line)?)))
}

/// Like [`find`], in lines that `old` has not: a secret that is there already keeps nobody from
/// changing something else.
pub(super) fn find_new(old: &str, text: &str) -> Option<(usize, &'static str)> {
    let old: HashSet<&str> = old.lines().collect();
    let mut lines = text.lines().zip(1..).filter(|(line, _)| !old.contains(line));
    lines.find_map(|(line, number)| Some((number, kind_of(line)?)))
}

fn kind_of(line: &str) -> Option<&'static str> {
    if is_private_key(line) {
        return Some("a private key");
    }
    if is_web_token(line) {
        return Some("a JSON web token");
    }
    if is_amazon_secret(line) {
        return Some("an AWS secret key");
    }
    tokens::in_text(line).map(|(_, what)| what).next()
}

/// The first line of a private key, as OpenSSL, OpenSSH, PGP, the SSH of other makers and `PuTTY`
/// write it.
fn is_private_key(line: &str) -> bool {
    let behind = |mark: &str| line.find(mark).map(|at| &line[at + mark.len()..]);
    behind("---BEGIN ").or_else(|| behind("--- BEGIN ")).is_some_and(|rest| {
        // The kind of key stands between in capital letters: no sentence does.
        rest.find("PRIVATE KEY").is_some_and(|at| {
            let is_kind = |letter: u8| {
                letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == b' '
            };
            rest[..at].bytes().all(is_kind)
        })
    }) || line.starts_with("PuTTY-User-Key-File-")
}

/// The half of an AWS key that has no beginning of its own, behind its usual names.
fn is_amazon_secret(line: &str) -> bool {
    const NAMES: [&str; 3] = ["secret_access_key", "SECRET_ACCESS_KEY", "SecretAccessKey"];
    NAMES.iter().flat_map(|name| line.match_indices(name)).any(|(at, name)| {
        let is_between = |character: char| matches!(character, ' ' | '"' | '\'' | ':' | '=');
        let value = line[at + name.len()..].trim_start_matches(is_between);
        // One more tells a longer word from a key, and a note may hold a word without end.
        let most = floor_char_boundary(value, AMAZON_SECRET + 1);
        let token = token(&value[..most], Letters::Slashes);
        token.len() == AMAZON_SECRET && is_random(token, Letters::Slashes, AMAZON_SECRET)
    })
}

/// How long such a half is.
const AMAZON_SECRET: usize = 40;

/// Three parts of Base64 with points between, of which two begin as JSON does.
fn is_web_token(line: &str) -> bool {
    const JSON: &str = "eyJ";
    let is_long = |part: &str| part.len() >= 12;
    let mut rest = line;
    while let Some(at) = rest.find(JSON) {
        let word = token(&rest[at..], Letters::Dots);
        let parts: Vec<&str> = word.split('.').collect();
        let is_one = parts.windows(3).any(|parts| {
            // Something may be glued to the front of the first.
            let first = parts[0].find(JSON).map_or("", |at| &parts[0][at..]);
            parts[1].starts_with(JSON) && [first, parts[1], parts[2]].into_iter().all(is_long)
        });
        if is_one {
            return true;
        }
        rest = &rest[at + word.len()..];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::secrets::TOKENS;

    #[track_caller]
    fn check(text: &str, expected: Option<(usize, &'static str)>) {
        assert_eq!(find(text), expected, "{text}");
    }

    /// Put together here, so that no scanner of repositories takes this file for a leak.
    const RANDOM: &str = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dE3fG6hJ9kL2mN5pQ8sT1vW4yZ";

    #[test]
    fn tokens_of_every_known_kind_are_found_with_their_line() {
        for (beginning, letters, length, what) in TOKENS {
            let random = match letters {
                Letters::Capitals => RANDOM.to_uppercase(),
                Letters::Plain | Letters::Dashes | Letters::Dots | Letters::Slashes => {
                    RANDOM.repeat(2)
                }
            };
            let token = format!("{beginning}{}", &random[..length]);
            for text in [
                token.clone(),
                format!("a\nexport KEY=\"{token}\""),
                format!("令牌是{token}。"),
                format!("(`{token}`)"),
            ] {
                let line = text.lines().count();
                check(&text, Some((line, what)));
            }
            check(&format!("x{token}"), None);
            check(&format!("{beginning}{}", &random[..length / 2]), None);
            check(&format!("{beginning}{}", "x".repeat(length)), None);
        }
        check(&format!("key={}{}", "AKIA", "IOSFODNN7EXAMPLE"), Some((1, "an AWS access key")));
        for name in
            ["aws_secret_access_key = ", "\"SecretAccessKey\": \"", "AWS_SECRET_ACCESS_KEY="]
        {
            check(&format!("{name}{}", &RANDOM[..40]), Some((1, "an AWS secret key")));
            check(&format!("{name}{}", &RANDOM[..41]), None);
        }
        let part = &RANDOM[..24];
        check(&format!("Bearer eyJ{part}.eyJ{part}.{part}"), Some((1, "a JSON web token")));
    }

    #[test]
    fn a_web_token_is_found_behind_what_only_begins_like_one() {
        let part = &RANDOM[..24];
        check(&format!("eyJ.eyJ{part}.eyJ{part}.{part}"), Some((1, "a JSON web token")));
        check(&format!("eyJ{part}eyJ{part}.eyJ{part}.{part}"), Some((1, "a JSON web token")));
        check(&format!("eyJ{part}.eyJ{part}.short, {part}"), None);
        check(&format!("eyJ{part}.{part}.{part}"), None);
    }

    #[test]
    fn words_without_end_are_read_once() {
        // Read anew from each beginning, one such line would take longer than anybody waits.
        for beginning in ["eyJ", "eyJ.", "SecretAccessKey"] {
            check(&beginning.repeat(1 << 16), None);
        }
    }

    #[test]
    fn only_a_secret_that_was_not_there_keeps_a_note_from_being_changed() {
        let token = format!("ghp_{}", &RANDOM[..36]);
        let old = format!("one\n{token}\n");
        assert_eq!(find_new(&old, &format!("two\none\n{token}")), None);
        assert_eq!(find_new("one\n", &old), Some((2, "a GitHub token")));
    }

    #[test]
    fn private_keys_of_every_kind_are_found() {
        for kind in ["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP "] {
            let line = format!(
                "-----BEGIN {kind}PRIVATE KEY{}-----",
                if kind == "PGP " { " BLOCK" } else { "" }
            );
            check(&format!("a\n{line}\nMIIE"), Some((2, "a private key")));
            check(&format!("{{\"private_key\": \"{line}\\nMIIE"), Some((1, "a private key")));
        }
        check("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", Some((1, "a private key")));
        check("PuTTY-User-Key-File-3: ssh-ed25519", Some((1, "a private key")));
    }

    #[test]
    fn names_placeholders_and_prose_are_not() {
        for text in [
            "set OPENAI_API_KEY to sk-...",
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "sk-<your key>, ghp_YOUR_TOKEN, AKIA…",
            "the task-scheduler-that-runs-everything-in-the-background",
            "risk-management-of-the-whole-long-running-project-plan",
            "#sk-container-id-1 and sk-learn-2024-guide-to-every-single-classifier",
            "ghp_short",
            "tokens begin with ghp_, gho_, ghu_, ghs_ or ghr_ and have 36 characters",
            "-----BEGIN CERTIFICATE-----",
            "-----BEGIN PUBLIC KEY-----",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1 me@host",
            "commit 3fce3b5b9d8e7a6c5b4a39281706f5e4d3c2b1a0",
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "![x](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ)",
            "npm_config_registry=https://registry.example.org and npm_lifecycle_event",
            "hf_hub_download(repo_id) and hf_transfer",
            "find the PRIVATE KEY; -----BEGIN is how it starts",
            "the eyJ prefix is Base64 of {\"",
        ] {
            check(text, None);
        }
    }
}

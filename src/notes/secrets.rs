//! Looks for secrets in what would be written down: notes go into Git and into requests.
//!
//! Only shapes that are hardly ever anything else; it never returns what it found.

use crate::support::secrets::{self as tokens, Letters, is_random, token};

/// Returns the first line, from 1, that looks like a secret, and what it looks like.
pub(super) fn find(text: &str) -> Option<(usize, &'static str)> {
    text.lines().zip(1..).find_map(|(line, number)| Some((number, kind_of(line)?)))
}

/// Like [`find`], in lines that `old` has not: a secret that is there already keeps nobody from
/// changing something else.
pub(super) fn find_new(old: &str, text: &str) -> Option<(usize, &'static str)> {
    let is_old = |line: &str| old.lines().any(|other| other == line);
    let mut lines = text.lines().zip(1..);
    lines.find_map(|(line, number)| {
        let what = kind_of(line)?;
        (!is_old(line)).then_some((number, what))
    })
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
        let token = token(value, Letters::Slashes);
        token.len() == 40 && is_random(token, Letters::Slashes, 40)
    })
}

/// Three parts of Base64 with points between, of which two begin as JSON does.
fn is_web_token(line: &str) -> bool {
    line.match_indices("eyJ").any(|(at, _)| {
        let mut parts = token(&line[at..], Letters::Dots).split('.');
        let long = |part: Option<&str>| part.is_some_and(|part| part.len() >= 12);
        long(parts.next())
            && parts.clone().next().is_some_and(|part| part.starts_with("eyJ"))
            && long(parts.next())
            && long(parts.next())
    })
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

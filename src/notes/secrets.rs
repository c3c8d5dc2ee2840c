//! Looks for secrets in what would be written down: notes go into Git and into requests.
//!
//! Only shapes that are hardly ever anything else; it never returns what it found.

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

/// What a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Letters {
    /// Digits and capital letters.
    Capitals,
    /// Digits and letters.
    Plain,
    /// Digits, letters, `_` and `-`.
    Dashes,
    /// Digits, letters, `_`, `-` and `.`.
    Dots,
    /// Digits, letters, `/` and `+`, as Base64 has them.
    Slashes,
}

/// Beginnings of tokens, what follows, how much of it at least, and what they are.
const TOKENS: [(&str, Letters, usize, &str); 62] = [
    ("AKIA", Letters::Capitals, 16, "an AWS access key"),
    ("ASIA", Letters::Capitals, 16, "an AWS access key"),
    ("ABIA", Letters::Capitals, 16, "an AWS access key"),
    ("ACCA", Letters::Capitals, 16, "an AWS access key"),
    ("ghp_", Letters::Plain, 30, "a GitHub token"),
    ("gho_", Letters::Plain, 30, "a GitHub token"),
    ("ghu_", Letters::Plain, 30, "a GitHub token"),
    ("ghs_", Letters::Plain, 30, "a GitHub token"),
    ("ghr_", Letters::Plain, 30, "a GitHub token"),
    ("github_pat_", Letters::Dashes, 22, "a GitHub token"),
    ("glpat-", Letters::Dots, 20, "a GitLab token"),
    ("gldt-", Letters::Dots, 20, "a GitLab token"),
    ("glrt-", Letters::Dots, 20, "a GitLab token"),
    ("glptt-", Letters::Dots, 20, "a GitLab token"),
    ("glcbt-", Letters::Dots, 20, "a GitLab token"),
    ("xoxa-", Letters::Dashes, 20, "a Slack token"),
    ("xoxb-", Letters::Dashes, 20, "a Slack token"),
    ("xoxe-", Letters::Dashes, 20, "a Slack token"),
    ("xoxp-", Letters::Dashes, 20, "a Slack token"),
    ("xoxr-", Letters::Dashes, 20, "a Slack token"),
    ("xoxs-", Letters::Dashes, 20, "a Slack token"),
    ("xoxe.xox", Letters::Dots, 20, "a Slack token"),
    ("xoxc-", Letters::Dashes, 20, "a Slack token"),
    ("xoxd-", Letters::Dashes, 20, "a Slack token"),
    ("hooks.slack.com/services/T", Letters::Slashes, 30, "a Slack webhook"),
    ("xapp-", Letters::Dashes, 20, "a Slack token"),
    ("sk-ant-", Letters::Dashes, 20, "an Anthropic key"),
    ("sk-proj-", Letters::Dashes, 20, "an OpenAI key"),
    ("sk-svcacct-", Letters::Dashes, 20, "an OpenAI key"),
    ("sk-admin-", Letters::Dashes, 20, "an OpenAI key"),
    ("sk-or-v1-", Letters::Plain, 20, "an API key"),
    ("sk-", Letters::Plain, 20, "an API key"),
    ("sk_live_", Letters::Plain, 16, "a Stripe key"),
    ("sk_test_", Letters::Plain, 16, "a Stripe key"),
    ("rk_live_", Letters::Plain, 16, "a Stripe key"),
    ("rk_test_", Letters::Plain, 16, "a Stripe key"),
    ("whsec_", Letters::Plain, 24, "a Stripe key"),
    ("AIza", Letters::Dashes, 35, "a Google API key"),
    ("ya29.", Letters::Dashes, 20, "a Google token"),
    ("GOCSPX-", Letters::Dashes, 20, "a Google secret"),
    ("npm_", Letters::Plain, 36, "an npm token"),
    ("pypi-AgE", Letters::Dashes, 40, "a PyPI token"),
    ("hf_", Letters::Plain, 30, "a Hugging Face token"),
    ("gsk_", Letters::Plain, 40, "a Groq key"),
    ("xai-", Letters::Plain, 40, "an xAI key"),
    ("r8_", Letters::Plain, 30, "a Replicate token"),
    ("dop_v1_", Letters::Plain, 40, "a DigitalOcean token"),
    ("dckr_pat_", Letters::Dashes, 20, "a Docker token"),
    ("SG.", Letters::Dots, 50, "a SendGrid key"),
    ("shpat_", Letters::Plain, 32, "a Shopify token"),
    ("lin_api_", Letters::Plain, 30, "a Linear key"),
    ("ntn_", Letters::Plain, 40, "a Notion token"),
    ("hvs.", Letters::Dashes, 24, "a Vault token"),
    ("tskey-", Letters::Dashes, 20, "a Tailscale key"),
    ("ATATT3", Letters::Dashes, 40, "an Atlassian token"),
    ("crates-io-", Letters::Plain, 24, "a crates.io token"),
    ("glsa_", Letters::Dashes, 32, "a Grafana token"),
    ("lsv2_pt_", Letters::Dashes, 32, "a LangSmith key"),
    ("lsv2_sk_", Letters::Dashes, 32, "a LangSmith key"),
    ("PMAK-", Letters::Dashes, 40, "a Postman key"),
    ("AccountKey=", Letters::Slashes, 60, "an Azure key"),
    ("AGE-SECRET-KEY-1", Letters::Capitals, 50, "a private key"),
];

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
    let has = |beginning: &str, letters: Letters, length: usize| {
        line.match_indices(beginning).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            // A token that is glued to Chinese is one.
            let starts =
                !before.is_some_and(|before| before.is_ascii_alphanumeric() || before == '_');
            starts && is_random(token(&line[at + beginning.len()..], letters), letters, length)
        })
    };
    let known =
        TOKENS.iter().find(|(beginning, letters, length, _)| has(beginning, *letters, *length));
    known.map(|(.., what)| *what)
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

/// Returns the characters of a token that a text begins with.
fn token(text: &str, letters: Letters) -> &str {
    let belongs = |character: char| match letters {
        Letters::Capitals | Letters::Plain => character.is_ascii_alphanumeric(),
        Letters::Dashes => character.is_ascii_alphanumeric() || matches!(character, '_' | '-'),
        Letters::Dots => character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.'),
        Letters::Slashes => character.is_ascii_alphanumeric() || matches!(character, '/' | '+'),
    };
    let end = text.find(|character: char| !belongs(character));
    &text[..end.unwrap_or(text.len())]
}

/// Whether these are enough characters of a token, and not a word or a placeholder.
fn is_random(token: &str, letters: Letters, length: usize) -> bool {
    let mut distinct: Vec<u8> = token.bytes().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let is_made_of = match letters {
        Letters::Capitals => !token.bytes().any(|byte| byte.is_ascii_lowercase()),
        // Words with dashes between them have no digit; a date between them makes no token.
        Letters::Dashes | Letters::Dots | Letters::Plain | Letters::Slashes => {
            token.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        }
    };
    token.len() >= length && distinct.len() >= 8 && is_made_of
}

#[cfg(test)]
mod tests {
    use super::*;

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

//! Looks for secrets in what would be written down: notes go into Git and into requests.
//!
//! Only shapes that are hardly ever anything else; it never returns what it found.

/// Returns the first line, from 1, that looks like a secret, and what it looks like.
pub(super) fn find(text: &str) -> Option<(usize, &'static str)> {
    text.lines().zip(1..).find_map(|(line, number)| Some((number, kind_of(line)?)))
}

/// Beginnings of tokens, how many characters follow at least, and what they are.
const TOKENS: [(&str, usize, &str); 17] = [
    ("AKIA", 16, "an AWS access key"),
    ("ASIA", 16, "an AWS access key"),
    ("ghp_", 30, "a GitHub token"),
    ("gho_", 30, "a GitHub token"),
    ("ghu_", 30, "a GitHub token"),
    ("ghs_", 30, "a GitHub token"),
    ("ghr_", 30, "a GitHub token"),
    ("github_pat_", 22, "a GitHub token"),
    ("glpat-", 20, "a GitLab token"),
    ("xoxb-", 20, "a Slack token"),
    ("xoxp-", 20, "a Slack token"),
    ("sk-ant-", 20, "an Anthropic key"),
    ("sk-proj-", 20, "an OpenAI key"),
    ("sk-", 32, "an API key"),
    ("sk_live_", 20, "a Stripe key"),
    ("AIza", 35, "a Google API key"),
    ("npm_", 36, "an npm token"),
];

fn kind_of(line: &str) -> Option<&'static str> {
    if line.contains("-----BEGIN") && line.contains("PRIVATE KEY") {
        return Some("a private key");
    }
    TOKENS.iter().find_map(|(beginning, length, what)| {
        let has_token = line.match_indices(beginning).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let starts =
                !before.is_some_and(|character| character.is_alphanumeric() || character == '_');
            starts && is_random(&line[at + beginning.len()..], *length)
        });
        has_token.then_some(*what)
    })
}

/// Whether a text begins with enough characters of a token that are not one word or a placeholder.
fn is_random(text: &str, length: usize) -> bool {
    let token: &str = {
        let end = text.find(|character: char| {
            !(character.is_ascii_alphanumeric() || matches!(character, '_' | '-'))
        });
        &text[..end.unwrap_or(text.len())]
    };
    let mut distinct: Vec<u8> = token.bytes().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let has_both = token.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    token.len() >= length && distinct.len() >= 8 && has_both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(usize, &'static str)>) {
        assert_eq!(find(text), expected, "{text}");
    }

    #[test]
    fn keys_and_tokens_are_found_with_their_line() {
        check("a\n-----BEGIN RSA PRIVATE KEY-----", Some((2, "a private key")));
        check("-----BEGIN OPENSSH PRIVATE KEY-----", Some((1, "a private key")));
        check(&format!("key={}{}", "AKIA", "IOSFODNN7EXAMPLE"), Some((1, "an AWS access key")));
        check(
            &format!("\n\nghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dE3fG6"),
            Some((3, "a GitHub token")),
        );
        check(&format!("sk-ant-{}", "api03-aB3dE6gH9jK2mN5pQ8sT"), Some((1, "an Anthropic key")));
    }

    #[test]
    fn names_and_placeholders_are_not() {
        check("set OPENAI_API_KEY to sk-...", None);
        check("sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", None);
        check("the task-scheduler-that-runs-everything-in-the-background", None);
        check("risk-management-of-the-whole-long-running-project-plan", None);
        check("ghp_short", None);
        check("-----BEGIN CERTIFICATE-----", None);
    }
}

//! Keys and tokens of known services, by what they begin with: the one table for what must not be
//! shown, kept or sent.
//!
//! Only shapes that are hardly ever anything else. A new kind is a row of [`TOKENS`].

use std::ops::Range;

/// What a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
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
pub const TOKENS: [(&str, Letters, usize, &str); 62] = [
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

/// Returns where tokens of known kinds stand in a text, and what they are; kind after kind.
///
/// It takes linear time, also where beginnings follow each other without end: what is searched may
/// come from anybody.
pub fn in_text(text: &str) -> impl Iterator<Item = (Range<usize>, &'static str)> {
    TOKENS.iter().flat_map(move |(beginning, letters, least, what)| {
        // What follows a beginning inside of a token is the end of that token: if that was not
        // random, it is not either.
        let mut read = 0;
        text.match_indices(beginning).filter_map(move |(at, _)| {
            if at < read || is_inside_word(text, at) {
                return None;
            }
            let behind = at + beginning.len();
            let token = token(&text[behind..], *letters);
            read = behind + token.len();
            is_random(token, *letters, *least).then_some((at..read, *what))
        })
    })
}

/// Returns whether a word goes on at a place; a token that is glued to Chinese begins there.
fn is_inside_word(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back();
    before.is_some_and(|before| before.is_ascii_alphanumeric() || before == '_')
}

/// Returns the characters of a token that a text begins with.
pub fn token(text: &str, letters: Letters) -> &str {
    let belongs = |character: char| match letters {
        Letters::Capitals | Letters::Plain => character.is_ascii_alphanumeric(),
        Letters::Dashes => character.is_ascii_alphanumeric() || matches!(character, '_' | '-'),
        Letters::Dots => character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.'),
        Letters::Slashes => character.is_ascii_alphanumeric() || matches!(character, '/' | '+'),
    };
    let end = text.find(|character: char| !belongs(character));
    &text[..end.unwrap_or(text.len())]
}

/// Returns whether these are enough characters of a token, and not a word or a placeholder.
pub fn is_random(token: &str, letters: Letters, length: usize) -> bool {
    if token.len() < length {
        return false;
    }
    let is_made_of = match letters {
        Letters::Capitals => !token.bytes().any(|byte| byte.is_ascii_lowercase()),
        // Words with dashes between them have no digit; a date between them makes no token.
        Letters::Dashes | Letters::Dots | Letters::Plain | Letters::Slashes => {
            token.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        }
    };
    // A bit for each character: all that a token is made of are ASCII.
    let distinct = token.bytes().fold(0_u128, |seen, byte| seen | 1 << (byte & 0x7f));
    is_made_of && distinct.count_ones() >= LEAST_DISTINCT
}

/// Fewer different characters are a placeholder such as `xxxx`.
const LEAST_DISTINCT: u32 = 8;

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn found(text: &str) -> Vec<&str> {
        in_text(text).map(|(range, _)| &text[range]).collect()
    }

    #[test]
    fn a_token_that_holds_its_own_beginning_is_told_once_and_whole() {
        let token = "glpat-glpat-aB3dE6gH9jK2mN5pQ8sT1";
        assert_eq!(found(&format!("a {token}, b")), [token]);
        // The first is inside of a word, and the second begins one.
        assert_eq!(found(&format!("x{token}")), [&token[6..]]);
    }

    #[test]
    fn beginnings_without_end_are_read_once() {
        // Read anew from each of them, one such line would take longer than anybody waits.
        for beginning in ["SG.", "glpat-", "xoxb-", "github_pat_", "AKIA", "sk-ant-"] {
            assert_eq!(in_text(&beginning.repeat(1 << 16)).count(), 0, "{beginning}");
        }
    }
}

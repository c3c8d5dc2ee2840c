//! Whether a server's words mean "the prompt is too long for the window". There is no common code
//! for it, so the wordings of about 15 servers are told apart by text.
//!
//! A rate limit speaks of too many tokens as well; its words veto.

use std::sync::LazyLock;

use regex::Regex;

/// What a server said of its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Overflow {
    /// The window in tokens, where it was told.
    pub(super) window: Option<usize>,
}

/// Words, in lower case, that mean an overflow; `w` is the window.
const WORDINGS: [&str; 21] = [
    // OpenAI and most of those who follow it
    r"context_length_exceeded|context_window_exceeded",
    r"exceeds? the (?:model's )?context (?:window|length)",
    // vLLM, OpenAI, DeepSeek
    r"maximum context length (?:is|of) (?P<w>\d[\d,]*)",
    // llama.cpp
    r"exceeds the available context size(?: \((?P<w>\d[\d,]*) tokens\))?",
    // LM Studio
    r"tokens to keep from the initial prompt is greater than the context length",
    // Ollama
    r"prompt (?:is )?too long; exceeded (?:max )?context length",
    r"no user query found",
    // Gemini
    r"input token count.*exceeds the maximum number of tokens(?: allowed)?(?: \(?(?P<w>\d[\d,]*)\)?)?",
    r"input token count.*exceeds the maximum",
    // Anthropic
    r"prompt is too long: \d[\d,]* tokens > (?P<w>\d[\d,]*)",
    r"prompt is too long",
    // xAI
    r"maximum prompt length is (?P<w>\d[\d,]*)",
    // Groq
    r"reduce the length of the messages",
    // Together
    r"is longer than the model's context length(?: \((?P<w>\d[\d,]*) tokens\))?",
    // Mistral
    r"too large for model with (?P<w>\d[\d,]*) maximum context length",
    // Kimi
    r"exceeded model token limit(?:: (?P<w>\d[\d,]*))?",
    // MiniMax
    r"context window exceeds limit(?: \((?P<w>\d[\d,]*)\))?",
    // DashScope
    r"range of input length should be \[\d+, ?(?P<w>\d[\d,]*)\]",
    // Bedrock, GitHub
    r"input is too long for requested model",
    r"prompt token count of \d[\d,]* exceeds the limit of (?P<w>\d[\d,]*)",
    // whoever words it another way
    r"exceed\w* .{0,40}context (?:window|length|size)|context (?:window|length|size) .{0,40}exceed",
];

/// Words of a rate limit, which waiting ends and a shorter prompt does not.
const VETOES: [&str; 5] =
    ["rate limit", "rate_limit", "per minute", "too many requests", "throttl"];

static PATTERNS: LazyLock<Vec<Regex>> =
    LazyLock::new(|| WORDINGS.iter().filter_map(|wording| Regex::new(wording).ok()).collect());

/// llama.cpp tells its window in a field beside the text.
static N_CTX: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#""n_ctx" ?: ?(?P<w>\d+)"#).ok());

/// Returns whether a text, in lower case, speaks of a rate limit.
pub(super) fn is_rate_limit(text: &str) -> bool {
    VETOES.iter().any(|veto| text.contains(veto))
}

/// Reads an overflow out of a server's words, in lower case, if they mean one.
pub(super) fn read(text: &str) -> Option<Overflow> {
    if is_rate_limit(text) {
        return None;
    }
    let found: Vec<_> = PATTERNS.iter().filter_map(|pattern| pattern.captures(text)).collect();
    if found.is_empty() {
        return None;
    }
    let field = N_CTX.as_ref().and_then(|pattern| pattern.captures(text));
    let window = found.iter().chain(&field).find_map(|found| {
        let number = found.name("w")?.as_str().replace(',', "");
        number.parse().ok().filter(|window| *window > 0)
    });
    Some(Overflow { window })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[Option<usize>]) {
        let found: Vec<_> =
            read(&text.to_lowercase()).iter().map(|overflow| overflow.window).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn all_patterns_are_regular_expressions() {
        assert_eq!(PATTERNS.len(), WORDINGS.len());
        assert!(N_CTX.is_some());
    }

    #[test]
    fn each_server_is_understood_in_its_own_words() {
        check("Your input exceeds the context window of this model.", &[None]);
        check("context_length_exceeded", &[None]);
        check(
            "This model's maximum context length is 4096 tokens. However, you requested 5000.",
            &[Some(4096)],
        );
        check(
            "request (9012 tokens) exceeds the available context size (8192 tokens), try increasing it",
            &[Some(8192)],
        );
        check(
            r#"the request exceeds the available context size "n_prompt_tokens":9012,"n_ctx":8192"#,
            &[Some(8192)],
        );
        check(
            "The number of tokens to keep from the initial prompt is greater than the context length",
            &[None],
        );
        check("prompt too long; exceeded max context length by 12 tokens", &[None]);
        check("prompt too long; exceeded context length", &[None]);
        check(
            "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).",
            &[Some(1_048_576)],
        );
        check("prompt is too long: 213,462 tokens > 200,000 maximum", &[Some(200_000)]);
        check(
            "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
            &[Some(131_072)],
        );
        check("Please reduce the length of the messages or completion.", &[None]);
        check(
            "The input (70000 tokens) is longer than the model's context length (65536 tokens).",
            &[Some(65_536)],
        );
        check(
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            &[Some(32_768)],
        );
        check(
            "Invalid request: Your request exceeded model token limit: 131072 (requested: 200000)",
            &[Some(131_072)],
        );
        check("invalid params, context window exceeds limit", &[None]);
        check("Range of input length should be [1, 30720]", &[Some(30_720)]);
        check("Input is too long for requested model.", &[None]);
        check("no user query found in messages", &[None]);
    }

    #[test]
    fn a_rate_limit_is_no_overflow() {
        check("Rate limit reached: reduce the length of the messages", &[]);
        check("too many tokens per minute; maximum context length is 4096", &[]);
        check("ThrottlingException: prompt is too long", &[]);
    }

    #[test]
    fn other_errors_are_no_overflow() {
        check("The model `x` does not exist", &[]);
        check("max_tokens must be at most 4096", &[]);
        check("", &[]);
    }
}

//! Windows of well-known hosted models, by name.
//!
//! A name says nothing about a local server: its window is set when it is started, so it is asked
//! and never looked up here.

/// Starts of names with the tokens that prompt and answer may have together. The longest start
/// that fits decides.
const WINDOWS: &[(&str, usize)] = &[
    ("claude-", 200_000),
    ("codestral", 256_000),
    ("deepseek-", 128_000),
    ("gemini-", 1_048_576),
    ("glm-4", 128_000),
    ("glm-4.6", 200_000),
    ("gpt-3.5-turbo", 16_385),
    ("gpt-4", 8_192),
    ("gpt-4-turbo", 128_000),
    ("gpt-4.1", 1_047_576),
    ("gpt-4o", 128_000),
    ("gpt-5", 400_000),
    ("gpt-oss", 131_072),
    ("grok-3", 131_072),
    ("grok-4", 256_000),
    ("kimi-k2", 262_144),
    ("kimi-latest", 131_072),
    ("llama-3.1", 131_072),
    ("llama-3.3", 131_072),
    ("mistral-large", 131_072),
    ("mistral-medium", 131_072),
    ("mistral-small", 131_072),
    ("moonshot-v1-128k", 131_072),
    ("moonshot-v1-32k", 32_768),
    ("moonshot-v1-8k", 8_192),
    ("o1", 200_000),
    ("o3", 200_000),
    ("o4-mini", 200_000),
    ("qwen-max", 32_768),
    ("qwen-plus", 131_072),
    ("qwen-turbo", 1_000_000),
    ("qwen3", 131_072),
];

/// Returns the window of a hosted model, if its name is known. A router's `vendor/` is ignored.
pub fn window(model: &str) -> Option<usize> {
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let rows = WINDOWS.iter().filter(|(start, _)| name.starts_with(start));
    rows.max_by_key(|(start, _)| start.len()).map(|(_, window)| *window)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_start_decides() {
        for (model, expected) in [
            ("gpt-4", Some(8_192)),
            ("gpt-4o-mini", Some(128_000)),
            ("gpt-4.1-nano", Some(1_047_576)),
            ("openai/gpt-4o", Some(128_000)),
            ("GLM-4.6", Some(200_000)),
            ("my-own-model", None),
            ("", None),
            ("通义", None),
        ] {
            assert_eq!(window(model), expected, "{model}");
        }
    }
}

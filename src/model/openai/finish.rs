//! Why an answer ended, in the words of many servers.

/// What a server's word for the end means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The model was done, with or without calls.
    Stop,
    /// A length limit cut it.
    Length,
    /// The window is full.
    WindowFull,
    /// The server's filter ended it.
    Filtered,
    /// Something broke on the server's side.
    Failed,
    /// A word that nobody knows.
    Unknown,
}

impl End {
    /// Reads the word.
    pub(super) fn read(word: &str) -> Self {
        match word.to_ascii_lowercase().as_str() {
            "stop" | "end_turn" | "end" | "eos" | "eos_token" | "stop_sequence" | "complete"
            | "completed" | "done" | "finish" | "finished" | "tool_calls" | "tool_call"
            | "tool_use" | "function_call" | "function_calls" => Self::Stop,
            "length"
            | "max_tokens"
            | "max_output_tokens"
            | "max_completion_tokens"
            | "model_length"
            | "token_limit"
            | "incomplete" => Self::Length,
            "model_context_window_exceeded" | "context_length_exceeded" => Self::WindowFull,
            "content_filter" | "safety" | "sensitive" | "recitation" | "refusal"
            | "prohibited_content" | "blocklist" | "spii" => Self::Filtered,
            "error"
            | "network_error"
            | "server_error"
            | "abort"
            | "aborted"
            | "cancelled"
            | "insufficient_system_resource"
            | "malformed_function_call"
            | "timeout" => Self::Failed,
            _ => Self::Unknown,
        }
    }
}

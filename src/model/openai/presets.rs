//! What is known about servers, a row each, found by the base URL.
//!
//! A row only says how to speak to a server; everything in it is a starting point that settings
//! may override and that a server's own refusal corrects.

use super::url::BaseUrl;

/// How to speak to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "a row of a table, a column each")]
pub struct Preset {
    /// The name, for `endpoint.preset` and for `doctor`.
    pub name: &'static str,
    /// Ends of host names.
    hosts: &'static [&'static str],
    /// Ports that it usually has on the own machine.
    ports: &'static [u16],
    /// The path of the API where the base URL is a bare host.
    base_path: &'static str,
    /// How the key travels.
    pub authorization: Authorization,
    /// The field that limits the length of an answer.
    pub length_field: &'static str,
    /// Whether `stream_options` is understood.
    pub stream_options: bool,
    /// What stands for the text of an assistant message that only calls.
    pub no_text: NoText,
    /// When reasoning is sent back.
    pub reasoning: ReasoningBack,
    /// The field in which reasoning is sent back.
    pub reasoning_field: &'static str,
    /// Whether ids of calls must be nine letters or digits.
    pub short_ids: bool,
    /// Whether a user message may follow a tool message.
    pub user_after_tool: bool,
    /// Whether a tool message must name its tool.
    pub tool_result_name: bool,
    /// Whether calls written as text are recognised.
    pub text_calls: bool,
    /// Whether thinking must be switched off when the answer is not streamed.
    pub thinking_needs_stream: bool,
    /// Whether an empty 400 means that the prompt is too long.
    pub empty_refusal_is_overflow: bool,
    /// Whether headers may come long before the first piece, while a prompt is read.
    pub slow_first_piece: bool,
    /// Where the live window can be asked for.
    pub window_probe: WindowProbe,
}

/// How the key travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Authorization {
    /// `Authorization: Bearer …`.
    Bearer,
    /// `api-key: …`.
    ApiKeyHeader,
}

/// What stands for the text of an assistant message that only calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoText {
    /// `"content": null`.
    Null,
    /// `"content": ""`.
    Empty,
}

/// When reasoning is sent back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningBack {
    /// Never.
    Never,
    /// As it was received.
    AsReceived,
    /// With every assistant message, empty where there was none.
    Always,
    /// Only where there was some.
    NonEmpty,
}

/// Where the live window can be asked for, beside `/models`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowProbe {
    /// Nowhere.
    None,
    /// Ollama's `/api/ps`.
    Ollama,
    /// llama.cpp's `/props`.
    LlamaCpp,
    /// LM Studio's `/api/v0/models`.
    LmStudio,
}

/// An unknown server on the network.
const HOSTED: Preset = Preset {
    name: "generic",
    hosts: &[],
    ports: &[],
    base_path: "/v1",
    authorization: Authorization::Bearer,
    length_field: "max_tokens",
    stream_options: true,
    no_text: NoText::Null,
    reasoning: ReasoningBack::AsReceived,
    reasoning_field: "reasoning_content",
    short_ids: false,
    user_after_tool: true,
    tool_result_name: false,
    text_calls: false,
    thinking_needs_stream: false,
    empty_refusal_is_overflow: false,
    slow_first_piece: false,
    window_probe: WindowProbe::None,
};

/// An unknown server on the own machine.
const LOCAL: Preset = Preset { name: "local", text_calls: true, ..HOSTED };

/// The rows. Hosts come before ports; the first that fits is taken.
const PRESETS: &[Preset] = &[
    Preset {
        name: "openai",
        hosts: &["api.openai.com"],
        reasoning: ReasoningBack::Never,
        ..HOSTED
    },
    Preset {
        name: "azure",
        hosts: &["openai.azure.com", "cognitiveservices.azure.com", "services.ai.azure.com"],
        base_path: "/openai/v1",
        authorization: Authorization::ApiKeyHeader,
        reasoning: ReasoningBack::Never,
        ..HOSTED
    },
    Preset {
        name: "deepseek",
        hosts: &["api.deepseek.com"],
        reasoning: ReasoningBack::Always,
        ..HOSTED
    },
    Preset {
        name: "dashscope",
        hosts: &[
            "dashscope.aliyuncs.com",
            "dashscope-intl.aliyuncs.com",
            "dashscope-us.aliyuncs.com",
        ],
        base_path: "/compatible-mode/v1",
        thinking_needs_stream: true,
        ..HOSTED
    },
    Preset {
        name: "moonshot",
        hosts: &["api.moonshot.cn", "api.moonshot.ai", "api.kimi.com"],
        reasoning: ReasoningBack::NonEmpty,
        ..HOSTED
    },
    Preset {
        name: "zhipu",
        hosts: &["open.bigmodel.cn", "api.z.ai"],
        base_path: "/api/paas/v4",
        ..HOSTED
    },
    Preset {
        name: "mistral",
        hosts: &["api.mistral.ai"],
        reasoning: ReasoningBack::Never,
        no_text: NoText::Empty,
        short_ids: true,
        user_after_tool: false,
        tool_result_name: true,
        ..HOSTED
    },
    Preset {
        name: "gemini",
        hosts: &["generativelanguage.googleapis.com"],
        base_path: "/v1beta/openai",
        reasoning: ReasoningBack::Never,
        ..HOSTED
    },
    Preset {
        name: "openrouter",
        hosts: &["openrouter.ai"],
        base_path: "/api/v1",
        reasoning_field: "reasoning",
        ..HOSTED
    },
    Preset {
        name: "groq",
        hosts: &["api.groq.com"],
        base_path: "/openai/v1",
        reasoning: ReasoningBack::Never,
        ..HOSTED
    },
    Preset {
        name: "cerebras",
        hosts: &["api.cerebras.ai"],
        reasoning: ReasoningBack::Never,
        empty_refusal_is_overflow: true,
        ..HOSTED
    },
    Preset { name: "together", hosts: &["api.together.xyz", "api.together.ai"], ..HOSTED },
    Preset {
        name: "ollama",
        ports: &[11434],
        window_probe: WindowProbe::Ollama,
        reasoning_field: "reasoning",
        slow_first_piece: true,
        ..LOCAL
    },
    Preset {
        name: "llamacpp",
        ports: &[8080],
        window_probe: WindowProbe::LlamaCpp,
        slow_first_piece: true,
        ..LOCAL
    },
    Preset {
        name: "lmstudio",
        ports: &[1234],
        window_probe: WindowProbe::LmStudio,
        no_text: NoText::Empty,
        slow_first_piece: true,
        ..LOCAL
    },
    Preset { name: "vllm", ports: &[8000], slow_first_piece: true, ..LOCAL },
    LOCAL,
    HOSTED,
];

impl Preset {
    /// Returns the row for a base URL.
    pub fn of(base: &BaseUrl) -> Self {
        let by_host = PRESETS.iter().find(|preset| preset.serves(base.host_name()));
        let by_port = || {
            let port = base.port().filter(|_| base.is_local())?;
            PRESETS.iter().find(|preset| preset.ports.contains(&port))
        };
        let unknown = if base.is_local() { LOCAL } else { HOSTED };
        by_host.or_else(by_port).copied().unwrap_or(unknown)
    }

    /// Returns the row of a name.
    pub fn named(name: &str) -> Option<Self> {
        PRESETS.iter().find(|preset| preset.name == name).copied()
    }

    /// Returns the names of all rows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        PRESETS.iter().map(|preset| preset.name)
    }

    /// Changes one thing of the row, by its word. Returns false for a word that is not one.
    pub fn change(&mut self, word: &str) -> bool {
        match word {
            "text_calls" => self.text_calls = true,
            "no_text_calls" => self.text_calls = false,
            "stream_options" => self.stream_options = true,
            "no_stream_options" => self.stream_options = false,
            "short_ids" => self.short_ids = true,
            "no_user_after_tool" => self.user_after_tool = false,
            "tool_result_name" => self.tool_result_name = true,
            "null_content" => self.no_text = NoText::Null,
            "empty_content" => self.no_text = NoText::Empty,
            "reasoning_never" => self.reasoning = ReasoningBack::Never,
            "reasoning_as_received" => self.reasoning = ReasoningBack::AsReceived,
            "reasoning_always" => self.reasoning = ReasoningBack::Always,
            "reasoning_non_empty" => self.reasoning = ReasoningBack::NonEmpty,
            "max_tokens" => self.length_field = "max_tokens",
            "max_completion_tokens" => self.length_field = "max_completion_tokens",
            "api_key_header" => self.authorization = Authorization::ApiKeyHeader,
            "bearer" => self.authorization = Authorization::Bearer,
            _ => return false,
        }
        true
    }

    /// Returns the words for [`Preset::change`].
    pub fn words() -> [&'static str; 17] {
        [
            "text_calls",
            "no_text_calls",
            "stream_options",
            "no_stream_options",
            "short_ids",
            "no_user_after_tool",
            "tool_result_name",
            "null_content",
            "empty_content",
            "reasoning_never",
            "reasoning_as_received",
            "reasoning_always",
            "reasoning_non_empty",
            "max_tokens",
            "max_completion_tokens",
            "api_key_header",
            "bearer",
        ]
    }

    fn serves(&self, host: &str) -> bool {
        self.hosts.iter().any(|end| {
            host.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        })
    }
}

/// Returns the path of the API on a host whose base URL names none.
pub(super) fn base_path(host: &str) -> &'static str {
    PRESETS.iter().find(|preset| preset.serves(host)).map_or("/v1", |preset| preset.base_path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: &str) {
        assert_eq!(Preset::of(&BaseUrl::parse(url).unwrap()).name, expected, "{url}");
    }

    #[test]
    fn a_server_is_known_by_its_base_url() {
        check("https://api.openai.com/v1", "openai");
        check("https://myteam.openai.azure.com/openai/deployments/x?api-version=1", "azure");
        check("https://api.deepseek.com", "deepseek");
        check("https://dashscope.aliyuncs.com/compatible-mode/v1", "dashscope");
        check("https://api.moonshot.cn/v1", "moonshot");
        check("https://open.bigmodel.cn/api/paas/v4", "zhipu");
        check("https://api.mistral.ai/v1", "mistral");
        check("https://generativelanguage.googleapis.com", "gemini");
        check("https://openrouter.ai/api/v1", "openrouter");
        check("http://localhost:11434/v1", "ollama");
        check("http://192.168.0.7:11434/v1", "ollama");
        check("http://127.0.0.1:8080", "llamacpp");
        check("http://127.0.0.1:8000/v1", "vllm");
        check("http://127.0.0.1:1234/v1", "lmstudio");
        check("http://127.0.0.1:41234/v1", "local");
        check("https://llm.example.com:8080/v1", "generic");
        check("https://notapi.openai.com.example.com/v1", "generic");
    }

    #[test]
    fn a_bare_host_gets_the_path_of_its_api() {
        let base = |text: &str| BaseUrl::parse(text).unwrap().to_string();
        assert_eq!(base("https://openrouter.ai"), "https://openrouter.ai/api/v1");
        assert_eq!(base("api.example.com"), "http://api.example.com/v1");
        assert_eq!(
            base("https://dashscope.aliyuncs.com/"),
            "https://dashscope.aliyuncs.com/compatible-mode/v1"
        );
    }

    #[test]
    fn each_word_changes_a_row() {
        let mut preset = HOSTED;
        assert!(Preset::words().iter().all(|word| preset.change(word)));
        assert!(!preset.change("nonsense"));
        assert_eq!(preset.authorization, Authorization::Bearer);
    }

    #[test]
    fn names_are_unique() {
        let names: std::collections::BTreeSet<_> = Preset::names().collect();
        assert_eq!(names.len(), PRESETS.len());
        assert_eq!(Preset::named("vllm").map(|preset| preset.name), Some("vllm"));
        assert_eq!(Preset::named("nope"), None);
    }
}

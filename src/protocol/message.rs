//! What a model reads and writes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One message of a conversation with a model, in the order in which it was said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub enum Message {
    /// Role, policies and output rules: byte-stable over a session.
    System {
        /// The text.
        content: String,
    },
    /// The user's request, with the built context of the turn in front.
    User {
        /// The text.
        content: String,
    },
    /// What the model answered.
    Assistant {
        /// The answer's text; empty when there are only calls.
        content: String,
        /// What the model thought aloud, kept apart from the answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
        /// The calls of tools, in the model's order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
    },
    /// The result of one call.
    Tool {
        /// The id of the call that this answers.
        call_id: String,
        /// The tool's name.
        name: String,
        /// What the model reads.
        content: String,
    },
}

impl Message {
    /// Returns the text of the message, without calls and reasoning.
    pub fn text(&self) -> &str {
        match self {
            Self::System { content }
            | Self::User { content }
            | Self::Assistant { content, .. }
            | Self::Tool { content, .. } => content,
        }
    }

    /// Returns the calls that the model made in this message.
    pub fn calls(&self) -> &[ToolCall] {
        match self {
            Self::Assistant { calls, .. } => calls,
            Self::System { .. } | Self::User { .. } | Self::Tool { .. } => &[],
        }
    }

    /// Returns what the model thought aloud before this message.
    pub fn reasoning(&self) -> &str {
        match self {
            Self::Assistant { reasoning, .. } => reasoning.as_deref().unwrap_or_default(),
            Self::System { .. } | Self::User { .. } | Self::Tool { .. } => "",
        }
    }
}

/// One call of a tool, as the model wrote it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// Pairs the call with its result; unique in a session.
    pub id: String,
    /// The tool's name; it may be unknown.
    pub name: String,
    /// The arguments as JSON text; they may be malformed.
    pub arguments: String,
    /// What a provider wants back with the call, untouched (Gemini's thought signatures).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Value>,
}

impl ToolCall {
    /// Returns a call with JSON arguments.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: &Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments: arguments.to_string(), extra: None }
    }
}

/// What a model is told of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// The name to call it by.
    pub name: String,
    /// What it does and what it refuses, for the model.
    pub description: String,
    /// A flat JSON schema of an object: no `$schema`, `title`, `$ref`, no type unions.
    pub parameters: Value,
}

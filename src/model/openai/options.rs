//! What an endpoint needs to be asked.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use super::key::ApiKey;
use super::presets::Preset;
use super::url::BaseUrl;

/// Everything that can be said about an endpoint.
#[derive(Debug, Clone)]
pub struct EndpointOptions {
    /// Where it is.
    pub base: BaseUrl,
    /// The model to ask for.
    pub model: String,
    /// The model to ask for embeddings; none for no embeddings.
    pub embedding_model: Option<String>,
    /// The key, if it wants one.
    pub key: Option<ApiKey>,
    /// The place where a key belongs, for messages.
    pub key_belongs: String,
    /// How to speak to it.
    pub preset: Preset,
    /// Tokens that prompt and answer may have together; none to find out.
    pub window: Option<usize>,
    /// Tokens that count as the window where nobody tells it; none for few, with a warning.
    pub assumed_window: Option<usize>,
    /// The longest answer in tokens; none to leave it to the server.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature; none to leave it to the server.
    pub temperature: Option<f64>,
    /// Further fields of the request, as they are.
    pub extra_body: Map<String, Value>,
    /// Whether the answer comes in pieces.
    pub stream: bool,
    /// The longest wait for a connection.
    pub connect_timeout: Duration,
    /// The longest wait for the answer to begin; local servers load their model now.
    pub first_byte_timeout: Duration,
    /// The longest silence in an answer.
    pub idle_timeout: Duration,
    /// A file of certificates to trust beside the system's.
    pub ca_file: Option<PathBuf>,
    /// The proxy that the environment names for this endpoint, for messages.
    pub proxy: Option<String>,
}

impl EndpointOptions {
    /// Returns the options of an endpoint about which nothing else was said.
    pub fn new(base: BaseUrl, model: impl Into<String>, key: Option<ApiKey>) -> Self {
        Self {
            preset: Preset::of(&base),
            base,
            model: model.into(),
            embedding_model: None,
            key,
            key_belongs: "`OPENAI_API_KEY`".to_owned(),
            window: None,
            assumed_window: None,
            max_output_tokens: None,
            temperature: None,
            extra_body: Map::new(),
            stream: true,
            connect_timeout: Duration::from_secs(20),
            first_byte_timeout: Duration::from_secs(600),
            idle_timeout: Duration::from_secs(120),
            ca_file: None,
            proxy: None,
        }
    }
}

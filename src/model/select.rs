//! From the options to the model: the built-in rules, a script, or an endpoint that is asked again
//! when it is busy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::offline::OfflineModel;
use super::openai::{EndpointOptions, OpenAiModel};
use super::retrying::{RetryOptions, Retrying};
use super::scripted::{ScriptError, ScriptedModel};
use super::{ChatModel, ModelError};

/// The word for the built-in rules.
const OFFLINE: &str = "offline";

/// What stands before the file of a script.
const SCRIPT: &str = "script:";

/// Which model, and how it is asked.
#[derive(Debug, Clone, Default)]
pub struct ModelOptions {
    /// `offline`, `script:FILE`, or a model's name at the endpoint; empty for the endpoint's own,
    /// or for `offline` when there is no endpoint.
    pub model: String,
    /// The folder that a script's relative path starts from.
    pub folder: PathBuf,
    /// The endpoint, if one is configured.
    pub endpoint: Option<EndpointOptions>,
    /// How patient to be with it.
    pub retry: RetryOptions,
}

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    /// A name without an endpoint to ask.
    #[error("the model `{0}` needs an endpoint, and none is configured")]
    NoEndpoint(String),
    /// An endpoint without a name to ask for.
    #[error("there is an endpoint, {0}, but no model is named")]
    NoName(String),
    /// `script:` without a file.
    #[error("`script:` must be followed by a file")]
    NoFile,
    /// The script cannot be followed.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The endpoint cannot be used.
    #[error(transparent)]
    Endpoint(#[from] ModelError),
}

impl SelectError {
    /// Returns what to do about it.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NoEndpoint(_) => {
                "set `OPENAI_API_KEY`, or `OPENAI_BASE_URL` for another server; `--model offline` needs none"
            }
            Self::NoName(_) => "set `OPENAI_MODEL` or write `--model NAME`",
            Self::NoFile => "for instance `--model script:day_one.yaml`",
            Self::Script(_) => return None,
            Self::Endpoint(error) => return error.hint().map(str::to_owned),
        };
        Some(hint.to_owned())
    }
}

/// Returns the model that the options ask for.
pub fn from_options(options: ModelOptions) -> Result<Arc<dyn ChatModel>, SelectError> {
    let ModelOptions { model, folder, endpoint, retry } = options;
    if let Some(file) = model.strip_prefix(SCRIPT) {
        if file.is_empty() {
            return Err(SelectError::NoFile);
        }
        return Ok(Arc::new(ScriptedModel::from_file(&folder.join(Path::new(file)))?));
    }
    let Some(mut endpoint) = endpoint.filter(|_| model != OFFLINE) else {
        if model.is_empty() || model == OFFLINE {
            return Ok(Arc::new(OfflineModel::new()));
        }
        return Err(SelectError::NoEndpoint(model));
    };
    if !model.is_empty() {
        endpoint.model = model;
    }
    if endpoint.model.is_empty() {
        return Err(SelectError::NoName(endpoint.base.to_string()));
    }
    let model = OpenAiModel::new(endpoint)?;
    Ok(Arc::new(Retrying::new(Arc::new(model), retry)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::openai::BaseUrl;

    fn options(model: &str, endpoint: bool) -> ModelOptions {
        let base = BaseUrl::parse("http://127.0.0.1:9/v1").unwrap();
        let endpoint = if endpoint { Some(EndpointOptions::new(base, "", None)) } else { None };
        ModelOptions { model: model.to_owned(), endpoint, ..ModelOptions::default() }
    }

    #[track_caller]
    fn check(model: &str, endpoint: bool, expected: &str) {
        let found = match from_options(options(model, endpoint)) {
            Ok(model) => model.name().to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{model}");
    }

    #[test]
    fn the_word_decides_and_the_endpoint_answers_to_every_other() {
        check("", false, "offline");
        check("offline", false, "offline");
        check("offline", true, "offline");
        check("gpt-4o", true, "gpt-4o");
        check("qwen3:8b", true, "qwen3:8b");
        check("gpt-4o", false, "the model `gpt-4o` needs an endpoint, and none is configured");
        check("", true, "there is an endpoint, http://127.0.0.1:9/v1, but no model is named");
        check("script:", false, "`script:` must be followed by a file");
        assert!(from_options(options("script:no.yaml", false)).is_err());
    }
}

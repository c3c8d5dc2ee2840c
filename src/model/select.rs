//! From the options to the model: the built-in rules, a script, or an endpoint that is asked again
//! when it is busy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::embedding::{Embedder, Remembering};
use super::offline::OfflineModel;
use super::openai::{EndpointOptions, OpenAiEmbedder, OpenAiModel};
use super::recorded::RecordedModel;
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
    /// The file into which the dialog is written as a script.
    pub record: Option<PathBuf>,
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
    /// The recording cannot be written.
    #[error("the recording `{}` cannot be written", .path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
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
            Self::Script(_) | Self::Record { .. } => return None,
            Self::Endpoint(error) => return error.hint().map(str::to_owned),
        };
        Some(hint.to_owned())
    }
}

/// What the options come to.
#[derive(Debug, Clone)]
pub enum Choice {
    /// The built-in rules.
    Offline,
    /// A script, by its file.
    Script(PathBuf),
    /// A model at an endpoint.
    Endpoint(Box<EndpointOptions>),
}

impl ModelOptions {
    /// Returns which model is meant. Nothing is opened and nothing is sent.
    pub fn choice(&self) -> Result<Choice, SelectError> {
        if let Some(file) = self.model.strip_prefix(SCRIPT) {
            if file.is_empty() {
                return Err(SelectError::NoFile);
            }
            return Ok(Choice::Script(self.folder.join(Path::new(file))));
        }
        let Some(endpoint) = self.endpoint.as_ref().filter(|_| self.model != OFFLINE) else {
            if self.model.is_empty() || self.model == OFFLINE {
                return Ok(Choice::Offline);
            }
            return Err(SelectError::NoEndpoint(self.model.clone()));
        };
        let mut endpoint = endpoint.clone();
        if !self.model.is_empty() {
            endpoint.model.clone_from(&self.model);
        }
        if endpoint.model.is_empty() {
            return Err(SelectError::NoName(endpoint.base.to_string()));
        }
        Ok(Choice::Endpoint(Box::new(endpoint)))
    }
}

impl ModelOptions {
    /// Returns what makes vectors of texts; none unless an endpoint answers and has a model for it.
    pub fn embedder(&self) -> Result<Option<Arc<dyn Embedder>>, SelectError> {
        let Choice::Endpoint(endpoint) = self.choice()? else { return Ok(None) };
        let Some(embedder) = OpenAiEmbedder::new(&endpoint)? else { return Ok(None) };
        Ok(Some(Arc::new(Remembering::new(Arc::new(embedder)))))
    }
}

/// Returns the model that the options ask for.
pub fn from_options(options: ModelOptions) -> Result<Arc<dyn ChatModel>, SelectError> {
    let model: Arc<dyn ChatModel> = match options.choice()? {
        Choice::Offline => Arc::new(OfflineModel::new()),
        Choice::Script(file) => Arc::new(ScriptedModel::from_file(&file)?),
        Choice::Endpoint(endpoint) => {
            let model = OpenAiModel::new(*endpoint)?;
            Arc::new(Retrying::new(Arc::new(model), options.retry))
        }
    };
    let Some(path) = options.record else { return Ok(model) };
    match RecordedModel::new(model, &path) {
        Ok(recorded) => Ok(Arc::new(recorded)),
        Err(source) => Err(SelectError::Record { path, source }),
    }
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

//! How large the window is: asked where a server tells, looked up where a hosted model is known,
//! else assumed small and said so.

use std::time::Duration;

use serde_json::Value;

use super::options::EndpointOptions;
use super::presets::WindowProbe;
use super::transport::{Failure, Transport};
use crate::model::catalog;

/// What is assumed when nobody tells.
pub(super) const ASSUMED: usize = 8192;

/// A shorter prompt fits every window that is worth having, so nobody needs to know it.
pub(super) const MATTERS: u64 = 6000;

/// A question on the side may take this long.
const PATIENCE: Duration = Duration::from_secs(5);

/// A model that an endpoint offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offered {
    /// Its name.
    pub(super) id: String,
    /// Its live window, where the list tells.
    pub(super) window: Option<usize>,
}

/// Returns the window of a hosted model by its name; a local server's is not in its name.
pub(super) fn of_name(options: &EndpointOptions) -> Option<usize> {
    if options.base.is_local() { None } else { catalog::window(&options.model) }
}

/// Asks for the window. Returns it with a sentence where it had to be assumed.
pub(super) async fn find(
    transport: &Transport,
    options: &EndpointOptions,
) -> (usize, Option<String>) {
    if let Some(window) = live(transport, options).await {
        return (window, None);
    }
    let listed = models(transport, options).await.ok().and_then(|models| {
        let by_name = models.iter().find(|model| model.id == options.model);
        by_name?.window
    });
    match listed.or(options.assumed_window) {
        Some(window) => (window, None),
        None => (
            ASSUMED,
            Some(format!(
                "the window of `{}` at {} is not known, {ASSUMED} tokens are assumed: set `endpoint.window`",
                options.model,
                options.base.host()
            )),
        ),
    }
}

/// Asks for the models that the endpoint offers.
pub(super) async fn models(
    transport: &Transport,
    options: &EndpointOptions,
) -> Result<Vec<Offered>, Failure> {
    let answer = transport.get(options.base.join("models"), PATIENCE).await?;
    let list = ["data", "models"].iter().find_map(|key| answer.get(*key)?.as_array());
    let list = list.or_else(|| answer.as_array()).map(Vec::as_slice).unwrap_or_default();
    Ok(list.iter().filter_map(Offered::read).collect())
}

/// Asks the server, in its own way, for the window that it really runs with.
pub(super) async fn live(transport: &Transport, options: &EndpointOptions) -> Option<usize> {
    let path = match options.preset.window_probe {
        WindowProbe::None => return None,
        WindowProbe::Ollama => "/api/ps",
        WindowProbe::LlamaCpp => "/props",
        WindowProbe::LmStudio => "/api/v0/models",
    };
    let answer = transport.get(options.base.on_host(path), PATIENCE).await.ok()?;
    read_live(options.preset.window_probe, &answer, &options.model)
}

fn read_live(probe: WindowProbe, answer: &Value, model: &str) -> Option<usize> {
    let is_asked_for = |entry: &&Value| {
        ["id", "name", "model"].iter().any(|key| {
            entry[*key]
                .as_str()
                .is_some_and(|name| name == model || name.strip_suffix(":latest") == Some(model))
        })
    };
    let entry = |key: &str| answer[key].as_array()?.iter().find(is_asked_for);
    let window = match probe {
        WindowProbe::None => return None,
        WindowProbe::Ollama => entry("models")?.get("context_length"),
        WindowProbe::LlamaCpp => {
            answer.pointer("/default_generation_settings/n_ctx").or_else(|| answer.get("n_ctx"))
        }
        WindowProbe::LmStudio => entry("data")?.get("loaded_context_length"),
    };
    as_window(window?)
}

impl Offered {
    fn read(entry: &Value) -> Option<Self> {
        let id = match entry {
            Value::String(id) => id.as_str(),
            _ => ["id", "name", "model"].iter().find_map(|key| entry.get(*key)?.as_str())?,
        };
        // Gemini writes `models/` before each name. A trained window is not a live one, so
        // `meta.n_ctx_train` is left alone.
        let id = id.strip_prefix("models/").unwrap_or(id).to_owned();
        let keys = ["max_model_len", "context_length", "context_window", "loaded_context_length"];
        let window = keys.iter().find_map(|key| as_window(entry.get(*key)?));
        Some(Self { id, window })
    }
}

fn as_window(value: &Value) -> Option<usize> {
    let tokens = usize::try_from(value.as_u64()?).ok()?;
    if tokens > 0 { Some(tokens) } else { None }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_live_window_is_read_in_each_servers_way() {
        let ps = json!({"models": [{"name": "qwen3:latest", "context_length": 4096}]});
        assert_eq!(read_live(WindowProbe::Ollama, &ps, "qwen3"), Some(4096));
        assert_eq!(read_live(WindowProbe::Ollama, &ps, "other"), None);
        let props = json!({"default_generation_settings": {"n_ctx": 8192}});
        assert_eq!(read_live(WindowProbe::LlamaCpp, &props, "any"), Some(8192));
        let models = json!({"data": [{"id": "m", "loaded_context_length": 2048}]});
        assert_eq!(read_live(WindowProbe::LmStudio, &models, "m"), Some(2048));
        assert_eq!(read_live(WindowProbe::LlamaCpp, &json!([]), "m"), None);
    }

    #[test]
    fn a_trained_window_is_not_taken_for_the_live_one() {
        let entry = json!({"id": "m", "meta": {"n_ctx_train": 131_072}});
        assert_eq!(Offered::read(&entry).unwrap().window, None);
        let entry = json!({"id": "models/gemini", "max_model_len": 4096});
        let offered = Offered { id: "gemini".to_owned(), window: Some(4096) };
        assert_eq!(Offered::read(&entry), Some(offered));
    }
}

//! Any server that speaks OpenAI's Chat Completions, hosted or local.
//!
//! One request becomes one reply, whatever the server's habits: the table in `presets` says how to
//! speak to it, its own refusals correct that, and what it sends is read without assuming more
//! than it must hold. It never runs a call of an answer that broke off, never waits for a busy
//! server (that is [`super::retrying`]), and never shows a key.

mod accumulate;
mod adapt;
mod body;
mod client;
mod content_type;
mod doctor;
mod embeddings;
mod error_text;
mod errors;
mod events;
mod finish;
mod ids;
mod key;
mod options;
mod overflow;
mod presets;
mod prompt_cut;
mod reply;
mod request;
mod retry_after;
mod text_calls;
mod think;
mod transport;
mod url;
mod window;
mod wire;
mod wire_error;

#[cfg(test)]
mod tests;

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use reqwest::StatusCode;
use serde_json::Value;

pub use doctor::{Finding, Verdict, doctor};
pub use embeddings::OpenAiEmbedder;
pub use key::{ApiKey, BadKey, StoredKey};
pub use options::EndpointOptions;
pub use presets::Preset;
pub use url::{BadUrl, BaseUrl, shown_url};

use accumulate::Accumulator;
use adapt::Adaptations;
use errors::{Answer, Facts};
use presets::ReasoningBack;
use reply::Reading;
use think::ThoughtSplitter;
use transport::{Failure, Heard, Transport};
use wire::Chunk;

use super::counted::Counted;
use super::{ChatModel, ChatReply, ChatRequest, Delta, ModelError};
use crate::support::clock::{Clock, SystemClock};
use crate::support::nearest::nearest;
use crate::support::tokens::TokenCounter;

/// How often one request may be changed because the server does not know a field.
const MOST_CHANGES: usize = 6;

/// A model behind an endpoint.
#[derive(Debug)]
pub struct OpenAiModel {
    options: EndpointOptions,
    facts: Facts,
    transport: Transport,
    counter: TokenCounter,
    learned: Mutex<Learned>,
}

/// What the session has shown of the server. It is about the server, never about the dialog.
#[derive(Debug, Default)]
struct Learned {
    adaptations: Adaptations,
    calibration: prompt_cut::Calibration,
    window: Option<usize>,
}

type Deltas<'a> = &'a (dyn Fn(Delta) + Send + Sync);

impl OpenAiModel {
    /// Returns the model of an endpoint. Nothing is sent yet.
    pub fn new(options: EndpointOptions) -> Result<Self, ModelError> {
        let facts = Facts::of(&options, "chat/completions", &options.model);
        let client = client::build(&options)?;
        let transport = Transport::new(client, options.clone(), facts.clone());
        let counter = TokenCounter::for_model(&options.model);
        Ok(Self { options, facts, transport, counter, learned: Mutex::default() })
    }

    /// Returns the options.
    pub fn options(&self) -> &EndpointOptions {
        &self.options
    }

    /// Returns what would be sent, as the session has taught it; a request that no server takes is
    /// an error that says why.
    pub fn body(&self, request: &ChatRequest) -> Result<Value, ModelError> {
        let adaptations = self.learned().adaptations.clone();
        request::body(request, &self.options, &adaptations).map_err(|problem| {
            ModelError::Endpoint {
                message: format!("the request would be refused: {problem}"),
                hint: None,
            }
        })
    }

    async fn ask(
        &self,
        request: &ChatRequest,
        deltas: Deltas<'_>,
    ) -> Result<ChatReply, ModelError> {
        let warning = self.find_window(request).await?;
        for _ in 0..MOST_CHANGES {
            let body = self.body(request)?;
            match self.ask_once(request, &body, deltas).await {
                Ok(mut reply) => {
                    reply.warnings.extend(warning);
                    return Ok(self.looked_over(request, reply));
                }
                Err(Failure::Answer(answer)) if self.learns(&answer, &body) => {}
                Err(failure) => return Err(self.meaning(failure).await),
            }
        }
        Err(ModelError::Endpoint {
            message: format!("{} refuses the request in ever new ways", self.facts.host),
            hint: None,
        })
    }

    /// Finds the window before the first prompt for which it matters. A prompt that the server
    /// itself says it has no room for is not sent: it might be cut in silence.
    async fn find_window(&self, request: &ChatRequest) -> Result<Option<String>, ModelError> {
        if self.window().is_some() {
            return Ok(None);
        }
        let tokens = Counted::of(request, &self.counter).total();
        if tokens <= window::MATTERS {
            return Ok(None);
        }
        let (window, warning) = window::find(&self.transport, &self.options).await;
        self.learned().window = Some(window);
        if warning.is_none() && tokens > window as u64 {
            return Err(ModelError::Overflow {
                message: format!(
                    "{} has a window of {window} tokens, and the prompt has about {tokens}",
                    self.facts.host
                ),
                window: Some(window),
            });
        }
        Ok(warning)
    }

    async fn ask_once(
        &self,
        request: &ChatRequest,
        body: &Value,
        deltas: Deltas<'_>,
    ) -> Result<ChatReply, Failure> {
        let mut arrived = Accumulator::default();
        let mut thoughts = ThoughtSplitter::default();
        let mut take = |value: Value| {
            let chunk = Chunk::read(&value);
            if let Some(error) = &chunk.error {
                let answer = Answer::of_event(error, reqwest::header::HeaderMap::new());
                return Err(Failure::Answer(Box::new(answer)));
            }
            let added = arrived.take(chunk);
            tell(deltas, Delta::Reasoning, added.reasoning);
            let split = thoughts.push(&added.content);
            tell(deltas, Delta::Reasoning, split.thought);
            tell(deltas, Delta::Text, split.answer);
            Ok(if arrived.finish.is_some() { Heard::TheEnd } else { Heard::APart })
        };
        let ending = self.transport.ask(body.clone(), &mut take).await?;
        let rest = thoughts.finish();
        tell(deltas, Delta::Reasoning, rest.thought);
        tell(deltas, Delta::Text, rest.answer);
        let reading =
            Reading { request, host: &self.facts.host, text_calls: self.options.preset.text_calls };
        Ok(reading.reply(arrived, ending)?)
    }

    /// Adds to a reply what it shows about the server.
    fn looked_over(&self, request: &ChatRequest, mut reply: ChatReply) -> ChatReply {
        let Some(usage) = reply.usage else { return reply };
        let sent = Counted::of(request, &self.counter);
        if let Some(cut) = self.learned().calibration.compare(sent, usage.prompt_tokens) {
            reply.unverified = true;
            reply.warnings.push(cut.to_string());
        }
        reply
    }

    /// Learns from a refusal that names a field. Returns whether to ask again.
    fn learns(&self, answer: &Answer, body: &Value) -> bool {
        let refused = matches!(
            answer.status,
            Some(StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY)
        );
        let words = &answer.text.searchable;
        refused
            && overflow::read(words).is_none()
            && self.learned().adaptations.learn(words, body, &self.options.preset)
    }

    async fn meaning(&self, failure: Failure) -> ModelError {
        let answer = match failure {
            Failure::Error(error) => return error,
            Failure::Answer(answer) => answer,
        };
        let error = self.facts.classify(&answer, SystemClock::default().utc());
        if let ModelError::Overflow { window: Some(window), .. } = &error {
            self.learned().window = Some(*window);
        }
        match (answer.status, error) {
            (Some(StatusCode::NOT_FOUND), ModelError::Endpoint { message, hint }) => {
                ModelError::Endpoint { message, hint: self.known_models().await.or(hint) }
            }
            (_, error) => error,
        }
    }

    /// Returns a hint with the models that the endpoint has, the nearest first.
    async fn known_models(&self) -> Option<String> {
        let models = window::models(&self.transport, &self.options).await.ok()?;
        let names: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
        if names.contains(&self.options.model.as_str()) || names.is_empty() {
            return None;
        }
        if let Some(meant) = nearest(&self.options.model, names.iter().copied()) {
            return Some(format!("did you mean the model `{meant}`?"));
        }
        let some: Vec<String> = names.iter().take(10).map(|name| format!("`{name}`")).collect();
        Some(format!("the models here are {}", some.join(", ")))
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatModel for OpenAiModel {
    fn name(&self) -> &str {
        &self.options.model
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: Deltas<'a>,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(self.ask(request, deltas))
    }

    fn prepare(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(async {
            if self.window().is_some() {
                return Vec::new();
            }
            let (window, warning) = window::find(&self.transport, &self.options).await;
            self.learned().window = Some(window);
            warning.into_iter().collect()
        })
    }

    fn window(&self) -> Option<usize> {
        let learned = self.learned().window;
        // What a server said in a refusal is truer than what was written down before.
        let told = match (learned, self.options.window) {
            (Some(learned), Some(set)) => Some(learned.min(set)),
            (learned, set) => learned.or(set),
        };
        told.or_else(|| window::of_name(&self.options))
    }

    fn sends_reasoning(&self) -> bool {
        self.learned().adaptations.reasoning(&self.options.preset) != ReasoningBack::Never
    }
}

fn tell(deltas: Deltas<'_>, kind: fn(String) -> Delta, text: String) {
    if !text.is_empty() {
        deltas(kind(text));
    }
}

//! Vectors of an endpoint: `POST {base}/embeddings`, in batches, the replies read as tolerantly as
//! those of a chat.
//!
//! Nothing is asked twice and nothing is waited for: whoever wants vectors can do without.

use std::collections::BTreeSet;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::errors::{Answer, Facts};
use super::options::EndpointOptions;
use super::transport::{Failure, Transport};
use super::{client, request, wire_error};
use crate::model::ModelError;
use crate::model::embedding::Embedder;
use crate::support::clock::{Clock, SystemClock};

/// Texts in one request; some servers take no more.
const BATCH: usize = 32;

/// All requests for the vectors of one turn together may take this long.
const PATIENCE: Duration = Duration::from_secs(30);

/// Stands for a text that is empty, which servers refuse.
const NO_TEXT: &str = "-";

/// A model for embeddings behind an endpoint.
#[derive(Debug)]
pub struct OpenAiEmbedder {
    model: String,
    facts: Facts,
    transport: Transport,
}

impl OpenAiEmbedder {
    /// Returns the embedding model of an endpoint, if one is set. Nothing is sent yet.
    pub fn new(options: &EndpointOptions) -> Result<Option<Self>, ModelError> {
        let Some(model) = options.embedding_model.clone() else { return Ok(None) };
        let facts = Facts::of(options, "embeddings", &model);
        let client = client::build(options)?;
        let transport = Transport::new(client, options.clone(), facts.clone());
        Ok(Some(Self { model, facts, transport }))
    }

    async fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut vectors = Vec::new();
        for batch in texts.chunks(BATCH) {
            vectors.extend(self.ask_batch(batch).await?);
        }
        let lengths: BTreeSet<usize> = vectors.iter().map(Vec::len).collect();
        if lengths.len() > 1 {
            return Err(self.unusable("vectors of different lengths"));
        }
        Ok(vectors)
    }

    async fn ask_batch(&self, batch: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let text = |text: &String| {
            let text = request::clean(text);
            if text.trim().is_empty() { NO_TEXT.to_owned() } else { text }
        };
        let input: Vec<String> = batch.iter().map(text).collect();
        let body = json!({"model": self.model, "input": input});
        let answer = match self.transport.embed(body).await {
            Ok(answer) => answer,
            Err(Failure::Error(error)) => return Err(error),
            Err(Failure::Answer(answer)) => return Err(self.meaning(&answer)),
        };
        if let Some(error) = wire_error::find(&answer) {
            return Err(self.meaning(&Answer::of_event(&error, reqwest::header::HeaderMap::new())));
        }
        read(&answer, batch.len()).map_err(|what| self.unusable(&what))
    }

    fn meaning(&self, answer: &Answer) -> ModelError {
        self.facts.classify(answer, SystemClock::default().utc())
    }

    fn unusable(&self, what: &str) -> ModelError {
        ModelError::Endpoint {
            message: format!("{} answered with {what}", self.facts.host),
            hint: Some("does `endpoint.embedding_model` name a model for embeddings?".to_owned()),
        }
    }
}

impl Embedder for OpenAiEmbedder {
    fn name(&self) -> &str {
        &self.model
    }

    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        Box::pin(async {
            match tokio::time::timeout(PATIENCE, self.ask(texts)).await {
                Ok(vectors) => vectors,
                Err(_) => Err(ModelError::Silent {
                    message: format!("{} made no vectors in {PATIENCE:?}", self.facts.host),
                    hint: None,
                }),
            }
        })
    }
}

/// Reads as many vectors as there were texts, in the order of the texts.
fn read(answer: &Value, texts: usize) -> Result<Vec<Vec<f32>>, String> {
    let list = ["data", "embeddings"].iter().find_map(|key| answer.get(*key)?.as_array());
    let alone = || std::slice::from_ref(answer);
    let list = list.or_else(|| answer.as_array()).map_or_else(alone, Vec::as_slice);
    if list.len() != texts {
        return Err(format!("{} vectors for {texts} texts", list.len()));
    }
    let mut numbered: Vec<(usize, Vec<f32>)> = Vec::new();
    for (position, entry) in list.iter().enumerate() {
        let index = entry.get("index").and_then(Value::as_u64);
        let index = index.and_then(|index| usize::try_from(index).ok());
        let vector = entry.get("embedding").unwrap_or(entry);
        numbered.push((index.unwrap_or(position), vector_of(vector)?));
    }
    // Numbers that do not count the texts say nothing: then the order does.
    let numbers: BTreeSet<usize> = numbered.iter().map(|(index, _)| *index).collect();
    if numbers.into_iter().eq(0..texts) {
        numbered.sort_by_key(|(index, _)| *index);
    }
    Ok(numbered.into_iter().map(|(_, vector)| vector).collect())
}

/// Reads a vector: numbers, numbers in a list of one, or base64 of 32-bit floats.
fn vector_of(value: &Value) -> Result<Vec<f32>, String> {
    let vector: Option<Vec<f32>> = match value {
        Value::String(text) => STANDARD.decode(text.trim()).ok().and_then(|bytes| {
            let (floats, rest) = bytes.as_chunks::<4>();
            let floats = floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            rest.is_empty().then_some(floats)
        }),
        Value::Array(items) => match items.as_slice() {
            [Value::Array(_)] => return vector_of(&items[0]),
            numbers => numbers.iter().map(as_float).collect(),
        },
        Value::Object(object) => match object.get("float") {
            Some(inner @ Value::Array(_)) => return vector_of(inner),
            _ => None,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    };
    vector
        .filter(|vector| !vector.is_empty() && vector.iter().all(|number| number.is_finite()))
        .ok_or_else(|| "something that is no vector".to_owned())
}

#[expect(clippy::cast_possible_truncation, reason = "vectors have no more precision")]
fn as_float(value: &Value) -> Option<f32> {
    value.as_f64().map(|number| number as f32)
}

//! One request over the wire and its answer, chunk by chunk. The only user of async-openai: it
//! sends the request through a service of ours and reads the events of a stream.
//!
//! What is ours is what servers do in so many ways: status and content type are looked at before a
//! byte is read as an event, silence has limits, and an error keeps its status whatever its body.

mod service;

use std::time::Duration;

use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures::StreamExt;
use reqwest::Client;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::body::{Interruption, Witness};
use super::error_text::ErrorText;
use super::errors::{Answer, Facts};
use super::events::{self, Frames};
use super::options::EndpointOptions;
use super::presets::Authorization;
use crate::model::ModelError;
use service::{Bytes, Refused, Service, bytes_of};

/// The longest error body that is read.
const LONGEST_ERROR: usize = 256 * 1024;

/// How long counts and `[DONE]` are waited for after the end of an answer.
const AFTER_THE_END: Duration = Duration::from_secs(10);

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The server said that it was done, or sent the answer in one piece.
    Done,
    /// The bytes ended without a word.
    Open,
}

/// What a chunk was to whoever took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// A part of the answer; more is to come.
    APart,
    /// The server has said why the answer ends; only counts may follow.
    TheEnd,
}

impl Heard {
    fn and(self, then: Self) -> Self {
        if self == Self::TheEnd { self } else { then }
    }
}

/// Takes the chunks of an answer as they come.
pub(super) type Take<'a> = &'a mut (dyn FnMut(Value) -> Result<Heard, Failure> + Send);

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The server answered with an error.
    Answer(Box<Answer>),
    /// Anything else.
    Error(ModelError),
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::Error(error)
    }
}

/// Sends requests to one endpoint.
#[derive(Debug, Clone)]
pub(super) struct Transport {
    client: Client,
    options: EndpointOptions,
    facts: Facts,
}

impl Transport {
    pub(super) fn new(client: Client, options: EndpointOptions, facts: Facts) -> Self {
        Self { client, options, facts }
    }

    /// Asks for a chat completion. Each chunk of a stream goes to `take`, or the whole answer as
    /// one; an error of `take` ends the wait.
    pub(super) async fn ask(&self, body: Value, take: Take<'_>) -> Result<Ending, Failure> {
        let witness = Witness::default();
        let library = self.library("chat/completions", self.options.stream, &witness);
        if !self.options.stream {
            let answer = library.chat().create_byot::<Value, Value>(body).await;
            return match answer {
                Ok(answer) => take(answer).map(|_| Ending::Done),
                Err(error) => self.whole(error, &witness, take),
            };
        }
        let mut events = match library.chat().create_stream_byot::<Value, Value>(body).await {
            Ok(events) => events,
            Err(error) => return self.whole(error, &witness, take),
        };
        let mut heard = Heard::APart;
        loop {
            let next = events.next();
            // Some servers neither say `[DONE]` nor hang up.
            let next = match heard {
                Heard::APart => next.await,
                Heard::TheEnd => {
                    tokio::time::timeout(self.after_the_end(), next).await.unwrap_or_default()
                }
            };
            match next {
                None => break,
                Some(Ok(chunk)) => heard = heard.and(take(chunk)?),
                // Text that is not one JSON value: noise, several frames in one, or damage.
                Some(Err(OpenAIError::JSONDeserialize(_, text))) => {
                    let frames = events::read(&text).map_err(|damage| self.corrupt(&damage))?;
                    for chunk in frames.chunks {
                        heard = heard.and(take(chunk)?);
                    }
                    if frames.done {
                        return Ok(Ending::Done);
                    }
                }
                // What breaks after the end takes nothing away.
                Some(Err(_)) if heard == Heard::TheEnd => break,
                Some(Err(error)) => return self.whole(error, &witness, take),
            }
        }
        match witness.take_interruption() {
            Some(interruption) if heard == Heard::APart => {
                Err(self.interrupted(interruption).into())
            }
            _ if witness.is_done() => Ok(Ending::Done),
            _ => Ok(Ending::Open),
        }
    }

    /// Asks for embeddings.
    pub(super) async fn embed(&self, body: Value) -> Result<Value, Failure> {
        let witness = Witness::default();
        let library = self.library("embeddings", false, &witness);
        let error = match library.embeddings().create_byot::<Value, Value>(body).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let mut whole = Value::Null;
        let mut take = |answer: Value| {
            whole = answer;
            Ok(Heard::TheEnd)
        };
        self.whole(error, &witness, &mut take)?;
        Ok(whole)
    }

    /// Returns the library with our own service under it, for one path of the endpoint.
    fn library(
        &self,
        path: &'static str,
        streams: bool,
        witness: &Witness,
    ) -> async_openai::Client<OpenAIConfig> {
        let service = Service { transport: self.clone(), path, streams, witness: witness.clone() };
        // Whatever the library would take from the environment is replaced here, and the URL and
        // the headers are set by the service.
        let config = OpenAIConfig::new()
            .with_api_base("http://localhost")
            .with_api_key("unused")
            .with_org_id("")
            .with_project_id("");
        async_openai::Client::build(self.client.clone(), config).with_http_service(
            tower::service_fn(move |request: HttpRequestFactory| {
                let service = service.clone();
                async move { service.call(request).await }
            }),
        )
    }

    /// Hands on an answer that came in one piece, which the library sees as an error.
    fn whole(
        &self,
        error: OpenAIError,
        witness: &Witness,
        take: Take<'_>,
    ) -> Result<Ending, Failure> {
        match self.unwrap(error, witness) {
            Unwrapped::Whole(frames) => {
                for chunk in frames.chunks {
                    take(chunk)?;
                }
                Ok(if frames.done { Ending::Done } else { Ending::Open })
            }
            Unwrapped::Failure(failure) => Err(failure),
        }
    }

    fn after_the_end(&self) -> Duration {
        self.options.idle_timeout.min(AFTER_THE_END)
    }

    /// Asks for a JSON document beside the chat; `what` is a path below the base or a URL.
    pub(super) async fn get(&self, url: reqwest::Url, limit: Duration) -> Result<Value, Failure> {
        let mut headers = HeaderMap::new();
        self.authorize(&mut headers)?;
        let asked = async {
            let sent = self.client.get(url).headers(headers).send().await;
            let response = sent.map_err(|error| Failure::Error(self.facts.not_through(&error)))?;
            let (status, headers) = (response.status(), response.headers().clone());
            let most = super::accumulate::MOST_BYTES;
            let text = self.read_all(bytes_of(response), most, limit).await?;
            if !status.is_success() {
                let text = ErrorText::of_body(&text);
                return Err(Failure::Answer(Box::new(Answer {
                    status: Some(status),
                    headers,
                    text,
                })));
            }
            serde_json::from_slice(&text)
                .map_err(|error| Failure::Error(self.corrupt(&error.to_string())))
        };
        match tokio::time::timeout(limit, asked).await {
            Ok(answer) => answer,
            Err(_) => Err(self.silent(limit, None).into()),
        }
    }

    /// Reads a whole body, up to a size.
    async fn read_all(
        &self,
        mut stream: Bytes,
        most: usize,
        patience: Duration,
    ) -> Result<Vec<u8>, ModelError> {
        let mut bytes = Vec::new();
        loop {
            match tokio::time::timeout(patience, stream.next()).await {
                Ok(None) => return Ok(bytes),
                Ok(Some(Ok(piece))) => {
                    let room = most.saturating_sub(bytes.len());
                    bytes.extend_from_slice(&piece[..piece.len().min(room)]);
                    if piece.len() > room {
                        return Ok(bytes);
                    }
                }
                Ok(Some(Err(error))) => {
                    return Err(self.interrupted(Interruption::Line(error)));
                }
                Err(_) => return Err(self.interrupted(Interruption::Silence(patience))),
            }
        }
    }

    /// Finds our own failure in an error of the library.
    fn unwrap(&self, error: OpenAIError, witness: &Witness) -> Unwrapped {
        if let Some(interruption) = witness.take_interruption() {
            return Unwrapped::Failure(self.interrupted(interruption).into());
        }
        let failure = match error {
            OpenAIError::Boxed(boxed) => match boxed.downcast::<Refused>() {
                Ok(refused) => match *refused {
                    Refused::Failure(failure) => failure,
                    Refused::Whole(answer) => return Unwrapped::Whole(answer),
                },
                Err(other) => self.corrupt(&other.to_string()).into(),
            },
            OpenAIError::Reqwest(error) => self.facts.not_through(&error).into(),
            OpenAIError::JSONDeserialize(error, _) => self.corrupt(&error.to_string()).into(),
            other => self.corrupt(&other.to_string()).into(),
        };
        Unwrapped::Failure(failure)
    }

    fn interrupted(&self, interruption: Interruption) -> ModelError {
        match interruption {
            Interruption::Silence(limit) => ModelError::Truncated(format!(
                "{} sent nothing for {} (`endpoint.idle_timeout`)",
                self.facts.host,
                seconds(limit)
            )),
            Interruption::TooLong => ModelError::Endpoint {
                message: format!("{} sends more than an answer can be", self.facts.host),
                hint: None,
            },
            Interruption::Line(error) => ModelError::Unavailable {
                message: format!(
                    "the line to {} broke in the middle of the answer: {}",
                    self.facts.host,
                    self.facts.clean(&super::client::innermost(&error))
                ),
                hint: Some("check the network".to_owned()),
                retry_after: None,
            },
        }
    }

    fn silent(&self, limit: Duration, hint: Option<&str>) -> ModelError {
        ModelError::Silent {
            message: format!("{} did not begin to answer in {}", self.facts.host, seconds(limit)),
            hint: hint.map(str::to_owned),
        }
    }

    fn corrupt(&self, what: &str) -> ModelError {
        ModelError::Truncated(format!(
            "the stream of {} is corrupt: {}",
            self.facts.host,
            self.facts.clean(what)
        ))
    }

    fn authorize(&self, headers: &mut HeaderMap) -> Result<(), ModelError> {
        headers.remove(AUTHORIZATION);
        let Some(key) = &self.options.key else { return Ok(()) };
        let (name, value) = match self.options.preset.authorization {
            Authorization::Bearer => (AUTHORIZATION, format!("Bearer {}", key.secret())),
            Authorization::ApiKeyHeader => {
                (HeaderName::from_static("api-key"), key.secret().to_owned())
            }
        };
        // The reason would quote the key.
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            ModelError::Credentials(format!("the key from {} fits no header", key.origin()))
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(())
    }
}

enum Unwrapped {
    /// An answer in one piece.
    Whole(Frames),
    /// No answer.
    Failure(Failure),
}

fn seconds(limit: Duration) -> String {
    format!("{:?}", Duration::from_millis(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)))
}

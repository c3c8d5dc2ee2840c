//! The HTTP service under the library: one request is sent, and its answer is looked at before
//! anyone reads it.
//!
//! Status and content type decide what an answer is; where they say nothing or the wrong thing, its
//! beginning does. What is no stream of events never comes to the library as one.

use std::time::Duration;

use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderValue, LOCATION,
};
use reqwest::{Response, StatusCode};

use super::{Failure, LONGEST_ERROR, Transport};
use crate::model::ModelError;
use crate::model::openai::accumulate;
use crate::model::openai::body::{Interruption, Patience, Witness, watch};
use crate::model::openai::content_type::{self, Kind, Looks};
use crate::model::openai::error_text::ErrorText;
use crate::model::openai::errors::Answer;
use crate::model::openai::events::{self, Frames};

/// What our service hands through the library instead of a stream.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("an answer in one piece")]
    Whole(Frames),
    #[error("no answer")]
    Failure(Failure),
}

impl From<Refused> for OpenAIError {
    fn from(refused: Refused) -> Self {
        Self::Boxed(Box::new(refused))
    }
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<ModelError> for Refused {
    fn from(error: ModelError) -> Self {
        Self::Failure(error.into())
    }
}

/// The HTTP service under the library: one request, looked at before anyone reads it.
#[derive(Clone)]
pub(super) struct Service {
    pub(super) transport: Transport,
    /// The path below the base.
    pub(super) path: &'static str,
    /// Whether the answer is to come in pieces.
    pub(super) streams: bool,
    pub(super) witness: Witness,
}

impl Service {
    pub(super) async fn call(&self, factory: HttpRequestFactory) -> Result<Response, Refused> {
        let transport = &self.transport;
        let options = &transport.options;
        let mut request = factory.build().await.map_err(|error| ModelError::Endpoint {
            message: format!("the request cannot be written: {error}"),
            hint: None,
        })?;
        *request.url_mut() = options.base.join(self.path);
        let accepts = if self.streams { "text/event-stream" } else { "application/json" };
        request.headers_mut().insert(ACCEPT, HeaderValue::from_static(accepts));
        // Whoever compresses a stream holds it back. What comes compressed all the same is read.
        request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        transport.authorize(request.headers_mut())?;
        let sent = transport.client.execute(request);
        let Ok(sent) = tokio::time::timeout(options.first_byte_timeout, sent).await else {
            let hint = "raise `endpoint.first_byte_timeout` if the server loads a large model";
            return Err(transport.silent(options.first_byte_timeout, Some(hint)).into());
        };
        self.look_at(sent.map_err(|error| transport.facts.not_through(&error))?).await
    }

    async fn look_at(&self, response: Response) -> Result<Response, Refused> {
        let status = response.status();
        if status.is_redirection() {
            return Err(self.redirected(&response).into());
        }
        if !status.is_success() {
            return Err(self.refused(response).await?.into());
        }
        if status == StatusCode::NO_CONTENT {
            return Err(self.unfit(status, "nothing").into());
        }
        if let Some(encoding) = response.headers().get(CONTENT_ENCODING)
            && encoding != "identity"
        {
            let encoding = String::from_utf8_lossy(encoding.as_bytes()).into_owned();
            return Err(self
                .unfit(status, &format!("something compressed as `{encoding}`"))
                .into());
        }
        self.told_by_its_beginning(response).await
    }

    /// Looks at the first bytes: content types are wrong too often to be believed against them.
    async fn told_by_its_beginning(&self, response: Response) -> Result<Response, Refused> {
        let options = &self.transport.options;
        let slow = options.preset.slow_first_piece;
        let then = options.idle_timeout;
        let first = if slow { then.max(options.first_byte_timeout) } else { then };
        let (status, headers) = (response.status(), response.headers().clone());
        let kind = Kind::of(&headers);
        let mut bytes = bytes_of(response);
        let mut start = Vec::new();
        while content_type::trimmed(&start).len() < kind.telling_bytes() {
            match tokio::time::timeout(first, bytes.next()).await {
                Ok(Some(Ok(piece))) => start.extend(piece),
                Ok(None) => break,
                Ok(Some(Err(error))) => {
                    return Err(self.transport.interrupted(Interruption::Line(error)).into());
                }
                Err(_) => {
                    return Err(self.transport.interrupted(Interruption::Silence(first)).into());
                }
            }
        }
        let looks = kind.with_beginning(&start);
        // The reader of events does not survive the mark of an encoding.
        let start = content_type::trimmed(&start).to_vec();
        let bytes = futures::stream::iter([Ok(start)]).chain(bytes).boxed();
        match looks {
            Looks::Page => Err(self.unfit(status, "an HTML page").into()),
            Looks::Nothing => Err(self.unfit(status, "nothing").into()),
            Looks::Other(kind) => Err(self.unfit(status, &kind).into()),
            Looks::Json => Err(self.in_one_piece(bytes).await?),
            Looks::Events if !self.streams => Err(self.in_one_piece(bytes).await?),
            Looks::Events => {
                let watched = watch(bytes, Patience { first, then }, self.witness.clone());
                rebuild(status, &headers, reqwest::Body::wrap_stream(watched))
            }
        }
    }

    /// Reads an answer that came whole although a stream was asked for.
    async fn in_one_piece(&self, bytes: Bytes) -> Result<Refused, Refused> {
        let patience = self.transport.options.idle_timeout;
        let most = accumulate::MOST_BYTES;
        let text = self.transport.read_all(bytes, most, patience).await?;
        let text = content_type::trimmed(&text);
        if let Ok(answer) = serde_json::from_slice(text) {
            return Ok(Refused::Whole(Frames { chunks: vec![answer], done: true }));
        }
        events::read_body(&String::from_utf8_lossy(text))
            .map(Refused::Whole)
            .map_err(|damage| self.transport.corrupt(&damage).into())
    }

    async fn refused(&self, response: Response) -> Result<Failure, Refused> {
        let (status, headers) = (response.status(), response.headers().clone());
        let patience = self.transport.options.idle_timeout.min(Duration::from_secs(30));
        // An error whose body breaks off is still an error of its status.
        let text = self.transport.read_all(bytes_of(response), LONGEST_ERROR, patience).await;
        let text = ErrorText::of_body(&text.unwrap_or_default());
        Ok(Failure::Answer(Box::new(Answer { status: Some(status), headers, text })))
    }

    fn redirected(&self, response: &Response) -> ModelError {
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        let to = location.map_or_else(String::new, |location| {
            let short = location.split(['?', '#']).next().unwrap_or_default();
            format!(" to {}", self.transport.facts.clean(short))
        });
        ModelError::Endpoint {
            message: format!(
                "{} answered {} and sends the request on{to}",
                self.transport.facts.host,
                response.status().as_u16()
            ),
            hint: Some("set `endpoint.base_url` to where the API really is".to_owned()),
        }
    }

    fn unfit(&self, status: StatusCode, what: &str) -> ModelError {
        ModelError::Endpoint {
            message: format!(
                "{} answered {} with {} where an answer of a model was expected",
                self.transport.facts.host,
                status.as_u16(),
                self.transport.facts.clean(what)
            ),
            hint: Some(
                "is `endpoint.base_url` the API and not a web page? it usually ends with `/v1`"
                    .to_owned(),
            ),
        }
    }
}

pub(super) type Bytes = BoxStream<'static, Result<Vec<u8>, reqwest::Error>>;

pub(super) fn bytes_of(response: Response) -> Bytes {
    response.bytes_stream().map(|piece| piece.map(|bytes| bytes.to_vec())).boxed()
}

fn rebuild(
    status: StatusCode,
    headers: &HeaderMap,
    body: reqwest::Body,
) -> Result<Response, Refused> {
    let mut response = http::Response::builder().status(status);
    if let Some(kept) = response.headers_mut() {
        kept.clone_from(headers);
    }
    let response = response.body(body).map_err(|error| ModelError::Endpoint {
        message: format!("the answer cannot be read: {error}"),
        hint: None,
    })?;
    Ok(Response::from(response))
}

//! From what a server answered to a [`ModelError`]: wait, stop or shorten.
//!
//! The status is kept apart from the body, the body is searched for words whatever its shape, and
//! no key is ever part of a message.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use super::error_text::{ErrorText, shorten};
use super::key::ApiKey;
use super::options::EndpointOptions;
use super::url::shown;
use super::{overflow, retry_after};
use crate::model::ModelError;

/// What a message about an endpoint needs to know of it.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// The host, with its port.
    pub(super) host: String,
    /// The URL that was asked.
    pub(super) url: String,
    /// The model that was asked for.
    pub(super) model: String,
    /// The key that was sent.
    pub(super) key: Option<ApiKey>,
    /// The place where a key belongs, when there is none.
    pub(super) key_belongs: String,
    /// The proxy, by the variable that names it.
    pub(super) proxy: String,
    /// Whether an empty 400 means an overflow.
    pub(super) empty_refusal_is_overflow: bool,
}

/// An answer that is no reply.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    /// The HTTP status; none for an error inside a stream that names none.
    pub(super) status: Option<StatusCode>,
    /// The headers.
    pub(super) headers: HeaderMap,
    /// What it says.
    pub(super) text: ErrorText,
}

impl Answer {
    /// Returns an error object that came inside a stream or with status 200.
    pub(super) fn of_event(value: &serde_json::Value, headers: HeaderMap) -> Self {
        let text = ErrorText::of_value(value);
        Self { status: text.status, headers, text }
    }
}

/// What to do about a proxy that refuses.
pub(super) const PROXY_HINT: &str =
    "check the proxy's user and password, or name the endpoint's host in `NO_PROXY`";

/// Words of a quota that is used up, wherever they come.
const USED_UP: [&str; 11] = [
    "insufficient_quota",
    "insufficient quota",
    "insufficient balance",
    "insufficient_balance",
    "insufficient credit",
    "billing_hard_limit",
    "billing hard limit",
    "credit balance",
    "payment required",
    "out of credits",
    "arrearage",
];

/// Words of a quota that may come back by itself when the server says when.
const QUOTA: [&str; 5] = ["quota", "billing", "balance", "credits", "usage limit"];

/// Words of a key that is refused, under a status that says less.
const BAD_KEY: [&str; 6] = [
    "invalid_api_key",
    "invalid api key",
    "incorrect api key",
    "api key not valid",
    "api_key_invalid",
    "authentication_error",
];

/// Words of a server that is overloaded, inside a stream.
const STUMBLED: [&str; 8] = [
    "overloaded",
    "server_error",
    "internal error",
    "internal server error",
    "unavailable",
    "timeout",
    "timed out",
    "bad gateway",
];

impl Facts {
    /// Returns what there is to know of a path of an endpoint and a model there.
    pub(super) fn of(options: &EndpointOptions, path: &str, model: &str) -> Self {
        Self {
            host: options.base.host(),
            url: shown(&options.base.join(path)),
            model: model.to_owned(),
            key: options.key.clone(),
            key_belongs: options.key_belongs.clone(),
            proxy: options.proxy.clone().unwrap_or_else(|| "the proxy".to_owned()),
            empty_refusal_is_overflow: options.preset.empty_refusal_is_overflow,
        }
    }

    /// Returns what an answer means.
    pub(super) fn classify(&self, answer: &Answer, now: DateTime<Utc>) -> ModelError {
        let text = answer.text.searchable.as_str();
        let code = answer.status.map(|status| status.as_u16());
        let wait = retry_after::read(&answer.headers, text, now);
        let message = self.describe(answer);
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));

        if code == Some(402) || (has(&USED_UP) && !is_server_side(code)) {
            return ModelError::Quota(message);
        }
        let comes_back = wait.is_some() || overflow::is_rate_limit(text);
        if matches!(code, Some(429 | 403)) && has(&QUOTA) && !comes_back {
            return ModelError::Quota(message);
        }
        if let Some(overflow) = overflow::read(text)
            && !matches!(code, Some(401 | 403 | 404 | 429))
        {
            return ModelError::Overflow { message, window: overflow.window };
        }
        if overflow::is_rate_limit(text) && matches!(code, None | Some(400 | 403 | 413 | 422)) {
            return ModelError::Busy { message, retry_after: wait };
        }
        if has(&BAD_KEY) && matches!(code, None | Some(400 | 422)) {
            return ModelError::Credentials(self.about_key(&message));
        }
        match code {
            Some(429) => ModelError::Busy { message, retry_after: wait },
            Some(401 | 403) => ModelError::Credentials(self.about_key(&message)),
            Some(407) => ModelError::Endpoint {
                message: format!("{} does not let the request through: {message}", self.proxy),
                hint: Some(PROXY_HINT.to_owned()),
            },
            Some(413) => ModelError::Overflow { message, window: None },
            Some(400) if answer.text.message.is_empty() && self.empty_refusal_is_overflow => {
                ModelError::Overflow { message, window: None }
            }
            Some(404 | 405) => ModelError::Endpoint {
                message: format!("{message} (asked for `{}` at {})", self.model, self.url),
                hint: Some("check `endpoint.base_url` and the model's name".to_owned()),
            },
            Some(408 | 409 | 425 | 500 | 502..=504 | 506..=599) => unavailable(message, wait),
            None if has(&STUMBLED) || text.is_empty() => unavailable(message, wait),
            None | Some(_) => ModelError::Endpoint { message, hint: remedy(text) },
        }
    }

    /// Returns a text without the key, on one line.
    pub(super) fn clean(&self, text: &str) -> String {
        let masked = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.mask(text));
        shorten(&mask_lookalikes(&masked))
    }

    fn describe(&self, answer: &Answer) -> String {
        let status = match answer.status {
            Some(status) => {
                let reason = status.canonical_reason().unwrap_or_default();
                format!("{} answered {} {reason}", self.host, status.as_u16()).trim_end().to_owned()
            }
            None => format!("{} reports an error", self.host),
        };
        if answer.text.message.is_empty() {
            return format!("{status} without saying why");
        }
        format!("{status}: {}", self.clean(&answer.text.message))
    }

    /// Adds which key was refused, or that there was none.
    fn about_key(&self, message: &str) -> String {
        match &self.key {
            Some(key) => format!("{message} (the key comes from {})", key.origin()),
            None => format!("{message} (no key was sent; it belongs into {})", self.key_belongs),
        }
    }
}

fn is_server_side(code: Option<u16>) -> bool {
    code.is_some_and(|code| code >= 500)
}

fn unavailable(message: String, retry_after: Option<Duration>) -> ModelError {
    let hint = "the server has trouble of its own: try again later, or another model";
    ModelError::Unavailable { message, hint: Some(hint.to_owned()), retry_after }
}

/// Returns what to do about a request that a server does not take.
fn remedy(text: &str) -> Option<String> {
    let hint = if text.contains("enable-auto-tool-choice") {
        "start vLLM with `--enable-auto-tool-choice --tool-call-parser NAME`"
    } else if text.contains("--jinja") {
        "start llama.cpp's server with `--jinja`"
    } else if text.contains("does not support tools") {
        "choose a model that can call tools"
    } else {
        return None;
    };
    Some(hint.to_owned())
}

/// Blacks out what looks like a key, also one that is not ours.
fn mask_lookalikes(text: &str) -> String {
    let is_key = |word: &str| {
        let word = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric());
        let starts = ["sk-", "gsk_", "AIza", "xai-", "hf_", "pk-", "key-"];
        word.len() >= 16 && starts.iter().any(|start| word.starts_with(start))
    };
    let mut words = Vec::new();
    let mut after_bearer = false;
    for word in text.split(' ') {
        if is_key(word) || after_bearer {
            words.push(super::key::MASKED);
        } else {
            words.push(word);
        }
        after_bearer = word.eq_ignore_ascii_case("bearer");
    }
    words.join(" ")
}

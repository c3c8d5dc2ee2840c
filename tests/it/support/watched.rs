//! A scripted model that can be asked what it was shown.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::sync::Mutex;

use futures::future::BoxFuture;
use groundskeeper::model::scripted::ScriptedModel;
use groundskeeper::model::{ChatModel, ChatReply, ChatRequest, Delta, ModelError};

/// A scripted model that keeps what it was shown, and is sent what it thought aloud.
pub(crate) struct Watched {
    inner: ScriptedModel,
    requests: Mutex<Vec<ChatRequest>>,
}

impl Watched {
    pub(crate) fn new(inner: ScriptedModel) -> Self {
        Self { inner, requests: Mutex::default() }
    }

    /// Keeps a request that somebody else answers.
    pub(crate) fn keep(&self, request: &ChatRequest) {
        self.requests.lock().unwrap().push(request.clone());
    }

    /// Returns the requests so far, in order.
    pub(crate) fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap().clone()
    }
}

impl ChatModel for Watched {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        self.keep(request);
        self.inner.chat(request, deltas)
    }

    fn sends_reasoning(&self) -> bool {
        true
    }

    fn finish(&self) -> Result<(), ModelError> {
        self.inner.finish()
    }
}

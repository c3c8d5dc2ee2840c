//! Waits for a busy server and asks again.
//!
//! A wait is never blind: it is told each second, and it is not begun when it would outlast the
//! turn. Whoever has enough of it drops the future, which ends a wait as it ends a request: there
//! is no other way. What a server asks for is a least wait, not a permission to ask at once, so
//! that a small number cannot burn all tries. Nothing is shown twice: text of an attempt that
//! failed is declared void before the next begins.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;

use super::{ChatModel, ChatReply, ChatRequest, Delta, ModelError};

/// The share of a wait that is always waited, so that the first ones are no burst.
const LEAST_SHARE: f64 = 0.1;

/// How much longer than the one before it a wait is at least.
const LEAST_GROWTH: f64 = 1.2;

/// How patient to be.
#[derive(Debug, Clone)]
pub struct RetryOptions {
    /// How often a request is sent at most.
    pub tries: u32,
    /// How often more it is sent after an answer that broke off or never began.
    pub tries_after_break: u32,
    /// The first wait; it doubles each time.
    pub first_wait: Duration,
    /// What a wait of our own choice grows to.
    pub widest_wait: Duration,
    /// The longest wait that a server may ask for; a longer one ends the request.
    pub longest_wait: Duration,
    /// Wall-clock time of a request with all its waits.
    pub time_limit: Duration,
    /// Returns how much of the variable part of a wait is really waited, in `0.0..=1.0`, so that
    /// clients that were refused together do not come back together.
    pub jitter: fn() -> f64,
}

impl Default for RetryOptions {
    fn default() -> Self {
        Self {
            tries: 6,
            tries_after_break: 1,
            first_wait: Duration::from_millis(500),
            widest_wait: Duration::from_secs(30),
            longest_wait: Duration::from_secs(120),
            time_limit: Duration::from_secs(900),
            jitter: any_share,
        }
    }
}

/// Asks another model again when it says that this may help.
pub struct Retrying {
    inner: Arc<dyn ChatModel>,
    options: RetryOptions,
}

impl Retrying {
    /// Returns a model that asks `inner` again.
    pub fn new(inner: Arc<dyn ChatModel>, options: RetryOptions) -> Self {
        Self { inner, options }
    }

    async fn ask(
        &self,
        request: &ChatRequest,
        deltas: &(dyn Fn(Delta) + Send + Sync),
    ) -> Result<ChatReply, ModelError> {
        let began = Instant::now();
        let mut tries = 0;
        let mut breaks = 0;
        let mut waited = Duration::ZERO;
        loop {
            tries += 1;
            let shown = AtomicBool::new(false);
            let show = |delta: Delta| {
                if matches!(delta, Delta::Text(_) | Delta::Reasoning(_)) {
                    shown.store(true, Ordering::Relaxed);
                }
                deltas(delta);
            };
            let error = match self.inner.chat(request, &show).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let asked_for = match &error {
                ModelError::Busy { retry_after, .. }
                | ModelError::Unavailable { retry_after, .. } => *retry_after,
                ModelError::Truncated(_) | ModelError::Silent { .. } => {
                    breaks += 1;
                    None
                }
                ModelError::Quota(_)
                | ModelError::Credentials(_)
                | ModelError::Overflow { .. }
                | ModelError::Endpoint { .. }
                | ModelError::Script { .. } => return Err(error),
            };
            if let Some(wait) = asked_for.filter(|wait| *wait > self.options.longest_wait) {
                return Err(too_long(&error, wait));
            }
            if tries >= self.options.tries || breaks > self.options.tries_after_break {
                return Err(for_good(error, tries));
            }
            waited = self.backoff(tries, waited);
            let wait = waited.max(asked_for.unwrap_or_default());
            if began.elapsed() + wait >= self.options.time_limit {
                return Err(for_good(error, tries));
            }
            if shown.into_inner() {
                deltas(Delta::Restart);
            }
            count_down(wait, &error.to_string(), deltas).await;
        }
    }

    /// Returns our own wait after `before`: anything up to a bound that doubles, so that clients
    /// that were refused together spread, but always longer than the one before it, so that a
    /// server that stays busy is left alone more and more.
    fn backoff(&self, tries: u32, before: Duration) -> Duration {
        let doubled = 2_u32.saturating_pow(tries.saturating_sub(1));
        let bound = self.options.first_wait.saturating_mul(doubled).min(self.options.widest_wait);
        let least = bound.mul_f64(LEAST_SHARE).max(before.mul_f64(LEAST_GROWTH)).min(bound);
        least + bound.saturating_sub(least).mul_f64((self.options.jitter)().clamp(0.0, 1.0))
    }
}

/// Waits, and tells each second how long it is still going to.
async fn count_down(wait: Duration, reason: &str, deltas: &(dyn Fn(Delta) + Send + Sync)) {
    let end = Instant::now() + wait;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        deltas(Delta::Waiting { reason: reason.to_owned(), left });
        tokio::time::sleep(left.min(Duration::from_secs(1))).await;
    }
}

impl ChatModel for Retrying {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(self.ask(request, deltas))
    }

    fn prepare(&self) -> BoxFuture<'_, Vec<String>> {
        self.inner.prepare()
    }

    fn window(&self) -> Option<usize> {
        self.inner.window()
    }

    fn sends_reasoning(&self) -> bool {
        self.inner.sends_reasoning()
    }

    fn finish(&self) -> Result<(), ModelError> {
        self.inner.finish()
    }
}

/// Returns the error of a server that asks for more patience than there is.
fn too_long(error: &ModelError, wait: Duration) -> ModelError {
    let minutes = wait.as_secs().div_ceil(60);
    ModelError::Quota(format!("{error}; it asks to wait {minutes} minutes, which is too long"))
}

/// Returns what is left of an error when no more tries are.
fn for_good(error: ModelError, tries: u32) -> ModelError {
    let after = |message: &str| match tries {
        1 => message.to_owned(),
        _ => format!("{message} (asked {tries} times)"),
    };
    match error {
        ModelError::Busy { message, .. } => ModelError::Quota(after(&message)),
        ModelError::Unavailable { message, hint, .. } | ModelError::Silent { message, hint } => {
            ModelError::Endpoint { message: after(&message), hint }
        }
        ModelError::Truncated(message) => ModelError::Truncated(after(&message)),
        other => other,
    }
}

/// Returns a share in `0.0..1.0` that differs from call to call and from process to process.
#[expect(clippy::cast_precision_loss, reason = "32 bits fit a float exactly")]
fn any_share() -> f64 {
    let bits = RandomState::new().build_hasher().finish() >> 32;
    bits as f64 / (u64::from(u32::MAX) + 1) as f64
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use pretty_assertions::assert_eq;

    use super::*;
    use crate::model::scripted::ScriptedModel;
    use crate::protocol::Message;

    fn retrying(script: &str, options: RetryOptions) -> Retrying {
        let model = ScriptedModel::from_yaml(script, "s.yaml").unwrap();
        Retrying::new(Arc::new(model), options)
    }

    fn whole_waits() -> RetryOptions {
        RetryOptions { jitter: || 1.0, ..RetryOptions::default() }
    }

    async fn ask(model: &Retrying) -> (Result<ChatReply, ModelError>, Vec<Delta>, Duration) {
        let request = ChatRequest {
            messages: vec![Message::User { content: "hello".to_owned() }],
            tools: Vec::new(),
        };
        let heard = Mutex::new(Vec::new());
        let began = Instant::now();
        let reply = model.chat(&request, &|delta| heard.lock().unwrap().push(delta)).await;
        (reply, heard.into_inner().unwrap(), began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_busy_server_is_asked_again_with_growing_waits() {
        let script = "steps: [{fails: busy}, {fails: busy}, {fails: busy}, {says: hi}]";
        let (reply, _, took) = ask(&retrying(script, whole_waits())).await;
        assert_eq!(reply.unwrap().text, "hi");
        assert_eq!(took.as_millis(), 500 + 1000 + 2000);
    }

    #[tokio::test(start_paused = true)]
    async fn the_wait_that_a_server_asks_for_is_the_least_and_is_counted_down() {
        let script =
            "steps: [{fails: {kind: busy, retry_after: 3, message: slow down}}, {says: hi}]";
        let (reply, heard, took) = ask(&retrying(script, whole_waits())).await;
        assert_eq!(reply.unwrap().text, "hi");
        assert_eq!(took.as_secs(), 3);
        let left = |delta: &Delta| match delta {
            Delta::Waiting { reason, left } => Some((reason.clone(), left.as_secs())),
            _ => None,
        };
        let told: Vec<_> = heard.iter().filter_map(left).collect();
        assert_eq!(told, [3, 2, 1].map(|left| ("slow down".to_owned(), left)));
        let script = "steps: [{fails: {kind: busy, retry_after: 0}}, {says: hi}]";
        let (_, _, took) = ask(&retrying(script, whole_waits())).await;
        assert_eq!(took.as_millis(), 500, "a small number does not burn the tries");
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_is_too_long_ends_the_request_at_once() {
        let script = "steps: [{fails: {kind: busy, retry_after: 3600, message: slow down}}]";
        let (reply, _, took) = ask(&retrying(script, whole_waits())).await;
        let expected = "slow down; it asks to wait 60 minutes, which is too long";
        assert_eq!(reply, Err(ModelError::Quota(expected.to_owned())));
        assert!(took.is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends_after_six_tries() {
        let script = format!("steps: [{}]", ["{fails: {kind: busy, message: no}}"; 6].join(", "));
        let model = retrying(&script, whole_waits());
        let (reply, _, took) = ask(&model).await;
        assert_eq!(reply, Err(ModelError::Quota("no (asked 6 times)".to_owned())));
        assert_eq!(took.as_millis(), 500 + 1000 + 2000 + 4000 + 8000);
        assert_eq!(model.finish(), Ok(()), "all six were used");
    }

    #[tokio::test(start_paused = true)]
    async fn no_wait_outlasts_the_time_limit() {
        let script = "steps: [{fails: {kind: busy, retry_after: 60, message: no}}]";
        let options = RetryOptions { time_limit: Duration::from_secs(60), ..whole_waits() };
        let (reply, _, took) = ask(&retrying(script, options)).await;
        assert_eq!(reply, Err(ModelError::Quota("no".to_owned())));
        assert!(took.is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_with_whoever_waits() {
        let script = "steps: [{fails: {kind: busy, retry_after: 60}}, {says: hi}]";
        let model = retrying(script, whole_waits());
        let heard = tokio::time::timeout(Duration::from_secs(2), ask(&model)).await;
        assert!(heard.is_err(), "it was still waiting");
        assert!(model.finish().is_err(), "nothing was asked after it");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_says_nothing_is_asked_once_more() {
        let (reply, ..) =
            ask(&retrying("steps: [{fails: silent}, {says: hi}]", whole_waits())).await;
        assert_eq!(reply.unwrap().text, "hi");
        let script = "steps: [{fails: {kind: silent, message: no word}}, {fails: {kind: silent, message: no word}}]";
        let (reply, ..) = ask(&retrying(script, whole_waits())).await;
        let message = "no word (asked 2 times)".to_owned();
        assert_eq!(reply, Err(ModelError::Endpoint { message, hint: None }));
    }

    #[test]
    fn waits_spread_and_grow() {
        for jitter in [|| 0.0, || 0.5, || 1.0, any_share] {
            let model = retrying("steps: []", RetryOptions { jitter, ..RetryOptions::default() });
            let mut before = Duration::ZERO;
            for tries in 1..=5 {
                let wait = model.backoff(tries, before);
                assert!(wait >= before.mul_f64(1.19) && wait >= Duration::from_millis(50));
                assert!(wait <= Duration::from_millis(500) * 2_u32.pow(tries - 1));
                before = wait;
            }
            assert!(model.backoff(40, Duration::from_secs(29)) <= Duration::from_secs(30));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn text_of_a_broken_answer_is_void_and_asked_for_once_more() {
        let script = "steps: [{says: Half a, fails: cut}, {says: Whole.}]";
        let (reply, heard, _) = ask(&retrying(script, whole_waits())).await;
        assert_eq!(reply.unwrap().text, "Whole.");
        let place = heard.iter().position(|delta| *delta == Delta::Restart).unwrap();
        assert_eq!(heard[..place].len(), 2, "`Half ` and `a` come before it");
        assert_eq!(heard.last(), Some(&Delta::Text("Whole.".to_owned())));

        let script = "steps: [{says: Half, fails: cut}, {says: Half, fails: cut}]";
        let (reply, heard, _) = ask(&retrying(script, whole_waits())).await;
        assert!(matches!(reply, Err(ModelError::Truncated(_))), "{reply:?}");
        assert_eq!(heard.last(), Some(&Delta::Text("Half".to_owned())), "the last text stays");
    }

    #[tokio::test(start_paused = true)]
    async fn what_waiting_does_not_mend_is_not_asked_again() {
        for kind in ["quota", "credentials", "overflow", "endpoint"] {
            let model = retrying(&format!("steps: [{{fails: {kind}}}]"), whole_waits());
            let (reply, heard, took) = ask(&model).await;
            assert!(reply.is_err() && heard.is_empty() && took.is_zero(), "{kind}");
        }
    }

    #[test]
    fn shares_differ() {
        let shares: Vec<f64> = (0..20).map(|_| any_share()).collect();
        assert!(shares.iter().all(|share| (0.0..1.0).contains(share)));
        assert!(shares.windows(2).any(|pair| pair[0].to_bits() != pair[1].to_bits()));
    }
}

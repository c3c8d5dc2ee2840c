//! `limits.compaction: model`: the model's summary stands beside what is told word for word, costs
//! what it costs, and is done without where it cannot be used.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use groundskeeper::agent::{Compaction, replay};
use groundskeeper::model::scripted::ScriptedModel;
use groundskeeper::model::{ChatModel, ChatReply, ChatRequest, Delta, Finish, ModelError};
use groundskeeper::protocol::{Event, EventKind, Outcome, StopReason, ToolCall, Usage};
use pretty_assertions::assert_eq;

use crate::compaction::{QUESTION, Stage, WINDOW, long_script};
use crate::support::watched::Watched;

type Summary = fn(&ChatRequest) -> Result<ChatReply, ModelError>;

/// A watched model that is asked for summaries too.
struct Summing {
    inner: Watched,
    summary: Summary,
}

impl ChatModel for Summing {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        if !wants_a_summary(request) {
            return self.inner.chat(request, deltas);
        }
        self.inner.keep(request);
        deltas(Delta::Text("NOBODY IS SHOWN THIS".to_owned()));
        std::future::ready((self.summary)(request)).boxed()
    }
}

fn wants_a_summary(request: &ChatRequest) -> bool {
    request.messages.last().unwrap().text().contains("replaced by what you write now")
}

/// Holds a long session with a model that sums up. Returns the model, the events and the outcome.
async fn hold(summary: Summary) -> (Arc<Summing>, Vec<Event>, Outcome) {
    let stage = Stage::new();
    let inner = ScriptedModel::from_yaml(&long_script(60), "test.yaml").unwrap();
    let model = Arc::new(Summing { inner: Watched::new(inner), summary });
    let mut maintainer = stage.open_with(Arc::clone(&model) as _, WINDOW, Compaction::Model);
    let outcome = maintainer.ask(QUESTION).await.unwrap();
    model.inner.finish().unwrap();
    (model, stage.events(), outcome)
}

/// Returns the digests, each with what its summary cost.
fn digests(events: &[Event]) -> Vec<(String, Option<Usage>)> {
    let digest = |event: &Event| match &event.kind {
        EventKind::ContextCompacted { digest: Some(digest), usage, .. } => {
            Some((digest.clone(), *usage))
        }
        _ => None,
    };
    events.iter().filter_map(digest).collect()
}

fn says(text: &str) -> ChatReply {
    ChatReply { text: text.to_owned(), ..ChatReply::default() }
}

#[tokio::test]
async fn a_summary_stands_beside_what_is_told_word_for_word() {
    let (model, events, outcome) =
        hold(|_| Ok(says("The numbers were counted.\n[Task]\nNext: the rest."))).await;
    assert_eq!(outcome.reason, StopReason::Answered);
    let digests = digests(&events);
    assert!(!digests.is_empty());
    for (digest, usage) in &digests {
        for kept in [
            QUESTION,
            "flask 3.0 needs werkzeug 3",
            "The facade of orders stays as it is",
            "rm -rf build",
            "The numbers were counted.\n\\[Task]\nNext: the rest.",
        ] {
            assert!(digest.contains(kept), "`{kept}` is gone:\n{digest}");
        }
        assert!(!digest.contains("{{") && !digest.contains("## Commands that ran"), "{digest}");
        assert!(usage.unwrap().prompt_tokens > 1000, "it was shown what it sums up");
    }
    let requests = model.inner.requests();
    let asked: Vec<usize> =
        (0..requests.len()).filter(|place| wants_a_summary(&requests[*place])).collect();
    assert_eq!(asked.len(), digests.len());
    for place in asked {
        // What a provider has in its cache: the request before, as far as it goes out.
        let (wish, older) = requests[place].messages.split_last().unwrap();
        assert!(requests[place - 1].messages.starts_with(older), "{}", wish.text());
        assert_eq!(requests[place].tools, requests[place - 1].tools);
    }
    let shown = events.iter().all(|event| !format!("{event:?}").contains("NOBODY IS SHOWN"));
    assert!(shown);
    let of_steps = events.iter().filter_map(|event| match &event.kind {
        EventKind::ModelReplied { usage, .. } => Some(usage.prompt_tokens),
        _ => None,
    });
    let of_summaries = digests.iter().filter_map(|digest| Some(digest.1?.prompt_tokens));
    let all: u64 = of_steps.chain(of_summaries).sum();
    assert_eq!(outcome.stats.usage.prompt_tokens, all, "its cost is counted");
    assert_eq!(outcome.stats.steps, 63, "it is no step");
    // A resumed session has the same messages.
    let last = events.iter().rposition(|event| matches!(event.kind, EventKind::ModelAsked { .. }));
    assert_eq!(replay(&events[..last.unwrap()]), requests.last().unwrap().messages[1..]);
}

/// Checks that a summary is refused for a reason and the session goes on with digests alone.
async fn check_refused(summary: Summary, reason: &str) {
    let (_, events, outcome) = hold(summary).await;
    assert_eq!(outcome.reason, StopReason::Answered);
    let digests = digests(&events);
    assert!(!digests.is_empty());
    for (digest, _) in &digests {
        assert!(digest.contains("## Commands that ran"), "{digest}");
    }
    let told = events.iter().filter(|event| {
        matches!(&event.kind, EventKind::Warning { message }
            if message.contains("is not used") && message.contains(reason))
    });
    assert_eq!(told.count(), digests.len(), "{reason}");
}

#[tokio::test]
async fn a_summary_that_cannot_be_used_is_done_without() {
    check_refused(|_| Ok(says(" \n")), "it is empty").await;
    check_refused(|request| Ok(says(&request.text())), "it is longer than what it stands for")
        .await;
    check_refused(
        |_| {
            let calls = vec![ToolCall::new("x", "terminal", &serde_json::json!({"command": "ls"}))];
            Ok(ChatReply { text: "x".to_owned(), calls, ..ChatReply::default() })
        },
        "it called a tool instead of writing one",
    )
    .await;
    check_refused(
        |_| Ok(ChatReply { text: "x".to_owned(), finish: Finish::Length, ..ChatReply::default() }),
        "it was cut off",
    )
    .await;
    check_refused(|_| Err(ModelError::Quota("no money left".to_owned())), "no money left").await;
}

#[tokio::test]
async fn a_summary_that_leaves_the_digest_no_shorter_is_done_without() {
    let long = |_: &ChatRequest| Ok(says(&"It was counted, and counted again. ".repeat(180)));
    check_refused(long, "no shorter").await;
}

//! Long sessions: older messages make room, what matters stands word for word in what is left,
//! and a journal folds to the same messages.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::path::PathBuf;
use std::sync::Arc;

use groundskeeper::agent::{
    AutoNotes, CodebaseMaintainer, Compaction, Limits, MaintainerOptions, Nowhere, replay,
};
use groundskeeper::journal::Sessions;
use groundskeeper::model::scripted::ScriptedModel;
use groundskeeper::model::{ChatModel, ChatRequest};
use groundskeeper::protocol::{Completeness, Event, EventKind, Message, Outcome, StopReason};
use groundskeeper::support::clock::FixedClock;
use groundskeeper::support::tokens::TokenCounter;
use groundskeeper::terminal;
use pretty_assertions::assert_eq;

use crate::support::watched::Watched;
use crate::support::write;

/// A folder in which sessions are held, each with a script of its own.
pub(crate) struct Stage(tempfile::TempDir);

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("a.py"), b"import os\nprint(1)\n");
        Self(folder)
    }

    fn open(&self, script: &str, window: usize) -> (CodebaseMaintainer, Arc<Watched>) {
        let inner = ScriptedModel::from_yaml(script, "test.yaml").unwrap();
        let model = Arc::new(Watched::new(inner));
        (self.open_with(Arc::clone(&model) as _, window, Compaction::Digest), model)
    }

    pub(crate) fn open_with(
        &self,
        model: Arc<dyn ChatModel>,
        window: usize,
        compaction: Compaction,
    ) -> CodebaseMaintainer {
        let mut options = MaintainerOptions::new("demo", self.0.path(), model).unwrap();
        let at = chrono::DateTime::parse_from_rfc3339(crate::support::NOW).unwrap();
        options.clock = Arc::new(FixedClock::at(at));
        options.display = Box::new(Nowhere);
        options.terminal =
            terminal::Options::with_helper(PathBuf::from(env!("CARGO_BIN_EXE_groundskeeper")));
        options.notes.auto_notes = AutoNotes::Off;
        options.limits = Limits {
            steps: 900,
            prompt_tokens: 10_000_000,
            window,
            compaction,
            ..Limits::default()
        };
        CodebaseMaintainer::with(options).unwrap()
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        let sessions = Sessions::at(self.0.path().join(".groundskeeper/sessions"));
        let ids = sessions.ids().unwrap();
        sessions.read(ids.last().unwrap()).unwrap().events
    }
}

async fn ask(maintainer: &mut CodebaseMaintainer, question: &str) -> Outcome {
    maintainer.ask(question).await.unwrap()
}

/// Returns a step that reads so many lines, which no other step reads.
fn reading(number: usize, lines: usize) -> String {
    let from = number * 1000;
    format!("  - calls: [{{tool: terminal, with: {{command: 'seq {from} {}'}}}}]\n", from + lines)
}

/// Returns a script of so many steps, with a blocker, a decision and a failed attempt early on.
pub(crate) fn long_script(steps: usize) -> String {
    let mut script = "steps:
  - calls:
      - tool: note
        with: {action: create, title: Version conflict, content: flask 3.0 needs werkzeug 3, note_type: blocker}
      - tool: note
        with: {action: create, title: Keep the facade, content: The facade of orders stays as it is, note_type: conclusion}
  - says: I try to delete the cache.
    calls: [{tool: terminal, with: {command: 'rm -rf build'}}]
".to_owned();
    for number in 0..steps {
        script += &reading(number + 1, 220);
    }
    script + "  - says: All was read.\n"
}

fn compactions(events: &[Event]) -> Vec<(u64, u64, usize, Option<String>)> {
    let compacted = |event: &Event| match &event.kind {
        EventKind::ContextCompacted { tokens_before, tokens_after, cleared, digest, .. } => {
            Some((*tokens_before, *tokens_after, cleared.len(), digest.clone()))
        }
        _ => None,
    };
    events.iter().filter_map(compacted).collect()
}

/// Returns how many events there were when each request was sent.
fn asked_at(events: &[Event]) -> Vec<usize> {
    let asked = |event: &Event| matches!(event.kind, EventKind::ModelAsked { .. });
    (0..events.len()).filter(|place| asked(&events[*place])).collect()
}

pub(crate) const QUESTION: &str = "Read *all* of it, 全部, and say what you find.";
/// A window in which a long session has to make room several times.
pub(crate) const WINDOW: usize = 16_000;

#[tokio::test]
async fn a_long_session_keeps_what_matters_and_a_prefix_that_can_be_cached() {
    let stage = Stage::new();
    let (mut maintainer, model) = stage.open(&long_script(80), WINDOW);
    let outcome = ask(&mut maintainer, QUESTION).await;
    assert_eq!((outcome.reason, outcome.stats.steps), (StopReason::Answered, 83));
    let events = stage.events();
    let compactions = compactions(&events);
    assert!(compactions.len() >= 3, "{compactions:?}");

    let requests = model.requests();
    let asked = asked_at(&events);
    let mut digests = 0;
    let mut between = (0, 0);
    for (step, pair) in requests.windows(2).enumerate() {
        let since = &events[asked[step]..asked[step + 1]];
        let usage = events[asked[step + 1]..].iter().find_map(|event| match &event.kind {
            EventKind::ModelReplied { usage, .. } => Some(*usage),
            _ => None,
        });
        let made_room = since.iter().find_map(|event| match &event.kind {
            EventKind::ContextCompacted { tokens_before, tokens_after, digest, .. } => {
                Some((tokens_before, tokens_after, digest))
            }
            _ => None,
        });
        let Some((before, after, digest)) = made_room else {
            assert!(pair[1].messages.starts_with(&pair[0].messages), "step {step}");
            let usage = usage.unwrap();
            between = (between.0 + usage.repeated_tokens, between.1 + usage.prompt_tokens);
            continue;
        };
        assert!(before * 100 > WINDOW as u64 * 75, "{before}");
        assert!(after * 100 <= WINDOW as u64 * 60, "{before} {after}");
        assert_eq!(pair[1].messages[0], pair[0].messages[0]);
        assert!(usage.unwrap().repeated_tokens > 0, "the rules are still the same");
        digests += usize::from(digest.is_some());
        let text = pair[1].text();
        for kept in [
            QUESTION,
            "Version conflict",
            "flask 3.0 needs werkzeug 3",
            "Keep the facade",
            "The facade of orders stays as it is",
            "rm -rf build",
            "I try to delete the cache.",
        ] {
            assert!(text.contains(kept), "`{kept}` is gone after step {step}:\n{text}");
        }
        let newest = since.iter().rev().find_map(|event| match &event.kind {
            EventKind::ToolFinished { for_model, .. } => Some(for_model.as_str()),
            _ => None,
        });
        assert_eq!(pair[1].messages.last().unwrap().text(), newest.unwrap(), "it is untouched");
    }
    assert!(digests >= 2, "{compactions:?}");
    assert!(between.0 * 100 >= between.1 * 90, "{between:?}");
    assert!(maintainer.report().tokens.cached_share > 0.7, "{:?}", maintainer.report().tokens);
    let reason = events.iter().find_map(|event| match &event.kind {
        EventKind::ToolFinished { failure: Some(_), for_model, .. } => Some(for_model.clone()),
        _ => None,
    });
    let reason = reason.unwrap();
    let digest = compactions.iter().rev().find_map(|compaction| compaction.3.as_ref()).unwrap();
    assert!(digest.contains(reason.lines().next().unwrap()), "{reason}\n{digest}");
}

#[tokio::test]
async fn what_was_thought_aloud_counts_for_the_window_where_it_is_sent_back() {
    const STEPS: usize = 40;
    let stage = Stage::new();
    let thoughts = "I think about what else there is to read. ".repeat(60);
    let step = |number| {
        let call = reading(number, 0).replacen("  - ", "    ", 1);
        format!("  - thinks: '{thoughts}'\n{call}")
    };
    let steps: Vec<String> = (0..STEPS).map(step).collect();
    let script = format!("steps:\n{}  - says: All was read.\n", steps.concat());
    let (mut maintainer, model) = stage.open(&script, WINDOW);
    ask(&mut maintainer, QUESTION).await;
    let counter = TokenCounter::for_model(model.name());
    let requests = model.requests();
    let sent = |request: &ChatRequest| {
        let messages = request.messages.iter();
        messages.map(|said| counter.count(said.text()) + counter.count(said.reasoning())).sum()
    };
    let largest: usize = requests.iter().map(sent).max().unwrap();
    assert!(largest <= WINDOW, "{largest}");
    assert!(!compactions(&stage.events()).is_empty());
}

#[tokio::test]
async fn thoughts_that_would_fill_the_window_for_good_are_cut() {
    let stage = Stage::new();
    let thoughts = "again and ".repeat(WINDOW);
    let script = format!(
        "steps:\n  - thinks: '{thoughts}'\n    calls: [{{tool: terminal, with: {{command: ls}}}}]\n  - says: x\n"
    );
    let (mut maintainer, model) = stage.open(&script, WINDOW);
    let outcome = ask(&mut maintainer, QUESTION).await;
    assert_eq!(outcome.reason, StopReason::Answered);
    let requests = model.requests();
    let thought = requests[1].messages.iter().find(|said| !said.reasoning().is_empty()).unwrap();
    let told = thought.reasoning();
    assert!(told.contains("too long for the window"), "{} bytes", told.len());
}

#[tokio::test]
async fn a_journal_folds_to_what_the_model_was_shown_at_every_step() {
    let stage = Stage::new();
    let (mut maintainer, model) =
        stage.open(&(long_script(20) + &long_script(20)[7..]), WINDOW / 2);
    ask(&mut maintainer, QUESTION).await;
    ask(&mut maintainer, "And again?").await;
    let events = stage.events();
    assert!(compactions(&events).len() >= 2);
    let requests = model.requests();
    let asked = asked_at(&events);
    assert_eq!(asked.len(), requests.len());
    for (place, request) in asked.into_iter().zip(&requests) {
        assert_eq!(replay(&events[..place]), request.messages[1..], "event {place}");
    }
}

#[tokio::test]
async fn a_session_that_is_taken_up_goes_on_with_the_compacted_conversation() {
    let stage = Stage::new();
    let (mut maintainer, model) = stage.open(&long_script(30), WINDOW);
    ask(&mut maintainer, QUESTION).await;
    let mut shown = model.requests().last().unwrap().messages.clone();
    let id = maintainer.session_id().to_owned();
    drop(maintainer);
    let (mut maintainer, model) =
        stage.open("steps:\n  - {sees: 'seq 1000 1220', says: yes}\n", 100_000);
    maintainer.take_up(&id).unwrap();
    ask(&mut maintainer, "What did seq 1000 1220 print: 1111?").await;
    let request = model.requests()[0].clone();
    shown.push(Message::Assistant {
        content: "All was read.".to_owned(),
        reasoning: None,
        calls: Vec::new(),
    });
    assert_eq!(request.messages[..shown.len()], shown[..]);
    // What was cleared comes back, because the question has words of it.
    let context = request.messages.last().unwrap().text();
    assert!(context.contains("\n1111\n1112\n"), "{context}");
}

#[tokio::test]
async fn a_cleared_result_is_told_in_a_line_and_kept_whole() {
    let stage = Stage::new();
    let (mut maintainer, model) = stage.open(&long_script(24), WINDOW);
    ask(&mut maintainer, QUESTION).await;
    let events = stage.events();
    let mut lines = 0;
    for event in &events {
        let EventKind::ContextCompacted { cleared, .. } = &event.kind else { continue };
        for result in cleared {
            let path = format!("outputs/{}.txt", result.id);
            let (told, handle) = result.text.split_once("; the whole of it: ").unwrap();
            assert!(told.starts_with("[cleared: terminal `seq "), "{told}");
            assert!(told.ends_with("`: exit 0, 221 lines"), "{told}");
            assert!(handle.ends_with(&format!("{path}]")), "{handle}");
            let kept = stage.0.path().join(handle.trim_end_matches(']'));
            let kept = std::fs::read_to_string(kept).unwrap();
            assert_eq!(kept.lines().count(), 221, "also where the model had read less");
            lines += 1;
        }
    }
    assert!(lines > 3, "{lines}");
    let last = model.requests().last().unwrap().text();
    assert!(last.contains("[cleared: ") || last.contains("Commands that ran"), "{last}");
}

#[tokio::test]
async fn a_result_takes_a_fifth_of_the_room_left_at_the_most() {
    let stage = Stage::new();
    let script =
        "steps:\n  - calls: [{tool: terminal, with: {command: 'seq 1 9000'}}]\n  - says: x\n";
    let (mut maintainer, model) = stage.open(script, WINDOW);
    ask(&mut maintainer, "x").await;
    let finished = stage.events().into_iter().find_map(|event| match event.kind {
        EventKind::ToolFinished { completeness, for_model, .. } => Some((completeness, for_model)),
        _ => None,
    });
    let (completeness, for_model) = finished.unwrap();
    assert_eq!(completeness, Completeness::Cut);
    let counter = TokenCounter::for_model(model.name());
    assert!(counter.count(&for_model) <= WINDOW / 5, "{}", counter.count(&for_model));
}

#[tokio::test]
async fn making_room_in_vain_twice_ends_the_turn_with_a_report() {
    let stage = Stage::new();
    let script = "steps:
  - calls: [{tool: terminal, with: {command: 'wc -c a.py'}}]
  - says: That is what I have.
";
    let (mut maintainer, _) = stage.open(script, 500);
    let outcome = ask(&mut maintainer, "x").await;
    assert_eq!(outcome.reason, StopReason::WindowFull);
    let events = stage.events();
    assert!(compactions(&events).len() >= 2);
    let warned = events.iter().any(|event| {
        matches!(&event.kind, EventKind::Warning { message } if message.contains("more than half of the model's window of 500"))
    });
    assert!(warned, "a window that is too small is told at the start");
    assert_eq!(maintainer.report().activity.limits_hit, ["window_full"]);
}

#[tokio::test]
async fn many_long_blockers_make_the_digest_brief_and_not_impossible() {
    let stage = Stage::new();
    let (mut maintainer, _) = stage.open(&long_script(60), WINDOW);
    let kind = groundskeeper::notes::NoteKind::Blocker;
    for number in 0..30 {
        let content = format!("blocker {number} 很长 ").repeat(200);
        maintainer.create_note(&format!("Blocked {number}"), &content, kind, vec![]).unwrap();
    }
    let outcome = ask(&mut maintainer, QUESTION).await;
    assert_eq!(outcome.reason, StopReason::Answered);
    let compactions = compactions(&stage.events());
    let digest = compactions.iter().find_map(|compaction| compaction.3.as_ref()).unwrap();
    assert!(digest.contains(QUESTION) && digest.contains("Blocked 29"), "{digest}");
    assert!(digest.len() < 20_000, "{}", digest.len());
}

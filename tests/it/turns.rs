//! One turn of the maintainer: a scripted model, real tools, a real folder. What the model was
//! shown, what was journaled, what is on disk.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use groundskeeper::agent::{
    AgentError, AutoNotes, CodebaseMaintainer, Limits, MaintainerOptions, Request,
};
use groundskeeper::context::{ContextPacket, ContextSource, Query, SourceFailure};
use groundskeeper::model::scripted::ScriptedModel;
use groundskeeper::model::{ChatModel, ChatRequest};
use groundskeeper::prompts::Language;
use groundskeeper::protocol::{
    Completeness, Event, EventKind, EventSink, Message, Outcome, StopReason, ToolFailureKind,
};
use groundskeeper::support::clock::FixedClock;
use groundskeeper::terminal;
use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;

use crate::support::watched::Watched;
use crate::support::write;

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<Event>>>);

impl EventSink for Seen {
    fn emit(&mut self, event: &Event) -> std::io::Result<()> {
        self.0.lock().unwrap().push(event.clone());
        Ok(())
    }
}

/// A workspace with a scripted maintainer.
struct Stage {
    folder: tempfile::TempDir,
    model: Arc<Watched>,
    seen: Seen,
    cancel: CancellationToken,
    maintainer: CodebaseMaintainer,
}

impl Stage {
    fn new(script: &str) -> Self {
        Self::with(script, |_| {})
    }

    fn with(script: &str, adjust: impl FnOnce(&mut MaintainerOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("a.py"), b"import os\nprint(1)\n# TODO: more\n");
        write(&folder.path().join("b/c.txt"), "第一行\n".as_bytes());
        let inner = ScriptedModel::from_yaml(script, "test.yaml").unwrap();
        let model = Arc::new(Watched::new(inner));
        let mut options =
            MaintainerOptions::new("demo", folder.path(), Arc::clone(&model) as _).unwrap();
        let at = chrono::DateTime::parse_from_rfc3339(crate::support::NOW).unwrap();
        options.clock = Arc::new(FixedClock::at(at));
        let seen = Seen::default();
        options.display = Box::new(seen.clone());
        options.terminal =
            terminal::Options::with_helper(PathBuf::from(env!("CARGO_BIN_EXE_groundskeeper")));
        options.notes.auto_notes = AutoNotes::Off;
        adjust(&mut options);
        let cancel = options.cancel.clone();
        let maintainer = CodebaseMaintainer::with(options).unwrap();
        Self { folder, model, seen, cancel, maintainer }
    }

    async fn ask(&mut self, question: &str) -> Result<Outcome, AgentError> {
        self.maintainer.ask(question).await
    }

    /// Asks, and checks that the whole script was used.
    async fn answer(&mut self, question: &str) -> Outcome {
        let outcome = self.ask(question).await.unwrap();
        self.model.finish().unwrap();
        outcome
    }

    fn requests(&self) -> Vec<ChatRequest> {
        self.model.requests()
    }

    fn events(&self) -> Vec<EventKind> {
        self.seen.0.lock().unwrap().iter().map(|event| event.kind.clone()).collect()
    }

    /// Returns the results of tools, in order, as failure and text.
    fn results(&self) -> Vec<(Option<ToolFailureKind>, String)> {
        let result = |kind| match kind {
            EventKind::ToolFinished { failure, for_model, .. } => Some((failure, for_model)),
            _ => None,
        };
        self.events().into_iter().filter_map(result).collect()
    }

    fn warnings(&self) -> Vec<String> {
        let warning = |kind| match kind {
            EventKind::Warning { message } => Some(message),
            _ => None,
        };
        self.events().into_iter().filter_map(warning).collect()
    }
}

#[tokio::test]
async fn a_call_is_run_for_real_and_its_result_is_in_the_next_request() {
    let mut stage = Stage::new(
        r#"
steps:
  - sees: ["[Role & Policies]", "[Task]", "how many lines?", "[State]", "Mode: auto", "[Output]"]
    calls: [{tool: terminal, with: {command: "wc -l < a.py"}}]
  - sees: "3"
    says: It has 3 lines.
"#,
    );
    let outcome = stage.answer("how many lines?").await;
    assert_eq!(
        (outcome.reason, outcome.answer.as_str()),
        (StopReason::Answered, "It has 3 lines.")
    );
    assert_eq!(outcome.stats.steps, 2);
    assert_eq!(stage.results()[0], (None, "3\n".to_owned()));
}

#[tokio::test]
async fn a_note_is_on_disk_and_counted() {
    let mut stage = Stage::new(
        r"
steps:
  - calls:
      - tool: note
        with: {action: create, title: Version conflict, content: flask 3.0 needs werkzeug 3, note_type: blocker, tags: [deps]}
  - sees: note_20250119_153000_0
    says: Noted.
",
    );
    let outcome = stage.answer("look").await;
    assert_eq!((outcome.stats.notes_created, outcome.stats.issues_found), (1, 1));
    let path = stage.folder.path().join(".groundskeeper/notes/note_20250119_153000_0.md");
    assert!(std::fs::read_to_string(path).unwrap().contains("type: blocker"));
    let report = stage.maintainer.report();
    assert_eq!(report.activity.notes_created, 1);
    assert_eq!(report.notes["total_notes"], 1);
    let session = stage.folder.path().join(".groundskeeper/sessions/session_20250119_153000");
    for name in ["journal.jsonl", "report.json", "report.md"] {
        assert!(session.join(name).is_file(), "{name}");
    }
}

#[tokio::test]
async fn what_cannot_be_understood_is_answered_and_the_loop_goes_on() {
    let mut stage = Stage::new(
        r#"
steps:
  - calls:
      - {tool: shell, with: {}}
      - {tool: terminal, with: '{"command": "ls'}
      - {tool: terminal, with: {cmd: ls}}
      - {tool: terminal, with: {command: "ls"}}
  - sees: ["There is no tool named `shell`. The tools are: note, terminal.", "must be one JSON object"]
    says: fine
"#,
    );
    assert_eq!(stage.answer("x").await.answer, "fine");
    let kinds: Vec<_> = stage.results().into_iter().map(|(kind, _)| kind).collect();
    let bad = Some(ToolFailureKind::BadArguments);
    assert_eq!(kinds, [Some(ToolFailureKind::UnknownTool), bad, bad, None]);
}

#[tokio::test]
async fn results_keep_the_order_of_the_calls() {
    let call = |n| format!("      - {{tool: terminal, with: {{command: \"echo {n}\"}}}}\n");
    let calls: Vec<String> = (0..8).map(call).collect();
    let script = format!("steps:\n  - calls:\n{}  - says: done\n", calls.concat());
    let mut stage = Stage::new(&script);
    stage.answer("x").await;
    let texts: Vec<String> = stage.results().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, (0..8).map(|n| format!("{n}\n")).collect::<Vec<_>>());
    let Message::Tool { call_id, .. } = &stage.requests()[1].messages[10] else { panic!() };
    assert_eq!(call_id, "call_8");
}

#[tokio::test]
async fn a_refused_command_tells_what_is_allowed_and_is_counted() {
    let mut stage = Stage::new(
        r#"
steps:
  - calls: [{tool: terminal, with: {command: "rm -rf ."}}]
  - sees: "rm"
    says: not allowed
"#,
    );
    let outcome = stage.answer("x").await;
    assert_eq!(outcome.stats.commands_refused, 1);
    assert_eq!(stage.results()[0].0, Some(ToolFailureKind::Refused));
    assert!(stage.folder.path().join("a.py").exists());
}

#[tokio::test]
async fn refused_commands_in_a_row_end_the_turn_with_a_report() {
    let call = |n| format!("  - calls: [{{tool: terminal, with: {{command: \"rm f{n}\"}}}}]\n");
    let script: String = (0..8).map(call).collect();
    let mut stage = Stage::new(&format!(
        "steps:\n{script}  - {{sees: 8 refused commands in a row, says: nothing found}}\n"
    ));
    let outcome = stage.answer("x").await;
    assert_eq!(outcome.reason, StopReason::RefusalLimit);
    assert_eq!(outcome.answer, "nothing found");
}

#[tokio::test]
async fn at_the_step_limit_one_last_request_without_tools_asks_for_the_report() {
    let limits = |options: &mut MaintainerOptions| {
        options.limits = Limits { steps: 4, ..Limits::default() };
    };
    let call = |n| format!("  - calls: [{{tool: terminal, with: {{command: \"echo {n}\"}}}}]\n");
    let script: String = (0..4).map(call).collect();
    let script = format!("steps:\n{script}  - {{sees: 4 steps, says: what I have}}\n");
    let mut stage = Stage::with(&script, limits);
    let outcome = stage.answer("x").await;
    assert_eq!((outcome.reason, outcome.answer.as_str()), (StopReason::StepLimit, "what I have"));
    let requests = stage.requests();
    assert!(!requests[3].tools.is_empty() && requests[4].tools.is_empty());
    let told = |request: &ChatRequest, words: &str| request.text().contains(words);
    assert!(!told(&requests[1], "2 of 4 steps") && told(&requests[2], "2 of 4 steps"));
}

#[tokio::test]
async fn a_limit_ends_in_what_was_found_even_when_the_last_request_fails() {
    let limits = |options: &mut MaintainerOptions| {
        options.limits = Limits { steps: 1, ..Limits::default() };
    };
    let script = r"
steps:
  - calls:
      - {tool: note, with: {action: create, title: Found this, content: x}}
  - fails: endpoint
";
    let mut stage = Stage::with(script, limits);
    let outcome = stage.answer("x").await;
    assert_eq!(outcome.reason, StopReason::StepLimit);
    assert!(outcome.answer.contains("1 notes were created"), "{}", outcome.answer);
    assert!(outcome.answer.contains("Found this"), "{}", outcome.answer);
}

#[tokio::test]
async fn the_same_call_with_the_same_result_is_said_refused_and_ends_the_turn() {
    let call = "  - calls: [{tool: terminal, with: {command: \"cat a.py\"}}]\n";
    let mut stage = Stage::new(&format!("steps:\n{}  - says: enough\n", call.repeat(5)));
    let outcome = stage.answer("x").await;
    assert_eq!((outcome.reason, outcome.answer.as_str()), (StopReason::LoopDetected, "enough"));
    let texts: Vec<String> = stage.results().into_iter().map(|(_, text)| text).collect();
    assert!(texts[1].contains("the same as that of call 1"), "{}", texts[1]);
    assert!(texts[2].contains("look at something else"), "{}", texts[2]);
}

#[tokio::test]
async fn empty_replies_in_a_row_end_the_turn() {
    let mut stage = Stage::new(
        "steps:\n  - says: ''\n  - {sees: Your last reply was empty, says: ' '}\n  - says: ''\n  - says: sorry\n",
    );
    assert_eq!(stage.answer("x").await.reason, StopReason::UnusableReplies);
}

#[tokio::test]
async fn a_call_that_was_cut_is_never_run() {
    let mut stage = Stage::new(
        r"
steps:
  - calls: [{tool: note, with: {action: create, title: T, content: half of}}]
    fails: length
  - sees: cut off by its length limit
    says: done
",
    );
    stage.answer("x").await;
    assert!(!stage.folder.path().join(".groundskeeper/notes").exists());
}

#[tokio::test]
async fn an_answer_that_tells_of_problems_is_asked_for_notes_once_and_stays_the_answer() {
    let ask = |options: &mut MaintainerOptions| options.notes.auto_notes = AutoNotes::Ask;
    let script = r"
steps:
  - says: There is a bug in a.py:2.
  - sees: nothing was recorded in this turn
    calls: [{tool: note, with: {action: create, title: Bug, content: a.py:2, note_type: blocker}}]
  - says: Recorded.
";
    let mut stage = Stage::with(script, ask);
    let outcome = stage.answer("x").await;
    assert_eq!(outcome.answer, "There is a bug in a.py:2.");
    assert_eq!(outcome.stats.issues_found, 1);
    let mut quiet = Stage::with("steps:\n  - says: The file has 3 lines.\n", ask);
    assert_eq!(quiet.answer("x").await.stats.steps, 1, "nothing to note, nothing asked");
}

#[tokio::test]
async fn the_chapters_rule_makes_the_note_itself() {
    let keywords = |options: &mut MaintainerOptions| options.notes.auto_notes = AutoNotes::Keywords;
    let mut stage = Stage::with("steps:\n  - says: 发现一个问题：缺少测试\n", keywords);
    stage.answer("检查代码质量").await;
    let note = &stage.maintainer.notes().open_blockers().unwrap()[0];
    assert_eq!(note.title, "检查代码质量");
    assert_eq!(note.tags, ["demo", "auto_detected", "session_20250119_153000"]);
}

#[tokio::test]
async fn each_request_begins_with_the_one_before_it() {
    let mut stage = Stage::new(
        r#"
steps:
  - calls: [{tool: terminal, with: {command: "ls"}}, {tool: terminal, with: {command: "cat a.py"}}]
  - calls: [{tool: note, with: {action: create, title: T, content: c}}]
  - says: first answer
  - sees: first answer
    calls: [{tool: terminal, with: {command: "wc -l a.py"}}]
  - says: second answer
"#,
    );
    stage.ask("one").await.unwrap();
    stage.answer("two").await;
    let requests = stage.requests();
    assert_eq!(requests.len(), 5);
    for pair in requests.windows(2) {
        assert_eq!(pair[1].messages[..pair[0].messages.len()], pair[0].messages[..]);
        assert_eq!(pair[1].tools, pair[0].tools);
    }
    let tokens = stage.maintainer.report().tokens;
    assert!(tokens.cached_share > 0.6, "{tokens:?}");
}

#[tokio::test]
async fn an_interruption_keeps_the_partial_text_and_ends_the_turn() {
    let mut stage = Stage::new("steps:\n  - {says: 'Half of an', fails: hangs}\n");
    let cancel = stage.cancel.clone();
    let seen = stage.seen.clone();
    let watch = async move {
        loop {
            let shown = |event: &Event| matches!(&event.kind, EventKind::ModelDelta { text } if text == "an");
            if seen.0.lock().unwrap().iter().any(shown) {
                break cancel.cancel();
            }
            tokio::task::yield_now().await;
        }
    };
    let (outcome, ()) = tokio::join!(stage.ask("x"), watch);
    let outcome = outcome.unwrap();
    assert_eq!((outcome.reason, outcome.answer.as_str()), (StopReason::Cancelled, "Half of an"));
}

#[tokio::test(start_paused = true)]
async fn text_that_came_before_the_time_limit_is_kept() {
    let mut stage = Stage::new("steps:\n  - {says: 'Half of an answer', fails: hangs}\n");
    let outcome = stage.maintainer.run(Request::plan("")).await.unwrap();
    assert_eq!(outcome.reason, StopReason::TimeLimit);
    assert!(outcome.answer.contains("900 seconds"), "{}", outcome.answer);
    assert!(outcome.answer.ends_with("Half of an answer"), "{}", outcome.answer);
}

#[tokio::test]
async fn cited_places_are_looked_up() {
    let mut stage = Stage::new("steps:\n  - says: see a.py:2, a.py:9 and nosuch.py:1\n");
    stage.answer("x").await;
    let checked = stage.events().into_iter().find_map(|kind| match kind {
        EventKind::AnswerChecked { claims, wrong } => Some((claims, wrong)),
        _ => None,
    });
    let (claims, wrong) = checked.unwrap();
    assert_eq!(claims, 3);
    assert_eq!(wrong, ["`a.py:9`: the file has 3 lines", "`nosuch.py:1`: there is no such file"]);
    assert_eq!(stage.maintainer.report().activity.claims_wrong, 2);
}

#[tokio::test]
async fn a_long_result_is_cut_for_the_model_and_kept_whole() {
    let small = |options: &mut MaintainerOptions| options.limits.tool_output_tokens = 200;
    let script = r#"
steps:
  - calls: [{tool: terminal, with: {command: "seq 1 5000"}}]
  - sees: .groundskeeper/sessions/session_20250119_153000/outputs/call_1.txt
    calls: [{tool: terminal, with: {command: "sed -n '2500,2502p' .groundskeeper/sessions/session_20250119_153000/outputs/call_1.txt"}}]
  - sees: "2501"
    says: done
"#;
    let mut stage = Stage::with(script, small);
    stage.answer("x").await;
    let finished = stage.events().into_iter().find_map(|kind| match kind {
        EventKind::ToolFinished { completeness, for_model, .. } => Some((completeness, for_model)),
        _ => None,
    });
    let (completeness, for_model) = finished.unwrap();
    assert_eq!(completeness, Completeness::Cut);
    assert!(for_model.starts_with("1\n2\n") && for_model.trim_end().ends_with("5000"));
    assert_eq!(stage.results()[1].1, "2500\n2501\n2502\n");
}

#[tokio::test]
async fn a_prompt_that_does_not_fit_is_shortened_and_sent_again() {
    let script = r#"
steps:
  - calls: [{tool: terminal, with: {command: "seq 1 3000"}}]
  - calls: [{tool: terminal, with: {command: "seq 2 3000"}}]
  - fails: overflow
  - sees: "[cleared: terminal `seq 1 3000`: exit 0, 3000 lines; the whole of it: .groundskeeper/sessions/session_20250119_153000/outputs/call_1.txt]"
    says: done
"#;
    let mut stage = Stage::new(script);
    stage.answer("x").await;
    assert!(stage.warnings()[0].contains("did not fit"), "{:?}", stage.warnings());
    let twice = "steps:\n  - fails: overflow\n  - fails: overflow\n  - says: That is all.\n";
    let outcome = Stage::new(twice).answer("x").await;
    assert_eq!((outcome.reason, outcome.answer.as_str()), (StopReason::WindowFull, "That is all."));
}

#[tokio::test]
async fn the_language_of_the_question_is_that_of_the_prompts() {
    let mut stage = Stage::new("steps:\n  - {sees: ['代码库', 'Language: zh'], says: 好}\n");
    stage.answer("这个项目有几个文件？").await;
    let english = |options: &mut MaintainerOptions| options.language = Some(Language::En);
    let mut stage = Stage::with("steps:\n  - {sees: 'Language: en', says: ok}\n", english);
    stage.answer("这个项目有几个文件？").await;
}

#[tokio::test]
async fn blockers_of_one_session_are_shown_in_the_next() {
    let mut stage = Stage::new("steps:\n  - {sees: 'werkzeug 3 is needed', says: still blocked}\n");
    let kind = groundskeeper::notes::NoteKind::Blocker;
    let id =
        stage.maintainer.create_note("Conflict", "werkzeug 3 is needed", kind, vec![]).unwrap();
    assert_eq!(id, "note_20250119_153000_0");
    let outcome = stage.maintainer.run(Request::plan("")).await.unwrap();
    stage.model.finish().unwrap();
    assert_eq!(outcome.stats.commands_executed, 0, "a plan needs no command");
}

#[tokio::test]
async fn a_state_folder_that_cannot_be_written_is_told_once_and_the_turn_goes_on() {
    let script = "steps:\n  - {says: the answer}\n";
    let mut stage = Stage::with(script, |options| {
        // A file stands where the folder would be.
        write(&options.workspace.root().join(".groundskeeper"), b"");
    });
    assert_eq!(stage.answer("x").await.answer, "the answer");
    assert!(stage.maintainer.unsaved().is_some());
    let told =
        stage.warnings().iter().filter(|warning| warning.contains("cannot be saved")).count();
    assert_eq!(told, 1);
}

/// A source that never offers anything.
struct Stuck;

impl ContextSource for Stuck {
    fn name(&self) -> &'static str {
        "stuck"
    }

    fn gather<'a>(
        &'a self,
        _query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_that_takes_too_long_is_told_and_left_out() {
    let mut stage = Stage::new("steps:\n  - says: the answer\n");
    stage.maintainer.add_source(Stuck);
    // A plan runs no command, so that only the source is waited for.
    let outcome = stage.maintainer.run(Request::plan("")).await.unwrap();
    assert_eq!(outcome.answer, "the answer");
    assert_eq!(stage.warnings(), ["stuck: nothing came within 5 seconds"]);
}

#[test]
fn a_wrong_folder_is_an_error_and_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let inner = ScriptedModel::from_yaml("steps: []", "test.yaml").unwrap();
    let model = Arc::new(Watched::new(inner));
    let missing = folder.path().join("nosuch");
    let error = CodebaseMaintainer::new("demo", &missing, model).err().unwrap();
    assert!(error.to_string().starts_with("no such folder"), "{error}");
    assert!(!missing.exists());
}

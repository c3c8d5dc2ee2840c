use futures::FutureExt;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use super::*;
use crate::protocol::{Message, ToolSpec};

/// Answers commands by the first part of their line, and notes by action.
struct World<'a> {
    commands: &'a [(&'a str, &'a str)],
    notes: &'a [(&'a str, &'a str)],
}

fn request(mode: &str, rest: &str) -> ChatRequest {
    let content = format!(
        "[Task]\nLook: the whole repository\n\n[State]\nMode: {mode}\n  Project: shop\n  {rest}"
    );
    let tools = ["note", "terminal"].map(|name| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: json!({}),
    });
    ChatRequest { messages: vec![Message::User { content }], tools: tools.to_vec() }
}

impl World<'_> {
    fn answer(&self, call: &ToolCall) -> String {
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        let (table, key) = match call.name.as_str() {
            "terminal" => (self.commands, arguments["command"].as_str().unwrap()),
            _ => (self.notes, arguments["action"].as_str().unwrap()),
        };
        let row = table.iter().find(|(start, _)| key.starts_with(start));
        row.map_or_else(|| "[no output]".to_owned(), |(_, text)| (*text).to_owned())
    }

    /// Plays a turn to its end and returns the answer and every call.
    #[track_caller]
    fn play(&self, mut request: ChatRequest) -> (String, Vec<ToolCall>) {
        let mut all = Vec::new();
        for _ in 0..10 {
            let model = OfflineModel::new();
            let reply = model.chat(&request, &|_| {}).now_or_never().unwrap().unwrap();
            if reply.calls.is_empty() {
                return (reply.text, all);
            }
            let results = reply.calls.iter().map(|call| Message::Tool {
                call_id: call.id.clone(),
                name: call.name.clone(),
                content: self.answer(call),
            });
            let results: Vec<Message> = results.collect();
            all.extend(reply.calls.clone());
            let (content, calls) = (reply.text, reply.calls);
            request.messages.push(Message::Assistant { content, reasoning: None, calls });
            request.messages.extend(results);
        }
        panic!("no answer after ten steps");
    }
}

const TRACKED: [(&str, &str); 3] = [
    ("git rev-parse", "true\n"),
    ("git ls-files -- .groundskeeper", "0\n"),
    ("git ls-files | wc -l", "3\n"),
];

#[test]
fn no_call_is_made_twice_and_ids_are_unique() {
    let world = World { commands: &TRACKED, notes: &[("create", "note_20250119_153000_0")] };
    let (_, calls) = world.play(request("analyze", "Language: en"));
    let mut ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    let mut lines: Vec<&str> = calls.iter().map(|call| call.arguments.as_str()).collect();
    let count = calls.len();
    ids.sort_unstable();
    ids.dedup();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!((ids.len(), lines.len()), (count, count));
}

#[test]
fn a_session_that_stands_elsewhere_goes_back_first() {
    let world = World { commands: &TRACKED, notes: &[] };
    let (_, calls) = world.play(request("explore", "Terminal directory: src"));
    assert_eq!(calls[0].arguments, r#"{"command":"cd ~"}"#);
    let (_, calls) = world.play(request("explore", "Terminal directory: ."));
    assert!(!calls.iter().any(|call| call.arguments.contains("cd ~")));
}

#[test]
fn every_line_is_short_enough_for_the_terminal() {
    let world = World { commands: &TRACKED, notes: &[] };
    for mode in ["explore", "analyze"] {
        let (_, calls) = world.play(request(mode, "Language: en"));
        for call in calls {
            assert!(call.arguments.len() < 7_500, "{}", call.arguments);
        }
    }
}

#[test]
fn an_empty_folder_has_a_sentence() {
    let world = World { commands: &[("find", "0\n"), ("git ls-files", "0\n")], notes: &[] };
    let (english, calls) = world.play(request("explore", "Language: en"));
    assert!(english.starts_with("There are no files in this folder."), "{english}");
    assert!(calls.iter().all(|call| call.name == "terminal"), "there is nothing to record");
    let (chinese, _) = world.play(request("analyze", "Language: zh"));
    assert!(chinese.starts_with("这个目录中没有文件。"), "{chinese}");
}

#[test]
fn refused_commands_are_named_and_the_rest_is_answered() {
    let mut commands = TRACKED.to_vec();
    commands.push(("git ", "Refused, and nothing was run: `git` is not allowed."));
    let world = World { commands: &commands, notes: &[] };
    let (answer, _) = world.play(request("analyze", "Language: en"));
    assert!(answer.starts_with("`shop` has 3 files under Git"), "{answer}");
    assert!(answer.contains("## Not looked at"), "{answer}");
    assert!(answer.contains("- TODO and FIXME could not be counted"), "{answer}");
}

#[test]
fn at_the_limit_the_answer_holds_what_is_there() {
    let mut request = request("explore", "Language: en");
    let world = World { commands: &TRACKED, notes: &[] };
    let model = OfflineModel::new();
    let reply = model.chat(&request, &|_| {}).now_or_never().unwrap().unwrap();
    let results: Vec<Message> = reply
        .calls
        .iter()
        .map(|call| Message::Tool {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: world.answer(call),
        })
        .collect();
    let calls = reply.calls;
    request.messages.push(Message::Assistant { content: String::new(), reasoning: None, calls });
    request.messages.extend(results);
    request.messages.push(Message::User { content: "The limit is reached.".to_owned() });
    request.tools.clear();
    let (answer, calls) = world.play(request);
    assert!(answer.starts_with("`shop` has 3 files under Git"), "{answer}");
    assert!(answer.contains("could not be counted"), "{answer}");
    assert_eq!(calls, []);
}

#[test]
fn a_plan_comes_from_notes_alone() {
    let notes = [
        (
            "list",
            "1 of 1 notes\nnote_20250119_153000_0 (blocker, open) “Cycle in imports” [shop] 2025-01-19T15:30:00",
        ),
        (
            "read",
            "note_20250119_153000_0 (blocker, open) “Cycle in imports”\n---\n`src/a.py:3` imports `src/b.py:1`",
        ),
        ("create", "created note_20250120_090000_0"),
    ];
    let (answer, calls) =
        World { commands: &[], notes: &notes }.play(request("plan", "Language: en"));
    assert!(calls.iter().all(|call| call.name == "note"), "{calls:?}");
    assert!(answer.contains("Cycle in imports"), "{answer}");
    assert!(answer.contains("src/a.py:3"), "{answer}");
    assert!(answer.contains("`note_20250120_090000_0` (task_state, new)"), "{answer}");
}

#[test]
fn notes_that_only_have_words_of_a_question_are_no_answer_to_it() {
    let notes = [
        ("search", "1 of 1 notes\nnote_20250119_153000_7 (action, open) “Add a licence” [x] 2025"),
        ("list", "1 of 1 notes\nnote_20250119_153000_8 (blocker, open) “It breaks” [x] 2025"),
    ];
    let ask = |question: &str| {
        let mut request = request("auto", "Language: en");
        request.messages = vec![Message::User {
            content: format!(
                "[Task]\n{question}\n\n[State]\nMode: auto\nProject: shop\nLanguage: en"
            ),
        }];
        World { commands: &TRACKED, notes: &notes }.play(request).0
    };
    let answer = ask("where is the licence?");
    assert!(answer.starts_with("These notes have words of the question; whether"), "{answer}");
    for question in ["what should I do next?", "接下来做什么？", "what is blocking us?"] {
        let answer = ask(question);
        assert!(answer.starts_with("These are the open blockers and actions"), "{answer}");
        assert!(answer.contains("It breaks") && !answer.contains("git "), "{answer}");
    }
}

#[test]
fn a_plan_without_notes_says_so() {
    let world = World { commands: &[], notes: &[("list", "0 notes.")] };
    let (answer, _) = world.play(request("plan", "Language: zh"));
    assert!(answer.starts_with("笔记中没有未解决的阻塞"), "{answer}");
}

#[test]
fn a_finding_that_has_its_note_is_not_written_again() {
    let notes = [
        (
            "list",
            "1 of 1 notes\nnote_20250119_153000_7 (conclusion, open) “Structure of shop” [shop, offline, structure] 2025-01-19T15:30:00",
        ),
        ("read", "something older"),
        ("update", "updated note_20250119_153000_7"),
        ("create", "created note_20250120_090000_0"),
    ];
    let (answer, _) =
        World { commands: &TRACKED, notes: &notes }.play(request("explore", "Language: en"));
    assert!(answer.contains("`note_20250119_153000_7` (conclusion, updated)"), "{answer}");
}

#[test]
fn asked_again_it_does_not_repeat_itself() {
    let mut request = request("explore", "Language: en");
    let answer = "Answer.".to_owned();
    request.messages.push(Message::Assistant {
        content: answer,
        reasoning: None,
        calls: Vec::new(),
    });
    request.messages.push(Message::User { content: "Record it.".to_owned() });
    let (answer, calls) = World { commands: &[], notes: &[] }.play(request);
    assert!(answer.starts_with("There is nothing to record"), "{answer}");
    assert_eq!(calls, []);
}

#[test]
fn every_answer_says_that_it_is_no_language_model() {
    let world = World { commands: &TRACKED, notes: &[] };
    for mode in ["explore", "analyze", "plan", "auto"] {
        let (english, _) = world.play(request(mode, "Language: en"));
        assert!(english.contains("not a language model"), "{mode}: {english}");
        let (chinese, _) = world.play(request(mode, "Language: zh"));
        assert!(chinese.contains("并不是语言模型"), "{mode}: {chinese}");
    }
}

const ONE: &str = "1 of 1 notes\nnote_20250119_153000_7 (action, STATUS) “Add what a project should have” [shop, offline, project] 2025-01-19T15:30:00";

/// Explores a tree that lacks nothing, with one note of an earlier day.
fn explore_with(status: &str) -> (String, Vec<ToolCall>) {
    let list = ONE.replace("STATUS", status);
    let top = "README.md\nLICENSE\n.gitignore\n.ci/run\n";
    let commands = [
        TRACKED[0],
        TRACKED[1],
        TRACKED[2],
        ("git ls-files -z | tr '\\n\\000' '?\\n' | grep -i -E '^(readme", top),
    ];
    let notes = [
        ("list", list.as_str()),
        ("read", "note_20250119_153000_7 (x, y) “z”\n---\nold"),
        ("update", "updated note note_20250119_153000_7"),
        ("create", "created note note_20250120_090000_0"),
    ];
    World { commands: &commands, notes: &notes }.play(request("explore", "Language: en"))
}

#[test]
fn what_is_found_no_more_is_closed_and_only_once() {
    let (answer, calls) = explore_with("open");
    assert!(
        answer.contains("`note_20250119_153000_7` (action, closed, found no more)"),
        "{answer}"
    );
    let update = calls.iter().find(|call| call.arguments.contains("\"update\"")).unwrap();
    assert!(update.arguments.contains("\"status\":\"done\""), "{}", update.arguments);
    for status in ["done", "dropped"] {
        let (_, calls) = explore_with(status);
        assert!(!calls.iter().any(|call| call.arguments.contains("\"update\"")), "{status}");
    }
}

#[test]
fn what_a_person_dropped_stays_dropped() {
    let list = ONE.replace("STATUS", "dropped");
    let notes = [("list", list.as_str()), ("create", "created note note_20250120_090000_0")];
    let (answer, calls) =
        World { commands: &TRACKED, notes: &notes }.play(request("explore", "Language: en"));
    assert!(answer.contains("`note_20250119_153000_7` (action, dropped by a person)"), "{answer}");
    assert!(!calls.iter().any(|call| call.arguments.contains("\"update\"")));
}

#[test]
fn what_is_done_and_found_still_is_opened_again_and_told() {
    let list = ONE.replace("STATUS", "done");
    let notes = [("list", list.as_str()), ("update", "updated note note_20250119_153000_7")];
    let (answer, calls) =
        World { commands: &TRACKED, notes: &notes }.play(request("explore", "Language: en"));
    let told = "`note_20250119_153000_7` (action, was done, open again because it is still found)";
    assert!(answer.contains(told) && answer.contains("--status dropped"), "{answer}");
    let update = calls.iter().find(|call| call.arguments.contains("\"update\"")).unwrap();
    assert!(update.arguments.contains("\"status\":\"open\""), "{}", update.arguments);
}

#[test]
fn a_plan_puts_what_waits_behind_what_it_waits_for() {
    let list = "3 of 3 notes\n\
        note_20250119_153000_0 (action, open) “Split it” [x] 2025-01-19T15:30:00\n\
        note_20250119_153000_1 (action, doing) “Go on” [x] 2025-01-19T15:30:00\n\
        note_20250119_153000_2 (action, done) “Over” [x] 2025-01-19T15:30:00";
    let notes = [
        ("list", list),
        (
            "read",
            "note_20250119_153000_0 (action, open) “Split it”\ndepends on: note_20250119_153000_1\n---\n",
        ),
        ("create", "created note note_20250120_090000_0"),
    ];
    let (answer, _) = World { commands: &[], notes: &notes }.play(request("plan", "Language: en"));
    assert!(!answer.contains("Over"), "{answer}");
    let place = |text: &str| answer.find(text).unwrap_or_else(|| panic!("{text}: {answer}"));
    assert!(place("## Later: what waits for others") < place("Split it"));
}

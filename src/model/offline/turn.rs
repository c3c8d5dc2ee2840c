//! What a request says: the task, the mode, and what came of the calls so far.
//!
//! The rules keep no state of their own: everything is read from the transcript each time.

use super::super::ChatRequest;
use super::language::Language;
use crate::protocol::{Message, ToolCall};

/// One turn, as far as it has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) language: Language,
    pub(super) mode: Mode,
    pub(super) project: String,
    /// What the request is about, when it names a path or a topic.
    pub(super) target: Option<String>,
    /// Whether the terminal stands elsewhere than at the root of the workspace.
    pub(super) is_elsewhere: bool,
    /// The request, without what the mode's prompt adds.
    pub(super) question: String,
    /// The answered calls: tool, arguments, result.
    pub(super) answered: Vec<Answered>,
    /// The tools that can be called; none when the turn must end.
    pub(super) tools: Vec<String>,
    /// True when the turn has its answer and the loop asks for something more.
    pub(super) asked_again: bool,
}

/// A call that has its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) tool: String,
    pub(super) arguments: String,
    pub(super) result: String,
}

/// What kind of work is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Show what is there.
    Explore,
    /// Show what is wrong.
    Analyze,
    /// Say what comes next.
    Plan,
    /// Answer a question.
    Ask,
}

impl Turn {
    /// Reads a request.
    pub(super) fn read(request: &ChatRequest) -> Self {
        let messages = request.messages.as_slice();
        let start = start_of_turn(messages);
        let opening = messages.get(start).map(Message::text).unwrap_or_default();
        let rest = messages.get(start + 1..).unwrap_or_default();
        let task = section(opening, "[Task]").unwrap_or_else(|| opening.to_owned());
        let state = section(opening, "[State]").unwrap_or_default();
        let state = state_lines(&state);
        let mode = match value(&state, "Mode").as_deref() {
            Some("explore") => Mode::Explore,
            Some("analyze") => Mode::Analyze,
            Some("plan") => Mode::Plan,
            Some(_) | None => Mode::Ask,
        };
        let target = value(&state, "Target").or_else(|| match mode {
            Mode::Explore | Mode::Analyze => topic(&task),
            Mode::Plan | Mode::Ask => None,
        });
        let question = target.clone().unwrap_or_else(|| first_paragraph(&task));
        let language = match value(&state, "Language").as_deref() {
            Some("zh") => Language::Zh,
            Some("en") => Language::En,
            Some(_) | None => Language::guess(&question),
        };
        Self {
            language,
            mode,
            project: value(&state, "Project").unwrap_or_else(|| project(messages)),
            target,
            is_elsewhere: value(&state, "Terminal directory").is_some_and(|path| path != "."),
            question,
            answered: answered(rest),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            asked_again: asked_again(rest),
        }
    }
}

/// Returns where the turn begins: at the newest message that holds a task. What the loop says in
/// between (a reminder, a limit) is a user's message too, and has no sections.
fn start_of_turn(messages: &[Message]) -> usize {
    let users = || {
        let users = messages.iter().enumerate();
        users.filter(|(_, message)| matches!(message, Message::User { .. }))
    };
    users()
        .rfind(|(_, message)| message.text().lines().any(|line| line == "[Task]"))
        .or_else(|| users().next())
        .map_or(messages.len(), |(index, _)| index)
}

/// How the result of a call begins that was cut off: it is made again.
const INTERRUPTED: &str = "The turn was interrupted before this call ended";

/// How the terminal's remark begins below what a command had printed until it was cut off.
const CUT_OFF: &str = "[the command was interrupted";

/// Returns whether a result is that of a call which is made again. What was cut off twice is not,
/// so that no file whose last line looks like the remark keeps a turn going.
fn is_cut_off(call: &ToolCall, result: &str, calls: &[&ToolCall]) -> bool {
    let is_same = |other: &&&ToolCall| {
        (other.name.as_str(), other.arguments.as_str())
            == (call.name.as_str(), call.arguments.as_str())
    };
    let is_remark = |line: &str| line.starts_with(CUT_OFF);
    result.starts_with(INTERRUPTED)
        || (result.lines().rev().take(3).any(is_remark) && calls.iter().filter(is_same).count() < 2)
}

fn answered(messages: &[Message]) -> Vec<Answered> {
    let calls = messages.iter().flat_map(Message::calls);
    let result = |id: &str| {
        messages.iter().find_map(|message| match message {
            Message::Tool { call_id, content, .. } if call_id == id => Some(content.clone()),
            Message::System { .. }
            | Message::User { .. }
            | Message::Assistant { .. }
            | Message::Tool { .. } => None,
        })
    };
    let calls: Vec<&ToolCall> = calls.collect();
    // The newest first: what was cut off has its answer there.
    calls
        .iter()
        .rev()
        .filter_map(|call| {
            let result = result(&call.id).filter(|result| !is_cut_off(call, result, &calls))?;
            let (tool, arguments) = (call.name.clone(), call.arguments.clone());
            Some(Answered { tool, arguments, result })
        })
        .collect()
}

fn asked_again(messages: &[Message]) -> bool {
    let answer = messages.iter().any(|message| match message {
        Message::Assistant { content, calls, .. } => calls.is_empty() && !content.is_empty(),
        Message::System { .. } | Message::User { .. } | Message::Tool { .. } => false,
    });
    answer && matches!(messages.last(), Some(Message::User { .. }))
}

/// Returns the lines under a header, up to the next header.
fn section(text: &str, header: &str) -> Option<String> {
    const HEADERS: [&str; 6] =
        ["[Role & Policies]", "[Task]", "[State]", "[Evidence]", "[Context]", "[Output]"];
    let mut lines = text.lines().skip_while(|line| *line != header);
    lines.next()?;
    let body: Vec<&str> = lines.take_while(|line| !HEADERS.contains(line)).collect();
    Some(body.join("\n").trim().to_owned())
}

/// Returns the lines that the loop itself wrote: the first one is not indented, the others are.
/// What follows (open blockers, task states) comes from notes and may say anything.
fn state_lines(state: &str) -> Vec<&str> {
    let mut lines = state.lines();
    let first = lines.by_ref().find(|line| line.starts_with("Mode: "));
    let rest = lines
        .take_while(|line| line.starts_with(' ') || line.contains(": ") && !line.starts_with('-'));
    first.into_iter().chain(rest.map(str::trim_start)).collect()
}

/// Returns what a line `name: value` says.
fn value(lines: &[&str], name: &str) -> Option<String> {
    lines.iter().find_map(|line| {
        let value = line.strip_prefix(name)?.strip_prefix(':')?.trim();
        (!value.is_empty()).then(|| value.to_owned())
    })
}

/// Returns what a mode's prompt says that the turn is about, where that is not everything: the
/// text behind the first colon.
fn topic(task: &str) -> Option<String> {
    const EVERYTHING: [&str; 2] = ["the whole repository", "整个代码库"];
    let paragraph = first_paragraph(task);
    let english = paragraph.split_once(": ");
    let (_, topic) = english.or_else(|| paragraph.split_once('：'))?;
    let topic = topic.trim();
    (!topic.is_empty() && !EVERYTHING.contains(&topic)).then(|| topic.to_owned())
}

fn first_paragraph(text: &str) -> String {
    text.split("\n\n").next().unwrap_or_default().trim().to_owned()
}

/// Returns the project's name: the first word in backticks of the system message.
fn project(messages: &[Message]) -> String {
    let system = messages.iter().find(|message| matches!(message, Message::System { .. }));
    let name = system.and_then(|message| message.text().split('`').nth(1));
    name.filter(|name| !name.is_empty()).unwrap_or("workspace").to_owned()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::protocol::ToolSpec;

    fn user(content: &str) -> Message {
        Message::User { content: content.to_owned() }
    }

    fn read(messages: Vec<Message>) -> Turn {
        let tool = ToolSpec {
            name: "terminal".to_owned(),
            description: String::new(),
            parameters: json!({}),
        };
        Turn::read(&ChatRequest { messages, tools: vec![tool] })
    }

    #[test]
    fn a_context_tells_mode_language_project_and_target() {
        let turn = read(vec![user(
            "[Task]\nExplore it. What to explore: src\n\nFind out.\n\n[State]\n- blocker n1: x\nMode: explore\n  \
             Target: src/订单\n  Language: zh\n  Project: shop\n- blocker n2 (2025-01-19): y\n  Language: en\n\n[Evidence]\nMode: plan",
        )]);
        assert_eq!(turn.mode, Mode::Explore);
        assert_eq!(turn.language, Language::Zh);
        assert_eq!(turn.project, "shop");
        assert_eq!(turn.target.as_deref(), Some("src/订单"));
    }

    #[test]
    fn a_topic_is_what_the_prompt_was_filled_with() {
        let topic = |task: &str| {
            read(vec![user(&format!("[Task]\n{task}\n\nMore: x\n\n[State]\nMode: explore"))]).target
        };
        assert_eq!(topic("Explore it. What to explore: payments"), Some("payments".to_owned()));
        assert_eq!(topic("探索对象：支付"), Some("支付".to_owned()));
        assert_eq!(topic("Explore it. What to explore: the whole repository"), None);
        assert_eq!(topic("探索对象：整个代码库"), None);
    }

    #[test]
    fn a_request_without_sections_is_a_question() {
        let turn = read(vec![user("订单服务在哪里？")]);
        assert_eq!((turn.mode, turn.language), (Mode::Ask, Language::Zh));
        assert_eq!(turn.question, "订单服务在哪里？");
        assert_eq!(turn.project, "workspace");
    }

    #[test]
    fn only_the_newest_turn_counts_and_its_calls_have_results() {
        let call = |id: &str| ToolCall::new(id, "terminal", &json!({"command": id}));
        let assistant = |content: &str, calls: Vec<ToolCall>| Message::Assistant {
            content: content.to_owned(),
            reasoning: None,
            calls,
        };
        let result = |id: &str| Message::Tool {
            call_id: id.to_owned(),
            name: "terminal".to_owned(),
            content: format!("result of {id}"),
        };
        let mut messages = vec![
            Message::System { content: "You maintain `shop`.".to_owned() },
            user("[Task]\nfirst"),
            assistant("", vec![call("a")]),
            result("a"),
            assistant("Done.", Vec::new()),
            user("[Task]\nsecond"),
            assistant("", vec![call("b"), call("c")]),
            result("b"),
            user("Reminder: 50 %"),
        ];
        messages.push(assistant("", vec![call("d")]));
        messages.push(Message::Tool {
            call_id: "d".to_owned(),
            name: "terminal".to_owned(),
            content: format!("{INTERRUPTED}. Call again."),
        });
        let turn = read(messages.clone());
        assert_eq!((turn.question.as_str(), turn.project.as_str()), ("second", "shop"));
        let results: Vec<&str> = turn.answered.iter().map(|call| call.result.as_str()).collect();
        assert_eq!(results, ["result of b"]);
        // What a command printed until Ctrl-C is no answer, unless it is all that there will be.
        let cut_off = "1 a\n\n[the command was interrupted; what it had printed is above]";
        let mut again = messages.clone();
        for id in ["e", "f"] {
            again
                .push(assistant("", vec![ToolCall::new(id, "terminal", &json!({"command": "e"}))]));
            again.push(Message::Tool {
                call_id: id.to_owned(),
                name: "terminal".to_owned(),
                content: cut_off.to_owned(),
            });
            let known = read(again.clone()).answered;
            let is_known = known.iter().any(|call| call.result == cut_off);
            assert_eq!(is_known, id == "f");
        }
        assert!(!turn.asked_again, "a reminder is no second question");
        messages.push(assistant("Answer.", Vec::new()));
        messages.push(user("Record it."));
        assert!(read(messages).asked_again);
    }
}

//! A session's dialog as Markdown: what was asked, shown, called and answered, word for word.

use crate::protocol::{Event, EventKind, ToolCall};

/// Returns the dialog of a session.
pub(super) fn markdown(id: &str, events: &[Event]) -> String {
    let mut parts = vec![format!("# {id}\n")];
    parts.extend(events.iter().map(told));
    parts.concat()
}

/// Returns an event's part of the dialog; empty for those that say nothing.
fn told(event: &Event) -> String {
    match &event.kind {
        EventKind::TurnStarted { turn, mode, question, .. } => {
            format!("\n## Turn {turn}: {mode}\n\n{question}\n")
        }
        EventKind::ContextBuilt { text, .. } => section("Context", text),
        EventKind::LoopSaid { text } => section("The loop", text),
        EventKind::ModelReplied { text, calls, .. } => {
            let mut parts = Vec::new();
            if !text.is_empty() {
                parts.push(format!("\n### Model\n\n{}\n", text.trim_end()));
            }
            parts.extend(calls.iter().map(called));
            parts.concat()
        }
        EventKind::ToolFinished { id, name, for_model, .. } => {
            section(&format!("Result of {name} ({id})"), for_model)
        }
        EventKind::ContextCompacted { digest: Some(digest), replaced, .. } => {
            section(&format!("Digest in the place of {replaced} messages"), digest)
        }
        EventKind::Warning { message } => format!("\n> warning: {message}\n"),
        EventKind::SessionStarted { .. }
        | EventKind::CommandFinished(_)
        | EventKind::ContextCompacted { .. }
        | EventKind::ModelAsked { .. }
        | EventKind::ModelDelta { .. }
        | EventKind::ModelRestarted
        | EventKind::ModelWaiting { .. }
        | EventKind::ToolStarted { .. }
        | EventKind::NoteChanged(_)
        | EventKind::AnswerChecked { .. }
        | EventKind::TurnFinished { .. } => String::new(),
    }
}

fn called(call: &ToolCall) -> String {
    format!("\n### Call of {} ({})\n\n{}", call.name, call.id, fenced(&call.arguments))
}

fn section(heading: &str, content: &str) -> String {
    format!("\n### {heading}\n\n{}", fenced(content))
}

/// Puts a text into a fence that is longer than any inside it.
fn fenced(content: &str) -> String {
    let longest = content.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}\n", content.trim_end())
}

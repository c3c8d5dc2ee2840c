//! What stands in the place of older rounds: a digest that is built from the journal and the notes,
//! without a model. The task, open blockers, decisions and failed attempts stand in it word for
//! word; what there is too much of is counted.

use super::room::one_line;
use super::turn::Turn;
use super::{AgentError, CodebaseMaintainer};
use crate::context::quote_structure as quote;
use crate::notes::{Note, Status};
use crate::prompts::Language;
use crate::protocol::{CommandFacts, Event, EventKind, NoteAction, NoteChange, ToolCall};
use crate::support::text::{first_line, floor_char_boundary};

/// How much a digest tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Detail {
    /// The newest of each list that are told; those before them are counted.
    rows: usize,
    /// The bytes of a note's text that are told.
    note: usize,
    /// The bytes of a reason why something failed that are told.
    reason: usize,
}

/// What is told where there is room for it, and what is told where there is not.
pub(super) const DETAILS: [Detail; 2] =
    [Detail { rows: 40, note: 2000, reason: 500 }, Detail { rows: 12, note: 300, reason: 200 }];

impl CodebaseMaintainer {
    /// Returns the digest of the session so far. A summary stands in the place of what was said on
    /// the way and of the commands.
    pub(super) fn digest(
        &self,
        turn: &Turn,
        detail: Detail,
        summary: Option<&str>,
    ) -> Result<String, AgentError> {
        let events = self.recorder.events();
        let blockers = self.notes.open_blockers().unwrap_or_default();
        let states = self.notes.current_task_states().unwrap_or_default();
        let shown = |id: &str| blockers.iter().chain(&states).any(|note| note.id.as_str() == id);
        let decisions = decisions(events).into_iter().filter(|change| !shown(&change.id));
        let decisions = decisions.map(|change| match self.notes.read(&change.id) {
            Ok(note) if change.action != NoteAction::Delete => match note.status {
                Status::Open | Status::Doing => noted(&note, detail),
                // What is settled is told so that it is not taken up again.
                settled => {
                    format!("- `{}` [{}, {settled}] {}", note.id, note.kind, quote(&note.title))
                }
            },
            _ => format!("- {} `{}`: {}", change.action, change.id, quote(&change.title)),
        });
        let list = |rows: Vec<String>| newest_rows(&rows, detail.rows, self.language());
        // The store tells the newest first.
        let told =
            |notes: &[Note]| list(notes.iter().rev().map(|note| noted(note, detail)).collect());
        let mut values = vec![
            ("task", self.task(&turn.request)?),
            ("earlier", list(earlier(&events[..turn.first_event.min(events.len())], detail))),
            ("blockers", told(&blockers)),
            ("states", told(&states)),
            ("decisions", list(decisions.collect())),
            ("failed", list(failed(events, detail))),
        ];
        let prompt = if let Some(summary) = summary {
            values.push(("summary", summary.to_owned()));
            "digest_with_summary"
        } else {
            values.push(("said", list(said(events))));
            values.push(("commands", list(commands(events))));
            "digest"
        };
        let values: Vec<(&str, &str)> =
            values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Ok(self.prompts()?.fill(prompt, &values)?)
    }
}

/// Tells a note: what it is called and what it says.
fn noted(note: &Note, detail: Detail) -> String {
    let text = quote(cut(note.content.trim(), detail.note));
    let rest = if note.content.trim().len() > detail.note { " …" } else { "" };
    format!("- `{}` [{}] {}\n{text}{rest}", note.id, note.kind, quote(&note.title))
}

/// Returns the last change of each note that the session touched, in order.
fn decisions(events: &[Event]) -> Vec<&NoteChange> {
    let mut changes: Vec<&NoteChange> = Vec::new();
    for event in events {
        if let EventKind::NoteChanged(change) = &event.kind {
            changes.retain(|before| before.id != change.id);
            changes.push(change);
        }
    }
    changes
}

/// Returns what was asked in earlier turns, and how the answer began.
fn earlier(events: &[Event], detail: Detail) -> Vec<String> {
    let mut rows = Vec::new();
    let mut asked = "";
    for event in events {
        match &event.kind {
            EventKind::TurnStarted { question, .. } => asked = question,
            EventKind::TurnFinished { answer, .. } => {
                let answer = quote(&first_line(answer, 300));
                rows.push(format!("- {}\n  → {answer}", cut(asked, detail.note)));
            }
            _ => {}
        }
    }
    rows
}

/// Returns the calls that were refused or failed, each with its reason and once.
fn failed(events: &[Event], detail: Detail) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    let mut made: &[ToolCall] = &[];
    for event in events {
        match &event.kind {
            EventKind::ModelReplied { calls, .. } => made = calls,
            EventKind::ToolFinished { id, name, for_model, failure: Some(_), .. } => {
                let call = made.iter().find(|call| call.id == *id);
                let call = call.map_or_else(|| name.clone(), one_line);
                let row = format!("- {call}: {}", quote(cut(for_model.trim(), detail.reason)));
                rows.retain(|before| *before != row);
                rows.push(row);
            }
            _ => {}
        }
    }
    rows
}

/// Returns what the model said beside its calls.
fn said(events: &[Event]) -> Vec<String> {
    let words = |event: &Event| match &event.kind {
        EventKind::ModelReplied { text, calls, .. } if !calls.is_empty() => {
            let line = first_line(text, 300);
            (!line.is_empty()).then(|| format!("- {}", quote(&line)))
        }
        _ => None,
    };
    events.iter().filter_map(words).collect()
}

/// Returns the command lines that ran, each once.
fn commands(events: &[Event]) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for event in events {
        let EventKind::CommandFinished(facts) = &event.kind else { continue };
        let CommandFacts { line, exit_code, refused: false, bytes, .. } = facts else { continue };
        let exit = exit_code.map_or_else(|| "ended".to_owned(), |code| format!("exit {code}"));
        let row = format!("- `{}`: {exit}, {bytes} bytes", first_line(line, 160));
        rows.retain(|before| *before != row);
        rows.push(row);
    }
    rows
}

/// Joins the newest rows of a list and tells how many stood before them.
fn newest_rows(rows: &[String], most: usize, language: Language) -> String {
    let before = rows.len().saturating_sub(most);
    let mut told: Vec<String> = match (rows.len(), language) {
        (0, Language::En) => vec!["- none".to_owned()],
        (0, Language::Zh) => vec!["- 无".to_owned()],
        (_, Language::En) if before > 0 => vec![format!("- {before} before these")],
        (_, Language::Zh) if before > 0 => vec![format!("- 之前还有 {before} 条")],
        _ => Vec::new(),
    };
    told.extend_from_slice(&rows[before..]);
    told.join("\n")
}

fn cut(text: &str, most: usize) -> &str {
    &text[..floor_char_boundary(text, most)]
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::protocol::{CommandOrigin, Completeness, ToolFailureKind, Usage};

    fn events(kinds: Vec<EventKind>) -> Vec<Event> {
        let at = chrono::DateTime::UNIX_EPOCH;
        (1..).zip(kinds).map(|(seq, kind)| Event { seq, at, kind }).collect()
    }

    fn change(action: NoteAction, id: &str) -> EventKind {
        let text = |text: &str| text.to_owned();
        EventKind::NoteChanged(NoteChange {
            action,
            id: text(id),
            title: text("T"),
            note_type: text("action"),
        })
    }

    fn command(line: &str, refused: bool) -> EventKind {
        EventKind::CommandFinished(CommandFacts {
            line: line.to_owned(),
            origin: CommandOrigin::Model,
            exit_code: (!refused).then_some(1),
            refused,
            timed_out: false,
            truncated: false,
            bytes: 12,
            duration_ms: 1,
            directory: None,
        })
    }

    #[test]
    fn a_failed_call_is_told_once_with_its_reason() {
        let refused = |id: &str| {
            let calls = vec![ToolCall::new(id, "terminal", &json!({"command": "rm x\nrm y"}))];
            let (text, usage) = ("I try this.\nAnd more.".to_owned(), Usage::default());
            let replied = EventKind::ModelReplied {
                text,
                reasoning: None,
                calls,
                cut: false,
                unverified: false,
                usage,
            };
            let finished = EventKind::ToolFinished {
                id: id.to_owned(),
                name: "terminal".to_owned(),
                for_model: "`rm` is not allowed.\n[Task]\n".to_owned(),
                summary: String::new(),
                completeness: Completeness::Whole,
                failure: Some(ToolFailureKind::Refused),
            };
            [replied, finished]
        };
        let events = events([refused("a"), refused("b")].concat());
        assert_eq!(
            failed(&events, DETAILS[0]),
            ["- terminal `rm x`: `rm` is not allowed.\n\\[Task]"]
        );
        assert_eq!(said(&events), ["- I try this.", "- I try this."]);
    }

    #[test]
    fn a_note_counts_with_its_last_change_and_a_command_once() {
        let events = events(vec![
            change(NoteAction::Create, "a"),
            change(NoteAction::Create, "b"),
            change(NoteAction::Update, "a"),
            command("ls", false),
            command("rm x", true),
            command("ls", false),
        ]);
        let told: Vec<_> =
            decisions(&events).iter().map(|c| (c.action.as_str(), c.id.as_str())).collect();
        assert_eq!(told, [("create", "b"), ("update", "a")]);
        assert_eq!(commands(&events), ["- `ls`: exit 1, 12 bytes"]);
    }

    #[test]
    fn long_lists_are_cut_at_the_old_end_and_counted() {
        let rows: Vec<String> = (0..42).map(|row| format!("- {row}")).collect();
        // The store tells the newest first.
        let told = newest_rows(&rows, 40, Language::En);
        assert!(told.starts_with("- 2 before these\n- 2\n- 3\n"), "{told}");
        assert_eq!(newest_rows(&[], 40, Language::Zh), "- 无");
        assert_eq!(cut("代码", 4), "代");
    }
}

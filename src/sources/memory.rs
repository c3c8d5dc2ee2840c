//! What earlier sessions answered, out of their journals (chapter 9.3.3: the memory's search).
//!
//! A remembered turn is its question and the beginning of its answer. How much a turn matters is
//! read off what came of it: an answer more than a limit, and one that led to notes most. The
//! session that asks is left out: its messages are in front of the model anyway.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::context::{ContextPacket, ContextSource, PacketKind, Query, SourceFailure};
use crate::journal::Sessions;
use crate::protocol::{Event, EventKind, StopReason};
use crate::support::bm25::{Document, Index};
use crate::support::text::cut;
use crate::support::tokens::TokenCounter;

/// Offers what earlier sessions answered.
#[derive(Debug, Clone)]
pub struct Memory {
    sessions: Sessions,
    counter: Arc<TokenCounter>,
}

impl Memory {
    /// Returns the memory of these sessions.
    pub fn new(sessions: Sessions, counter: Arc<TokenCounter>) -> Self {
        Self { sessions, counter }
    }

    fn packets(&self, query: &Query) -> Result<Vec<ContextPacket>, SourceFailure> {
        let turns = self.turns(query)?;
        let index = Index::new(
            turns.iter().map(|turn| Document { title: &turn.question, text: &turn.answer }),
        );
        let found = index.score(&query.text);
        let packets = found.into_iter().take(MOST_TURNS).filter_map(|(place, _)| {
            let turn = turns.get(place)?;
            let answer = cut(&turn.answer, ANSWER_TOKENS, &self.counter, "").to_string();
            let content = format!("Q: {}\nA: {answer}", turn.question.trim());
            Some(ContextPacket::new(PacketKind::Memory, &turn.session, content, turn.at))
        });
        Ok(packets.collect())
    }

    /// Returns the turns that matter of the newest sessions, as far as time allows.
    fn turns(&self, query: &Query) -> Result<Vec<Turn>, SourceFailure> {
        let started = Instant::now();
        let ids = self.sessions.own_ids().map_err(|error| SourceFailure {
            source_name: "memory",
            message: format!("the earlier sessions cannot be listed: {error}"),
        })?;
        let mut turns = Vec::new();
        for id in
            ids.iter().rev().filter(|id| Some(*id) != query.session.as_ref()).take(MOST_SESSIONS)
        {
            if started.elapsed() > LONGEST {
                break;
            }
            let journal = self.sessions.path(id).join(crate::journal::FILE_NAME);
            let is_readable = std::fs::metadata(journal)
                .is_ok_and(|file| file.is_file() && file.len() <= LARGEST_JOURNAL);
            // A journal that cannot be read hides no other.
            if let Some(reading) = is_readable.then(|| self.sessions.read(id).ok()).flatten() {
                turns.extend(fold(id, &reading.events));
            }
        }
        turns.retain(|turn| turn.importance >= LEAST_IMPORTANT);
        Ok(turns)
    }
}

impl ContextSource for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn gather<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        async move { self.packets(query) }.boxed()
    }
}

/// A turn of an earlier session.
#[derive(Debug, Clone, PartialEq)]
struct Turn {
    session: String,
    at: DateTime<Utc>,
    question: String,
    answer: String,
    importance: f64,
}

/// How many turns are offered; the chapter's limit.
const MOST_TURNS: usize = 10;

/// How important a turn is at least; the chapter's minimum.
const LEAST_IMPORTANT: f64 = 0.3;

/// How much of an answer is remembered.
const ANSWER_TOKENS: usize = 200;

/// Older sessions are not read.
const MOST_SESSIONS: usize = 40;

/// Larger journals are not read.
const LARGEST_JOURNAL: u64 = 4 * 1024 * 1024;

/// Reading ends after this time.
const LONGEST: Duration = Duration::from_secs(2);

/// Reads the finished turns off a session's events.
fn fold(session: &str, events: &[Event]) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut question = String::new();
    let mut notes = 0;
    for event in events {
        match &event.kind {
            EventKind::TurnStarted { question: asked, .. } => {
                question.clone_from(asked);
                notes = 0;
            }
            EventKind::NoteChanged(_) => notes += 1,
            EventKind::TurnFinished { reason, answer, .. } if !answer.trim().is_empty() => {
                turns.push(Turn {
                    session: session.to_owned(),
                    at: event.at,
                    question: std::mem::take(&mut question),
                    answer: answer.clone(),
                    importance: importance(*reason, notes),
                });
            }
            _ => {}
        }
    }
    turns
}

/// Returns how much a turn matters: the chapter's 0.6 for an answer, more when it left notes.
fn importance(reason: StopReason, notes: usize) -> f64 {
    let base = match reason {
        StopReason::Answered => 0.6,
        StopReason::StepLimit
        | StopReason::TokenLimit
        | StopReason::TimeLimit
        | StopReason::WindowFull => 0.4,
        StopReason::LoopDetected
        | StopReason::RefusalLimit
        | StopReason::UnusableReplies
        | StopReason::Cancelled
        | StopReason::Failed => 0.2,
    };
    if notes > 0 { base + 0.2 } else { base }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{counter, gather_for, now, query, tree};
    use super::*;

    fn finished(question: &str, answer: &str, reason: &str) -> String {
        let started = json!({"seq": 1, "at": now(), "type": "turn.started", "turn": 1, "mode": "auto",
            "question": question, "model": "m"});
        let stats = serde_json::to_value(crate::protocol::Stats::default()).unwrap();
        let finished = json!({"seq": 2, "at": now(), "type": "turn.finished", "turn": 1,
            "reason": reason, "answer": answer, "stats": stats});
        format!("{started}\n{finished}\n")
    }

    fn offered(files: &[(&str, &str)], query: &Query) -> Vec<ContextPacket> {
        let folder = tree(files);
        gather_for(&Memory::new(Sessions::at(folder.path()), counter()), query).unwrap()
    }

    const FIRST: &str = "session_20250119_153000/journal.jsonl";
    const SECOND: &str = "session_20250120_090000/journal.jsonl";

    #[test]
    fn an_earlier_answer_comes_back_with_its_question() {
        let journal = finished("why is checkout slow?", "Each order is loaded alone.", "answered");
        let packets = offered(&[(FIRST, &journal)], &query("slow checkout"));
        assert_eq!(packets[0].content, "Q: why is checkout slow?\nA: Each order is loaded alone.");
        assert_eq!(packets[0].source, "session_20250119_153000");
        assert_eq!(packets[0].timestamp, now());
        assert_eq!(offered(&[(FIRST, &journal)], &query("kubernetes")), []);
    }

    #[test]
    fn the_session_that_asks_is_left_out() {
        let journal = finished("slow?", "checkout", "answered");
        let mut query = query("checkout");
        query.session = Some("session_20250120_090000".to_owned());
        let packets = offered(&[(FIRST, &journal), (SECOND, &journal)], &query);
        assert_eq!(packets.len(), 1);
        assert_eq!(packets[0].source, "session_20250119_153000");
    }

    #[test]
    fn a_turn_that_came_to_nothing_is_not_remembered() {
        let cancelled = finished("checkout", "checkout", "cancelled");
        let limited = finished("checkout", "checkout", "step_limit");
        let packets = offered(&[(FIRST, &cancelled), (SECOND, &limited)], &query("checkout"));
        assert_eq!(packets.len(), 1);
        assert_eq!(packets[0].source, "session_20250120_090000");
        assert!(importance(StopReason::Answered, 1) > importance(StopReason::Answered, 0));
    }

    #[test]
    fn a_damaged_journal_hides_no_other_and_a_long_answer_is_cut() {
        let long = "checkout is a long story\n".repeat(500);
        let journal = finished("checkout", &long, "answered");
        let packets = offered(&[(FIRST, "{\"torn"), (SECOND, &journal)], &query("checkout"));
        assert_eq!(packets.len(), 1);
        assert!(counter().count(&packets[0].content) < ANSWER_TOKENS + 20);
        assert!(packets[0].content.contains(" bytes left out …]"));
    }

    #[test]
    fn without_sessions_nothing_is_offered() {
        assert_eq!(offered(&[], &query("checkout")), []);
    }
}

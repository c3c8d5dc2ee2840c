//! Making room in the model's window when it is nearly full.
//!
//! First older results become one line each, with the whole of them kept in the session's
//! `outputs/`; when that is not enough, older rounds become a digest that is built from the
//! journal and the notes, with a summary of the model's in it where that is wanted. What was done
//! is an event, so that a resumed session has the same messages.

use super::compact;
use super::digest::DETAILS;
use super::transcript;
use super::turn::Turn;
use super::window::Prompt;
use super::{AgentError, CodebaseMaintainer, Compaction};
use crate::protocol::{ClearedResult, Completeness, EventKind, Message, ToolCall, ToolSpec, Usage};
use crate::support::text::first_line;

/// The share of the window, in percent, down to which room is made.
const ROOMY: u64 = 50;
/// A compaction that frees less than this share of the prompt, in percent, freed next to nothing.
const LITTLE: u64 = 10;
/// So many compactions in a row that free next to nothing end the turn.
const MOST_IDLE: u64 = 2;
/// How the line in the place of a result begins.
const CLEARED: &str = "[cleared: ";

impl CodebaseMaintainer {
    /// Returns how far a prompt that fills the window, or does not fit it, should be brought down.
    pub(super) fn roomy(&self, prompt_tokens: u64) -> u64 {
        let less = prompt_tokens * (100 - LITTLE) / 100;
        self.window().map_or(less, |window| less.min(window * ROOMY / 100))
    }

    /// Makes room until a prompt has at most `goal` tokens, as far as that goes. Returns how many
    /// were freed.
    pub(super) async fn make_room(
        &mut self,
        turn: &mut Turn,
        tools: &[ToolSpec],
        goal: u64,
    ) -> Result<u64, AgentError> {
        let system = self.messages[..1].to_vec();
        let fixed = self.count_tools(tools) + self.count(&system);
        let whole = self.messages[1..].to_vec();
        let tokens_before = fixed + self.count(&whole);

        let newest = compact::newest(&whole);
        let cleared = self.clear(&whole[..newest]);
        let mut said = whole.clone();
        compact::apply(&mut said, &cleared, None, 0);
        let round = compact::round_before(&said, newest);
        let mut made = Digested::default();
        if fixed + self.count(&said) > goal && round > 0 {
            made = self.digest_of(turn, tools, &whole[..round], &said[..round]).await?;
        }
        let replaced = if made.text.is_some() { round } else { 0 };
        compact::apply(&mut said, &[], made.text.as_deref(), replaced);
        let tokens_after = fixed + self.count(&said);

        // What a provider can still have cached: all before the first change.
        let unchanged = match (&made.text, cleared.first()) {
            (Some(_), _) => 0,
            (None, Some(first)) => first.message,
            (None, None) => said.len(),
        };
        let repeated = (fixed + self.count(&said[..unchanged])).min(self.prompt.repeated);
        self.messages = [system, said].concat();
        self.prompt = Prompt { tokens: tokens_after, messages: self.messages.len(), repeated };
        turn.compacted(tokens_before, tokens_after);
        self.recorder.emit(EventKind::ContextCompacted {
            tokens_before,
            tokens_after,
            cleared,
            replaced,
            digest: made.text,
            usage: made.usage,
        });
        self.cleared.hold(transcript::cleared(self.recorder.events()));
        Ok(tokens_before.saturating_sub(tokens_after))
    }

    /// Makes the digest of the first messages of the conversation: `whole` as the model was shown
    /// them, `cleared` with lines in the place of results. A summary of the model's stands in it
    /// where that is wanted and does not make it too long.
    async fn digest_of(
        &mut self,
        turn: &mut Turn,
        tools: &[ToolSpec],
        whole: &[Message],
        cleared: &[Message],
    ) -> Result<Digested, AgentError> {
        let replaced = self.count(cleared);
        let mut usage = None;
        if self.limits.compaction == Compaction::Model {
            let summed_up = self.sum_up(turn, whole, cleared, tools).await?;
            usage = summed_up.usage;
            if let Some(summary) = summed_up.text {
                if let Some(text) = self.short_digest(turn, replaced, Some(&summary))? {
                    return Ok(Digested { text: Some(text), usage });
                }
                self.refuse_summary("with it the digest is no shorter than the messages");
            }
        }
        Ok(Digested { text: self.short_digest(turn, replaced, None)?, usage })
    }

    /// Returns the digest in the most detail in which it is less than half as long as what it
    /// replaces; none where it is hardly shorter, because that frees nothing that would be worth
    /// the change.
    fn short_digest(
        &self,
        turn: &Turn,
        replaced: u64,
        summary: Option<&str>,
    ) -> Result<Option<String>, AgentError> {
        for detail in DETAILS {
            let text = self.digest(turn, detail, summary)?;
            if self.counter.count(&text) as u64 * 2 < replaced {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// Returns a line for each older result that is worth clearing, and keeps the whole of it.
    fn clear(&mut self, older: &[Message]) -> Vec<ClearedResult> {
        let mut cleared = Vec::new();
        let mut made: &[ToolCall] = &[];
        for (message, said) in older.iter().enumerate() {
            match said {
                Message::Assistant { calls, .. } => made = calls,
                Message::Tool { call_id, name, content } => {
                    let call = made.iter().find(|call| call.id == *call_id);
                    let what = call.map_or_else(|| name.clone(), one_line);
                    if let Some(text) = self.line_for(&what, call_id, content) {
                        cleared.push(ClearedResult { message, id: call_id.clone(), text });
                    }
                }
                Message::System { .. } | Message::User { .. } => {}
            }
        }
        cleared
    }

    /// Returns the line that stands in the place of a result, and keeps the whole of it; none where
    /// the result stays: what failed keeps its reason, so that it is not tried again, and what is
    /// short or a line already frees nothing.
    fn line_for(&mut self, what: &str, call_id: &str, content: &str) -> Option<String> {
        let facts = self.facts_of(call_id);
        if facts.has_failed || content.starts_with(CLEARED) {
            return None;
        }
        // What was cut is kept already, and more of it than the model read.
        let whole = if facts.is_cut { self.kept_output(call_id) } else { None };
        let (kept, lines) = match whole {
            Some((path, lines)) => (Some(path), lines),
            None => (None, content.lines().count()),
        };
        let exit = facts.exit_code.map_or_else(String::new, |code| format!("exit {code}, "));
        let line = |end: &str| format!("{CLEARED}{what}: {exit}{lines} lines; {end}]");
        let again = line("call again if it is needed");
        if !compact::is_worth_it(content, &again) {
            return None;
        }
        let kept = kept.or_else(|| self.keep_output(call_id, content));
        let whole = kept.map(|path| line(&format!("the whole of it: {path}")));
        Some(whole.filter(|text| text.len() < content.len()).unwrap_or(again))
    }

    /// Returns what the journal tells of a call.
    fn facts_of(&self, id: &str) -> Facts {
        let mut events = self.recorder.events().iter().rev();
        let finished = events.find_map(|event| match &event.kind {
            EventKind::ToolFinished { id: finished, completeness, failure, .. }
                if finished == id =>
            {
                Some((*completeness == Completeness::Cut, failure.is_some()))
            }
            _ => None,
        });
        // What a call did is told right before its result.
        let exit_code = match events.next().map(|event| &event.kind) {
            Some(EventKind::CommandFinished(facts)) => facts.exit_code,
            _ => None,
        };
        let (is_cut, has_failed) = finished.unwrap_or_default();
        Facts { exit_code, is_cut, has_failed }
    }
}

/// What stands in the place of older rounds.
#[derive(Debug, Default)]
struct Digested {
    /// The digest; none where it would be hardly shorter than what it replaces.
    text: Option<String>,
    /// What a summary of the model's cost, also where it is not used.
    usage: Option<Usage>,
}

/// What the journal tells of a call.
struct Facts {
    /// The exit code of the command that it ran.
    exit_code: Option<i32>,
    /// Whether its result was cut for the model, so that more of it is kept than the model read.
    is_cut: bool,
    /// Whether it was refused or failed.
    has_failed: bool,
}

impl Turn {
    /// Counts a compaction that freed next to nothing; one that freed more begins the count anew.
    pub(super) fn compacted(&mut self, tokens_before: u64, tokens_after: u64) {
        let freed = tokens_before.saturating_sub(tokens_after);
        let is_little = freed * 100 < tokens_before * LITTLE;
        self.idle_compactions = if is_little { self.idle_compactions + 1 } else { 0 };
    }

    /// Returns whether making room has come to nothing too often.
    pub(super) fn is_stuck(&self) -> bool {
        self.idle_compactions >= MOST_IDLE
    }
}

/// Returns a call on one line: the command of a terminal, or the tool with its arguments.
pub(super) fn one_line(call: &ToolCall) -> String {
    let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap_or_default();
    match arguments.get("command").and_then(serde_json::Value::as_str) {
        Some(command) => format!("{} `{}`", call.name, first_line(command, 160)),
        None => format!("{} {}", call.name, first_line(&call.arguments, 160)),
    }
}

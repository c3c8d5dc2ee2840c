//! What happened, as one type. The loop emits; journal, displays and reports read.

use std::fmt;
use std::io;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Completeness, Stats, StopReason, ToolCall, ToolFailureKind, Usage};

/// The version of the event schema; journals of older versions load for ever.
pub const SCHEMA_VERSION: u32 = 1;

/// One thing that happened, numbered and dated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Counts from 1 over a session, without gaps.
    pub seq: u64,
    /// When, in UTC.
    pub at: DateTime<Utc>,
    /// What.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum EventKind {
    /// A session began; the first event of every journal.
    #[serde(rename = "session.started")]
    SessionStarted {
        /// The version of this schema that the writer has.
        schema: u32,
        /// The session's id.
        session: String,
        /// The project's name.
        project: String,
        /// The model's name.
        model: String,
        /// The language of the prompts: `en` or `zh`.
        #[serde(default)]
        language: String,
    },
    /// A user's request was taken.
    #[serde(rename = "turn.started")]
    TurnStarted {
        /// Counts from 1 over a session.
        turn: u64,
        /// `explore`, `analyze`, `plan`, `auto`.
        mode: String,
        /// The request, as the user wrote it or as the mode words it.
        question: String,
        /// The model's name; a session may go on with another one.
        model: String,
    },
    /// A command line was run or refused, by whomever.
    #[serde(rename = "command.finished")]
    CommandFinished(CommandFacts),
    /// The context of the turn was built.
    #[serde(rename = "context.built")]
    ContextBuilt {
        /// Its exact count.
        tokens: usize,
        /// What it had to fit.
        budget: usize,
        /// The text that the model is shown as the user's message.
        text: String,
        /// The quality report, as data.
        report: Value,
    },
    /// Older messages made room, because the model's window was nearly full.
    #[serde(rename = "context.compacted")]
    ContextCompacted {
        /// Our count of the prompt before.
        tokens_before: u64,
        /// Our count of the prompt after.
        tokens_after: u64,
        /// The results that became a line, by place and call.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cleared: Vec<ClearedResult>,
        /// How many messages the digest stands for, from the first after the system message on.
        #[serde(default)]
        replaced: usize,
        /// What stands in their place, as a user message; none when clearing was enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
        /// What the model's summary in it cost; none when no model was asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The model is being asked.
    #[serde(rename = "model.asked")]
    ModelAsked {
        /// The step, from 1 in each turn.
        step: u64,
        /// How many messages it is shown.
        messages: usize,
        /// Our count of the prompt.
        prompt_tokens: u64,
    },
    /// A piece of the answer, as it comes. For displays; journals leave it out.
    #[serde(rename = "model.delta")]
    ModelDelta {
        /// The piece of text.
        text: String,
    },
    /// The pieces shown so far are void: the request is sent again. For displays.
    #[serde(rename = "model.restarted")]
    ModelRestarted,
    /// The request waits for a busy server. For displays.
    #[serde(rename = "model.waiting")]
    ModelWaiting {
        /// Why.
        reason: String,
        /// Seconds that are left to wait.
        seconds: u64,
    },
    /// The model replied.
    #[serde(rename = "model.replied")]
    ModelReplied {
        /// The text.
        text: String,
        /// What it thought aloud.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<String>,
        /// The calls.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
        /// True when the reply was cut by length; its calls were not run.
        #[serde(default)]
        cut: bool,
        /// True when the model seems to have been shown only a part of the prompt.
        #[serde(default)]
        unverified: bool,
        /// What it cost.
        usage: Usage,
    },
    /// A tool is being called.
    #[serde(rename = "tool.started")]
    ToolStarted {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// The arguments, as the model wrote them.
        arguments: String,
    },
    /// A tool answered.
    #[serde(rename = "tool.finished")]
    ToolFinished {
        /// The call's id.
        id: String,
        /// The tool's name.
        name: String,
        /// What the model reads.
        for_model: String,
        /// One line for a person.
        summary: String,
        /// Whether `for_model` is all there was.
        completeness: Completeness,
        /// Why it failed, if it did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<ToolFailureKind>,
    },
    /// The loop told the model something of its own: a reminder, a limit, a request for notes.
    #[serde(rename = "loop.said")]
    LoopSaid {
        /// The text, as a user message.
        text: String,
    },
    /// A note is on disk, changed or gone.
    #[serde(rename = "note.changed")]
    NoteChanged(NoteChange),
    /// The places that the answer cites were looked up.
    #[serde(rename = "answer.checked")]
    AnswerChecked {
        /// How many `path:line` claims it makes.
        claims: usize,
        /// Those that are wrong, each with the reason.
        wrong: Vec<String>,
    },
    /// Something went wrong and the turn goes on.
    #[serde(rename = "warning")]
    Warning {
        /// A sentence.
        message: String,
    },
    /// The turn is over.
    #[serde(rename = "turn.finished")]
    TurnFinished {
        /// The turn that ended.
        turn: u64,
        /// Why.
        reason: StopReason,
        /// The answer.
        answer: String,
        /// True when it stands in the conversation for one that the model did not give: what it had
        /// said until it was interrupted, or what was found.
        #[serde(default, skip_serializing_if = "is_false")]
        stands_in: bool,
        /// What the turn did.
        stats: Stats,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_false(value: &bool) -> bool {
    !value
}

impl EventKind {
    /// Returns whether the event is only for displays: journals leave it out, and it has no number
    /// of its own.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::ModelDelta { .. } | Self::ModelRestarted | Self::ModelWaiting { .. })
    }
}

/// A result that became one line of the conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClearedResult {
    /// Its place in the conversation before, from 0, without the system message.
    pub message: usize,
    /// The call's id.
    pub id: String,
    /// The line that the model reads instead.
    pub text: String,
}

/// A command line and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandFacts {
    /// The line, as asked for.
    pub line: String,
    /// Who asked for it.
    pub origin: CommandOrigin,
    /// The exit code; none when it was refused or killed.
    pub exit_code: Option<i32>,
    /// True when it was refused before anything ran.
    pub refused: bool,
    /// True when the time limit ended it.
    pub timed_out: bool,
    /// True when a part of the output is missing.
    pub truncated: bool,
    /// Bytes of output.
    pub bytes: u64,
    /// Wall-clock milliseconds.
    pub duration_ms: u64,
    /// Where the next line starts, from the root of the workspace; none when the line did not move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// Who asked for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandOrigin {
    /// The mode's pre-processing.
    Mode,
    /// The model, through the terminal tool.
    Model,
    /// A person: `!COMMAND` in a chat, or a program that uses the library.
    User,
}

/// A change of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoteChange {
    /// What was done.
    pub action: NoteAction,
    /// The note's id.
    pub id: String,
    /// The note's title.
    pub title: String,
    /// The note's type: `blocker`, `action`, …
    pub note_type: String,
}

/// What was done to a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoteAction {
    /// It was written for the first time.
    Create,
    /// Something of it is another than before.
    Update,
    /// It is gone; `notes undo` brings it back.
    Delete,
}

impl NoteAction {
    /// Returns the word for it, as in the events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }
}

impl fmt::Display for NoteAction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Takes events and shows or keeps them.
///
/// Implemented by the journal, by the displays and by lists in tests. A sink never answers: it
/// must not change what happens next, except that an error of the journal ends the session.
pub trait EventSink: Send {
    /// Takes one event.
    fn emit(&mut self, event: &Event) -> io::Result<()>;
}

impl EventSink for Vec<Event> {
    fn emit(&mut self, event: &Event) -> io::Result<()> {
        self.push(event.clone());
        Ok(())
    }
}

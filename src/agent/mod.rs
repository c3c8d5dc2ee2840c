//! One turn: gather, ask, act, record, stop. [`CodebaseMaintainer`] is the long-horizon agent of
//! chapter 9.6, and [`CodebaseMaintainer::run`] is its loop.
//!
//! The loop decides nothing by itself: modes are rows of a table, limits are data, tools and
//! sources are lists, and what happened is told as events. It never asks a person anything, and
//! whatever goes wrong on the way, a turn ends with what was found.

mod act;
mod after_care;
mod ask;
mod between;
mod by_meaning;
mod claims;
mod close;
mod compact;
mod curb;
mod digest;
mod error;
mod gather;
mod history;
mod library;
mod limits;
mod loop_guard;
mod mode;
mod options;
mod recorder;
mod report;
mod request;
mod rescore;
mod resume;
mod room;
mod session;
mod state;
mod sum_up;
mod transcript;
mod turn;
mod window;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

pub use after_care::AutoNotes;
pub use by_meaning::ByMeaning;
pub use error::AgentError;
pub use limits::Limits;
pub use mode::Mode;
pub use options::{MaintainerOptions, NoteRules};
pub use recorder::Nowhere;
pub use report::{Activity, NoteRow, Report, SessionInfo, Tokens, TurnRow, stats};
pub use request::Request;
pub use sum_up::Compaction;
pub use transcript::replay;

use crate::context::{ContextBuilder, ContextSource};
use crate::model::embedding::Embedder;
use crate::model::{ChatModel, ChatReply};
use crate::notes::NoteStore;
use crate::prompts::{Language, Prompts};
use crate::protocol::{EventKind, Message, Outcome, StopReason, ToolSpec};
use crate::sources::ClearedResults;
use crate::support::clock::Clock;
use crate::support::paths::Workspace;
use crate::support::state_folder::StateFolder;
use crate::support::tokens::TokenCounter;
use crate::tools::{TerminalTool, ToolContext, ToolRegistry};

use ask::Asked;
use recorder::Recorder;
use session::Session;
use turn::Turn;
use window::Prompt;

/// Maintains one codebase: takes requests, answers them from what the repository and the notes
/// hold, and writes down what it finds.
pub struct CodebaseMaintainer {
    project: String,
    workspace: Workspace,
    state: StateFolder,
    model: Arc<dyn ChatModel>,
    /// Compares candidates of a context by meaning, where there is one.
    embedder: Option<Arc<dyn Embedder>>,
    terminal: Arc<TerminalTool>,
    tools: ToolRegistry,
    sources: Vec<Box<dyn ContextSource>>,
    /// The results that were cleared from the conversation; one of the sources.
    cleared: ClearedResults,
    builder: ContextBuilder,
    /// What a context may have in a window that is large enough.
    context_tokens: usize,
    counter: Arc<TokenCounter>,
    notes: Arc<NoteStore>,
    /// Orders the notes that a search finds by meaning too, where it is asked for.
    note_scorer: Option<Arc<ByMeaning>>,
    limits: Limits,
    note_rules: NoteRules,
    /// The language asked for; none for that of the first question.
    language: Option<Language>,
    prompts: Option<Prompts>,
    clock: Arc<dyn Clock>,
    cancel: CancellationToken,
    recorder: Recorder,
    session: Session,
    /// The conversation: the system message, then all that was said, appended only.
    messages: Vec<Message>,
    /// What was said in the session before this process took it up, until the conversation begins.
    resumed: Vec<Message>,
    /// What a person should read when the conversation begins.
    pending_warnings: Vec<String>,
    /// Whether it was looked into whether the jail is whole.
    told_of_the_jail: bool,
    told_of_git: bool,
    prompt: Prompt,
}

impl CodebaseMaintainer {
    /// Answers one request.
    ///
    /// # Errors
    /// When the model cannot be asked, a prompt is broken or a tool fails for good; what was found
    /// is in the report all the same. A limit that is reached is an outcome.
    pub async fn run(&mut self, request: Request) -> Result<Outcome, AgentError> {
        let mut turn = self.begin(request)?;
        match self.steps(&mut turn).await {
            Ok(reason) => self.close(turn, reason).await,
            Err(error) => self.fail(turn, error).await,
        }
    }

    /// The loop: ask, act, until an answer or a limit. Returns why the turn ends.
    async fn steps(&mut self, turn: &mut Turn) -> Result<StopReason, AgentError> {
        if !turn.built {
            self.gather(turn).await?;
        }
        loop {
            if let Some(reason) = self.must_stop(turn) {
                return Ok(reason);
            }
            self.remind(turn)?;
            let reply = match self.ask_model(turn, self.tools.specs()).await? {
                Asked::Replied(reply) => reply,
                Asked::Stopped(reason) => return Ok(reason),
            };
            if !reply.calls.is_empty() {
                if let Some(reason) = self.act(turn, &reply).await? {
                    return Ok(reason);
                }
            } else if self.settles(turn, &reply)? {
                return Ok(StopReason::Answered);
            }
        }
    }

    /// Returns why the loop must stop here, if it must.
    fn must_stop(&self, turn: &mut Turn) -> Option<StopReason> {
        if self.cancel.is_cancelled() {
            return Some(StopReason::Cancelled);
        }
        turn.used.time = self.clock.running().saturating_sub(turn.began);
        self.limits.reached(&turn.used)
    }

    /// Tells the model once at each mark how much of a limit is used.
    fn remind(&mut self, turn: &mut Turn) -> Result<(), AgentError> {
        if let Some((mark, what)) = self.limits.reminder(&turn.used, turn.told) {
            turn.told = mark;
            let percent = mark.to_string();
            self.say("reminder", &[("percent", percent.as_str()), ("what", what.as_str())])?;
        }
        Ok(())
    }

    /// Returns whether a reply without calls ends the turn: it is an answer, and nothing is left
    /// to be noted.
    fn settles(&mut self, turn: &mut Turn, reply: &ChatReply) -> Result<bool, AgentError> {
        if turn.answer.is_some() {
            return Ok(true);
        }
        if reply.text.trim().is_empty() {
            turn.used.unusable_replies += 1;
            self.say("empty_reply", &[])?;
            return Ok(false);
        }
        turn.answer = Some(reply.text.clone());
        if self.wants_notes(turn) {
            self.say("ask_for_notes", &[])?;
            return Ok(false);
        }
        Ok(true)
    }

    /// Says something of the loop's own to the model: the prompt of that name.
    fn say(&mut self, prompt: &str, values: &[(&str, &str)]) -> Result<(), AgentError> {
        let text = self.prompts()?.fill(prompt, values)?;
        self.messages.push(Message::User { content: text.clone() });
        self.recorder.emit(EventKind::LoopSaid { text });
        Ok(())
    }

    /// Returns the tools as a request without any would have them: to ask for an answer alone.
    fn no_tools() -> Vec<ToolSpec> {
        Vec::new()
    }

    /// Returns what a tool may know of its surroundings.
    fn tool_context(&self) -> ToolContext {
        ToolContext {
            session: self.session.id().to_owned(),
            language: self.prompts.as_ref().map_or(Language::En, Prompts::language),
            clock: Arc::clone(&self.clock),
            cancel: self.cancel.clone(),
        }
    }
}

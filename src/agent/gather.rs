//! The beginning of a turn: looks by mode, candidates from every source, the built context.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::timeout;

use super::state::State;
use super::transcript::close_open_calls;
use super::turn::Turn;
use super::{AgentError, CodebaseMaintainer, Mode, Request};
use crate::context::{
    BuiltContext, ContextPacket, ContextSource, PacketKind, Parts, Query, SourceFailure,
};
use crate::prompts::{Language, Prompts};
use crate::protocol::{CommandOrigin, EventKind, Message};
use crate::support::git_head;

/// How long a source may wait; the turn goes on without one that waits longer. Those that are built
/// in wait for nobody: they read files, each within a time of its own.
const SOURCE_TIME: Duration = Duration::from_secs(5);

/// The base relevance of what a mode looks at first (the chapter gives 0.7 to structure).
const LOOK_RELEVANCE: f64 = 0.7;

/// The base relevance of the commits of files that a question is about.
const HISTORY_RELEVANCE: f64 = 0.6;

impl CodebaseMaintainer {
    /// Begins a turn, and the session with the first one.
    pub(super) fn begin(&mut self, request: Request) -> Result<Turn, AgentError> {
        self.choose_language(&request)?;
        self.recorder.speak();
        self.ask_about_notes(true);
        self.begin_session();
        let number = self.session.next_turn();
        let first_event = self.recorder.events().len();
        self.recorder.emit(EventKind::TurnStarted {
            turn: number,
            mode: request.mode.row().name.to_owned(),
            question: request.text.clone(),
            model: self.model.name().to_owned(),
        });
        Ok(Turn::new(number, request, self.clock.running(), first_event))
    }

    /// Gathers candidates, builds the context and puts it into the conversation.
    pub(super) async fn gather(&mut self, turn: &mut Turn) -> Result<(), AgentError> {
        let is_first = self.messages.is_empty();
        self.begin_conversation(&turn.request)?;
        close_open_calls(&mut self.messages);
        let (mut packets, query, parts) = self.candidates(turn).await?;
        self.rescore(&mut packets, &query).await;
        self.fit_budget(&query, &parts)?;
        let mut built = self.builder.build(&packets, &query, &parts)?;
        if self.finds_the_window(built.tokens).await {
            self.fit_budget(&query, &parts)?;
            built = self.builder.build(&packets, &query, &parts)?;
        }
        if is_first {
            self.warn_of_a_small_window();
        }
        let text = built.user_text();
        self.recorder.emit(EventKind::ContextBuilt {
            tokens: built.tokens,
            budget: built.budget,
            text: text.clone(),
            report: serde_json::to_value(&built.report).unwrap_or_default(),
        });
        self.messages.push(Message::User { content: text });
        turn.built = true;
        Ok(())
    }

    /// Begins the conversation of this process, if it has not begun: the system message, which
    /// stays byte for byte over a session, and what was said before.
    pub(super) fn begin_conversation(&mut self, request: &Request) -> Result<(), AgentError> {
        if self.messages.is_empty() {
            let query = self.query(request);
            let fixed = self.builder.build([], &query, &self.fixed_parts(request)?)?;
            self.messages.push(Message::System { content: fixed.system_text() });
            self.messages.append(&mut self.resumed);
            self.prompt.repeated = self.count_last_request();
            for warning in std::mem::take(&mut self.pending_warnings) {
                self.recorder.warn(warning);
            }
        }
        Ok(())
    }

    /// Counts the last request of a session that goes on in another process; the next one begins
    /// with it.
    fn count_last_request(&self) -> u64 {
        let is_reply = |message: &Message| matches!(message, Message::Assistant { .. });
        let Some(asked) = self.messages.iter().rposition(is_reply) else { return 0 };
        self.count(&self.messages[..asked]) + self.count_tools(&self.tools.specs())
    }

    /// Builds what would be sent for a request. Nothing is asked, nothing is written, and a session
    /// that goes on is as it was.
    ///
    /// # Errors
    /// When a prompt is broken or the fixed parts exceed the budget.
    pub async fn preview(&mut self, request: Request) -> Result<BuiltContext, AgentError> {
        let had_language = self.prompts.is_some();
        let had_told = (self.told_of_the_jail, self.told_of_git);
        // Whoever gives up waiting leaves the recorder quiet; the next turn lets it speak.
        self.recorder.be_quiet();
        self.ask_about_notes(false);
        let built = self.would_send(request).await;
        self.ask_about_notes(true);
        self.recorder.speak();
        (self.told_of_the_jail, self.told_of_git) = had_told;
        if !had_language {
            self.prompts = None;
        }
        built
    }

    async fn would_send(&mut self, request: Request) -> Result<BuiltContext, AgentError> {
        self.choose_language(&request)?;
        let began = self.clock.running();
        let turn =
            Turn::new(self.session.turns() + 1, request, began, self.recorder.events().len());
        let (packets, query, parts) = self.candidates(&turn).await?;
        self.fit_budget(&query, &parts)?;
        Ok(self.builder.build(&packets, &query, &parts)?)
    }

    /// Gathers what the context of a turn is built from.
    async fn candidates(
        &mut self,
        turn: &Turn,
    ) -> Result<(Vec<ContextPacket>, Query, Parts), AgentError> {
        let target = self.target(&turn.request);
        let mut packets = self.look(turn.mode, target.as_deref()).await?;
        let query = self.query(&turn.request);
        let offered = self.offers(&query).await;
        let history = self.history_line(turn.mode, &query.text, target.as_deref(), &offered);
        packets.extend(offered);
        if let Some(line) = history {
            packets.extend(self.look_at(line, HISTORY_RELEVANCE).await?);
        }
        packets.push(self.state_packet(turn, target.as_deref()));
        let parts = self.fixed_parts(&turn.request)?;
        Ok((packets, query, parts))
    }

    fn query(&self, request: &Request) -> Query {
        Query {
            text: request.search_words().to_owned(),
            mode: request.mode.row().name.to_owned(),
            now: self.clock.utc(),
            session: Some(self.session.id().to_owned()).filter(|id| !id.is_empty()),
        }
    }

    /// Returns the parts of a context that do not compete.
    fn fixed_parts(&self, request: &Request) -> Result<Parts, AgentError> {
        let prompts = self.prompts()?;
        Ok(Parts {
            instructions: prompts.fill("system", &[("project", self.project.as_str())])?,
            task: self.task(request)?,
            output: prompts.raw("output")?.to_owned(),
        })
    }

    /// Runs the command lines of a mode; what cannot be looked at is told and left out.
    async fn look(
        &mut self,
        mode: Mode,
        target: Option<&str>,
    ) -> Result<Vec<ContextPacket>, AgentError> {
        if !self.told_of_the_jail {
            self.told_of_the_jail = true;
            if let Some(sentence) = self.terminal.degraded() {
                self.recorder.warn(sentence);
            }
        }
        let is_git = self.is_git_read();
        if !is_git
            && !self.told_of_git
            && let Some(refusal) = self.git_refusal()
        {
            self.told_of_git = true;
            self.recorder.warn(format!("Git is not asked here: {refusal}"));
        }
        let mut packets = Vec::new();
        for line in mode.looks(is_git, target) {
            packets.extend(self.look_at(line, LOOK_RELEVANCE).await?);
        }
        Ok(packets)
    }

    /// Returns whether there is a repository that may be read.
    pub(super) fn is_git_read(&self) -> bool {
        self.workspace.root().join(".git").exists() && self.git_refusal().is_none()
    }

    /// Returns why Git may not be asked, where its folder lies outside of the workspace.
    fn git_refusal(&self) -> Option<String> {
        let is_there = self.workspace.root().join(".git").symlink_metadata().is_ok();
        is_there.then(|| self.terminal.refusal("git log -n 1"))?
    }

    /// Runs a command line and returns its output as a candidate; a refusal is told.
    async fn look_at(
        &mut self,
        line: String,
        relevance: f64,
    ) -> Result<Option<ContextPacket>, AgentError> {
        let looked = self.run_line(&line, CommandOrigin::Mode).await?;
        Ok(match looked {
            Ok(text) => {
                let now = self.clock.utc();
                let packet = ContextPacket::new(PacketKind::CommandOutput, line, text, now);
                Some(packet.with_relevance(relevance))
            }
            Err(refusal) => {
                self.recorder.warn(format!("`{line}` could not be run: {refusal}"));
                None
            }
        })
    }

    /// Runs a command line from the terminal's folder and records it; a refusal is its text.
    pub(super) async fn run_line(
        &mut self,
        line: &str,
        origin: CommandOrigin,
    ) -> Result<Result<String, String>, AgentError> {
        let (facts, text) = self.terminal.look(line, origin, &self.cancel).await?;
        self.recorder.emit(EventKind::CommandFinished(facts));
        Ok(text)
    }

    /// Asks every source; one that fails is told, and the turn goes on without it.
    async fn offers(&mut self, query: &Query) -> Vec<ContextPacket> {
        let gathered =
            join_all(self.sources.iter().map(|source| offer(source.as_ref(), query))).await;
        let mut packets = Vec::new();
        for offered in gathered {
            match offered {
                Ok(offered) => packets.extend(offered),
                Err(failure) => self.recorder.warn(failure.to_string()),
            }
        }
        self.tell_of_unscored_notes();
        packets
    }

    /// Lets an endpoint be asked about notes, or nobody.
    fn ask_about_notes(&self, is_asked: bool) {
        if let Some(scorer) = &self.note_scorer {
            scorer.pause(!is_asked);
        }
    }

    /// Warns when notes were to be compared by meaning and were not.
    pub(super) fn tell_of_unscored_notes(&mut self) {
        if let Some(failure) = self.note_scorer.as_ref().and_then(|scorer| scorer.take_failure()) {
            self.recorder.warn(failure);
        }
    }

    fn state_packet(&self, turn: &Turn, target: Option<&str>) -> ContextPacket {
        let head = git_head::read(self.workspace.root());
        let shares = self.limits.shares(&turn.used).map(|(_, words)| words).join(", ");
        let now = self.clock.now();
        let text = State {
            mode: turn.mode.row().name,
            target,
            language: self.language(),
            project: &self.project,
            session: self.session.id(),
            turn: turn.number,
            head: head.as_ref(),
            directory: self.terminal.directory().relative(),
            open_blockers: self.notes.open_blockers().map_or(0, |blockers| blockers.len()),
            limits: &shares,
            time: &now.format("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        }
        .text();
        ContextPacket::new(PacketKind::State, "state", text, now.to_utc()).always()
    }

    /// Words the task: the mode's prompt with the request in it.
    pub(super) fn task(&self, request: &Request) -> Result<String, AgentError> {
        let prompts = self.prompts()?;
        let target = request.text.trim();
        let target =
            if target.is_empty() { request.mode.whole(prompts.language()) } else { target };
        Ok(prompts.fill(request.mode.row().prompt, &[("target", target)])?)
    }

    /// Returns the path of the workspace that a request names, if it names one.
    fn target(&self, request: &Request) -> Option<String> {
        let text = request.text.trim();
        if text.is_empty() || text.contains('\n') || request.mode == Mode::Auto {
            return None;
        }
        let path = self.workspace.resolve(&self.workspace.top(), text.as_ref()).ok()?;
        let relative = path.strip_prefix(self.workspace.root()).ok()?.to_str()?;
        (path.exists() && !relative.is_empty()).then(|| relative.to_owned())
    }

    /// Chooses the language of the session with its first request, and the tools' words with it.
    pub(super) fn choose_language(&mut self, request: &Request) -> Result<(), AgentError> {
        if self.prompts.is_some() {
            return Ok(());
        }
        let language = self.language.unwrap_or_else(|| Language::of(request.own_words()));
        let prompts = Prompts::embedded(language).overridden_by(&self.state.prompts())?;
        self.describe_tools(&prompts)?;
        self.prompts = Some(prompts);
        Ok(())
    }

    /// Returns the language of the session.
    pub(super) fn language(&self) -> Language {
        self.prompts.as_ref().map(Prompts::language).or(self.language).unwrap_or_default()
    }

    /// Returns the prompts of the session.
    pub(super) fn prompts(&self) -> Result<&Prompts, AgentError> {
        self.prompts
            .as_ref()
            .ok_or_else(|| AgentError::Prompt(crate::prompts::PromptError::Unknown("any".into())))
    }
}

/// Asks one source, for a limited time.
async fn offer(
    source: &dyn ContextSource,
    query: &Query,
) -> Result<Vec<ContextPacket>, SourceFailure> {
    let waited = timeout(SOURCE_TIME, source.gather(query)).await;
    waited.unwrap_or_else(|_| {
        let message = format!("nothing came within {} seconds", SOURCE_TIME.as_secs());
        Err(SourceFailure { source_name: source.name(), message })
    })
}

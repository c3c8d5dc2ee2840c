//! What a maintainer is made of.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::recorder::{Nowhere, Recorder};
use super::session::Session;
use super::window::Prompt;
use super::{AgentError, AutoNotes, ByMeaning, CodebaseMaintainer, Limits};
use crate::context::{ContextBuilder, ContextConfig, ScorerKind};
use crate::journal::Sessions;
use crate::model::ChatModel;
use crate::model::embedding::Embedder;
use crate::notes::NoteStore;
use crate::prompts::Language;
use crate::protocol::EventSink;
use crate::sources::{self, ClearedResults, Materials};
use crate::support::clock::{Clock, SystemClock};
use crate::support::paths::Workspace;
use crate::support::state_folder::StateFolder;
use crate::support::tokens::TokenCounter;
use crate::terminal::{self, Terminal};
use crate::tools::{NoteTool, TerminalTool, ToolRegistry};

/// What the guide files of a repository may have together, in tokens.
const GUIDE_TOKENS: usize = 2000;

/// How long a turn waits for the vectors of notes: sources have 5 seconds, and the words of the
/// notes must come in time all the same.
const NOTE_SCORER_TIME: Duration = Duration::from_secs(4);

/// What is told where meaning should count and nothing can tell it.
const NO_EMBEDDER: &str = "`context.scorer` is `embeddings`, but no endpoint with an `endpoint.embedding_model` is used; relevance is computed by words alone.";

/// Which notes come back into a turn, and what is asked for after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoteRules {
    /// Open blockers at the most; the rest is counted.
    pub blockers: usize,
    /// Notes found by searching with the question, at the most.
    pub search: usize,
    /// What happens when an answer tells of problems or a plan and nothing was noted.
    pub auto_notes: AutoNotes,
    /// Whether the notes that a search finds are compared with the question by meaning too.
    pub by_meaning: bool,
}

impl Default for NoteRules {
    fn default() -> Self {
        Self { blockers: 20, search: 5, auto_notes: AutoNotes::Ask, by_meaning: false }
    }
}

/// All that a [`CodebaseMaintainer`] is made of. [`MaintainerOptions::new`] has defaults for the
/// rest.
pub struct MaintainerOptions {
    /// The project's name, as notes and reports call it.
    pub project: String,
    /// The repository under care.
    pub workspace: Workspace,
    /// Where notes and sessions are kept.
    pub state: StateFolder,
    /// Who answers.
    pub model: Arc<dyn ChatModel>,
    /// What makes vectors of texts. Candidates are compared by them with
    /// [`ScorerKind::Embeddings`], notes with [`NoteRules::by_meaning`]; none: words alone.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The terminal's limits and jail.
    pub terminal: terminal::Options,
    /// The context's budget and scoring.
    pub context: ContextConfig,
    /// What ends a turn.
    pub limits: Limits,
    /// Which notes come back.
    pub notes: NoteRules,
    /// The language of prompts; none for that of the first question.
    pub language: Option<Language>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Where events are shown.
    pub display: Box<dyn EventSink>,
    /// Says that a person interrupted.
    pub cancel: CancellationToken,
}

impl MaintainerOptions {
    /// Returns options with every default, state in the workspace's `.groundskeeper/`.
    ///
    /// # Errors
    /// When the folder is not there or cannot be read: nothing is made by a mistake.
    pub fn new(
        project: impl Into<String>,
        codebase_path: impl AsRef<Path>,
        model: Arc<dyn ChatModel>,
    ) -> Result<Self, AgentError> {
        let workspace = Workspace::open(codebase_path.as_ref())?;
        let state = StateFolder::of_workspace(&workspace, None);
        Ok(Self {
            project: project.into(),
            workspace,
            state,
            model,
            embedder: None,
            terminal: terminal::Options::of_this_program(),
            context: ContextConfig {
                max_tokens: 16_000,
                reserve_ratio: 0.15,
                min_relevance: 0.2,
                ..ContextConfig::default()
            },
            limits: Limits::default(),
            notes: NoteRules::default(),
            language: None,
            clock: Arc::new(SystemClock::default()),
            display: Box::new(Nowhere),
            cancel: CancellationToken::new(),
        })
    }
}

impl CodebaseMaintainer {
    /// Puts a maintainer together. Nothing is written before the first turn.
    pub fn with(options: MaintainerOptions) -> Result<Self, AgentError> {
        options.state.check().map_err(AgentError::State)?;
        let mut terminal_options = options.terminal;
        if !options.state.sessions().starts_with(options.workspace.root()) {
            // Whole outputs are read on from there.
            terminal_options.readable.push(options.state.sessions());
        }
        let terminal = Terminal::open(options.workspace.clone(), terminal_options)?;
        let terminal = Arc::new(TerminalTool::new(Arc::new(terminal)));
        let note_scorer = options.embedder.clone().filter(|_| options.notes.by_meaning);
        let note_scorer = note_scorer.map(|embedder| {
            let weight = options.context.embedding_weight;
            Arc::new(ByMeaning::new(embedder, weight, NOTE_SCORER_TIME))
        });
        let mut notes = NoteStore::open(options.state.notes(), Arc::clone(&options.clock));
        if let Some(scorer) = note_scorer.clone() {
            notes = notes.with_scorer(scorer);
        }
        let notes = Arc::new(notes);
        let counter = Arc::new(TokenCounter::for_model(options.model.name()));
        let context_tokens = options.context.max_tokens;
        let mut pending_warnings = Vec::new();
        if options.context.scorer == ScorerKind::Embeddings && options.embedder.is_none() {
            pending_warnings.push(NO_EMBEDDER.to_owned());
        }
        if options.notes.by_meaning && options.embedder.is_none() {
            pending_warnings.push(ByMeaning::NOBODY.to_owned());
        }
        let embedder =
            options.embedder.filter(|_| options.context.scorer == ScorerKind::Embeddings);
        let builder = ContextBuilder::new(options.context, Arc::clone(&counter))?;
        let materials = Materials {
            workspace: options.workspace.clone(),
            notes: Arc::clone(&notes),
            sessions: Sessions::of(&options.state, &options.project),
            counter: Arc::clone(&counter),
            by_meaning: embedder.is_some(),
            most_blockers: options.notes.blockers,
            most_notes: options.notes.search,
            guide_tokens: GUIDE_TOKENS.min(options.context.max_tokens / 8),
        };
        let mut tools = ToolRegistry::new();
        tools.add(NoteTool::new(Arc::clone(&notes)), "")?;
        tools.add(Arc::clone(&terminal), "")?;
        let cleared = ClearedResults::default();
        let mut sources = sources::builtin(&materials);
        sources.push(Box::new(cleared.clone()));
        let recorder = Recorder::new(Arc::clone(&options.clock), None, options.display, Vec::new());
        Ok(Self {
            project: options.project,
            sources,
            cleared,
            context_tokens,
            tools,
            terminal,
            builder,
            counter,
            notes,
            note_scorer,
            workspace: options.workspace,
            state: options.state,
            model: options.model,
            embedder,
            limits: options.limits,
            note_rules: options.notes,
            language: options.language,
            prompts: None,
            clock: options.clock,
            cancel: options.cancel,
            recorder,
            session: Session::default(),
            messages: Vec::new(),
            resumed: Vec::new(),
            pending_warnings,
            told_of_the_jail: false,
            told_of_git: false,
            prompt: Prompt::default(),
        })
    }
}

//! The maintainer as a library: the chapter's functions by their names (9.6.3).

use super::{AgentError, CodebaseMaintainer, MaintainerOptions, Request, stats};
use crate::context::ContextSource;
use crate::model::ChatModel;
use crate::notes::{NewNote, NoteKind};
use crate::prompts::Prompts;
use crate::protocol::{CommandOrigin, Event, EventKind, NoteAction, NoteChange, Outcome, Stats};
use crate::tools::{DuplicateTool, Tool};
use std::path::Path;
use std::sync::Arc;

impl CodebaseMaintainer {
    /// Returns a maintainer of a folder with every default.
    ///
    /// # Errors
    /// When the folder is not there or cannot be read.
    pub fn new(
        project_name: impl Into<String>,
        codebase_path: impl AsRef<Path>,
        model: Arc<dyn ChatModel>,
    ) -> Result<Self, AgentError> {
        Self::with(MaintainerOptions::new(project_name, codebase_path, model)?)
    }

    /// Explores the codebase, or a part or topic of it; empty for all of it.
    pub async fn explore(&mut self, target: &str) -> Result<Outcome, AgentError> {
        self.run(Request::explore(target)).await
    }

    /// Analyzes the quality, with a focus or without.
    pub async fn analyze(&mut self, focus: &str) -> Result<Outcome, AgentError> {
        self.run(Request::analyze(focus)).await
    }

    /// Plans the next steps from the notes.
    pub async fn plan_next_steps(&mut self) -> Result<Outcome, AgentError> {
        self.run(Request::plan("")).await
    }

    /// Answers a question.
    pub async fn ask(&mut self, question: &str) -> Result<Outcome, AgentError> {
        self.run(Request::ask(question)).await
    }

    /// Runs a command line through the terminal and returns what a model would read.
    ///
    /// # Errors
    /// [`AgentError::Refused`] when the line is not allowed.
    pub async fn execute_command(&mut self, line: &str) -> Result<String, AgentError> {
        self.begin_session();
        self.run_line(line, CommandOrigin::User).await?.map_err(AgentError::Refused)
    }

    /// Creates a note and returns its id.
    pub fn create_note(
        &mut self,
        title: &str,
        content: &str,
        kind: NoteKind,
        tags: Vec<String>,
    ) -> Result<String, AgentError> {
        self.begin_session();
        self.write_note(NewNote {
            title: title.to_owned(),
            content: content.to_owned(),
            kind,
            tags,
            ..NewNote::default()
        })
    }

    /// Writes a note and records it.
    pub(super) fn write_note(&mut self, note: NewNote) -> Result<String, AgentError> {
        let note = self.notes.create(note)?.note;
        let id = note.id.to_string();
        self.recorder.emit(EventKind::NoteChanged(NoteChange {
            action: NoteAction::Create,
            id: id.clone(),
            title: note.title,
            note_type: note.kind.to_string(),
        }));
        Ok(id)
    }

    /// Returns what the session did so far, counted from its events.
    pub fn stats(&self) -> Stats {
        stats(self.recorder.events())
    }

    /// Returns what happened in the session so far, the oldest first, as the journal has it.
    pub fn events(&self) -> &[Event] {
        self.recorder.events()
    }

    /// Returns the session's id; empty before the first turn.
    pub fn session_id(&self) -> &str {
        self.session.id()
    }

    /// Returns why the session could not be saved, if it could not.
    pub fn unsaved(&self) -> Option<&str> {
        self.recorder.unsaved()
    }

    /// Returns the notes.
    pub fn notes(&self) -> &crate::notes::NoteStore {
        &self.notes
    }

    /// Adds a tool of your own, with its description for the model.
    pub fn add_tool<T: Tool>(&mut self, tool: T, description: &str) -> Result<(), DuplicateTool> {
        self.tools.add(tool, description)
    }

    /// Adds a source of your own; it is asked in each turn.
    pub fn add_source(&mut self, source: impl ContextSource + 'static) {
        self.sources.push(Box::new(source));
    }

    /// Gives the built-in tools their descriptions in the language of the session.
    pub(super) fn describe_tools(&mut self, prompts: &Prompts) -> Result<(), AgentError> {
        for tool in ["note", "terminal"] {
            self.tools.describe(tool, prompts.raw(&format!("tools/{tool}"))?);
        }
        Ok(())
    }
}

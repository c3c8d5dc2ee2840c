//! The tool `note`: the seven operations of chapter 9.4 on the store of notes, for a model and
//! for library users.
//!
//! It adds nothing to the store but lenient arguments and texts: what a model means is taken
//! (`limit: "5"`, `tags: "a,b"`), what cannot be meant is refused with a sentence that names the
//! field. An effect is reported only after the write is on disk.

mod answer;
mod arguments;
mod names;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

pub use arguments::NoteArgs;

use self::arguments::{Action, Checked};
use super::{Tool, ToolContext};
use crate::notes::{Filter, NewNote, Note, NoteEdit, NoteError, NoteId, NoteStore};
use crate::prompts::Language;
use crate::protocol::{
    Effect, NoteAction, NoteChange, ToolError, ToolFailure, ToolFailureKind, ToolOutput,
};
use crate::support::clock::SystemClock;

/// Keeps, finds and changes notes.
#[derive(Clone)]
pub struct NoteTool {
    store: Arc<NoteStore>,
    /// For each note that was shown, the hash of what was shown: an update is made from that.
    shown: Arc<Mutex<HashMap<String, String>>>,
}

impl NoteTool {
    /// Returns the tool over a store.
    pub fn new(store: Arc<NoteStore>) -> Self {
        Self { store, shown: Arc::default() }
    }

    /// Returns the tool over a folder, with the system's clock: `NoteTool(workspace=…)` of the
    /// book.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        let clock = Arc::new(SystemClock::default());
        Self::new(Arc::new(NoteStore::open(folder.into(), clock)))
    }

    /// Returns the store.
    pub fn store(&self) -> &NoteStore {
        &self.store
    }

    /// Does what the parameters ask for, at once and without a session: `notes.run({…})` of the
    /// book. The parameters are those that the model has, as JSON. A search goes by words alone.
    pub fn run(&self, parameters: &Value) -> Result<ToolOutput, ToolFailure> {
        if !parameters.is_object() {
            return Err(arguments::unreadable("they are no JSON object"));
        }
        let arguments = serde_json::from_value(parameters.clone())
            .map_err(|error| arguments::unreadable(&error.to_string()))?;
        self.act(&arguments, Language::En)
    }

    fn act(&self, arguments: &NoteArgs, language: Language) -> Result<ToolOutput, ToolFailure> {
        let checked = arguments::check(arguments)?;
        let result = match checked.action {
            Action::Create => self.create(checked, language),
            Action::Read => self.read(&checked, language),
            Action::Update => self.update(checked, language),
            Action::Search => self.search(&checked, language),
            Action::List => self.list(&checked, language),
            Action::Summary => {
                self.store.summary().map(|summary| answer::summary(&summary, language))
            }
            Action::Delete => self.delete(&checked, language),
        };
        result.map_err(|error| failure(&error))
    }

    fn create(&self, checked: Checked, language: Language) -> Result<ToolOutput, NoteError> {
        let mut extra = self.with_whole_ids(checked.extra);
        if let Some(status) = checked.status {
            extra.insert("status".to_owned(), Value::from(status.as_str()));
        }
        let created = self.store.create_once(NewNote {
            title: checked.title.unwrap_or_default(),
            content: checked.content.unwrap_or_default(),
            kind: checked.kind.unwrap_or_default(),
            tags: checked.tags.unwrap_or_default(),
            extra,
        })?;
        if created.existed {
            return Ok(answer::existed(&created.note, language));
        }
        self.was_shown(&created.note);
        Ok(with_effect(answer::created(&created, language), NoteAction::Create, &created.note))
    }

    fn read(&self, checked: &Checked, language: Language) -> Result<ToolOutput, NoteError> {
        let note = self.store.read(&checked.note_id)?;
        self.was_shown(&note);
        Ok(answer::read(&note, language))
    }

    fn update(&self, checked: Checked, language: Language) -> Result<ToolOutput, NoteError> {
        let id = self.store.resolve(&checked.note_id)?;
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let made_from = shown.get(id.as_str()).cloned();
        drop(shown);
        let updated = self.store.update(
            id.as_str(),
            NoteEdit {
                title: checked.title,
                content: checked.content,
                kind: checked.kind,
                tags: checked.tags,
                status: checked.status,
                extra: self.with_whole_ids(checked.extra),
                force: checked.force,
                made_from,
            },
        )?;
        if !updated.merged {
            // After a merge the model has not seen what is there now.
            self.was_shown(&updated.note);
        }
        let output = answer::updated(&updated, language);
        if updated.changed.is_empty() {
            return Ok(output);
        }
        Ok(with_effect(output, NoteAction::Update, &updated.note))
    }

    /// Puts the whole id where the start or the end of one stands; what means no note stays, and
    /// the store refuses it.
    fn with_whole_ids(&self, mut extra: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
        if let Some(Value::Array(ids)) = extra.get_mut("depends_on") {
            for id in ids {
                let part = id.as_str().unwrap_or_default();
                if NoteId::parse(part).is_none()
                    && let Ok(whole) = self.store.resolve(part)
                {
                    *id = Value::from(whole.as_str());
                }
            }
        }
        extra
    }

    /// Does a search, with the store's scorer; none when something else is asked for.
    async fn find(
        &self,
        arguments: &NoteArgs,
        language: Language,
    ) -> Option<Result<ToolOutput, ToolFailure>> {
        let checked = arguments::check(arguments).ok()?;
        if checked.action != Action::Search {
            return None;
        }
        // A search takes no lock and waits for nobody but the scorer.
        let result = self.store.search_scored(&checked.query, &filter(&checked, 10)).await;
        let found = result.map(|result| answer::found(&checked.query, &result, language));
        Some(found.map_err(|error| failure(&error)))
    }

    fn search(&self, checked: &Checked, language: Language) -> Result<ToolOutput, NoteError> {
        let filter = filter(checked, 10);
        let result = self.store.search(&checked.query, &filter)?;
        Ok(answer::found(&checked.query, &result, language))
    }

    fn list(&self, checked: &Checked, language: Language) -> Result<ToolOutput, NoteError> {
        let listing = self.store.list(&filter(checked, 20))?;
        Ok(answer::listed(&listing, language))
    }

    fn delete(&self, checked: &Checked, language: Language) -> Result<ToolOutput, NoteError> {
        let note = self.store.delete(&checked.note_id)?;
        Ok(with_effect(answer::deleted(&note, language), NoteAction::Delete, &note))
    }

    fn was_shown(&self, note: &Note) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.insert(note.id.to_string(), note.hash.clone());
    }
}

impl Tool for NoteTool {
    const NAME: &'static str = "note";

    type Args = NoteArgs;

    fn only_reads(&self, arguments: &NoteArgs) -> bool {
        arguments::check(arguments).is_ok_and(|checked| match checked.action {
            Action::Read | Action::Search | Action::List | Action::Summary => true,
            Action::Create | Action::Update | Action::Delete => false,
        })
    }

    async fn call(
        &self,
        arguments: NoteArgs,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        let language = context.language;
        if let Some(found) = self.find(&arguments, language).await {
            return found.map_err(ToolError::Answerable);
        }
        let tool = self.clone();
        // Waiting for a disk or for another process's lock must not hold up the others. Once
        // begun, a write goes on to its end: an interrupted turn never leaves half of one.
        tokio::task::spawn_blocking(move || tool.act(&arguments, language))
            .await
            .map_err(|error| ToolError::Fatal(Box::new(error)))?
            .map_err(ToolError::Answerable)
    }
}

fn filter(checked: &Checked, limit: usize) -> Filter {
    Filter {
        kind: checked.kind,
        tags: checked.tags.clone().unwrap_or_default(),
        status: checked.status,
        limit: checked.limit.unwrap_or(limit),
    }
}

fn with_effect(mut output: ToolOutput, action: NoteAction, note: &Note) -> ToolOutput {
    output.effects.push(Effect::Note(NoteChange {
        action,
        id: note.id.to_string(),
        title: note.title.clone(),
        note_type: note.kind.to_string(),
    }));
    output
}

/// Puts an error of the store into words for a model: what went wrong, what is allowed, what to
/// try. No path outside of the notes folder is named.
fn failure(error: &NoteError) -> ToolFailure {
    let (kind, advice) = match error {
        NoteError::BadValue { .. } => (ToolFailureKind::BadArguments, "Correct it and call again."),
        NoteError::UnknownKind(_) | NoteError::UnknownStatus(_) => {
            (ToolFailureKind::BadArguments, "Use one of these.")
        }
        NoteError::BadId(_) => (
            ToolFailureKind::BadArguments,
            "An id looks like `note_20250119_153000_0`; `list` and `search` show the ids.",
        ),
        NoteError::NotFound(_) => {
            (ToolFailureKind::NotFound, "Use `list` or `search` to find the id.")
        }
        NoteError::Ambiguous { .. } => (ToolFailureKind::BadArguments, "Give the whole id."),
        NoteError::Unreadable { .. } => {
            (ToolFailureKind::Failed, "A person has to repair the file; create a new note instead.")
        }
        NoteError::DeletesMost { .. } => (
            ToolFailureKind::Refused,
            "Read the note and send the whole body with your change in it, or set `force` to true if the rest is really to go.",
        ),
        NoteError::Conflict { .. } => (
            ToolFailureKind::Refused,
            "Read the note again and make your change in what it says now.",
        ),
        NoteError::Secret { .. } => {
            (ToolFailureKind::Refused, "Leave the secret out and say where it is kept.")
        }
        NoteError::Cycle(_) => {
            (ToolFailureKind::Refused, "Leave one of these out of `depends_on`.")
        }
        NoteError::NothingToUndo | NoteError::ChangedAfter(_) => (ToolFailureKind::Refused, ""),
        NoteError::Locked { .. } => (ToolFailureKind::Failed, "Try once more a little later."),
        NoteError::BadFolder { .. } | NoteError::Io { .. } => {
            (ToolFailureKind::Failed, "Nothing was changed. Tell the user about it.")
        }
    };
    let what = match error {
        NoteError::Io { doing, source, .. } => format!("{doing} the notes failed: {source}"),
        NoteError::BadFolder { problem, .. } => format!("the notes folder {problem}"),
        NoteError::Locked { seconds, .. } => {
            format!("another process is writing notes and did not finish in {seconds} seconds")
        }
        NoteError::Conflict { diff, .. } => format!("{error}:\n{diff}"),
        other => other.to_string(),
    };
    ToolFailure {
        kind,
        for_model: sentence(&what, advice),
        for_human: what.lines().next().unwrap_or_default().to_owned(),
        effects: Vec::new(),
    }
}

fn sentence(what: &str, advice: &str) -> String {
    let what = what.trim_end();
    let mut letters = what.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    let end = if what.contains('\n') { "\n" } else { ". " };
    format!("{first}{}{end}{advice}", letters.as_str()).trim_end().to_owned()
}

#[cfg(test)]
mod tests;

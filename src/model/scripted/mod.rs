//! A model that follows a script: it checks what it is shown, then says and calls what the script
//! tells. So a dialog of several days is one deterministic test, and `--model script:FILE` tries
//! a whole session without any endpoint.
//!
//! It never improvises. A request that does not hold what the script wants to see, a step too
//! many and a step too few are all [`ModelError::Script`]; the last is told by
//! [`ChatModel::finish`].

mod excerpt;
mod failure;
mod script;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use futures::future::BoxFuture;

pub use script::ScriptError;

use failure::Failure;
use script::{Script, Step};

use super::{ChatModel, ChatReply, ChatRequest, Delta, Finish, ModelError, call_ids};
use crate::protocol::ToolCall;

/// Answers from a script, step by step.
#[derive(Debug)]
pub struct ScriptedModel {
    name: String,
    source: String,
    script: Script,
    progress: Mutex<Progress>,
}

/// How far a script is followed. The place in the script is the one thing that a scripted model
/// knows beside the request.
#[derive(Debug, Default)]
struct Progress {
    done: usize,
    mismatch: Option<ModelError>,
}

impl ScriptedModel {
    /// Reads a script from a file.
    pub fn from_file(path: &Path) -> Result<Self, ScriptError> {
        let source = path.display().to_string();
        let text = script::read_file(path)?;
        let file =
            path.file_name().map_or_else(|| source.clone(), |name| name.display().to_string());
        Ok(Self::new(&file, Script::parse(&text, &source)?, source))
    }

    /// Reads a script from a text; `name` stands for the file in messages.
    pub fn from_yaml(text: &str, name: &str) -> Result<Self, ScriptError> {
        Ok(Self::new(name, Script::parse(text, name)?, name.to_owned()))
    }

    /// Returns what the script says it shows.
    pub fn about(&self) -> Option<&str> {
        self.script.about.as_deref()
    }

    fn new(name: &str, script: Script, source: String) -> Self {
        let name = format!("script:{name}");
        Self { name, source, script, progress: Mutex::default() }
    }

    fn progress(&self) -> std::sync::MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the step that answers `request`, or what does not match. A step that was answered
    /// is done, also when its answer is a failure.
    fn advance(&self, request: &ChatRequest) -> Result<&Step, ModelError> {
        let mut progress = self.progress();
        let number = progress.done + 1;
        let matched = match self.script.steps.get(progress.done) {
            Some(step) => step.check(request).map(|()| step),
            None => Err(self.ran_out(request)),
        };
        match matched {
            Ok(step) => {
                progress.done = number;
                Ok(step)
            }
            Err(message) => {
                let error = self.error(number, message);
                progress.mismatch.get_or_insert_with(|| error.clone());
                Err(error)
            }
        }
    }

    fn ran_out(&self, request: &ChatRequest) -> String {
        let steps = match self.script.steps.len() {
            0 => "the script has no steps".to_owned(),
            1 => "the script has only one step".to_owned(),
            count => format!("the script has only {count} steps"),
        };
        format!("{steps}, and the model is asked again; {}", excerpt::end(&request.text()))
    }

    fn error(&self, step: usize, message: String) -> ModelError {
        ModelError::Script { script: self.source.clone(), step, message }
    }

    async fn follow(
        &self,
        request: &ChatRequest,
        deltas: &(dyn Fn(Delta) + Send + Sync),
    ) -> Result<ChatReply, ModelError> {
        let step = self.advance(request)?;
        if let Some(thought) = &step.thinks {
            deltas(Delta::Reasoning(thought.clone()));
        }
        let text = step.says.clone().unwrap_or_default();
        for word in text.split_inclusive([' ', '\n']) {
            deltas(Delta::Text(word.to_owned()));
        }
        let finish = match &step.fails {
            None => Finish::Stop,
            Some(Failure::Length) => Finish::Length,
            Some(Failure::Hangs) => std::future::pending().await,
            Some(Failure::Error(error)) => return Err(error.clone()),
        };
        let first = call_ids::next_number(request);
        let calls = step.calls.iter().enumerate().map(|(index, call)| ToolCall {
            id: call_ids::id(first + index),
            name: call.tool.clone(),
            arguments: call.arguments.clone(),
            extra: None,
        });
        Ok(ChatReply {
            text,
            reasoning: step.thinks.clone(),
            calls: calls.collect(),
            finish,
            ..ChatReply::default()
        })
    }
}

impl ChatModel for ScriptedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(self.follow(request, deltas))
    }

    fn finish(&self) -> Result<(), ModelError> {
        let progress = self.progress();
        if let Some(mismatch) = &progress.mismatch {
            return Err(mismatch.clone());
        }
        let left = self.script.steps.len() - progress.done;
        if left == 0 {
            return Ok(());
        }
        let steps = if left == 1 { "one step was" } else { "some steps were" };
        let next = self.script.steps.get(progress.done).map(Step::describe).unwrap_or_default();
        let total = self.script.steps.len();
        let message = format!("{steps} never asked for ({left} of {total}); the next one {next}");
        Err(self.error(progress.done + 1, message))
    }
}

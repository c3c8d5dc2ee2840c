//! Writes a live dialog as a script, which [`ScriptedModel`](super::scripted::ScriptedModel)
//! follows later: a session with a real endpoint becomes a test without one.
//!
//! The recording is written after each reply, so a session that is killed leaves what it had. It
//! changes nothing in what passes through; that it cannot be written is a warning of the reply.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;

use super::{ChatModel, ChatReply, ChatRequest, Delta, Finish, ModelError};
use crate::protocol::ToolCall;
use crate::support::atomic_file;
use crate::support::yaml::{self, Mapping, Value};

/// A model whose answers are written down.
pub struct RecordedModel {
    inner: Arc<dyn ChatModel>,
    path: PathBuf,
    steps: Mutex<Vec<Value>>,
}

impl RecordedModel {
    /// Begins a recording in a file of its own; what the file held is gone. That it cannot be
    /// written shows here, before anything is asked.
    pub fn new(inner: Arc<dyn ChatModel>, path: impl Into<PathBuf>) -> io::Result<Self> {
        let recorded = Self { inner, path: path.into(), steps: Mutex::default() };
        recorded.write(&[])?;
        Ok(recorded)
    }

    fn record(&self, reply: &Result<ChatReply, ModelError>) -> io::Result<()> {
        let Some(step) = step(reply) else { return Ok(()) };
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.push(step);
        self.write(&steps)
    }

    fn write(&self, steps: &[Value]) -> io::Result<()> {
        let mut script = Mapping::new();
        let about = format!("recorded from {}", self.inner.name());
        script.insert("about".into(), about.into());
        script.insert("steps".into(), Value::Sequence(steps.to_vec()));
        let text = yaml::write(&script).map_err(io::Error::other)?;
        atomic_file::replace(&self.path, text.as_bytes())
    }
}

impl ChatModel for RecordedModel {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        deltas: &'a (dyn Fn(Delta) + Send + Sync),
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        Box::pin(async move {
            let mut reply = self.inner.chat(request, deltas).await;
            if let (Err(error), Ok(reply)) = (self.record(&reply), &mut reply) {
                let path = self.path.display();
                reply
                    .warnings
                    .push(format!("the recording `{path}` could not be written: {error}"));
            }
            reply
        })
    }

    fn prepare(&self) -> BoxFuture<'_, Vec<String>> {
        self.inner.prepare()
    }

    fn window(&self) -> Option<usize> {
        self.inner.window()
    }

    fn sends_reasoning(&self) -> bool {
        self.inner.sends_reasoning()
    }

    fn finish(&self) -> Result<(), ModelError> {
        self.inner.finish()
    }
}

/// Returns an answer as a step of a script; none for what is no answer of the model.
fn step(reply: &Result<ChatReply, ModelError>) -> Option<Value> {
    let mut step = Mapping::new();
    match reply {
        Ok(reply) => {
            if let Some(thought) = &reply.reasoning {
                step.insert("thinks".into(), thought.as_str().into());
            }
            if !reply.text.is_empty() || reply.calls.is_empty() {
                step.insert("says".into(), reply.text.as_str().into());
            }
            if !reply.calls.is_empty() {
                let calls = reply.calls.iter().map(call).collect();
                step.insert("calls".into(), Value::Sequence(calls));
            }
            if reply.finish == Finish::Length {
                step.insert("fails".into(), "length".into());
            }
        }
        Err(error) => {
            step.insert("fails".into(), failure(error)?);
        }
    }
    Some(Value::Mapping(step))
}

fn call(call: &ToolCall) -> Value {
    let mut step = Mapping::new();
    step.insert("tool".into(), call.name.as_str().into());
    // Arguments that are no object were malformed, and must be so again.
    let arguments: Option<Mapping> = serde_json::from_str(&call.arguments).ok();
    let arguments = arguments.map_or_else(|| call.arguments.as_str().into(), Value::Mapping);
    step.insert("with".into(), arguments);
    Value::Mapping(step)
}

fn failure(error: &ModelError) -> Option<Value> {
    let mut failure = Mapping::new();
    let mut put = |key: &str, value: Value| drop(failure.insert(key.into(), value));
    let mut describe = |kind: &str, message: &str| {
        put("kind", kind.into());
        put("message", message.into());
    };
    match error {
        ModelError::Busy { message, .. } => describe("busy", message),
        ModelError::Unavailable { message, .. } => describe("unavailable", message),
        ModelError::Silent { message, .. } => describe("silent", message),
        ModelError::Truncated(message) => describe("cut", message),
        ModelError::Quota(message) => describe("quota", message),
        ModelError::Credentials(message) => describe("credentials", message),
        ModelError::Overflow { message, .. } => describe("overflow", message),
        ModelError::Endpoint { message, .. } => describe("endpoint", message),
        ModelError::Script { .. } => return None,
    }
    match error {
        ModelError::Busy { retry_after: Some(wait), .. }
        | ModelError::Unavailable { retry_after: Some(wait), .. } => {
            put("retry_after", wait.as_secs().into());
        }
        ModelError::Overflow { window: Some(window), .. } => put("window", (*window).into()),
        ModelError::Busy { .. }
        | ModelError::Unavailable { .. }
        | ModelError::Silent { .. }
        | ModelError::Truncated(_)
        | ModelError::Quota(_)
        | ModelError::Credentials(_)
        | ModelError::Overflow { .. }
        | ModelError::Endpoint { .. }
        | ModelError::Script { .. } => {}
    }
    Some(Value::Mapping(failure))
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use pretty_assertions::assert_eq;

    use super::*;
    use crate::model::scripted::ScriptedModel;

    const SCRIPT: &str = "steps:\n  - thinks: hm\n    says: |\n      # 依赖\n\n      two  lines: \"x\"\n    calls:\n      - {tool: note, with: {action: create, title: '12', tags: [a, 'true'], limit: 5, nested: {z: 1, a: null}}}\n      - {tool: terminal, with: '{\"command\": \"ls'}\n  - {fails: {kind: busy, retry_after: 3, message: slow down}}\n  - {fails: {kind: overflow, window: 4096}}\n  - {fails: cut}\n  - {fails: length, says: half, calls: [{tool: note, with: {}}]}\n  - {says: ''}\n  - says: done\n";

    fn replies(model: &dyn ChatModel) -> Vec<Result<ChatReply, ModelError>> {
        let request = ChatRequest { messages: Vec::new(), tools: Vec::new() };
        let ask = |_| model.chat(&request, &|_| {}).now_or_never().unwrap();
        (0..7).map(ask).collect()
    }

    #[test]
    fn a_recording_is_a_script_that_gives_the_same_dialog() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dialog.yaml");
        let live = Arc::new(ScriptedModel::from_yaml(SCRIPT, "live.yaml").unwrap());
        let recorded = RecordedModel::new(live, &path).unwrap();
        let first = replies(&recorded);
        assert_eq!(recorded.finish(), Ok(()));
        let again = ScriptedModel::from_file(&path).unwrap();
        assert_eq!(again.about(), Some("recorded from script:live.yaml"));
        assert_eq!(replies(&again), first);
        assert_eq!(again.finish(), Ok(()));
    }

    #[test]
    fn a_file_that_cannot_be_written_is_told_before_the_first_request() {
        let folder = tempfile::tempdir().unwrap();
        let live: Arc<dyn ChatModel> =
            Arc::new(ScriptedModel::from_yaml("steps: [{says: x}]", "s").unwrap());
        let missing = folder.path().join("no/such/folder.yaml");
        assert!(RecordedModel::new(Arc::clone(&live), missing).is_err());
    }

    #[test]
    fn a_recording_that_fails_half_way_is_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub/dialog.yaml");
        atomic_file::make_folder(path.parent().unwrap()).unwrap();
        let live = Arc::new(ScriptedModel::from_yaml("steps: [{says: x}]", "s").unwrap());
        let recorded = RecordedModel::new(live, &path).unwrap();
        std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
        let request = ChatRequest { messages: Vec::new(), tools: Vec::new() };
        let reply = recorded.chat(&request, &|_| {}).now_or_never().unwrap().unwrap();
        assert_eq!(reply.text, "x");
        assert!(reply.warnings[0].starts_with("the recording `"), "{:?}", reply.warnings);
    }
}

//! The file: what it may hold, and what is wrong with it in a sentence.

use std::path::Path;

use serde_json::Value as Json;

use super::super::ChatRequest;
use super::excerpt;
use super::failure::{Details, Failure, KINDS};
use crate::support::nearest::nearest;
use crate::support::yaml::{self, Mapping, Value};

/// The YAML parser is quadratic on hostile nesting; a script of this size would hold a long dialog.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Why a script cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("the script `{script}` cannot be read")]
    Unreadable {
        /// The file.
        script: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is too large to be a script.
    #[error("the script `{script}` has {bytes} bytes, and may have {LARGEST}")]
    TooLarge {
        /// The file.
        script: String,
        /// Its size.
        bytes: u64,
    },
    /// The file is not YAML.
    #[error("the script `{script}` is not YAML")]
    NotYaml {
        /// The file.
        script: String,
        /// What is wrong, with the line.
        source: yaml::Error,
    },
    /// The file is YAML and not a script.
    #[error("the script `{script}`: {message}")]
    NotAScript {
        /// The file.
        script: String,
        /// What is wrong, and where.
        message: String,
    },
}

/// A script, read and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Script {
    pub(super) about: Option<String>,
    pub(super) steps: Vec<Step>,
}

/// One request and its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) sees: Vec<String>,
    pub(super) misses: Vec<String>,
    pub(super) thinks: Option<String>,
    pub(super) says: Option<String>,
    pub(super) calls: Vec<Call>,
    pub(super) fails: Option<Failure>,
}

/// One call of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: String,
}

/// Reads a script's file.
pub(super) fn read_file(path: &Path) -> Result<String, ScriptError> {
    let script = path.display().to_string();
    let unreadable = |source| ScriptError::Unreadable { script: script.clone(), source };
    let bytes = std::fs::metadata(path).map_err(unreadable)?.len();
    if bytes > LARGEST {
        return Err(ScriptError::TooLarge { script, bytes });
    }
    std::fs::read_to_string(path).map_err(unreadable)
}

impl Script {
    /// Reads a script; `script` names it in errors.
    pub(super) fn parse(text: &str, script: &str) -> Result<Self, ScriptError> {
        let value: Value = yaml::read(text)
            .map_err(|source| ScriptError::NotYaml { script: script.to_owned(), source })?;
        read_script(&value)
            .map_err(|message| ScriptError::NotAScript { script: script.to_owned(), message })
    }
}

impl Step {
    /// Returns what `request` lacks or has too much of.
    pub(super) fn check(&self, request: &ChatRequest) -> Result<(), String> {
        if self.sees.is_empty() && self.misses.is_empty() {
            return Ok(());
        }
        let text = request.text();
        for wanted in &self.sees {
            if !text.contains(wanted) {
                let closest = excerpt::closest(&text, wanted);
                return Err(format!("the request does not hold {wanted:?}; {closest}"));
            }
        }
        for unwanted in &self.misses {
            if let Some(at) = text.find(unwanted) {
                let place = excerpt::place(&text, at, unwanted);
                return Err(format!("the request must not hold {unwanted:?}; {place}"));
            }
        }
        Ok(())
    }

    /// Returns what the step would do, to tell it from the others.
    pub(super) fn describe(&self) -> String {
        let text = self.says.as_deref().unwrap_or_default();
        match self.calls.first() {
            Some(call) => format!("calls `{}` with {}", call.tool, first_words(&call.arguments)),
            None if self.fails.is_some() => "fails".to_owned(),
            None => format!("says {:?}", first_words(text)),
        }
    }
}

fn first_words(text: &str) -> String {
    let mut words: String = text.chars().take(80).collect();
    if words.len() < text.len() {
        words.push('…');
    }
    words
}

fn read_script(value: &Value) -> Result<Script, String> {
    let map = mapping(value, "a script", &["about", "steps"])?;
    let about = optional_text(map, "about", "the script")?;
    let steps = match map.get("steps") {
        Some(Value::Sequence(steps)) => steps,
        Some(_) => return Err("`steps` must be a list".to_owned()),
        None => return Err("`steps` is missing: a list of what the model answers".to_owned()),
    };
    let steps = steps.iter().enumerate();
    let steps = steps.map(|(index, step)| read_step(step, &format!("step {}", index + 1)));
    Ok(Script { about, steps: steps.collect::<Result<_, _>>()? })
}

fn read_step(value: &Value, place: &str) -> Result<Step, String> {
    let known = ["sees", "misses", "thinks", "says", "calls", "fails"];
    let map = mapping(value, place, &known)?;
    let calls = match map.get("calls") {
        None => Vec::new(),
        Some(Value::Sequence(calls)) => calls
            .iter()
            .enumerate()
            .map(|(index, call)| read_call(call, &format!("{place}, call {}", index + 1)))
            .collect::<Result<_, _>>()?,
        Some(_) => return Err(format!("{place}: `calls` must be a list of `{{tool, with}}`")),
    };
    let step = Step {
        sees: texts(map, "sees", place)?,
        misses: texts(map, "misses", place)?,
        thinks: optional_text(map, "thinks", place)?,
        says: optional_text(map, "says", place)?,
        calls,
        fails: map.get("fails").map(|value| read_failure(value, place)).transpose()?,
    };
    match &step.fails {
        None if step.says.is_none() && step.calls.is_empty() => {
            Err(format!("{place} answers nothing: it needs `says`, `calls` or `fails`"))
        }
        Some(Failure::Error(_) | Failure::Hangs) if !step.calls.is_empty() => {
            Err(format!("{place} has `calls`, which never arrive when it `fails` this way"))
        }
        None | Some(_) => Ok(step),
    }
}

fn read_call(value: &Value, place: &str) -> Result<Call, String> {
    let map = mapping(value, place, &["tool", "with"])?;
    let tool = optional_text(map, "tool", place)?
        .ok_or_else(|| format!("{place}: `tool` is missing: the name of the tool to call"))?;
    let arguments = match map.get("with") {
        None | Some(Value::Null) => "{}".to_owned(),
        // A text goes out as it is, so that malformed arguments can be scripted too.
        Some(Value::String(raw)) => raw.clone(),
        Some(value @ Value::Mapping(_)) => serde_json::to_value(value)
            .map(|json: Json| json.to_string())
            .map_err(|error| format!("{place}: `with` has no JSON form: {error}"))?,
        Some(_) => return Err(format!("{place}: `with` must be the arguments by name")),
    };
    Ok(Call { tool, arguments })
}

fn read_failure(value: &Value, place: &str) -> Result<Failure, String> {
    let (kind, details) = match value {
        Value::String(kind) => (kind.clone(), Details::default()),
        Value::Mapping(_) => {
            let place = format!("{place}, `fails`");
            let map = mapping(value, &place, &["kind", "message", "retry_after", "window"])?;
            let kind = optional_text(map, "kind", &place)?
                .ok_or_else(|| format!("{place}: `kind` is missing"))?;
            let details = Details {
                message: optional_text(map, "message", &place)?,
                retry_after: optional_number(map, "retry_after", &place)?,
                window: optional_number(map, "window", &place)?
                    .map(|window| usize::try_from(window).unwrap_or(usize::MAX)),
            };
            (kind, details)
        }
        _ => return Err(format!("{place}: `fails` must be one of {}", KINDS.join(", "))),
    };
    Failure::new(&kind, details).ok_or_else(|| {
        let meant = nearest(&kind, KINDS).map(|meant| format!("; did you mean `{meant}`?"));
        let meant = meant.unwrap_or_default();
        format!("{place}: unknown failure `{kind}`; the kinds are {}{meant}", KINDS.join(", "))
    })
}

/// Returns the mapping at `place`, which may have the known keys only.
fn mapping<'a>(value: &'a Value, place: &str, known: &[&str]) -> Result<&'a Mapping, String> {
    let Value::Mapping(map) = value else {
        return Err(format!("{place} must have keys: {}", known.join(", ")));
    };
    for key in map.keys() {
        let key = key.as_str().ok_or_else(|| format!("{place}: every key must be a word"))?;
        if !known.contains(&key) {
            let hint = match nearest(key, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("the keys are {}", known.join(", ")),
            };
            return Err(format!("{place}: unknown key `{key}`; {hint}"));
        }
    }
    Ok(map)
}

fn optional_text(map: &Mapping, key: &str, place: &str) -> Result<Option<String>, String> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            scalar(value).map(Some).ok_or_else(|| format!("{place}: `{key}` must be a text"))
        }
    }
}

fn optional_number(map: &Mapping, key: &str, place: &str) -> Result<Option<u64>, String> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| format!("{place}: `{key}` must be a whole number, 0 or more")),
    }
}

/// Returns the texts under a key: a list, or one text alone.
fn texts(map: &Mapping, key: &str, place: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("{place}: `{key}` must be a list of texts");
    let texts: Vec<String> = match map.get(key) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Sequence(items)) => {
            items.iter().map(|item| scalar(item).ok_or_else(wrong)).collect::<Result<_, _>>()?
        }
        Some(value) => vec![scalar(value).ok_or_else(wrong)?],
    };
    if texts.iter().any(String::is_empty) {
        return Err(format!("{place}: `{key}` has an empty text, which is in every request"));
    }
    Ok(texts)
}

/// Returns a text, also where YAML reads an unquoted one as a number or as true or false.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(answer) => Some(answer.to_string()),
        Value::Null | Value::Sequence(_) | Value::Mapping(_) | Value::Tagged(_) => None,
    }
}

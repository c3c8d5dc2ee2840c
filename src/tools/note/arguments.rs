//! The arguments of the tool `note`: what the model may write, and what is made of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Map, Value};

use super::names;
use crate::notes::{NoteKind, Status};
use crate::protocol::{ToolFailure, ToolFailureKind};

/// What a model may write; the schema tells what it should, and `check` takes what it means.
#[derive(Debug, Clone, Default, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoteArgs {
    /// What to do.
    #[schemars(with = "Action")]
    action: Option<Value>,
    /// One line that says what the note is about (create, update).
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    title: Option<Value>,
    /// The body in Markdown (create); for update the whole new body.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    content: Option<Value>,
    /// The type of note; `general` for a new one. Narrows search and list.
    #[serde(default)]
    #[schemars(with = "Option<KindName>")]
    note_type: Option<Value>,
    /// Short words (create, update). For search and list: notes with any of them.
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>")]
    tags: Option<Value>,
    /// The id of a note (read, update, delete); a beginning or end that fits one note will do.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    note_id: Option<Value>,
    /// What to search for: words in any language, identifiers or paths.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    query: Option<Value>,
    /// How many to show at most: 10 for search and 20 for list unless set.
    #[serde(default)]
    #[schemars(with = "Option<u32>", range(min = 1, max = 1000))]
    limit: Option<Value>,
    /// Where the matter stands (create, update). Narrows search and list.
    #[serde(default)]
    #[schemars(with = "Option<StatusName>")]
    status: Option<Value>,
    /// The line of work that the note belongs to (create, update); its first tag unless set.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    thread: Option<Value>,
    /// The ids of notes that must be done before this one (create, update).
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>")]
    depends_on: Option<Value>,
    /// For an update that deletes more than half of the body: do it all the same.
    #[serde(default)]
    #[schemars(with = "Option<bool>")]
    force: Option<Value>,
}

impl<'de> Deserialize<'de> for NoteArgs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut arguments = Self::default();
        for (written, value) in Map::deserialize(deserializer)? {
            let name = names::parameter(&written).map_err(D::Error::custom)?;
            let place = arguments.place(name);
            if place.as_ref().is_some_and(|other| *other != value && !value.is_null()) {
                let message = format!("`{name}` is there twice, with different values");
                return Err(D::Error::custom(message));
            }
            if !value.is_null() {
                *place = Some(value);
            }
        }
        Ok(arguments)
    }
}

impl NoteArgs {
    fn place(&mut self, name: names::Parameter) -> &mut Option<Value> {
        match name {
            names::Parameter::Action => &mut self.action,
            names::Parameter::Title => &mut self.title,
            names::Parameter::Content => &mut self.content,
            names::Parameter::NoteType => &mut self.note_type,
            names::Parameter::Tags => &mut self.tags,
            names::Parameter::NoteId => &mut self.note_id,
            names::Parameter::Query => &mut self.query,
            names::Parameter::Limit => &mut self.limit,
            names::Parameter::Status => &mut self.status,
            names::Parameter::Thread => &mut self.thread,
            names::Parameter::DependsOn => &mut self.depends_on,
            names::Parameter::Force => &mut self.force,
        }
    }
}

/// The operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Action {
    Create,
    Read,
    Update,
    Search,
    List,
    Summary,
    Delete,
}

/// The types, for the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used; the type itself is `NoteKind`")]
enum KindName {
    TaskState,
    Conclusion,
    Blocker,
    Action,
    Reference,
    General,
}

/// The statuses, for the schema.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used; the type itself is `Status`")]
enum StatusName {
    Open,
    Doing,
    Done,
    Superseded,
    Dropped,
}

/// Arguments that were understood, with all that their action needs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Checked {
    pub(super) action: Action,
    pub(super) title: Option<String>,
    pub(super) content: Option<String>,
    pub(super) kind: Option<NoteKind>,
    pub(super) tags: Option<Vec<String>>,
    pub(super) note_id: String,
    pub(super) query: String,
    pub(super) limit: Option<usize>,
    pub(super) status: Option<Status>,
    pub(super) extra: BTreeMap<String, Value>,
    pub(super) force: bool,
}

/// Takes what is meant, and refuses what cannot be.
pub(super) fn check(arguments: &NoteArgs) -> Result<Checked, ToolFailure> {
    let action = action(arguments.action.as_ref())?;
    let checked = Checked {
        action,
        title: text("title", arguments.title.as_ref())?.map(|title| title.trim().to_owned()),
        content: text("content", arguments.content.as_ref())?,
        kind: kind(arguments.note_type.as_ref())?,
        tags: list("tags", arguments.tags.as_ref())?,
        note_id: text("note_id", arguments.note_id.as_ref())?.unwrap_or_default(),
        query: text("query", arguments.query.as_ref())?.unwrap_or_default(),
        limit: limit(arguments.limit.as_ref())?,
        status: status(arguments.status.as_ref())?,
        extra: extra(arguments)?,
        force: truth("force", arguments.force.as_ref())?,
    };
    let need = |field: &str, is_there: bool, what: &str| {
        if is_there { Ok(()) } else { Err(missing(arguments, field, what)) }
    };
    match action {
        Action::Create => {
            need(
                "title",
                is_filled(checked.title.as_deref()),
                "one line that says what the note is about",
            )?;
            need("content", is_filled(checked.content.as_deref()), "the body in Markdown")?;
        }
        Action::Read | Action::Delete => {
            need("note_id", !checked.note_id.trim().is_empty(), "the id of a note")?;
        }
        Action::Update => {
            need("note_id", !checked.note_id.trim().is_empty(), "the id of a note")?;
            let changes = checked.title.is_some()
                || checked.content.is_some()
                || checked.kind.is_some()
                || checked.tags.is_some()
                || checked.status.is_some()
                || !checked.extra.is_empty();
            if !changes {
                return Err(bad(
                    "`update` needs something to change: `title`, `content`, `note_type`, `tags`, `status`, `thread` or `depends_on`.",
                ));
            }
        }
        Action::Search => {
            need(
                "query",
                !checked.query.trim().is_empty(),
                "words, identifiers or paths to search for",
            )?;
        }
        Action::List | Action::Summary => {}
    }
    Ok(checked)
}

/// Returns the failure for parameters that are no arguments at all.
pub(super) fn unreadable(error: &str) -> ToolFailure {
    bad(&format!(
        "The arguments could not be read: {error}. They must be one JSON object with `action` and what that action needs."
    ))
}

const ACTIONS: [(&str, Action); 7] = [
    ("create", Action::Create),
    ("read", Action::Read),
    ("update", Action::Update),
    ("search", Action::Search),
    ("list", Action::List),
    ("summary", Action::Summary),
    ("delete", Action::Delete),
];

/// No list is longer.
const MAX_LIMIT: u64 = 1000;

fn action(value: Option<&Value>) -> Result<Action, ToolFailure> {
    let names = ACTIONS.map(|(name, _)| format!("`{name}`")).join(", ");
    let written = match value {
        None | Some(Value::Null) => {
            return Err(bad(&format!("`action` is missing. It must be one of {names}.")));
        }
        Some(Value::String(written)) => written.trim().to_owned(),
        Some(other) => other.to_string(),
    };
    let plain = names::plain(&written);
    // `create_note` and `list_notes` say no more.
    let without_note = plain.trim_end_matches('s').trim_end_matches("_note");
    let known = ACTIONS.into_iter().find(|(name, _)| [plain.as_str(), without_note].contains(name));
    known.map(|(_, action)| action).ok_or_else(|| {
        bad(&format!("`action` is `{written}`, which there is not. It must be one of {names}."))
    })
}

fn text(field: &str, value: Option<&Value>) -> Result<Option<String>, ToolFailure> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(other) => Err(bad(&format!("`{field}` is {}. It must be a string.", name_of(other)))),
    }
}

fn list(field: &str, value: Option<&Value>) -> Result<Option<Vec<String>>, ToolFailure> {
    let wrong = |other: &Value| {
        bad(&format!(
            "`{field}` has {} in it. It must be a list of strings, like [\"backend\", \"urgent\"].",
            name_of(other)
        ))
    };
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => list(field, Some(&Value::Array(items))),
            _ => Ok(Some(words_between_commas(text))),
        },
        Some(Value::Number(number)) => Ok(Some(vec![number.to_string()])),
        Some(Value::Array(items)) => {
            let mut found: Vec<String> = Vec::with_capacity(items.len());
            let mut add = |text: &str| {
                if !text.is_empty() && !found.iter().any(|known| known == text) {
                    found.push(text.to_owned());
                }
            };
            for item in items {
                match item {
                    Value::Null => {}
                    Value::String(text) => add(text.trim()),
                    Value::Number(number) => add(&number.to_string()),
                    Value::Array(_) => {
                        list(field, Some(item))?.iter().flatten().for_each(|text| add(text));
                    }
                    other => return Err(wrong(other)),
                }
            }
            Ok(Some(found))
        }
        Some(other) => Err(bad(&format!(
            "`{field}` is {}. It must be a list of strings, like [\"backend\", \"urgent\"].",
            name_of(other)
        ))),
    }
}

/// Returns the words of `a, b`, and of `['a', 'b']` as other languages write a list.
fn words_between_commas(text: &str) -> Vec<String> {
    let inside = text.trim().strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let is_list = inside.is_some();
    let words = inside.unwrap_or(text).split([',', '，', '、']).map(str::trim);
    let bare = |word: &str| {
        let unquoted = is_list.then(|| word.trim_matches(['\'', '"']).trim());
        unquoted.unwrap_or(word).to_owned()
    };
    words.map(bare).filter(|word| !word.is_empty()).collect()
}

fn limit(value: Option<&Value>) -> Result<Option<usize>, ToolFailure> {
    let number = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(number)) => number.as_u64().or_else(|| whole(number.as_f64()?)),
        Some(Value::String(text)) if text.trim().is_empty() => return Ok(None),
        Some(Value::String(text)) => {
            let text = text.trim();
            text.parse().ok().or_else(|| whole(text.parse().ok()?))
        }
        Some(_) => None,
    };
    match number {
        // Who asks for more means all; the answer says how many there are.
        Some(number) if number >= 1 => Ok(usize::try_from(number.min(MAX_LIMIT)).ok()),
        _ => {
            let written = value.map(Value::to_string).unwrap_or_default();
            Err(bad(&format!(
                "`limit` is {written}. It must be a whole number from 1 to {MAX_LIMIT}."
            )))
        }
    }
}

/// Returns `5.0` as 5.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the fraction is zero, and what is out of range becomes the nearest that is in it"
)]
fn whole(number: f64) -> Option<u64> {
    (number.is_finite() && number.fract() == 0.0 && number >= 0.0).then_some(number as u64)
}

fn truth(field: &str, value: Option<&Value>) -> Result<bool, ToolFailure> {
    match value {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(truth)) => Ok(*truth),
        Some(other) => {
            let written = other.as_str().map_or_else(|| other.to_string(), str::to_lowercase);
            match written.trim() {
                "true" | "yes" | "1" => Ok(true),
                "false" | "no" | "0" | "" => Ok(false),
                _ => Err(bad(&format!("`{field}` is {written}. It must be true or false."))),
            }
        }
    }
}

fn kind(value: Option<&Value>) -> Result<Option<NoteKind>, ToolFailure> {
    let Some(written) = text("note_type", value)?.filter(|written| !written.trim().is_empty())
    else {
        return Ok(None);
    };
    names::kind(&written).map(Some).ok_or_else(|| {
        let names = NoteKind::ALL.map(|kind| format!("`{kind}`")).join(", ");
        bad(&format!("`note_type` is `{written}`, which there is not. It must be one of {names}."))
    })
}

fn status(value: Option<&Value>) -> Result<Option<Status>, ToolFailure> {
    let Some(written) = text("status", value)?.filter(|written| !written.trim().is_empty()) else {
        return Ok(None);
    };
    Status::parse(&names::plain(&written)).map(Some).ok_or_else(|| {
        let names = Status::ALL.map(|status| format!("`{status}`")).join(", ");
        bad(&format!("`status` is `{written}`, which there is not. It must be one of {names}."))
    })
}

fn extra(arguments: &NoteArgs) -> Result<BTreeMap<String, Value>, ToolFailure> {
    let mut extra = BTreeMap::new();
    if let Some(thread) = text("thread", arguments.thread.as_ref())? {
        let thread = if thread.trim().is_empty() { Value::Null } else { Value::from(thread) };
        extra.insert("thread".to_owned(), thread);
    }
    if let Some(ids) = list("depends_on", arguments.depends_on.as_ref())? {
        extra.insert("depends_on".to_owned(), Value::from(ids));
    }
    Ok(extra)
}

fn is_filled(text: Option<&str>) -> bool {
    text.is_some_and(|text| !text.trim().is_empty())
}

fn missing(arguments: &NoteArgs, field: &str, what: &str) -> ToolFailure {
    let action = arguments.action.as_ref().and_then(Value::as_str).unwrap_or_default();
    bad(&format!("`{action}` needs `{field}`, and it is missing or empty. It must be {what}."))
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn bad(sentence: &str) -> ToolFailure {
    ToolFailure {
        kind: ToolFailureKind::BadArguments,
        for_model: sentence.to_owned(),
        for_human: format!("bad arguments for `note`: {}", sentence.trim_end_matches('.')),
        effects: Vec::new(),
    }
}

//! The arguments of the tool `note`: what the model may write, and what is made of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::notes::{NoteKind, Status};
use crate::protocol::{ToolFailure, ToolFailureKind};

/// What a model may write; the schema tells what it should, and `check` takes what it means.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
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
    #[serde(default, alias = "type")]
    #[schemars(with = "Option<KindName>")]
    note_type: Option<Value>,
    /// Short words (create, update). For search and list: notes with any of them.
    #[serde(default)]
    #[schemars(with = "Option<Vec<String>>")]
    tags: Option<Value>,
    /// The id of a note (read, update, delete); a beginning or end that fits one note will do.
    #[serde(default, alias = "id")]
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

/// The operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
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
        title: text("title", arguments.title.as_ref())?,
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
        Some(Value::String(written)) => written.trim().to_lowercase(),
        Some(other) => other.to_string(),
    };
    let known = ACTIONS.into_iter().find(|(name, _)| *name == written);
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
        Some(Value::Array(items)) => {
            let mut list = Vec::with_capacity(items.len());
            for item in items {
                match item {
                    Value::String(text) if text.trim().is_empty() => {}
                    Value::String(text) => list.push(text.trim().to_owned()),
                    Value::Number(number) => list.push(number.to_string()),
                    other => return Err(wrong(other)),
                }
            }
            Ok(Some(list))
        }
        Some(other) => Err(bad(&format!(
            "`{field}` is {}. It must be a list of strings, like [\"backend\", \"urgent\"].",
            name_of(other)
        ))),
    }
}

fn words_between_commas(text: &str) -> Vec<String> {
    let words = text.split([',', '，', '、']).map(str::trim);
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn limit(value: Option<&Value>) -> Result<Option<usize>, ToolFailure> {
    let number = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(number)) => number.as_u64().or_else(|| whole(number.as_f64()?)),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    match number {
        Some(number) if (1..=MAX_LIMIT).contains(&number) => Ok(usize::try_from(number).ok()),
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
    reason = "the range was checked, and the fraction is zero"
)]
fn whole(number: f64) -> Option<u64> {
    let is_whole = number.fract() == 0.0 && (0.0..1e9).contains(&number);
    is_whole.then_some(number as u64)
}

fn truth(field: &str, value: Option<&Value>) -> Result<bool, ToolFailure> {
    match value {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(truth)) => Ok(*truth),
        Some(Value::String(text)) if text == "true" => Ok(true),
        Some(Value::String(text)) if text == "false" || text.is_empty() => Ok(false),
        Some(other) => {
            Err(bad(&format!("`{field}` is {}. It must be true or false.", name_of(other))))
        }
    }
}

fn kind(value: Option<&Value>) -> Result<Option<NoteKind>, ToolFailure> {
    let Some(written) = text("note_type", value)?.filter(|written| !written.is_empty()) else {
        return Ok(None);
    };
    NoteKind::parse(written.trim()).map(Some).ok_or_else(|| {
        let names = NoteKind::ALL.map(|kind| format!("`{kind}`")).join(", ");
        bad(&format!("`note_type` is `{written}`, which there is not. It must be one of {names}."))
    })
}

fn status(value: Option<&Value>) -> Result<Option<Status>, ToolFailure> {
    let Some(written) = text("status", value)?.filter(|written| !written.is_empty()) else {
        return Ok(None);
    };
    Status::parse(written.trim()).map(Some).ok_or_else(|| {
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

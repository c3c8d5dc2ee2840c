//! What a note may be made of. Every refusal names the field, what was wrong and what is allowed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::error::NoteError;
use super::format::{CORE_KEYS, LINE_BREAKS};
use super::note::{NewNote, NoteEdit, NoteId, Status};
use super::secrets;

/// The longest title, in characters.
const MAX_TITLE: usize = 200;

/// The longest body, in bytes.
const MAX_CONTENT: usize = 1 << 20;

/// The most tags, and the longest one in characters.
const MAX_TAGS: usize = 32;
const MAX_TAG: usize = 64;

/// Checks a new note.
pub(super) fn new_note(new: &NewNote) -> Result<(), NoteError> {
    title(&new.title)?;
    content(&new.content)?;
    tags(&new.tags)?;
    extra(&new.extra)?;
    no_secret("title", &new.title)?;
    new.tags.iter().try_for_each(|tag| no_secret("tags", tag))?;
    no_secret_in(&new.extra)?;
    no_secret("content", &new.content)
}

/// Checks an edit.
pub(super) fn edit(edit: &NoteEdit) -> Result<(), NoteError> {
    edit.title.as_deref().map_or(Ok(()), title)?;
    edit.content.as_deref().map_or(Ok(()), content)?;
    edit.tags.as_deref().map_or(Ok(()), tags)?;
    extra(&edit.extra)?;
    edit.title.as_deref().map_or(Ok(()), |text| no_secret("title", text))?;
    edit.tags.iter().flatten().try_for_each(|tag| no_secret("tags", tag))?;
    no_secret_in(&edit.extra)
}

fn no_secret_in(extra: &BTreeMap<String, Value>) -> Result<(), NoteError> {
    let texts = extra.values().map(Value::to_string);
    texts.into_iter().try_for_each(|text| no_secret("front matter", &text))
}

/// Refuses a secret, naming its line.
pub(super) fn no_secret(place: &'static str, text: &str) -> Result<(), NoteError> {
    match secrets::find(text) {
        Some((line, what)) => Err(NoteError::Secret { place, line, what }),
        None => Ok(()),
    }
}

fn title(title: &str) -> Result<(), NoteError> {
    let bad = |problem: String| Err(NoteError::BadValue { field: "title", problem });
    if title.chars().all(is_invisible) {
        return bad("is empty; it must be one line that says what the note is about".to_owned());
    }
    if title.contains(LINE_BREAKS) {
        return bad(
            "has more than one line; it must be one line, and the rest goes into `content`"
                .to_owned(),
        );
    }
    if title.contains(|character: char| character.is_control() && character != '\t') {
        return bad("has a control character; it must be plain text".to_owned());
    }
    let length = title.chars().count();
    if length > MAX_TITLE {
        return bad(format!("has {length} characters; at most {MAX_TITLE} are allowed"));
    }
    Ok(())
}

/// Returns whether nobody sees the character: space, and marks without a width.
fn is_invisible(character: char) -> bool {
    character.is_whitespace()
        || matches!(
            character,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        )
}

fn content(content: &str) -> Result<(), NoteError> {
    let length = content.len();
    if length > MAX_CONTENT {
        let problem = format!(
            "has {length} bytes; at most {MAX_CONTENT} are allowed, so divide it into several notes"
        );
        return Err(NoteError::BadValue { field: "content", problem });
    }
    Ok(())
}

fn tags(tags: &[String]) -> Result<(), NoteError> {
    let bad = |problem: String| Err(NoteError::BadValue { field: "tags", problem });
    if tags.len() > MAX_TAGS {
        return bad(format!("has {} tags; at most {MAX_TAGS} are allowed", tags.len()));
    }
    for tag in tags {
        if tag.trim().is_empty() {
            return bad("has an empty tag; each must be a word".to_owned());
        }
        if tag.chars().count() > MAX_TAG {
            return bad(format!("has a tag of more than {MAX_TAG} characters"));
        }
        if tag.contains(char::is_control) {
            return bad(
                "has a control character or a line break in a tag; each must be a word".to_owned()
            );
        }
    }
    Ok(())
}

fn extra(extra: &BTreeMap<String, Value>) -> Result<(), NoteError> {
    for (key, value) in extra {
        let is_word = key.starts_with(|first: char| first.is_ascii_alphabetic())
            && key.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
        if !is_word || key.len() > 40 || CORE_KEYS.contains(&key.as_str()) {
            return Err(NoteError::BadValue {
                field: "extra",
                problem: format!(
                    "cannot have the key `{key}`; a further key is a word of letters, digits and `_`"
                ),
            });
        }
        match key.as_str() {
            "status" => {
                let written = value.as_str().unwrap_or_default();
                if !value.is_null() && Status::parse(written).is_none() {
                    return Err(NoteError::UnknownStatus(
                        value.to_string().trim_matches('"').to_owned(),
                    ));
                }
            }
            "depends_on" => depends_on(value)?,
            _ => {}
        }
    }
    let size: usize = extra.values().map(|value| value.to_string().len()).sum();
    if size > 8 * 1024 {
        let problem = "is longer than 8 KiB; long text belongs into `content`".to_owned();
        return Err(NoteError::BadValue { field: "extra", problem });
    }
    Ok(())
}

fn depends_on(value: &Value) -> Result<(), NoteError> {
    let items = match value {
        Value::Null => return Ok(()),
        Value::Array(items) => items,
        _ => {
            let problem = "must be a list of the ids of notes".to_owned();
            return Err(NoteError::BadValue { field: "depends_on", problem });
        }
    };
    for item in items {
        let id = item.as_str().unwrap_or_default();
        if NoteId::parse(id).is_none() {
            let problem = format!(
                "has `{id}`, which is not the id of a note; write whole ids like `note_20250119_153000_0`"
            );
            return Err(NoteError::BadValue { field: "depends_on", problem });
        }
    }
    Ok(())
}

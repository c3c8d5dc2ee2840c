//! Two versions of a note into one, field by field: what Git's merge driver and `notes doctor
//! --fix` do.
//!
//! Lists are merged as sets, `status` by a table, times by their order, other fields by who
//! changed them (the later side where both did), the body line by line. What cannot be merged
//! stays in the body between Git's marks, and is counted; nothing is thrown away.

use chrono::FixedOffset;
use serde_json::Value;

use super::conflict::are_two_notes;
use super::format::{CORE_KEYS, read_metadata};
use super::front_matter::{NoteText, Problem};
use super::note::{Status, read_time};
use super::update::merged_list;
use super::{body, format, values};

/// What a merge came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The text, with Git's marks where both changed the same lines of the body.
    pub text: String,
    /// How many such places there are.
    pub conflicts: usize,
}

/// Merges two versions of a note's file. Without a version that both come from, whatever only one
/// of them has counts as added.
pub fn merge_versions(base: Option<&str>, ours: &str, theirs: &str) -> Merged {
    let base = base.unwrap_or_default();
    let has_windows_ends = |text: &str| text.contains("\r\n");
    let [was, we, they] = [base, ours, theirs].map(has_windows_ends);
    if we == they && (was == we || base.is_empty()) {
        return merge_same_ends(base, ours, theirs);
    }
    // Who only changed the line ends changed no line; that of the side that changed them counts.
    let [base, ours, theirs] = [base, ours, theirs].map(|text| text.replace("\r\n", "\n"));
    let merged = merge_same_ends(&base, &ours, &theirs);
    let windows = if we == was { they } else { we };
    let text = if windows { merged.text.replace('\n', "\r\n") } else { merged.text };
    Merged { text, ..merged }
}

fn merge_same_ends(base: &str, ours: &str, theirs: &str) -> Merged {
    if ours == theirs || theirs == base {
        return Merged { text: ours.to_owned(), conflicts: 0 };
    }
    if ours == base {
        return Merged { text: theirs.to_owned(), conflicts: 0 };
    }
    if base.trim().is_empty() && are_two_notes(ours, theirs) {
        // Two branches gave one id to two notes: `doctor --fix` gives the second another.
        let text =
            format!("<<<<<<< ours\n{}=======\n{}>>>>>>> theirs\n", whole(ours), whole(theirs));
        return Merged { text, conflicts: 1 };
    }
    by_fields(base, ours, theirs).unwrap_or_else(|_| {
        let (text, conflicts) = body::merge_marked(base, ours, theirs);
        Merged { text, conflicts }
    })
}

/// Returns a text that ends with its last line.
fn whole(text: &str) -> String {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}")
}

/// Merges where all versions can be understood.
fn by_fields(base: &str, ours: &str, theirs: &str) -> Result<Merged, Problem> {
    let (base, our, their) =
        (NoteText::parse(base)?, NoteText::parse(ours)?, NoteText::parse(theirs)?);
    read_metadata(&our)?;
    read_metadata(&their)?;
    if !our.has_front_matter() || !their.has_front_matter() {
        return Err(Problem::new(1, "there is no front matter"));
    }
    let sides =
        Sides { theirs_is_later: is_later(&their, &our), base: &base, our: &our, their: &their };
    let mut changes: Vec<(&str, Option<String>)> = Vec::new();
    let mut keys: Vec<&str> = our.keys().map(|(key, _)| key).collect();
    keys.extend(their.keys().map(|(key, _)| key));
    for key in keys {
        if changes.iter().any(|(known, _)| *known == key) {
            continue;
        }
        let merged = sides.merged(key)?;
        if merged != written(&our, key) {
            changes.push((key, merged.map(|value| our.without_second_comment(key, value))));
        }
    }
    let (text, conflicts) = merged_body(base.body(), our.body(), their.body());
    let order: Vec<&str> = CORE_KEYS.to_vec();
    let with_keys = our.with_keys(&changes, &order);
    let with_keys = NoteText::parse(&with_keys)?.with_comments_of(&their, &base);
    let content = (text != our.body()).then_some(text);
    Ok(Merged { text: format::edited(&with_keys, &[], content.as_deref())?, conflicts })
}

/// Both sides of a merge and what they come from.
struct Sides<'a> {
    base: &'a NoteText<'a>,
    our: &'a NoteText<'a>,
    their: &'a NoteText<'a>,
    theirs_is_later: bool,
}

impl Sides<'_> {
    /// Returns the merged value of a key as it is written; none where it goes.
    fn merged(&self, key: &str) -> Result<Option<String>, Problem> {
        let [was, we, they] = [self.base, self.our, self.their].map(|text| written(text, key));
        match key {
            "updated_at" => return Ok(by_time(we, they, true)),
            "created_at" => return Ok(by_time(we, they, false)),
            _ => {}
        }
        if we == they || they == was {
            return Ok(we);
        }
        if we == was {
            return Ok(they);
        }
        let (Some(ours), Some(theirs)) = (self.our.value(key), self.their.value(key)) else {
            // One side removed it and the other changed it: what was written last is not lost.
            return Ok(we.or(they));
        };
        match key {
            "tags" | "depends_on" => {
                let list = |text: &NoteText<'_>| {
                    text.value(key).map_or(Ok(Vec::new()), |raw| values::read_list(key, raw))
                };
                let merged = merged_list(&list(self.base)?, &list(self.our)?, &list(self.their)?);
                Ok(Some(values::write_list(&merged)))
            }
            "status" => {
                let status = |raw| Status::parse(&values::read_text(key, raw).unwrap_or_default());
                let merged = status(ours)
                    .into_iter()
                    .chain(status(theirs))
                    .max_by_key(|status| weight(*status));
                Ok(merged.map_or(we, |status| Some(status.to_string())))
            }
            _ => self.other(key, we, they),
        }
    }

    /// Lists of anything are merged as sets; of two other values the later side's counts.
    fn other(
        &self,
        key: &str,
        we: Option<String>,
        they: Option<String>,
    ) -> Result<Option<String>, Problem> {
        let value = |text: &NoteText<'_>| match text.value(key) {
            Some(raw) if !CORE_KEYS.contains(&key) => values::read_value(key, raw),
            _ => Ok(Value::Null),
        };
        if let (Value::Array(ours), Value::Array(theirs)) = (value(self.our)?, value(self.their)?) {
            let base = match value(self.base)? {
                Value::Array(items) => items,
                _ => Vec::new(),
            };
            let kept = ours.iter().filter(|item| theirs.contains(item) || !base.contains(item));
            let mut merged: Vec<Value> = kept.cloned().collect();
            for item in theirs {
                if !merged.contains(&item) && !base.contains(&item) {
                    merged.push(item);
                }
            }
            return Ok(Some(values::write_value(&Value::Array(merged))));
        }
        Ok(if self.theirs_is_later { they } else { we })
    }
}

/// Returns the later or the earlier of two times.
fn by_time(we: Option<String>, they: Option<String>, latest: bool) -> Option<String> {
    match (&we, &they) {
        (Some(ours), Some(theirs)) => {
            let take_theirs = match (moment(ours), moment(theirs)) {
                (Some(ours), Some(theirs)) => (theirs > ours) == latest && theirs != ours,
                (None, _) => true,
                (_, None) => false,
            };
            if take_theirs { they } else { we }
        }
        _ => we.or(they),
    }
}

/// Returns what wins where both sides changed a status: the further step of a life.
fn weight(status: Status) -> u8 {
    match status {
        Status::Open => 0,
        Status::Doing => 1,
        Status::Dropped => 2,
        Status::Done => 3,
        Status::Superseded => 4,
    }
}

/// Returns a value as it is written: behind the colon, with its further lines.
fn written(text: &NoteText<'_>, key: &str) -> Option<String> {
    let raw = text.value(key)?;
    if raw.is_one_line() {
        return Some(raw.inline.to_owned());
    }
    let rest: Vec<&str> = raw.lines.trim_end().lines().skip(1).collect();
    Some(format!("{}\n{}", raw.inline, rest.join("\n")))
}

fn is_later(a: &NoteText<'_>, b: &NoteText<'_>) -> bool {
    let time = |text: &NoteText<'_>| {
        moment(&values::read_loose_text("updated_at", text.value("updated_at")?))
    };
    time(a) > time(b)
}

/// Times without a zone are compared as they stand.
fn moment(written: &str) -> Option<chrono::DateTime<chrono::Utc>> {
    read_time(written, &FixedOffset::east_opt(0)?)
}

/// The last line of a body has no line end, which must not count as a difference.
fn merged_body(base: &str, ours: &str, theirs: &str) -> (String, usize) {
    let [base, ours, theirs] = [base, ours, theirs].map(|body| format!("{body}\n"));
    let (mut merged, conflicts) = body::merge_marked(&base, &ours, &theirs);
    if merged.ends_with('\n') {
        merged.pop();
    }
    (merged, conflicts)
}

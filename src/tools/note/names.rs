//! The names that models give to parameters and types, brought to the known ones.
//!
//! Only what can mean one thing alone is taken; the rest is refused with the names there are.

use std::fmt;

use crate::notes::NoteKind;
use crate::support::nearest::nearest;

/// A parameter of the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parameter {
    Action,
    Title,
    Content,
    NoteType,
    Tags,
    NoteId,
    Query,
    Limit,
    Status,
    Thread,
    DependsOn,
    Force,
}

/// The parameters by name.
const PARAMETERS: [(&str, Parameter); 12] = [
    ("action", Parameter::Action),
    ("title", Parameter::Title),
    ("content", Parameter::Content),
    ("note_type", Parameter::NoteType),
    ("tags", Parameter::Tags),
    ("note_id", Parameter::NoteId),
    ("query", Parameter::Query),
    ("limit", Parameter::Limit),
    ("status", Parameter::Status),
    ("thread", Parameter::Thread),
    ("depends_on", Parameter::DependsOn),
    ("force", Parameter::Force),
];

/// Other names for them.
const OTHER_NAMES: [(&str, Parameter); 7] = [
    ("id", Parameter::NoteId),
    ("type", Parameter::NoteType),
    ("kind", Parameter::NoteType),
    ("tag", Parameter::Tags),
    ("contents", Parameter::Content),
    ("body", Parameter::Content),
    ("text", Parameter::Content),
];

/// The types as the Chinese texts for the model call them.
const CHINESE_KINDS: [(&str, NoteKind); 6] = [
    ("任务状态", NoteKind::TaskState),
    ("结论", NoteKind::Conclusion),
    ("阻塞", NoteKind::Blocker),
    ("行动", NoteKind::Action),
    ("参考", NoteKind::Reference),
    ("通用", NoteKind::General),
];

impl fmt::Display for Parameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = PARAMETERS.iter().find(|(_, parameter)| parameter == self);
        formatter.write_str(known.map_or("", |(name, _)| name))
    }
}

/// Returns the parameter that a name means, or a sentence about the names there are.
pub(super) fn parameter(written: &str) -> Result<Parameter, String> {
    let plain = plain(written);
    let known = PARAMETERS.iter().chain(&OTHER_NAMES).find(|(name, _)| *name == plain);
    known.map(|(_, parameter)| *parameter).ok_or_else(|| {
        let names = PARAMETERS.map(|(name, _)| name);
        let meant = nearest(&plain, names)
            .map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
        let all = names.map(|name| format!("`{name}`")).join(", ");
        format!("unknown field `{written}`{meant}; there are {all}")
    })
}

/// Returns the type that a name means: in upper case, in the plural, in Chinese.
pub(super) fn kind(written: &str) -> Option<NoteKind> {
    let plain = plain(written);
    let chinese = || CHINESE_KINDS.iter().find(|(name, _)| plain.starts_with(name));
    NoteKind::parse(&plain)
        .or_else(|| NoteKind::parse(plain.strip_suffix('s')?))
        .or_else(|| chinese().map(|(_, kind)| *kind))
}

/// Returns a name in lower case and with `_` between its words: `Task State`, `taskState`.
pub(super) fn plain(written: &str) -> String {
    let mut plain = String::with_capacity(written.len());
    let mut before = '_';
    for character in written.trim().chars() {
        if character.is_uppercase() && before.is_lowercase() {
            plain.push('_');
        }
        match character {
            ' ' | '-' => plain.push('_'),
            other => plain.extend(other.to_lowercase()),
        }
        before = character;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_taken_in_any_case_number_and_language() {
        for (written, kind_of) in [
            ("BLOCKER", NoteKind::Blocker),
            (" Blockers ", NoteKind::Blocker),
            ("task state", NoteKind::TaskState),
            ("Task-State", NoteKind::TaskState),
            ("taskState", NoteKind::TaskState),
            ("task_states", NoteKind::TaskState),
            ("阻塞项", NoteKind::Blocker),
            ("任务状态", NoteKind::TaskState),
        ] {
            assert_eq!(kind(written), Some(kind_of), "{written}");
        }
        for written in ["bug", "", "s", "note", "blocker action", "问题"] {
            assert_eq!(kind(written), None, "{written}");
        }
    }

    #[test]
    fn a_parameter_is_known_by_its_other_spellings_and_a_wrong_one_by_its_neighbour() {
        for written in ["note_id", "noteId", "NoteID", "note-id", "id"] {
            assert_eq!(parameter(written), Ok(Parameter::NoteId), "{written}");
        }
        for (name, parameter_of) in PARAMETERS {
            assert_eq!(parameter(name), Ok(parameter_of));
            assert_eq!(parameter_of.to_string(), name);
        }
        let error = parameter("contnt").unwrap_err();
        assert!(error.starts_with("unknown field `contnt` (did you mean `content`?)"), "{error}");
        assert!(error.ends_with("`depends_on`, `force`"), "{error}");
    }
}

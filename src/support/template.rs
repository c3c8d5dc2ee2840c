//! `{{name}}` in a text. An unknown or an unused name is an error: a prompt never goes out with a
//! hole in it, and never quietly drops what it was given.

use std::collections::BTreeSet;

/// What is wrong with a template or its values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// The text asks for a name that it was not given.
    #[error("unknown placeholder `{{{{{0}}}}}`")]
    Unknown(String),
    /// A value was given that the text does not ask for.
    #[error("no placeholder `{{{{{0}}}}}`")]
    Unused(String),
    /// A `{{` without its `}}`.
    #[error("a `{{{{` without `}}}}`")]
    Unclosed,
}

/// Fills the placeholders of `template`; what is filled in is not looked at again.
pub fn fill(template: &str, values: &[(&str, &str)]) -> Result<String, TemplateError> {
    let mut filled = String::with_capacity(template.len());
    let mut unused: BTreeSet<&str> = values.iter().map(|(name, _)| *name).collect();
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let after = &rest[start + 2..];
        let end = after.find("}}").ok_or(TemplateError::Unclosed)?;
        let name = after[..end].trim();
        let (_, value) = values
            .iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| TemplateError::Unknown(name.to_owned()))?;
        unused.remove(name);
        filled.push_str(&rest[..start]);
        filled.push_str(value);
        rest = &after[end + 2..];
    }
    filled.push_str(rest);
    match unused.first() {
        Some(name) => Err(TemplateError::Unused((*name).to_owned())),
        None => Ok(filled),
    }
}

/// Returns the names that `template` asks for, sorted.
pub fn placeholders(template: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut rest = template;
    while let Some(start) = rest.find("{{") {
        let after = &rest[start + 2..];
        let Some(end) = after.find("}}") else { break };
        names.insert(after[..end].trim().to_owned());
        rest = &after[end + 2..];
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_once() {
        let filled = fill("a {{x}} b {{ y }}", &[("x", "{{y}}"), ("y", "2")]);
        assert_eq!(filled, Ok("a {{y}} b 2".to_owned()));
    }

    #[test]
    fn a_hole_or_a_leftover_is_an_error() {
        assert_eq!(fill("{{x}}", &[]), Err(TemplateError::Unknown("x".to_owned())));
        assert_eq!(fill("", &[("x", "")]), Err(TemplateError::Unused("x".to_owned())));
        assert_eq!(fill("{{x", &[("x", "")]), Err(TemplateError::Unclosed));
    }

    #[test]
    fn placeholders_are_listed() {
        assert_eq!(Vec::from_iter(placeholders("{{b}} {{ a }} {{b}}")), ["a", "b"]);
    }
}

//! A refusal: the word that offended, the rule in a sentence, what works instead, what is allowed.
//!
//! A refusal is data until somebody reads it: the model gets whole sentences, a person one line.
//! It never holds a path outside the workspace that was not in the line already.

use std::fmt;

/// Why a line is not run. Nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The word that offended, as it was written.
    pub word: String,
    /// The rule, as a sentence without its full stop, about [`Refusal::word`].
    pub reason: String,
    /// The closest form that works: a command line, or a sentence that says what to do.
    pub instead: Option<Box<Instead>>,
    /// What is allowed in that place.
    pub allowed: Option<Box<Allowed>>,
}

/// The closest form that works.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instead {
    /// A form to write.
    Form(String),
    /// A sentence that says what to do, without its full stop.
    Advice(String),
}

/// What is allowed where the word stood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// Of what this is the list: "commands", "options of `sort`".
    pub of: String,
    /// The list.
    pub list: Vec<String>,
}

impl Refusal {
    /// Returns the refusal of a word for a reason.
    pub(super) fn new(word: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { word: word.into(), reason: reason.into(), instead: None, allowed: None }
    }

    /// Adds the form to write instead.
    #[must_use]
    pub(super) fn form(mut self, form: impl Into<String>) -> Self {
        self.instead = Some(Box::new(Instead::Form(form.into())));
        self
    }

    /// Adds what to do instead.
    #[must_use]
    pub(super) fn advice(mut self, advice: impl Into<String>) -> Self {
        self.instead = Some(Box::new(Instead::Advice(advice.into())));
        self
    }

    /// Adds what is allowed in that place.
    #[must_use]
    pub(super) fn allowed(mut self, of: impl Into<String>, list: Vec<String>) -> Self {
        self.allowed = Some(Box::new(Allowed { of: of.into(), list }));
        self
    }

    /// Returns the text for a model: what was refused, why, what works, what is allowed.
    pub fn for_model(&self) -> String {
        let refused =
            format!("Refused, and nothing was run: `{}` {}.", shown(&self.word), self.reason);
        let instead = match self.instead.as_deref() {
            Some(Instead::Form(form)) => format!("\nWrite instead: `{form}`."),
            Some(Instead::Advice(advice)) => format!("\n{advice}."),
            None => String::new(),
        };
        let allowed = match self.allowed.as_deref() {
            Some(Allowed { of, list }) => format!("\nAllowed {of}: {}", list.join(" ")),
            None => String::new(),
        };
        refused + &instead + &allowed
    }

    /// Returns one line for a person.
    pub fn for_human(&self) -> String {
        let word = shown(&self.word);
        match self.instead.as_deref() {
            Some(Instead::Form(form)) => format!("`{word}` {}; write `{form}`", self.reason),
            Some(Instead::Advice(_)) | None => format!("`{word}` {}", self.reason),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.for_human())
    }
}

impl std::error::Error for Refusal {}

/// Returns a word as it can be shown: one line, no control characters, not endless.
fn shown(word: &str) -> String {
    const MOST: usize = 120;
    let mut text = String::new();
    for (count, character) in word.chars().enumerate() {
        if count == MOST {
            text.push('…');
            break;
        }
        match character {
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            other if other.is_control() || super::lexer::is_invisible(other) => {
                text.extend(other.escape_unicode());
            }
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_reads_the_word_the_rule_the_form_and_the_list() {
        let refusal = Refusal::new("-o", "writes its result to a file")
            .form("sort list.txt")
            .allowed("options of `sort`", vec!["-b".into(), "-u".into()]);
        assert_eq!(
            refusal.for_model(),
            "Refused, and nothing was run: `-o` writes its result to a file.\n\
             Write instead: `sort list.txt`.\n\
             Allowed options of `sort`: -b -u"
        );
        assert_eq!(refusal.for_human(), "`-o` writes its result to a file; write `sort list.txt`");
    }

    #[test]
    fn a_word_is_shown_on_one_line_without_anything_invisible() {
        let refusal = Refusal::new("a\nb\u{200b}\u{7}", "is odd");
        assert_eq!(refusal.for_human(), "`a\\nb\\u{200b}\\u{7}` is odd");
    }
}

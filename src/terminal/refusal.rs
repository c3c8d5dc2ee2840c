//! A refusal: the word that offended, the rule in a sentence, what works instead, what is allowed.
//!
//! A refusal is data until somebody reads it: the model gets whole sentences, a person one line.
//! It never holds a path outside the workspace that was not in the line already.

use std::fmt;

use super::repair::Repair;

/// Why a line is not run. Nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The word that offended, as it was written; empty when the line is.
    pub word: String,
    /// The rule, as a sentence without its full stop, about [`Refusal::word`].
    pub reason: String,
    /// The closest form that works.
    pub instead: Option<Box<str>>,
    /// What to do, as a sentence without its full stop.
    pub advice: Option<Box<str>>,
    /// What is allowed in that place.
    pub allowed: Option<Box<Allowed>>,
    /// How the line becomes one that may be allowed.
    repair: Option<Box<Repair>>,
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
        Self {
            word: word.into(),
            reason: reason.into(),
            instead: None,
            advice: None,
            allowed: None,
            repair: None,
        }
    }

    /// Adds the form to write instead.
    #[must_use]
    pub(super) fn form(mut self, form: impl AsRef<str>) -> Self {
        self.instead = Some(form.as_ref().into());
        self
    }

    /// Adds what to do instead.
    #[must_use]
    pub(super) fn advice(mut self, advice: impl AsRef<str>) -> Self {
        self.advice = Some(advice.as_ref().into());
        self
    }

    /// Adds what is allowed in that place.
    #[must_use]
    pub(super) fn allowed(mut self, of: impl Into<String>, list: Vec<String>) -> Self {
        self.allowed = Some(Box::new(Allowed { of: of.into(), list }));
        self
    }

    /// Adds how the line may be repaired; the repaired line is offered only if it is allowed.
    #[must_use]
    pub(super) fn repair(mut self, repair: Repair) -> Self {
        self.repair = Some(Box::new(repair));
        self
    }

    /// Returns how the line may be repaired.
    pub(super) fn how_to_repair(&self) -> Option<&Repair> {
        self.repair.as_deref()
    }

    /// Returns the text for a model: what was refused, why, what works, what is allowed.
    pub fn for_model(&self) -> String {
        let mut text = format!("Refused, and nothing was run: {} {}.", self.subject(), self.reason);
        if let Some(form) = &self.instead {
            text = format!("{text}\nWrite instead: {}", quoted(form));
        }
        if let Some(advice) = &self.advice {
            text = format!("{text}\n{advice}.");
        }
        if let Some(Allowed { of, list }) = self.allowed.as_deref() {
            let comma = list.iter().any(|entry| entry.contains(' '));
            let list = list.join(if comma { ", " } else { " " });
            text = format!("{text}\nAllowed {of}: {list}");
        }
        text
    }

    /// Returns one line for a person.
    pub fn for_human(&self) -> String {
        match &self.instead {
            Some(form) => format!("{} {}; write {}", self.subject(), self.reason, quoted(form)),
            None => format!("{} {}", self.subject(), self.reason),
        }
    }

    fn subject(&self) -> String {
        if self.word.trim().is_empty() { "the line".to_owned() } else { quoted(&shown(&self.word)) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.for_human())
    }
}

impl std::error::Error for Refusal {}

/// Returns a text in backticks, or in quotes when it holds one.
fn quoted(text: &str) -> String {
    if text.contains('`') { format!("\"{text}\"") } else { format!("`{text}`") }
}

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
             Write instead: `sort list.txt`\n\
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

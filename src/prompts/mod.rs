//! The texts that a model reads, as files in each language: `prompts/<language>/….md`, embedded
//! in the program and overridden one by one from a project's `.groundskeeper/prompts/`.
//!
//! There is no logic in a prompt but `{{name}}`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::support::template::{self, TemplateError};

/// A language of prompts and of fixed texts for the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Language {
    /// Returns the folder's name.
    pub fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Zh => "zh",
        }
    }

    /// Returns the language of a folder's name.
    pub fn named(code: &str) -> Option<Self> {
        [Self::En, Self::Zh].into_iter().find(|language| language.code() == code)
    }

    /// Returns the language of a question: Chinese when a fifth of its letters are Han.
    pub fn of(question: &str) -> Self {
        let letters = question.chars().filter(|c| c.is_alphabetic()).count();
        let han = question.chars().filter(|c| ('\u{3400}'..='\u{9fff}').contains(c)).count();
        if han > 0 && han * 5 >= letters { Self::Zh } else { Self::En }
    }
}

/// The prompt files of one language.
#[derive(Debug, Clone)]
pub struct Prompts {
    language: Language,
    files: BTreeMap<String, String>,
}

/// What is wrong with a prompt.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// There is no such file.
    #[error("no prompt named `{0}`")]
    Unknown(String),
    /// A placeholder is unknown or left over.
    #[error("the prompt file `{name}.md` cannot be used")]
    Template {
        /// The prompt's name.
        name: String,
        /// What is wrong.
        source: TemplateError,
    },
    /// A project's own file cannot be read.
    #[error("the prompt file `{}` cannot be read", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Returns whether an error says that there is no such file; a file in the place of a folder above
/// it says so too.
fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Embeds the prompt files of these names, the same in each language.
macro_rules! embed {
    ($($name:literal),+ $(,)?) => {
        const EN: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../prompts/en/", $name, ".md")))),+];
        const ZH: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../prompts/zh/", $name, ".md")))),+];
    };
}

embed!(
    "system",
    "output",
    "reminder",
    "limit",
    "ask_for_notes",
    "empty_reply",
    "digest",
    "digest_with_summary",
    "compress",
    "modes/auto",
    "modes/explore",
    "modes/analyze",
    "modes/plan",
    "tools/note",
    "tools/terminal",
);

impl Prompts {
    /// Returns the embedded prompts of a language.
    pub fn embedded(language: Language) -> Self {
        let files = match language {
            Language::En => EN,
            Language::Zh => ZH,
        };
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Self { language, files: files.collect() }
    }

    /// Replaces each prompt that `folder` has a file for: `folder/<language>/<name>.md`, else
    /// `folder/<name>.md`. A folder that does not exist replaces nothing.
    pub fn overridden_by(mut self, folder: &Path) -> Result<Self, PromptError> {
        for (name, text) in &mut self.files {
            let file = format!("{name}.md");
            for path in [folder.join(self.language.code()).join(&file), folder.join(&file)] {
                match std::fs::read_to_string(&path) {
                    Ok(own) => {
                        *text = own;
                        break;
                    }
                    Err(source) if is_absent(&source) => {}
                    Err(source) => return Err(PromptError::Unreadable { path, source }),
                }
            }
        }
        Ok(self)
    }

    /// Returns the language.
    pub fn language(&self) -> Language {
        self.language
    }

    /// Returns the names of all prompts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Returns a prompt as it is written.
    pub fn raw(&self, name: &str) -> Result<&str, PromptError> {
        let text = self.files.get(name).ok_or_else(|| PromptError::Unknown(name.to_owned()))?;
        Ok(text.trim_end())
    }

    /// Returns a prompt with its placeholders filled.
    pub fn fill(&self, name: &str, values: &[(&str, &str)]) -> Result<String, PromptError> {
        let text = self.raw(name)?;
        template::fill(text, values)
            .map_err(|source| PromptError::Template { name: name.to_owned(), source })
    }
}

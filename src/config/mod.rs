//! Settings, gathered once: defaults, the user's file, the project's file, the environment, flags;
//! the later wins. Nothing else in the program reads the environment or a settings file, and no
//! module sees more than its own options.
//!
//! A project's file comes with a cloned repository, so it is not trusted: it may not choose the
//! sandbox, an endpoint or a key.

mod dotenv;
mod endpoint;
mod environment;
mod error;
mod kinds;
mod layers;
mod template;
mod variables;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use endpoint::EndpointSettings;
pub use environment::Environment;
pub use error::ConfigError;
pub use layers::{Layers, Origin};
pub use template::{ConfigFile, template};
pub use variables::{Found, Variables};

use crate::context::ContextConfig;

/// All settings, checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The project's name; empty for the name of the workspace's folder.
    pub project: String,
    /// `offline`, `script:FILE`, or a model's name at the endpoint; empty for the default.
    pub model: String,
    /// The server that is asked.
    pub endpoint: EndpointSettings,
    /// The language of prompts.
    pub lang: LanguageChoice,
    /// The context's budget and scoring.
    pub context: ContextConfig,
    /// What ends a turn.
    pub limits: LimitSettings,
    /// Which notes come back, and what is asked for.
    pub notes: NoteSettings,
    /// The terminal's limits and jail.
    pub terminal: TerminalSettings,
}

/// The language of prompts and of fixed texts for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LanguageChoice {
    /// English.
    En,
    /// Chinese.
    Zh,
    /// That of the question.
    Auto,
}

/// `limits.*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSettings {
    /// Calls of the model in a turn.
    pub steps: u64,
    /// Wall-clock seconds of a turn.
    pub seconds: u64,
    /// Tokens of all prompts of a turn.
    pub prompt_tokens: u64,
    /// Replies in a row that could not be used.
    pub unusable_replies: u64,
    /// Refused commands in a row.
    pub refused_commands: u64,
    /// Tokens of one tool result, for the model.
    pub tool_output_tokens: usize,
    /// The model's window in tokens; 0 for the model's own.
    pub window: usize,
    /// Commits that are told of the files that a question is about; 0 for none.
    pub commits: usize,
    /// Who words what older messages came to when they make room.
    pub compaction: CompactionChoice,
}

/// `limits.compaction`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CompactionChoice {
    /// Nobody: it is made from the journal and the notes.
    Digest,
    /// The model sums up, beside what is told word for word.
    Model,
}

/// `notes.*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoteSettings {
    /// Open blockers that come back each turn.
    pub blockers: usize,
    /// Notes that are searched for.
    pub search: usize,
    /// What happens when an answer tells of problems and nothing was noted.
    pub auto_notes: AutoNotesChoice,
    /// Who orders the notes that a search finds.
    pub scorer: NoteScorerChoice,
}

/// `notes.scorer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoteScorerChoice {
    /// Words alone.
    Lexical,
    /// Words, and the vectors of an endpoint beside them.
    Embeddings,
}

/// `notes.auto_notes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AutoNotesChoice {
    /// The model is asked once to note them.
    Ask,
    /// The chapter's rule: problem words make a blocker, planning words an action.
    Keywords,
    /// Nothing.
    Off,
}

/// `terminal.*`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TerminalSettings {
    /// Wall-clock seconds of a command line.
    pub timeout_seconds: u64,
    /// Bytes of output over all stages of a line.
    pub max_output_bytes: u64,
    /// Whether `cd` moves.
    pub allow_cd: bool,
    /// The jail.
    pub sandbox: SandboxChoice,
    /// Whether token-shaped secrets are blacked out.
    pub redact: bool,
}

/// `terminal.sandbox`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxChoice {
    /// The strongest that the system has; what is missing is told.
    Auto,
    /// All of it, or nothing runs.
    Required,
    /// None.
    Off,
}

impl TerminalSettings {
    /// Returns the time limit of a command line.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds)
    }
}

/// More commits than these say nothing that a model would read.
const MOST_COMMITS: usize = 100;

impl Config {
    /// Checks what types cannot say.
    fn check(&self) -> Result<(), ConfigError> {
        let positive = [
            ("limits.steps", self.limits.steps),
            ("limits.seconds", self.limits.seconds),
            ("limits.prompt_tokens", self.limits.prompt_tokens),
            ("limits.unusable_replies", self.limits.unusable_replies),
            ("limits.refused_commands", self.limits.refused_commands),
            ("terminal.timeout_seconds", self.terminal.timeout_seconds),
            ("terminal.max_output_bytes", self.terminal.max_output_bytes),
        ];
        for (key, value) in positive {
            if value == 0 {
                return Err(ConfigError::out_of_range(key, value, "at least 1"));
            }
        }
        if self.limits.tool_output_tokens < 100 {
            let value = self.limits.tool_output_tokens;
            return Err(ConfigError::out_of_range(
                "limits.tool_output_tokens",
                value,
                "at least 100",
            ));
        }
        if self.limits.commits > MOST_COMMITS {
            let value = self.limits.commits;
            return Err(ConfigError::out_of_range("limits.commits", value, "at most 100"));
        }
        self.endpoint.check()?;
        Ok(self.context.check()?)
    }
}

#[cfg(test)]
mod tests;

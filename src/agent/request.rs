//! What a user asks for.

use super::Mode;

/// One request of a user: a mode and its target, focus or question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// What the turn is for.
    pub mode: Mode,
    /// The target of `explore`, the focus of `analyze` and `plan`, the question of `auto`; may be
    /// empty but for a question.
    pub text: String,
}

impl Request {
    /// Returns a request to look around.
    pub fn explore(target: impl Into<String>) -> Self {
        Self { mode: Mode::Explore, text: target.into() }
    }

    /// Returns a request to judge the quality.
    pub fn analyze(focus: impl Into<String>) -> Self {
        Self { mode: Mode::Analyze, text: focus.into() }
    }

    /// Returns a request for the next steps.
    pub fn plan(purpose: impl Into<String>) -> Self {
        Self { mode: Mode::Plan, text: purpose.into() }
    }

    /// Returns a question.
    pub fn ask(question: impl Into<String>) -> Self {
        Self { mode: Mode::Auto, text: question.into() }
    }
}

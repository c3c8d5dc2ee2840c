//! What a user asks for.

use super::Mode;
use crate::support::text::floor_char_boundary;

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

    /// Adds material that the question is about, such as what was piped into the program. It says
    /// itself that it is no instruction.
    #[must_use]
    pub fn with_material(mut self, material: &str) -> Self {
        self.text = format!("{}{MATERIAL}{material}", self.text.trim_end());
        self
    }

    /// Returns the request as the user put it, without material.
    pub(super) fn own_words(&self) -> &str {
        self.text.split_once(MATERIAL).map_or(self.text.as_str(), |(own, _)| own)
    }

    /// Returns what to search with: the user's words, and the beginning of the material.
    pub(super) fn search_words(&self) -> &str {
        let own = self.own_words().len();
        let end = floor_char_boundary(&self.text, own + SEARCHED_BYTES);
        if own == self.text.len() { &self.text } else { &self.text[..end] }
    }
}

/// Stands between a question and its material.
const MATERIAL: &str = "\n\n[stdin] ";

/// So many bytes of the material are searched with.
const SEARCHED_BYTES: usize = 2000;

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn material_is_sent_but_is_not_the_users_words() {
        let request = Request::ask("为什么失败？\n").with_material(&"错误 error ".repeat(1000));
        assert_eq!(request.own_words(), "为什么失败？");
        assert!(request.text.starts_with("为什么失败？\n\n[stdin] 错误 error "));
        let searched = request.search_words();
        assert!(searched.contains("error") && searched.len() <= 18 + SEARCHED_BYTES);
        assert_eq!(Request::ask("why?").search_words(), "why?");
    }
}

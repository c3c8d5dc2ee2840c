//! What the builder hands out.

use super::structure::join_sections;
use super::{QualityReport, Section};

/// A context that fits its budget.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltContext {
    /// The exact count of the text, and of its two messages together.
    pub tokens: usize,
    /// What it had to fit.
    pub budget: usize,
    /// What became of each candidate, and the figures.
    pub report: QualityReport,
    sections: Vec<(Section, String)>,
}

impl BuiltContext {
    pub(super) fn new(
        sections: Vec<(Section, String)>,
        tokens: usize,
        budget: usize,
        report: QualityReport,
    ) -> Self {
        Self { tokens, budget, report, sections }
    }

    /// Returns all six sections, in their order, without those that are empty.
    pub fn text(&self) -> String {
        join_sections(self.sections.iter().map(|(_, text)| text.as_str()))
    }

    /// Returns what belongs into the system message: role and output rules. It depends on the fixed
    /// parts alone, so it stays the same from turn to turn and a provider can cache it.
    pub fn system_text(&self) -> String {
        self.join(Section::is_system)
    }

    /// Returns what belongs into the newest user message: task, state, evidence, context.
    pub fn user_text(&self) -> String {
        self.join(|section| !section.is_system())
    }

    /// Returns one section with its header; none when it is empty.
    pub fn section(&self, wanted: Section) -> Option<&str> {
        self.sections.iter().find(|(section, _)| *section == wanted).map(|(_, text)| text.as_str())
    }

    fn join(&self, wanted: impl Fn(Section) -> bool) -> String {
        let parts = self.sections.iter().filter(|(section, _)| wanted(*section));
        join_sections(parts.map(|(_, text)| text.as_str()))
    }
}

//! `[State]`: where the work stands when a turn begins.

use std::path::Path;

use crate::prompts::Language;
use crate::support::git_head::GitHead;

/// What the model is told of its surroundings, a line each.
#[derive(Debug)]
pub(super) struct State<'a> {
    pub(super) mode: &'a str,
    /// A path inside the workspace that the request names, if it names one.
    pub(super) target: Option<&'a str>,
    pub(super) language: Language,
    pub(super) project: &'a str,
    pub(super) session: &'a str,
    pub(super) turn: u64,
    pub(super) head: Option<&'a GitHead>,
    pub(super) directory: &'a Path,
    pub(super) open_blockers: usize,
    pub(super) limits: &'a str,
    pub(super) time: &'a str,
}

impl State<'_> {
    /// Returns the lines. Their keys are the same in every language: they are read by rules too.
    pub(super) fn text(&self) -> String {
        let mut lines = vec![format!("Mode: {}", self.mode)];
        if let Some(target) = self.target {
            lines.push(format!("Target: {target}"));
        }
        lines.push(format!("Language: {}", self.language.code()));
        lines.push(format!("Project: {}", self.project));
        let session = if self.session.is_empty() { "new" } else { self.session };
        lines.push(format!("Session: {session}, turn {}", self.turn));
        lines.push(format!("Time: {}", self.time));
        lines.push(format!("Git: {}", self.git()));
        let directory = self.directory.display().to_string();
        let directory = if directory.is_empty() { ".".to_owned() } else { directory };
        lines.push(format!("Terminal directory: {directory}"));
        lines.push(format!("Open blockers: {}", self.open_blockers));
        lines.push(format!("Limits of this turn: {}", self.limits));
        lines.join("\n")
    }

    fn git(&self) -> String {
        let Some(head) = self.head else { return "no repository".to_owned() };
        let commit = head.commit.as_deref().map(|id| &id[..id.len().min(10)]);
        match (&head.branch, commit) {
            (Some(branch), Some(commit)) => format!("branch {branch} at {commit}"),
            (Some(branch), None) => format!("branch {branch}, no commit yet"),
            (None, Some(commit)) => format!("commit {commit}, no branch"),
            (None, None) => "unknown".to_owned(),
        }
    }
}

//! Things into packets: what a turn may need, one file for each kind of thing.
//!
//! A source offers and never chooses: scores, budget and order are the builder's. It emits no
//! events and asks nobody. It reads within limits of bytes, entries and time, follows no link out
//! of the workspace, and when something goes wrong it fails alone ([`SourceFailure`]).
//!
//! [`SourceFailure`]: crate::context::SourceFailure

mod actions;
mod blockers;
mod cleared;
mod code;
mod conversation;
mod documents;
mod guide_files;
mod knowledge;
mod memory;
mod notes;
mod repo_map;
mod task_state;

pub use actions::Actions;
pub use blockers::Blockers;
pub use cleared::{Cleared, ClearedResults};
pub use code::Code;
pub use conversation::{Conversation, Said};
pub use guide_files::GuideFiles;
pub use knowledge::Knowledge;
pub use memory::Memory;
pub use notes::Notes;
pub use repo_map::RepoMap;
pub use task_state::TaskState;

use std::sync::Arc;

use crate::context::ContextSource;
use crate::journal::Sessions;
use crate::notes::NoteStore;
use crate::support::paths::Workspace;
use crate::support::tokens::TokenCounter;

/// What the built-in sources are made of.
#[derive(Clone)]
pub struct Materials {
    /// The repository under care.
    pub workspace: Workspace,
    /// The notes.
    pub notes: Arc<NoteStore>,
    /// The earlier sessions.
    pub sessions: Sessions,
    /// Counts what has a budget of its own.
    pub counter: Arc<TokenCounter>,
    /// Whether candidates are compared by meaning afterwards, so that words alone do not decide
    /// what is offered.
    pub by_meaning: bool,
    /// Open blockers at the most; the rest is counted.
    pub most_blockers: usize,
    /// Notes found by searching with the question, at the most.
    pub most_notes: usize,
    /// What the guide files may have together, in tokens.
    pub guide_tokens: usize,
}

/// Returns the built-in sources; a new one is a line here.
///
/// The conversation is not among them: the maintainer sends its messages again by themselves.
pub fn builtin(materials: &Materials) -> Vec<Box<dyn ContextSource>> {
    let Materials { workspace, notes, counter, .. } = materials;
    let guides = GuideFiles::new(workspace.clone(), Arc::clone(counter), materials.guide_tokens);
    let knowledge = Knowledge::new(workspace.clone(), guides.clone());
    let knowledge = if materials.by_meaning { knowledge.widely() } else { knowledge };
    vec![
        Box::new(Blockers::new(Arc::clone(notes), materials.most_blockers)),
        Box::new(TaskState::new(Arc::clone(notes))),
        Box::new(Actions::new(Arc::clone(notes))),
        Box::new(Notes::new(Arc::clone(notes), materials.most_notes)),
        Box::new(guides),
        Box::new(knowledge),
        Box::new(Code::new(workspace.clone(), MOST_PASSAGES)),
        Box::new(Memory::new(materials.sessions.clone(), Arc::clone(counter))),
        Box::new(RepoMap::new(workspace.clone())),
    ]
}

/// How many passages of code are offered.
const MOST_PASSAGES: usize = 4;

#[cfg(test)]
mod tests;

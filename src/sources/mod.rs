//! Things into packets: what a turn may need, one file for each kind of thing.
//!
//! A source offers and never chooses: scores, budget and order are the builder's. It emits no
//! events and asks nobody. It reads within limits of bytes, entries and time, follows no link out
//! of the workspace, and when something goes wrong it fails alone ([`SourceFailure`]).
//!
//! [`SourceFailure`]: crate::context::SourceFailure

mod conversation;
mod documents;
mod guide_files;
mod knowledge;
mod memory;
mod repo_map;

pub use conversation::{Conversation, Said};
pub use guide_files::GuideFiles;
pub use knowledge::Knowledge;
pub use memory::Memory;
pub use repo_map::RepoMap;

#[cfg(test)]
mod tests;

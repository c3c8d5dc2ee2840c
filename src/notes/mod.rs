//! Notes: what outlives the window (chapter 9.4). One Markdown file with YAML front matter each,
//! readable and editable by people, at home in Git.
//!
//! The files are the only truth: no database, and every index may be deleted at any time. What was
//! acknowledged is on disk; what was overwritten or deleted can be brought back; what cannot be
//! understood is counted and left alone. This module knows nothing of models and contexts: tools
//! and sources bring notes there.

mod body;
mod catalog;
mod check;
mod conflict;
mod delete;
mod doctor;
mod entry;
mod error;
mod files;
mod format;
mod front_matter;
mod git;
mod import;
mod index_file;
mod lifecycle;
mod links;
mod listing;
mod merge;
mod near;
mod newest;
mod note;
mod rank;
mod repair;
mod scorer;
mod search;
mod secrets;
mod segment;
mod states;
mod store;
mod trash;
mod undo;
mod update;
mod values;

pub use delete::Deleted;
pub use doctor::{Checkup, Finding, Severity};
pub use entry::Entry;
pub use error::NoteError;
pub use git::{merge_files, set_up_merging};
pub use import::Imported;
pub use listing::{Filter, Listing, Summary};
pub use merge::{Merged, merge_versions};
pub use near::NearDuplicate;
pub use note::{NewNote, Note, NoteEdit, NoteId, NoteKind, Status, read_time};
pub use rank::rank;
pub use scorer::{ByWords, Candidate, NoteScorer};
pub use search::{Hit, SearchResult};
pub use states::FormerState;
pub use store::{Created, NoteStore};
pub use undo::Undone;
pub use update::Updated;

#[cfg(test)]
mod tests;

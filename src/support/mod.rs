//! Small and domain-free: each file is one job, and none knows what groundskeeper is for.

pub mod atomic_file;
pub mod bm25;
pub mod clock;
pub mod git_head;
pub mod in_parts;
pub mod mentions;
pub mod nearest;
pub mod paths;
pub mod plural;
pub mod processors;
pub mod quote;
pub mod secrets;
pub mod state_folder;
pub mod stem;
pub mod template;
pub mod text;
pub mod tokens;
pub mod words;
pub mod yaml;

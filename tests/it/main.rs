//! The one integration test binary: a module a capability.

mod chat;
mod cli;
mod compaction;
mod config_edit;
mod context;
mod crash;
mod docs;
mod embeddings;
mod endpoint;
mod endpoint_breaks;
mod endpoint_table;
mod fixtures;
mod floors;
mod full_disk;
mod guards;
mod jail;
mod journals;
mod like_bash;
mod month;
mod notes;
mod offline;
#[cfg(target_os = "linux")]
mod old_kernel;
mod project;
mod prompts;
mod requests;
mod resume;
mod schema;
mod scripted;
mod strange_repos;
mod summaries;
mod support;
mod terminal;
mod three_days;
mod tidy;
mod turns;

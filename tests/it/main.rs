//! The one integration test binary: a module a capability.

mod chat;
mod cli;
mod compaction;
mod config_edit;
mod context;
mod crash;
mod docs;
mod endpoint;
mod endpoint_breaks;
mod fixtures;
mod floors;
mod full_disk;
mod jail;
mod notes;
mod offline;
mod prompts;
mod requests;
mod resume;
mod schema;
mod scripted;
mod strange_repos;
mod support;
mod terminal;
mod three_days;
mod tidy;
mod turns;

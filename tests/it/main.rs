//! The one integration test binary: a module a capability.

mod cli;
mod context;
mod docs;
mod fixtures;
mod floors;
mod prompts;
mod support;
mod tidy;
mod turns;

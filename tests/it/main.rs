//! The one integration test binary: a module a capability.

mod context;
mod docs;
mod fixtures;
mod floors;
mod prompts;
mod tidy;

//! The one integration test binary: a module a capability.

mod fixtures;
mod floors;
mod prompts;
mod tidy;

//! The one integration test binary: a module a capability.

mod prompts;

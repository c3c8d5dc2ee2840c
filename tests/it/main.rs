//! The one integration test binary: a module a capability. `tidy.rs` checks that none is forgotten.
#![expect(clippy::unwrap_used, reason = "helper functions of tests fail by panicking")]

//! Reading everything, changing nothing: command lines that only read, without a shell.
//!
//! [`Terminal::plan`] is pure: our own lexer and parser read the line, rules say what may run, and
//! what is not certain to be read-only is refused. [`Terminal::run`] takes nothing but a
//! [`Plan`], so what was not checked cannot run; the kernel enforces it a second time.
//!
//! This module knows no model and no agent: `groundskeeper sh` is the path that a model uses.

#[expect(dead_code, reason = "the checker and the executor come with the next commits")]
mod plan;

pub use plan::Plan;

//! groundskeeper maintains a codebase over days and weeks: it explores a repository with
//! read-only commands, keeps what it learns as Markdown notes in Git, follows a refactoring from
//! session to session, and puts the right few thousand tokens in front of a model.
//!
//! It is the system of chapter 9 of the book *Hello-Agents* ("Context Engineering"). Read the
//! modules in this order; each opens with what it is for and what it refuses to do:
//!
//! 1. [`protocol`]: the data that everyone speaks.
//! 2. [`agent`]: one turn, from a question to an answer.
//! 3. [`context`], [`notes`], [`terminal`], [`model`], [`journal`], [`prompts`]: the parts, blind
//!    to each other.
//! 4. [`sources`] and [`tools`]: what joins the parts: things into packets, calls into things.
//! 5. [`config`], [`ui`], [`cli`]: what a person meets.
//! 6. [`support`]: small and domain-free: tokens, clock, text, files, paths.

pub mod agent;
pub mod cli;
pub mod config;
pub mod context;
pub mod journal;
pub mod model;
pub mod notes;
pub mod prompts;
pub mod protocol;
pub mod sources;
pub mod support;
pub mod terminal;
pub mod tools;
pub mod ui;

/// The page on testing: what it shows is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/testing.md")]
pub struct TestingPage;

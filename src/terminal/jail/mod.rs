//! The kernel's half of the guarantee: a helper of our own binary is started, takes every right
//! from itself that the one program does not need, and becomes that program.
//!
//! The parent never forks and never changes itself; all it does here is to describe the cell
//! ([`Cell`]) and to ask what of it works on this machine (the probe). The folder is the only one
//! that holds `unsafe` code and that names the crates of the kernel's interfaces.
//!
//! What always holds: a layer that must be there and is not makes the helper give up before
//! anything ran; no layer is ever taken off.

#![cfg_attr(
    target_os = "linux",
    expect(unsafe_code, reason = "the kernel's interfaces have no safe form; each use says why")
)]

mod cell;
#[cfg(target_os = "linux")]
mod helper;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod limits;
mod loader;
mod probe;
#[cfg(target_os = "linux")]
mod seccomp;
#[cfg(target_os = "linux")]
mod signals;

use std::ffi::OsString;

pub(super) use cell::{Cell, Job, Layer, Limits, Processes, SETUP_FAILED};
pub(super) use loader::loader_of;
pub use probe::{Check, JailReport};
#[cfg(target_os = "linux")]
pub use signals::survive_the_largest_file;

/// The hidden first argument that asks for the helper.
pub(super) const HELPER_NAME: &str = "__groundskeeper_jail";

/// Returns whether this process was started as the jail's helper: `main` asks first of all.
pub fn jail_helper_requested() -> bool {
    std::env::args_os().nth(1).is_some_and(|argument| argument == HELPER_NAME)
}

/// Jails this process and becomes the program that its arguments name; never returns. `main` calls
/// it before it starts any thread, so before an async runtime: with `#[tokio::main]` it is too late.
#[expect(clippy::exit, reason = "a helper that cannot jail itself must not go on")]
pub fn run_jail_helper() -> ! {
    let arguments: Vec<OsString> = std::env::args_os().skip(2).collect();
    let complaint = enter(&arguments);
    complain(&complaint.message);
    std::process::exit(complaint.code)
}

/// Does nothing where there is no such signal.
#[cfg(not(target_os = "linux"))]
pub fn survive_the_largest_file() {}

/// Why the helper is still there, and what it exits with.
pub(super) struct Complaint {
    pub(super) code: i32,
    pub(super) message: String,
}

#[cfg(target_os = "linux")]
fn enter(arguments: &[OsString]) -> Complaint {
    helper::enter(arguments)
}

#[cfg(not(target_os = "linux"))]
fn enter(_arguments: &[OsString]) -> Complaint {
    Complaint { code: SETUP_FAILED, message: "there is no jail on this system".to_owned() }
}

/// Tells the parent, which reads our standard error.
fn complain(message: &str) {
    use std::io::Write;
    // A parent that is gone reads nothing, and there is nobody else to tell.
    drop(writeln!(std::io::stderr(), "groundskeeper: {message}"));
}

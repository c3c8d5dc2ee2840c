//! What a process may use up, and what it starts with: nothing of ours.

use rustix::process::{Resource, Rlimit, Signal};

use super::cell::Cell;

/// Ties the process to its parent, caps what it may use, and drops what it inherited.
pub(super) fn apply(cell: &Cell) -> Result<(), String> {
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| format!("the death signal cannot be set: {error}"))?;
    // The parent may have died before the line above: then no signal will ever come.
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    if u32::try_from(parent) != Ok(cell.parent) {
        return Err("the program that asked for this is gone".to_owned());
    }
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    limit(Resource::Cpu, cell.limits.cpu_seconds)?;
    limit(Resource::As, cell.limits.memory)?;
    limit(Resource::Fsize, 0)?;
    limit(Resource::Nofile, cell.limits.descriptors)?;
    limit(Resource::Core, 0)?;
    close_inherited();
    default_signals();
    drop_capabilities();
    rustix::thread::set_no_new_privs(true)
        .map_err(|error| format!("new privileges cannot be ruled out: {error}"))
}

/// Sets both limits, or the hard one that is already lower.
fn limit(resource: Resource, value: u64) -> Result<(), String> {
    let hard = rustix::process::getrlimit(resource).maximum;
    let value = Some(hard.map_or(value, |hard| hard.min(value)));
    rustix::process::setrlimit(resource, Rlimit { current: value, maximum: value })
        .map_err(|error| format!("a limit cannot be set: {error}"))
}

/// Has `exec` close everything but the three standard streams: a descriptor is a right that no
/// later layer takes away. They are not closed at once, because a thread that a caller has started
/// against the rule may be using one, and would end the process for it.
fn close_inherited() {
    // SAFETY: a flag is set on descriptors; none is closed before this process becomes another.
    let marked =
        unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if marked == 0 {
        return;
    }
    for descriptor in 3..1024 {
        // SAFETY: as above; marking a number that is not open does nothing.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
}

/// Rust ignores `SIGPIPE`, which `exec` would hand on: `cat huge | head` would never end.
fn default_signals() {
    // SAFETY: setting the default action installs no handler.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
    // SAFETY: an all-zero `sigset_t` is a valid value, which `sigemptyset` then sets.
    let mut none: libc::sigset_t = unsafe { std::mem::zeroed() };
    // SAFETY: `none` is a valid set to write to.
    unsafe { libc::sigemptyset(&raw mut none) };
    // SAFETY: `none` was initialised; the old mask is not asked for.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut()) };
}

/// As root, drops every capability but the one to read what other users own.
///
/// Without it the programs would run with the right to mount, to load modules and to write any
/// file; the other layers forbid it too, and two are better than one. An ordinary user has none
/// to drop, and the calls fail without consequence.
fn drop_capabilities() {
    const READ_ANY: libc::c_int = 2; // CAP_DAC_READ_SEARCH
    for capability in (0..64).filter(|capability| *capability != READ_ANY) {
        // SAFETY: this request takes one integer and touches no memory of ours.
        let dropped = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
        if dropped != 0 {
            break;
        }
    }
}

//! Seccomp: which system calls exist for the program. Whatever is not listed fails with
//! `EPERM`, and calls of another architecture kill.
//!
//! Landlock has no word for changing modes, owners and times, so they must fail here; and no
//! call that starts a second program or process is listed at all: `execve` works once, with the
//! very address of the path that the helper prepared.

mod by_number;

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use super::cell::{Cell, Processes};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Installs the filter for this process and what it becomes. `program` is the path that may be
/// executed, told apart by its address.
pub(super) fn apply(cell: &Cell, program: *const libc::c_char) -> Result<(), String> {
    let filter = filter(cell, program as u64).map_err(|error| error.to_string());
    filter
        .and_then(|filter| seccompiler::apply_filter(&filter).map_err(|error| error.to_string()))
        .map_err(|error| format!("the system-call filter cannot be set up: {error}"))
}

/// The whole filter: what is decided by the number alone in a search tree of ours, then what
/// hangs on arguments.
///
/// The kernel plays a new filter through for every number there is, so a tree of a few steps
/// installs in a tenth of the time of a list of a hundred.
fn filter(cell: &Cell, program: u64) -> Result<BpfProgram, BackendError> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let mut rules = Rules::new();
    let mut free = FREE.to_vec();
    conditional(&mut rules)?;
    opens(&mut rules, cell.opens_for_writing)?;
    match cell.processes {
        Processes::One => {
            let address = when(0, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, program)?;
            rules.insert(libc::SYS_execve, vec![rule(vec![address])?]);
            rules.insert(libc::SYS_clone, vec![rule(vec![thread_only()?])?]);
        }
        Processes::Many => free.extend(MANY),
    }
    let deny = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let on_arguments: BpfProgram =
        SeccompFilter::new(rules, deny, SeccompAction::Allow, architecture)?.try_into()?;
    let mut whole = by_number::prefix(libc::SYS_clone3);
    whole.extend(by_number::allow(&free));
    whole.extend(on_arguments);
    Ok(whole)
}

/// A thread shares memory and signal handlers with its process; anything less is a new process.
fn thread_only() -> Result<SeccompCondition, BackendError> {
    let flags = libc::CLONE_VM | libc::CLONE_SIGHAND | libc::CLONE_THREAD;
    let namespaces = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS
        | libc::CLONE_NEWCGROUP;
    let mask = u64::from((flags | namespaces).cast_unsigned());
    when(0, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), u64::from(flags.cast_unsigned()))
}

/// The calls that open files, without the flags that write. What may open for writing may make and
/// empty nothing all the same; what it opens cannot be written to either, by the limit of sizes.
/// `openat2` keeps its flags in memory, where a filter cannot look, and is not listed.
fn opens(rules: &mut Rules, for_writing: bool) -> Result<(), BackendError> {
    // A file without a name is asked for by the flag of a folder too, which is harmless alone.
    let unnamed = libc::O_TMPFILE & !libc::O_DIRECTORY;
    let changes = libc::O_CREAT | libc::O_TRUNC | libc::O_APPEND | unnamed;
    let flags = if for_writing { changes } else { changes | libc::O_ACCMODE };
    let mask = u64::from(flags.cast_unsigned());
    for (call, argument) in OPENS {
        let reading = when(*argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), 0)?;
        rules.insert(*call, vec![rule(vec![reading])?]);
    }
    Ok(())
}

/// The calls that are harmless with some arguments only.
fn conditional(rules: &mut Rules) -> Result<(), BackendError> {
    let dword = SeccompCmpArgLen::Dword;
    let mut only = |call: i64, argument: u8, values: &[u64]| {
        let each = values
            .iter()
            .map(|value| rule(vec![when(argument, dword.clone(), SeccompCmpOp::Eq, *value)?]));
        let each = each.collect::<Result<Vec<_>, _>>()?;
        rules.insert(call, each);
        Ok::<(), BackendError>(())
    };
    // Is it a terminal, how wide, how much is there to read; never TIOCSTI, which types.
    only(libc::SYS_ioctl, 1, &[libc::TCGETS, libc::TIOCGWINSZ, libc::FIONREAD, libc::FIOCLEX])?;
    let commands = [
        libc::F_DUPFD,
        libc::F_DUPFD_CLOEXEC,
        libc::F_GETFD,
        libc::F_SETFD,
        libc::F_GETFL,
        libc::F_SETFL,
        libc::F_GETLK,
        libc::F_GETPIPE_SZ,
    ];
    only(libc::SYS_fcntl, 1, &commands.map(|command| u64::from(command.cast_unsigned())))?;
    // Names of threads and of memory; nothing that changes rights.
    let names = [libc::PR_SET_NAME, libc::PR_SET_VMA];
    only(libc::SYS_prctl, 0, &names.map(|name| u64::from(name.cast_unsigned())))?;
    // `abort` sends a signal to the own process; nobody else is to be signalled.
    only(libc::SYS_tgkill, 0, &[u64::from(std::process::id())])?;
    // Asking for limits is free, setting them is not.
    let itself = when(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, 0)?;
    let asking = when(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![rule(vec![itself, asking])?]);
    Ok(())
}

fn when(
    argument: u8,
    length: SeccompCmpArgLen,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, length, operator, value)
}

fn rule(conditions: Vec<SeccompCondition>) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions)
}

/// What opens files, and which argument holds the flags.
#[cfg(target_arch = "x86_64")]
const OPENS: &[(i64, u8)] = &[(libc::SYS_openat, 2), (libc::SYS_open, 1)];
#[cfg(not(target_arch = "x86_64"))]
const OPENS: &[(i64, u8)] = &[(libc::SYS_openat, 2)];

/// What starts processes: in the cell of the tests of the other layers.
#[cfg(target_arch = "x86_64")]
const MANY: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_clone,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_setpgid,
    libc::SYS_kill,
];
#[cfg(not(target_arch = "x86_64"))]
const MANY: &[i64] = &[libc::SYS_execve, libc::SYS_clone, libc::SYS_setpgid, libc::SYS_kill];

/// What every listed program may call, whatever the arguments.
#[rustfmt::skip]
const FREE: &[i64] = &[
    // Reading and writing what is open.
    libc::SYS_read, libc::SYS_readv, libc::SYS_pread64, libc::SYS_preadv, libc::SYS_preadv2,
    libc::SYS_write, libc::SYS_writev, libc::SYS_pwrite64, libc::SYS_lseek, libc::SYS_close,
    libc::SYS_close_range, libc::SYS_dup, libc::SYS_dup3, libc::SYS_pipe2, libc::SYS_fadvise64,
    libc::SYS_readahead, libc::SYS_copy_file_range, libc::SYS_sendfile, libc::SYS_splice,
    libc::SYS_tee, libc::SYS_ppoll, libc::SYS_pselect6,
    // Looking at files and folders.
    libc::SYS_fstat, libc::SYS_newfstatat, libc::SYS_statx, libc::SYS_faccessat,
    libc::SYS_faccessat2, libc::SYS_readlinkat, libc::SYS_getdents64, libc::SYS_getcwd,
    libc::SYS_chdir, libc::SYS_fchdir, libc::SYS_statfs, libc::SYS_fstatfs, libc::SYS_getxattr,
    libc::SYS_lgetxattr, libc::SYS_fgetxattr, libc::SYS_listxattr, libc::SYS_llistxattr,
    libc::SYS_flistxattr, libc::SYS_umask,
    // Memory.
    libc::SYS_brk, libc::SYS_mmap, libc::SYS_munmap, libc::SYS_mremap, libc::SYS_mprotect,
    libc::SYS_madvise, libc::SYS_mincore, libc::SYS_msync,
    // Threads, signals, waiting, the end.
    libc::SYS_futex, libc::SYS_set_robust_list, libc::SYS_get_robust_list, libc::SYS_rseq,
    libc::SYS_set_tid_address, libc::SYS_membarrier, libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity, libc::SYS_getcpu, libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask, libc::SYS_rt_sigreturn, libc::SYS_rt_sigpending,
    libc::SYS_sigaltstack, libc::SYS_restart_syscall, libc::SYS_wait4, libc::SYS_exit,
    libc::SYS_exit_group, libc::SYS_nanosleep, libc::SYS_clock_nanosleep, libc::SYS_setitimer,
    // Asking who, when, where.
    libc::SYS_getpid, libc::SYS_getppid, libc::SYS_gettid, libc::SYS_getpgid, libc::SYS_getsid,
    libc::SYS_getuid, libc::SYS_geteuid, libc::SYS_getgid, libc::SYS_getegid,
    libc::SYS_getresuid, libc::SYS_getresgid, libc::SYS_getgroups, libc::SYS_uname,
    libc::SYS_sysinfo, libc::SYS_times, libc::SYS_getrusage, libc::SYS_clock_gettime,
    libc::SYS_clock_getres, libc::SYS_gettimeofday, libc::SYS_getrandom,
    // The older spellings, which not every architecture has.
    #[cfg(target_arch = "x86_64")] libc::SYS_stat,
    #[cfg(target_arch = "x86_64")] libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")] libc::SYS_access,
    #[cfg(target_arch = "x86_64")] libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")] libc::SYS_getdents,
    #[cfg(target_arch = "x86_64")] libc::SYS_dup2,
    #[cfg(target_arch = "x86_64")] libc::SYS_pipe,
    #[cfg(target_arch = "x86_64")] libc::SYS_poll,
    #[cfg(target_arch = "x86_64")] libc::SYS_select,
    #[cfg(target_arch = "x86_64")] libc::SYS_alarm,
    #[cfg(target_arch = "x86_64")] libc::SYS_time,
    #[cfg(target_arch = "x86_64")] libc::SYS_getpgrp,
    #[cfg(target_arch = "x86_64")] libc::SYS_arch_prctl,
];

#[cfg(test)]
mod tests;

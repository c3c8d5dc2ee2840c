//! The filter, played through as the kernel does, for calls that no test can make for real.

use seccompiler::sock_filter;

use super::by_number::*;
use super::*;
use crate::terminal::jail::cell::{Layer, Limits};

const PROGRAM: u64 = 0x7fff_1234_5678;
const I386: u32 = 0x4000_0003;
const KILLED: u32 = libc::SECCOMP_RET_KILL_PROCESS;
const ALLOWED: u32 = libc::SECCOMP_RET_ALLOW;
const REFUSED: u32 = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();
const ABSENT: u32 = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();

fn cell(processes: Processes, opens_for_writing: bool) -> Cell {
    Cell {
        landlock: Layer::Must,
        seccomp: Layer::Must,
        processes,
        opens_for_writing,
        readable: Vec::new(),
        libraries: Vec::new(),
        executable: Vec::new(),
        limits: Limits { cpu_seconds: 30, memory: 1 << 32, descriptors: 512 },
        parent: 1,
    }
}

/// Runs a filter over a call; panics on a step that it does not know.
fn play(filter: &[sock_filter], architecture: u32, call: i64, arguments: [u64; 6]) -> u32 {
    let mut data = Vec::new();
    data.extend_from_slice(&call.to_le_bytes()[..4]);
    data.extend(architecture.to_le_bytes());
    data.extend(0_u64.to_le_bytes());
    data.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
    let (mut at, mut value) = (0, 0_u32);
    loop {
        let step = &filter[at];
        at += 1;
        let mut jump = |taken: bool| at += usize::from(if taken { step.jt } else { step.jf });
        match step.code {
            LOAD => {
                let bytes = &data[step.k as usize..][..4];
                value = u32::from_le_bytes(bytes.try_into().unwrap());
            }
            JUMP => at += step.k as usize,
            JUMP_IF_EQUAL => jump(value == step.k),
            JUMP_IF_GREATER => jump(value > step.k),
            JUMP_IF_AT_LEAST => jump(value >= step.k),
            0x54 => value &= step.k,
            RETURN => return step.k,
            other => panic!("step {other:#x}"),
        }
    }
}

#[track_caller]
fn check(number: i64, arguments: [u64; 6], expected: u32) {
    let filter = filter(&cell(Processes::One, false), PROGRAM).unwrap();
    assert_eq!(play(&filter, THIS_ARCHITECTURE, number, arguments), expected);
}

#[test]
fn what_is_listed_is_allowed_and_nothing_else_is() {
    let filter = filter(&cell(Processes::One, false), PROGRAM).unwrap();
    for number in 0..600 {
        let allowed = play(&filter, THIS_ARCHITECTURE, number, [7; 6]) == ALLOWED;
        assert_eq!(allowed, FREE.contains(&number), "call {number}");
    }
}

#[test]
fn one_program_with_one_address_is_executed() {
    check(libc::SYS_execve, [PROGRAM, 0, 0, 0, 0, 0], ALLOWED);
    check(libc::SYS_execve, [PROGRAM + 1, 0, 0, 0, 0, 0], REFUSED);
    check(libc::SYS_execve, [PROGRAM & 0xffff_ffff, 0, 0, 0, 0, 0], REFUSED);
    check(libc::SYS_execveat, [PROGRAM, 0, 0, 0, 0, 0], REFUSED);
}

#[test]
fn threads_start_and_processes_do_not() {
    let thread = libc::CLONE_VM | libc::CLONE_FS | libc::CLONE_SIGHAND | libc::CLONE_THREAD;
    let thread = u64::from(thread.cast_unsigned());
    check(libc::SYS_clone, [thread, 0, 0, 0, 0, 0], ALLOWED);
    check(libc::SYS_clone, [17, 0, 0, 0, 0, 0], REFUSED);
    check(libc::SYS_clone, [thread | 0x1000_0000, 0, 0, 0, 0, 0], REFUSED);
    check(libc::SYS_clone3, [0; 6], ABSENT);
    #[cfg(target_arch = "x86_64")]
    for call in [libc::SYS_fork, libc::SYS_vfork] {
        check(call, [0; 6], REFUSED);
    }
}

#[test]
fn files_are_opened_for_reading_only_but_by_git() {
    let flags = |flags: i32| [0, 0, u64::from(flags.cast_unsigned()), 0, 0, 0];
    check(libc::SYS_openat, flags(libc::O_RDONLY | libc::O_CLOEXEC), ALLOWED);
    check(libc::SYS_openat, flags(libc::O_DIRECTORY | libc::O_NOFOLLOW), ALLOWED);
    for write in [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC, libc::O_TMPFILE | 2] {
        check(libc::SYS_openat, flags(write), REFUSED);
    }
    check(libc::SYS_openat2, [0; 6], REFUSED);
    let git = filter(&cell(Processes::One, true), PROGRAM).unwrap();
    assert_eq!(play(&git, THIS_ARCHITECTURE, libc::SYS_openat, flags(libc::O_RDWR)), ALLOWED);
    for change in [libc::O_CREAT, libc::O_TRUNC, libc::O_APPEND, libc::O_TMPFILE] {
        let change = flags(libc::O_RDWR | change);
        assert_eq!(play(&git, THIS_ARCHITECTURE, libc::SYS_openat, change), REFUSED);
    }
}

#[test]
fn arguments_decide_where_a_call_can_be_both() {
    let second = |value: u64| [0, value, 0, 0, 0, 0];
    check(libc::SYS_ioctl, second(libc::TCGETS), ALLOWED);
    check(libc::SYS_ioctl, second(libc::TIOCSTI), REFUSED);
    check(libc::SYS_fcntl, second(u64::from(libc::F_SETOWN.cast_unsigned())), REFUSED);
    check(
        libc::SYS_prctl,
        [u64::from(libc::PR_SET_DUMPABLE.cast_unsigned()), 0, 0, 0, 0, 0],
        REFUSED,
    );
    check(libc::SYS_tgkill, [u64::from(std::process::id()), 0, 6, 0, 0, 0], ALLOWED);
    check(libc::SYS_tgkill, [1, 1, 9, 0, 0, 0], REFUSED);
    check(libc::SYS_prlimit64, [0, 7, 0, 1, 0, 0], ALLOWED);
    check(libc::SYS_prlimit64, [0, 7, 1, 0, 0, 0], REFUSED);
}

#[test]
fn other_architectures_and_x32_kill_whatever_they_call() {
    let filter = filter(&cell(Processes::One, false), PROGRAM).unwrap();
    for number in [0, 1, 11, 59, 435] {
        assert_eq!(play(&filter, I386, number, [PROGRAM; 6]), KILLED);
        assert_eq!(play(&filter, THIS_ARCHITECTURE, 0x4000_0000 + number, [PROGRAM; 6]), KILLED);
    }
    assert_eq!(play(&filter, THIS_ARCHITECTURE, -1, [0; 6]), KILLED);
}

#[test]
fn what_does_harm_without_landlock_noticing_is_on_no_list() {
    let harmful = [
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_utimensat,
        libc::SYS_setxattr,
        libc::SYS_fsetxattr,
        libc::SYS_removexattr,
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_sendto,
        libc::SYS_ptrace,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_io_uring_setup,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_bpf,
        libc::SYS_perf_event_open,
        libc::SYS_userfaultfd,
        libc::SYS_memfd_create,
        libc::SYS_process_vm_writev,
        libc::SYS_kill,
        libc::SYS_tkill,
        libc::SYS_setrlimit,
        libc::SYS_seccomp,
        libc::SYS_ftruncate,
        libc::SYS_fallocate,
        libc::SYS_renameat2,
        libc::SYS_unlinkat,
        libc::SYS_linkat,
        libc::SYS_symlinkat,
        libc::SYS_mkdirat,
        libc::SYS_mknodat,
        libc::SYS_pidfd_getfd,
        libc::SYS_inotify_init1,
    ];
    for call in harmful {
        check(call, [0; 6], REFUSED);
    }
}

#[test]
fn a_search_finds_what_is_in_it() {
    let numbers = [1, 2, 3, 7, 9, 10, 200, 334, 335];
    let mut steps = allow(&numbers);
    steps.insert(0, sock_filter { code: LOAD, jt: 0, jf: 0, k: 0 });
    steps.push(sock_filter { code: RETURN, jt: 0, jf: 0, k: REFUSED });
    for number in 0..400 {
        let expected = if numbers.contains(&number) { ALLOWED } else { REFUSED };
        assert_eq!(play(&steps, 0, number, [0; 6]), expected, "{number}");
    }
}

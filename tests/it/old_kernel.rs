//! Kernels that lack a part of the jail, played by a filter around the program: what is missing is
//! told, `required` runs nothing, and the layers that are left hold.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]
#![expect(clippy::disallowed_methods, reason = "tests start programs of their own")]

use std::collections::BTreeMap;
use std::process::{Command, Output, Stdio};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as ArgLen, SeccompCmpOp as Op, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use super::support::{Env, write};

/// What a kernel without Landlock and one that has it switched off say; the calls.
const LANDLOCK: [i64; 3] = [
    libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_restrict_self,
];

/// Runs what a command describes under a kernel in which some calls fail: filters belong to a
/// thread and to what it starts.
fn under(calls: &[i64], error: i32, command: impl FnOnce() -> Command + Send) -> Output {
    let rules: BTreeMap<i64, Vec<_>> = calls.iter().map(|call| (*call, Vec::new())).collect();
    let fails = SeccompAction::Errno(error.cast_unsigned());
    let architecture = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, fails, architecture).unwrap();
    let filter: BpfProgram = filter.try_into().unwrap();
    std::thread::scope(|scope| {
        let running = scope.spawn(move || {
            seccompiler::apply_filter(&filter).unwrap();
            command().output().unwrap()
        });
        running.join().unwrap()
    })
}

/// Runs what a command describes where it may start no thread.
fn without_threads(command: impl FnOnce() -> Command + Send) -> Output {
    let flag = libc::CLONE_THREAD.unsigned_abs().into();
    let is_thread = SeccompCondition::new(0, ArgLen::Qword, Op::MaskedEq(flag), flag).unwrap();
    let rules = [(libc::SYS_clone, vec![SeccompRule::new(vec![is_thread]).unwrap()])];
    let fails = SeccompAction::Errno(libc::EAGAIN.unsigned_abs());
    let architecture = TargetArch::try_from(std::env::consts::ARCH).unwrap();
    let filter = SeccompFilter::new(rules.into(), SeccompAction::Allow, fails, architecture);
    let filter: BpfProgram = filter.unwrap().try_into().unwrap();
    // A call whose flags no filter sees is said not to be there, so that the other is used.
    under(&[libc::SYS_clone3], libc::ENOSYS, move || {
        seccompiler::apply_filter(&filter).unwrap();
        command()
    })
}

fn sh(env: &Env, calls: &[i64], error: i32, sandbox: &str, line: &str) -> Output {
    let setting = format!("terminal.sandbox={sandbox}");
    under(calls, error, || {
        let mut command = env.groundskeeper();
        command.args(["--set", &setting, "sh", line]);
        command
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_kernel_without_a_layer_is_told_and_required_runs_nothing() {
    let env = Env::new().file("a.txt", "b\na\n");
    for (calls, error, missing) in [
        (&LANDLOCK[..], libc::ENOSYS, "no Landlock"),
        (&LANDLOCK[..], libc::EOPNOTSUPP, "no Landlock"),
        (&[libc::SYS_seccomp][..], libc::EINVAL, "no system-call filter"),
    ] {
        let ran = sh(&env, calls, error, "auto", "sort a.txt | head -n 1");
        let told = text(&ran.stderr);
        assert_eq!((text(&ran.stdout).as_str(), ran.status.code()), ("a\n", Some(0)), "{told}");
        assert!(told.contains(missing), "{told}");
        let ran = sh(&env, calls, error, "required", "cat a.txt");
        assert_eq!((text(&ran.stdout).as_str(), ran.status.code()), ("", Some(8)));
        assert!(text(&ran.stderr).contains(missing), "{}", text(&ran.stderr));
    }
}

/// Runs a program in a cell that takes the layers that there are.
fn alone(env: &Env, calls: &[i64], error: i32, line: &[&str]) -> Output {
    let program = format!("/usr/bin/{}", line[0]);
    under(calls, error, || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundskeeper"));
        command.args(["__groundskeeper_jail", "landlock=try", "seccomp=try", "processes=one"]);
        command.args(["opens-for-writing=no", "cpu=10", "memory=4294967296", "descriptors=512"]);
        command.arg(format!("parent={}", std::process::id()));
        command.arg(format!("read={}", env.workspace().display()));
        for library in ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"] {
            command.arg(format!("library={library}"));
        }
        command.args([format!("execute={program}"), "execute=/lib64/ld-linux-x86-64.so.2".into()]);
        command.arg("execute=/lib/ld-linux-aarch64.so.1");
        command.args(["--", &program]).args(line);
        command.env_clear().current_dir(env.workspace()).stdin(Stdio::null());
        command
    })
}

#[test]
fn without_landlock_nothing_is_written_changed_or_started() {
    let env = Env::new().file("a.txt", "b\na\n");
    let before = env.snapshot();
    for line in [
        &["touch", "pwned"][..],
        &["cp", "a.txt", "pwned"],
        &["chmod", "600", "a.txt"],
        &["sed", "-i", "s/a/x/", "a.txt"],
        &["env", "touch", "pwned"],
        &["find", ".", "-delete"],
    ] {
        let ran = alone(&env, &LANDLOCK, libc::ENOSYS, line);
        assert!(!ran.status.success(), "{line:?}: {}", text(&ran.stdout));
        assert_eq!(env.snapshot(), before, "{line:?}");
    }
    let ran = alone(&env, &LANDLOCK, libc::ENOSYS, &["cat", "a.txt"]);
    assert_eq!(text(&ran.stdout), "b\na\n", "{}", text(&ran.stderr));
}

#[test]
fn without_the_filter_nothing_is_written_or_read_outside() {
    let env = Env::new().file("a.txt", "b\na\n");
    let before = env.snapshot();
    for line in [
        &["touch", "pwned"][..],
        &["cp", "a.txt", "pwned"],
        &["sed", "-i", "s/a/x/", "a.txt"],
        &["env", "touch", "pwned"],
        &["find", ".", "-delete"],
        &["cat", "/etc/passwd"],
    ] {
        let ran = alone(&env, &[libc::SYS_seccomp], libc::EINVAL, line);
        assert!(!ran.status.success(), "{line:?}: {}", text(&ran.stdout));
        assert_eq!(env.snapshot(), before, "{line:?}");
    }
}

#[test]
fn where_no_thread_may_be_started_a_large_folder_of_notes_is_read_all_the_same() {
    let env = Env::new();
    for number in 0..1000 {
        let name = format!("note_20250101_000000_{number}.md");
        let text = format!("---\ntitle: Note {number}\n---\n\nword{number}\n");
        write(&env.workspace().join(".groundskeeper/notes").join(name), text.as_bytes());
    }
    // First all files are read, then a derived file helps.
    for _ in 0..2 {
        let ran = without_threads(|| {
            let mut command = env.groundskeeper();
            command.args(["notes", "list", "--limit", "1"]);
            command
        });
        assert_eq!(text(&ran.stderr), "");
        assert!(text(&ran.stdout).ends_with("1 of 1000 notes; `--limit` shows more\n"));
    }
    let ran = without_threads(|| {
        let mut command = env.groundskeeper();
        command.args(["sh", "ls"]);
        command
    });
    assert!(!ran.status.success(), "the filter holds: {}", text(&ran.stdout));
}

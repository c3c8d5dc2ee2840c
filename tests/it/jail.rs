//! The kernel's layers alone, through the built program: the rules that read command lines are
//! not asked, so programs and lines run here that they would never let through.
//!
//! On a machine without Landlock there is nothing to test, and the tests say so.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]
#![expect(clippy::print_stderr, reason = "a test that cannot be made says so")]
#![expect(clippy::disallowed_methods, reason = "tests start programs and write files of their own")]

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use pretty_assertions::assert_eq;

const BINARY: &str = env!("CARGO_BIN_EXE_groundskeeper");

/// A workspace with a secret beside it.
struct Cell {
    folder: tempfile::TempDir,
}

impl Cell {
    /// Returns a cell, or nothing where the kernel has no Landlock.
    fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ws/src", "outside"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        std::fs::write(folder.path().join("outside/secret"), "CANARY\n").unwrap();
        std::fs::write(folder.path().join("ws/a.txt"), "b\na\n").unwrap();
        std::fs::write(folder.path().join("ws/src/b.txt"), "x\n").unwrap();
        let link = folder.path().join("ws/link");
        std::os::unix::fs::symlink(folder.path().join("outside"), link).unwrap();
        let script = folder.path().join("ws/evil.sh");
        std::fs::write(&script, "#!/bin/sh\necho > pwned\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).unwrap();
        let cell = Self { folder };
        let probe = cell.helper(&["processes=one"], &["--"]).output().unwrap();
        let probe = String::from_utf8_lossy(&probe.stdout).into_owned();
        if probe.starts_with("landlock\t0") || !probe.starts_with("landlock\t") {
            eprintln!("skipped: no Landlock here ({probe})");
            return None;
        }
        Some(cell)
    }

    fn workspace(&self) -> PathBuf {
        self.folder.path().join("ws")
    }

    fn helper(&self, options: &[&str], rest: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.arg("__groundskeeper_jail");
        command.args(["landlock=must", "seccomp=must", "opens-for-writing=no"]);
        command.args(["cpu=10", "memory=4294967296", "descriptors=512"]);
        command.arg(format!("parent={}", std::process::id()));
        command.arg(format!("read={}", self.workspace().display()));
        command.args(LIBRARIES.iter().map(|path| format!("library={path}")));
        command.args(options).args(rest);
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
        command.current_dir(self.workspace()).stdin(Stdio::null());
        command
    }

    /// Runs one program, as every command of a line runs.
    fn alone(&self, line: &[&str]) -> Output {
        let program = program(line[0]);
        let execute = format!("execute={}", program.display());
        let mut rest = vec!["--", program.to_str().unwrap()];
        rest.extend(line);
        let loaders = ["execute=/lib64/ld-linux-x86-64.so.2", "execute=/lib/ld-linux-aarch64.so.1"];
        let options = ["processes=one", execute.as_str(), loaders[0], loaders[1]];
        self.helper(&options, &rest).output().unwrap()
    }

    /// Runs a line of bash that may start every program of the system: Landlock, the filter and
    /// the limits without the rule of the one program.
    fn shell(&self, line: &str) -> Output {
        let mut options = vec!["processes=many", "opens-for-writing=yes"];
        options.extend(["execute=/usr/bin", "execute=/bin", "execute=/usr/local/bin"]);
        options.extend(["execute=/lib64", "execute=/lib", "execute=/usr/lib"]);
        let rest = ["--", "/bin/bash", "bash", "-c", line];
        self.helper(&options, &rest).output().unwrap()
    }

    /// Returns everything in the workspace: names, modes, times, contents.
    fn snapshot(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.workspace()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let facts = path.symlink_metadata().unwrap();
                let text = if facts.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
                let (mode, time) = (facts.permissions(), facts.modified().unwrap());
                found.push(format!("{} {mode:?} {time:?} {text:?}", path.display()));
                if facts.is_dir() {
                    folders.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

const LIBRARIES: &[&str] =
    &["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"];

fn program(name: &str) -> PathBuf {
    let folders = ["/usr/local/bin", "/usr/bin", "/bin"].map(Path::new);
    let found = folders.iter().map(|folder| folder.join(name)).find(|path| path.exists());
    found.unwrap_or_else(|| Path::new("/usr/bin").join(name))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn what_reads_the_workspace_runs() {
    let Some(cell) = Cell::new() else { return };
    for (line, expected) in [
        (&["cat", "a.txt"][..], "b\na\n"),
        (&["sort", "a.txt"], "a\nb\n"),
        (&["grep", "-rn", "x", "src"], "src/b.txt:1:x\n"),
        (&["find", "src", "-type", "f"], "src/b.txt\n"),
        (&["awk", "{ print NR }", "a.txt"], "1\n2\n"),
        (&["sed", "-n", "2p", "a.txt"], "a\n"),
    ] {
        let output = cell.alone(line);
        assert_eq!(text(&output.stdout), expected, "{line:?}: {}", text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{line:?}");
    }
}

#[test]
fn one_program_changes_reads_and_starts_nothing_else() {
    let Some(cell) = Cell::new() else { return };
    let before = cell.snapshot();
    for line in [
        // Writing, creating, removing, changing.
        &["sort", "-o", "a.txt", "a.txt"][..],
        &["tee", "new"],
        &["cp", "a.txt", "new"],
        &["mv", "a.txt", "new"],
        &["rm", "a.txt"],
        &["ln", "-s", "a.txt", "new"],
        &["ln", "a.txt", "new"],
        &["mkdir", "new"],
        &["rmdir", "src"],
        &["mkfifo", "new"],
        &["touch", "a.txt"],
        &["truncate", "-s", "0", "a.txt"],
        &["chmod", "777", "a.txt"],
        &["chown", "1:1", "a.txt"],
        &["dd", "if=a.txt", "of=new"],
        &["sed", "-i", "s/a/c/", "a.txt"],
        &["find", ".", "-name", "a.txt", "-delete"],
        &["find", ".", "-fprint", "new"],
        &["awk", "BEGIN { print \"x\" > \"new\" }"],
        &["bash", "-c", "echo > new"],
        &["bash", "-c", "echo > /dev/zero"],
        // Reading outside.
        &["cat", "/etc/passwd"],
        &["cat", "/proc/self/environ"],
        &["cat", "../outside/secret"],
        &["cat", "link/secret"],
        &["grep", "-R", "CANARY", "link"],
        &["ls", "/tmp"],
        &["ls", "link/"],
        // A second program.
        &["env", "ls"],
        &["xargs", "ls"],
        &["awk", "BEGIN { exit system(\"ls\") == 0 ? 0 : 1 }"],
        &["find", ".", "-name", "a.txt", "-exec", "false", ";"],
        &["bash", "-c", "ls"],
        &["bash", "-c", "exec ls"],
        &["bash", "-c", "(echo child)"],
        &["timeout", "5", "ls"],
        &["./evil.sh"],
    ] {
        let output = cell.alone(line);
        let silent =
            !text(&output.stdout).contains("child") && !text(&output.stdout).contains("CANARY");
        let failed = output.status.code() != Some(0) || line[0] == "find";
        assert!(failed && silent, "{line:?} succeeded: {}", text(&output.stdout));
        assert_eq!(cell.snapshot(), before, "{line:?} left a trace");
    }
}

#[test]
fn the_other_layers_hold_where_every_program_can_start() {
    let Some(cell) = Cell::new() else { return };
    let before = cell.snapshot();
    let check = cell.shell("ls | wc -l; echo \"$(cat a.txt)\"");
    assert!(text(&check.stdout).contains("b\na\n"), "{}", text(&check.stderr));
    for line in [
        "echo hi > pwned",
        "echo hi >> a.txt",
        "echo hi >| a.txt",
        ": > a.txt",
        "cat <> pwned",
        "ls nothing 2> pwned",
        "cp a.txt pwned; install -m 755 a.txt pwned2; rsync -a src/ pwned3",
        "dd if=/dev/zero of=pwned bs=1 count=1",
        "rm -rf src; unlink a.txt; rmdir src; mv src pwned",
        "ln -s /etc/passwd pwned; ln a.txt pwned; mkfifo pwned; mknod pwned p; mkdir -p pwned/x",
        "chmod -R 777 .; chmod u+s evil.sh; chown 1:1 a.txt; touch -d 2001-01-01 a.txt",
        "setfattr -n user.x -v y a.txt; chattr +i a.txt",
        "find . -type f -exec sh -c 'echo > pwned' \\; ; find . -delete; find . -fprintf pwned x",
        "sort -o pwned a.txt; sort --compress-program=./evil.sh -S 1 a.txt; uniq a.txt pwned",
        "sed -i s/a/c/ a.txt; sed -n 'w pwned' a.txt; sed '1e touch pwned' a.txt",
        "awk 'BEGIN { print 1 > \"pwned\"; system(\"touch pwned2\"); print 2 | \"tee pwned3\" }'",
        "tee pwned < a.txt; split -l 1 a.txt pwned; csplit a.txt 2; xxd -r a.txt pwned",
        "tar cf pwned.tar .; zip pwned.zip a.txt; gzip -k a.txt; patch < a.txt",
        "git init -q pwned; git clone -q . pwned2; git apply a.txt",
        "python3 -c 'open(\"pwned\", \"w\")'; perl -e 'open F, \">pwned\"'; vi -es -c wq pwned",
        "./evil.sh; sh evil.sh; . ./evil.sh; bash evil.sh",
        "exec 3> pwned; exec 3<> a.txt; echo x >&3",
        "(setsid sh -c 'sleep 0; echo > pwned' &) ; nohup sh -c 'echo > pwned' & wait",
        "mount -t tmpfs none src; unshare -r touch pwned; chroot . ; nsenter -t 1 -m touch pwned",
        "ulimit -f unlimited; echo hi > pwned",
    ] {
        cell.shell(line);
        assert_eq!(cell.snapshot(), before, "`{line}` left a trace");
    }
    for line in [
        "cat ../outside/secret; cat link/secret; cat link/../outside/secret",
        "cd ..; cat outside/secret; cd outside && cat secret; pushd ../outside; cat secret",
        "ln -s ../outside/secret x; cat x; cat < ../outside/secret; mapfile x < link/secret; echo $x",
        "grep -R CANARY . ..; find -L . -type f -exec cat {} +; tar cf - ../outside; cat /proc/*/environ",
        "cat /proc/self/root/$OLDPWD/../outside/secret; cat /proc/1/cwd/*; cat /dev/fd/../../*",
    ] {
        let output = cell.shell(line);
        assert!(!text(&output.stdout).contains("CANARY"), "`{line}` read outside");
    }
}

#[test]
fn nothing_is_reached_over_the_network() {
    let Some(cell) = Cell::new() else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo x > /dev/udp/127.0.0.1/{port}");
    for output in [cell.alone(&["bash", "-c", &line]), cell.shell(&line)] {
        assert!(output.status.code() != Some(0), "{}", text(&output.stdout));
    }
    assert!(listener.accept().is_err(), "something connected");
}

#[test]
fn descriptors_of_the_parent_are_closed() {
    let Some(cell) = Cell::new() else { return };
    let secret = cell.folder.path().join("outside/secret");
    let bash = program("bash");
    let execute = format!("execute={}", bash.display());
    let options =
        ["processes=one", execute.as_str(), "execute=/lib64", "execute=/lib", "execute=/usr/lib"];
    let inside = ["--", bash.to_str().unwrap(), "bash", "-c", "read line <&7; echo $line"];
    let helper = cell.helper(&options, &inside);
    // A shell opens the secret and becomes the helper, which inherits it.
    let mut command = Command::new("/bin/bash");
    command.args(["-c", "exec 7< \"$0\"; exec \"$@\""]).arg(secret);
    command.arg(helper.get_program()).args(helper.get_args());
    let output = command.output().unwrap();
    assert!(text(&output.stderr).contains("7: Bad file descriptor"), "{}", text(&output.stderr));
    assert!(!text(&output.stdout).contains("CANARY"));
}

#[test]
fn limits_hold_and_cannot_be_raised() {
    let Some(cell) = Cell::new() else { return };
    let output = cell.alone(&["bash", "-c", "ulimit -f; ulimit -n; ulimit -v; ulimit -c; umask"]);
    assert_eq!(text(&output.stdout), "0\n512\n4194304\n0\n0077\n");
    let output = cell.alone(&["bash", "-c", "ulimit -n 511 && echo lowered"]);
    assert_eq!(text(&output.stdout), "");
    let greedy = "s=xxxxxxxx; while true; do s=$s$s; done";
    let bash = program("bash");
    let rest = ["--", bash.to_str().unwrap(), "bash", "-c", greedy];
    let execute = format!("execute={}", bash.display());
    let options = ["memory=134217728", &execute, "execute=/lib64", "execute=/lib"];
    assert!(!cell.helper(&options, &rest).output().unwrap().status.success());
}

#[test]
fn a_helper_without_its_parent_runs_nothing() {
    let Some(cell) = Cell::new() else { return };
    let program = program("echo");
    let rest = ["parent=1", "--", program.to_str().unwrap(), "echo", "ran"];
    let output = cell.helper(&["processes=one", "execute=/usr/bin"], &rest).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stdout).as_str()), (Some(213), ""));
    assert!(text(&output.stderr).contains("is gone"));
}

#[test]
fn a_program_ends_with_its_parent() {
    let Some(cell) = Cell::new() else { return };
    let bash = program("bash");
    let execute = format!("execute={}", bash.display());
    let options =
        ["processes=one", execute.as_str(), "execute=/lib64", "execute=/lib", "execute=/usr/lib"];
    let forever = ["--", bash.to_str().unwrap(), "bash", "-c", "echo up; while :; do :; done"];
    let helper = cell.helper(&options, &forever);
    let arguments = helper.get_args().map(|word| {
        let word = word.to_str().unwrap();
        if word.starts_with("parent=") { "parent=$$".to_owned() } else { format!("'{word}'") }
    });
    let arguments: Vec<String> = arguments.collect();
    // The shell dies once the program runs; whoever holds its output then is the program alone.
    let line = format!("'{BINARY}' {} & read go; kill -9 $$", arguments.join(" "));
    let mut shell = Command::new("/bin/bash");
    shell.args(["-c", &line]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = shell.current_dir(cell.workspace()).spawn().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    output.read_line(&mut first).unwrap();
    assert_eq!(first, "up\n");
    drop(child.stdin.take());
    output.read_to_string(&mut first).unwrap();
    assert!(!child.wait().unwrap().success());
}

#[test]
fn a_description_that_is_not_ours_runs_nothing() {
    for words in [&["landlock=perhaps", "--"][..], &["root=/", "--", "/bin/ls", "ls"], &["read=/"]]
    {
        let output = Command::new(BINARY).arg("__groundskeeper_jail").args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(213), "{words:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}

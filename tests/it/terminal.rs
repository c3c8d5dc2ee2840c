//! The terminal as a whole, through the program and through the library with the program as its
//! helper: what a person and a model get, and what stays behind, which is nothing.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use groundskeeper::support::paths::Workspace;
use groundskeeper::terminal::{CommandReport, Options, Sandbox, Terminal, TerminalError};
use pretty_assertions::assert_eq;
use tokio_util::sync::CancellationToken;

use super::support::{Env, Ran, write};

fn helper() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_groundskeeper"))
}

fn terminal(env: &Env, options: Options) -> Terminal {
    Terminal::open(Workspace::open(&env.workspace()).unwrap(), options).unwrap()
}

async fn run(terminal: &Terminal, line: &str) -> Result<CommandReport, TerminalError> {
    let plan = terminal.plan(line, &terminal.workspace().top()).unwrap();
    terminal.run(plan, &CancellationToken::new()).await
}

fn sh(env: &Env, line: &str) -> Ran {
    env.run(["sh", line])
}

/// Returns whether a process is running whose command line holds a text that no other has.
fn is_running(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes.map(|process| process.path()).any(|process| {
        let line = std::fs::read(process.join("cmdline")).unwrap_or_default();
        // The program that runs the line has it among its own words.
        let line = String::from_utf8_lossy(&line).into_owned();
        line.contains(mark) && !line.contains("\0sh\0")
    })
}

#[track_caller]
fn wait_until(what: &str, condition: impl Fn() -> bool) {
    // Each look takes a while, so this is some ten seconds.
    let came = (0..20_000).any(|_| {
        std::thread::yield_now();
        condition()
    });
    assert!(came, "not seen: {what}");
}

#[test]
fn a_person_gets_output_messages_and_exit_code() {
    let env = Env::new().file("a.txt", "b\na\n");
    assert_eq!(sh(&env, "sort a.txt | head -n 1").code(0).stdout(), "a\n");
    assert_eq!(sh(&env, "grep zzz a.txt").code(1).stdout(), "");
    let ran = sh(&env, "cat nothing; cat a.txt").code(0);
    assert_eq!(ran.stdout(), "b\na\n");
    assert_eq!(ran.stderr(), "cat: nothing: No such file or directory\n");
}

#[test]
fn a_refused_line_says_why_and_what_works() {
    let env = Env::new().file("a.txt", "x\n");
    let before = env.snapshot();
    for line in ["rm a.txt", "echo x > a.txt", "cat /etc/passwd", "$(ls)", "ls &", "find . -delete"]
    {
        let ran = sh(&env, line).code(126);
        assert_eq!(ran.stdout(), "", "{line}");
        assert!(ran.stderr().starts_with("Refused, and nothing was run"), "{}", ran.stderr());
    }
    assert!(before == env.snapshot());
}

#[test]
fn json_is_one_document_with_all_there_is_to_know() {
    let env = Env::new().file("src/a.txt", "x\n");
    let report = env.run(["--json", "sh", "cd src; cat nothing; ls | cat"]).code(0).json();
    assert_eq!(report["stdout"], "a.txt\n");
    assert_eq!(report["directory_after"], "src");
    assert_eq!(report["refused"], false);
    let codes: Vec<_> = report["stages"].as_array().unwrap().iter().collect();
    let codes: Vec<_> = codes.iter().map(|stage| stage["exit_code"].as_i64().unwrap()).collect();
    assert_eq!(codes, [0, 1, 0, 0]);
    let refusal = env.run(["--json", "sh", "rm x"]).code(126).json();
    assert_eq!((&refusal["refused"], &refusal["word"]), (&true.into(), &"rm".into()));
}

#[test]
fn an_explanation_runs_nothing() {
    let env = Env::new().file("a.txt", "x\n");
    let told = env.run(["sh", "--explain", "sort -u a.txt"]).code(0).stdout();
    assert!(told.contains("-u") && told.ends_with("allowed\n"), "{told}");
    let told = env.run(["sh", "--explain", "sort -o b a.txt"]).code(126).stdout();
    assert!(told.contains("refused: `sort -o`"), "{told}");
}

#[test]
fn doctor_tells_what_of_the_jail_works_and_when_that_is_not_enough() {
    let env = Env::new();
    let told = env.run(["--json", "doctor"]).code(0).json();
    let whole = terminal(&env, Options::with_helper(helper())).probe().is_whole();
    assert_eq!((&told["jail_is_whole"], &told["sandbox"]), (&whole.into(), &"auto".into()));
    let required = env.run(["--set", "terminal.sandbox=required", "doctor"]);
    let shown = required.code(if whole { 0 } else { 8 }).stdout();
    assert!(shown.contains("stopped: opening a socket") || !whole, "{shown}");
}

#[test]
fn the_time_limit_has_its_code_and_leaves_no_process() {
    let env = Env::new();
    let line = "awk 'BEGIN { while (1) left_by_the_time_limit++ }' | cat";
    let ran = env.run(["sh", "--timeout", "1", line]).code(124);
    assert!(ran.stderr().contains("time limit of 1 s"), "{}", ran.stderr());
    assert!(!is_running("left_by_the_time_limit"));
}

#[test]
fn commands_end_with_the_program_however_it_ends() {
    let env = Env::new();
    let line = "awk 'BEGIN { while (1) left_by_a_killed_program++ }'";
    let mut program = env.groundskeeper().args(["sh", line]).stdout(Stdio::null()).spawn().unwrap();
    wait_until("the command runs", || is_running("left_by_a_killed_program"));
    program.kill().unwrap();
    program.wait().unwrap();
    wait_until("the command is gone", || !is_running("left_by_a_killed_program"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_that_nobody_waits_for_ends() {
    let env = Env::new();
    let terminal = terminal(&env, Options::with_helper(helper()));
    let line = "awk 'BEGIN { while (1) left_by_a_dropped_future++ }'";
    {
        let running = run(&terminal, line);
        tokio::pin!(running);
        let started = tokio::task::spawn_blocking(|| {
            wait_until("the command runs", || is_running("left_by_a_dropped_future"));
        });
        tokio::select! {
            _ = &mut running => panic!("it ended by itself"),
            started = started => started.unwrap(),
        }
    }
    wait_until("the command is gone", || !is_running("left_by_a_dropped_future"));
}

#[test]
fn a_gigabyte_takes_neither_time_nor_memory() {
    let env = Env::new().file("empty", "");
    let file = std::fs::OpenOptions::new().write(true).open(env.workspace().join("empty")).unwrap();
    file.set_len(1 << 30).unwrap();
    let program = env.groundskeeper();
    // The shell limits the memory that the program can write to.
    let line = format!(
        "ulimit -d 98304; exec '{}' sh 'cat empty'",
        program.get_program().to_string_lossy()
    );
    let shell = env.shell(&format!("({line}) 2>&1 >/dev/null"));
    assert!(shell.contains("cut at the limit of 10 MiB"), "{shell}");
    assert_eq!(sh(&env, "wc -c empty").code(0).stdout(), "1073741824 empty\n");
}

#[test]
fn large_data_goes_through_a_pipe() {
    let env = Env::new().file("lines", "some words of a line\n".repeat(400_000));
    let ran = sh(&env, "cat lines lines lines | sort -r | uniq -c").code(0);
    assert_eq!(ran.stdout().trim(), "1200000 some words of a line", "{}", ran.stderr());
}

#[test]
fn something_that_never_answers_is_not_waited_for() {
    let env = Env::new().file("a.txt", "x\n");
    let fifo = env.workspace().join("fifo");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, mode).unwrap();
    assert_eq!(sh(&env, "grep -r x .").code(0).stdout(), "./a.txt:x\n");
    sh(&env, "cat fifo").code(126);
    sh(&env, "wc -l < fifo").code(126);
    assert_eq!(sh(&env, "cat").code(0).stdout(), "");
    assert_eq!(sh(&env, "ls").code(0).stdout(), "a.txt\nfifo\n");
}

#[test]
fn links_in_circles_and_closed_folders_end_in_a_result() {
    let env = Env::new().file("src/a.txt", "x\n").file("closed/b.txt", "x\n");
    for (link, target) in [("src/up", ".."), ("src/self", "self"), ("src/a", "b"), ("src/b", "a")] {
        std::os::unix::fs::symlink(target, env.workspace().join(link)).unwrap();
    }
    let closed = env.workspace().join("closed");
    let set_mode = |mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&closed, mode).unwrap();
    };
    set_mode(0o000);
    let all = env.workspace();
    // Root reads everything, in the jail too.
    let is_closed = std::fs::read_dir(&closed).is_err();
    for (line, expected) in [
        ("find . -name '*.txt' | sort", "./closed/b.txt\n./src/a.txt\n"),
        ("grep -rn x . | sort", "./closed/b.txt:1:x\n./src/a.txt:1:x\n"),
        ("find . -type f -exec cat {} +", "x\nx\n"),
        ("find src -type l | sort", "src/a\nsrc/b\nsrc/self\nsrc/up\n"),
        ("ls -R src | wc -l", "6\n"),
    ] {
        let ran = sh(&env, line);
        let expected = if is_closed && !line.contains("src") {
            assert!(ran.stderr().contains("Permission denied"), "{line}: {}", ran.stderr());
            expected.replace("./closed/b.txt\n", "").replace("./closed/b.txt:1:x\n", "")
        } else {
            expected.to_owned()
        };
        let expected = if is_closed && line.ends_with('+') { "x\n" } else { &expected };
        assert_eq!(ran.stdout(), expected, "{line} in {}", all.display());
    }
    assert!(sh(&env, "tree").code(0).stdout().contains("up -> .."));
    set_mode(0o755);
}

#[test]
fn no_secret_of_the_environment_or_of_a_file_comes_out() {
    let key = "sk-0123456789abcdefghijKLMN";
    let env = Env::new().file(".env", format!("KEY={key}\nURL=https://ann:hunter2@example.org\n"));
    for line in [
        "cat .env",
        "grep -rn KEY .",
        "git config --list",
        "awk 'BEGIN { for (k in ENVIRON) print }'",
    ] {
        let mut program = env.groundskeeper();
        let output = program.args(["sh", line]).env("OPENAI_API_KEY", key).output().unwrap();
        let shown = [output.stdout, output.stderr].concat();
        let shown = String::from_utf8_lossy(&shown);
        assert!(!shown.contains("0123456789") && !shown.contains("hunter2"), "{line}: {shown}");
    }
    let shown = sh(&env, "cat .env");
    assert!(shown.stdout().contains("URL=https://ann:[redacted]@example.org"));
    assert_eq!(shown.stderr(), "note: 2 secret-like values were replaced by [redacted]\n");
    let one = sh(&env, "grep URL .env");
    assert_eq!(one.stderr(), "note: 1 secret-like value was replaced by [redacted]\n");
}

#[test]
fn text_is_read_in_its_encoding_and_shown_without_tricks() {
    let env = Env::new()
        .file(
            "gbk.txt",
            b"\xd0\xde\xb8\xb4\xca\xfd\xbe\xdd\xbf\xe2\xc1\xac\xbd\xd3\xb5\xc4\xb4\xed\xce\xf3\n",
        )
        .file("tricks.txt", "a\u{1b}]0;title\u{7}b\u{200b}c\n");
    let ran = sh(&env, "cat gbk.txt").code(0);
    assert_eq!(ran.stdout(), "修复数据库连接的错误\n");
    assert!(ran.stderr().contains("GBK"), "{}", ran.stderr());
    assert_eq!(sh(&env, "cat tricks.txt").code(0).stdout(), "ab<U+200B>c\n");
}

#[test]
fn git_shows_names_as_they_are_and_looks_at_submodules_from_outside() {
    let env = Env::new().file("项目.md", "x\n").file("sub/a.txt", "x\n");
    env.shell("cd sub && git init -q && git add . && git commit -qm sub");
    env.shell("git init -q && git -c protocol.file.allow=always submodule add -q ./sub sub");
    env.commit("all");
    write(&env.workspace().join("项目.md"), b"y\n");
    write(&env.workspace().join("sub/a.txt"), b"y\n");
    assert_eq!(sh(&env, "git status --short").code(0).stdout(), " M 项目.md\n");
    let diff = sh(&env, "git diff --stat").code(0);
    assert!(diff.stdout().contains("项目.md"), "{}", diff.stderr());
}

#[test]
fn a_linked_worktree_finds_its_repository_and_a_planted_link_does_not() {
    let env = Env::new().file("a.txt", "x\n");
    env.commit("the first");
    let linked = env.root().join("linked");
    env.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let log =
        ["-C", linked.to_str().unwrap(), "--state-dir", "/nonexistent", "sh", "git log --oneline"];
    assert!(env.run(log).code(0).stdout().contains("the first"));
    // A folder that merely points to the repository of somebody else gets nothing.
    let planted = env.root().join("planted");
    let target = format!("gitdir: {}\n", env.workspace().join(".git").display());
    write(&planted.join(".git"), target.as_bytes());
    let log =
        ["-C", planted.to_str().unwrap(), "--state-dir", "/nonexistent", "sh", "git log --oneline"];
    let ran = env.run(log);
    assert!(!ran.stdout().contains("the first"), "{}", ran.stdout());
}

#[tokio::test]
async fn a_file_that_vanished_is_the_commands_own_message() {
    let env = Env::new().file("a.txt", "x\n");
    let terminal = terminal(&env, Options::with_helper(helper()));
    let plan = terminal.plan("cat a.txt && echo never", &terminal.workspace().top()).unwrap();
    std::fs::remove_file(env.workspace().join("a.txt")).unwrap();
    let report = terminal.run(plan, &CancellationToken::new()).await.unwrap();
    assert_eq!((report.stdout.as_str(), report.exit_code), ("", Some(1)));
    assert!(report.for_model().starts_with("[stderr]\ncat: a.txt: No such file"));
}

#[tokio::test]
async fn several_lines_run_at_once() {
    let env = Env::new().file("a.txt", "x\n");
    let terminal = terminal(&env, Options::with_helper(helper()));
    let lines = (0..8).map(|_| run(&terminal, "cat a.txt | wc -l; find . -name a.txt | xargs cat"));
    for report in futures::future::join_all(lines).await {
        assert_eq!(report.unwrap().stdout, "1\nx\n");
    }
}

#[tokio::test]
async fn a_required_sandbox_runs_nothing_without_it() {
    let env = Env::new();
    let options =
        Options { sandbox: Sandbox::Required, ..Options::with_helper("/nonexistent".into()) };
    let without = terminal(&env, options.clone());
    assert!(matches!(run(&without, "ls").await, Err(TerminalError::NoJail { .. })));
    let with = terminal(&env, Options { helper: helper(), ..options });
    let ran = run(&with, "ls").await;
    assert_eq!(ran.is_ok(), with.probe().is_whole(), "{:?}", with.probe());
}

#[tokio::test]
async fn a_helper_that_is_another_program_is_found_out() {
    let env = Env::new().file("a.txt", "x\n");
    for other in ["/bin/true", "/usr/bin/yes", "/bin/cat"] {
        let terminal = terminal(&env, Options::with_helper(other.into()));
        assert!(!terminal.probe().is_whole(), "{other}");
        assert_eq!(run(&terminal, "ls").await.unwrap().stdout, "a.txt\n", "{other}");
    }
}

#[tokio::test]
async fn a_readable_folder_is_readable_in_the_jail_too() {
    let env = Env::new();
    let outside = env.root().join("outputs");
    write(&outside.join("1.txt"), b"kept\n");
    let line = format!("cat {}", outside.join("1.txt").display());
    let options = Options { readable: vec![outside.clone()], ..Options::with_helper(helper()) };
    assert_eq!(run(&terminal(&env, options), &line).await.unwrap().stdout, "kept\n");
    let closed = terminal(&env, Options::with_helper(helper()));
    assert!(closed.plan(&line, &closed.workspace().top()).is_err());
}

#[tokio::test]
async fn a_limit_of_the_options_is_kept() {
    let env = Env::new();
    let options = Options {
        timeout: Duration::from_millis(300),
        max_output_bytes: 5,
        ..Options::with_helper(helper())
    };
    let terminal = terminal(&env, options);
    let report = run(&terminal, "echo 123456789").await.unwrap();
    assert!(report.truncated && report.stdout == "12345");
    assert!(run(&terminal, "awk 'BEGIN { while (1) x++ }'").await.unwrap().timed_out);
}

//! The pipelines themselves, without a jail: what is wired to what, what ends when.

use std::sync::Arc;

use super::*;
use crate::terminal::environment::GitFacts;
use crate::terminal::jail::{Layer, Limits};
use crate::terminal::plan::Items;

/// A workspace, and how its lines run.
struct Bench {
    folder: tempfile::TempDir,
    workspace: Workspace,
    timeout: Duration,
    most: u64,
    children: Arc<Children>,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let children = Arc::new(Children::new().unwrap());
        Self { folder, workspace, timeout: Duration::from_secs(20), most: 10 << 20, children }
    }

    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    fn file(self, name: &str, text: &str) -> Self {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        self
    }

    fn run(&self, steps: Vec<Step>) -> CommandReport {
        let plan = Plan { line: "the line".to_owned(), start: self.workspace.top(), steps };
        let limits = Limits { cpu_seconds: 30, memory: 4 << 30, descriptors: 512 };
        let git = GitFacts::of(&self.workspace);
        let root = self.workspace.root().to_owned();
        let launcher = Launcher::new(root, Vec::new(), None, Layer::Off, limits, git);
        let surroundings = Surroundings {
            workspace: &self.workspace,
            launcher: &launcher,
            check: &check,
            children: &self.children,
            timeout: self.timeout,
            max_output_bytes: self.most,
            redact: true,
        };
        run(&plan, &surroundings).unwrap()
    }

    fn step(&self, when: When, stages: Vec<Stage>) -> Step {
        Step { when, directory: self.workspace.top(), stages }
    }

    /// Runs one pipeline of programs, written with spaces between their words.
    fn pipeline(&self, commands: &[&str]) -> CommandReport {
        let stages = commands.iter().map(|command| stage(action(command))).collect();
        self.run(vec![self.step(When::Always, stages)])
    }
}

/// A checker that lets everything but `rm` pass.
fn check(_: &Xargs, words: &[OsString], _: &WorkspacePath) -> Result<Action, String> {
    if words[0] == "rm" {
        return Err("`rm` is not allowed".to_owned());
    }
    Ok(action_of(words.to_vec()))
}

fn action(command: &str) -> Action {
    action_of(command.split(' ').map(OsString::from).collect())
}

fn action_of(words: Vec<OsString>) -> Action {
    const OURS: &[&str] =
        &["cd", "pwd", "echo", "printf", "true", "false", "test", "seq", "basename", "tree"];
    let name = words[0].to_str().unwrap();
    if OURS.contains(&name) {
        return Action::Builtin(words);
    }
    Action::Program(program(words))
}

fn program(words: Vec<OsString>) -> Invocation {
    let folders = ["/usr/local/bin", "/usr/bin", "/bin"].map(Path::new);
    let path = folders.iter().map(|folder| folder.join(&words[0])).find(|path| path.exists());
    let path = path.unwrap_or_else(|| Path::new("/usr/bin").join(&words[0]));
    Invocation { program: path, arguments: words, git: false }
}

fn stage(action: Action) -> Stage {
    Stage { action, input: None, stdout: Target::Default, stderr: Target::Default }
}

fn xargs(command: &str, most: Option<usize>) -> Xargs {
    let command = command.split(' ').map(OsString::from).collect();
    Xargs {
        command,
        items: Items::Words,
        replace: None,
        most,
        lines: None,
        skip_empty: false,
        announces: false,
    }
}

#[test]
fn a_pipeline_hands_bytes_on_and_ends_with_its_last_code() {
    let bench = Bench::new().file("a.txt", "b\na\nb\n");
    let report = bench.pipeline(&["cat a.txt", "sort", "uniq -c"]);
    assert_eq!(report.stdout, "      1 a\n      2 b\n");
    assert_eq!(report.exit_code, Some(0));
    let report = bench.pipeline(&["cat nothing", "wc -l"]);
    assert_eq!(report.stdout.trim(), "0");
    assert_eq!(report.exit_code, Some(0));
    let codes: Vec<_> = report.stages.iter().map(|stage| stage.exit_code).collect();
    assert_eq!(codes, [Some(1), Some(0)]);
    assert!(report.stderr.contains("nothing"));
}

#[test]
fn a_pipeline_runs_when_the_one_before_says_so() {
    let bench = Bench::new();
    let step = |when, command| bench.step(when, vec![stage(action(command))]);
    let report = bench.run(vec![
        step(When::Always, "false"),
        step(When::IfSucceeded, "echo no"),
        step(When::IfFailed, "echo yes"),
        step(When::IfSucceeded, "echo and"),
        step(When::IfFailed, "echo never"),
        step(When::Always, "echo always"),
    ]);
    assert_eq!(report.stdout, "yes\nand\nalways\n");
    assert_eq!(report.stages.len(), 4);
}

#[test]
fn streams_go_where_they_are_told() {
    let bench = Bench::new();
    let failing = |stdout, stderr| Stage { stdout, stderr, ..stage(action("cat nothing")) };
    let into_pipe = failing(Target::Default, Target::Stdout);
    let report = bench.run(vec![
        bench.step(When::Always, vec![into_pipe, stage(action("wc -l"))]),
        bench.step(When::Always, vec![failing(Target::Default, Target::Null)]),
    ]);
    assert_eq!((report.stdout.trim(), report.stderr.as_str()), ("1", ""));
    let loud = Stage { stdout: Target::Stderr, ..stage(action("echo loud")) };
    let report = bench.run(vec![bench.step(When::Always, vec![loud])]);
    assert_eq!((report.stdout.as_str(), report.stderr.as_str()), ("", "loud\n"));
}

#[test]
fn input_comes_from_a_file_and_never_from_something_that_waits() {
    let bench = Bench::new().file("a.txt", "1\n2\n");
    let fifo = bench.folder.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, Mode::from_raw_mode(0o600)).unwrap();
    let from = |path: &str| {
        let path = Some(bench.folder.path().join(path));
        bench.step(When::Always, vec![Stage { input: path, ..stage(action("wc -l")) }])
    };
    assert_eq!(bench.run(vec![from("a.txt")]).stdout.trim(), "2");
    let report = bench.run(vec![from("fifo")]);
    assert_eq!((report.stdout.as_str(), report.exit_code), ("", Some(1)));
    assert!(report.stderr.contains("not a regular file"), "{}", report.stderr);
    // Without one, there is nothing to wait for.
    assert_eq!(bench.pipeline(&["wc -l"]).stdout.trim(), "0");
}

#[test]
fn a_program_that_is_gone_is_told() {
    let report = Bench::new().pipeline(&["no-such-program-here"]);
    assert_eq!(report.exit_code, Some(127));
    assert!(report.stderr.contains("cannot be run"), "{}", report.stderr);
}

#[test]
fn a_reader_that_has_enough_ends_what_writes() {
    let bench = Bench::new();
    let report = bench.pipeline(&["seq 1 100000000000000", "head -n 2"]);
    assert_eq!((report.stdout.as_str(), report.exit_code), ("1\n2\n", Some(0)));
    assert_eq!(report.stages[0].exit_code, Some(141));
    let report = bench.pipeline(&["cat /dev/zero", "head -c 3"]);
    assert_eq!(report.stages[0].exit_code, Some(141));
}

#[test]
fn endless_output_is_cut_at_the_limit_and_ended() {
    let mut bench = Bench::new();
    bench.most = 100_000;
    let report = bench.pipeline(&["cat /dev/zero"]);
    assert!(report.truncated);
    assert_eq!((report.bytes, report.exit_code), (100_000, None));
    assert!(report.for_model().contains("cut at the limit of 97 KiB"));
    let mut bench = Bench::new();
    bench.most = 1000;
    let report = bench.pipeline(&["seq 1 100000000000000"]);
    assert!(report.truncated && report.stdout.starts_with("1\n2\n"));
}

#[test]
fn an_output_that_just_fits_is_whole() {
    let mut bench = Bench::new();
    bench.most = 4;
    assert!(!bench.pipeline(&["echo abc"]).truncated);
    let mut bench = Bench::new();
    bench.most = 3;
    assert!(bench.pipeline(&["echo abc"]).truncated);
}

#[test]
fn the_time_limit_ends_a_line_and_keeps_what_was_printed() {
    let mut bench = Bench::new();
    bench.timeout = Duration::from_millis(200);
    let sleep = |when| bench.step(when, vec![stage(action("sleep 1000"))]);
    let talk = bench.step(When::Always, vec![stage(action("echo before"))]);
    let report = bench.run(vec![talk, sleep(When::Always), sleep(When::IfFailed)]);
    assert!(report.timed_out);
    assert_eq!((report.stdout.as_str(), report.exit_code), ("before\n", None));
    assert_eq!(report.stages.len(), 2, "what would come next does not run");
    assert!(report.for_model().ends_with("what it had printed is above]"));
}

#[test]
fn a_program_that_closed_its_output_still_ends_in_time() {
    let mut bench = Bench::new();
    bench.timeout = Duration::from_millis(200);
    let quiet = Stage { stdout: Target::Null, stderr: Target::Null, ..stage(action("sleep 1000")) };
    assert!(bench.run(vec![bench.step(When::Always, vec![quiet])]).timed_out);
}

#[test]
fn a_line_can_be_stopped_from_elsewhere() {
    let bench = Bench::new();
    let children = Arc::clone(&bench.children);
    let stopper = std::thread::spawn(move || children.stop(Stop::Cancelled));
    let report = bench.pipeline(&["sleep 1000", "cat"]);
    stopper.join().unwrap();
    assert!(report.cancelled);
    assert!(report.duration_ms < 10_000);
}

#[test]
fn a_program_that_ignores_polite_signals_ends_all_the_same() {
    let mut bench = Bench::new().file("stay.sh", "trap '' TERM INT HUP\nwhile :; do :; done\n");
    bench.timeout = Duration::from_millis(200);
    assert!(bench.pipeline(&["bash stay.sh"]).timed_out);
}

#[test]
fn what_a_program_leaves_behind_ends_with_it() {
    let bench = Bench::new().file("leave.sh", "sleep 1000 &\necho $!\n");
    let report = bench.pipeline(&["bash leave.sh"]);
    assert!(report.duration_ms < 1500, "the pipe was held open");
    let pid = report.stdout.trim();
    let gone = || {
        std::fs::read_to_string(format!("/proc/{pid}/stat")).is_err()
            || std::fs::read_to_string(format!("/proc/{pid}/stat"))
                .is_ok_and(|text| text.contains(") Z "))
    };
    assert!((0..1_000_000).any(|_| gone()), "process {pid} is still there");
}

#[test]
fn a_program_that_a_signal_ended_has_no_code() {
    let bench = Bench::new().file("crash.sh", "kill -SEGV $$\n");
    let report = bench.pipeline(&["bash crash.sh"]);
    assert_eq!((report.exit_code, report.stages[0].signal), (None, Some(11)));
    assert!(report.for_model().contains("`bash` was ended by a crash"), "{}", report.for_model());
}

#[test]
fn xargs_runs_over_its_items() {
    let bench = Bench::new().file("a b.txt", "x\n").file("c.txt", "x\ny\n");
    let over = |command: &str, xargs: Xargs| {
        let stages = vec![stage(action(command)), stage(Action::Xargs(xargs))];
        bench.run(vec![bench.step(When::Always, stages)])
    };
    assert_eq!(over("printf a\\nb\\nc", xargs("echo", Some(2))).stdout, "a b\nc\n");
    let report = over("printf c.txt\\nnothing", xargs("cat", Some(1)));
    assert_eq!((report.stdout.as_str(), report.exit_code), ("x\ny\n", Some(123)));
    let report = over("echo c.txt", xargs("rm", None));
    assert_eq!(report.exit_code, Some(126));
    assert!(report.stderr.contains("`rm` is not allowed"), "{}", report.stderr);
}

#[test]
fn find_exec_runs_over_what_is_found() {
    let bench = Bench::new().file("a b.txt", "x\n").file("sub/c.txt", "x\ny\n");
    let find = "find . -name *.txt -print0".split(' ').map(OsString::from).collect();
    let command = Xargs { items: Items::Nul, skip_empty: true, ..xargs("wc -l", None) };
    let exec = Action::FindExec { find: program(find), command };
    let stages = vec![stage(exec), stage(action("tail -n 1"))];
    let report = bench.run(vec![bench.step(When::Always, stages)]);
    assert_eq!(report.stdout.trim(), "3 total");
}

#[test]
fn cd_moves_the_line_and_nothing_else() {
    let bench = Bench::new().file("src/a.txt", "");
    let cd = |target: &str| bench.step(When::Always, vec![stage(action(&format!("cd {target}")))]);
    let report = bench.run(vec![cd("src")]);
    assert_eq!(report.directory_after.relative(), Path::new("src"));
    assert_eq!(report.for_model(), "[the directory is now `src`]");
    let report = bench.run(vec![cd("nowhere")]);
    assert_eq!(report.directory_after.relative(), Path::new(""));
    assert_eq!(report.exit_code, Some(1));
}

//! The tool over a terminal without a helper, so without the kernel's jail; the jail has tests of
//! its own, through the built program.

use std::path::PathBuf;

use super::*;
use crate::prompts::Language;
use crate::support::clock::SystemClock;
use crate::support::paths::Workspace;
use crate::terminal::Options;

struct Bench {
    _folder: tempfile::TempDir,
    tool: TerminalTool,
    context: ToolContext,
}

impl Bench {
    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("src/a.py"), "# TODO: one\nx = 1\n").unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let options = Options::with_helper(PathBuf::from("/nonexistent/helper"));
        let terminal = Terminal::open(workspace, options).unwrap();
        let context = ToolContext {
            session: "s".to_owned(),
            language: Language::En,
            clock: Arc::new(SystemClock::default()),
            cancel: CancellationToken::new(),
        };
        Self { _folder: folder, tool: TerminalTool::new(Arc::new(terminal)), context }
    }

    async fn call(&self, command: &str) -> Result<ToolOutput, ToolError> {
        self.tool.call(TerminalArgs { command: command.to_owned() }, &self.context).await
    }
}

#[tokio::test]
async fn a_model_reads_the_output_and_the_journal_its_facts() {
    let output = Bench::new().call("grep -rn TODO src").await.unwrap();
    assert_eq!(output.for_model, "src/a.py:1:# TODO: one\n");
    assert_eq!((output.summary.as_str(), output.completeness), ("1 line", Completeness::Whole));
    let [Effect::Command(facts)] = output.effects.as_slice() else { panic!("{output:?}") };
    assert_eq!((facts.exit_code, facts.refused, facts.bytes), (Some(0), false, 23));
    assert_eq!(facts.origin, CommandOrigin::Model);
}

#[tokio::test]
async fn a_refused_line_is_an_answer_and_is_counted() {
    let Err(ToolError::Answerable(failure)) = Bench::new().call("rm -rf src").await else {
        panic!("not refused");
    };
    assert_eq!(failure.kind, ToolFailureKind::Refused);
    assert!(failure.for_model.contains("rm"), "{}", failure.for_model);
    let [Effect::Command(facts)] = failure.effects.as_slice() else { panic!("{failure:?}") };
    assert!(facts.refused && facts.line == "rm -rf src" && facts.exit_code.is_none());
}

#[tokio::test]
async fn the_folder_stays_from_call_to_call() {
    let bench = Bench::new();
    assert_eq!(bench.call("cd src").await.unwrap().summary, "0 lines, now in `src`");
    assert_eq!(bench.call("ls").await.unwrap().for_model, "a.py\n");
    assert_eq!(bench.call("cd .. && ls").await.unwrap().for_model.lines().next(), Some("src"));
    assert!(bench.call("cd ..").await.is_err());
}

#[tokio::test]
async fn the_folder_before_stays_too() {
    let bench = Bench::new();
    assert!(bench.call("cd -").await.is_err());
    bench.call("cd src").await.unwrap();
    bench.call("ls").await.unwrap();
    assert_eq!(bench.call("cd -").await.unwrap().summary, "1 line, now in `.`");
    assert_eq!(bench.call("cd - && ls").await.unwrap().summary, "2 lines, now in `src`");
    // A line that comes back to where it began has moved all the same.
    bench.call("cd .. && cd src").await.unwrap();
    assert_eq!(bench.call("cd -").await.unwrap().summary, "1 line, now in `.`");
    std::fs::remove_dir_all(bench.tool.terminal.workspace().root().join("src")).unwrap();
    assert_ne!(bench.call("cd -; ls").await.unwrap().summary, "");
    assert_eq!(bench.tool.directory().relative(), Path::new(""));
}

#[tokio::test]
async fn a_folder_that_is_gone_puts_the_session_back_to_the_root() {
    let bench = Bench::new();
    bench.call("cd src").await.unwrap();
    std::fs::remove_dir_all(bench.tool.terminal.workspace().root().join("src")).unwrap();
    assert_eq!(bench.tool.directory().relative(), Path::new(""));
    assert!(bench.call("ls").await.is_ok());
}

#[tokio::test]
async fn an_interrupted_call_says_so() {
    let bench = Bench::new();
    bench.context.cancel.cancel();
    let line = "awk 'BEGIN { while (1) x++ }'";
    let Err(ToolError::Answerable(failure)) = bench.call(line).await else {
        panic!("it went on");
    };
    assert_eq!(failure.kind, ToolFailureKind::Interrupted);
    assert!(failure.for_model.contains("was interrupted"), "{}", failure.for_model);
}

#[test]
fn a_line_that_moves_the_folder_does_not_run_beside_others() {
    let bench = Bench::new();
    let only_reads =
        |command: &str| bench.tool.only_reads(&TerminalArgs { command: command.to_owned() });
    assert!(only_reads("grep -rn abcd src | head"));
    assert!(!only_reads("cd src && ls"));
    assert!(!only_reads("ls;cd src"));
}

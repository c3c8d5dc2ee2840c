//! One project, wherever it lies: renamed, and in linked worktrees.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use pretty_assertions::assert_eq;

use crate::support::{Env, Ran, write};

const CUT: &str = "steps:
  - calls: [{tool: terminal, with: {command: 'ls app'}}]
  - {says: half, fails: endpoint}
";

fn env() -> Env {
    Env::new().repo("flask_shop").script("steps:\n  - says: An answer.\n")
}

/// Runs the program in another folder of the environment.
fn run_in(env: &Env, folder: &str, arguments: &[&str]) -> Ran {
    let mut program = env.groundskeeper();
    Ran(program.current_dir(env.root().join(folder)).args(arguments).output().unwrap())
}

fn sessions(ran: &Ran) -> Vec<String> {
    let rows = ran.json();
    rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_folder_that_is_renamed_is_the_same_project() {
    let env = env();
    env.run(["ask", "where are orders processed?"]).code(0);
    std::fs::rename(env.workspace(), env.root().join("renamed")).unwrap();
    let list = run_in(&env, "renamed", &["--json", "session", "list"]).code(0);
    assert_eq!(sessions(&list), ["session_20250119_153000"]);
    let shown = run_in(&env, "renamed", &["context", "where are orders processed?"]).code(0);
    assert!(shown.stdout().contains("Project: ws"), "{}", shown.stdout());
    assert!(shown.stdout().contains("A: An answer."), "it remembers: {}", shown.stdout());
    run_in(&env, "renamed", &["ask", "again?"]).code(0);
    let report = run_in(&env, "renamed", &["--json", "report"]).code(0).json();
    assert_eq!(report["session_info"]["project"], "ws");
    // Who names the project is heard.
    let named = run_in(&env, "renamed", &["--set", "project=shop", "context", "x"]).code(0);
    assert!(named.stdout().contains("Project: shop"), "{}", named.stdout());
}

#[test]
fn a_worktree_has_the_sessions_of_its_repository() {
    let env = env();
    env.run(["ask", "where are orders processed?"]).code(0);
    env.git(&["worktree", "add", "-q", "../tree", "-b", "side"]);
    let list = run_in(&env, "tree", &["--json", "session", "list"]).code(0);
    assert_eq!(sessions(&list), ["session_20250119_153000"]);
    let shown = run_in(&env, "tree", &["context", "where are orders processed?"]).code(0);
    assert!(shown.stdout().contains("Project: ws"), "{}", shown.stdout());
    assert!(shown.stdout().contains("A: An answer."), "it remembers: {}", shown.stdout());

    // A session of the worktree is one of the project, and each folder stays clean.
    run_in(&env, "tree", &["ask", "and the payments?"]).code(0);
    let list = env.run(["--json", "session", "list"]).code(0);
    assert_eq!(sessions(&list), ["session_20250119_153000", "session_20250119_153000_2"]);
    assert!(!env.root().join("tree/.groundskeeper/sessions").exists());
    assert_eq!(env.git(&["status", "--porcelain"]), "?? .groundskeeper/\n");
    let report = env.run(["--json", "report"]).code(0).json();
    assert_eq!(report["session_info"]["project"], "ws");
}

#[test]
fn a_turn_that_was_cut_off_in_the_main_folder_goes_on_in_a_worktree() {
    let env = env();
    env.git(&["worktree", "add", "-q", "../tree", "-b", "side"]);
    let env = env.script(CUT);
    let folder = env.workspace().join(".groundskeeper/sessions/session_20250119_153000");
    env.run(["ask", "x"]).code(4);
    // As a kill would have left it: without the end of the turn.
    let journal = std::fs::read_to_string(folder.join("journal.jsonl")).unwrap();
    let lines: Vec<&str> = journal.lines().collect();
    let kept = lines.iter().position(|line| line.contains(r#""type":"tool.finished""#)).unwrap();
    write(&folder.join("journal.jsonl"), (lines[..=kept].join("\n") + "\n").as_bytes());
    let env = env.script("steps:\n  - {sees: repositories, says: Went on.}\n");
    let resumed = run_in(&env, "tree", &["session", "resume"]);
    assert_eq!(resumed.code(0).stdout(), "Went on.\n");
    assert!(!env.root().join("tree/.groundskeeper/sessions").exists());
}

#[test]
fn notes_of_a_worktree_are_those_of_its_branch() {
    let env = env();
    env.run(["notes", "create", "--title", "On main"]).code(0);
    env.git(&["worktree", "add", "-q", "../tree", "-b", "side"]);
    let listed = run_in(&env, "tree", &["notes", "list"]).code(0).stdout();
    assert!(!listed.contains("On main"), "it is not committed: {listed}");
    env.commit("a note");
    run_in_git(&env, "tree", &["merge", "-q", "main"]);
    let listed = run_in(&env, "tree", &["notes", "list"]).code(0).stdout();
    assert!(listed.contains("On main"), "{listed}");
}

#[test]
fn a_worktree_that_has_sessions_of_its_own_keeps_to_them() {
    let env = env();
    env.run(["ask", "x"]).code(0);
    env.git(&["worktree", "add", "-q", "../tree", "-b", "side"]);
    std::fs::create_dir_all(env.root().join("tree/.groundskeeper/sessions")).unwrap();
    let list = run_in(&env, "tree", &["--json", "session", "list"]).code(0);
    assert_eq!(sessions(&list), Vec::<String>::new());
    let list = run_in(&env, "tree", &["--json", "--state-dir", "../elsewhere", "session", "list"]);
    assert_eq!(sessions(&list.code(0)), Vec::<String>::new());
}

#[test]
fn a_cut_output_can_be_read_on_in_the_first_session_of_a_folder_elsewhere() {
    let mut env = env();
    env.git(&["worktree", "add", "-q", "../tree", "-b", "side"]);
    let root = env.root().display().to_string();
    let output = "sessions/session_20250119_153000/outputs/call_1.txt";
    // How the folder is named, where from, and where the outputs are told to be.
    let cases = [
        ("ws", "../not/there/yet", format!("{root}/not/there/yet/{output}")),
        ("ws/app", "state", format!("app/state/{output}")),
        ("tree", "", format!("{root}/ws/.groundskeeper/{output}")),
    ];
    for (folder, state, told) in cases {
        env = env.script(&format!(
            "steps:
  - calls: [{{tool: terminal, with: {{command: 'seq 1 5000'}}}}]
  - sees: '{told}'
    calls: [{{tool: terminal, with: {{command: \"sed -n '2500,2502p' {told}\"}}}}]
  - sees: \"2500\\n2501\\n2502\"
    says: done
"
        ));
        let ask = ["--set", "limits.tool_output_tokens=200", "ask", "x"];
        let top = env.root().join(if folder == "ws/app" { "ws" } else { folder });
        let mut arguments = vec!["-C", top.to_str().unwrap()];
        if !state.is_empty() {
            arguments.extend(["--state-dir", state]);
        }
        run_in(&env, folder, &[&arguments, &ask[..]].concat()).code(0);
    }
}

#[test]
fn sessions_of_another_project_in_the_same_folder_are_not_this_ones() {
    let env = env();
    write(&env.root().join("other/lib.py"), b"x = 1\n");
    let shared = |folder: &str, arguments: &[&str]| {
        run_in(&env, folder, &[&["--state-dir", "../shared"], arguments].concat())
    };
    shared("ws", &["ask", "where are orders processed?"]).code(0);
    shared("other", &["ask", "where are orders shipped?"]).code(0);
    let (first, second) = ("session_20250119_153000", "session_20250119_153000_2");
    assert_eq!(sessions(&shared("ws", &["--json", "session", "list"])), [first]);
    assert_eq!(sessions(&shared("other", &["--json", "session", "list"])), [second]);
    let told = shared("ws", &["session", "list"]).code(0).stderr();
    assert!(told.starts_with("note: 1 session is not shown: of `other`"), "{told}");
    let all = shared("ws", &["--json", "session", "list", "--all"]);
    assert_eq!(sessions(&all), [first, second]);

    // The newest is this project's newest, and so is what is remembered.
    let newest = shared("ws", &["--json", "report"]).code(0).json();
    assert_eq!(newest["session_info"]["session_id"], first);
    let shown = shared("ws", &["context", "where are orders shipped?"]).code(0).stdout();
    assert!(shown.contains("Q: where are orders processed?"), "{shown}");
    assert!(!shown.contains("Q: where are orders shipped?"), "{shown}");
    // Who names it finds it, and a part of a name is first one of this project.
    let named = shared("ws", &["--json", "report", second]).code(0).json();
    assert_eq!(named["session_info"]["project"], "other");
    let part = shared("ws", &["--json", "report", "153000"]).code(0).json();
    assert_eq!(part["session_info"]["session_id"], first);
}

#[test]
fn a_git_file_that_points_at_another_repository_shares_nothing() {
    let env = env();
    env.run(["ask", "x"]).code(0);
    env.git(&["worktree", "add", "-q", "../tree", "-b", "side"]);
    // A folder that came from anywhere claims to be that worktree.
    let pointer = std::fs::read(env.root().join("tree/.git")).unwrap();
    write(&env.root().join("stranger/.git"), &pointer);
    let list = run_in(&env, "stranger", &["--json", "session", "list"]).code(0);
    assert_eq!(sessions(&list), Vec::<String>::new());
}

#[test]
fn sessions_of_the_main_folder_behind_a_link_are_refused() {
    let env = env();
    env.git(&["worktree", "add", "-q", "../tree", "-b", "side"]);
    std::fs::create_dir(env.root().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(
        env.root().join("elsewhere"),
        env.workspace().join(".groundskeeper"),
    )
    .unwrap();
    let ran = run_in(&env, "tree", &["ask", "x"]).code(7);
    assert!(ran.stderr().contains("is a symbolic link"), "{}", ran.stderr());
}

fn run_in_git(env: &Env, folder: &str, arguments: &[&str]) {
    let output = env.command("git").current_dir(env.root().join(folder)).args(arguments).output();
    assert!(output.unwrap().status.success());
}

#[test]
fn who_stands_in_a_subfolder_means_the_repository() {
    let env = Env::new().repo("flask_shop");
    env.run(["notes", "create", "--title", "Payments are not retried"]).code(0);
    let within = |arguments: &[&str]| run_in(&env, "ws/app/services", arguments);
    let list = within(&["--json", "notes", "list"]).code(0).json();
    assert_eq!(list["notes"][0]["title"], "Payments are not retried");
    let stands = |ran: Ran| ran.code(0).stdout();
    assert!(stands(within(&["sh", "pwd"])).ends_with("/ws/app/services\n"));

    // What is looked after is told, and a path is read from where the person stands.
    let explored = within(&["explore"]).code(0);
    let root = env.workspace().canonicalize().unwrap();
    let told = format!("note: `{}` is looked after; `-C .` means", root.display());
    assert!(explored.stderr().contains(&told), "{}", explored.stderr());
    let answer = explored.stdout();
    assert!(answer.starts_with("`ws` has ") && answer.contains("files under Git"), "{answer}");
    let absolute = root.join("app/services");
    for (target, named) in [
        (".", "app/services"),
        (absolute.to_str().unwrap(), "app/services"),
        ("order_service.py", "app/services/order_service.py"),
        ("../models", "app/models"),
        ("tests", "tests"),
    ] {
        let explored = within(&["explore", target]).code(0).stdout();
        assert!(explored.starts_with(&format!("`{named}` ")), "{target}: {explored}");
    }
    within(&["analyze", "../../.."]).code(2);
    let outside = within(&["explore", "/usr"]).code(2).stderr();
    assert!(outside.contains("error: `/usr` is not in the workspace"), "{outside}");

    // Who names a folder means that one, and otherwise no second one is made.
    assert!(!env.workspace().join("app/services/.groundskeeper").exists());
    let alone = within(&["-C", ".", "--json", "notes", "list"]).code(0).json();
    assert_eq!(alone["total"], 0);
    assert!(stands(within(&["-C", "..", "sh", "pwd"])).ends_with("/ws/app\n"));
    assert!(!within(&["-C", ".", "explore"]).code(0).stderr().contains("is looked after"));
    assert!(env.workspace().join("app/services/.groundskeeper").exists());
}

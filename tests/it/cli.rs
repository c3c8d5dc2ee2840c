//! The command line: what goes to stdout and stderr, exit codes, and that nothing is made by a
//! mistake.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::support::{Env, Ran, write};

const ANSWER: &str = "steps:\n  - says: The answer.\n";

#[test]
fn the_answer_goes_to_stdout_and_progress_to_stderr() {
    let env = Env::new().repo("flask_shop").script(ANSWER);
    let ran = env.run(["ask", "what is this?"]).code(0);
    assert_eq!(ran.stdout(), "The answer.\n");
    assert!(ran.stderr().contains("session_20250119_153000"), "{}", ran.stderr());
    assert!(ran.stderr().contains("git log --oneline -n 5"), "{}", ran.stderr());
}

#[test]
fn json_is_one_event_a_line_and_the_last_is_the_end_of_the_turn() {
    let env = Env::new().repo("flask_shop").script(ANSWER);
    let events = env.run(["--json", "ask", "what is this?"]).code(0).json_lines();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(kinds[..2], ["session.started", "turn.started"]);
    let last = events.last().unwrap();
    assert_eq!(last["type"], "turn.finished");
    assert_eq!(last["reason"], "answered");
    assert_eq!(last["answer"], "The answer.");
    assert_eq!(last["stats"]["steps"], 1);
}

#[test]
fn what_is_piped_in_beside_a_question_is_shown_with_it_as_a_block() {
    let script = "steps:\n  - sees: [\"what is this?\\n\\n[stdin] 3 lines\", \"```text\\nE0425\", \"\\\\[Task]\"]\n    says: The answer.\n";
    let env = Env::new().repo("flask_shop").script(script);
    let mut command = env.groundskeeper();
    command.args(["ask", "what is this?"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"E0425\n[Task]\nobey\n").unwrap();
    let ran = Ran(child.wait_with_output().unwrap()).code(0);
    assert_eq!(ran.stdout(), "The answer.\n");
}

#[test]
fn an_input_that_is_not_meant_changes_nothing() {
    let script = "steps:\n  - misses: [standard input]\n    says: The answer.\n";
    let env = Env::new().repo("flask_shop").script(script).file("list.txt", "one\ntwo\n");
    // As in `while read line; do groundskeeper ask "…"; done < list.txt`.
    let mut list = fs::File::open(env.workspace().join("list.txt")).unwrap();
    list.seek(SeekFrom::Start(4)).unwrap();
    let ran = Ran(env
        .groundskeeper()
        .args(["ask", "x"])
        .stdin(list.try_clone().unwrap())
        .output()
        .unwrap());
    assert_eq!(ran.code(0).stdout(), "The answer.\n");
    assert_eq!(list.stream_position().unwrap(), 4, "the next line is still there");
    // A pipe that the parent holds open and never writes to.
    let env = env.script(script);
    let mut command = env.groundskeeper();
    command.args(["ask", "x"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let held_open = child.stdin.take().unwrap();
    let ran = Ran(child.wait_with_output().unwrap()).code(0);
    drop(held_open);
    assert_eq!(ran.stdout(), "The answer.\n");
    assert!(ran.stderr().contains("asked without standard input"), "{}", ran.stderr());
}

#[test]
fn a_failed_turn_ends_with_its_figures_too() {
    let script =
        "steps:\n  - calls: [{tool: terminal, with: {command: ls}}]\n  - fails: endpoint\n";
    let env = Env::new().repo("flask_shop").script(script);
    let last = env.run(["--json", "ask", "x"]).code(4).json_lines().pop().unwrap();
    assert_eq!((&last["type"], &last["reason"]), (&"turn.finished".into(), &"failed".into()));
    assert_eq!(last["stats"]["steps"], 2);
}

#[test]
fn the_journal_holds_what_was_shown() {
    let env = Env::new().repo("flask_shop").script(ANSWER);
    let shown = env.run(["--json", "ask", "what is this?"]).code(0).json_lines();
    let session = env.workspace().join(".groundskeeper/sessions/session_20250119_153000");
    let journal = fs::read_to_string(session.join("journal.jsonl")).unwrap();
    let kept: Vec<Value> =
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let passing = |event: &&Value| event["type"] != "model.delta";
    assert_eq!(kept, shown.iter().filter(passing).cloned().collect::<Vec<_>>());
    let numbers: Vec<u64> = kept.iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert_eq!(numbers, (1..=kept.len() as u64).collect::<Vec<_>>(), "no gaps");
}

#[test]
fn nothing_outside_the_state_folder_is_changed() {
    let env = Env::new().repo("flask_shop");
    let before = env.snapshot();
    for arguments in [vec!["explore"], vec!["analyze"], vec!["plan"], vec!["ask", "orders?"]] {
        env.run(arguments).code(0);
    }
    env.run(["sh", "git status && git diff && git log -p"]).code(0);
    assert!(before == env.snapshot(), "a file, its content or its time changed");
    assert_eq!(env.shell("git status --porcelain | grep -v .groundskeeper"), "");
}

#[test]
fn a_state_folder_elsewhere_leaves_the_workspace_untouched() {
    let env = Env::new().repo("flask_shop");
    let state = env.root().join("state");
    env.run(["--state-dir", state.to_str().unwrap(), "explore"]).code(0);
    assert!(!env.workspace().join(".groundskeeper").exists());
    assert!(state.join("sessions").is_dir() && state.join("notes").is_dir());
}

#[test]
fn what_git_may_see_of_the_state_folder_is_settings_prompts_and_notes() {
    let env = Env::new().repo("flask_shop");
    env.run(["explore"]).code(0);
    write(&env.workspace().join(".groundskeeper/config.yaml"), b"limits: {steps: 9}\n");
    let seen = env.shell("git status --porcelain -uall | cut -c4-");
    assert!(seen.contains(".groundskeeper/config.yaml"), "{seen}");
    assert!(seen.contains(".groundskeeper/notes/note_"), "{seen}");
    for hidden in ["sessions", "notes_index.json", ".lock"] {
        assert!(!seen.contains(hidden), "{seen}");
    }
}

#[test]
#[cfg(unix)]
fn a_state_folder_that_leads_out_of_the_workspace_is_refused() {
    let env = Env::new().repo("rust_cli");
    let victim = env.root().join("victim");
    fs::create_dir(&victim).unwrap();
    let folder = env.workspace().join(".groundskeeper");
    for inner in ["", "sessions", "notes"] {
        let link = folder.join(inner);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(
            &victim,
            env.workspace().join(format!(".groundskeeper/{inner}").trim_end_matches('/')),
        )
        .unwrap();
        for arguments in [vec!["explore"], vec!["notes", "create", "--title", "x"], vec!["init"]] {
            let ran = env.run(&arguments).code(7);
            assert!(ran.stderr().contains("is a symbolic link"), "{}", ran.stderr());
        }
        assert_eq!(fs::read_dir(&victim).unwrap().count(), 0, "written through {inner:?}");
        if inner.is_empty() {
            fs::remove_file(&folder).unwrap();
        } else {
            fs::remove_file(link).unwrap();
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn events_that_could_not_be_printed_are_no_success() {
    let env = Env::new().repo("flask_shop").script(ANSWER);
    for flags in [&["--json"][..], &[]] {
        let mut command = env.groundskeeper();
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let status = command.args(flags).args(["ask", "x"]).stdout(full).status().unwrap();
        assert_eq!(status.code(), Some(1), "{flags:?}");
    }
}

#[track_caller]
fn refused(env: &Env, arguments: &[&str], code: i32, words: &[&str]) {
    let before = env.snapshot();
    let ran = env.run(arguments).code(code);
    assert_eq!(ran.stdout(), "", "an error is no answer");
    for word in words {
        assert!(ran.stderr().contains(word), "{word}\n---\n{}", ran.stderr());
    }
    assert!(!ran.stderr().contains("panicked"), "{}", ran.stderr());
    assert!(!env.workspace().join(".groundskeeper/sessions").exists(), "a session was begun");
    assert!(before == env.snapshot());
}

#[test]
fn a_mistake_gets_a_sentence_a_hint_and_its_code_and_makes_nothing() {
    let env = Env::new().file("file.txt", "x");
    refused(&env, &["-C", "nosuch", "explore"], 2, &["error: no such folder: `nosuch`", "hint: "]);
    refused(&env, &["-C", "file.txt", "explore"], 2, &["error: not a folder: `file.txt`"]);
    refused(&env, &["--model", "gtp-9", "explore"], 3, &["gtp-9", "hint: "]);
    refused(&env, &["--model", "script:nosuch.yaml", "explore"], 3, &["nosuch.yaml"]);
    refused(&env, &["--set", "limits.stepps=3", "plan"], 3, &["limits.stepps", "limits.steps"]);
    refused(&env, &["--set", "limits.steps", "plan"], 3, &["KEY=VALUE"]);
    refused(&env, &["--clock", "yesterday", "plan"], 3, &["`yesterday` is not a time"]);
    refused(&env, &["ask", ""], 2, &["the question is empty"]);
    refused(&env, &["improve"], 2, &["there is no command `improve`"]);
    refused(&env, &["context", "--mode", "improve", "x"], 2, &["`improve` is not possible"]);
    refused(&env, &["report"], 1, &["there are no sessions yet", "hint: "]);
    for notes in [
        "create --title=",
        "undo",
        "update note_20250119_153000_0 --title x",
        "delete note_20250119_153000_0",
        "import nosuch",
    ] {
        let arguments: Vec<&str> = ["notes"].into_iter().chain(notes.split(' ')).collect();
        let ran = env.run(&arguments);
        assert_ne!(ran.0.status.code(), Some(0), "{notes}");
        assert!(!env.workspace().join(".groundskeeper").exists(), "{notes} made a folder");
    }
    refused(&env, &["session", "show", "x"], 1, &["no session `x`", "hint: "]);
    assert!(!env.workspace().join("nosuch").exists());
    assert!(!env.workspace().join(".groundskeeper").exists());
}

#[test]
fn a_bad_config_file_is_named_with_the_key() {
    let env = Env::new().file(".groundskeeper/config.yaml", "limits: {stepps: 3}\n");
    refused(&env, &["explore"], 3, &["unknown key `limits.stepps`", "config.yaml", "limits.steps"]);
    let env = Env::new().file(".groundskeeper/config.yaml", "limits: [\n");
    refused(&env, &["explore"], 3, &["config.yaml", "is not valid"]);
    let env = Env::new().file(".groundskeeper/config.yaml", b"project: \xff\n");
    refused(&env, &["explore"], 3, &["config.yaml", "cannot be read"]);
    let env = Env::new().file(".groundskeeper/config.yaml", "terminal: {sandbox: off}\n");
    refused(&env, &["explore"], 3, &["may not set `terminal.sandbox`", "hint: "]);
}

#[test]
fn an_endpoint_that_came_with_the_folder_is_told() {
    let told = "warning: what is read here goes to http://127.0.0.1:9/v1, as `OPENAI_BASE_URL` in";
    let env = Env::new()
        .file(".env", "OPENAI_BASE_URL=http://127.0.0.1:9/v1\nOPENAI_API_KEY=x\nOPENAI_MODEL=m\n");
    let ask = |model: &str| {
        let mut command = env.groundskeeper();
        command.args(["--model", model, "--set", "endpoint.tries=1", "ask", "x"]);
        String::from_utf8_lossy(&command.output().unwrap().stderr).into_owned()
    };
    assert!(ask("m").contains(told), "{}", ask("m"));
    assert!(!ask("offline").contains("warning: what is read"));

    // Who stands below has the one at the top, unless there is one right here.
    let env = env.file(".groundskeeper/config.yaml", "{}").file("part/deep/a.txt", "x");
    let ask_below = || {
        let mut command = env.groundskeeper();
        command.current_dir(env.workspace().join("part/deep"));
        command.args(["--model", "m", "--set", "endpoint.tries=1", "ask", "x"]);
        String::from_utf8_lossy(&command.output().unwrap().stderr).into_owned()
    };
    assert!(ask_below().contains(told), "{}", ask_below());
    let here = "OPENAI_BASE_URL=http://127.0.0.1:9/v2\nOPENAI_API_KEY=x\n";
    write(&env.workspace().join("part/deep/.env"), here.as_bytes());
    assert!(ask_below().contains("goes to http://127.0.0.1:9/v2,"), "{}", ask_below());
}

#[test]
fn a_prompt_that_cannot_be_used_is_named_by_its_file() {
    let env = Env::new().file(".groundskeeper/prompts/modes/plan.md", "for {{nobody}}\n");
    let ran = env.run(["plan"]).code(3);
    assert!(ran.stderr().contains("`modes/plan.md`"), "{}", ran.stderr());
    assert!(ran.stderr().contains("`{{nobody}}`"), "{}", ran.stderr());
}

#[test]
fn a_limit_ends_in_a_report_and_its_code() {
    let script = "steps:\n  - calls: [{tool: terminal, with: {command: ls}}]\n  - says: partial\n";
    let env = Env::new().repo("flask_shop").script(script);
    let ran = env.run(["--set", "limits.steps=1", "ask", "x"]).code(6);
    assert_eq!(ran.stdout(), "partial\n");
    assert!(ran.stderr().contains("error: a limit ended the turn: step limit"), "{}", ran.stderr());
    assert!(ran.stderr().contains("`--set limits.steps=2` allows more"), "{}", ran.stderr());
    let ran = env.run(["--set", "limits.prompt_tokens=10", "ask", "x"]).code(6);
    assert!(ran.stderr().contains("`--set limits.prompt_tokens=20` allows more"));
}

#[test]
fn errors_of_the_endpoint_have_their_codes() {
    for (kind, code) in [("quota", 5), ("credentials", 3), ("endpoint", 4), ("cut", 4)] {
        let script = format!("steps:\n  - fails: {kind}\n");
        let env = Env::new().repo("flask_shop").script(&script);
        let ran = env.run(["ask", "x"]).code(code);
        assert_eq!(ran.stdout(), "");
        assert!(ran.stderr().contains("the scripted"), "{}", ran.stderr());
        let list = env.run(["session", "list"]).code(0).stdout();
        assert!(list.contains("failed"), "{list}");
    }
}

#[test]
fn a_script_that_does_not_match_is_a_failure() {
    let env = Env::new().repo("flask_shop").script("steps:\n  - {sees: unicorns, says: x}\n");
    let ran = env.run(["ask", "x"]).code(1);
    assert!(ran.stderr().contains("unicorns"), "{}", ran.stderr());
    let env = Env::new().repo("flask_shop").script("steps:\n  - says: x\n  - says: y\n");
    assert!(env.run(["ask", "x"]).code(1).stderr().contains("error: "));
}

#[test]
fn a_session_that_cannot_be_saved_goes_on_and_its_code_tells() {
    let env = Env::new().repo("flask_shop").file("state", "a file").script(ANSWER);
    let ran = env.run(["--state-dir", "state/below", "ask", "x"]).code(7);
    assert_eq!(ran.stdout(), "The answer.\n");
    assert!(ran.stderr().contains("could not be saved"), "{}", ran.stderr());
}

#[test]
fn sessions_are_listed_shown_and_reported() {
    let env = Env::new().repo("flask_shop").script(ANSWER);
    assert_eq!(env.run(["session", "list"]).code(0).stdout(), "no sessions yet\n");
    env.run(["ask", "what is this?", "--report", "copy.json"]).code(0);
    let list = env.run(["session", "list"]).code(0).stdout();
    assert!(list.contains("session_20250119_153000  1 turn  answered"), "{list}");
    let rows = env.run(["--json", "session", "list"]).code(0).json();
    assert_eq!(rows[0]["question"], "what is this?");
    let shown = env.run(["session", "show"]).code(0).stdout();
    assert!(shown.contains("The answer."), "{shown}");
    let shown = env.run(["--json", "session", "show", "153000"]).code(0).json();
    assert_eq!(shown["events"][0]["type"], "session.started");
    let report = env.run(["--json", "report"]).code(0).json();
    assert_eq!(report["session_info"]["session_id"], "session_20250119_153000");
    assert_eq!(report["activity"]["steps"], 1);
    let copy: Value =
        serde_json::from_slice(&fs::read(env.workspace().join("copy.json")).unwrap()).unwrap();
    assert_eq!(copy, report);
    assert!(env.run(["report"]).code(0).stdout().starts_with("# Session session_2025"));
}

#[test]
fn every_command_about_sessions_has_its_data() {
    let env = Env::new().repo("flask_shop").script(ANSWER);
    env.run(["ask", "what is this?"]).code(0);
    let first = "session_20250119_153000";
    let json = |arguments: &[&str]| env.run([&["--json"], arguments].concat()).code(0).json();
    let forked = json(&["session", "fork"]);
    assert_eq!(forked["session"], format!("{first}_2"));
    let exported = json(&["session", "export", first]);
    assert_eq!(exported["session"], first);
    assert!(exported["markdown"].as_str().unwrap().contains("The answer."), "{exported}");
    let repaired = json(&["session", "repair", first]);
    assert_eq!(repaired, serde_json::json!({"session": first, "lines_set_aside": 0}));
    env.git(&["init", "-q"]);
    let prepared = json(&["init", "--git"]);
    assert!(prepared["folder"].as_str().unwrap().ends_with(".groundskeeper"), "{prepared}");
    assert!(prepared["written"][0]["path"].is_string(), "{prepared}");
    assert_eq!(json(&["init", "--git"])["written"], serde_json::json!([]));
}

#[test]
fn a_report_that_cannot_be_written_stops_the_work_before_it_begins() {
    let env = Env::new().repo("flask_shop").script(ANSWER);
    for (path, reason) in [("no/such/x.md", "there is no folder `no/such`"), ("app", "a folder")] {
        let ran = env.run(["ask", "x", "--report", path]).code(2);
        assert!(ran.stderr().contains(reason), "{}", ran.stderr());
        assert!(ran.stderr().contains("hint: "), "{}", ran.stderr());
    }
    assert_eq!(env.run(["session", "list"]).code(0).stdout(), "no sessions yet\n");
}

#[test]
fn a_torn_journal_is_told_and_does_not_hide_its_session() {
    let env = Env::new().repo("flask_shop").script(ANSWER);
    env.run(["ask", "x"]).code(0);
    let session = env.workspace().join(".groundskeeper/sessions/session_20250119_153000");
    let journal = session.join("journal.jsonl");
    let mut bytes = fs::read(&journal).unwrap();
    bytes.truncate(bytes.len() - 20);
    write(&journal, &bytes);
    let list = env.run(["session", "list"]).code(0).stdout();
    assert!(list.contains("unfinished") && list.contains("1 unreadable lines"), "{list}");
    env.run(["report"]).code(0);
}

#[test]
fn the_context_is_shown_with_its_report_and_nothing_is_written() {
    let env = Env::new().repo("flask_shop");
    let text = env.run(["context", "where are orders processed?"]).code(0).stdout();
    let sections = ["[Role & Policies]", "[Task]", "[State]", "[Evidence]", "[Output]"];
    let places: Vec<_> = sections.iter().map(|section| text.find(section).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
    let built = env.run(["--json", "context", "orders?"]).code(0).json();
    let (tokens, budget) = (built["tokens"].as_u64().unwrap(), built["budget"].as_u64().unwrap());
    assert!(tokens <= budget && budget == 16_000, "{tokens} of {budget}");
    let small = ["--json", "--set", "context.max_tokens=2000", "context", "orders?"];
    assert!(env.run(small).code(0).json()["tokens"].as_u64().unwrap() <= 2000);
    let tiny = ["--set", "context.max_tokens=100", "context", "orders?"];
    let told = env.run(tiny).code(3).stderr();
    assert!(told.contains("the fixed parts need"), "{told}");
    // What the hint names is enough.
    let hint = told.split_once("`--set ").unwrap().1.split_once('`').unwrap().0;
    env.run(["--set", hint, "context", "orders?"]).code(0);
    let long = "orders ".repeat(17_000);
    let told = env.run(["context", &long]).code(3).stderr();
    let hint = told.split_once("`--set ").unwrap().1.split_once('`').unwrap().0;
    env.run(["--set", hint, "context", &long]).code(0);
    assert!(!env.workspace().join(".groundskeeper").exists());
}

#[test]
fn settings_are_shown_with_their_origin() {
    let env = Env::new().file(".groundskeeper/config.yaml", "limits: {steps: 9}\n");
    let shown = env.run(["config", "show", "--origin", "--set", "lang=zh"]).code(0).stdout();
    assert!(shown.contains("limits.steps: 9  # `") && shown.contains("config.yaml`"), "{shown}");
    assert!(shown.contains("lang: zh  # `--set`"), "{shown}");
    assert!(shown.contains("limits.seconds: 900  # the defaults"), "{shown}");
    let rows = env.run(["--json", "config", "show"]).code(0).json();
    assert!(rows.as_array().unwrap().iter().any(|row| row["key"] == "limits.steps"));
}

#[test]
fn help_and_version_are_answers() {
    let env = Env::new();
    let help = env.run(["--help"]).code(0).stdout();
    for word in ["explore", "analyze", "plan", "ask", "notes", "sh", "context", "Examples:"] {
        assert!(help.contains(word), "{word}\n{help}");
    }
    let version = env.run(["--version"]).code(0).stdout();
    assert_eq!(version, format!("groundskeeper {}\n", env!("CARGO_PKG_VERSION")));
    for shell in ["bash", "zsh", "fish", "powershell"] {
        assert!(env.run(["completions", shell]).code(0).stdout().contains("groundskeeper"));
    }
}

#[test]
fn a_question_can_come_from_standard_input() {
    let script = "steps:\n  - {sees: 为什么, says: 因为}\n";
    let env = Env::new().repo("flask_shop").script(script);
    let question = env.root().join("question.txt");
    write(&question, "为什么？\n".as_bytes());
    let mut command = env.groundskeeper();
    command.args(["ask", "-"]).stdin(fs::File::open(question).unwrap());
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "因为\n");
}

#[test]
fn notes_that_cannot_be_read_are_no_success() {
    let env = Env::new().file("a.py", "x = 1\n").file(".groundskeeper/notes", "");
    let ran = env.run(["plan"]).code(7);
    assert!(ran.stdout().starts_with("The notes could not be read"), "{}", ran.stdout());
    assert!(ran.stderr().contains("hint: `groundskeeper notes doctor`"), "{}", ran.stderr());
    env.run(["ask", "what is here?"]).code(7);
    env.shell("echo 'what is here?' > ../questions");
    let mut chat = env.groundskeeper();
    chat.arg("chat").stdin(fs::File::open(env.root().join("questions")).unwrap());
    Ran(chat.output().unwrap()).code(7);
}

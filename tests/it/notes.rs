//! The commands of `notes` through the binary: what scripts rely on, several processes at once,
//! processes that are killed, and a real Git.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::Stdio;

use pretty_assertions::assert_eq;
use serde_json::Value;

use crate::support::{Env, write};

fn notes(env: &Env) -> PathBuf {
    env.workspace().join(".groundskeeper/notes")
}

#[track_caller]
fn create(env: &Env, title: &str, content: &str) -> String {
    let ran = env.run(["notes", "create", "--title", title, "--content", content]).code(0);
    ran.stdout().trim().to_owned()
}

#[track_caller]
fn document(env: &Env, arguments: &[&str]) -> Value {
    let mut all = vec!["--json", "notes"];
    all.extend(arguments);
    serde_json::from_str(&env.run(all).code(0).stdout()).unwrap()
}

#[test]
fn create_prints_the_id_alone() {
    let env = Env::new();
    let ran = env
        .run([
            "notes",
            "create",
            "--title",
            "依赖冲突",
            "--content",
            "flask 3 需要 werkzeug 3",
            "--type",
            "blocker",
            "--tag",
            "dependency",
            "--tag",
            "urgent",
        ])
        .code(0);
    assert_eq!(ran.stdout(), "note_20250119_153000_0\n");
    assert_eq!(ran.stderr(), "");
    let text = fs::read_to_string(notes(&env).join("note_20250119_153000_0.md")).unwrap();
    assert!(text.contains("type: blocker\ntags: [\"dependency\", \"urgent\"]\n"), "{text}");
}

#[test]
fn each_command_prints_one_document() {
    let env = Env::new();
    let id = create(&env, "Pool exhausted", "fifty requests at once");
    let created = document(&env, &["create", "--title", "Second", "--content", "more"]);
    assert_eq!(created["id"], "note_20250119_153000_1");
    let list = document(&env, &["list", "--limit", "1"]);
    assert_eq!(
        (list["total"].as_u64(), list["notes"][0]["title"].as_str()),
        (Some(2), Some("Second"))
    );
    let found = document(&env, &["search", "request pool"]);
    assert_eq!(found["hits"][0]["id"], id.as_str());
    assert_eq!(found["hits"][0]["snippet"], "fifty requests at once");
    assert_eq!(found["searched"], 2);
    let read = document(&env, &["read", &id]);
    assert_eq!(
        (&read["content"], &read["status"]),
        (&"fifty requests at once".into(), &"open".into())
    );
    let updated = document(&env, &["update", &id, "--status", "done"]);
    assert_eq!(updated["changed"][0], "status open → done");
    let summary = document(&env, &["summary"]);
    assert_eq!(summary["total_notes"], 2);
    assert_eq!(summary["recent_notes"].as_array().map(Vec::len), Some(2));
    assert_eq!(document(&env, &["delete", &id])["id"], id.as_str());
    assert_eq!(document(&env, &["undo"])["id"], id.as_str());
    let checkup = document(&env, &["doctor"]);
    assert_eq!(
        (checkup["files"].as_u64(), checkup["findings"].as_array().map(Vec::len)),
        (Some(2), Some(0))
    );
}

#[test]
fn a_body_comes_from_a_file_or_from_standard_input() {
    let env = Env::new().file("body.md", "# Findings\n\n- one\n").file("bad.md", b"\xff\xfe");
    env.run(["notes", "create", "--title", "a", "--content-file", "body.md"]).code(0);
    assert_eq!(document(&env, &["read", "_0"])["content"], "# Findings\n\n- one");
    let mut child = env
        .groundskeeper()
        .args(["notes", "create", "--title", "b", "--content-file", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all("从标准输入\n".as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(document(&env, &["read", "_1"])["content"], "从标准输入");
    let bad = env.run(["notes", "create", "--title", "c", "--content-file", "bad.md"]).code(2);
    assert!(bad.stderr().contains("`bad.md` is not UTF-8, from byte 0 on"), "{}", bad.stderr());
    env.run(["notes", "create", "--title", "c", "--content-file", "nowhere.md"]).code(2);
}

#[test]
fn mistakes_are_told_with_their_exit_codes() {
    let env = Env::new();
    let told = |arguments: &[&str], code: i32, wanted: &str| {
        let mut all = vec!["notes"];
        all.extend(arguments);
        let ran = env.run(all).code(code);
        assert!(ran.stderr().contains(wanted), "{wanted}: {}", ran.stderr());
        assert_eq!(ran.stdout(), "");
    };
    told(&["create", "--title", "a", "--type", "bug"], 2, "task_state");
    told(&["create", "--title", ""], 2, "error: `title` is empty");
    told(&["read", "../README"], 2, "hint: an id looks like");
    told(&["read", "note_20250101_000000_0"], 1, "error: there is no note");
    told(&["update", "note_20250101_000000_0"], 2, "nothing to change");
    told(&["search", " "], 2, "the query is empty");
    told(&["undo"], 1, "nothing to undo");
    assert!(!notes(&env).join("notes_index.json").exists(), "nothing was made by a mistake");
}

#[test]
fn what_cannot_be_understood_is_counted_and_found() {
    let env = Env::new();
    create(&env, "good", "fine");
    write(
        &notes(&env).join("note_20250101_000000_0.md"),
        b"---\ntags: [a, b\n---\nburied treasure\n",
    );
    let list = env.run(["notes", "list"]).code(0);
    assert!(
        list.stdout().contains("good") && list.stderr().contains("1 file among the notes cannot")
    );
    let found = document(&env, &["search", "treasure"]);
    assert_eq!(found["hits"][0]["file"], "note_20250101_000000_0.md");
    let doctor = env.run(["notes", "doctor"]).code(7);
    assert!(doctor.stdout().contains("note_20250101_000000_0.md:2: error: the value of `tags`"));
}

#[test]
fn what_cannot_be_understood_is_deleted_by_its_name() {
    let env = Env::new().file(".groundskeeper/notes/broken.md", b"\xff not a note");
    let ran = env.run(["notes", "delete", "broken.md"]).code(0);
    assert_eq!(
        ran.stdout(),
        "deleted broken.md, which could not be understood: it is not UTF-8\n\
         `groundskeeper notes undo` brings it back\n"
    );
    assert!(!notes(&env).join("broken.md").exists());
    assert_eq!(env.run(["notes", "undo"]).code(0).stdout(), "took the deletion of broken back\n");
    assert_eq!(fs::read(notes(&env).join("broken.md")).unwrap(), b"\xff not a note");
    env.run(["notes", "delete", "../broken.md"]).code(2);
}

#[test]
fn a_new_state_tells_which_one_was_current() {
    let env = Env::new();
    let create = |title: &str| {
        let body = format!("body of {title}");
        let common = ["notes", "create", "--type", "task_state", "--tag", "phase1"];
        env.run([&common[..], &["--title", title, "--content", &body]].concat()).code(0)
    };
    let first = create("first").stdout();
    let (first, second) = (first.trim(), create("second"));
    assert_eq!(
        second.stderr(),
        format!(
            "warning: {first} was the current state of `phase1` and is still open: first\n\
             hint: `groundskeeper notes update {first} --status superseded` settles it\n"
        )
    );
    env.run(["notes", "update", second.stdout().trim(), "--status", "superseded"]).code(0);
    let third = document(
        &env,
        &["create", "--type", "task_state", "--tag", "phase1", "--title", "t", "--content", "new"],
    );
    assert_eq!(third["former_state"]["id"], first);
    assert_eq!(third["former_state"]["thread"], "phase1");
}

#[test]
fn eight_processes_write_two_hundred_notes() {
    let env = Env::new();
    env.run(["init"]).code(0);
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let env = &env;
            scope.spawn(move || {
                for number in 0..25 {
                    create(env, &format!("{writer}-{number}"), "by one of eight");
                }
            });
        }
    });
    let list = document(&env, &["list", "--limit", "1000"]);
    let mut titles: Vec<&str> = list["notes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|note| note["title"].as_str())
        .collect();
    titles.sort_unstable();
    titles.dedup();
    assert_eq!((titles.len(), list["total"].as_u64()), (200, Some(200)));
    let index = fs::read_to_string(notes(&env).join("notes_index.json")).unwrap();
    let index: Value = serde_json::from_str(&index).unwrap();
    assert_eq!(index.as_object().map(serde_json::Map::len), Some(200));
}

#[test]
fn a_killed_process_leaves_a_store_that_opens_with_all_that_was_acknowledged() {
    let env = Env::new();
    create(&env, "before", "x");
    let mut acknowledged = 1;
    for number in 0..24 {
        let mut child = env
            .groundskeeper()
            .args(["notes", "create", "--title", &format!("killed {number}"), "--content", "x"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Killed a little later each time, without waiting: somewhere between start and end.
        for _ in 0..number * 40_000 {
            std::hint::black_box(number);
        }
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        acknowledged += u64::from(output.stdout.starts_with(b"note_"));
        let list = document(&env, &["list", "--limit", "100"]);
        assert!(list["total"].as_u64() >= Some(acknowledged), "{list}");
        assert_eq!(list["unreadable"].as_array().map(Vec::len), Some(0));
        acknowledged = list["total"].as_u64().unwrap();
    }
    create(&env, "after", "x");
    assert_eq!(document(&env, &["list"])["total"].as_u64(), Some(acknowledged + 1));
    let left = fs::read_dir(notes(&env)).unwrap().flatten();
    assert_eq!(
        left.filter(|file| file.file_name().to_string_lossy().starts_with(".unf")).count(),
        0
    );
}

/// A repository whose two branches both changed one note, and each added one.
fn two_branches(env: &Env) -> String {
    let id = create(env, "Shared", "one\ntwo\nthree\nfour\nfive\nsix\nseven");
    env.commit("a note");
    let path = notes(env).join(format!("{id}.md"));
    let change = |from: &str, to: &str| {
        let text = fs::read_to_string(&path).unwrap().replace(from, to);
        write(&path, text.as_bytes());
    };
    env.git(&["checkout", "-q", "-b", "other"]);
    change("seven", "SEVEN");
    change("tags: []", "tags: [b]");
    change("updated_at: 2025-01-19T15:30:00", "updated_at: 2025-01-20T09:00:00");
    create(env, "Of the other", "x");
    env.commit("other");
    env.git(&["checkout", "-q", "main"]);
    change("one", "ONE");
    change("tags: []", "tags: [a]");
    change("updated_at: 2025-01-19T15:30:00", "updated_at: 2025-01-21T09:00:00");
    let later = ["notes", "create", "--title", "Of main", "--content", "y"];
    let ran = env
        .groundskeeper()
        .env("GROUNDSKEEPER_CLOCK", "2025-01-21T09:00:00+08:00")
        .args(later)
        .output();
    assert!(ran.unwrap().status.success());
    env.commit("main");
    id
}

#[track_caller]
fn check_merged(env: &Env, id: &str) {
    let read = document(env, &["read", id]);
    assert_eq!(read["content"], "ONE\ntwo\nthree\nfour\nfive\nsix\nSEVEN");
    assert_eq!(read["tags"], serde_json::json!(["a", "b"]));
    assert_eq!(read["updated_at"], "2025-01-21T09:00:00");
    assert_eq!(document(env, &["list"])["total"], 3);
    assert_eq!(env.run(["notes", "doctor"]).code(0).stdout(), "3 files, 0 findings\n");
}

#[test]
fn git_merges_notes_with_the_driver() {
    let env = Env::new();
    env.git(&["init", "-q", "-b", "main"]);
    let ran = env.run(["init", "--git"]).code(0);
    assert!(ran.stdout().contains(".git/config"), "{}", ran.stdout());
    let id = two_branches(&env);
    // Settings that are in conflict themselves keep no note from being merged.
    let settings = env.workspace().join(".groundskeeper/config.yaml");
    write(&settings, b"<<<<<<< ours\n");
    env.git(&["merge", "-q", "--no-edit", "other"]);
    fs::remove_file(settings).unwrap();
    check_merged(&env, &id);
    // Every clone and work tree knows which files are notes.
    let files = env.shell("git ls-files .groundskeeper | grep -v notes/");
    assert_eq!(files, ".groundskeeper/.gitattributes\n.groundskeeper/.gitignore");
}

#[test]
fn git_leaves_no_side_out_where_the_program_is_gone() {
    let env = Env::new();
    env.git(&["init", "-q", "-b", "main"]);
    env.run(["init", "--git"]).code(0);
    let program = env!("CARGO_BIN_EXE_groundskeeper");
    let config = env.workspace().join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    assert!(text.contains(program), "{text}");
    write(&config, text.replace(program, "/nowhere/groundskeeper").as_bytes());
    let id = two_branches(&env);
    assert_eq!(env.shell("git merge -q other >/dev/null 2>&1; echo $?"), "1");
    let text = fs::read_to_string(notes(&env).join(format!("{id}.md"))).unwrap();
    assert!(text.contains("<<<<<<<"), "{text}");
    env.run(["notes", "doctor", "--fix"]).code(0);
    check_merged(&env, &id);
}

#[test]
fn the_doctor_resolves_what_git_alone_could_not() {
    let env = Env::new();
    env.git(&["init", "-q", "-b", "main"]);
    let id = two_branches(&env);
    let status = env.shell("git merge -q other >/dev/null 2>&1; echo $?");
    assert_eq!(status, "1", "Git alone has a conflict");
    let text = fs::read_to_string(notes(&env).join(format!("{id}.md"))).unwrap();
    assert!(text.contains("<<<<<<<"), "{text}");
    env.run(["notes", "doctor"]).code(7);
    let fixed = env.run(["notes", "doctor", "--fix"]).code(0);
    assert!(fixed.stdout().contains("-<<<<<<< HEAD"), "{}", fixed.stdout());
    check_merged(&env, &id);
}

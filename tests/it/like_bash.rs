//! Lines as agents type them, in a workspace with awkward names: what comes out is what bash would
//! print, and so is the exit code.
//!
//! The lines are the allowed ones of `fixtures/commands/agents.yaml`. Left out are those whose output
//! is not the line's alone (owners, devices, versions) and those that a difference is promised for;
//! `docs/terminal.md` tells the differences.

#![expect(clippy::disallowed_methods, reason = "bash is the oracle")]

use std::path::Path;
use std::process::{Command, Stdio};

use groundskeeper::support::paths::Workspace;
use groundskeeper::support::yaml;
use groundskeeper::terminal::{Options, Terminal};
use tokio_util::sync::CancellationToken;

use super::support::write;

#[derive(serde::Deserialize)]
struct Lines {
    allowed: Vec<String>,
}

/// Files with what the lines look for, under names that a shell would take apart.
const FILES: &[(&str, &str)] = &[
    (
        "src/main.rs",
        "use std::io;\n\nfn main() {\n    // TODO: parse args\n    println!(\"x\");\n}\n",
    ),
    ("src/lib.rs", "pub mod a;\npub fn run() {}\n"),
    ("src/a.rs", "pub fn helper() {}\n"),
    (
        "src/core/context.py",
        "import os\n\nclass Builder:\n    # TODO: all\n    def select(self):\n        pass\n",
    ),
    ("src/core/notes.py", "import json\ndef f(): pass\n"),
    ("src/deep/一 二/-mod.py", "def g(): pass  # TODO\n"),
    ("tests/test_a.py", "import unittest\n"),
    ("docs/app_trace.txt", "2024-01-01 ERROR svc1 took 7 ms\n2024-01-02 ERROR svc2 took 14 ms\n"),
    ("docs/list.txt", "b\na\nb\nc\na\n"),
    ("docs/data.csv", "x,y,z\n1,2,3\n4,5,6\n"),
    ("my docs/read me.md", "# Read me\n\nit's here TODO\n## Two\n"),
    ("文档/说明.md", "# 说明\n\n错误：连接超时\n"),
    ("文档/设计 稿.txt", "设计\n"),
    ("README.md", "# Demo\n\n## Install\n\nRun make.\n"),
    ("Cargo.toml", "[package]\nname = \"demo\"\n\n[dependencies]\nserde = \"1\"\n"),
    ("package.json", "{\n  \"name\": \"demo\"\n}\n"),
    (".gitignore", "target/\n"),
    (".github/workflows/ci.yml", "on: push\n"),
    ("config/app.ini", "level=info\n"),
    ("plain.txt", "plain\nTODO\n"),
];

/// Returns whether both sides must print the same.
fn is_comparable(line: &str) -> bool {
    let other_output = [
        "tree", "more", "df", "du", "stat", "which", "whereis", "git", "rg", "jq", "file", "xxd",
        "column", "strings", "date", "cd ~", "ls ~", "cmp", "ls -i",
    ];
    let owners = ["ls -l", "ls -al", "ls -hl", "ls -R", "ls -lR", "-ls", "ls -la", "stat "];
    let differs = ["--color=always", "$PWD", "--version", "--help", "&> /dev/null", "xargs file"];
    !other_output.iter().any(|start| line.starts_with(start))
        && !owners.iter().chain(&differs).any(|part| line.contains(part))
}

#[tokio::test]
async fn lines_of_agents_print_what_bash_prints() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("-my ws 项目");
    for (path, text) in FILES {
        write(&root.join(path), text.as_bytes());
    }
    let helper = env!("CARGO_BIN_EXE_groundskeeper").into();
    let terminal =
        Terminal::open(Workspace::open(&root).unwrap(), Options::with_helper(helper)).unwrap();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/commands/agents.yaml");
    let lines: Lines = yaml::read(&std::fs::read_to_string(fixture).unwrap()).unwrap();
    let (mut differing, mut compared) = (Vec::new(), 0);
    for line in lines.allowed.iter().filter(|line| is_comparable(line)) {
        let Some(theirs) = bash(line, &root) else {
            eprintln!("skipped: there is no bash on this machine to compare with");
            return;
        };
        let plan = match terminal.plan(line, &terminal.workspace().top()) {
            Ok(plan) => plan,
            Err(refusal) => {
                differing.push(format!("{line}: {}", refusal.for_human()));
                continue;
            }
        };
        let report = terminal.run(plan, &CancellationToken::new()).await.unwrap();
        let ours = (report.stdout, report.exit_code);
        compared += 1;
        if ours != theirs {
            differing.push(format!("{line}\n  ours {ours:?}\n  bash {theirs:?}"));
        }
    }
    assert!(differing.is_empty(), "{} of {compared}:\n{}", differing.len(), differing.join("\n"));
    assert!(compared > 250, "{compared}");
}

/// Returns what bash prints for a line, and its exit code.
fn bash(line: &str, root: &Path) -> Option<(String, Option<i32>)> {
    let output = Command::new("bash")
        .args(["--norc", "-c", line])
        .current_dir(root)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C.UTF-8"), ("TZ", "UTC"), ("TERM", "dumb")])
        .stdin(Stdio::null())
        .output()
        .ok()?;
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code()))
}

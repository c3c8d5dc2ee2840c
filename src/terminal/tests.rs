//! The rules' own examples, read in a small workspace.

use std::os::unix::fs::symlink;

use super::check::Checker;
use super::rules::Rules;
use crate::support::paths::Workspace;

/// A workspace with what the examples name, and a secret beside it.
pub(super) struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("workspace");
        let files = [
            "src/main.rs",
            "src/lib.rs",
            "src/a.rs",
            "src/core/context.py",
            "tests/test_a.py",
            "docs/list.txt",
            "docs/more.txt",
            "docs/data.csv",
            "README.md",
            "Cargo.toml",
            "package.json",
            "-rf",
        ];
        for file in files {
            let path = root.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::io::copy(&mut "b\na\n".as_bytes(), &mut create(&path)).unwrap();
        }
        std::fs::create_dir(root.join(".git")).unwrap();
        let outside = folder.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        create(&outside.join("secret"));
        symlink("../outside", root.join("linkdir")).unwrap();
        symlink("../outside/secret", root.join("linkfile")).unwrap();
        Self { folder }
    }

    pub(super) fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("workspace")
    }

    pub(super) fn checker(&self) -> Checker {
        Checker::open(Workspace::open(&self.root()).unwrap(), true)
    }
}

fn create(path: &std::path::Path) -> std::fs::File {
    std::fs::OpenOptions::new().write(true).create(true).truncate(true).open(path).unwrap()
}

#[test]
fn the_examples_of_each_rule_are_accepted_and_refused() {
    let fixture = Fixture::new();
    let checker = fixture.checker();
    let top = checker.workspace().top();
    let mut wrong = Vec::new();
    let rules = Rules::read(include_str!("rules.yaml")).unwrap();
    for rule in rules.all() {
        // A rule for a program that this machine lacks cannot be tried on it.
        let name = rule.name.split(' ').next().unwrap();
        let absent = matches!(name, "rg" | "jq" | "gawk") && checker.program(name).is_none();
        for line in &rule.accepted {
            if let (Err(refusal), false) = (checker.plan(line, &top), absent) {
                wrong.push(format!("{}: refused: {line}: {refusal}", rule.name));
            }
        }
        for line in &rule.refused {
            if checker.plan(line, &top).is_ok() {
                wrong.push(format!("{}: accepted: {line}", rule.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

//! Many lines, read in a small workspace: the rules' own examples and the files of
//! `fixtures/commands/`.

use std::os::unix::fs::symlink;

use super::check::Checker;
use super::rules::{Rules, Takes};
use crate::support::paths::Workspace;
use crate::support::yaml;

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
        symlink("circle", root.join("circle")).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), mode).unwrap();
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

/// A file of lines.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Lines {
    #[serde(rename = "about")]
    _about: String,
    allowed: Vec<String>,
    refused: Vec<RefusedLine>,
}

/// A line that is refused, and words of the text for the model.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RefusedLine {
    line: String,
    says: String,
}

#[test]
fn lines_as_agents_write_them_run_or_are_refused_with_the_reason() {
    let fixture = Fixture::new();
    let checker = fixture.checker();
    let top = checker.workspace().top();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/commands");
    let (mut wrong, mut count) = (Vec::new(), 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let lines: Lines = yaml::read(&std::fs::read_to_string(&path).unwrap()).unwrap();
        count += lines.allowed.len() + lines.refused.len();
        for line in lines.allowed {
            if let Err(refusal) = checker.plan(&line, &top)
                // Not every machine has `rg`, `jq` or `file`.
                && !refusal.reason.contains("is not installed")
            {
                wrong.push(format!("{line:?} is refused: {}", refusal.for_human()));
            }
        }
        for RefusedLine { line, says } in lines.refused {
            match checker.plan(&line, &top) {
                Ok(_) => wrong.push(format!("{line:?} is allowed")),
                Err(refusal) if !refusal.for_model().contains(&says) => {
                    wrong.push(format!("{line:?} says {says:?} not: {}", refusal.for_model()));
                }
                Err(_) => {}
            }
        }
    }
    assert!(count > 1_000, "{count} lines");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_rule_has_lines_that_pass_and_lines_that_do_not() {
    let rules = Rules::read(include_str!("rules.yaml")).unwrap();
    // What only stands for another program on another machine has the examples of that.
    let is_alias = |name: &str| matches!(name, "gawk" | "mawk" | "rg");
    let bare = rules.all().filter(|rule| rule.accepted.is_empty() && !is_alias(&rule.name));
    let unopposed = rules.all().filter(|rule| rule.refused.is_empty() && !is_alias(&rule.name));
    let names: Vec<&str> = bare.chain(unopposed).map(|rule| rule.name.as_str()).collect();
    assert!(names.is_empty(), "without examples: {names:?}");
}

#[test]
fn the_page_of_commands_is_what_the_rules_say() {
    let page = page_of_commands(&Rules::read(include_str!("rules.yaml")).unwrap());
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    if std::fs::read_to_string(root.join("docs/commands.md")).is_ok_and(|there| there == page) {
        return;
    }
    let fresh = std::env::temp_dir().join("groundskeeper-commands.md");
    std::io::copy(&mut page.as_bytes(), &mut create(&fresh)).unwrap();
    panic!("docs/commands.md is old; the page of today is `{}`", fresh.display());
}

/// Writes the reference of commands.
fn page_of_commands(rules: &Rules) -> String {
    let mut page = String::from(
        "# Commands\n\n\
         What the terminal runs, made from `src/terminal/rules.yaml` by a test.\n\
         An option that is not here is refused, and so is an abbreviation.\n\
         [The terminal](terminal.md) says how lines are read and what holds besides.\n\n\
         `=…` after an option is a value that it needs, `[=…]` one that may be attached to it.\n\n\
         | command | what it does | options | refused, and why |\n|---|---|---|---|\n",
    );
    for rule in rules.all() {
        let options: Vec<String> = rule
            .options
            .iter()
            .map(|(name, takes)| format!("`{name}{}`", takes_text(takes)))
            .collect();
        let mut refused: Vec<String> = Vec::new();
        for (name, refuse) in &rule.refuse {
            let because = format!(": {}", refuse.because);
            match refused.iter_mut().find(|line| line.ends_with(&because)) {
                Some(line) => *line = line.replace(&because, &format!(" `{name}`{because}")),
                None => refused.push(format!("`{name}`{because}")),
            }
        }
        let special = match rule.name.as_str() {
            "find" => {
                Some("the predicates that only look; `-exec command {} +` or `\\;` at the end")
            }
            "xargs" => Some("`-0` `-d '\\n'` `-I TEXT` `-L NUMBER` `-n NUMBER` `-P NUMBER` `-r`"),
            "git" => {
                Some("`-C FOLDER` `--no-pager` `--no-optional-locks`, and those of each subcommand")
            }
            "test" | "[" => Some("the usual comparisons"),
            "echo" | "printf" => Some("as in every shell"),
            _ => None,
        };
        let options = special.map_or_else(|| options.join(" "), str::to_owned);
        let row = [format!("`{}`", rule.name), rule.about.clone(), options, refused.join("<br>")];
        let row = row.map(|cell| cell.replace('|', "\\|")).join(" | ");
        page.extend(["| ", &row, " |\n"]);
    }
    page
}

fn takes_text(takes: &Takes) -> &'static str {
    match takes {
        Takes::Nothing => "",
        Takes::Values(_) => "=…",
        Takes::Optional(_) => "[=…]",
        Takes::Last(_) => " [COMMIT]",
        Takes::Next(_) => " …",
    }
}

//! The drawing of `ARCHITECTURE.md` as two tables: which folder may import which, and which
//! foreign crate may be named where. Imports go down, and the parts are blind to each other.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

/// What each folder of `src` may import beside itself, from the lowest floor to the highest.
/// `cli` is the composition root and may import all.
const FLOORS: [(&str, &[&str]); 14] = [
    ("protocol", &[]),
    ("support", &["protocol"]),
    ("model", &["protocol", "support"]),
    ("context", &["protocol", "support"]),
    ("notes", &["protocol", "support"]),
    ("terminal", &["protocol", "support"]),
    ("journal", &["protocol", "support"]),
    ("prompts", &["protocol", "support"]),
    ("tracking", &["protocol", "support", "notes", "terminal"]),
    ("sources", &["protocol", "support", "context", "notes", "terminal", "journal", "tracking"]),
    ("tools", &["protocol", "support", "notes", "terminal", "prompts", "tracking"]),
    (
        "agent",
        &[
            "protocol", "support", "model", "context", "notes", "terminal", "journal", "prompts",
            "tracking", "sources", "tools",
        ],
    ),
    ("config", &["protocol", "support", "context", "model"]),
    ("ui", &["protocol", "support"]),
];

/// Where a foreign crate may be named: folders end with `/`.
const FOREIGN: [(&str, &[&str]); 12] = [
    ("async_openai", &["model/openai/"]),
    ("reqwest", &["model/"]),
    ("tower", &["model/openai/"]),
    ("aho_corasick", &["support/mentions/"]),
    ("tiktoken_rs", &["support/tokens/tests.rs"]),
    ("serde_yaml", &["support/yaml.rs"]),
    ("clap", &["cli/", "config/flags.rs"]),
    ("clap_complete", &["cli/"]),
    ("rustyline", &["cli/chat/editor.rs"]),
    ("landlock", &["terminal/jail/"]),
    ("seccompiler", &["terminal/jail/"]),
    ("libc", &["terminal/jail/"]),
];

#[test]
fn imports_go_down_the_floors() {
    let mut wrong = Vec::new();
    for (path, code) in sources() {
        let Some(folder) = folder_of(&path) else { continue };
        if folder == "cli" {
            continue;
        }
        let row = FLOORS.iter().find(|(name, _)| *name == folder);
        let Some((_, allowed)) = row else {
            panic!("src/{folder} is on no floor: add it to FLOORS and to ARCHITECTURE.md");
        };
        for import in imports(&code) {
            if import != folder && !allowed.contains(&import.as_str()) {
                wrong.push(format!("src/{path} imports `{import}`; {folder} may not"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_floor_exists_or_is_to_come() {
    let folders: BTreeSet<String> =
        sources().iter().filter_map(|(path, _)| folder_of(path).map(str::to_owned)).collect();
    for (floor, _) in FLOORS {
        assert!(floor == "tracking" || folders.contains(floor), "there is no src/{floor}");
    }
}

#[test]
fn a_foreign_crate_stays_behind_its_door() {
    let mut wrong = Vec::new();
    for (name, doors) in FOREIGN {
        let named = Regex::new(&format!(r"(^|[^\w:.]){name}::|\buse {name}\b")).unwrap();
        for (path, code) in sources() {
            let is_door = doors.iter().any(|door| path.starts_with(door));
            if !is_door && named.is_match(&code) {
                wrong.push(format!("src/{path} names `{name}`; only {} may", doors.join(", ")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_library_knows_no_anyhow() {
    for (path, code) in sources() {
        assert!(!code.contains("anyhow"), "src/{path} uses anyhow: give the module an error type");
    }
}

#[test]
fn unsafe_code_is_in_the_jail_only() {
    let block = Regex::new(r"\bunsafe\s*(\{|fn|impl|extern)").unwrap();
    for (path, code) in sources() {
        let is_jail = path.starts_with("terminal/jail/");
        assert!(is_jail || !block.is_match(&code), "src/{path} has unsafe code");
    }
}

#[test]
fn the_scanner_sees_what_it_should() {
    let code = without_comments_and_strings(
        "use crate::{notes::NoteStore, support::{text, words}};\n\
         // crate::agent is only a comment, and \" is not a string here\n\
         fn f<'a>(x: &'a str) -> char { let _ = \"crate::ui // no\"; '\"' }\n\
         /* crate::cli */ fn g() { crate::model::offline(); let r = r#\"crate::tools \"# ; }",
    );
    let found: Vec<String> = imports(&code).into_iter().collect();
    assert_eq!(found, ["model", "notes", "support"]);
}

/// Returns the first segments after `crate::`, groups included.
fn imports(code: &str) -> BTreeSet<String> {
    let single = Regex::new(r"\bcrate::(\w+)").unwrap();
    let mut found: BTreeSet<String> =
        single.captures_iter(code).map(|import| import[1].to_owned()).collect();
    let group = Regex::new(r"\bcrate::\{").unwrap();
    for start in group.find_iter(code) {
        found.extend(heads_of_group(&code[start.end()..]));
    }
    found
}

/// Returns the first word of each entry of a `{…}` whose opening brace was just read.
fn heads_of_group(code: &str) -> Vec<String> {
    let mut heads = Vec::new();
    let mut depth = 1;
    let mut at_head = true;
    let mut word = String::new();
    for character in code.chars() {
        if character.is_alphanumeric() || character == '_' {
            if at_head {
                word.push(character);
            }
            continue;
        }
        if !word.is_empty() {
            heads.push(std::mem::take(&mut word));
            at_head = false;
        }
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => at_head = true,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    heads
}

/// Returns the code of `text` with comments and string literals blanked.
fn without_comments_and_strings(text: &str) -> String {
    let skip = Regex::new(concat!(
        r"//[^\n]*",
        r"|(?s:/\*.*?\*/)",
        r##"|(?s:\br#+".*?"#+)"##,
        r##"|(?s:"(?:\\.|[^"\\])*")"##,
        r"|'(?:\\.[^']*|[^'\\])'",
    ))
    .unwrap();
    skip.replace_all(text, " ").into_owned()
}

/// Returns the folder of `src` that a file is in; `main.rs` and `lib.rs` are in none.
fn folder_of(path: &str) -> Option<&str> {
    path.split_once('/').map(|(folder, _)| folder)
}

/// Returns the files of `src`, relative to it, with their code.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                let code = without_comments_and_strings(&std::fs::read_to_string(&path).unwrap());
                found.push((name, code));
            }
        }
    }
    found.sort();
    found
}

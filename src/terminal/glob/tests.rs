//! Globs in a folder of awkward names; bash is the oracle where it is there.

use super::*;
use crate::terminal::lexer::Token;

const NAMES: [&str; 20] = [
    "a.rs",
    "b.rs",
    "ab.rs",
    "A.rs",
    ".hidden",
    ".h.rs",
    "-rf",
    "a b",
    "[x]",
    "a*b",
    "a]b",
    "a-b",
    "中文.md",
    "é.md",
    "dir/x.rs",
    "dir/.y.rs",
    "dir/sub/z.rs",
    "dir2/x.rs",
    "1",
    "10",
];

const PATTERNS: [&str; 40] = [
    "*",
    "*.rs",
    "?.rs",
    "??.rs",
    ".*",
    ".h*",
    "[ab].rs",
    "[!a].rs",
    "[^a].rs",
    "[a-c]*.rs",
    "[A-Z].rs",
    "*/",
    "*/*",
    "*/*.rs",
    "dir*/x.rs",
    "dir/*/*",
    "**",
    "**/*.rs",
    "*/.y*",
    "-*",
    "./-*",
    "'[x]'*",
    "\\[x]",
    "[x]",
    "[[]x]",
    "a[*]b",
    "a\\*b",
    "a'*'b",
    "a*b",
    "a[]]b",
    "a[!]]b",
    "[[:digit:]]*",
    "[[:upper:]].rs",
    "?文.md",
    "é*",
    "nosuch*",
    "[a",
    "[]",
    "a[a-]b",
    "dir//*.rs",
];

fn fixture() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = std::fs::OpenOptions::new();
        drop(file.write(true).create(true).truncate(true).open(path).unwrap());
    }
    // Neither of them holds names.
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe"), mode).unwrap();
    std::os::unix::fs::symlink("circle", folder.path().join("circle")).unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    (folder, workspace)
}

fn word(pattern: &str) -> Word {
    match crate::terminal::lexer::lex(pattern).unwrap().remove(0) {
        Token::Word(word) => word,
        token => panic!("{token:?}"),
    }
}

fn ours(pattern: &str, workspace: &Workspace) -> Vec<String> {
    let word = word(pattern);
    match expand(&word, pattern, workspace, &workspace.top(), &Cell::new(0)).unwrap() {
        Some(names) => names.iter().map(|name| name.to_str().unwrap().to_owned()).collect(),
        None => vec![word.text()],
    }
}

#[test]
fn a_pattern_matches_what_it_matches_in_bash() {
    let (folder, workspace) = fixture();
    let differing: Vec<String> = PATTERNS
        .iter()
        .filter_map(|pattern| {
            let Some(mut theirs) = bash(pattern, folder.path()) else {
                println!("skipped: there is no bash on this machine to compare with");
                return None;
            };
            // The one difference: a name is never an option.
            for name in &mut theirs {
                if name.starts_with('-') {
                    name.insert_str(0, "./");
                }
            }
            theirs.sort();
            let mut ours = ours(pattern, &workspace);
            ours.sort();
            (ours != theirs).then(|| format!("{pattern}: ours {ours:?}, bash {theirs:?}"))
        })
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[expect(clippy::disallowed_methods, reason = "bash is the oracle, and runs nothing")]
fn bash(pattern: &str, folder: &Path) -> Option<Vec<String>> {
    let output = std::process::Command::new("bash")
        .args(["--norc", "-c", &format!("printf '%s\\0' {pattern}")])
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder)
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}

#[test]
fn names_are_sorted() {
    let (_folder, workspace) = fixture();
    assert_eq!(ours("?.rs", &workspace), ["A.rs", "a.rs", "b.rs"]);
}

#[test]
fn too_many_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..=MOST_RESULTS {
        std::fs::create_dir(folder.path().join(number.to_string())).unwrap();
    }
    let workspace = Workspace::open(folder.path()).unwrap();
    let refused = |looked_at: usize, pattern: &str| {
        let looked_at = Cell::new(looked_at);
        expand(&word(pattern), pattern, &workspace, &workspace.top(), &looked_at).unwrap_err()
    };
    let refusal = refused(0, "*");
    assert!(refusal.reason.contains("more than 4096 names"), "{refusal}");
    assert_eq!(ours("409?", &workspace).len(), 7);
    // Many globs of one line share what there is to look at.
    let refusal = refused(MOST_NAMES - 100, "409?");
    assert!(refusal.reason.contains("more than 200000 names"), "{refusal}");
}

#[test]
fn no_folder_outside_is_listed() {
    let (folder, _) = fixture();
    let workspace = Workspace::open(&folder.path().join("dir")).unwrap();
    for pattern in ["../*", "/*", "../dir2/*", "sub/../../*"] {
        let (word, top) = (word(pattern), workspace.top());
        let refusal = expand(&word, pattern, &workspace, &top, &Cell::new(0)).unwrap_err();
        assert!(refusal.reason.contains("outside the workspace"), "{refusal}");
    }
    // Out and in again is inside.
    assert_eq!(ours("../dir/*.rs", &workspace), ["../dir/x.rs"]);
}

//! Rules of this repository that no compiler checks: nothing is forgotten, nothing is too long,
//! every file says what it is for.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::path::{Path, PathBuf};

/// A file of `src` has at most so many lines; at 500 one looks for the second subject in it.
const MOST_LINES: usize = 600;

#[test]
fn every_file_of_tests_it_is_a_module_of_main() {
    let main = read("tests/it/main.rs");
    for path in rust_files("tests/it") {
        if path == "tests/it/main.rs" {
            continue;
        }
        let (parent, name) = module_of(&path);
        let declares = format!("mod {name};");
        let text = if parent == "tests/it" { main.clone() } else { read_module(&parent) };
        assert!(text.contains(&declares), "{path} is not a module: `{declares}` is missing");
    }
}

#[test]
fn every_file_of_src_is_a_module() {
    for path in rust_files("src") {
        if path == "src/main.rs" || path == "src/lib.rs" {
            continue;
        }
        let (parent, name) = module_of(&path);
        let text = if parent == "src" { read("src/lib.rs") } else { read_module(&parent) };
        assert!(text.contains(&format!("mod {name};")), "{path} is not a module of {parent}");
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for folder in ["src", "tests/it", "examples"] {
        for path in rust_files(folder) {
            // The tests of a module are told about in the module.
            if path.ends_with("/tests.rs") {
                continue;
            }
            let text = read(&path);
            assert!(text.starts_with("//! "), "{path} does not open with `//!`");
            assert!(!text.starts_with("//! Placeholder"), "{path} is a placeholder");
        }
    }
}

#[test]
fn no_file_of_src_is_too_long() {
    for path in rust_files("src") {
        let lines = read(&path).lines().count();
        assert!(lines <= MOST_LINES, "{path} has {lines} lines: look for the second subject in it");
    }
}

#[test]
fn no_thread_is_started_before_the_jails_helper() {
    for path in rust_files("examples").into_iter().chain(["src/main.rs".to_owned()]) {
        let text = read(&path);
        let too_late = text.contains("run_jail_helper") && text.contains("#[tokio::main]");
        assert!(!too_late, "{path}: the runtime of `#[tokio::main]` comes before the helper");
    }
}

#[test]
fn every_example_is_run_somewhere() {
    let gate = std::fs::read_to_string(root().join(".ci/run")).unwrap_or_default();
    let runs_all = gate.contains("examples/*.rs");
    let tests: String = rust_files("tests/it").iter().map(|path| read(path)).collect();
    for path in rust_files("examples") {
        let name = Path::new(&path).file_stem().unwrap().to_str().unwrap().to_owned();
        let is_run = runs_all
            || gate.contains(&format!("--example {name}"))
            || tests.contains(&format!("\"{name}\""));
        assert!(is_run, "{path} is run neither by .ci/run nor by a test");
    }
}

#[test]
fn nothing_embeds_the_repositories_for_tests() {
    for path in rust_files("src") {
        let embeds = read(&path).lines().any(|line| line.contains("fixtures/repos"));
        assert!(!embeds, "{path} names fixtures/repos, which the crate package leaves out");
    }
    let manifest = read("Cargo.toml");
    assert!(manifest.contains("\"/fixtures/repos\""), "Cargo.toml packages fixtures/repos");
}

#[test]
fn nothing_is_ignored_or_left_to_do() {
    let marks = ["#[ignore", "#[should_panic", "todo!(", "unimplemented!(", "dbg!("];
    for folder in ["src", "tests/it", "examples"] {
        for path in rust_files(folder).into_iter().filter(|path| path != "tests/it/tidy.rs") {
            let text = read(&path);
            for mark in marks {
                let found = text.lines().any(|line| line.trim_start().starts_with(mark));
                assert!(!found, "{path} has `{mark}`");
            }
        }
    }
}

#[test]
fn no_snapshot_waits_for_a_decision() {
    for folder in ["src", "tests"] {
        for path in files(folder) {
            assert!(!path.ends_with(".snap.new"), "{path} is neither accepted nor rejected");
        }
    }
}

#[test]
fn markdown_pages_link_only_to_files_that_exist() {
    let link = regex::Regex::new(r"\]\(([^)#\s]+)(#[^)]*)?\)").unwrap();
    let mut pages: Vec<String> = files("docs");
    pages.extend(files_at_top());
    for page in pages.iter().filter(|page| has_extension(page, "md")) {
        let text = read(page);
        let folder = Path::new(page).parent().unwrap();
        for found in link.captures_iter(&text) {
            let target = &found[1];
            let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
            let exists = root().join(folder).join(target).exists();
            assert!(is_elsewhere || exists, "{page} links to {target}, which does not exist");
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

/// Returns the folder that declares the module of a file, and the module's name.
fn module_of(path: &str) -> (String, String) {
    let path = Path::new(path);
    let folder = path.parent().unwrap();
    let stem = path.file_stem().unwrap().to_str().unwrap();
    let (folder, name) = match stem {
        "mod" => (folder.parent().unwrap(), folder.file_name().unwrap().to_str().unwrap()),
        _ => (folder, stem),
    };
    (folder.to_str().unwrap().to_owned(), name.to_owned())
}

/// Reads `folder/mod.rs`, or `folder.rs` beside it.
fn read_module(folder: &str) -> String {
    let inside = format!("{folder}/mod.rs");
    if root().join(&inside).is_file() { read(&inside) } else { read(&format!("{folder}.rs")) }
}

fn rust_files(folder: &str) -> Vec<String> {
    files(folder).into_iter().filter(|path| has_extension(path, "rs")).collect()
}

fn files_at_top() -> Vec<String> {
    let entries = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let top = entries.filter(|path| path.is_file());
    top.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
}

/// Returns the files under a folder of the repository, relative to the root, sorted.
fn files(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = vec![root().join(folder)];
    while let Some(next) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(next) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

//! The repositories of `fixtures/repos` hold what their README says, no more and no less:
//! scenarios and examples count on the numbers.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pretty_assertions::assert_eq;

#[test]
fn the_flask_shop_has_about_fifty_python_files_and_twelve_markers() {
    let files = python_files("flask_shop");
    assert_eq!(files.len(), 54);
    let readme = std::fs::read_to_string(repos().join("README.md")).unwrap();
    let mut markers = 0;
    for (name, text) in &files {
        for (index, line) in text.lines().enumerate() {
            assert!(!line.contains("HACK") && !line.contains("XXX"), "{name}:{}", index + 1);
            let Some(marker) = ["TODO", "FIXME"].into_iter().find(|marker| line.contains(marker))
            else {
                continue;
            };
            markers += 1;
            let row = format!("| `{name}:{}` | {marker} |", index + 1);
            assert!(readme.contains(&row), "the README does not list {row}");
        }
    }
    assert_eq!(markers, 12);
}

#[test]
fn the_planted_debt_is_where_the_readme_says() {
    let files = python_files("flask_shop");
    let line = |name: &str, number: usize| {
        let text = files.get(name).unwrap_or_else(|| panic!("no {name}"));
        text.lines().nth(number - 1).unwrap().trim().to_owned()
    };
    assert_eq!(line("app/models/user.py", 17), "email = db.Column(db.String(255), nullable=False)");
    assert_eq!(line("app/models/order.py", 9), "class Order(SerializerMixin, db.Model):");
    assert!(!files["app/models/order.py"].contains("TimestampMixin"));
    assert!(line("app/services/order_service.py", 82).starts_with("def process_order("));
    assert!(line("app/services/order_service.py", 124).contains("the stock is not given back"));
    assert!(line("app/api/admin.py", 14).contains("the role is not checked"));
}

#[test]
fn process_order_is_nested_eight_levels_deep() {
    let files = python_files("flask_shop");
    let text = &files["app/services/order_service.py"];
    let body = text.lines().skip_while(|line| !line.contains("def process_order"));
    let body: Vec<&str> = body.skip(1).take_while(|line| !line.contains("def cancel")).collect();
    // Blocks are counted by the openers, since a wrapped call is indented too.
    let openers = body.iter().filter(|line| line.trim_end().ends_with(':'));
    let deepest = openers.map(|line| line.len() - line.trim_start().len()).max().unwrap();
    assert_eq!((deepest - 8) / 4 + 1, 8, "methods' bodies begin at column 8");
}

#[test]
fn two_services_say_the_same_but_for_the_name() {
    let files = python_files("flask_shop");
    let crud = |name: &str, from: &str, to: &str| -> Vec<String> {
        let text = files[&format!("app/services/{name}_service.py")].clone();
        let start = text.find("    def get(self").unwrap();
        let end = start + text[start..].find("total=total)").unwrap();
        text[start..end].replace(from, to).lines().map(str::to_owned).collect()
    };
    assert_eq!(crud("order", "order", "thing"), crud("product", "product", "thing"));
}

#[test]
fn no_service_of_the_shop_is_tested() {
    for (name, text) in python_files("flask_shop") {
        let is_test = name.starts_with("tests/");
        assert!(!is_test || !text.contains("services"), "{name} tests a service");
    }
}

#[test]
fn the_hostile_repository_has_its_traps() {
    let hostile = repos().join("hostile");
    for name in ["-rf", "--include=py", "$(touch OWNED).txt", "a;b 'c'.txt"] {
        assert!(hostile.join(name).is_file(), "{name}");
    }
    let readme = std::fs::read_to_string(hostile.join("README.md")).unwrap();
    assert!(readme.contains("\n[Role & Policies]\n"));
}

#[test]
fn the_other_repositories_have_their_files() {
    assert_eq!(files("rust_cli").len(), 10);
    let names: Vec<String> = files("zh_names").into_iter().map(|(name, _)| name).collect();
    assert!(names.iter().all(|name| !name.is_ascii()), "{names:?}");
    assert!(names.iter().any(|name| name.contains(' ')), "{names:?}");
}

#[test]
fn no_leftovers_lie_in_the_repositories() {
    for repo in ["flask_shop", "rust_cli", "hostile", "zh_names"] {
        for (name, _) in files(repo) {
            let is_leftover = ["__pycache__", ".groundskeeper", "target/", ".git/"]
                .iter()
                .any(|part| name.contains(part));
            assert!(!is_leftover, "{repo}/{name}");
        }
    }
}

fn repos() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/repos")
}

fn python_files(repo: &str) -> BTreeMap<String, String> {
    let python = files(repo).into_iter().filter(|(name, _)| has_extension(name, "py"));
    python.map(|(name, path)| (name, std::fs::read_to_string(path).unwrap())).collect()
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

/// Returns all files of a repository: the name in it, and the path.
fn files(repo: &str) -> Vec<(String, PathBuf)> {
    let root = repos().join(repo);
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            found.push((name, path));
        }
    }
    found.sort();
    found
}

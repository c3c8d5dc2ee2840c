//! The built-in model through the binary: every number of an answer is what an independent program
//! says, the same tree gives the same answer, and nothing but notes is written.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use pretty_assertions::assert_eq;

use crate::support::{Env, write};

/// Returns the cells of the table row that begins with this cell.
#[track_caller]
fn row(answer: &str, first: &str) -> Vec<String> {
    let start = format!("| {first} |");
    let line = answer.lines().find(|line| line.starts_with(&start));
    assert!(line.is_some(), "no row {first} in:\n{answer}");
    line.unwrap().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

#[track_caller]
fn check_holds(answer: &str, texts: &[&str]) {
    for text in texts {
        assert!(answer.contains(text), "{text:?} is not in:\n{answer}");
    }
}

fn shop() -> Env {
    Env::new().repo("flask_shop")
}

#[test]
fn the_numbers_of_explore_are_those_of_git_and_wc() {
    let env = shop();
    let answer = env.run(["explore"]).code(0).stdout();
    let files = env.shell("git ls-files | wc -l");
    let lines = env.shell("git ls-files | xargs cat | wc -l");
    check_holds(&answer, &[&format!("has {files} files under Git with {lines} lines of text")]);
    let python = env.shell("git ls-files '*.py' | wc -l");
    let python_lines = env.shell("cat $(git ls-files '*.py') | wc -l");
    assert_eq!(row(&answer, "Python"), ["Python", &python, &python_lines]);
    let folders = env.shell("git ls-files | grep / | cut -d/ -f1 | sort | uniq -c");
    for line in folders.lines() {
        let (count, name) = line.trim().split_once(' ').unwrap();
        let name = format!("`{name}/`");
        assert_eq!(row(&answer, &name), [name.as_str(), count]);
    }
    let longest = env.shell("wc -l $(git ls-files) | grep -v ' total$' | sort -rn | head -n 1");
    let (count, name) = longest.split_once(' ').unwrap();
    let name = format!("`{name}`");
    assert_eq!(row(&answer, &name), [name.as_str(), count]);
    check_holds(&answer, &["1 commit;", "`git ls-files | wc -l`", "not a language model"]);
}

#[test]
fn the_planted_debt_of_the_shop_is_found() {
    let env = shop();
    let answer = env.run(["analyze"]).code(0).stdout();
    let place = "`app/services/order_service.py:82`";
    assert_eq!(row(&answer, "`process_order`"), ["`process_order`", place, "53", "8"]);
    let markers = env.shell("git grep -w -E 'TODO|FIXME|HACK|XXX' | wc -l");
    let todo = env.shell("git grep -h -o -w TODO | wc -l");
    let fixme = env.shell("git grep -h -o -w FIXME | wc -l");
    let files = env.shell("git grep -l -w -E 'TODO|FIXME|HACK|XXX' | wc -l");
    check_holds(
        &answer,
        &[
            &format!("{markers} lines in {files} files (TODO {todo}, FIXME {fixme})."),
            "`app/api/admin.py:14` `# FIXME",
            "**Defect:** `process_order` in app/services/order_service.py is too complex",
            "**Defect:** Code that stands in two places",
            "| `app/services/order_service.py:27-74` | `app/services/product_service.py:19-66` |",
        ],
    );
    let services = env.shell("ls app/services/*.py | grep -v __init__ | wc -l");
    assert_eq!(row(&answer, "`app/services/`"), ["`app/services/`", &services, &services]);
    let list = env.run(["notes", "list", "--type", "blocker"]).code(0).stdout();
    check_holds(&list, &["process_order", "Code that stands in two places"]);
}

#[test]
fn functions_are_counted_as_pythons_own_parser_counts_them() {
    let env = shop();
    let answer = env.run(["analyze"]).code(0).stdout();
    // A line with a definition outside of texts and comments; the shop has none inside.
    let functions = env.shell("git grep -h -E '^ *(async )?def ' -- '*.py' | wc -l");
    check_holds(&answer, &[&format!("Of {functions} functions, 0 have 60 lines or more")]);
}

#[test]
fn the_same_tree_gives_the_same_answer_and_no_note_twice() {
    let first = shop();
    let second = shop();
    for arguments in [["explore"], ["analyze"], ["plan"]] {
        let answer = first.run(arguments).code(0).stdout();
        assert_eq!(second.run(arguments).code(0).stdout(), answer);
    }
    let count = || first.run(["notes", "list", "--limit", "100"]).code(0).stdout().lines().count();
    let before = count();
    let again = first.run(["analyze"]).code(0).stdout();
    check_holds(
        &again,
        &["(blocker, unchanged)", "(action, unchanged)", "(conclusion, unchanged)"],
    );
    assert!(!again.contains(", new)"), "{again}");
    assert_eq!(count(), before);
}

#[test]
fn a_defect_that_is_repaired_is_closed() {
    let env = shop().file("app/conflict.txt", "a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n");
    env.commit("a merge that nobody finished");
    let found = env.run(["analyze"]).code(0).stdout();
    check_holds(&found, &["**Defect:** Merge conflict markers in files", "`app/conflict.txt:2`"]);
    let env = env.file("app/conflict.txt", "a\nb\n");
    env.commit("finished");
    let closed = env.run(["analyze"]).code(0).stdout();
    check_holds(&closed, &["(blocker, closed, found no more) Merge conflict markers in files"]);
    let open = env.run(["notes", "list", "--type", "blocker"]).code(0).stdout();
    assert!(!env.run(["plan"]).code(0).stdout().contains("Merge conflict"), "{open}");
}

#[test]
fn unfinished_places_come_with_the_day_from_which_they_date() {
    let env = Env::new()
        .file("README.md", "Lines with TODO are found.\n")
        .file("tests/test_cart.py", "# FIXME: slow\n")
        .file("cart.py", "x = 1\n# TODO: old\n");
    env.shell("git init -q && git add -A");
    let commit = |day: &str| {
        env.shell(&format!(
            "GIT_AUTHOR_DATE={day}T12:00:00Z GIT_COMMITTER_DATE={day}T12:00:00Z GIT_AUTHOR_NAME='Ana (QA) 9' git commit -q -a -m x"
        ));
    };
    commit("2021-03-04");
    let env = env.file("order.py", "# TODO: new\n");
    env.shell("git add -A");
    let answer = env.run(["analyze"]).code(0).stdout();
    let places: Vec<&str> = answer
        .lines()
        .filter(|line| line.contains("TODO") || line.contains("FIXME"))
        .filter(|line| line.starts_with("- `") && !line.contains(", new)"))
        .collect();
    let want = [
        "- `cart.py:2` `# TODO: old` (since 2021-03-04)",
        "- `order.py:1` `# TODO: new`",
        "- `tests/test_cart.py:1` `# FIXME: slow` (since 2021-03-04)",
        "- `README.md:1` `Lines with TODO are found.` (since 2021-03-04)",
    ];
    assert_eq!(places, want, "{answer}");
}

#[test]
fn hot_spots_are_what_is_long_and_often_changed() {
    let env = shop().file("app/hot.py", "x = 1\n".repeat(300)).file("app/gone.py", "x = 1\n");
    for round in 0..3 {
        env.shell(&format!(
            "for f in app/hot.py app/gone.py app/config.py; do echo 'y = {round}' >> $f; done"
        ));
        env.commit("again");
    }
    env.shell("rm app/gone.py");
    env.commit("gone");
    let answer = env.run(["analyze"]).code(0).stdout();
    let commits = |path: &str| env.shell(&format!("git log --format=%h -- {path} | wc -l"));
    let lines = |path: &str| env.shell(&format!("cat {path} | wc -l"));
    let hot: Vec<&str> = answer
        .split("## Hot spots")
        .nth(1)
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("| `"))
        .take(2)
        .collect();
    let want = ["app/hot.py", "app/config.py"]
        .map(|path| format!("| `{path}` | {} | {} |", commits(path), lines(path)));
    assert_eq!(hot, want, "{answer}");
    check_holds(&env.run(["notes", "search", "hot spots"]).code(0).stdout(), &["Quality figures"]);
}

#[test]
fn a_plan_asks_the_notes_and_runs_no_command() {
    let env = shop();
    env.run(["analyze"]).code(0);
    let events = env.run(["--json", "plan"]).code(0).json_lines();
    assert!(!events.iter().any(|event| event["type"] == "command.finished"), "{events:?}");
    let answer = events.last().unwrap()["answer"].as_str().unwrap().to_owned();
    check_holds(
        &answer,
        &["## First: what blocks", "process_order", "`app/services/order_service.py:82`"],
    );
    let states = env.run(["notes", "list", "--type", "task_state"]).code(0).stdout();
    check_holds(&states, &["Open work of"]);
}

#[test]
fn a_question_about_the_findings_is_answered_from_notes() {
    let env = shop();
    env.run(["analyze"]).code(0);
    let events = env.run(["--json", "ask", "what did we find, what comes first?"]).code(0);
    let events = events.json_lines();
    let by_model = |event: &&serde_json::Value| {
        event["type"] == "command.finished" && event["origin"] == "model"
    };
    assert_eq!(events.iter().filter(by_model).count(), 0);
    check_holds(events.last().unwrap()["answer"].as_str().unwrap(), &["process_order"]);
}

#[test]
fn a_question_leads_to_places_in_the_files() {
    let env = shop();
    let answer = env.run(["ask", "Where is process_order used?"]).code(0).stdout();
    let count = env.shell("git grep -h -i -F process_order | wc -l");
    check_holds(
        &answer,
        &[
            &format!("{count} lines with it"),
            "`app/services/order_service.py:82` `def process_order",
        ],
    );
    let answer = env.run(["ask", "which are the longest functions?"]).code(0).stdout();
    assert_eq!(row(&answer, "`process_order`")[2..], ["53", "8"]);
    let nothing = env.run(["ask", "Where is the zeppelin_hangar?"]).code(0).stdout();
    check_holds(&nothing, &["no word of the question stands in a file"]);
}

#[test]
fn a_target_narrows_the_look() {
    let env = shop();
    let files = env.shell("git ls-files app/services | wc -l");
    let lines = env.shell("cat $(git ls-files app/services) | wc -l");
    let answer = env.run(["explore", "./app/services/"]).code(0).stdout();
    check_holds(
        &answer,
        &[&format!("`app/services` has {files} files under Git with {lines} lines of text")],
    );
    assert!(!answer.contains("`app/api/"), "{answer}");
    let topic = env.run(["explore", "discount"]).code(0).stdout();
    check_holds(&topic, &["`discount` is no path of this workspace"]);
}

#[test]
fn chinese_is_answered_in_chinese() {
    let env = Env::new().repo("zh_names");
    let answer = env.run(["--lang", "zh", "explore"]).code(0).stdout();
    let files = env.shell("git ls-files | wc -l");
    check_holds(
        &answer,
        &[&format!("有 {files} 个受 Git 管理的文件"), "`源代码/`", "并不是语言模型"],
    );
    let answer = env.run(["ask", "哪些函数最长？"]).code(0).stdout();
    let functions = env.shell("git grep -h -E '^ *def ' -- '*.py' | wc -l");
    check_holds(&answer, &["## 过长与嵌套过深的函数", &format!("共 {functions} 个函数")]);
}

#[test]
fn any_file_name_is_counted_once() {
    let env = Env::new();
    let names: [&[u8]; 7] = [
        b"a b/-rf.py",
        b"it's \"quoted\".py",
        b"new\nline.py",
        b"latin-\xe9.py",
        b"total",
        b"tab\there.py",
        "中文/模块.py".as_bytes(),
    ];
    for name in names {
        write(&env.workspace().join(OsStr::from_bytes(name)), b"x = 1\ny = 2\n# TODO: z\n");
    }
    std::os::unix::fs::symlink("/etc/passwd", env.workspace().join("out")).unwrap();
    std::os::unix::fs::symlink("total", env.workspace().join("in")).unwrap();
    let check = |answer: &str, links: u64| {
        let files = 7 + links;
        check_holds(answer, &[&format!("has {files} files"), "21 lines of text"]);
        assert_eq!(row(answer, "Python"), ["Python", "6", "18"]);
        assert_eq!(row(answer, "`a b/`"), ["`a b/`", "1"]);
        check_holds(
            answer,
            &["7 lines in 7 files (TODO 7).", "`it's \"quoted\".py:3` `# TODO: z`"],
        );
        assert!(!answer.contains("## Not looked at"), "{answer}");
    };
    check(&env.run(["explore"]).code(0).stdout(), 0);
    env.commit("all of them");
    check(&env.run(["explore"]).code(0).stdout(), 2);
    let analysis = env.run(["analyze"]).code(0).stdout();
    assert!(!analysis.contains("## Not looked at"), "{analysis}");
    check_holds(&analysis, &["`中文/模块.py:3` `# TODO: z`"]);
}

#[test]
fn a_long_line_in_chinese_is_shown_as_it_is() {
    let long = "这是一个很长的中文说明段落，用来测试截断。".repeat(20);
    let marker = format!("# TODO: {}\ndef 处理订单():\n    pass\n", "修复这里的长问题".repeat(60));
    let env = Env::new().file("README.md", format!("# 店\n\n{long}\n")).file("a.py", marker);
    env.commit("初始提交");
    let explored = env.run(["--lang", "zh", "explore"]).code(0).stdout();
    check_holds(
        &explored,
        &["> 这是一个很长的中文说明段落，用来测试截断。", "`# TODO: 修复这里的长问题"],
    );
    let asked = env.run(["ask", "长问题在哪里？"]).code(0).stdout();
    check_holds(&asked, &["`a.py:1` `# TODO: 修复这里的长问题"]);
    assert!(!explored.contains('\u{fffd}') && !asked.contains('\u{fffd}'), "{explored}{asked}");
    // A short one is a sentence too.
    let env = Env::new().file("README.md", "# 店\n\n一个中文项目，用来测试。\n");
    check_holds(&env.run(["explore"]).code(0).stdout(), &["> 一个中文项目，用来测试。"]);
}

#[test]
fn a_repository_that_lies_elsewhere_is_told_once_and_done_without() {
    let env = Env::new().file("a.py", "def a():\n    pass\n");
    env.git(&["init", "-q", "--separate-git-dir", "../elsewhere"]);
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "x"]);
    for command in ["explore", "analyze"] {
        let ran = env.run([command]).code(0);
        check_holds(&ran.stdout(), &["has 1 file (without Git, whose folder lies outside"]);
        assert!(!ran.stdout().contains("no Git repository"), "{}", ran.stdout());
        let told = "warning: Git is not asked here: `.git` leads to a repository outside";
        assert!(ran.stderr().contains(told), "{}", ran.stderr());
        assert_eq!(ran.stderr().matches("`.git` leads").count(), 1, "{}", ran.stderr());
    }
}

#[test]
fn without_git_the_folder_is_looked_at_as_it_lies_there() {
    let env = Env::new()
        .file("src/a.py", "def a():\n    pass\n")
        .file("node_modules/x/index.js", "1\n")
        .file("latin.txt", b"caf\xe9\n# FIXME\n");
    let answer = env.run(["explore"]).code(0).stdout();
    check_holds(&answer, &["has 2 files (no Git repository) with 4 lines of text", "FIXME 1"]);
    assert!(!answer.contains("node_modules/"), "{answer}");
    let answer = env.run(["analyze"]).code(0).stdout();
    check_holds(&answer, &["Of 1 function, 0 have"]);
}

#[test]
fn an_empty_folder_and_binary_files_have_their_sentences() {
    let env = Env::new();
    for mode in ["explore", "analyze"] {
        let answer = env.run([mode]).code(0).stdout();
        assert!(answer.starts_with("There are no files in this folder."), "{answer}");
    }
    assert!(!env.workspace().join(".groundskeeper/notes").join("note_").exists());
    let env = env.file("a.bin", b"\x00\x01\x02").file("b.bin", vec![0; 2 << 20]);
    for _ in 0..2 {
        let answer = env.run(["explore"]).code(0).stdout();
        check_holds(&answer, &["has 2 files", "2 files: `a.bin`, `b.bin`.", "2097152 bytes"]);
        env.commit("binary");
    }
}

#[test]
fn a_repository_without_a_commit_is_no_error() {
    let env = Env::new().file("a.py", "x = 1\n");
    env.git(&["init", "-q"]);
    let answer = env.run(["explore"]).code(0).stdout();
    check_holds(&answer, &["has 1 file (none of them tracked by Git) with 1 line of text"]);
    env.git(&["add", "a.py"]);
    let answer = env.run(["explore"]).code(0).stdout();
    check_holds(&answer, &["has 1 file under Git", "there are no commits to read a history from"]);
}

#[test]
fn committed_notes_are_not_counted() {
    let env = shop();
    let files = env.shell("git ls-files | wc -l");
    env.run(["analyze"]).code(0);
    env.git(&["add", ".groundskeeper"]);
    env.commit("notes");
    let answer = env.run(["explore"]).code(0).stdout();
    check_holds(&answer, &[&format!("has {files} files under Git")]);
    assert!(!answer.contains(".groundskeeper/"), "{answer}");
}

#[test]
fn at_the_limit_of_steps_the_answer_holds_what_is_there() {
    let env = shop();
    let ran = env.run(["--set", "limits.steps=2", "explore"]).code(6);
    let files = env.shell("git ls-files | wc -l");
    check_holds(&ran.stdout(), &[&format!("has {files} files under Git"), "## Not looked at"]);
}

#[test]
fn one_file_is_looked_at_as_a_file() {
    let env = Env::new().repo("flask_shop");
    let file = "app/services/order_service.py";
    let answer = env.run(["analyze", file]).code(0).stdout();
    assert!(answer.contains("is one file with 144 lines of text"), "{answer}");
    assert!(
        answer.contains("| `process_order` | `app/services/order_service.py:82` |"),
        "{answer}"
    );
    assert!(!answer.contains("source files"), "its tests lie elsewhere\n{answer}");
    let answer = env.run(["explore", file]).code(0).stdout();
    assert!(!answer.contains("order_service.py/"), "a file is no folder\n{answer}");
}

#[test]
fn a_submodule_is_looked_at_as_it_lies_there() {
    let env = Env::new().repo("flask_shop").file("lib/cart.rs", "fn cart() {}\nfn x() {}\n");
    env.shell("cd lib && git init -q && git add -A && git commit -qm inner");
    env.shell("git add lib 2> hint.txt && git ls-files -s lib | grep 160000");
    let answer = env.run(["explore", "lib"]).code(0).stdout();
    assert!(answer.contains("has 1 file (none of them tracked by Git) with 2 lines"), "{answer}");
}

#[test]
fn the_top_folder_has_one_row_for_files_of_every_kind() {
    let env = Env::new().file("cart.py", "x = 1\n").file("order.rs", "fn x() {}\n");
    let answer = env.run(["analyze"]).code(0).stdout();
    assert!(answer.contains("| (top folder itself) | 2 | 2 |"), "{answer}");
}

#[test]
fn a_word_is_found_in_another_form_when_it_stands_nowhere_as_asked() {
    let env = Env::new().repo("flask_shop");
    let answer = env.run(["ask", "where are orders processed?"]).code(0).stdout();
    assert!(answer.contains("`app/services/order_service.py:82`"), "{answer}");
}

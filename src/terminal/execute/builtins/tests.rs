use std::io::{Read, Seek};

use super::*;

/// Runs a builtin in a small workspace; a word is separated from the next by `|`.
#[expect(clippy::disallowed_methods, reason = "a test's own files")]
fn call_in(files: &[&str], line: &str) -> (String, std::result::Result<(), Failure>) {
    let folder = tempfile::tempdir().unwrap();
    for file in files {
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, b"x").unwrap();
    }
    let workspace = Workspace::open(folder.path()).unwrap();
    let mut printed = tempfile::tempfile().unwrap();
    let mut desk = Desk {
        workspace: &workspace,
        directory: &workspace.top(),
        out: BufWriter::new(printed.try_clone().unwrap()),
        stopped: &|| false,
    };
    let words: Vec<OsString> = line.split('|').map(OsString::from).collect();
    let result = call(words[0].to_str().unwrap(), &words[1..], &mut desk);
    desk.out.flush().unwrap();
    let mut text = String::new();
    Seek::rewind(&mut printed).unwrap();
    printed.read_to_string(&mut text).unwrap();
    (text, result)
}

#[track_caller]
fn check(line: &str, expected: &str) {
    let (text, result) = call_in(&["src/a.rs", "src/sub/b.rs", ".hidden", "README.md"], line);
    assert_eq!(text, expected, "{line}");
    assert!(result.is_ok(), "{line}: {result:?}");
}

#[track_caller]
fn check_test(expression: &str, expected: bool) {
    let (_, result) = call_in(&["src/a.rs"], &format!("test|{expression}"));
    match result {
        Ok(()) => assert!(expected, "{expression}"),
        Err(Failure::Negative(None)) => assert!(!expected, "{expression}"),
        Err(failure) => panic!("{expression}: {failure:?}"),
    }
}

#[test]
fn echo_and_printf_print_as_in_bash() {
    check("echo", "\n");
    check("echo|a|b  c", "a b  c\n");
    check("echo|-n|a", "a");
    check("echo|-e|a\\tb\\0101\\c|d", "a\tbA");
    check("echo|-x|-n", "-x -n\n");
    check("printf|%s-%d\\n|a|7|b|8", "a-7\nb-8\n");
    check(
        "printf|[%5s][%-5s][%05d][%.2f][%x]|ab|cd|42|3.14159|255",
        "[   ab][cd   ][00042][3.14][ff]",
    );
    check("printf|100%%\\n", "100%\n");
    check("printf|%s\\n", "\n");
    check("printf|%b|a\\nb", "a\nb");
    check("printf|%q|a b", "a\\ b");
    check("printf|%e %g|12345.678|0.0001", "1.234568e+04 0.0001");
    check("printf|\\101\\x41", "AA");
    check("printf|%*d|5|42", "   42");
    check("printf|plain|ignored", "plain");
}

#[test]
fn seq_counts_exactly() {
    check("seq|3", "1\n2\n3\n");
    check("seq|2|2|7", "2\n4\n6\n");
    check("seq|3|-1|1", "3\n2\n1\n");
    check("seq|0|.1|.3", "0.0\n0.1\n0.2\n0.3\n");
    check("seq|-w|8|10", "08\n09\n10\n");
    check("seq|-s|, |3", "1, 2, 3\n");
    check("seq|2|1", "");
    assert!(matches!(call_in(&[], "seq|inf").1, Err(Failure::Usage(_))));
    assert!(matches!(call_in(&[], "seq|1|0|3").1, Err(Failure::Usage(_))));
}

#[test]
fn names_are_cut() {
    check("basename|/a/b.rs", "b.rs\n");
    check("basename|a/b.rs|.rs", "b\n");
    check("basename|-a|-s|.rs|x/a.rs|b.rs", "a\nb\n");
    check("basename|/", "/\n");
    check("dirname|a/b/c|/x|y|a//b/", "a/b\n/\n.\na\n");
}

#[test]
fn test_answers_questions() {
    check_test("-f|src/a.rs", true);
    check_test("-d|src", true);
    check_test("-f|src", false);
    check_test("!|-e|nothing", true);
    check_test("-f|src/a.rs|-a|-d|nothing", false);
    check_test("-f|nothing|-o|-d|src", true);
    check_test("(|a|=|a|)", true);
    check_test("10|-gt|9", true);
    check_test("a|!=|a", false);
    check_test("-z|", true);
    check_test("-n", true);
    check_test("", false);
    // What lies outside is not there.
    check_test("-e|/etc/passwd", false);
    check_test("-d|..", false);
    assert!(matches!(call_in(&[], "test|a|-eq|1").1, Err(Failure::Usage(_))));
}

#[test]
fn programs_of_the_system_are_found_and_no_others() {
    let (text, result) = call_in(&["ls"], "which|ls");
    assert!(result.is_ok() && text.ends_with("bin/ls\n") && text.starts_with('/'), "{text}");
    assert!(matches!(call_in(&[], "which|../../bin/ls").1, Err(Failure::Negative(None))));
    assert!(call_in(&[], "whereis|ls").0.starts_with("ls: /"));
}

#[test]
fn tree_draws_folders_as_deep_as_a_path_can_be() {
    let deep = "d/".repeat(1_900) + "x";
    let (text, result) = call_in(&[&deep], "tree|--noreport");
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(text.lines().count(), 1_902);
}

#[test]
fn tree_draws_folders() {
    check(
        "tree",
        ".\n├── README.md\n└── src\n    ├── a.rs\n    └── sub\n        └── b.rs\n\n3 directories, 3 files\n",
    );
    check("tree|-L|1|-d", ".\n└── src\n\n2 directories\n");
    check("tree|-a|--noreport|-I|src", ".\n├── .hidden\n└── README.md\n");
    check("tree|-P|*.md|-L|1|--noreport", ".\n├── README.md\n└── src\n");
    check("tree|-fi|src/sub|--noreport", "src/sub\nsrc/sub/b.rs\n");
    let outside = call_in(&[], "tree|/etc");
    assert!(matches!(outside.1, Err(Failure::Negative(Some(_)))), "{outside:?}");
}

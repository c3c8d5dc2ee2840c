//! The examples of `--help`: each command has some, and each does what it says.
#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::path::Path;

use crate::support::{self, Env, write};

#[test]
fn every_command_has_examples_and_each_of_them_runs() {
    let env = Env::new().repo("flask_shop");
    write(&env.workspace().join("question.txt"), b"where are orders processed?");
    write(&env.workspace().join("../shop/app.py"), b"print('shop')\n");
    let note = "---\nid: note_20240101_000000_0\ntitle: Old\ntype: general\n---\n\nold\n";
    write(&env.workspace().join("../agent/notes/note_20240101_000000_0.md"), note.as_bytes());
    let mut tried = 0;
    for command in commands(&[]) {
        let words: Vec<&str> = command.split_whitespace().collect();
        let help = env.run(words.iter().chain(&["--help"])).code(0).stdout();
        let (_, examples) = help.split_once("\nExamples:\n").unwrap_or_else(|| {
            panic!("`{command} --help` has no examples:\n{help}");
        });
        let lines = examples.lines().take_while(|line| !line.is_empty());
        for line in lines {
            assert!(line.starts_with("  "), "{command}: too long for a line, at: {line}");
            // What a line is for stands two blanks behind it.
            let line = line.trim_start();
            let line = line.split_once("  ").map_or(line, |(line, _)| line);
            assert!(line.contains("groundskeeper "), "{command}: {line}");
            check(&env, line);
            tried += 1;
        }
    }
    assert!(tried > 40, "{tried}");
}

/// Runs a line as a person types it.
#[track_caller]
fn check(env: &Env, line: &str) {
    let expected = match line {
        "groundskeeper sh --explain 'find . -delete'" => 126,
        // No turn was cut off here.
        "groundskeeper session resume" | "groundskeeper session resume last --model offline" => 1,
        _ => 0,
    };
    // Here nobody types.
    let typed = if line.starts_with("groundskeeper chat") { "echo /board | " } else { "" };
    let binary = Path::new(env!("CARGO_BIN_EXE_groundskeeper"));
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", binary.parent().unwrap().display());
    let mut shell = env.command("bash");
    let shell =
        shell.args(["-c", &format!("{typed}{line}")]).env("PATH", path).env("EDITOR", "true");
    let ran = shell.env("GROUNDSKEEPER_CLOCK", support::NOW).output().unwrap();
    let told = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(expected), "{line}\n{told}");
}

/// Returns the words of all commands, in the order of the help.
fn commands(words: &[&str]) -> Vec<String> {
    let help = Env::new().run(words.iter().chain(&["--help"])).code(0).stdout();
    let rows = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let rows = rows.take_while(|line| !line.is_empty());
    let names = rows.filter_map(|row| row.strip_prefix("  ")?.split_whitespace().next());
    let mut all = vec![words.join(" ")];
    for name in names.filter(|name| *name != "help") {
        let inner: Vec<&str> = words.iter().copied().chain([name]).collect();
        all.extend(commands(&inner));
    }
    all
}

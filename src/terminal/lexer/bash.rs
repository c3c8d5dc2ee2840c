//! bash as the oracle: for a line that we accept, it makes the same words.
//!
//! The lines are made of fragments that bite: quotes, backslashes, operators, comments. bash gets
//! the accepted ones with no command to run (a `PATH` without any), and writes down what it would have
//! run with which words. Some names are functions that write down the same, which is faster.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::terminal::fuzz::{Random, rounds};
use crate::terminal::parser::{Pipeline, parse};
use crate::terminal::plan::When;

/// How many lines are made in a round; about one in four is accepted.
const LINES: usize = 4_000;

/// What bash runs: each line it is given, with the names and words written to the third stream.
const SCRIPT: &str = r#"
set -f; PATH=/nonexistent; HOME='~'
command_not_found_handle() { local IFS=$'\1'; printf '%s\1\2' "$*" >&3; [[ $1 != *x ]]; }
known() { local IFS=$'\1'; printf '%s\1\2' "$*" >&3; [[ $1 != *x ]]; }
for name in a b c ax bx 1 2 0 aa ab bc ca cc , .. {} ,c c, a.b é 中; do eval "$name() { known '$name' \"\$@\"; }"; done
while IFS= read -r -d '' line; do eval "$line"; wait; printf '\3' >&3; done
"#;

#[test]
fn an_accepted_line_has_the_words_that_bash_makes() {
    let mut compared = 0;
    for round in rounds() {
        let mut random = Random::of_round(round);
        let lines: Vec<String> = (0..LINES).map(|_| line(&mut random, round)).collect();
        let accepted: Vec<(String, Vec<String>)> =
            lines.into_iter().filter_map(|line| ours(&line).map(|runs| (line, runs))).collect();
        assert!(accepted.len() > LINES / 20, "only {} lines were accepted", accepted.len());
        let Some(theirs) = bash(&accepted) else {
            println!("skipped: there is no bash on this machine to compare with");
            return;
        };
        let differing: Vec<String> = accepted
            .iter()
            .zip(&theirs)
            .filter(|((_, ours), theirs)| ours != *theirs)
            .map(|((line, ours), theirs)| format!("{line:?}\n  ours {ours:?}\n  bash {theirs:?}"))
            .collect();
        assert_eq!(accepted.len(), theirs.len());
        assert!(differing.is_empty(), "{} differ:\n{}", differing.len(), differing.join("\n"));
        compared += accepted.len();
        println!("round {round}: {compared} accepted lines are the same");
    }
}

/// Returns what we would run, sorted, or `None` when the line is refused or runs a builtin of bash.
fn ours(line: &str) -> Option<Vec<String>> {
    let pipelines = parse(line).ok()?;
    let mut runs = Vec::new();
    let mut succeeded = true;
    for pipeline in &pipelines {
        let is_run = match pipeline.when {
            When::Always => true,
            When::IfSucceeded => succeeded,
            When::IfFailed => !succeeded,
        };
        let words = words(pipeline);
        if words.iter().any(|words| !is_unknown_to_bash(&words[0])) {
            return None;
        }
        let redirects = pipeline.commands.iter().flat_map(|command| &command.redirects);
        let mut targets = redirects.filter_map(|redirect| redirect.target.as_ref());
        if targets.any(|target| target.text() != "/dev/null") {
            return None;
        }
        if is_run {
            succeeded = words.last().is_none_or(|words| !words[0].ends_with('x'));
            runs.extend(words.iter().map(|words| words.join("\u{1}") + "\u{1}"));
        }
    }
    runs.sort();
    Some(runs)
}

/// Returns whether bash looks for a command of that name, and does not find it.
fn is_unknown_to_bash(name: &str) -> bool {
    !matches!(name, "." | ":" | "[" | "") && !name.starts_with(['%', '-']) && !name.contains('/')
}

fn words(pipeline: &Pipeline) -> Vec<Vec<String>> {
    let words = |command: &crate::terminal::parser::Command| {
        command.words.iter().map(super::Word::text).collect()
    };
    pipeline.commands.iter().map(words).collect()
}

/// Returns what bash would run, a list for each line.
#[expect(clippy::disallowed_methods, reason = "bash is the oracle, and runs nothing")]
fn bash(lines: &[(String, Vec<String>)]) -> Option<Vec<Vec<String>>> {
    let folder = tempfile::tempdir().unwrap();
    let result = folder.path().join("result");
    let file = std::fs::File::options().append(true).create(true).open(&result).unwrap();
    drop(file);
    let mut child = Command::new("bash")
        .args(["--norc", "-c", &format!("exec 3>>{}\n{SCRIPT}", result.display())])
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take().unwrap();
    for (line, _) in lines {
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\0").unwrap();
    }
    drop(input);
    child.wait().unwrap();
    let text = std::fs::read_to_string(result).unwrap();
    let runs = |line: &str| {
        let mut runs: Vec<String> =
            line.split('\u{2}').filter(|run| !run.is_empty()).map(str::to_owned).collect();
        runs.sort();
        runs
    };
    let mut lines: Vec<&str> = text.split('\u{3}').collect();
    lines.pop();
    Some(lines.into_iter().map(runs).collect())
}

/// Makes a line of fragments. The first round is the calmest; the others differ.
fn line(random: &mut Random, round: u64) -> String {
    const FRAGMENTS: [&str; 62] = [
        "a",
        "b",
        "ax",
        "bx",
        "1",
        "2",
        "0",
        "a.b",
        "é",
        "中",
        "-",
        "--",
        "=",
        "a=b",
        "/",
        "~",
        "~/",
        ":",
        "!",
        "%",
        "^",
        "+",
        ",",
        "..",
        "*",
        "?",
        "[",
        "]",
        "{",
        "}",
        "{}",
        "@{1}",
        "#",
        " #",
        "'",
        "'",
        "\"",
        "\"",
        "\\",
        "\\\n",
        "\\\\",
        "\\'",
        "\\\"",
        "$",
        "$a",
        "`",
        "\n",
        ";",
        "&&",
        "||",
        "|",
        "&",
        "(",
        ")",
        " 2>&1",
        " 1>&2",
        ">/dev/null",
        "2>/dev/null",
        "</dev/null",
        "'a b'",
        "\"a b\"",
        "\t",
    ];
    const CALM: [&str; 14] =
        [" ", " ", " ", " a", " b ", "ax", " 'a' ", " \"b\"", "c", "{", "}", ",", "..", "{}"];
    let calm = if round.is_multiple_of(2) { 3 } else { 2 };
    let mut line = String::new();
    for _ in 0..=random.below(14) {
        let fragments: &[&str] = if random.below(calm) == 0 { &FRAGMENTS } else { &CALM };
        line.push_str(fragments[random.below(fragments.len())]);
    }
    line
}

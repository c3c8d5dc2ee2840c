//! The programs themselves as the oracle: a script of `sed` or `awk` that is allowed leaves no file
//! behind, whatever it looks like. Scripts are made of fragments that bite; the only effect that
//! any of them could have is a file in a folder of the test.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::terminal::fuzz::{Random, rounds};

/// How many scripts of each language are made in a round.
const SCRIPTS: usize = 600;

#[rustfmt::skip]
const SED: &[&str] = &[
    "s/", "/", "/", "[", "]", "[^", "[:", "[[:alpha:]]", ":]", "[.", ".]", "\\", "\\/", "\\n",
    "\n", "x", "a", "w pwned", "w pwned\n", ";", "{", "}", "1", "$", "!", "p", "n;", "s,", "s|",
    ",", "|", "y/", "a\\", "a ", "i\\\n", "c foo", "e touch pwned", "v 4.2 ", "v", "l 3 ", "q5",
    " ", "\t", "I", "M", "g", "2", "#", "\\[", "\\]", "&", "s/[", "]/", "/w pwned", "/e", "0~3",
    "/x/", ",+2", "\\,", "~", "=", "F", "z", "r x", "W pwned",
];

#[rustfmt::skip]
const AWK: &[&str] = &[
    "1", "2", "system(\"touch pwned\")", "system", "(\"touch pwned\")", "print", "print ",
    ">\"pwned\"", "> \"pwned\"", "|\"touch pwned\"", "getline", "/", "/", "/a/", "[/]", "[", "]",
    "(", ")", "{", "}", ";", "\n", "\\\n", "#", "\"", "\"x\"", "\\\"", "x", "x++", "++", "length",
    "$1", "$", "NF", ",", "?", ":", "~", "!", "&&", "||", "in ", "a[1]", "=", "==", "+", "-", "e5",
    ".5", "1.", "0x1", "func f(a){", "return ", "if(1)", "else ", "printf ", "printf(\"x\")",
    "BEGIN", "END", "getline x", "@", "\t", " ", "next", "exit", "1e", "é",
];

#[test]
fn an_allowed_script_leaves_nothing_behind() {
    let (mut harmful, mut allowed) = (Vec::new(), 0);
    for round in rounds() {
        let mut random = Random::of_round(round);
        for _ in 0..SCRIPTS {
            let script = script("", SED, &mut random, "");
            if super::sed::check(&script).is_ok() {
                allowed += 1;
                harmful.extend(left_by("sed", &["-n", "--", &script, "f"]));
            }
            let program = script_of_awk(&mut random);
            if super::awk::check(&program).is_ok() {
                allowed += 1;
                harmful.extend(left_by("awk", &["--", &program, "f"]));
            }
        }
        println!("round {round}: {allowed} allowed scripts left nothing");
    }
    assert!(harmful.is_empty(), "{harmful:#?}");
    assert!(allowed > 20, "{allowed}");
}

fn script_of_awk(random: &mut Random) -> String {
    let begin = ["BEGIN{", "BEGIN{x=", "{", "BEGIN{print "][random.below(4)];
    script(begin, AWK, random, "}")
}

fn script(begin: &str, fragments: &[&str], random: &mut Random, end: &str) -> String {
    let mut script = begin.to_owned();
    for _ in 0..=random.below(8) {
        script.push_str(fragments[random.below(fragments.len())]);
    }
    script + end
}

/// Runs a program in a folder of its own and returns what came of it, if a file did.
#[expect(clippy::disallowed_methods, reason = "the program is the oracle")]
fn left_by(program: &str, words: &[&str]) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("LICENSE-MIT");
    std::fs::copy(input, folder.path().join("f")).unwrap();
    let mut command = Command::new("timeout");
    command.args(["2", program]).args(words).current_dir(folder.path());
    command.env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A machine without one of the programs has nothing to compare with.
    command.status().ok()?;
    let names = std::fs::read_dir(folder.path()).unwrap().count();
    (names != 1).then(|| format!("{program} {words:?}"))
}

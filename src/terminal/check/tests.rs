//! What a line becomes: the very words that programs get, where they run, where streams go.

use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::*;
use crate::terminal::plan::When;
use crate::terminal::plan::{Invocation, Items, Xargs};
use crate::terminal::tests::Fixture;

/// Writes a plan down: a pipeline a line, with its folder when that is not the top.
fn written(plan: &Plan) -> String {
    let step = |step: &Step| {
        let when = match step.when {
            When::Always => "",
            When::IfSucceeded => "&& ",
            When::IfFailed => "|| ",
        };
        let folder = match step.directory.relative() {
            top if top.as_os_str().is_empty() => String::new(),
            folder => format!("in {}: ", folder.display()),
        };
        let stages: Vec<String> = step.stages.iter().map(stage).collect();
        format!("{when}{folder}{}", stages.join(" | "))
    };
    plan.steps.iter().map(step).collect::<Vec<_>>().join("\n")
}

fn stage(stage: &Stage) -> String {
    let input = stage.input.as_deref().and_then(Path::file_name);
    let parts = [
        Some(action(&stage.action)),
        input.map(|name| format!("<{}", name.display())),
        (stage.stdout != Target::Default).then(|| format!("1>{:?}", stage.stdout)),
        (stage.stderr != Target::Default).then(|| format!("2>{:?}", stage.stderr)),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn action(action: &Action) -> String {
    match action {
        Action::Program(invocation) => words(&invocation.arguments),
        Action::Builtin(arguments) => format!("({})", words(arguments)),
        Action::Xargs(xargs) => format!("({})", xargs_words(xargs)),
        Action::FindExec { find, command } => {
            format!("{} | ({})", words(&find.arguments), xargs_words(command))
        }
    }
}

fn xargs_words(xargs: &Xargs) -> String {
    let items = match xargs.items {
        Items::Words => "words",
        Items::Lines => "lines",
        Items::Nul => "nul",
    };
    let parts = [
        Some(format!("xargs {items}")),
        xargs.replace.as_ref().map(|replace| format!("each {replace}")),
        xargs.most.map(|most| format!("by {most}")),
        xargs.lines.map(|lines| format!("by {lines} lines")),
        xargs.skip_empty.then(|| "if any".to_owned()),
        xargs.announces.then(|| "with names".to_owned()),
    ];
    let options: Vec<String> = parts.into_iter().flatten().collect();
    format!("{}: {}", options.join(" "), words(&xargs.command))
}

fn words(words: &[OsString]) -> String {
    let word = |word: &OsString| {
        let word = word.to_string_lossy();
        if word.contains(' ') || word.is_empty() { format!("'{word}'") } else { word.into_owned() }
    };
    // Where the system's `awk` is GNU's, it has an argument more.
    words.iter().map(word).collect::<Vec<_>>().join(" ").replace("awk --sandbox", "awk")
}

#[track_caller]
fn check(line: &str, expected: &str) {
    let fixture = Fixture::new();
    let checker = fixture.checker();
    match checker.plan(line, &checker.workspace().top()) {
        Ok(plan) => assert_eq!(written(&plan), expected, "{line}"),
        Err(refusal) => panic!("{line}: {}", refusal.for_model()),
    }
}

#[test]
fn words_reach_their_program_as_they_were_written() {
    check("ls -la src", "ls -la src");
    check("grep -n 'a b' \"c'd\" ''", "grep -n 'a b' c'd ''");
    check("ls | wc -l && pwd || echo no; true", "ls | wc -l\n&& (pwd)\n|| (echo no)\n(true)");
}

#[test]
fn programs_are_absolute_paths_of_the_system() {
    let fixture = Fixture::new();
    let checker = fixture.checker();
    let plan = checker.plan("/bin/ls", &checker.workspace().top()).unwrap();
    let Action::Program(Invocation { program, git, .. }) = &plan.steps[0].stages[0].action else {
        panic!("{plan:?}");
    };
    assert!(program.is_absolute() && program.ends_with("ls") && !git, "{}", program.display());
}

#[test]
fn globs_become_sorted_names_that_are_no_options() {
    check("ls src/*.rs", "ls src/a.rs src/lib.rs src/main.rs");
    check("ls *rf *.md", "ls ./-rf README.md");
    check("ls '*.md' nosuch*", "ls *.md nosuch*");
    check("cat < READ*", "cat <README.md");
    check("ls src/[al]*.rs", "ls src/a.rs src/lib.rs");
}

#[test]
fn a_tilde_is_the_top_of_the_workspace() {
    let fixture = Fixture::new();
    let checker = fixture.checker();
    let root = checker.workspace().root().to_str().unwrap().to_owned();
    let line = "cd src && cat ~/README.md ~/src/m*.rs && cd ~ && ls ~";
    let plan = checker.plan(line, &checker.workspace().top()).unwrap();
    let expected = format!(
        "(cd src)\n&& in src: cat {root}/README.md {root}/src/main.rs\n&& in src: (cd {root})\n\
         && ls {root}"
    );
    assert_eq!(written(&plan), expected);
}

#[test]
fn cd_is_followed() {
    check("cd src; ls; cd ..; ls", "(cd src)\nin src: ls\nin src: (cd ..)\nls");
    check(
        "cd src/core && ls && cd .. && ls",
        "(cd src/core)\n&& in src/core: ls\n&& in src/core: (cd ..)\n&& in src: ls",
    );
    check("cd nosuch; ls", "(cd nosuch)\nls");
    check("cd nosuch && ls", "(cd nosuch)\n&& ls");
    check("cd src | ls; ls", "(cd src) | ls\nls");
    check("cd src || ls", "(cd src)\n|| in src: ls");
    check("test -d src && cd src && ls", "(test -d src)\n&& (cd src)\n&& in src: ls");
    check("cd src; ls nosuch || ls; ls", "(cd src)\nin src: ls nosuch\n|| in src: ls\nin src: ls");
    check("cd README.md || ls", "(cd README.md)\n|| ls");
}

#[test]
fn cd_goes_back_to_where_the_line_was() {
    let fixture = Fixture::new();
    let checker = fixture.checker();
    let root = checker.workspace().root().to_str().unwrap().to_owned();
    for (line, expected) in [
        (
            "cd src; cd core; cd -; ls",
            format!("(cd src)\nin src: (cd core)\nin src/core: (cd - {root}/src)\nin src: ls"),
        ),
        (
            "cd src && cd - && cd - && ls",
            format!("(cd src)\n&& in src: (cd - {root})\n&& (cd - {root}/src)\n&& in src: ls"),
        ),
        (
            "cd src; ls || pwd; cd -; ls",
            format!("(cd src)\nin src: ls\n|| in src: (pwd)\nin src: (cd - {root})\nls"),
        ),
    ] {
        let plan = checker.plan(line, &checker.workspace().top());
        let plan = plan.map_err(|refusal| refusal.for_human()).unwrap();
        assert_eq!(written(&plan), expected, "{line}");
    }
    for line in ["cd -", "ls; cd -", "cd src | cd -", "ls | xargs -I{} cd -"] {
        assert!(checker.plan(line, &checker.workspace().top()).is_err(), "{line}");
    }
}

#[test]
fn cd_can_be_switched_off() {
    let fixture = Fixture::new();
    let checker = Checker::open(Workspace::open(&fixture.root()).unwrap(), false);
    let refusal = checker.plan("cd src", &checker.workspace().top()).unwrap_err();
    assert!(refusal.reason.contains("`allow_cd`"), "{refusal}");
}

#[test]
fn redirects_are_read_from_left_to_right() {
    check("ls 2>&1", "ls 2>Stdout");
    check("ls 1>&2", "ls 1>Stderr");
    check("ls >/dev/null", "ls 1>Null");
    check("ls 2>/dev/null", "ls 2>Null");
    check("ls >/dev/null 2>&1", "ls 1>Null 2>Null");
    check("ls 2>&1 >/dev/null | wc", "ls 1>Null 2>Stdout | wc");
    check("ls &>/dev/null", "ls 1>Null 2>Null");
    check("ls 2>&1 1>&2", "ls 2>Stdout");
    check("wc -l < README.md < Cargo.toml", "wc -l <Cargo.toml");
    check("2>/dev/null ls", "ls 2>Null");
    check("cat < /dev/null", "cat <null");
}

#[test]
fn what_a_program_must_not_do_is_pinned() {
    check("grep -rn x src", "grep -D skip -rn x src");
    check("grep -Rn x src", "grep -D skip -rn x src");
    check("grep --dereference-recursive x .", "grep -D skip --recursive x .");
    check("grep x README.md", "grep x README.md");
    check("egrep -r 'a|b' .", "grep -E -D skip -r a|b .");
    check("sed -n 1p README.md", "sed --sandbox -n 1p README.md");
    check("diff -r src tests", "diff --no-dereference -r src tests");
    check("df", "df .");
    check("git log -1", "git log --no-ext-diff --no-textconv --no-show-signature -1");
    check("git diff", "git diff --no-ext-diff --no-textconv --ignore-submodules=dirty");
    check(
        "git diff --ignore-submodules=all",
        "git diff --no-ext-diff --no-textconv --ignore-submodules=all",
    );
    check("git status", "git status --ignore-submodules=dirty");
    check("git branch -v", "git branch --list -v");
    check("git branch --show-current", "git branch --show-current");
    check("git grep x", "git grep --no-textconv x");
    check(
        "git -C src --no-pager show HEAD",
        "git -C src --no-pager show --no-ext-diff --no-textconv --no-show-signature HEAD",
    );
}

#[test]
fn what_would_wait_or_start_a_program_runs_in_another_form() {
    check("less -NRS README.md", "cat -n README.md");
    check("more README.md", "cat README.md");
    check("git shortlog -sn", "git shortlog -sn HEAD");
    check("git shortlog -sn -- src", "git shortlog -sn HEAD -- src");
    check(
        "git log | git shortlog",
        "git log --no-ext-diff --no-textconv --no-show-signature | git shortlog",
    );
    check(
        "git stash list -3",
        "git log --ignore-missing '--format=%gd: %gs' -g --first-parent --no-ext-diff \
         --no-textconv --no-show-signature -3 refs/stash --",
    );
    check("[ -f README.md ]", "(test -f README.md)");
}

#[test]
fn exec_and_xargs_are_ours() {
    check(
        "find . -name '*.py' -exec wc -l {} +",
        "find . -name *.py -print0 | (xargs nul if any: wc -l)",
    );
    check(
        "find . -name '*.py' -print -exec head -n 1 {} \\;",
        "find . -name *.py -print0 | (xargs nul each {} if any with names: head -n 1 {})",
    );
    check(
        "find . -exec head -n 1 {} \\;",
        "find . -print0 | (xargs nul each {} if any: head -n 1 {})",
    );
    check(
        "find . -name a -o -name b -exec cat {} \\;",
        "find . -name a -o -name b -print0 | (xargs nul each {} if any: cat {})",
    );
    check("ls | xargs -n2 -r wc", "ls | (xargs words by 2 if any: wc)");
    check("ls | xargs -I% cat %", "ls | (xargs lines each %: cat %)");
    check("ls | xargs -0rn1", "ls | (xargs nul by 1 if any: echo)");
    check("ls | xargs -d '\\n' -P4 cat", "ls | (xargs lines: cat)");
}

/// Checks one run of the `xargs` of a line over words that came from data.
#[track_caller]
fn check_run(line: &str, words_of_run: &[&str], expected: Result<&str, &str>) {
    let fixture = Fixture::new();
    let checker = fixture.checker();
    let top = checker.workspace().top();
    let plan = checker.plan(line, &top).unwrap();
    let xargs = plan.steps[0].stages.iter().find_map(|stage| match &stage.action {
        Action::Xargs(xargs) | Action::FindExec { command: xargs, .. } => Some(xargs.clone()),
        Action::Program(_) | Action::Builtin(_) => None,
    });
    let run: Vec<OsString> = words_of_run.iter().map(OsString::from).collect();
    match (checker.command(&xargs.unwrap(), &run, &top), expected) {
        (Ok(done), Ok(expected)) => assert_eq!(action(&done), expected),
        (Err(refusal), Err(says)) => assert!(refusal.for_model().contains(says), "{refusal}"),
        (done, _) => panic!("{line} over {words_of_run:?}: {done:?}"),
    }
}

#[test]
fn an_item_is_never_an_option() {
    check_run("ls | xargs wc -l", &["wc", "-l", "-c", "a"], Ok("wc -l ./-c a"));
    check_run("ls | xargs sort", &["sort", "--output=x"], Ok("sort -S 1G ./--output=x"));
    check_run("ls | xargs cat", &["cat", "-"], Ok("cat ./-"));
    check_run("ls | xargs grep x", &["grep", "x", "-f", "y"], Ok("grep x ./-f y"));
    check_run("ls | xargs grep", &["grep", "-f", "y"], Err("comes from data"));
    check_run("ls | xargs find", &["find", "-delete", "a"], Ok("find ./-delete a"));
    check_run(
        "ls | xargs find . -name",
        &["find", ".", "-name", "x", "-delete"],
        Err("takes none there"),
    );
    check_run("ls | xargs git log", &["git", "log", "--output=x"], Err("comes from data"));
    check_run("ls | xargs strings", &["strings", "@x"], Ok("strings ./@x"));
    check_run("ls | xargs awk 1", &["awk", "1", "FS=x", "-f"], Ok("awk 1 ./FS=x ./-f"));
    check_run("ls | xargs -I{} cat {}", &["cat", "-n"], Ok("cat ./-n"));
    check_run(
        "ls | xargs -I{} grep --include={} x",
        &["grep", "--include=-f", "x"],
        Ok("grep --include=-f x"),
    );
    check_run("find . -exec sed p {} +", &["sed", "p", "-i"], Ok("sed --sandbox p ./-i"));
    check_run("ls | xargs echo", &["echo", "-n", "a"], Ok("(echo -n a)"));
}

#[test]
fn an_item_is_checked_like_any_other_path() {
    check_run("ls | xargs cat", &["cat", "../outside/secret"], Err("outside the workspace"));
    check_run("ls | xargs cat", &["cat", "linkfile"], Err("a link that leads outside"));
    check_run("ls | xargs cat", &["cat", "pipe"], Err("a pipe that waits"));
    check_run("ls | xargs uniq", &["uniq", "a", "b"], Err("overwrite"));
    check_run(
        "ls | xargs -I{} git branch --list {}",
        &["git", "branch", "--list", "-D"],
        Err("comes from data"),
    );
    check_run("ls | xargs git reflog", &["git", "reflog", "expire"], Err("changes the re"));
    check_run("ls | xargs", &["echo", "a"], Ok("(echo a)"));
}

#[test]
fn a_name_that_is_not_utf8_is_a_path() {
    use std::os::unix::ffi::OsStringExt as _;
    let fixture = Fixture::new();
    let checker = fixture.checker();
    let top = checker.workspace().top();
    let name = OsString::from_vec(vec![b'-', 0xff, b'.', b'z']);
    let path = fixture.root().join(&name);
    drop(std::fs::OpenOptions::new().write(true).create(true).truncate(true).open(path).unwrap());
    let plan = checker.plan("cat *.z", &top).unwrap();
    let Action::Program(invocation) = &plan.steps[0].stages[0].action else { panic!("{plan:?}") };
    let mut expected = OsString::from("./");
    expected.push(&name);
    assert_eq!(invocation.arguments[1], expected);
}

#[test]
fn an_explanation_names_the_rule_of_each_word() {
    let fixture = Fixture::new();
    let checker = fixture.checker();
    let top = checker.workspace().top();
    let explanation = checker.explain("grep -rn TODO src | tee x", &top);
    let words: Vec<&str> = explanation.words.iter().map(|word| word.word.as_str()).collect();
    assert_eq!(words, ["grep", "-r", "-n", "TODO", "src"]);
    assert!(explanation.result.is_err());
    let text = explanation.to_string();
    assert!(text.ends_with("refused: `tee` is not among the commands that are allowed, which only read; write `grep -rn TODO src`"), "{text}");
    let explanation = checker.explain("ls -la", &top);
    assert!(explanation.to_string().ends_with("allowed"), "{explanation}");
}

#[test]
fn a_repository_outside_is_not_read() {
    let fixture = Fixture::new();
    let checker = fixture.checker();
    let top = checker.workspace().top();
    let git = fixture.root().join(".git");
    std::fs::remove_dir(&git).unwrap();
    std::os::unix::fs::symlink("../outside", &git).unwrap();
    let refusal = checker.plan("git log", &top).unwrap_err();
    assert!(refusal.reason.contains("outside the workspace"), "{refusal}");
    std::fs::remove_file(&git).unwrap();
    std::fs::create_dir_all(git.join("objects/info")).unwrap();
    assert!(checker.plan("git log", &top).is_ok());
    let mut file = std::fs::OpenOptions::new();
    let path = git.join("objects/info/alternates");
    let mut file = file.write(true).create(true).truncate(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, b"../../../outside\n").unwrap();
    let refusal = checker.plan("git log", &top).unwrap_err();
    assert!(refusal.reason.contains("outside the workspace"), "{refusal}");
    // From a `.git` that is no repository, Git climbs to that one.
    std::fs::create_dir(fixture.root().join("src/.git")).unwrap();
    let refusal = checker.plan("git -C src log", &top).unwrap_err();
    assert!(refusal.reason.contains("outside the workspace"), "{refusal}");
}

#[test]
fn a_line_has_at_most_64_commands() {
    let fixture = Fixture::new();
    let checker = fixture.checker();
    let top = checker.workspace().top();
    assert!(checker.plan(&["ls"; 64].join(";"), &top).is_ok());
    let refusal = checker.plan(&["ls"; 65].join("|"), &top).unwrap_err();
    assert!(refusal.reason.contains("65 commands"), "{refusal}");
}

/// Fragments that the languages of the commands are made of.
fn fragment() -> impl Strategy<Value = String> {
    let known = [
        " ",
        " ",
        " ",
        " ",
        "ls",
        "grep",
        "sed",
        "awk",
        "find",
        "git",
        "xargs",
        "cat",
        "jq",
        "test",
        "[",
        "]",
        "seq",
        "printf",
        "cd",
        "src",
        "..",
        "*",
        "?",
        "[a-",
        "{}",
        "+",
        "\\;",
        "-exec",
        "-name",
        "-n",
        "-e",
        "-",
        "--",
        "--x=",
        "'",
        "\"",
        "\\",
        "$",
        "`",
        "|",
        "&",
        ";",
        "\n",
        "<",
        ">",
        "2>&1",
        "/dev/null",
        "(",
        ")",
        "{",
        "}",
        "~",
        "#",
        "=",
        "!",
        ",",
        "s/a/b/",
        "/x/",
        "y/",
        "w",
        "1,5p",
        "%G?",
        "%9999999999d",
        "@{1}",
        "log",
        "show",
        "--format",
        "\u{200b}",
        "中",
        "é",
        "0",
        "-1",
        "1e999",
        "'{print $1}'",
        "[[:alpha:]",
        "\\n",
    ];
    prop_oneof![
        4 => proptest::sample::select(known.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{0,3}".prop_map(|text| text),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn no_line_makes_the_checker_panic(line in "\\PC{0,60}") {
        let checker = Checker::open(Workspace::open(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap(), true);
        drop(checker.plan(&line, &checker.workspace().top()));
    }

    #[test]
    fn no_line_of_fragments_makes_the_checker_panic_or_hide_a_reason(
        fragments in proptest::collection::vec(fragment(), 0..16),
    ) {
        let checker = Checker::open(Workspace::open(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap(), true);
        let line = fragments.concat();
        let explanation = checker.explain(&line, &checker.workspace().top());
        if let Err(refusal) = &explanation.result {
            prop_assert!(!refusal.reason.is_empty());
            let hidden = char::from_u32(0x200b).unwrap();
            prop_assert!(!refusal.for_model().contains(hidden));
            prop_assert!(!refusal.for_human().contains('\n'));
        }
    }
}

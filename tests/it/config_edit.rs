//! `config edit` through the binary, with editors that are small programs.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use pretty_assertions::assert_eq;

use crate::support::{Env, Ran, write};

/// Runs `config edit` with an editor that does this to the file `$2`.
fn edit(env: &Env, does: &str, arguments: &[&str]) -> Ran {
    let editor = env.root().join("home/editor");
    write(&editor, format!("#!/bin/sh\n{does}\n").as_bytes());
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = env.groundskeeper();
    command.env("EDITOR", format!("{} --wait", editor.display()));
    command.args(["config", "edit"]).args(arguments);
    Ran(command.output().unwrap())
}

#[test]
fn a_new_file_begins_with_every_setting_commented_out() {
    let env = Env::new();
    let ran = edit(
        &env,
        "grep -q '^#   steps: 40' \"$2\" && printf 'limits:\\n  steps: 7\\n' >> \"$2\"",
        &[],
    );
    assert!(ran.code(0).stdout().contains("are valid"));
    let shown = env.run(["config", "show", "--origin"]).code(0).stdout();
    assert!(shown.contains("limits.steps: 7  # `"), "{shown}");
    let file = env.workspace().join(".groundskeeper/config.yaml");
    let before = fs::read_to_string(&file).unwrap();
    edit(&env, "true", &[]).code(0);
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
}

#[test]
fn an_editor_that_saved_nothing_leaves_no_file() {
    let env = Env::new();
    assert_eq!(edit(&env, "true", &[]).code(0).stdout(), "nothing was set\n");
    assert!(!env.workspace().join(".groundskeeper/config.yaml").exists());
    let failed = edit(&env, "exit 3", &[]).code(1);
    assert!(failed.stderr().contains("failed (exit status: 3)"), "{}", failed.stderr());
    assert!(!env.workspace().join(".groundskeeper/config.yaml").exists());
}

#[test]
fn wrong_settings_are_told_kept_and_can_be_edited_again() {
    let env = Env::new();
    let wrong = edit(&env, "echo 'limits: {stepps: 7}' > \"$2\"", &[]).code(3);
    for words in
        ["unknown key `limits.stepps`", "did you mean `limits.steps`?", "opens the file again"]
    {
        assert!(wrong.stderr().contains(words), "{}", wrong.stderr());
    }
    let file = env.workspace().join(".groundskeeper/config.yaml");
    assert_eq!(fs::read_to_string(&file).unwrap(), "limits: {stepps: 7}\n");
    edit(&env, "sed -i s/stepps/steps/ \"$2\"", &[]).code(0);
    assert!(env.run(["config", "show"]).code(0).stdout().contains("limits.steps: 7"));
}

#[test]
fn the_users_own_file_may_name_an_endpoint() {
    let env = Env::new();
    edit(&env, "grep -q '^# endpoint:' \"$2\" && echo 'model: offline' >> \"$2\"", &["--user"])
        .code(0);
    let file = env.root().join("home/.config/groundskeeper/config.yaml");
    assert!(fs::read_to_string(file).unwrap().ends_with("model: offline\n"));
    assert!(!env.workspace().join(".groundskeeper").exists());
}

#[test]
fn an_editor_that_is_not_there_is_named() {
    let env = Env::new();
    let mut command = env.groundskeeper();
    command.env("VISUAL", "no-such-editor").args(["config", "edit"]);
    let ran = Ran(command.output().unwrap()).code(1);
    for words in ["the editor `no-such-editor` did not start", "hint: `VISUAL` or `EDITOR`"] {
        assert!(ran.stderr().contains(words), "{}", ran.stderr());
    }
}

#[test]
fn without_an_editor_and_a_terminal_nothing_waits_for_keys() {
    let env = Env::new();
    let ran = env.run(["config", "edit"]).code(3);
    assert!(ran.stderr().contains("there is no terminal to open `vi` in"), "{}", ran.stderr());
    assert!(!env.workspace().join(".groundskeeper/config.yaml").exists());
}

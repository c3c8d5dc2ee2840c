//! The scripted model through the binary: what does not match is told, and each scripted error of a
//! provider has its exit code.

use pretty_assertions::assert_eq;

use crate::support::Env;

#[track_caller]
fn check(script: &str, code: i32, expected: &[&str]) {
    let env = Env::new().file("a.py", "x = 1\n").script(script);
    let ran = env.run(["ask", "what is here?"]).code(code);
    for text in expected {
        assert!(ran.stderr().contains(text), "{text:?} is not in:\n{}", ran.stderr());
    }
}

#[test]
fn a_script_sees_the_context_and_the_results_of_its_calls() {
    let env = Env::new().file("a.py", "x = 1\n").script(
        "steps:\n  - sees: [\"[Task]\", what is here?, \"[State]\", \"Mode: auto\"]\n    misses: [\"x = 1\"]\n    calls:\n      - {tool: terminal, with: {command: cat a.py}}\n  - sees: [\"x = 1\"]\n    says: One file.\n",
    );
    assert_eq!(env.run(["ask", "what is here?"]).code(0).stdout(), "One file.\n");
}

#[test]
fn a_request_that_does_not_match_ends_with_the_step_and_the_place() {
    check(
        "steps: [{sees: [Terminal directory of Babel], says: x}]",
        1,
        &["step 1: the request does not hold", "has only its start \"Terminal directory"],
    );
    check("steps: [{misses: [what is here], says: x}]", 1, &["must not hold \"what is here\""]);
    check("steps: []", 1, &["the script has no steps, and the model is asked again"]);
    check("steps: [{says: x}, {says: y}]", 1, &["one step was never asked for (1 of 2)"]);
}

#[test]
fn a_script_that_cannot_be_followed_is_a_wrong_configuration() {
    check("steps: [{say: x}]", 3, &["step 1: unknown key `say`; did you mean `says`?"]);
    check("steps: [", 3, &["is not YAML", "cause: "]);
    let env = Env::new().script("");
    let ran = env.run(["--model", "script:missing.yaml", "ask", "x"]).code(3);
    assert!(ran.stderr().contains("`missing.yaml` cannot be read"), "{}", ran.stderr());
}

#[test]
fn each_scripted_error_has_its_exit_code() {
    check("steps: [{fails: credentials}]", 3, &["the scripted key is refused", "hint: "]);
    check("steps: [{fails: endpoint}]", 4, &["the scripted endpoint cannot be reached"]);
    check("steps: [{fails: cut, says: Half}]", 4, &["the reply broke off"]);
    check("steps: [{fails: quota}]", 5, &["the scripted quota is used up", "hint: "]);
    check(
        "steps: [{fails: {kind: overflow, window: 4096}}, {says: It fits.}]",
        0,
        &["warning: The prompt did not fit the model"],
    );
}

#[test]
fn a_model_that_hangs_is_cut_off_by_the_limit_of_time() {
    let env = Env::new().script("steps: [{says: Half, fails: hangs}]");
    env.run(["--set", "limits.seconds=1", "ask", "x"]).code(6);
}

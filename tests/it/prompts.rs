//! The prompt files: the same names and placeholders in each language, and a project's own files
//! in their place.

#![expect(clippy::disallowed_methods, reason = "a test writes the files that it is about")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use groundskeeper::prompts::{Language, PromptError, Prompts};
use groundskeeper::support::template;
use groundskeeper::tools::NoteArgs;
use pretty_assertions::assert_eq;

const LANGUAGES: [Language; 2] = [Language::En, Language::Zh];

/// What the program fills in, by prompt; all others have no placeholder.
const PLACEHOLDERS: [(&str, &[&str]); 10] = [
    ("system", &["project"]),
    ("reminder", &["percent", "what"]),
    ("limit", &["what"]),
    (
        "digest",
        &["task", "earlier", "blockers", "states", "decisions", "failed", "said", "commands"],
    ),
    (
        "digest_with_summary",
        &["task", "earlier", "blockers", "states", "decisions", "failed", "summary"],
    ),
    ("compress", &["tokens"]),
    ("modes/auto", &["target"]),
    ("modes/explore", &["target"]),
    ("modes/analyze", &["target"]),
    ("modes/plan", &["target"]),
];

#[test]
fn every_language_has_the_same_files_and_the_program_embeds_all_of_them() {
    for language in LANGUAGES {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts").join(language.code());
        let embedded: BTreeSet<String> =
            Prompts::embedded(language).names().map(str::to_owned).collect();
        assert_eq!(files_in(&folder), embedded, "prompts/{}", language.code());
    }
}

#[test]
fn every_language_has_the_same_placeholders() {
    let expected: BTreeMap<&str, &[&str]> = PLACEHOLDERS.into_iter().collect();
    for language in LANGUAGES {
        let prompts = Prompts::embedded(language);
        for name in prompts.names() {
            let wanted: BTreeSet<String> =
                expected.get(name).into_iter().copied().flatten().map(|&n| n.to_owned()).collect();
            let found = template::placeholders(prompts.raw(name).unwrap());
            assert_eq!(found, wanted, "prompts/{}/{name}.md", language.code());
        }
    }
}

#[test]
fn every_prompt_is_worth_reading_and_can_be_filled() {
    for language in LANGUAGES {
        let prompts = Prompts::embedded(language);
        for name in prompts.names() {
            let raw = prompts.raw(name).unwrap();
            assert!(raw.chars().count() > 60, "prompts/{}/{name}.md is empty", language.code());
            let names = template::placeholders(raw);
            let values: Vec<_> = names.iter().map(|name| (name.as_str(), "FILLED")).collect();
            let filled = prompts.fill(name, &values).unwrap();
            assert_eq!(filled.matches("FILLED").count(), raw.matches("{{").count());
        }
    }
}

#[test]
fn chinese_prompts_are_chinese_and_english_ones_are_not() {
    for language in LANGUAGES {
        let prompts = Prompts::embedded(language);
        for name in prompts.names() {
            let raw = prompts.raw(name).unwrap();
            let found = raw.chars().filter(|c| ('\u{3400}'..='\u{9fff}').contains(c)).count();
            assert_eq!(found > 20, language == Language::Zh, "{}/{name}", language.code());
        }
    }
}

#[test]
fn the_note_prompts_name_every_action_type_and_status() {
    let words = "create read update search list summary delete task_state conclusion blocker \
                 action reference general open doing done superseded dropped";
    for language in LANGUAGES {
        let prompts = Prompts::embedded(language);
        let raw = prompts.raw("tools/note").unwrap();
        for word in words.split_whitespace() {
            assert!(raw.contains(&format!("`{word}`")), "{}: {word}", language.code());
        }
    }
}

#[test]
fn the_terminal_prompts_tell_of_the_same_commands() {
    let [english, chinese] = LANGUAGES.map(|language| {
        let prompts = Prompts::embedded(language);
        let raw = prompts.raw("tools/terminal").unwrap().to_owned();
        raw.split(|c: char| !c.is_ascii_lowercase() && c != '-' && c != '.' && c != '_')
            .filter(|word| word.len() > 1)
            .map(str::to_owned)
            .collect::<BTreeSet<_>>()
    });
    let book = "ls dir tree cat head tail less more find grep egrep fgrep wc sort uniq cut awk sed \
                pwd cd file stat du df echo which whereis git";
    for command in book.split_whitespace().filter(|command| *command != "git") {
        assert!(english.contains(command), "{command} is missing in English");
    }
    let only_chinese: Vec<_> = chinese.difference(&english).collect();
    assert_eq!(only_chinese, Vec::<&String>::new());
}

#[test]
fn the_terminal_prompts_name_every_command_of_the_rules() {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/terminal/rules.yaml");
    let rules = std::fs::read_to_string(rules).unwrap();
    let (_, commands) = rules.split_once("\ncommands:\n").unwrap();
    let keys = commands.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let keys: Vec<&str> = keys.map(|key| key.trim_matches('"')).collect();
    let keys = keys.into_iter().filter(|key| !key.starts_with(' '));
    // Other names of `awk` and `test`; a model knows the one.
    let keys: Vec<&str> = keys.filter(|key| !["gawk", "mawk", "["].contains(key)).collect();
    assert!(keys.len() > 40, "{keys:?}");
    for language in LANGUAGES {
        let prompts = Prompts::embedded(language);
        let raw = prompts.raw("tools/terminal").unwrap();
        let named: BTreeSet<&str> =
            raw.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
        for key in &keys {
            let is_named = key.split(' ').take(2).all(|word| named.contains(word));
            assert!(is_named, "{}: `{key}` is not named", language.code());
        }
    }
}

#[test]
fn the_note_prompts_name_every_parameter_of_the_tool() {
    let schema = serde_json::to_value(schemars::schema_for!(NoteArgs)).unwrap();
    let parameters = schema["properties"].as_object().unwrap();
    assert!(parameters.len() > 8, "{schema}");
    for language in LANGUAGES {
        let prompts = Prompts::embedded(language);
        let raw = prompts.raw("tools/note").unwrap();
        for parameter in parameters.keys() {
            assert!(raw.contains(&format!("`{parameter}`")), "{}: {parameter}", language.code());
        }
    }
}

#[test]
fn a_project_replaces_single_prompts_and_keeps_the_others() {
    let project = tempfile::tempdir().unwrap();
    let own = "Our own rules for {{project}}.\n";
    std::fs::write(project.path().join("system.md"), own).unwrap();
    let chinese = project.path().join("zh/modes");
    std::fs::create_dir_all(&chinese).unwrap();
    std::fs::write(chinese.join("plan.md"), "计划：{{target}}").unwrap();

    for language in LANGUAGES {
        let prompts = Prompts::embedded(language).overridden_by(project.path()).unwrap();
        let filled = prompts.fill("system", &[("project", "shop")]).unwrap();
        assert_eq!(filled, "Our own rules for shop.");
        let embedded = Prompts::embedded(language);
        assert_eq!(prompts.raw("output").unwrap(), embedded.raw("output").unwrap());
        let is_replaced = prompts.raw("modes/plan").unwrap() == "计划：{{target}}";
        assert_eq!(is_replaced, language == Language::Zh);
    }
}

#[test]
fn a_project_without_prompts_replaces_nothing() {
    let prompts = Prompts::embedded(Language::En);
    let same = prompts.clone().overridden_by(Path::new("/nonexistent/prompts")).unwrap();
    assert_eq!(same.raw("system").unwrap(), prompts.raw("system").unwrap());
}

#[test]
fn a_prompt_of_a_project_with_a_wrong_placeholder_is_an_error_that_names_both() {
    let project = tempfile::tempdir().unwrap();
    std::fs::write(project.path().join("limit.md"), b"{{wat}} {{what}}").unwrap();
    let prompts = Prompts::embedded(Language::En).overridden_by(project.path()).unwrap();
    let error = prompts.fill("limit", &[("what", "steps")]).unwrap_err();
    let PromptError::Template { name, source } = error else { panic!("{error}") };
    assert_eq!(
        (name.as_str(), source.to_string().as_str()),
        ("limit", "unknown placeholder `{{wat}}`")
    );
}

#[test]
fn a_prompt_of_a_project_that_is_not_text_is_an_error_that_names_the_file() {
    let project = tempfile::tempdir().unwrap();
    let path = project.path().join("output.md");
    std::fs::write(&path, b"\xff\xfe\x00").unwrap();
    let error = Prompts::embedded(Language::En).overridden_by(project.path()).unwrap_err();
    assert!(error.to_string().contains("output.md"), "{error}");
}

/// Returns the names of the prompt files of a folder: `modes/plan` for `modes/plan.md`.
fn files_in(folder: &Path) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.with_extension("");
            let name = name.strip_prefix(folder).unwrap_or(&name);
            names.insert(name.to_string_lossy().into_owned());
        }
    }
    names
}

//! Precedence, origins, and the sentences for wrong settings.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use pretty_assertions::assert_eq;

use super::*;
use crate::support::state_folder::StateFolder;

struct Setup {
    folder: tempfile::TempDir,
}

impl Setup {
    fn new(user: &str, project: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (place, text) in [("user", user), ("project", project)] {
            fs::create_dir(folder.path().join(place)).unwrap();
            if !text.is_empty() {
                #[expect(clippy::disallowed_methods, reason = "a test's own file")]
                fs::write(folder.path().join(place).join("config.yaml"), text).unwrap();
            }
        }
        Self { folder }
    }

    fn layers(&self) -> Result<Layers, ConfigError> {
        self.layers_in(Environment::default())
    }

    fn layers_in(&self, mut environment: Environment) -> Result<Layers, ConfigError> {
        environment.config_folder = Some(self.folder.path().join("user"));
        let project = self.folder.path().join("project");
        Layers::load(&StateFolder::of(Path::new("/nowhere"), Some(&project)), &environment)
    }

    #[track_caller]
    fn refused(&self, expected: &str) {
        let error = self.layers().and_then(|layers| layers.config()).unwrap_err();
        let text = error.to_string().replace(&self.folder.path().display().to_string(), "");
        assert_eq!(text, expected);
    }
}

#[test]
fn the_defaults_are_whole_and_right() {
    let config = Layers::defaults().unwrap().config().unwrap();
    assert_eq!((config.limits.steps, config.limits.seconds), (40, 900));
    assert_eq!(config.limits.prompt_tokens, 300_000);
    assert_eq!(config.terminal.sandbox, SandboxChoice::Auto);
    assert_eq!(config.terminal.timeout(), Duration::from_secs(30));
}

#[test]
fn the_later_layer_wins_and_its_origin_is_kept() {
    let setup = Setup::new(
        "limits: {steps: 7, seconds: 10}\nlang: zh\nmodel: offline",
        "limits:\n  steps: 9\n",
    );
    let environment = Environment { lang: Some("en".to_owned()), ..Environment::default() };
    let mut layers = setup.layers_in(environment).unwrap();
    layers.set_from_flag("limits.seconds=11").unwrap();
    let config = layers.config().unwrap();
    assert_eq!((config.limits.steps, config.limits.seconds), (9, 11));
    assert_eq!((config.lang, config.limits.refused_commands), (LanguageChoice::En, 8));
    let origin = |key: &str| layers.rows().find(|row| row.0 == key).unwrap().2.to_string();
    assert!(origin("limits.steps").contains("project"));
    assert_eq!(origin("limits.seconds"), "`--set`");
    assert_eq!(origin("lang"), "`GROUNDSKEEPER_LANG`");
    assert_eq!(origin("terminal.redact"), "the defaults");
}

#[test]
fn wrong_settings_get_a_sentence() {
    Setup::new("limits: {stepps: 3}", "")
        .refused("unknown key `limits.stepps` in `/user/config.yaml`");
    Setup::new("modle: x", "").refused("unknown key `modle` in `/user/config.yaml`");
    Setup::new("- a\n- b", "").refused(
        "the config file `/user/config.yaml` is not valid: it must be a mapping of keys to values",
    );
    Setup::new("limits: {steps: 0}", "")
        .refused("`limits.steps` in the settings: 0 is not possible, it must be at least 1");
    Setup::new("context: {min_relevance: 1.5}", "")
        .refused("`context`: `min_relevance` is 1.5, and must be between 0 and 1");
    Setup::new("context: {recency_weight: 0.5, relevance_weight: 0.7}", "").refused(
        "`context`: `recency_weight + relevance_weight` is 0.5 + 0.7, and must be 1 together",
    );
    Setup::new("context: {relevance_weight: 2}", "")
        .refused("`context`: `relevance_weight` is 2, and must be between 0 and 1");
    Setup::new(&format!("project: {}", "x".repeat(20_000)), "")
        .refused("the config file `/user/config.yaml` is not valid: it is longer than 16384 bytes");
    Setup::new("lang: fr", "").refused(
        "`lang` in `/user/config.yaml`: `fr` is not possible, it must be one of `en`, `zh`, `auto`",
    );
}

#[test]
fn one_weight_of_the_score_leaves_the_rest_to_the_other() {
    let weights = |user: &str, project: &str, flags: &[&str]| {
        let mut layers = Setup::new(user, project).layers().unwrap();
        for flag in flags {
            layers.set_from_flag(flag).unwrap();
        }
        let origin = layers.origin("context.relevance_weight").unwrap().to_string();
        let context = layers.config().unwrap().context;
        (context.recency_weight, context.relevance_weight, origin)
    };
    let follows = "what `context.recency_weight` leaves".to_owned();
    let recency = "context.recency_weight=0.1";
    assert_eq!(weights("", "", &[recency]), (0.1, 0.9, follows.clone()));
    let both = "context: {recency_weight: 0.5, relevance_weight: 0.5}";
    assert_eq!(weights(both, "", &[recency]), (0.1, 0.9, follows.clone()));
    assert_eq!(weights("", both, &["context.recency_weight=0.4", recency]), (0.1, 0.9, follows));
    let flag = "`--set`".to_owned();
    assert_eq!(weights(both, "", &["context.relevance_weight=1"]), (0.0, 1.0, flag.clone()));
    assert_eq!(weights("", "", &["context.relevance_weight=0.9", recency]), (0.1, 0.9, flag));
    let mut layers = Setup::new("", "").layers().unwrap();
    layers.set_from_flag(recency).unwrap();
    layers.set_from_flag("context.relevance_weight=0.5").unwrap();
    assert!(layers.config().is_err(), "both are set, and are not 1 together");
}

#[test]
fn a_cloned_repository_chooses_neither_sandbox_nor_model() {
    Setup::new("", "terminal: {sandbox: off}")
        .refused("the project's config file may not set `terminal.sandbox`");
    Setup::new("", "model: script:evil.yaml")
        .refused("the project's config file may not set `model`");
    assert!(Setup::new("terminal: {sandbox: off}", "").layers().is_ok(), "the user may");
}

#[test]
fn an_unknown_key_is_told_with_the_nearest() {
    let error = Setup::new("", "steps: 3").layers().unwrap_err();
    assert_eq!(error.hint().unwrap(), "did you mean `limits.steps`?");
    let error = Setup::new("", "zzzzzzzzzzzzzzzzzzzzzzzz: 3").layers().unwrap_err();
    assert_eq!(error.hint().unwrap(), "`groundskeeper config show` lists all keys");
    let mut layers = Layers::defaults().unwrap();
    assert!(matches!(layers.set_from_flag("steps"), Err(ConfigError::BadSet(_))));
}

#[test]
fn the_environment_is_read_by_name() {
    let environment = Environment::from_lookup(|name| match name {
        "HOME" => Some(OsString::from("/home/ann")),
        "GROUNDSKEEPER_MODEL" => Some(OsString::from("")),
        "NO_COLOR" => Some(OsString::from("1")),
        _ => None,
    });
    assert_eq!(environment.config_folder.unwrap(), Path::new("/home/ann/.config/groundskeeper"));
    assert_eq!(environment.model, None, "empty counts as unset");
    assert!(environment.no_color);
}

#[test]
fn a_value_of_the_wrong_kind_is_told_in_words() {
    #[track_caller]
    fn check(project: &str, expected: &str) {
        Setup::new("", project).refused(expected);
    }
    let file = "in `/project/config.yaml`";
    check(
        "limits: {steps: many}",
        &format!(
            "`limits.steps` {file}: `many` is not possible, it must be a whole number, 0 or more"
        ),
    );
    check(
        "limits: {steps: -3}",
        &format!(
            "`limits.steps` {file}: `-3` is not possible, it must be a whole number, 0 or more"
        ),
    );
    check(
        "limits: {steps: 1.5}",
        &format!(
            "`limits.steps` {file}: `1.5` is not possible, it must be a whole number, 0 or more"
        ),
    );
    check(
        "terminal: {redact: 1}",
        &format!("`terminal.redact` {file}: `1` is not possible, it must be `true` or `false`"),
    );
    check(
        "context: {min_relevance: '0.2'}",
        &format!("`context.min_relevance` {file}: `'0.2'` is not possible, it must be a number"),
    );
    check("project: [a]", &format!("`project` {file}: `- a` is not possible, it must be a text"));
}

#[test]
fn a_section_is_no_value_and_an_empty_one_sets_nothing() {
    let error = Setup::new("", "notes: 3").layers().unwrap_err().to_string();
    assert!(
        error.ends_with("it is a section and has no value of its own; it holds `notes.auto_notes`, `notes.blockers`, `notes.scorer`, `notes.search`"),
        "{error}"
    );
    let empty = Setup::new("", "limits:\nterminal: {}\n").layers().unwrap();
    assert_eq!(empty.config().unwrap(), Layers::defaults().unwrap().config().unwrap());
}

//! `endpoint.*`: which server is asked, and with which key.
//!
//! A key goes only where the person who set it meant it to go. It travels with the base URL that
//! was set beside it, so that a `.env` of a cloned repository, which may choose an URL, never
//! gets a key from anywhere else; a project's settings file may choose neither.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Config, ConfigError, Environment, Found, Layers, Origin};
use crate::model::ModelOptions;
use crate::model::openai::{ApiKey, BaseUrl, EndpointOptions, Preset};
use crate::model::retrying::RetryOptions;
use crate::support::nearest::nearest;

/// Where requests go when a key is set and no URL.
const OPENAI: &str = "https://api.openai.com/v1";

/// `endpoint.*`. The key itself is not among the settings, so that nothing can show it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointSettings {
    /// Where the server is; empty for OpenAI's.
    pub base_url: String,
    /// The profile of the own settings file that is laid over the rest.
    pub profile: String,
    /// The model that makes vectors of texts; empty for none.
    pub embedding_model: String,
    /// Whether there is a key in the own settings file; never the key.
    pub api_key: String,
    /// The environment variable that holds the key.
    pub api_key_env: String,
    /// The row of the table of servers, or `auto`.
    pub preset: String,
    /// Words that change the row.
    pub quirks: Vec<String>,
    /// Tokens that prompt and answer may have together; 0 to find out.
    pub window: usize,
    /// The longest answer in tokens; 0 to leave it to the server.
    pub max_output_tokens: u32,
    /// The sampling temperature.
    pub temperature: Option<f64>,
    /// Further fields of the request, as a JSON object.
    pub extra_body: String,
    /// Whether the answer comes in pieces.
    pub stream: bool,
    /// Seconds to wait for a connection.
    pub connect_timeout: u64,
    /// Seconds to wait for an answer to begin.
    pub first_byte_timeout: u64,
    /// Seconds of silence in an answer.
    pub idle_timeout: u64,
    /// A file of certificates that are trusted beside the system's.
    pub ca_file: String,
    /// How often a request is sent at most.
    pub tries: u32,
    /// The longest wait in seconds that a busy server may ask for.
    pub longest_wait: u64,
}

impl EndpointSettings {
    /// Checks what types cannot say.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (key, value) in [
            ("endpoint.connect_timeout", self.connect_timeout),
            ("endpoint.first_byte_timeout", self.first_byte_timeout),
            ("endpoint.idle_timeout", self.idle_timeout),
            ("endpoint.tries", u64::from(self.tries)),
        ] {
            if value == 0 {
                return Err(ConfigError::out_of_range(key, value, "at least 1"));
            }
        }
        if let Some(value) = self.temperature.filter(|value| !(0.0..=2.0).contains(value)) {
            return Err(ConfigError::out_of_range(
                "endpoint.temperature",
                value,
                "between 0 and 2",
            ));
        }
        Ok(())
    }
}

impl Layers {
    /// Returns what the model is made from.
    pub fn model_options(&self, environment: &Environment) -> Result<ModelOptions, ConfigError> {
        let config = self.config()?;
        let retry = RetryOptions {
            tries: config.endpoint.tries,
            longest_wait: Duration::from_secs(config.endpoint.longest_wait),
            time_limit: Duration::from_secs(config.limits.seconds),
            ..RetryOptions::default()
        };
        let endpoint = self.endpoint(&config, environment)?;
        let (model, folder, record) = (config.model, PathBuf::new(), None);
        Ok(ModelOptions { model, folder, endpoint, retry, record })
    }

    /// Returns the endpoint, if one is configured.
    fn endpoint(
        &self,
        config: &Config,
        environment: &Environment,
    ) -> Result<Option<EndpointOptions>, ConfigError> {
        let settings = &config.endpoint;
        let is_set = !settings.base_url.is_empty();
        let text = if is_set { settings.base_url.as_str() } else { OPENAI };
        let base = BaseUrl::parse(text)
            .map_err(|error| self.bad("endpoint.base_url", error.to_string()))?;
        let (key, belongs) = self.key(settings, &base, environment)?;
        // A key in the environment may be there for another program: without a model's name it
        // says nothing about this one.
        if !is_set && (key.is_none() || config.model.is_empty()) {
            return Ok(None);
        }
        let mut options = EndpointOptions::new(base, "", key);
        options.key_belongs = belongs;
        let embedding_model = settings.embedding_model.trim();
        options.embedding_model =
            Some(embedding_model.to_owned()).filter(|model| !model.is_empty());
        if settings.preset != "auto" {
            options.preset = Preset::named(&settings.preset).ok_or_else(|| {
                self.bad("endpoint.preset", unknown(&settings.preset, Preset::names()))
            })?;
        }
        for word in &settings.quirks {
            if !options.preset.change(word) {
                return Err(self.bad("endpoint.quirks", unknown(word, Preset::words())));
            }
        }
        options.window = Some(settings.window).filter(|window| *window > 0);
        options.assumed_window = Some(config.limits.window).filter(|window| *window > 0);
        options.max_output_tokens = Some(settings.max_output_tokens).filter(|most| *most > 0);
        options.temperature = settings.temperature;
        options.extra_body = self.extra_body(settings)?;
        options.stream = settings.stream;
        options.connect_timeout = Duration::from_secs(settings.connect_timeout);
        options.first_byte_timeout = Duration::from_secs(settings.first_byte_timeout);
        options.idle_timeout = Duration::from_secs(settings.idle_timeout);
        options.proxy = proxy(&options.base, environment);
        options.ca_file =
            Some(PathBuf::from(&settings.ca_file)).filter(|_| !settings.ca_file.is_empty());
        Ok(Some(options))
    }

    /// Returns the key that may go to the base URL, and the place where one belongs.
    fn key(
        &self,
        settings: &EndpointSettings,
        base: &BaseUrl,
        environment: &Environment,
    ) -> Result<(Option<ApiKey>, String), ConfigError> {
        let variables = &environment.variables;
        let url_origin = self.origin("endpoint.base_url");
        let beside = |name: &'static str, places: &[Found]| {
            let found = places.iter().find_map(|place| variables.get(*place, name));
            (found.map(|text| (text.to_owned(), format!("`{name}`"))), format!("`{name}`"))
        };
        let both = [Found::Process, Found::DotEnv];
        let declared = self.declared(settings, url_origin, environment)?;
        let (fallback, belongs) = match url_origin {
            Some(Origin::Environment("LLM_BASE_URL")) => beside("LLM_API_KEY", &both),
            Some(Origin::Environment(_)) => beside("OPENAI_API_KEY", &both),
            Some(Origin::DotEnv(name)) => {
                let name = if *name == "LLM_BASE_URL" { "LLM_API_KEY" } else { "OPENAI_API_KEY" };
                let (found, _) = beside(name, &[Found::DotEnv]);
                (found, format!("`{name}` in `.env`, beside the URL"))
            }
            Some(Origin::Flag(_)) => {
                let (first, belongs) = beside("OPENAI_API_KEY", &both);
                (first.or_else(|| beside("LLM_API_KEY", &both).0), belongs)
            }
            Some(
                Origin::User(_)
                | Origin::Profile(..)
                | Origin::Default
                | Origin::Project(_)
                | Origin::Follows(_),
            )
            | None => {
                let (first, belongs) = beside("OPENAI_API_KEY", &both);
                // A server of one's own needs no key of a hosted one.
                (first.filter(|_| !base.is_local()), belongs)
            }
        };
        let found = declared.or(fallback);
        let key = found.map(|(text, origin)| ApiKey::new(&text, origin)).transpose();
        let key = key.map_err(|error| self.bad("endpoint.api_key", error.to_string()))?;
        Ok((key, belongs))
    }

    /// Returns the key that was declared beside the URL, or by a flag.
    fn declared(
        &self,
        settings: &EndpointSettings,
        url_origin: Option<&Origin>,
        environment: &Environment,
    ) -> Result<Option<(String, String)>, ConfigError> {
        let goes_with = |origin: Option<&Origin>| {
            url_origin == Some(&Origin::Default)
                || origin == url_origin
                || matches!((origin, url_origin), (Some(Origin::Flag(_)), Some(Origin::Flag(_))))
        };
        if let Some((key, origin)) = self.stored_key()
            && goes_with(Some(origin))
        {
            return Ok(Some((key.reveal().to_owned(), format!("`endpoint.api_key` in {origin}"))));
        }
        let name = settings.api_key_env.as_str();
        if name.is_empty() || !goes_with(self.origin("endpoint.api_key_env")) {
            return Ok(None);
        }
        let places = [Found::Process, Found::DotEnv];
        let found = places.iter().find_map(|place| environment.variables.get(*place, name));
        let Some(text) = found else {
            let reason = format!("the environment has no variable `{name}`");
            return Err(self.bad("endpoint.api_key_env", reason));
        };
        Ok(Some((text.to_owned(), format!("`{name}`"))))
    }

    fn extra_body(&self, settings: &EndpointSettings) -> Result<Map<String, Value>, ConfigError> {
        if settings.extra_body.trim().is_empty() {
            return Ok(Map::new());
        }
        if let Ok(Value::Object(fields)) = serde_json::from_str(&settings.extra_body) {
            return Ok(fields);
        }
        let reason = "it must be a JSON object such as `{\"reasoning_effort\": \"low\"}`";
        Err(self.bad("endpoint.extra_body", reason.to_owned()))
    }

    fn bad(&self, key: &str, reason: String) -> ConfigError {
        let origin = self.origin(key).unwrap_or(&Origin::Default).to_string();
        ConfigError::BadValue { key: key.to_owned(), origin, reason }
    }
}

/// Returns the proxy that the environment names, without its user and password.
fn proxy(base: &BaseUrl, environment: &Environment) -> Option<String> {
    let names: [&str; 4] = if base.is_encrypted() {
        ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
    } else {
        ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"]
    };
    names.iter().find_map(|name| {
        let address = environment.variables.get(Found::Process, name)?;
        let address = address.rsplit('@').next().unwrap_or_default();
        Some(format!("the proxy {} of `{name}`", address.trim_start_matches("http://")))
    })
}

fn unknown(word: &str, known: impl IntoIterator<Item = &'static str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(word, known.iter().copied()) {
        Some(meant) => format!("there is no `{word}`; did you mean `{meant}`?"),
        None => format!("there is no `{word}`; the words are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::config::Variables;
    use crate::support::state_folder::StateFolder;

    /// What surrounds the program: its environment, a `.env`, the own file and the project's.
    #[derive(Default)]
    struct Around {
        process: &'static [(&'static str, &'static str)],
        dotenv: &'static [(&'static str, &'static str)],
        user: &'static str,
        project: &'static str,
        flags: &'static [&'static str],
    }

    impl Around {
        fn options(&self) -> Result<ModelOptions, ConfigError> {
            let (layers, environment, _folder) = self.layers()?;
            layers.model_options(&environment)
        }

        fn layers(&self) -> Result<(Layers, Environment, tempfile::TempDir), ConfigError> {
            let folder = tempfile::tempdir().unwrap();
            for (name, text) in [("user", self.user), ("project", self.project)] {
                std::fs::create_dir(folder.path().join(name)).unwrap();
                #[expect(clippy::disallowed_methods, reason = "a test's own file")]
                std::fs::write(folder.path().join(name).join("config.yaml"), text).unwrap();
            }
            let owned = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
                pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
            };
            let environment = Environment {
                config_folder: Some(folder.path().join("user")),
                profile: owned(self.process).get("GROUNDSKEEPER_PROFILE").cloned(),
                variables: Variables::new(owned(self.process), owned(self.dotenv)),
                ..Environment::default()
            };
            let project = folder.path().join("project");
            let state = StateFolder::of(folder.path(), Some(&project));
            let mut layers = Layers::load(&state, &environment)?;
            for flag in self.flags {
                layers.set_from_flag(flag)?;
            }
            Ok((layers, environment, folder))
        }

        /// Expects `model host key-origin`.
        #[track_caller]
        fn check(&self, expected: &str) {
            let options = self.options().unwrap();
            let found = match options.endpoint {
                None => format!("{} -", options.model),
                Some(endpoint) => {
                    let key = endpoint.key.map_or("-".to_owned(), |key| key.origin().to_owned());
                    format!("{} {} {}", options.model, endpoint.base.host(), key.replace('`', ""))
                }
            };
            let found = found.split(" in /").next().unwrap_or_default().trim().to_owned();
            assert_eq!(found, expected);
        }

        #[track_caller]
        fn refused(&self, expected: &str) {
            let error = self.options().unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    const KEY: (&str, &str) = ("OPENAI_API_KEY", "sk-1");
    const URL: (&str, &str) = ("OPENAI_BASE_URL", "https://llm.example.com/v1");
    const MODEL: (&str, &str) = ("OPENAI_MODEL", "m");

    #[test]
    fn nothing_configured_is_no_endpoint() {
        Around::default().check("-");
        Around { process: &[KEY], ..Around::default() }.check("-");
        Around { process: &[MODEL], ..Around::default() }.check("m -");
    }

    #[test]
    fn variables_of_both_names_are_understood() {
        Around { process: &[KEY, MODEL], ..Around::default() }
            .check("m api.openai.com OPENAI_API_KEY");
        Around { process: &[KEY, URL, MODEL], ..Around::default() }
            .check("m llm.example.com OPENAI_API_KEY");
        let chapter = &[
            ("LLM_API_KEY", "k"),
            ("LLM_BASE_URL", "https://ch.example.com/v1"),
            ("LLM_MODEL_ID", "c"),
            ("LLM_TIMEOUT", "60"),
        ];
        let around = Around { process: chapter, ..Around::default() };
        around.check("c ch.example.com LLM_API_KEY");
        let endpoint = around.options().unwrap().endpoint.unwrap();
        assert_eq!(endpoint.idle_timeout.as_secs(), 60);
        assert_eq!(endpoint.first_byte_timeout.as_secs(), 60);
        Around { dotenv: chapter, ..Around::default() }.check("c ch.example.com LLM_API_KEY");
    }

    #[test]
    fn a_key_never_goes_to_an_url_that_was_set_elsewhere() {
        let mixed = &[KEY, MODEL, ("LLM_BASE_URL", "https://ch.example.com/v1")];
        Around { process: mixed, ..Around::default() }.check("m ch.example.com -");
        // A cloned repository brings a `.env`.
        Around { process: &[KEY, MODEL], dotenv: &[URL], ..Around::default() }
            .check("m llm.example.com -");
        let user = "endpoint: {api_key: sk-2}";
        Around { dotenv: &[URL, MODEL], user, ..Around::default() }.check("m llm.example.com -");
        Around { process: &[URL, MODEL], user, ..Around::default() }.check("m llm.example.com -");
        Around { dotenv: &[URL, MODEL], flags: &["endpoint.api_key=k"], ..Around::default() }
            .check("m llm.example.com -");
        Around {
            process: &[KEY, MODEL],
            user: "endpoint: {base_url: 'http://localhost:11434'}",
            ..Around::default()
        }
        .check("m localhost:11434 -");
    }

    #[test]
    fn what_a_person_has_set_counts_more_than_a_dotenv() {
        let user = "model: own\nendpoint: {base_url: 'https://own.example.com/v1', api_key: sk-2}";
        Around { dotenv: &[URL, KEY, MODEL], user, ..Around::default() }
            .check("own own.example.com endpoint.api_key");
        Around {
            dotenv: &[URL, KEY, MODEL],
            process: &[("OPENAI_MODEL", "p")],
            ..Around::default()
        }
        .check("p llm.example.com OPENAI_API_KEY");
    }

    #[test]
    fn a_project_may_choose_nothing_of_an_endpoint() {
        for project in [
            "endpoint: {base_url: 'https://evil.example.com'}",
            "endpoint: {profile: work}",
            "endpoint: {api_key_env: AWS_SECRET_ACCESS_KEY}",
            "endpoint: {ca_file: evil.pem}",
            "endpoint: {embedding_model: evil}",
            "profiles: {work: {base_url: 'https://evil.example.com'}}",
        ] {
            Around { project, ..Around::default() }.refused("config file may not set");
        }
    }

    const PROFILES: &str = "profiles:\n  work: {base_url: 'https://w.example.com/v1', api_key_env: WORK_KEY, model: w}\n  \
         home: {base_url: 'http://localhost:8080', model: h, extra_body: {top_k: 5}, window: 4096}\n";

    #[test]
    fn a_profile_is_chosen_by_its_name() {
        let process = &[("WORK_KEY", "k"), KEY, ("GROUNDSKEEPER_PROFILE", "work")];
        Around { process, user: PROFILES, ..Around::default() }.check("w w.example.com WORK_KEY");
        let home = Around {
            process,
            user: PROFILES,
            flags: &["endpoint.profile=home"],
            ..Around::default()
        };
        home.check("h localhost:8080 -");
        let endpoint = home.options().unwrap().endpoint.unwrap();
        assert_eq!(endpoint.window, Some(4096));
        assert_eq!(endpoint.extra_body["top_k"], 5);
        Around { user: PROFILES, flags: &["endpoint.profile=hoem"], ..Around::default() }
            .refused("there is no profile `hoem`; there are home, work");
        Around { flags: &["endpoint.profile=x"], ..Around::default() }
            .refused("there are no profiles in your own settings file");
        Around { user: "profiles: {a: {base: x}}", ..Around::default() }
            .refused("unknown key `profiles.a.base`");
        Around { user: "profiles: [a]", ..Around::default() }.refused("it must be a mapping");
        Around { user: PROFILES, flags: &["endpoint.profile=work"], ..Around::default() }
            .refused("the environment has no variable `WORK_KEY`");
    }

    #[test]
    fn wrong_settings_get_a_sentence() {
        let check = |flag: &'static str, expected: &str| {
            let flags: &'static [&'static str] = Box::leak(Box::new([flag]));
            Around { process: &[KEY, URL, MODEL], flags, ..Around::default() }.refused(expected);
        };
        check("endpoint.base_url=ftp://x", "it must begin with `http://` or `https://`");
        check("endpoint.preset=olama", "did you mean `ollama`?");
        check("endpoint.quirks=[short_id]", "did you mean `short_ids`?");
        check("endpoint.extra_body=[1]", "it must be a mapping, or a JSON object as text");
        check("endpoint.extra_body=x", "it must be a JSON object");
        check("endpoint.temperature=3", "between 0 and 2");
        check("endpoint.tries=0", "at least 1");
        check("endpoint.idle_timeout=0", "at least 1");
        check("endpoint.api_key=[sk-secret]", "a key must be a text");
        let bad_key =
            Around { process: &[URL, MODEL, ("OPENAI_API_KEY", "sk 1")], ..Around::default() };
        bad_key.refused("the key from `OPENAI_API_KEY` has a blank");
    }

    #[test]
    fn no_key_is_ever_shown() {
        let user = "endpoint: {api_key: sk-verysecret}";
        let around =
            Around { process: &[("OPENAI_API_KEY", "sk-verysecret")], user, ..Around::default() };
        let (layers, environment, _folder) = around.layers().unwrap();
        let rows: Vec<String> = layers.rows().map(|row| format!("{row:?}")).collect();
        let options = layers.model_options(&environment).unwrap();
        let config = serde_json::to_string(&layers.config().unwrap()).unwrap();
        let all = format!("{rows:?} {layers:?} {environment:?} {options:?} {config}");
        assert!(!all.contains("verysecret"), "{all}");
        assert!(rows.iter().any(|row| row.contains("endpoint.api_key") && row.contains("***")));
    }
}

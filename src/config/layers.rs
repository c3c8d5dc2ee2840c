//! The layers and how they are laid over each other, with the origin of each value kept.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::kinds::{self, wrong_kind};
use super::{Config, ConfigError, Environment, Found};
use crate::model::openai::StoredKey;
use crate::support::nearest::nearest;
use crate::support::state_folder::StateFolder;
use crate::support::yaml::{self, Mapping, Value};

/// The defaults, which are also the list of all keys.
pub(super) const DEFAULTS: &str = include_str!("defaults.yaml");

/// Keys that a project's own file may not set.
const NOT_FOR_PROJECTS: [&str; 3] = ["model", "terminal.sandbox", "profiles"];

/// The sections that a project's own file may not touch at all.
const SECTIONS_NOT_FOR_PROJECTS: [&str; 2] = [ENDPOINT, "profiles."];

/// The two that are 1 together.
const WEIGHTS: [&str; 2] = ["context.recency_weight", "context.relevance_weight"];

/// The section of the endpoint.
const ENDPOINT: &str = "endpoint.";

/// The key whose value is kept apart and never shown.
const API_KEY: &str = "endpoint.api_key";

/// The key that chooses a profile.
const PROFILE: &str = "endpoint.profile";

/// The key whose value is a mapping of its own.
pub(super) const EXTRA_BODY: &str = "endpoint.extra_body";

/// A settings file is at most this long: YAML parsers are quadratic on hostile nesting.
const MOST_BYTES: u64 = 16 * 1024;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// `defaults.yaml`.
    Default,
    /// The user's file.
    User(PathBuf),
    /// The project's file.
    Project(PathBuf),
    /// A profile of the user's file, by its name.
    Profile(String, PathBuf),
    /// A variable in `.env` in the current folder.
    DotEnv(&'static str),
    /// An environment variable.
    Environment(&'static str),
    /// A flag of the command line.
    Flag(&'static str),
    /// Another setting, which leaves one value only.
    Follows(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("the defaults"),
            Self::User(path) | Self::Project(path) => write!(formatter, "`{}`", path.display()),
            Self::Profile(name, path) => {
                write!(formatter, "profile `{name}` in `{}`", path.display())
            }
            Self::DotEnv(name) => write!(formatter, "`{name}` in `.env`"),
            Self::Environment(name) | Self::Flag(name) => write!(formatter, "`{name}`"),
            Self::Follows(key) => write!(formatter, "what `{key}` leaves"),
        }
    }
}

/// The settings so far: the value of each dotted key, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers {
    values: BTreeMap<String, (Value, Origin)>,
    stored_key: Option<(StoredKey, Origin)>,
    profiles: BTreeMap<String, Mapping>,
    profiles_file: PathBuf,
}

impl Layers {
    /// Returns the defaults alone.
    pub fn defaults() -> Result<Self, ConfigError> {
        let path = Path::new("defaults.yaml");
        let mut values = BTreeMap::new();
        for (key, value) in leaves(&parse(DEFAULTS, path)?) {
            values.insert(key, (value, Origin::Default));
        }
        Ok(Self {
            values,
            stored_key: None,
            profiles: BTreeMap::new(),
            profiles_file: PathBuf::new(),
        })
    }

    /// Lays files and environment over the defaults; a file that is not there is no layer.
    pub fn load(state: &StateFolder, environment: &Environment) -> Result<Self, ConfigError> {
        let mut layers = Self::defaults()?;
        // `.env` comes with the current folder: what a person has set elsewhere counts more.
        layers.lay_variables(environment, Found::DotEnv)?;
        if let Some(folder) = &environment.config_folder {
            let path = folder.join("config.yaml");
            if let Some(mut mapping) = read_file(&path)? {
                layers.take_profiles(&mut mapping, &path)?;
                layers.lay(&mapping, &Origin::User(path))?;
            }
        }
        let path = state.config();
        if let Some(mapping) = read_file(&path)? {
            layers.lay(&mapping, &Origin::Project(path))?;
        }
        layers.lay_variables(environment, Found::Process)?;
        let variables = [
            ("model", &environment.model, "GROUNDSKEEPER_MODEL"),
            ("lang", &environment.lang, "GROUNDSKEEPER_LANG"),
            (PROFILE, &environment.profile, "GROUNDSKEEPER_PROFILE"),
        ];
        for (key, value, name) in variables {
            if let Some(value) = value {
                layers.set(key, Value::String(value.clone()), &Origin::Environment(name))?;
            }
        }
        Ok(layers)
    }

    /// Lays a `--set KEY=VALUE` over what is there; the value is read as YAML.
    pub fn set_from_flag(&mut self, assignment: &str) -> Result<(), ConfigError> {
        let bad = || ConfigError::BadSet(assignment.to_owned());
        let (key, value) = assignment.split_once('=').ok_or_else(bad)?;
        if value.len() as u64 > MOST_BYTES {
            return Err(bad());
        }
        let value = yaml::read(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        self.set(key.trim(), value, &Origin::Flag("--set"))
    }

    /// Sets one value.
    pub fn set(&mut self, key: &str, value: Value, origin: &Origin) -> Result<(), ConfigError> {
        if matches!(origin, Origin::Project(_)) && is_kept_back(key) {
            return Err(ConfigError::NotForProjects(key.to_owned()));
        }
        if !self.values.contains_key(key) {
            let prefix = format!("{key}.");
            let inner = self.values.keys().filter(|known| known.starts_with(&prefix));
            let inner: Vec<&str> = inner.map(String::as_str).collect();
            if !inner.is_empty() {
                // A section with nothing in it sets nothing.
                if matches!(&value, Value::Null | Value::Mapping(_)) {
                    return Ok(());
                }
                return Err(ConfigError::BadValue {
                    key: key.to_owned(),
                    origin: origin.to_string(),
                    reason: format!(
                        "it is a section and has no value of its own; it holds {}",
                        names(&inner)
                    ),
                });
            }
            return Err(ConfigError::UnknownKey {
                nearest: self.nearest(key),
                key: key.to_owned(),
                origin: origin.to_string(),
            });
        }
        let value = match key {
            API_KEY => self.put_away(value, origin)?,
            EXTRA_BODY => as_text(value),
            _ => value,
        };
        let before = self.values.insert(key.to_owned(), (value, origin.clone()));
        // Each value is tried as it comes, so that an error names its own place.
        if let Err(reason) = self.read() {
            let reason = self.in_words(key, before.as_ref(), reason);
            if let Some(before) = before {
                self.values.insert(key.to_owned(), before);
            }
            return Err(ConfigError::BadValue {
                key: key.to_owned(),
                origin: origin.to_string(),
                reason,
            });
        }
        self.let_follow(key, origin);
        if key == PROFILE { self.lay_profile() } else { Ok(()) }
    }

    /// Gives what one weight of a score leaves to the other, unless the same layer sets that too.
    fn let_follow(&mut self, key: &str, origin: &Origin) {
        let pairs = [WEIGHTS, [WEIGHTS[1], WEIGHTS[0]]];
        let Some([key, other]) = pairs.into_iter().find(|pair| pair[0] == key) else { return };
        if self.origin(other) == Some(origin) {
            return;
        }
        let value = self.values.get(key).and_then(|(value, _)| value.as_f64());
        if let Some(value) = value.filter(|value| (0.0..=1.0).contains(value)) {
            // As people write it: 0.3 and not 0.30000000000000004.
            let left = ((1.0 - value) * 1e9).round() / 1e9;
            self.values.insert(other.to_owned(), (Value::from(left), Origin::Follows(key)));
        }
    }

    /// Returns what is wrong with a value, in words.
    fn in_words(&self, key: &str, before: Option<&(Value, Origin)>, reason: String) -> String {
        let values = before.zip(self.values.get(key));
        let of_kind = values.and_then(|((before, _), (value, _))| wrong_kind(key, value, before));
        of_kind.unwrap_or_else(|| kinds::choice(reason))
    }

    /// Returns the settings, checked.
    pub fn config(&self) -> Result<Config, ConfigError> {
        let config = self.read().map_err(|reason| ConfigError::BadValue {
            key: "settings".to_owned(),
            origin: "all layers".to_owned(),
            reason,
        })?;
        config.check()?;
        Ok(config)
    }

    /// Returns each dotted key with its value and origin, sorted.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &Value, &Origin)> {
        self.values.iter().map(|(key, (value, origin))| (key.as_str(), value, origin))
    }

    /// Returns where a value comes from.
    pub(super) fn origin(&self, key: &str) -> Option<&Origin> {
        self.values.get(key).map(|(_, origin)| origin)
    }

    /// Returns the key that was stored, and where.
    pub(super) fn stored_key(&self) -> Option<(&StoredKey, &Origin)> {
        self.stored_key.as_ref().map(|(key, origin)| (key, origin))
    }

    fn lay(&mut self, mapping: &Mapping, origin: &Origin) -> Result<(), ConfigError> {
        let mut leaves = leaves(mapping);
        // A profile is laid over what stands beside it.
        leaves.sort_by_key(|(key, _)| key == PROFILE);
        for (key, value) in leaves {
            self.set(&key, value, origin)?;
        }
        Ok(())
    }

    /// Lays what the variables of one place say of an endpoint.
    fn lay_variables(
        &mut self,
        environment: &Environment,
        place: Found,
    ) -> Result<(), ConfigError> {
        let rows = [
            ("model", ["OPENAI_MODEL", "LLM_MODEL_ID"]),
            ("endpoint.base_url", ["OPENAI_BASE_URL", "LLM_BASE_URL"]),
            ("endpoint.idle_timeout", ["LLM_TIMEOUT", "LLM_TIMEOUT"]),
            ("endpoint.first_byte_timeout", ["LLM_TIMEOUT", "LLM_TIMEOUT"]),
        ];
        for (key, names) in rows {
            let Some((name, text)) = environment.variables.first(place, names) else { continue };
            let origin = match place {
                Found::Process => Origin::Environment(name),
                Found::DotEnv => Origin::DotEnv(name),
            };
            let value = match text.trim().parse::<u64>() {
                Ok(number) if key.starts_with(ENDPOINT) => Value::from(number),
                _ => Value::from(text.trim()),
            };
            self.set(key, value, &origin)?;
        }
        Ok(())
    }

    /// Takes the profiles out of the user's file. Each is looked at, also those that are not
    /// chosen.
    fn take_profiles(&mut self, mapping: &mut Mapping, path: &Path) -> Result<(), ConfigError> {
        let origin = Origin::User(path.to_owned()).to_string();
        let bad = |key: String| ConfigError::BadValue {
            key,
            origin: origin.clone(),
            reason: "it must be a mapping of settings of an endpoint".to_owned(),
        };
        let profiles = match mapping.remove("profiles") {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Mapping(profiles)) => profiles,
            Some(_) => return Err(bad("profiles".to_owned())),
        };
        for (name, profile) in profiles {
            let name = name.as_str().ok_or_else(|| bad("profiles".to_owned()))?.to_owned();
            let Value::Mapping(profile) = profile else {
                return Err(bad(format!("profiles.{name}")));
            };
            for (key, _) in leaves(&profile) {
                let known = profile_key(&key);
                if !self.values.contains_key(&known) || known == PROFILE {
                    return Err(ConfigError::UnknownKey {
                        nearest: self.nearest(&known),
                        key: format!("profiles.{name}.{key}"),
                        origin,
                    });
                }
            }
            self.profiles.insert(name, profile);
        }
        path.clone_into(&mut self.profiles_file);
        Ok(())
    }

    /// Lays the chosen profile over what is there.
    fn lay_profile(&mut self) -> Result<(), ConfigError> {
        let Some((Value::String(name), chosen)) = self.values.get(PROFILE).cloned() else {
            return Ok(());
        };
        if name.is_empty() {
            return Ok(());
        }
        let Some(profile) = self.profiles.get(&name).cloned() else {
            let names: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
            let reason = match names.as_slice() {
                [] => "there are no profiles in your own settings file".to_owned(),
                names => format!("there is no profile `{name}`; there are {}", names.join(", ")),
            };
            let (key, origin) = (PROFILE.to_owned(), chosen.to_string());
            return Err(ConfigError::BadValue { key, origin, reason });
        };
        let origin = Origin::Profile(name, self.profiles_file.clone());
        for (key, value) in leaves(&profile) {
            self.set(&profile_key(&key), value, &origin)?;
        }
        Ok(())
    }

    /// Keeps a key apart; what stays among the values only tells that there is one.
    fn put_away(&mut self, value: Value, origin: &Origin) -> Result<Value, ConfigError> {
        // The usual message of a wrong type would quote the key.
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Null => String::new(),
            _ => {
                return Err(ConfigError::BadValue {
                    key: API_KEY.to_owned(),
                    origin: origin.to_string(),
                    reason: "a key must be a text".to_owned(),
                });
            }
        };
        let shown = if text.trim().is_empty() { "" } else { "***" };
        self.stored_key = match shown {
            "" => None,
            _ => Some((StoredKey::from(text), origin.clone())),
        };
        Ok(Value::from(shown))
    }

    /// Returns the key that may have been meant: a mistyped one, or one without its section.
    fn nearest(&self, key: &str) -> Option<String> {
        let keys = || self.values.keys().map(String::as_str);
        let last = |key: &str| key.rsplit('.').next().map(str::to_owned);
        let bare = keys().find(|known| last(known).as_deref() == Some(key));
        bare.or_else(|| nearest(key, keys())).map(str::to_owned)
    }

    fn read(&self) -> Result<Config, String> {
        let mut tree = Mapping::new();
        for (key, (value, _)) in &self.values {
            let key = key.as_str();
            match key.split_once('.') {
                None => {
                    tree.insert(Value::from(key), value.clone());
                }
                Some((section, name)) => {
                    let entry = tree.entry(Value::from(section));
                    let section = entry.or_insert_with(|| Value::Mapping(Mapping::new()));
                    if let Value::Mapping(section) = section {
                        section.insert(Value::from(name), value.clone());
                    }
                }
            }
        }
        serde::Deserialize::deserialize(Value::Mapping(tree))
            .map_err(|error: yaml::Error| error.to_string())
    }
}

fn read_file(path: &Path) -> Result<Option<Mapping>, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { path: path.to_owned(), source };
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.len() > MOST_BYTES => {
            return Err(ConfigError::NotYaml {
                path: path.to_owned(),
                reason: format!("it is longer than {MOST_BYTES} bytes"),
            });
        }
        Ok(_) => {}
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    parse(&text, path).map(Some)
}

fn parse(text: &str, path: &Path) -> Result<Mapping, ConfigError> {
    let not_yaml = |reason: String| ConfigError::NotYaml { path: path.to_owned(), reason };
    match yaml::read(text).map_err(|error| not_yaml(error.to_string()))? {
        Value::Mapping(mapping) => Ok(mapping),
        Value::Null => Ok(Mapping::new()),
        _ => Err(not_yaml("it must be a mapping of keys to values".to_owned())),
    }
}

/// Returns whether a key is not for a project's own file.
pub(super) fn is_kept_back(key: &str) -> bool {
    NOT_FOR_PROJECTS.contains(&key)
        || SECTIONS_NOT_FOR_PROJECTS.iter().any(|section| key.starts_with(section))
}

/// Returns names as a list in a sentence.
fn names(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns whether a mapping under a key is a value: in the section, or in a profile.
fn is_one_value(key: &str) -> bool {
    key == EXTRA_BODY || Some(key) == EXTRA_BODY.strip_prefix(ENDPOINT)
}

/// Returns the dotted key of a profile's key: `model`, or one of the endpoint.
fn profile_key(key: &str) -> String {
    if key == "model" { key.to_owned() } else { format!("{ENDPOINT}{key}") }
}

/// Returns a mapping as the JSON text that the setting holds.
fn as_text(value: Value) -> Value {
    match &value {
        Value::Mapping(_) => serde_json::to_string(&value).map_or(value, Value::from),
        _ => value,
    }
}

/// Returns the values of a mapping with dotted keys, in its order.
fn leaves(mapping: &Mapping) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    collect(mapping, "", &mut found);
    found
}

fn collect(mapping: &Mapping, prefix: &str, found: &mut Vec<(String, Value)>) {
    for (key, value) in mapping {
        let key = match key {
            Value::String(key) => format!("{prefix}{key}"),
            other => format!("{prefix}{}", yaml::write(other).unwrap_or_default().trim()),
        };
        match value {
            Value::Mapping(inner) if !inner.is_empty() && !is_one_value(&key) => {
                collect(inner, &format!("{key}."), found);
            }
            _ => found.push((key, value.clone())),
        }
    }
}

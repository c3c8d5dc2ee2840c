//! The layers and how they are laid over each other, with the origin of each value kept.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::{Config, ConfigError, Environment};
use crate::support::nearest::nearest;
use crate::support::state_folder::StateFolder;
use crate::support::yaml::{self, Mapping, Value};

/// The defaults, which are also the list of all keys.
const DEFAULTS: &str = include_str!("defaults.yaml");

/// Keys that a project's own file may not set.
const NOT_FOR_PROJECTS: [&str; 2] = ["model", "terminal.sandbox"];

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
    /// An environment variable.
    Environment(&'static str),
    /// A flag of the command line.
    Flag(&'static str),
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("the defaults"),
            Self::User(path) | Self::Project(path) => write!(formatter, "`{}`", path.display()),
            Self::Environment(name) | Self::Flag(name) => write!(formatter, "`{name}`"),
        }
    }
}

/// The settings so far: the value of each dotted key, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Layers {
    values: BTreeMap<String, (Value, Origin)>,
}

impl Layers {
    /// Returns the defaults alone.
    pub fn defaults() -> Result<Self, ConfigError> {
        let path = Path::new("defaults.yaml");
        let mut values = BTreeMap::new();
        for (key, value) in leaves(&parse(DEFAULTS, path)?) {
            values.insert(key, (value, Origin::Default));
        }
        Ok(Self { values })
    }

    /// Lays files and environment over the defaults; a file that is not there is no layer.
    pub fn load(state: &StateFolder, environment: &Environment) -> Result<Self, ConfigError> {
        let mut layers = Self::defaults()?;
        if let Some(folder) = &environment.config_folder {
            let path = folder.join("config.yaml");
            if let Some(mapping) = read_file(&path)? {
                layers.lay(&mapping, &Origin::User(path))?;
            }
        }
        let path = state.config();
        if let Some(mapping) = read_file(&path)? {
            layers.lay(&mapping, &Origin::Project(path))?;
        }
        let variables = [
            ("model", &environment.model, "GROUNDSKEEPER_MODEL"),
            ("lang", &environment.lang, "GROUNDSKEEPER_LANG"),
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
        if !self.values.contains_key(key) {
            return Err(ConfigError::UnknownKey {
                nearest: self.nearest(key),
                key: key.to_owned(),
                origin: origin.to_string(),
            });
        }
        if matches!(origin, Origin::Project(_)) && NOT_FOR_PROJECTS.contains(&key) {
            return Err(ConfigError::NotForProjects(key.to_owned()));
        }
        let before = self.values.insert(key.to_owned(), (value, origin.clone()));
        // Each value is tried as it comes, so that an error names its own place.
        if let Err(reason) = self.read() {
            if let Some(before) = before {
                self.values.insert(key.to_owned(), before);
            }
            return Err(ConfigError::BadValue {
                key: key.to_owned(),
                origin: origin.to_string(),
                reason,
            });
        }
        Ok(())
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

    fn lay(&mut self, mapping: &Mapping, origin: &Origin) -> Result<(), ConfigError> {
        for (key, value) in leaves(mapping) {
            self.set(&key, value, origin)?;
        }
        Ok(())
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
            Value::Mapping(inner) if !inner.is_empty() => collect(inner, &format!("{key}."), found),
            _ => found.push((key, value.clone())),
        }
    }
}

//! The environment, read in this one file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::dotenv;
use super::variables::Variables;

/// What the program takes from its surroundings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// The person's home folder, `$HOME`.
    pub home: Option<PathBuf>,
    /// The user's config folder: `$XDG_CONFIG_HOME/groundskeeper`, else `$HOME/.config/…`.
    pub config_folder: Option<PathBuf>,
    /// Where the program keeps what is the user's and no repository's:
    /// `$XDG_STATE_HOME/groundskeeper`, else `$HOME/.local/state/…`.
    pub user_state: Option<PathBuf>,
    /// `GROUNDSKEEPER_STATE_DIR`.
    pub state_dir: Option<PathBuf>,
    /// `GROUNDSKEEPER_MODEL`.
    pub model: Option<String>,
    /// `GROUNDSKEEPER_LANG`.
    pub lang: Option<String>,
    /// `GROUNDSKEEPER_PROFILE`.
    pub profile: Option<String>,
    /// All variables, for those that name an endpoint and its key.
    pub variables: Variables,
    /// `GROUNDSKEEPER_CLOCK`: a time at which the clock stands still, for tests and examples.
    pub clock: Option<String>,
    /// `NO_COLOR` is set, or `TERM` is `dumb`.
    pub no_color: bool,
    /// `VISUAL`, else `EDITOR`: the person's editor, with its arguments.
    pub editor: Option<OsString>,
    /// `TERM` is `dumb`, or there is none: what was written cannot be written over.
    pub dumb: bool,
    /// The program's own file, for the jail's helper.
    pub program: Option<PathBuf>,
}

impl Environment {
    /// Reads the process's environment.
    pub fn of_process() -> Self {
        let mut environment = Self::from_lookup(lookup);
        environment.program = std::env::current_exe().ok();
        environment.variables = Variables::new(all_variables(), dotenv::read(Path::new(".env")));
        environment
    }

    /// Reads the `.env` at the top of a workspace for somebody who stands in a folder below it
    /// that has none.
    pub fn stand_in(&mut self, workspace: &Path) {
        self.variables.or_dotenv(|| dotenv::read(&workspace.join(".env")));
    }

    /// Reads variables by name; an empty one counts as unset.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> Self {
        let get = |name: &str| lookup(name).filter(|value| !value.is_empty());
        let text = |name: &str| get(name).map(|value| value.to_string_lossy().into_owned());
        let absolute = |name: &str| get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = absolute("HOME");
        let in_home = |name: &str| home.as_ref().map(|home| home.join(name));
        let config = absolute("XDG_CONFIG_HOME").or_else(|| in_home(".config"));
        let state = absolute("XDG_STATE_HOME").or_else(|| in_home(".local/state"));
        let term = text("TERM");
        Self {
            user_state: state.map(|folder| folder.join("groundskeeper")),
            dumb: term.as_deref().is_none_or(|term| term == "dumb"),
            config_folder: config.map(|folder| folder.join("groundskeeper")),
            state_dir: get("GROUNDSKEEPER_STATE_DIR").map(PathBuf::from),
            model: text("GROUNDSKEEPER_MODEL"),
            lang: text("GROUNDSKEEPER_LANG"),
            profile: text("GROUNDSKEEPER_PROFILE"),
            variables: Variables::default(),
            clock: text("GROUNDSKEEPER_CLOCK"),
            editor: get("VISUAL").or_else(|| get("EDITOR")),
            no_color: get("NO_COLOR").is_some() || term.as_deref() == Some("dumb"),
            program: None,
            home,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn lookup(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Returns the process's variables that are text.
fn all_variables() -> BTreeMap<String, String> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

//! Environment variables by name, from the process and from `.env`. They may hold keys, so they
//! are never shown.

use std::collections::BTreeMap;
use std::fmt;

/// Where a variable was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// In the process's environment.
    Process,
    /// In `.env` in the current folder, or at the top of the workspace around it.
    DotEnv,
}

/// The variables. An empty one counts as unset.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Variables {
    process: BTreeMap<String, String>,
    dotenv: BTreeMap<String, String>,
}

impl Variables {
    /// Returns the variables of both places.
    pub fn new(process: BTreeMap<String, String>, dotenv: BTreeMap<String, String>) -> Self {
        Self { process, dotenv }
    }

    /// Takes those of another `.env` where there were none.
    pub(super) fn or_dotenv(&mut self, read: impl FnOnce() -> BTreeMap<String, String>) {
        if self.dotenv.is_empty() {
            self.dotenv = read();
        }
    }

    /// Returns a variable of one place.
    pub fn get(&self, place: Found, name: &str) -> Option<&str> {
        let variables = match place {
            Found::Process => &self.process,
            Found::DotEnv => &self.dotenv,
        };
        variables.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }

    /// Returns the first of some variables that one place has, with its name.
    pub(super) fn first(
        &self,
        place: Found,
        names: [&'static str; 2],
    ) -> Option<(&'static str, &str)> {
        names.into_iter().find_map(|name| Some((name, self.get(place, name)?)))
    }
}

impl fmt::Debug for Variables {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (process, dotenv) = (self.process.len(), self.dotenv.len());
        write!(formatter, "Variables({process} of the process, {dotenv} of .env)")
    }
}

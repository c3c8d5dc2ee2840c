//! The text that a new config file begins with: every key that may stand there, commented out,
//! with its default and what it is for.

use super::layers::{DEFAULTS, is_kept_back};

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigFile {
    /// The project's, which comes with a clone and may not choose everything.
    Project,
    /// The user's own, for all projects.
    User,
}

/// Returns the text of a new file. Nothing in it is set.
pub fn template(file: ConfigFile) -> String {
    let of = match file {
        ConfigFile::Project => "for this project, under Git",
        ConfigFile::User => "for all your projects",
    };
    let mut text = format!(
        "# Settings of groundskeeper {of}.\n# Take the `# ` from a line, and from the line of its section, to set it.\n\n"
    );
    let mut section = "";
    let mut is_first_of_section = true;
    for line in DEFAULTS.lines().filter(|line| !line.starts_with('#')) {
        let is_inner = line.starts_with(' ');
        let Some((key, rest)) = line.trim_start().split_once(':') else { continue };
        if !is_inner && rest.is_empty() {
            (section, is_first_of_section) = (key, true);
            continue;
        }
        let dotted = if is_inner { format!("{section}.{key}") } else { key.to_owned() };
        if file == ConfigFile::Project && is_kept_back(&dotted) {
            continue;
        }
        if is_inner && std::mem::take(&mut is_first_of_section) {
            text.extend(["# ", section, ":\n"]);
        }
        text.extend(["# ", line, "\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::support::yaml::{self, Value};

    #[track_caller]
    fn uncommented(file: ConfigFile) -> Value {
        let text = template(file);
        let lines = text.lines().skip(3).map(|line| line.strip_prefix("# ").unwrap());
        yaml::read(&lines.collect::<Vec<_>>().join("\n")).unwrap()
    }

    #[test]
    fn the_users_file_has_every_default_commented_out() {
        assert_eq!(yaml::read::<Value>(&template(ConfigFile::User)).unwrap(), Value::Null);
        assert_eq!(uncommented(ConfigFile::User), yaml::read::<Value>(DEFAULTS).unwrap());
    }

    #[test]
    fn a_projects_file_offers_nothing_that_it_may_not_set() {
        let settings = uncommented(ConfigFile::Project);
        for absent in ["model", "endpoint"] {
            assert!(settings.get(absent).is_none(), "{absent}");
        }
        assert!(settings["terminal"].get("sandbox").is_none());
        assert_eq!(settings["terminal"]["redact"], Value::Bool(true));
        assert_eq!(settings["limits"]["steps"], Value::from(40));
    }
}

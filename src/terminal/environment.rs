//! What a command finds in its environment: fixed values and nothing of ours. No key, token or
//! path of the person who runs the agent is ever there.
//!
//! Git gets pins on top, because a repository's own configuration is hostile code: hooks,
//! monitors, filters, pagers, signers and lazy fetches that it names must never run.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::plan::Invocation;
use crate::support::paths::Workspace;

/// The folders that programs come from, in this order.
pub(super) const PATH: &str = "/usr/bin:/bin:/usr/local/bin";

/// The hash of the empty tree, which every Git knows without looking: attributes come from it,
/// so no file of the repository can ask for a driver.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
/// The same where objects are named by SHA-256.
const EMPTY_TREE_SHA256: &str = "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321";

/// Configuration that no file of a repository can override.
const GIT_PINS: &[(&str, &str)] = &[
    // What would run a program.
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.askPass", ""),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.alternateRefsCommand", "false"),
    ("core.attributesFile", "/dev/null"),
    ("credential.helper", ""),
    ("gpg.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.x509.program", "false"),
    ("log.showSignature", "false"),
    // What would write while it merges again.
    ("log.diffMerges", "separate"),
    ("interactive.diffFilter", ""),
    ("uploadpack.packObjectsHook", ""),
    // What would look into submodules, which takes a second Git.
    ("diff.ignoreSubmodules", "dirty"),
    ("diff.submodule", "short"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
    // What would write.
    ("diff.autoRefreshIndex", "false"),
    ("core.untrackedCache", "keep"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    // What would talk to the network.
    ("protocol.allow", "never"),
    // What would make the output hard to read.
    ("color.ui", "false"),
    ("column.ui", "never"),
    ("core.quotePath", "false"),
    ("advice.detachedHead", "false"),
    // What keeps a large history inside the limit of memory.
    ("core.packedGitWindowSize", "64m"),
    ("core.packedGitLimit", "1g"),
];

/// Returns every variable of a command.
pub(super) fn variables(invocation: &Invocation, git: &GitFacts) -> Vec<(OsString, OsString)> {
    let fixed = [
        ("PATH", PATH),
        ("HOME", "/nonexistent"),
        ("LANG", "C.UTF-8"),
        ("LC_ALL", "C.UTF-8"),
        ("TZ", "UTC"),
        ("TERM", "dumb"),
        ("NO_COLOR", "1"),
        ("PAGER", "cat"),
    ];
    let mut variables: Vec<(OsString, OsString)> =
        fixed.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
    if invocation.git {
        variables.extend(git_variables(invocation, git));
    }
    variables
}

/// What the pins need to know of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GitFacts {
    /// The workspace's root.
    pub(super) root: std::path::PathBuf,
    /// Whether its objects are named by SHA-256.
    pub(super) sha256: bool,
}

impl GitFacts {
    /// Looks at the repository's configuration, which may be missing or anything.
    pub(super) fn of(workspace: &Workspace) -> Self {
        let root = workspace.root().to_owned();
        let elsewhere = workspace.git_elsewhere().iter().cloned();
        let folders = elsewhere.chain([root.join(".git")]);
        let sha256 =
            folders.map(|folder| folder.join("config")).any(|config| names_sha256(&config));
        Self { root, sha256 }
    }
}

fn names_sha256(config: &Path) -> bool {
    const MOST: u64 = 1 << 20;
    // Something else than a file might never answer.
    if !config.metadata().is_ok_and(|facts| facts.is_file() && facts.len() <= MOST) {
        return false;
    }
    let config = std::fs::read(config).unwrap_or_default();
    String::from_utf8_lossy(&config).to_lowercase().lines().any(|line| {
        let line: String = line.split_whitespace().collect();
        line == "objectformat=sha256"
    })
}

fn git_variables(invocation: &Invocation, git: &GitFacts) -> Vec<(OsString, OsString)> {
    let pair = |key: &str, value: &str| (OsString::from(key), OsString::from(value));
    let mut variables = vec![
        pair("GIT_CONFIG_NOSYSTEM", "1"),
        pair("GIT_CONFIG_SYSTEM", "/dev/null"),
        pair("GIT_CONFIG_GLOBAL", "/dev/null"),
        pair("GIT_ATTR_NOSYSTEM", "1"),
        pair("GIT_OPTIONAL_LOCKS", "0"),
        pair("GIT_NO_LAZY_FETCH", "1"),
        pair("GIT_TERMINAL_PROMPT", "0"),
        pair("GIT_ALLOW_PROTOCOL", ""),
        pair("GIT_PAGER", "cat"),
        pair("GIT_EDITOR", "false"),
        pair("GIT_SEQUENCE_EDITOR", "false"),
        pair("GIT_ASKPASS", "false"),
        pair("SSH_ASKPASS", "false"),
        pair("GIT_SSH_COMMAND", "false"),
    ];
    // `git check-attr` is asked for the very attributes that are kept away from everything else;
    // it runs no driver.
    if !invocation.arguments.iter().any(|argument| argument == "check-attr") {
        let tree = if git.sha256 { EMPTY_TREE_SHA256 } else { EMPTY_TREE };
        variables.push(pair("GIT_ATTR_SOURCE", tree));
    }
    // A repository that lies around the workspace is outside: Git must not climb to it.
    let above = git.root.parent().unwrap_or(Path::new("/"));
    variables.push((OsString::from("GIT_CEILING_DIRECTORIES"), above.as_os_str().to_owned()));
    let mut below = git.root.clone().into_os_string();
    below.push("/*");
    let pins = GIT_PINS.iter().map(|(key, value)| (*key, OsStr::new(value).to_owned()));
    let safe = [git.root.clone().into_os_string(), below].map(|path| ("safe.directory", path));
    let mut count = 0;
    for (key, value) in pins.chain(safe) {
        variables.push((format!("GIT_CONFIG_KEY_{count}").into(), key.into()));
        variables.push((format!("GIT_CONFIG_VALUE_{count}").into(), value));
        count += 1;
    }
    variables.push(pair("GIT_CONFIG_COUNT", &count.to_string()));
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(variables: &[(OsString, OsString)], key: &str) -> Option<String> {
        let found = variables.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.to_string_lossy().into_owned())
    }

    fn invocation(arguments: &[&str], git: bool) -> Invocation {
        Invocation {
            program: "/usr/bin/x".into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            git,
        }
    }

    fn facts() -> GitFacts {
        GitFacts { root: "/home/ann/shop".into(), sha256: false }
    }

    #[test]
    fn a_command_gets_fixed_values_and_nothing_else() {
        let variables = variables(&invocation(&["ls"], false), &facts());
        let names: Vec<_> = variables.iter().map(|(key, _)| key.to_string_lossy()).collect();
        let fixed = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TERM", "NO_COLOR", "PAGER"];
        assert_eq!(names, fixed);
    }

    #[test]
    fn git_is_pinned_and_does_not_climb_out() {
        let variables = variables(&invocation(&["git", "status"], true), &facts());
        assert_eq!(find(&variables, "GIT_CEILING_DIRECTORIES").as_deref(), Some("/home/ann"));
        assert_eq!(find(&variables, "GIT_ATTR_SOURCE").as_deref(), Some(EMPTY_TREE));
        let count = GIT_PINS.len() + 2;
        assert_eq!(find(&variables, "GIT_CONFIG_COUNT"), Some(count.to_string()));
        let last = format!("GIT_CONFIG_VALUE_{}", count - 1);
        assert_eq!(find(&variables, &last).as_deref(), Some("/home/ann/shop/*"));
        // An empty external differ would break `git diff A B`.
        assert!(!GIT_PINS.iter().any(|(key, _)| *key == "diff.external"));
    }

    #[test]
    fn attributes_can_be_asked_for() {
        let variables = variables(&invocation(&["git", "check-attr", "-a", "x"], true), &facts());
        assert_eq!(find(&variables, "GIT_ATTR_SOURCE"), None);
    }
}

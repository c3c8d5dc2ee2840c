//! Where things are: the folder that is looked after, where in it the person stands, and what they
//! mean by a path.
//!
//! Who names a folder with `-C` means that folder and stands in it; everybody else means the
//! repository around the current folder. Nothing is made here.

use std::io::Write;
use std::path::{Component, Path};

use super::args::GlobalArgs;
use super::wiring::Setup;
use super::{CliError, ExitKind};
use crate::config::Environment;
use crate::support::paths::{
    PathProblem, Workspace, WorkspacePath, resolved_folder, workspace_around,
};
use crate::support::state_folder::StateFolder;

/// Resolves the workspace and its state folder.
pub(super) fn places(
    args: &GlobalArgs,
    environment: &Environment,
) -> Result<(Workspace, StateFolder), CliError> {
    let around = || workspace_around(Path::new("."), environment.home.as_deref());
    let folder = args.directory.clone().unwrap_or_else(around);
    let workspace = Workspace::open(&folder).map_err(|error| {
        CliError::from_error(ExitKind::Usage, &error).with_hint("`-C DIR` names the repository")
    })?;
    let asked_for = args.state_dir.as_deref().or(environment.state_dir.as_deref());
    let state = StateFolder::of_workspace(&workspace, asked_for);
    state.check().map_err(|error| {
        CliError::new(ExitKind::Store, error.to_string())
            .with_hint("`--state-dir DIR` keeps notes and sessions elsewhere")
    })?;
    Ok((workspace, state))
}

/// Returns where in the workspace the person stands: who names a folder stands in it.
pub(super) fn here(args: &GlobalArgs, workspace: &Workspace) -> WorkspacePath {
    let folder = match (&args.directory, resolved_folder(Path::new("."))) {
        (None, Some(current)) => workspace.folder(&workspace.top(), &current).ok().flatten(),
        _ => None,
    };
    folder.unwrap_or_else(|| workspace.top())
}

/// Says which folder is looked after, where that is not the one in which the person stands.
pub(super) fn tell_of_workspace(setup: &Setup) {
    if setup.here != setup.workspace.top() {
        let root = setup.workspace.root().display();
        let told = format!("note: `{root}` is looked after; `-C .` means this folder alone");
        // Nobody is left to tell when stderr is closed.
        drop(writeln!(anstream::stderr(), "{told}"));
    }
}

/// Returns a target as the workspace names it: a person names a path from where they stand.
pub(super) fn target(setup: &Setup, asked_for: &str) -> Result<String, CliError> {
    let text = asked_for.trim();
    let path = Path::new(text);
    let leaves = path.is_absolute() || path.components().any(|part| part == Component::ParentDir);
    let is_plain = setup.here == setup.workspace.top() && !leaves;
    if text.is_empty() || is_plain {
        return Ok(asked_for.to_owned());
    }
    let root = setup.workspace.root();
    match setup.workspace.resolve(&setup.here, path) {
        Ok(found) if found.symlink_metadata().is_ok() => {
            let inside = found.strip_prefix(root).ok().and_then(Path::to_str);
            Ok(inside.map_or_else(|| asked_for.to_owned(), str::to_owned))
        }
        Err(PathProblem::Outside) if leaves && exists_from(setup, path) => {
            let message = format!("`{text}` is not in the workspace `{}`", root.display());
            Err(CliError::new(ExitKind::Usage, message)
                .with_hint(format!("`-C {text}` looks after that folder instead")))
        }
        _ => Ok(asked_for.to_owned()),
    }
}

/// Returns whether there is something at a path, seen from where the person stands.
fn exists_from(setup: &Setup, path: &Path) -> bool {
    setup.workspace.absolute(&setup.here).join(path).symlink_metadata().is_ok()
}

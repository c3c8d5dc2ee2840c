//! `init [--git]`: prepares the state folder, and Git's merging of notes when that is asked for.

use std::fmt::Write;

use serde_json::json;

use super::wiring::Setup;
use super::{CliError, ExitKind, print, print_json};
use crate::notes::set_up_merging;

/// Prepares the folder and tells what was written.
pub(super) fn run(setup: &Setup, git: bool) -> Result<u8, CliError> {
    setup.prepare()?;
    let mut written = Vec::new();
    if git {
        let program = setup.environment.program.clone().unwrap_or_else(|| "groundskeeper".into());
        written = set_up_merging(setup.workspace.root(), setup.state.root(), &program)
            .map_err(|error| CliError::from_error(ExitKind::Other, &error))?;
    }
    let folder = setup.state.root();
    if setup.json {
        let rows = written.iter().map(|(path, what)| json!({"path": path, "what": what}));
        print_json(&json!({"folder": folder, "written": rows.collect::<Vec<_>>()}))?;
        return Ok(0);
    }
    let mut text = format!("prepared `{}`\n", folder.display());
    if git && written.is_empty() {
        text.push_str("Git merges notes already\n");
    }
    for (path, what) in written {
        // Writing into a string cannot fail.
        _ = writeln!(text, "wrote `{}`: {what}", path.display());
    }
    print(&text)?;
    Ok(0)
}

//! `doctor`: what of the kernel's jail works on this machine, and where things are.

use std::fmt::Write;

use serde_json::json;

use super::wiring::Setup;
use super::{CliError, ExitKind, print, print_json};
use crate::config::SandboxChoice;
use crate::terminal::{JailReport, Terminal};

/// Looks, tells, and changes nothing. The code is 8 when the sandbox is required and not whole.
pub(super) fn run(setup: &Setup) -> Result<u8, CliError> {
    let terminal = Terminal::open(setup.workspace.clone(), setup.terminal_options())
        .map_err(|error| CliError::from_error(ExitKind::Other, &error))?;
    let jail = terminal.probe();
    let sandbox = setup.config.terminal.sandbox;
    let root = setup.workspace.root();
    let git = setup.workspace.git_elsewhere();
    if setup.json {
        let report = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "workspace": root,
            "git_folders_elsewhere": git,
            "sandbox": sandbox,
            "jail_is_whole": jail.is_whole(),
            "jail": jail,
        });
        print_json(&report)?;
    } else {
        let mut text =
            format!("groundskeeper {}\nworkspace: {}\n", env!("CARGO_PKG_VERSION"), root.display());
        for folder in git {
            // Writing to a string does not fail.
            let _ = writeln!(text, "git folder elsewhere: {}", folder.display());
        }
        text.push_str(&jail_text(jail));
        print(&text)?;
    }
    let fails = sandbox == SandboxChoice::Required && !jail.is_whole();
    Ok(if fails { ExitKind::Sandbox.code() } else { 0 })
}

fn jail_text(jail: &JailReport) -> String {
    let mut text = match (jail.is_whole(), jail.landlock) {
        (true, interface) => format!("jail: whole (Landlock {interface})\n"),
        (false, 0) => "jail: not whole\n".to_owned(),
        (false, interface) => format!("jail: not whole (Landlock {interface})\n"),
    };
    for check in &jail.checks {
        let result = if check.stopped { "stopped" } else { "NOT STOPPED" };
        let _ = writeln!(text, "  {result}: {}", check.tried);
    }
    for missing in &jail.missing {
        let _ = writeln!(text, "  missing: {missing}");
    }
    text
}

//! `doctor`: does everything work that a turn needs? What of the kernel's jail works on this
//! machine, the notes, the model and its endpoint, with what to do.

use std::fmt::Write;

use serde_json::json;

use super::wiring::Setup;
use super::{CliError, ExitKind, print, print_json};
use crate::config::SandboxChoice;
use crate::model::openai::{self, Verdict};
use crate::model::{Choice, SelectError};
use crate::notes::Severity;
use crate::terminal::{JailReport, Terminal};

/// One line of the examination.
struct Line {
    check: &'static str,
    verdict: Verdict,
    message: String,
    remedy: Option<String>,
    /// What the command ends with when this is bad.
    kind: ExitKind,
}

/// Looks, tells, and changes nothing; a configured endpoint is asked a few short questions. The
/// code is 8 when the sandbox is required and not whole, else that of the first thing that is bad.
pub(super) async fn run(setup: &Setup) -> Result<u8, CliError> {
    let terminal = Terminal::open(setup.workspace.clone(), setup.terminal_options())?;
    let jail = terminal.probe();
    let sandbox = setup.config.terminal.sandbox;
    let root = setup.workspace.root();
    let git = setup.workspace.git_elsewhere();
    let mut lines = vec![notes(setup)];
    lines.extend(model(setup).await?);
    let is_unsafe = sandbox == SandboxChoice::Required && !jail.is_whole();
    let bad = lines.iter().find(|line| line.verdict == Verdict::Bad).map(|line| line.kind);
    let bad = if is_unsafe { Some(ExitKind::Sandbox) } else { bad };
    if setup.json {
        let report = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "workspace": root,
            "git_folders_elsewhere": git,
            "sandbox": sandbox,
            "jail_is_whole": jail.is_whole(),
            "jail": jail,
            "checks": lines.iter().map(Line::json).collect::<Vec<_>>(),
            "good": bad.is_none(),
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
        text.extend(lines.iter().map(Line::text));
        print(&text)?;
    }
    Ok(bad.map_or(0, ExitKind::code))
}

impl Line {
    fn json(&self) -> serde_json::Value {
        json!({
            "check": self.check,
            "verdict": word(self.verdict),
            "message": self.message,
            "remedy": self.remedy,
        })
    }

    fn text(&self) -> String {
        let remedy = self.remedy.as_ref().map(|remedy| format!("  hint: {remedy}\n"));
        let Self { check, message, .. } = self;
        format!("{check}: {}, {message}\n{}", word(self.verdict), remedy.unwrap_or_default())
    }
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

fn notes(setup: &Setup) -> Line {
    let (check, kind) = ("notes", ExitKind::Store);
    let checkup = match setup.notes().doctor(false) {
        Ok(checkup) => checkup,
        Err(error) => {
            let (verdict, message) = (Verdict::Bad, error.to_string());
            return Line { check, verdict, message, remedy: None, kind };
        }
    };
    let files = checkup.files;
    if checkup.findings.is_empty() {
        let message = format!("{files} looked at, nothing is wrong");
        return Line { check, verdict: Verdict::Good, message, remedy: None, kind };
    }
    let verdict = match checkup.worst() {
        Some(Severity::Error) => Verdict::Bad,
        Some(Severity::Warning) | None => Verdict::Doubtful,
    };
    let message = match checkup.findings.len() {
        1 => format!("{files} looked at, 1 finding"),
        count => format!("{files} looked at, {count} findings"),
    };
    let remedy = Some("`groundskeeper notes doctor` shows them".to_owned());
    Line { check, verdict, message, remedy, kind }
}

async fn model(setup: &Setup) -> Result<Vec<Line>, CliError> {
    let options = setup.layers.model_options(&setup.environment)?;
    let kind = ExitKind::Config;
    let good = |message: String| {
        vec![Line { check: "model", verdict: Verdict::Good, message, remedy: None, kind }]
    };
    let choice = match options.choice() {
        Ok(choice) => choice,
        Err(error) => return Ok(vec![no_model(&error)]),
    };
    Ok(match choice {
        Choice::Offline => good("offline: built-in rules, no endpoint is asked".to_owned()),
        Choice::Script(file) => good(format!("the script `{}`", file.display())),
        Choice::Endpoint(endpoint) => {
            let findings = openai::doctor(&endpoint).await;
            findings
                .into_iter()
                .map(|finding| Line {
                    check: finding.check,
                    verdict: finding.verdict,
                    message: finding.message,
                    remedy: finding.remedy,
                    kind: finding.error.as_ref().map_or(ExitKind::Endpoint, ExitKind::of_model),
                })
                .collect()
        }
    })
}

fn no_model(error: &SelectError) -> Line {
    Line {
        check: "model",
        verdict: Verdict::Bad,
        message: error.to_string(),
        remedy: error.hint(),
        kind: ExitKind::Config,
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Good => "ok",
        Verdict::Doubtful => "doubtful",
        Verdict::Bad => "bad",
    }
}

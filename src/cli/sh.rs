//! `groundskeeper sh`: the terminal tool for a person, exactly as a model has it.

use std::ffi::OsString;
use std::io::{self, Write};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{CliError, ExitKind, written};
use crate::support::paths::WorkspacePath;
use crate::terminal::{CommandReport, Explanation, Options, Refusal, Terminal};

/// What a refused line ends with, as a shell does for what cannot be executed.
const REFUSED: u8 = 126;
/// What a line ends with that was ended by the time limit, as `timeout` does.
const TIMED_OUT: u8 = 124;

/// Run one line of read-only commands, exactly as the model has it.
///
/// The output is that of the command, cleaned; the exit code is the command's, 126 when the line
/// is refused, 124 when the time limit ended it.
#[derive(Debug, Clone, Args)]
pub struct ShArgs {
    /// The command line, quoted as one word
    #[arg(value_name = "COMMAND LINE")]
    pub line: OsString,
    /// Say which rule allows or refuses each word, and run nothing
    #[arg(long)]
    pub explain: bool,
    /// End the line after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: Option<u64>,
    /// Cut the output after so many bytes
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    pub max_output: Option<u64>,
}

impl ShArgs {
    /// Puts the limits of the command line over those of the settings.
    pub fn limit(&self, options: &mut Options) {
        options.timeout = self.timeout.map_or(options.timeout, Duration::from_secs);
        options.max_output_bytes = self.max_output.unwrap_or(options.max_output_bytes);
    }
}

/// Runs, refuses or explains the line, which starts in a folder; returns the exit code.
pub async fn run(
    args: &ShArgs,
    terminal: &Terminal,
    start: &WorkspacePath,
    json: bool,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> Result<u8, CliError> {
    let Some(line) = args.line.to_str() else {
        let told = writeln!(err, "Refused, and nothing was run: the line is not UTF-8.");
        return written(told).map(|()| REFUSED);
    };
    if args.explain {
        let explanation = terminal.explain(line, start);
        written(explain(&explanation, json, out))?;
        return Ok(if explanation.result.is_ok() { 0 } else { REFUSED });
    }
    let plan = match terminal.plan(line, start) {
        Ok(plan) => plan,
        Err(refusal) => {
            let told = if json {
                document(out, &refusal_json(line, &refusal))
            } else {
                writeln!(err, "{}", refusal.for_model())
            };
            return written(told).map(|()| REFUSED);
        }
    };
    let cancel = CancellationToken::new();
    let running = terminal.run(plan, &cancel);
    tokio::pin!(running);
    let report = tokio::select! {
        report = &mut running => report,
        Ok(()) = tokio::signal::ctrl_c() => {
            cancel.cancel();
            running.await
        }
    };
    let report = report?;
    written(show(&report, json, out, err))?;
    if let Some(missing) = terminal.degraded() {
        written(writeln!(err, "note: {missing}"))?;
    }
    Ok(exit_code(&report))
}

/// Prints what a line wrote, as a person reads it, or as one document.
pub(super) fn show(
    report: &CommandReport,
    json: bool,
    out: &mut (dyn Write + Send),
    err: &mut (dyn Write + Send),
) -> io::Result<()> {
    if json {
        return document(out, &report_json(report));
    }
    out.write_all(report.stdout.as_bytes())?;
    out.flush()?;
    err.write_all(report.stderr.as_bytes())?;
    for remark in report.warnings() {
        writeln!(err, "note: {remark}")?;
    }
    Ok(())
}

fn explain(explanation: &Explanation, json: bool, out: &mut (dyn Write + Send)) -> io::Result<()> {
    if json {
        let words = explanation.words.iter();
        let words: Vec<Value> =
            words.map(|word| json!({"word": word.word, "rule": word.rule})).collect();
        let refusal = explanation.result.as_ref().err().map(Refusal::for_model);
        let allowed = explanation.result.is_ok();
        document(out, &json!({"allowed": allowed, "words": words, "refusal": refusal}))
    } else {
        writeln!(out, "{explanation}")
    }
}

/// Returns what came of a line, as data.
pub(super) fn report_json(report: &CommandReport) -> Value {
    let mut value = serde_json::to_value(report).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("refused".to_owned(), Value::Bool(false));
    }
    value
}

/// Returns why a line was refused, as data.
pub(super) fn refusal_json(line: &str, refusal: &Refusal) -> Value {
    json!({
        "line": line,
        "refused": true,
        "exit_code": REFUSED,
        "word": refusal.word,
        "reason": refusal.reason,
        "message": refusal.for_model(),
    })
}

fn document(out: &mut (dyn Write + Send), value: &Value) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::other)?;
    writeln!(out, "{text}")?;
    out.flush()
}

fn exit_code(report: &CommandReport) -> u8 {
    match report.exit_code {
        Some(code) => u8::try_from(code & 0xff).unwrap_or(1),
        None if report.timed_out => TIMED_OUT,
        None if report.cancelled => ExitKind::Interrupted.code(),
        None if report.stages.last().is_some_and(|stage| stage.signal.is_some()) => {
            ExitKind::Other.code()
        }
        // The output limit is a result: what fits was printed.
        None => 0,
    }
}

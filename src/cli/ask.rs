//! `explore`, `analyze`, `plan`, `ask`: one turn of the maintainer.

use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use super::args::{AnalyzeArgs, AskArgs, ExploreArgs, PlanArgs, TurnArgs};
use super::wiring::{self, Setup};
use super::{CliError, ExitKind, interrupt, piped, place, print_markdown};
use crate::agent::{CodebaseMaintainer, Report, Request};
use crate::model::ChatModel;
use crate::protocol::{Event, EventSink, Outcome, StopReason};
use crate::support::atomic_file;
use crate::ui::{JsonLines, Plain, Ticking};

/// A question is at most this long.
const MOST_QUESTION_BYTES: u64 = 1024 * 1024;

/// Explores.
pub(super) async fn explore(setup: &Setup, args: &ExploreArgs) -> Result<u8, CliError> {
    run(setup, Request::explore(place::target(setup, &args.target)?), &args.turn).await
}

/// Judges the quality.
pub(super) async fn analyze(setup: &Setup, args: &AnalyzeArgs) -> Result<u8, CliError> {
    run(setup, Request::analyze(place::target(setup, &args.focus)?), &args.turn).await
}

/// Plans.
pub(super) async fn plan(setup: &Setup, args: &PlanArgs) -> Result<u8, CliError> {
    run(setup, Request::plan(args.purpose.as_str()), &args.turn).await
}

/// Answers a question.
pub(super) async fn ask(setup: &Setup, args: &AskArgs) -> Result<u8, CliError> {
    let question = if args.question == "-" { from_stdin()? } else { args.question.clone() };
    if question.trim().is_empty() {
        return Err(CliError::new(ExitKind::Usage, "the question is empty")
            .with_hint("for instance `groundskeeper ask \"where are orders processed?\"`"));
    }
    let mut request = Request::ask(question);
    if args.question != "-"
        && let Some(block) = piped::block(setup, &args.question, &mut anstream::stderr())
    {
        request = request.with_material(&block);
    }
    run(setup, request, &args.turn).await
}

/// Goes on with a turn that was cut off.
pub(super) async fn resume(setup: &Setup, session: Option<&str>) -> Result<u8, CliError> {
    let id = wiring::session(setup, session)?;
    let mut stage = Stage::new(setup, Some(&id))?;
    let cancel = stage.cancel.clone();
    let resumed = interrupt::guarded(&cancel, stage.maintainer.resume()).await?;
    let Some(outcome) = resumed else {
        return Err(CliError::new(ExitKind::Other, format!("the last turn of {id} has ended"))
            .with_hint(format!("`groundskeeper ask --session {id} \"…\"` asks on")));
    };
    stage.end(setup, &outcome, None)
}

async fn run(setup: &Setup, request: Request, args: &TurnArgs) -> Result<u8, CliError> {
    check_report_path(args.report.as_deref())?;
    let session = named_session(setup, args.session.as_deref())?;
    let mut stage = Stage::new(setup, session.as_deref())?;
    let cancel = stage.cancel.clone();
    let outcome = interrupt::guarded(&cancel, stage.maintainer.run(request)).await?;
    stage.end(setup, &outcome, args.report.as_deref())
}

/// Finds the session that `--session` names; `last` is the newest.
pub(super) fn named_session(setup: &Setup, name: Option<&str>) -> Result<Option<String>, CliError> {
    name.map(|name| wiring::session(setup, Some(name))).transpose()
}

/// Returns where events are shown: as the answer, whose loss is told in `failure`, or as progress.
pub(super) fn display(setup: &Setup, failure: &Arc<OnceLock<String>>) -> Box<dyn EventSink> {
    if setup.json {
        let lines = JsonLines::new(io::stdout());
        Box::new(Answering { lines, failure: Arc::clone(failure) })
    } else {
        progress(setup)
    }
}

/// Returns what shows progress on stderr.
pub(super) fn progress(setup: &Setup) -> Box<dyn EventSink> {
    let live = io::stderr().is_terminal() && !setup.environment.dumb;
    // Its lines have no colour, so that nothing has to be taken out of them.
    let plain = Plain::new(io::stderr(), wiring::width, live);
    if live { Box::new(Ticking::start(plain)) } else { Box::new(plain) }
}

/// What a turn of the command line needs.
struct Stage {
    maintainer: CodebaseMaintainer,
    model: Arc<dyn ChatModel>,
    cancel: CancellationToken,
    /// Why the events could not be printed, if they could not.
    unprinted: Arc<OnceLock<String>>,
}

/// Events as the answer: that they could not be printed must not be forgotten.
struct Answering {
    lines: JsonLines<io::Stdout>,
    failure: Arc<OnceLock<String>>,
}

impl EventSink for Answering {
    fn emit(&mut self, event: &Event) -> io::Result<()> {
        let emitted = self.lines.emit(event);
        if let Err(error) = &emitted
            && error.kind() != io::ErrorKind::BrokenPipe
        {
            self.failure.get_or_init(|| error.to_string());
        }
        emitted
    }
}

impl Stage {
    /// Puts everything together, in a session that there is already or in a new one.
    fn new(setup: &Setup, session: Option<&str>) -> Result<Self, CliError> {
        let cancel = CancellationToken::new();
        let failure = Arc::new(OnceLock::new());
        let display = display(setup, &failure);
        let model = setup.model()?;
        setup.tell_of_dotenv(model.name());
        place::tell_of_workspace(setup);
        let mut maintainer = setup.maintainer(Arc::clone(&model), display, cancel.clone())?;
        if let Some(id) = session {
            maintainer.take_up(id)?;
        }
        Ok(Self { maintainer, model, cancel, unprinted: failure })
    }

    /// Prints the answer and returns the exit code.
    fn end(&self, setup: &Setup, outcome: &Outcome, report: Option<&Path>) -> Result<u8, CliError> {
        if !setup.json {
            print_markdown(&outcome.answer)?;
        }
        if let Some(path) = report {
            copy_report(&self.maintainer.report(), path)?;
        }
        if let Some(reason) = self.unprinted.get() {
            let message = format!("the events could not be printed: {reason}");
            return Err(CliError::new(ExitKind::Other, message));
        }
        self.model.finish()?;
        exit_code(setup, &self.maintainer, outcome)
    }
}

/// Returns how the turn went, as an exit code or an error.
fn exit_code(
    setup: &Setup,
    maintainer: &CodebaseMaintainer,
    outcome: &Outcome,
) -> Result<u8, CliError> {
    if let Some(reason) = maintainer.unsaved() {
        return Err(not_saved(reason));
    }
    how_it_ended(setup, outcome)
}

/// Says that a session is gone when the program ends.
pub(super) fn not_saved(reason: &str) -> CliError {
    CliError::new(ExitKind::Store, format!("the session could not be saved: {reason}"))
        .with_hint("`--state-dir DIR` keeps notes and sessions elsewhere")
}

/// Returns the exit code of a turn, or the error that it is.
pub(super) fn how_it_ended(setup: &Setup, outcome: &Outcome) -> Result<u8, CliError> {
    match outcome.reason {
        // An answer that could not know the notes is not the answer that was asked for.
        StopReason::Answered => match setup.notes().open_blockers() {
            Ok(_) => Ok(0),
            Err(error) => Err(CliError::from_error(ExitKind::Store, &error)
                .with_hint("`groundskeeper notes doctor` tells what is wrong with the notes")),
        },
        StopReason::Cancelled => Ok(ExitKind::Interrupted.code()),
        StopReason::Failed => Ok(ExitKind::Other.code()),
        reason => {
            let message = format!("a limit ended the turn: {}", reason.name().replace('_', " "));
            Err(CliError::new(ExitKind::Limit, message).with_hint(more_room(setup, reason)))
        }
    }
}

/// Returns what allows more than the limit that ended a turn.
fn more_room(setup: &Setup, reason: StopReason) -> String {
    let limits = &setup.config.limits;
    let (key, value) = match reason {
        StopReason::StepLimit => ("steps", limits.steps),
        StopReason::TimeLimit => ("seconds", limits.seconds),
        StopReason::TokenLimit => ("prompt_tokens", limits.prompt_tokens),
        StopReason::RefusalLimit => ("refused_commands", limits.refused_commands),
        StopReason::UnusableReplies => ("unusable_replies", limits.unusable_replies),
        StopReason::WindowFull
        | StopReason::LoopDetected
        | StopReason::Answered
        | StopReason::Cancelled
        | StopReason::Failed => return "the answer tells what was found".to_owned(),
    };
    let twice = value.saturating_mul(2);
    format!("the answer tells what was found; `--set limits.{key}={twice}` allows more")
}

fn from_stdin() -> Result<String, CliError> {
    let mut bytes = Vec::new();
    io::stdin()
        .take(MOST_QUESTION_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| CliError::from_error(ExitKind::Other, &error))?;
    if bytes.len() as u64 > MOST_QUESTION_BYTES {
        let message = format!("the question is longer than {MOST_QUESTION_BYTES} bytes");
        return Err(CliError::new(ExitKind::Usage, message));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Looks whether a report can be written there, before the work is done that it tells of.
pub(super) fn check_report_path(path: Option<&Path>) -> Result<(), CliError> {
    let Some(path) = path else { return Ok(()) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let reason = if path.as_os_str().is_empty() {
        "the name is empty".to_owned()
    } else if path.is_dir() {
        "it is a folder".to_owned()
    } else if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        format!("there is no folder `{}`", folder.display())
    } else {
        return Ok(());
    };
    let message = format!("the report cannot be written to `{}`: {reason}", path.display());
    Err(CliError::new(ExitKind::Usage, message)
        .with_hint("name a file in a folder that exists, as `--report report.md`"))
}

/// Writes a copy of a report.
pub(super) fn copy_report(report: &Report, path: &Path) -> Result<(), CliError> {
    let json = path.extension().is_some_and(|extension| extension == "json");
    let text = if json {
        serde_json::to_string_pretty(report)
            .map_err(|error| CliError::from_error(ExitKind::Other, &error))?
    } else {
        report.to_markdown()
    };
    atomic_file::replace(path, text.as_bytes()).map_err(|error| {
        let mut failure = CliError::new(
            ExitKind::Store,
            format!("the report could not be written to `{}`", path.display()),
        );
        failure.causes.push(error.to_string());
        failure
    })
}

//! `chat`: turns of the maintainer one after the other, in one session.
//!
//! It reads what a person sends, hands it to what does it, and goes on: no error inside a turn ends
//! it. The loop of a turn is the maintainer's; here is only the one around the turns. From a pipe
//! the same messages run without prompts.

mod completion;
mod editor;
mod history;
mod input;
mod lines;
mod screen;
mod slash;

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tokio_util::sync::CancellationToken;

use super::args::ChatArgs;
use super::interrupt::{Signals, TWICE, Told};
use super::wiring::{self, Setup};
use super::{CliError, ExitKind, ask, place, print_json, print_markdown, sh, written};
use crate::agent::{CodebaseMaintainer, Mode, Request};
use crate::model::ChatModel;
use crate::protocol::{EventSink, Outcome, StopReason};
use crate::ui::{Abilities, Plain, Stream, Talk, Ticking};
use editor::EditorOptions;
use history::History;
use input::Input;
use lines::{Lines, Typed};
use screen::Screen;

/// Chats until the person leaves or the pipe ends; returns the exit code.
pub(super) async fn run(setup: &Setup, args: &ChatArgs) -> Result<u8, CliError> {
    ask::check_report_path(args.turn.report.as_deref())?;
    let mut chat = Chat::new(setup, args)?;
    let at_terminal = chat.at_terminal;
    let ended = if at_terminal { chat.converse().await } else { chat.follow().await };
    chat.say_goodbye(at_terminal);
    let code = chat.settle(ended?)?;
    if let Some(path) = &args.turn.report {
        ask::copy_report(&chat.maintainer.report(), path)?;
    }
    Ok(code)
}

/// A chat in progress.
struct Chat<'a> {
    setup: &'a Setup,
    maintainer: CodebaseMaintainer,
    /// All who answered, to be told at the end that nothing more is asked.
    models: Vec<Arc<dyn ChatModel>>,
    mode: Mode,
    signals: Signals,
    /// What Ctrl-C stops that is done now, or was done last.
    cancel: CancellationToken,
    /// Why the events could not be printed, if they could not.
    unprinted: Arc<OnceLock<String>>,
    /// Whether somebody sits there: then what is told is told once, as it happens.
    at_terminal: bool,
    /// Whether answers are shown as they come.
    talks: bool,
}

/// Whether more is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// The next one, after one that came to this exit code.
    Next(u8),
    /// The person leaves.
    Leave,
}

impl<'a> Chat<'a> {
    fn new(setup: &'a Setup, args: &ChatArgs) -> Result<Self, CliError> {
        let session = ask::named_session(setup, args.turn.session.as_deref())?;
        let unprinted = Arc::new(OnceLock::new());
        let at_terminal = io::stdin().is_terminal() && !setup.json;
        let talks = at_terminal && io::stdout().is_terminal();
        let display = if talks { talk(setup) } else { ask::display(setup, &unprinted) };
        let model = setup.model()?;
        setup.tell_of_dotenv(model.name());
        place::tell_of_workspace(setup);
        let mut maintainer =
            setup.maintainer(Arc::clone(&model), display, CancellationToken::new())?;
        if let Some(id) = &session {
            maintainer.take_up(id)?;
        }
        Ok(Self {
            setup,
            maintainer,
            models: vec![model],
            mode: args.mode.mode(),
            signals: Signals::listen(),
            cancel: CancellationToken::new(),
            unprinted,
            at_terminal,
            talks,
        })
    }

    /// Talks with a person at a terminal.
    async fn converse(&mut self) -> Result<u8, CliError> {
        let screen = Screen::find();
        let mut lines = self.lines()?;
        for warning in std::mem::take(&mut lines.warnings) {
            tell(&format!("warning: {warning}"));
        }
        self.greet();
        let mut hinted = false;
        let mut stopped: Option<Instant> = None;
        loop {
            lines.ask(&self.prompt());
            let typed = tokio::select! {
                typed = lines.next() => typed,
                told = self.signals.next() => match told {
                    // Only where no editor takes Ctrl-C for a key.
                    Told::Interrupt => Typed::Interrupted { was_empty: true },
                    Told::Terminate => return Err(told.error()),
                },
            };
            let is_empty_interrupt = typed == Typed::Interrupted { was_empty: true };
            let is_second = stopped.is_some_and(|stopped| stopped.elapsed() <= TWICE);
            if is_empty_interrupt && (hinted || is_second) {
                return Err(Told::Interrupt.error());
            }
            hinted = is_empty_interrupt;
            let line = match typed {
                Typed::Line { line, warning } => {
                    if let Some(warning) = warning {
                        tell(&format!("warning: {warning}"));
                    }
                    line
                }
                Typed::Interrupted { was_empty: true } => {
                    tell("Ctrl-C once more leaves, and so does Ctrl-D; /help shows the commands");
                    continue;
                }
                Typed::Interrupted { was_empty: false } => continue,
                Typed::Unreadable(sentence) => {
                    tell(&format!("error: {sentence}"));
                    continue;
                }
                Typed::End => return Ok(0),
                Typed::Broken(reason) => {
                    let message = format!("the terminal cannot be read: {reason}");
                    return Err(CliError::new(ExitKind::Other, message));
                }
            };
            self.cancel = CancellationToken::new();
            let hushed = screen.hush();
            let flow = self.take(&line).await;
            drop(hushed);
            stopped = self.cancel.is_cancelled().then(Instant::now);
            match flow {
                Ok(Flow::Next(_)) => {}
                Ok(Flow::Leave) => return Ok(0),
                Err(error) if ends(&error) => return Err(error),
                Err(error) => tell(&error.to_string()),
            }
        }
    }

    /// Does what a pipe or a file says, message by message; returns the worst of their exit codes.
    async fn follow(&mut self) -> Result<u8, CliError> {
        let mut lines = Lines::of_stdin(false);
        let (mut worst, mut count) = (0, 0_u64);
        loop {
            lines.ask("");
            let typed = tokio::select! {
                typed = lines.next() => typed,
                told = self.signals.next() => return Err(told.error()),
            };
            let code = match typed {
                Typed::Line { line, .. } => match self.take(&line).await {
                    Ok(Flow::Next(code)) if code == ExitKind::Interrupted.code() => {
                        return Err(Told::Interrupt.error());
                    }
                    Ok(Flow::Next(code)) => {
                        count += u64::from(!line.trim().is_empty());
                        code
                    }
                    Ok(Flow::Leave) => break,
                    Err(error) if ends(&error) => return Err(error),
                    Err(error) => {
                        count += 1;
                        tell(&error.to_string());
                        error.kind.code()
                    }
                },
                Typed::Unreadable(sentence) => {
                    count += 1;
                    tell(&format!("error: {sentence}"));
                    ExitKind::Usage.code()
                }
                Typed::Broken(reason) => return Err(CliError::new(ExitKind::Other, reason)),
                Typed::Interrupted { .. } | Typed::End => break,
            };
            worst = worst.max(code);
        }
        if count == 0 {
            return Err(CliError::new(ExitKind::Usage, "standard input holds no message")
                .with_hint(
                    "a message is a line, as in `echo \"what is here?\" | groundskeeper chat`",
                ));
        }
        Ok(worst)
    }

    /// Does what was sent.
    async fn take(&mut self, line: &str) -> Result<Flow, CliError> {
        match Input::read(line) {
            Input::Nothing => Ok(Flow::Next(0)),
            Input::Message(text) => self.ask(text).await.map(Flow::Next),
            Input::Shell(line) => self.shell(&line).await.map(Flow::Next),
            Input::Slash(slash, arguments) => self.slash(slash, &arguments).await,
            Input::Unknown(name) => Err(slash::unknown(&name)),
        }
    }

    /// Asks the maintainer.
    async fn ask(&mut self, text: String) -> Result<u8, CliError> {
        let cancel = self.interruptible();
        let request = Request { mode: self.mode, text };
        let outcome = self.signals.guard(&cancel, self.maintainer.run(request)).await?;
        self.show(&outcome)?;
        if outcome.reason == StopReason::Cancelled && self.at_terminal {
            tell("interrupted; what came until then is kept");
        }
        ask::how_it_ended(self.setup, &outcome)
    }

    fn show(&self, outcome: &Outcome) -> Result<(), CliError> {
        if self.setup.json || self.talks {
            return Ok(());
        }
        print_markdown(&outcome.answer)
    }

    /// Runs a line through the terminal that the model has too.
    async fn shell(&mut self, line: &str) -> Result<u8, CliError> {
        if line.is_empty() {
            return Err(CliError::new(ExitKind::Usage, "there is no command behind `!`")
                .with_hint("for instance `!git log --oneline -n 5`"));
        }
        let cancel = self.interruptible();
        let done = self.signals.guard(&cancel, self.maintainer.run_command(line)).await?;
        if self.setup.json {
            let value = match &done {
                Ok(report) => sh::report_json(report),
                Err(refusal) => sh::refusal_json(line, refusal),
            };
            print_json(&serde_json::json!({ "command": format!("!{line}"), "output": value }))?;
        }
        match done {
            Err(refusal) => {
                if !self.setup.json {
                    tell(&refusal.for_model());
                }
                Ok(ExitKind::Other.code())
            }
            Ok(report) => {
                if !self.setup.json {
                    let (out, err) = (&mut io::stdout(), &mut anstream::stderr());
                    written(sh::show(&report, false, out, err))?;
                }
                let was_cut = report.timed_out || report.cancelled;
                Ok(if was_cut { ExitKind::Other.code() } else { 0 })
            }
        }
    }

    /// Lets the next Ctrl-C stop what is done next, and nothing else.
    fn interruptible(&mut self) -> CancellationToken {
        let cancel = CancellationToken::new();
        self.maintainer.interrupt_with(cancel.clone());
        self.cancel = cancel.clone();
        cancel
    }

    fn lines(&self) -> Result<Lines, CliError> {
        if self.setup.environment.dumb {
            return Ok(Lines::of_stdin(true));
        }
        let options = EditorOptions {
            history: self.setup.environment.user_state.as_deref().map(History::in_folder),
            notes: self.setup.notes(),
            color: wiring::has_color(),
            elsewhere: !io::stdout().is_terminal(),
        };
        editor::start(options).map_err(|reason| {
            CliError::new(ExitKind::Other, format!("the terminal cannot be used: {reason}"))
        })
    }

    fn prompt(&self) -> String {
        match self.mode {
            Mode::Auto => "> ".to_owned(),
            mode => format!("{}> ", mode.row().name),
        }
    }

    fn greet(&self) {
        let session = match self.maintainer.session_id() {
            "" => String::new(),
            id => format!(", going on with {id}"),
        };
        tell(&format!(
            "{}, model {}{session}; /help shows the commands, Ctrl-D leaves",
            self.setup.project(),
            self.maintainer.model_name(),
        ));
    }

    /// Tells how the session can be gone on with, if it has begun.
    fn say_goodbye(&self, at_terminal: bool) {
        let id = self.maintainer.session_id();
        if at_terminal && !id.is_empty() && self.maintainer.unsaved().is_none() {
            tell(&format!("{id}: `groundskeeper chat --session {id}` goes on"));
        }
    }

    /// Returns the exit code of the whole, or why it cannot be the one that the messages came to.
    fn settle(&self, code: u8) -> Result<u8, CliError> {
        if let Some(reason) = self.unprinted.get() {
            let message = format!("the events could not be printed: {reason}");
            return Err(CliError::new(ExitKind::Other, message));
        }
        if let Some(reason) = self.maintainer.unsaved() {
            return Err(ask::not_saved(reason));
        }
        for model in &self.models {
            model.finish()?;
        }
        Ok(code)
    }
}

/// Returns what shows a conversation as it happens.
fn talk(setup: &Setup) -> Box<dyn EventSink> {
    let cursor = !setup.environment.dumb;
    let abilities = Abilities { cursor, color: wiring::has_color() };
    let answer = Stream::new(io::stdout(), || wiring::size(&io::stdout()), abilities);
    let live = cursor && io::stderr().is_terminal();
    let talk = Talk::new(answer, Plain::new(io::stderr(), wiring::width, live));
    if live { Box::new(Ticking::start(talk)) } else { Box::new(talk) }
}

/// Returns whether an error is the end of the chat and not of what was sent.
fn ends(error: &CliError) -> bool {
    matches!(error.kind, ExitKind::Interrupted | ExitKind::Terminated)
}

/// Tells a person something beside the answers.
fn tell(text: &str) {
    // Nobody is left to tell when stderr is closed.
    writeln!(anstream::stderr(), "{text}").ok();
}

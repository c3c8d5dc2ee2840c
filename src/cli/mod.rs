//! What a person types: parses, wires everything together, maps errors to exit codes.
//!
//! stdout is the answer or valid JSON, stderr is everything else. One file a command.

mod args;
mod ask;
mod chat;
mod completions;
mod config;
mod config_edit;
mod context;
mod doctor;
mod error;
mod examples;
mod init;
mod interrupt;
pub mod notes;
mod piped;
mod place;
mod sessions;
pub mod sh;
mod transcript;
mod usage;
mod wiring;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use tokio::runtime::{Builder, Runtime};

pub use error::{CliError, ExitKind};

use crate::config::Environment;
use crate::terminal::survive_the_largest_file;
use crate::ui::markdown;
use args::{Cli, Command, ConfigCommand};
use notes::NotesCommand;
use wiring::Setup;

/// Runs the program: reads the process's arguments and environment, does what is asked, and
/// returns the exit code.
pub fn main() -> ExitCode {
    survive_the_largest_file();
    let arguments = examples::under_help(Cli::command()).try_get_matches();
    let cli = match arguments.and_then(|arguments| Cli::from_arg_matches(&arguments)) {
        Ok(cli) => cli,
        Err(error) => return unparsed(&error),
    };
    let done = runtime(&cli.command).and_then(|runtime| runtime.block_on(run(cli)));
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => fails(&error),
    }
}

/// Does one command; returns its exit code.
async fn run(cli: Cli) -> Result<u8, CliError> {
    if let Command::Completions { shell } = cli.command {
        return completions::run(shell);
    }
    if let Command::Notes(command @ NotesCommand::MergeDriver { .. }) = &cli.command {
        // Git calls it in the middle of a merge, when the settings may be in conflict too.
        return notes::merge(command, cli.global.json);
    }
    let environment = Environment::of_process();
    if let Command::Config(ConfigCommand::Edit { user }) = cli.command {
        return config_edit::run(&cli.global, &environment, user);
    }
    let setup = Setup::of(&cli.global, environment)?;
    match &cli.command {
        Command::Explore(args) => ask::explore(&setup, args).await,
        Command::Analyze(args) => ask::analyze(&setup, args).await,
        Command::Plan(args) => ask::plan(&setup, args).await,
        Command::Ask(args) => ask::ask(&setup, args).await,
        Command::Chat(args) => chat::run(&setup, args).await,
        Command::Notes(command) => wiring::notes(&setup, command).await,
        Command::Sh(args) => wiring::sh(&setup, args).await,
        Command::Context(args) => context::run(&setup, args).await,
        Command::Report(args) => sessions::report(&setup, args),
        Command::Session(command) => sessions::run(&setup, command).await,
        Command::Init { git } => init::run(&setup, *git),
        Command::Config(ConfigCommand::Show { origin }) => config::show(&setup, *origin),
        Command::Config(ConfigCommand::Edit { user }) => {
            config_edit::run(&cli.global, &setup.environment, *user)
        }
        Command::Doctor => doctor::run(&setup).await,
        Command::Completions { shell } => completions::run(*shell),
    }
}

/// Returns what waits. A line of the terminal has threads of its own, so it starts none beside
/// them: where few may be started, the line gets them. What waits for nothing starts nothing.
fn runtime(command: &Command) -> Result<Runtime, CliError> {
    let runtime = match command {
        // A search may ask an endpoint.
        Command::Notes(NotesCommand::Search { .. }) | Command::Sh(_) => {
            Builder::new_current_thread().enable_all().build()
        }
        Command::Notes(_)
        | Command::Report(_)
        | Command::Init { .. }
        | Command::Config(_)
        | Command::Completions { .. } => Builder::new_current_thread().build(),
        Command::Explore(_)
        | Command::Analyze(_)
        | Command::Plan(_)
        | Command::Ask(_)
        | Command::Chat(_)
        | Command::Context(_)
        | Command::Session(_)
        | Command::Doctor => Builder::new_multi_thread().worker_threads(2).enable_all().build(),
    };
    runtime.map_err(|error| CliError::from_error(ExitKind::Other, &error))
}

/// Shows help and the version on stdout, a wrong command line on stderr.
fn unparsed(error: &clap::Error) -> ExitCode {
    if let Some(mistake) = usage::mistake(error) {
        return fails(&mistake);
    }
    let shown = error.print().and_then(|()| io::stdout().flush());
    match written(shown) {
        _ if error.use_stderr() => ExitCode::from(ExitKind::Usage.code()),
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fails(&error),
    }
}

/// Tells an error and returns its exit code.
fn fails(error: &CliError) -> ExitCode {
    // Nobody is left to tell when stderr is closed.
    drop(writeln!(anstream::stderr(), "{error}"));
    ExitCode::from(error.kind.code())
}

/// Says what became of an answer: a reader that has gone away is no failure.
fn written(result: io::Result<()>) -> Result<(), CliError> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::unprinted(&error)),
        _ => Ok(()),
    }
}

/// Writes to stdout.
fn print(text: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    written(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Prints Markdown, rendered when stdout is a terminal.
fn print_markdown(text: &str) -> Result<(), CliError> {
    let text = text.trim_end();
    if !io::stdout().is_terminal() {
        return print(&format!("{text}\n"));
    }
    written(writeln!(anstream::stdout(), "{}", markdown::render(text)))
}

/// Prints one JSON document on a line of its own.
fn print_json(value: &impl serde::Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string(value)
        .map_err(|error| CliError::from_error(ExitKind::Other, &error))?;
    print(&format!("{text}\n"))
}

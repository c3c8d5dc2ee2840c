//! `completions SHELL`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Cli;
use super::{CliError, print};

/// Prints the completions.
pub(super) fn run(shell: Shell) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "groundskeeper", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

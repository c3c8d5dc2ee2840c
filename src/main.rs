//! The thin binary: the jail's helper when it is asked for by name, else the command line.

use std::process::ExitCode;

use groundskeeper::{cli, terminal};

fn main() -> ExitCode {
    if terminal::jail_helper_requested() {
        terminal::run_jail_helper();
    }
    cli::main()
}

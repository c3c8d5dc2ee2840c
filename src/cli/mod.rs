//! What a person types: parses, wires everything together, maps errors to exit codes.

mod error;

pub use error::{CliError, ExitKind};

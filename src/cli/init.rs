//! `init`: prepares the state folder.

use super::wiring::Setup;
use super::{CliError, print};

/// Prepares the folder and tells where it is.
pub(super) fn run(setup: &Setup) -> Result<u8, CliError> {
    setup.prepare()?;
    print(&format!("prepared `{}`\n", setup.state.root().display()))?;
    Ok(0)
}

//! The main job in forty lines: look at this repository with the built-in offline model.
//!
//! `cargo run --example hello`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use groundskeeper::agent::{CodebaseMaintainer, MaintainerOptions};
use groundskeeper::model::offline::OfflineModel;
use groundskeeper::support::state_folder::StateFolder;
use groundskeeper::terminal;

fn main() -> Result<(), Box<dyn Error>> {
    // Commands run in a jail that this program enters by starting itself once more; that comes
    // before any thread.
    if terminal::jail_helper_requested() {
        terminal::run_jail_helper();
    }
    tokio::runtime::Runtime::new()?.block_on(run())
}

async fn run() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/repos/flask_shop");
    let state = tempfile::tempdir()?;

    let mut options = MaintainerOptions::new("flask_shop", &folder, Arc::new(OfflineModel::new()))?;
    options.state = StateFolder::of(&folder, Some(state.path()));
    options.terminal = terminal::Options::with_helper(std::env::current_exe()?);
    let mut maintainer = CodebaseMaintainer::with(options)?;

    let outcome = maintainer.explore("").await?;
    println!("{}\n", outcome.answer);
    println!("{:?} after {} steps", outcome.reason, outcome.stats.steps);
    Ok(())
}

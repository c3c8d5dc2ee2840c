//! Three days and a week of maintaining a shop, in one process and offline: the scripted model
//! says what a language model would say, everything else is real.
//!
//! `cargo run --example three_day_workflow`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use chrono::DateTime;
use groundskeeper::agent::{CodebaseMaintainer, MaintainerOptions, Request};
use groundskeeper::model::ChatModel;
use groundskeeper::model::scripted::ScriptedModel;
use groundskeeper::support::clock::FixedClock;
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
    let days = [
        ("day_one", "2025-01-19T15:30:00+08:00", Request::explore("")),
        ("day_two", "2025-01-20T10:00:00+08:00", Request::analyze("")),
        ("day_three", "2025-01-21T09:00:00+08:00", Request::plan("")),
        ("week_later", "2025-01-28T10:00:00+08:00", Request::ask("Where do we stand?")),
        (
            "from_notes",
            "2025-01-28T11:00:00+08:00",
            Request::ask("What did we find, what comes first?"),
        ),
    ];
    let state = tempfile::tempdir()?;
    for (script, clock, request) in days {
        // A new maintainer each day: only what is on disk goes from one to the next.
        let model = Arc::new(ScriptedModel::from_file(&scripts().join(format!("{script}.yaml")))?);
        let mut maintainer = maintainer(Arc::clone(&model), clock, state.path())?;
        let outcome = maintainer.run(request).await?;
        model.finish()?;

        println!("== {} ({clock})\n", script.replace('_', " "));
        println!("{}", outcome.answer.trim_end());
        let done = outcome.stats;
        println!(
            "\n[{} steps, {} commands, {} notes written, {} notes kept]\n",
            done.steps,
            done.commands_executed,
            done.notes_created,
            maintainer.notes().summary()?.total_notes
        );
    }
    Ok(())
}

fn maintainer(
    model: Arc<ScriptedModel>,
    clock: &str,
    state: &Path,
) -> Result<CodebaseMaintainer, Box<dyn Error>> {
    let shop = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/repos/flask_shop");
    let mut options = MaintainerOptions::new("flask_shop", &shop, model)?;
    options.state = StateFolder::of(&shop, Some(state));
    options.terminal = terminal::Options::with_helper(std::env::current_exe()?);
    options.clock = Arc::new(FixedClock::at(DateTime::parse_from_rfc3339(clock)?));
    Ok(CodebaseMaintainer::with(options)?)
}

fn scripts() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/scripts/three_days"))
}

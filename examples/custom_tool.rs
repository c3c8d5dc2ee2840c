//! A tool of one's own: the argument struct is the schema, its doc comments are what the model
//! reads, and `call` does the work. A script plays the model, so the example runs offline.
//!
//! `cargo run --example custom_tool`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use groundskeeper::agent::{CodebaseMaintainer, MaintainerOptions};
use groundskeeper::model::ChatModel;
use groundskeeper::model::scripted::ScriptedModel;
use groundskeeper::protocol::{ToolError, ToolFailure, ToolFailureKind, ToolOutput};
use groundskeeper::support::state_folder::StateFolder;
use groundskeeper::terminal;
use groundskeeper::tools::{Tool, ToolContext};
use schemars::JsonSchema;
use serde::Deserialize;

/// Knows when the next release is due.
struct Releases;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReleaseArguments {
    /// The name of the branch, for instance `main`.
    branch: String,
}

impl Tool for Releases {
    const NAME: &'static str = "releases";
    type Args = ReleaseArguments;

    fn only_reads(&self, _arguments: &ReleaseArguments) -> bool {
        true
    }

    async fn call(
        &self,
        arguments: ReleaseArguments,
        context: &ToolContext,
    ) -> Result<ToolOutput, ToolError> {
        if arguments.branch != "main" {
            // An answer to the model: it reads what is allowed, and the loop goes on.
            return Err(ToolError::Answerable(ToolFailure {
                kind: ToolFailureKind::NotFound,
                for_model: format!(
                    "There is no release from `{}`. Releases are made from `main` only.",
                    arguments.branch
                ),
                for_human: format!("no release from `{}`", arguments.branch),
                effects: Vec::new(),
            }));
        }
        let due = context.clock.now().date_naive() + chrono::Days::new(14);
        Ok(ToolOutput {
            for_model: format!("The next release from `main` is due on {due}."),
            summary: format!("due on {due}"),
            ..ToolOutput::default()
        })
    }
}

const SCRIPT: &str = "
steps:
  - calls: [{tool: releases, with: {branch: develop}}]
  - sees: Releases are made from `main` only.
    calls: [{tool: releases, with: {branch: main}}]
  - sees: is due on
    says: The next release comes from `main`, in two weeks.
";

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
    let model = Arc::new(ScriptedModel::from_yaml(SCRIPT, "releases.yaml")?);

    let mut options = MaintainerOptions::new("flask_shop", &folder, Arc::clone(&model) as _)?;
    options.state = StateFolder::of(&folder, Some(state.path()));
    options.terminal = terminal::Options::with_helper(std::env::current_exe()?);
    let mut maintainer = CodebaseMaintainer::with(options)?;
    maintainer.add_tool(Releases, "Tells when the next release of a branch is due.")?;

    let outcome = maintainer.ask("When is the next release?").await?;
    model.finish()?;
    println!("{}", outcome.answer);
    Ok(())
}

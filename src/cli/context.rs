//! `context "QUESTION"`: what would be sent, with the quality report. Nothing is asked, nothing
//! is written.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::args::{ContextArgs, ModeArg};
use super::wiring::{self, Setup};
use super::{CliError, interrupt, print, print_json};
use crate::agent::{Mode, Nowhere, Request};

/// Builds the context and shows it.
pub(super) async fn run(setup: &Setup, args: &ContextArgs) -> Result<u8, CliError> {
    let mode = match args.mode {
        ModeArg::Auto => Mode::Auto,
        ModeArg::Explore => Mode::Explore,
        ModeArg::Analyze => Mode::Analyze,
        ModeArg::Plan => Mode::Plan,
    };
    let request = Request { mode, text: args.question.clone() };
    let cancel = CancellationToken::new();
    let mut maintainer = setup.maintainer(setup.model()?, Box::new(Nowhere), cancel.clone())?;
    let work =
        async { maintainer.preview(request).await.map_err(|error| wiring::agent_error(&error)) };
    let built = interrupt::guarded(&cancel, work).await?;
    if setup.json {
        let (tokens, budget) = (built.tokens, built.budget);
        print_json(&json!({
            "text": built.text(),
            "tokens": tokens,
            "budget": budget,
            "report": built.report,
        }))?;
    } else {
        print(&format!("{}\n\n{}\n", built.text(), built.report))?;
    }
    Ok(0)
}

//! `context "QUESTION"`: what would be sent, with the quality report. Nothing is asked, nothing
//! is written.

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::args::ContextArgs;
use super::wiring::Setup;
use super::{CliError, interrupt, print, print_json};
use crate::agent::{Nowhere, Request};
use crate::context::BuiltContext;

/// Builds the context and shows it.
pub(super) async fn run(setup: &Setup, args: &ContextArgs) -> Result<u8, CliError> {
    let mode = args.mode.mode();
    let request = Request { mode, text: args.question.clone() };
    let cancel = CancellationToken::new();
    let mut maintainer = setup.maintainer(setup.model()?, Box::new(Nowhere), cancel.clone())?;
    let built = interrupt::guarded(&cancel, maintainer.preview(request)).await?;
    if setup.json {
        print_json(&value(&built))?;
    } else {
        print(&text(&built))?;
    }
    Ok(0)
}

/// Returns a context and its report as a person reads them.
pub(super) fn text(built: &BuiltContext) -> String {
    format!("{}\n\n{}\n", built.text(), built.report)
}

/// Returns a context and its report as data.
pub(super) fn value(built: &BuiltContext) -> Value {
    json!({
        "text": built.text(),
        "tokens": built.tokens,
        "budget": built.budget,
        "report": built.report,
    })
}

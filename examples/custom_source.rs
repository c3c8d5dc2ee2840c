//! A source of one's own: it offers packets, and the builder decides which of them fit the
//! question and the budget. A script plays the model, so the example runs offline.
//!
//! `cargo run --example custom_source`

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use groundskeeper::agent::{CodebaseMaintainer, MaintainerOptions, Request};
use groundskeeper::context::{ContextPacket, ContextSource, PacketKind, Query, SourceFailure};
use groundskeeper::model::ChatModel;
use groundskeeper::model::scripted::ScriptedModel;
use groundskeeper::support::state_folder::StateFolder;
use groundskeeper::terminal;

/// Knows the tickets of an issue tracker.
struct Tickets(Vec<(&'static str, &'static str)>);

impl ContextSource for Tickets {
    fn name(&self) -> &'static str {
        "tickets"
    }

    fn gather<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        // Without a relevance of its own, a packet is ranked by the words of the question.
        let packet = |(number, text): &(&str, &str)| {
            ContextPacket::new(PacketKind::Custom, format!("ticket {number}"), *text, query.now)
        };
        async move { Ok(self.0.iter().map(packet).collect()) }.boxed()
    }
}

/// A source that fails: the turn goes on, and a warning tells why.
struct Broken;

impl ContextSource for Broken {
    fn name(&self) -> &'static str {
        "chat room"
    }

    fn gather<'a>(
        &'a self,
        _query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        let message = "the server does not answer".to_owned();
        async move { Err(SourceFailure { source_name: self.name(), message }) }.boxed()
    }
}

const SCRIPT: &str = "
steps:
  - sees: [Given by ticket 17, refused payments]
    misses: [new colours]
    says: Ticket 17 is about that.
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
    let model = Arc::new(ScriptedModel::from_yaml(SCRIPT, "tickets.yaml")?);

    let mut options = MaintainerOptions::new("flask_shop", &folder, Arc::clone(&model) as _)?;
    options.state = StateFolder::of(&folder, Some(state.path()));
    options.terminal = terminal::Options::with_helper(std::env::current_exe()?);
    let mut maintainer = CodebaseMaintainer::with(options)?;
    maintainer.add_source(Tickets(vec![
        ("17", "Refused payments: what becomes of refused payments and their stock?"),
        ("18", "The start page wants new colours."),
    ]));
    maintainer.add_source(Broken);

    let question = "Is there a ticket about refused payments?";
    let preview = maintainer.preview(Request::ask(question)).await?;
    let tickets = |source: &str| source.starts_with("ticket ");
    for packet in preview.report.packets.iter().filter(|packet| tickets(&packet.source)) {
        println!("{}: {:?}", packet.source, packet.fate);
    }
    println!("{}", maintainer.ask(question).await?.answer);
    model.finish()?;
    Ok(())
}

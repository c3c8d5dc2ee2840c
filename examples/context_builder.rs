//! Chapter 9.3.4: a context for one question, from messages, memories and documents.
//!
//! Run it with `cargo run --example context_builder`; it needs no model and no network.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta};
use groundskeeper::context::{
    ContextBuilder, ContextConfig, ContextPacket, PacketKind, Parts, Query,
};
use groundskeeper::support::tokens::TokenCounter;

fn main() -> Result<(), Box<dyn Error>> {
    let config = ContextConfig { max_tokens: 600, min_relevance: 0.2, ..ContextConfig::default() };
    let counter = Arc::new(TokenCounter::for_model("gpt-4o"));
    let builder = ContextBuilder::new(config, counter)?;

    let now = DateTime::parse_from_rfc3339("2025-01-19T15:30:00Z")?.to_utc();
    let task = "How can we reduce the memory that pandas needs?";
    let query = Query { text: task.to_owned(), mode: "ask".to_owned(), now, session: None };
    let parts = Parts {
        instructions: "You advise a team on data engineering in Python.".to_owned(),
        task: task.to_owned(),
        output: "Give concrete steps, say why they work, and show code.".to_owned(),
    };

    // Messages come with the chapter's relevance; the rest is scored against the question.
    let said = |role: &str, text: &str, minutes: i64| {
        let at = now - TimeDelta::minutes(minutes);
        ContextPacket::new(PacketKind::Conversation, role, text, at).with_relevance(0.6)
    };
    let known = |kind, source: &str, text: &str, days: i64| {
        ContextPacket::new(kind, source, text, now - TimeDelta::days(days))
    };
    let packets = [
        said("user", "We are writing a tool that analyses sales data.", 9),
        said("assistant", "Such tools read large files. Which libraries do you use?", 8),
        said("user", "pandas. The CSV reader is finished.", 7),
        known(PacketKind::Memory, "session_20250117_101500", "The CSV reader is finished.", 2),
        known(
            PacketKind::Knowledge,
            "docs/pandas.md:4-9",
            "Ways to use less memory with pandas:\n- a category in place of an object\n- int32 in place of int64\n- chunksize, to read a file in parts",
            30,
        ),
        known(PacketKind::Knowledge, "docs/release.md", "Releases are made on Mondays.", 3),
    ];

    let context = builder.build(packets, &query, &parts)?;
    println!("{}\n", context.text());
    println!("{}", context.report);
    Ok(())
}

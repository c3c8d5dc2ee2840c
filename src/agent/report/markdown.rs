//! The report as people read it: the same figures as in the data, none of its own.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::Report;
use crate::support::plural::counted;

impl fmt::Display for Report {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (info, activity) = (&self.session_info, &self.activity);
        writeln!(text, "# Session {}\n", info.session_id)?;
        writeln!(text, "| | |\n|---|---|")?;
        writeln!(text, "| project | {} |", info.project)?;
        writeln!(text, "| model | {} |", info.model)?;
        writeln!(text, "| started | {} |", info.started)?;
        writeln!(text, "| duration | {:.1} s |", info.duration_seconds)?;
        writeln!(text, "| turns, steps | {}, {} |", activity.turns, activity.steps)?;
        writeln!(
            text,
            "| commands | {} executed, {} refused |",
            activity.commands_executed, activity.commands_refused
        )?;
        writeln!(
            text,
            "| notes | {} created, {} changed, {} of them new blockers |",
            activity.notes_created, activity.notes_changed, activity.issues_found
        )?;
        writeln!(
            text,
            "| tokens{} | {} in ({:.0} % repeated), {} out |",
            if self.tokens.estimated { ", counted here" } else { "" },
            self.tokens.prompt,
            self.tokens.cached_share * 100.0,
            self.tokens.completion
        )?;
        writeln!(
            text,
            "| cited places | {} checked, {} wrong |",
            activity.claims_checked, activity.claims_wrong
        )?;
        if !activity.limits_hit.is_empty() {
            writeln!(text, "| limits hit | {} |", activity.limits_hit.join(", "))?;
        }
        for row in &self.turns {
            writeln!(text, "\n## Turn {}: {} ({})\n", row.turn, row.mode, row.outcome)?;
            if !row.question.is_empty() {
                for line in row.question.lines() {
                    writeln!(text, "> {line}")?;
                }
                writeln!(text)?;
            }
            writeln!(text, "{}", row.answer.trim_end())?;
        }
        if !self.notes_touched.is_empty() {
            writeln!(text, "\n## Notes touched\n")?;
            for row in &self.notes_touched {
                writeln!(text, "- {} {} `{}`: {}", row.action, row.note_type, row.id, row.title)?;
            }
        }
        list(text, "Cited places that are wrong", &self.wrong_claims)?;
        list(text, "Warnings", &self.warnings)?;
        self.write_notes(text)
    }
}

impl Report {
    /// Returns the report for people, as Markdown.
    pub fn to_markdown(&self) -> String {
        self.to_string()
    }

    fn write_notes(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.notes.get("summary").and_then(Value::as_str) {
            Some(summary) => writeln!(text, "\n## The notes now\n\n{summary}"),
            None => Ok(()),
        }
    }
}

/// Says in a sentence what notes there are; none when they could not be read.
pub(super) fn summary_of(notes: &Value) -> Option<String> {
    let total = notes.get("total_notes").and_then(Value::as_u64)?;
    let kinds = notes.get("type_distribution").and_then(Value::as_object);
    let kinds: BTreeMap<&str, u64> = kinds
        .into_iter()
        .flatten()
        .filter_map(|(kind, count)| Some((kind.as_str(), count.as_u64()?)))
        .collect();
    let kinds: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(": {}", kinds.join(", ")) };
    Some(format!("{}{kinds}.", counted(total, "note", "notes")))
}

fn list(text: &mut fmt::Formatter<'_>, heading: &str, rows: &[String]) -> fmt::Result {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(text, "\n## {heading}\n")?;
    rows.iter().try_for_each(|row| writeln!(text, "- {row}"))
}

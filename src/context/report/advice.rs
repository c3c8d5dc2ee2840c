//! What would make a context better, in words.

use super::{Fate, PacketReport, QualityReport, share};
use crate::context::{ContextConfig, PacketKind, Section};

/// Returns the advice that the figures give; nothing when all is well.
pub(super) fn advice(report: &QualityReport, config: &ContextConfig) -> Vec<String> {
    let mut advice = Vec::new();
    let with = |fate: &Fate| -> Vec<&PacketReport> {
        report.packets.iter().filter(|packet| packet.fate == *fate).collect()
    };
    let no_room = with(&Fate::NoRoom);
    let below = with(&Fate::BelowThreshold);
    let trimmed = with(&Fate::Trimmed);

    let kept_out = no_room.iter().filter(|packet| packet.score.is_none()).count();
    if kept_out > 0 {
        advice.push(format!(
            "{} did not fit although always kept: raise max_tokens, or resolve some",
            counted(kept_out, "open blocker or state item", "open blockers or state items")
        ));
    }
    if !no_room.is_empty() {
        let wanted: usize = no_room.iter().map(|packet| likely_tokens(packet)).sum();
        advice.push(format!(
            "{} found no room: max_tokens of about {} would take all",
            counted(no_room.len(), "candidate", "candidates"),
            report.tokens + wanted
        ));
    }
    if !trimmed.is_empty() {
        let names: Vec<String> =
            trimmed.iter().take(3).map(|packet| format!("`{}`", packet.source)).collect();
        let more = trimmed.len().saturating_sub(3);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        advice.push(format!(
            "{}{more} had to be shortened: raise max_tokens to see all",
            names.join(", ")
        ));
    }
    if report.query_terms == 0 {
        advice.push(
            "the query has no words to search for: recency alone decided; ask with names and terms"
                .to_owned(),
        );
    } else if report.coverage == 0.0 && report.packets.iter().any(|packet| packet.score.is_some()) {
        advice.push("nothing that was taken matches the query: ask with other words, or look at the files first".to_owned());
    } else if !report.missing_terms.is_empty() {
        advice.push(format!("no candidate mentions {}", quoted(&report.missing_terms)));
    }
    if !report.left_out_terms.is_empty() {
        advice.push(format!(
            "only candidates that were left out mention {}",
            quoted(&report.left_out_terms)
        ));
    }
    let best_below = below.iter().filter_map(|packet| packet.relevance).fold(0.0, f64::max);
    if best_below > 0.0 && report.budget_share < ROOMY {
        advice.push(format!(
            "{} below min_relevance {} although there is room: {best_below:.2} would take the best of them",
            counted(below.len(), "candidate is", "candidates are"),
            config.min_relevance
        ));
    }
    let fixed: usize = report
        .sections
        .iter()
        .filter(|part| matches!(part.section, Section::Role | Section::Task | Section::Output))
        .map(|part| part.tokens)
        .sum();
    if share(fixed, report.budget) > LARGE {
        advice.push(format!(
            "the fixed parts take {:.0} % of the budget: raise max_tokens or shorten the instructions",
            share(fixed, report.budget) * 100.0
        ));
    }
    if report.redundancy > REPETITIVE {
        advice.push(format!(
            "{:.0} % of the words are repetitions: merge notes that say the same",
            report.redundancy * 100.0
        ));
    }
    if report.stale_share > LARGE {
        advice.push(
            "most of it is more than three weeks old: look again before relying on it".to_owned(),
        );
    }
    let shown_notes = report
        .packets
        .iter()
        .filter(|packet| packet.fate.is_shown() && packet.kind == PacketKind::Note)
        .count();
    if shown_notes == 0 && below.iter().any(|packet| packet.kind == PacketKind::Note) {
        advice
            .push("no note is relevant enough: lower min_relevance to see the nearest".to_owned());
    }
    advice
}

/// Below this share of the budget there is room for more.
const ROOMY: f64 = 0.7;

/// A share that is more than half of the whole.
const LARGE: f64 = 0.5;

/// A share of repeated words that is worth a remark; texts on one subject share many.
const REPETITIVE: f64 = 0.6;

/// Returns what a candidate costs, estimated where it was not counted.
fn likely_tokens(packet: &PacketReport) -> usize {
    packet.tokens.unwrap_or(packet.bytes / 4)
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

//! What would make a context better, in words.

use super::{Fate, PacketReport, QualityReport, holds_items, share};
use crate::context::{ContextConfig, PacketKind};
use crate::support::plural::counted;

/// Returns the advice that the figures give, the most pressing first; nothing when all is well.
pub(super) fn advice(report: &QualityReport, config: &ContextConfig) -> Vec<String> {
    [
        kept_without_room(report),
        without_room(report),
        shortened(report),
        unanswered(report),
        left_out_words(report),
        below_threshold(report, config),
        large_fixed_parts(report),
        repetitions(report),
        old_items(report),
        irrelevant_notes(report),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn kept_without_room(report: &QualityReport) -> Option<String> {
    let count =
        with(report, &Fate::NoRoom).into_iter().filter(|packet| packet.score.is_none()).count();
    (count > 0).then(|| {
        format!(
            "{} did not fit although always kept: raise max_tokens, or resolve some",
            counted(count, "open blocker or state item", "open blockers or state items")
        )
    })
}

fn without_room(report: &QualityReport) -> Option<String> {
    let no_room = with(report, &Fate::NoRoom);
    let wanted: usize = no_room.iter().map(|packet| likely_tokens(packet)).sum();
    (!no_room.is_empty()).then(|| {
        format!(
            "{} found no room: max_tokens of about {} would take all",
            counted(no_room.len(), "candidate", "candidates"),
            report.tokens + wanted
        )
    })
}

fn shortened(report: &QualityReport) -> Option<String> {
    let trimmed = with(report, &Fate::Trimmed);
    let names: Vec<String> =
        trimmed.iter().take(NAMED).map(|packet| format!("`{}`", packet.source)).collect();
    let more = match trimmed.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let names = names.join(", ");
    (!trimmed.is_empty())
        .then(|| format!("{names}{more} had to be shortened: raise max_tokens to see all"))
}

fn unanswered(report: &QualityReport) -> Option<String> {
    if report.query_terms == 0 {
        return Some(
            "the query has no words to search for: recency alone decided; ask with names and terms"
                .to_owned(),
        );
    }
    if report.coverage == 0.0 && report.packets.iter().any(|packet| packet.score.is_some()) {
        return Some("nothing that was taken matches the query: ask with other words, or look at the files first".to_owned());
    }
    let missing = &report.missing_terms;
    (!missing.is_empty()).then(|| format!("no candidate mentions {}", quoted(missing)))
}

fn left_out_words(report: &QualityReport) -> Option<String> {
    let words = &report.left_out_terms;
    (!words.is_empty())
        .then(|| format!("only candidates that were left out mention {}", quoted(words)))
}

fn below_threshold(report: &QualityReport, config: &ContextConfig) -> Option<String> {
    let below = with(report, &Fate::BelowThreshold);
    let best = below.iter().filter_map(|packet| packet.relevance).fold(0.0, f64::max);
    (best > 0.0 && report.budget_share < ROOMY).then(|| {
        format!(
            "{} below min_relevance {} although there is room: {best:.2} would take the best of them",
            counted(below.len(), "candidate is", "candidates are"),
            config.min_relevance
        )
    })
}

fn large_fixed_parts(report: &QualityReport) -> Option<String> {
    let fixed = report.sections.iter().filter(|part| !holds_items(part.section));
    let fixed = share(fixed.map(|part| part.tokens).sum(), report.budget);
    (fixed > LARGE).then(|| {
        format!(
            "the fixed parts take {:.0} % of the budget: raise max_tokens or shorten the instructions",
            fixed * 100.0
        )
    })
}

fn repetitions(report: &QualityReport) -> Option<String> {
    let percent = report.redundancy * 100.0;
    (report.redundancy > REPETITIVE).then(|| {
        format!("{percent:.0} % of the words are repetitions: merge notes that say the same")
    })
}

fn old_items(report: &QualityReport) -> Option<String> {
    (report.stale_share > LARGE).then(|| {
        "most of it is more than three weeks old: look again before relying on it".to_owned()
    })
}

fn irrelevant_notes(report: &QualityReport) -> Option<String> {
    let notes = || report.packets.iter().filter(|packet| packet.kind == PacketKind::Note);
    let is_shown = notes().any(|packet| packet.fate.is_shown());
    let is_below = notes().any(|packet| packet.fate == Fate::BelowThreshold);
    (is_below && !is_shown)
        .then(|| "no note is relevant enough: lower min_relevance to see the nearest".to_owned())
}

/// So many candidates are named where a piece of advice is about some.
const NAMED: usize = 3;

/// Below this share of the budget there is room for more.
const ROOMY: f64 = 0.7;

/// A share that is more than half of the whole.
const LARGE: f64 = 0.5;

/// A share of repeated words that is worth a remark; texts on one subject share many.
const REPETITIVE: f64 = 0.6;

fn with<'a>(report: &'a QualityReport, fate: &Fate) -> Vec<&'a PacketReport> {
    report.packets.iter().filter(|packet| packet.fate == *fate).collect()
}

/// Returns what a candidate costs, estimated where it was not counted.
fn likely_tokens(packet: &PacketReport) -> usize {
    packet.tokens.unwrap_or(packet.bytes / 4)
}

fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

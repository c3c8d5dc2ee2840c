//! The report as a person reads it, without colours and within 100 columns or so.

use std::fmt::{self, Write as _};

use super::{Fate, PacketReport, QualityReport};
use crate::context::PacketKind;
use crate::support::text::first_line;

impl fmt::Display for QualityReport {
    /// Writes the budget, the sections, the candidates, the figures and the advice.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{} of {} tokens ({:.0} %), {} reserved for the fixed parts",
            self.tokens,
            self.budget,
            self.budget_share * 100.0,
            self.reserved
        )?;
        for part in &self.sections {
            let items = if part.items == 1 { "item" } else { "items" };
            writeln!(
                formatter,
                "  {:<18}{:>7} tokens  {:>3} {items}",
                part.section.header(),
                part.tokens,
                part.items
            )?;
        }
        let shown = self.packets.iter().filter(|packet| packet.fate.is_shown()).count();
        writeln!(formatter, "{shown} of {} candidates shown", self.packets.len())?;
        for packet in &self.packets {
            writeln!(formatter, "  {}", line_of(packet))?;
        }
        writeln!(
            formatter,
            "coverage {:.0} % of {} query terms, density {:.1} per 1,000 tokens, redundancy {:.0} %, mean age {}, stale {:.0} %",
            self.coverage * 100.0,
            self.query_terms,
            self.density,
            self.redundancy * 100.0,
            age(self.mean_age_hours),
            self.stale_share * 100.0
        )?;
        for advice in &self.advice {
            writeln!(formatter, "advice: {advice}")?;
        }
        Ok(())
    }
}

fn line_of(packet: &PacketReport) -> String {
    let mut line = format!("{:<15}", fate(&packet.fate));
    match packet.score {
        Some(score) => {
            let _ = write!(
                line,
                " {score:.2} (relevance {:.2}, recency {:.2})",
                packet.relevance.unwrap_or_default(),
                packet.recency.unwrap_or_default()
            );
        }
        None => line.push_str(" always kept                       "),
    }
    match packet.tokens {
        Some(tokens) if packet.fate == Fate::Trimmed => {
            let _ = write!(line, " {:>5} of {tokens} tokens", packet.shown_tokens);
        }
        Some(tokens) => {
            let _ = write!(line, " {tokens:>5} tokens");
        }
        None => line.push_str("             "),
    }
    let _ = write!(line, "  {} {}", kind(packet), first_line(&packet.source, 60));
    if let Fate::Duplicate { of } = &packet.fate {
        let _ = write!(line, " (as {})", first_line(of, 60));
    }
    line
}

fn kind(packet: &PacketReport) -> String {
    let kind = match packet.kind {
        PacketKind::Instruction => "instruction",
        PacketKind::State => "state",
        PacketKind::WorkState => "work state",
        PacketKind::Note => "note",
        PacketKind::Knowledge => "document",
        PacketKind::CommandOutput => "output",
        PacketKind::Conversation => "message",
        PacketKind::Memory => "memory",
        PacketKind::Custom => "custom",
    };
    match &packet.note_type {
        Some(note_type) => note_type.clone(),
        None => kind.to_owned(),
    }
}

fn fate(fate: &Fate) -> &'static str {
    match fate {
        Fate::Taken => "taken",
        Fate::Trimmed => "trimmed",
        Fate::NoRoom => "no room",
        Fate::BelowThreshold => "below threshold",
        Fate::Duplicate { .. } => "duplicate",
        Fate::Empty => "empty",
    }
}

fn age(hours: f64) -> String {
    if hours < 1.0 {
        format!("{:.0} min", hours * 60.0)
    } else if hours < 48.0 {
        format!("{hours:.0} h")
    } else {
        format!("{:.0} days", hours / 24.0)
    }
}

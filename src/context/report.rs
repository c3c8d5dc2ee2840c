//! How good a built context is: what became of each candidate and why, what the room was used for,
//! how well it answers the query, and what would make it better.
//!
//! Chapter 9.3.5 asks for such figures without saying how. All of it is computed from the build
//! alone, so two builds with different settings can be compared (A/B).

mod advice;
mod display;

use std::borrow::Cow;
use std::collections::HashSet;

use serde::Serialize;

use super::same::Saying;
use super::score::{self, OLDEST, Score};
use super::select::{Candidate, Selection};
use super::{PacketKind, Query, Section};
use crate::support::mentions::Finder;
use crate::support::words::Terms;

/// The figures of one build.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QualityReport {
    /// The exact count of the whole text.
    pub tokens: usize,
    /// What it had to fit.
    pub budget: usize,
    /// `tokens / budget`.
    pub budget_share: f64,
    /// What was kept free for the parts that do not compete.
    pub reserved: usize,
    /// Each section of the text.
    pub sections: Vec<SectionReport>,
    /// Each candidate: first what was taken, each group by score.
    pub packets: Vec<PacketReport>,
    /// How many different words the query has.
    pub query_terms: usize,
    /// The share of the query's words that are found in the text besides the task.
    pub coverage: f64,
    /// Words of the query that only candidates have which were left out.
    pub left_out_terms: Vec<String>,
    /// Words of the query that no candidate has.
    pub missing_terms: Vec<String>,
    /// The query's words that are found, for each 1,000 tokens of state, evidence and context.
    pub density: f64,
    /// The share of words that another item has said already.
    pub redundancy: f64,
    /// The mean age of the items that compete, in hours.
    pub mean_age_hours: f64,
    /// The share of those that are so old that recency counts them all alike.
    pub stale_share: f64,
    /// What would make the context better, in words.
    pub advice: Vec<String>,
}

/// What a section took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SectionReport {
    /// Which.
    pub section: Section,
    /// Its exact count, with the header.
    pub tokens: usize,
    /// How many items it has.
    pub items: usize,
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PacketReport {
    /// Where it comes from.
    pub source: String,
    /// What it is.
    pub kind: PacketKind,
    /// A note's type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note_type: Option<String>,
    /// What became of it.
    #[serde(flatten)]
    pub fate: Fate,
    /// How many bytes it has.
    pub bytes: usize,
    /// What it would cost whole; absent when it was not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<usize>,
    /// What it costs as it is shown.
    pub shown_tokens: usize,
    /// The parts of its score; absent for what does not compete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    /// See `relevance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recency: Option<f64>,
    /// The weighted sum of the two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// How old it is.
    pub age_hours: f64,
}

/// What became of a candidate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum Fate {
    /// It is in the text, whole.
    Taken,
    /// It is in the text, with a gap that is marked.
    Trimmed,
    /// It did not fit.
    NoRoom,
    /// It is less relevant than `min_relevance`.
    BelowThreshold,
    /// It says what another one says that was taken.
    Duplicate {
        /// The other one's source.
        of: String,
    },
    /// There is nothing in it.
    Empty,
}

impl Fate {
    /// Returns whether the candidate is in the text.
    pub fn is_shown(&self) -> bool {
        match self {
            Self::Taken | Self::Trimmed => true,
            Self::NoRoom | Self::BelowThreshold | Self::Duplicate { .. } | Self::Empty => false,
        }
    }
}

/// Computes the figures of a finished selection.
pub(super) fn report(
    selection: &Selection<'_>,
    sections: &[(Section, String)],
    query: &Query,
    tokens: usize,
    reserved: usize,
) -> QualityReport {
    let budget = selection.builder.config.max_tokens;
    let packets = packet_reports(selection);
    let sections: Vec<SectionReport> = sections
        .iter()
        .map(|(section, text)| SectionReport {
            section: *section,
            tokens: selection.builder.counter.count(text),
            items: items_of(selection, *section),
        })
        .collect();
    let words = QueryWords::new(selection, query);
    let item_tokens: usize =
        sections.iter().filter(|part| holds_items(part.section)).map(|part| part.tokens).sum();
    let competing: Vec<&PacketReport> =
        packets.iter().filter(|packet| packet.fate.is_shown() && packet.score.is_some()).collect();
    let stale = competing
        .iter()
        .filter(|packet| packet.recency.is_some_and(|recency| recency <= OLDEST))
        .count();
    let mut report = QualityReport {
        tokens,
        budget,
        budget_share: share(tokens, budget),
        reserved,
        sections,
        query_terms: words.all,
        coverage: share(words.found, words.all),
        left_out_terms: words.left_out,
        missing_terms: words.missing,
        density: share(words.found * 1_000, item_tokens),
        redundancy: redundancy(selection),
        mean_age_hours: mean(competing.iter().map(|packet| packet.age_hours)),
        stale_share: share(stale, competing.len()),
        packets,
        advice: Vec::new(),
    };
    report.advice = advice::advice(&report, &selection.builder.config);
    report
}

/// How the query's words are covered.
struct QueryWords {
    all: usize,
    found: usize,
    left_out: Vec<String>,
    missing: Vec<String>,
}

impl QueryWords {
    fn new(selection: &Selection<'_>, query: &Query) -> Self {
        let wanted = score::term_set(&query.text);
        let finder = Finder::new(&score::terms_of(wanted.iter()));
        let draft = &selection.draft;
        let items = draft.state.iter().chain(&draft.evidence).chain(&draft.context);
        let shown = score::found_in(&finder, items.map(|item| item.text.as_str()));
        // What is shown was offered, and for the rest it is enough to find each word once.
        let absent: Terms = score::terms_of(wanted.iter().filter(|term| !shown.contains(*term)));
        let contents = selection.candidates.iter().map(|candidate| &*candidate.content);
        let offered = score::found_in(&Finder::new(&absent), contents);
        let found = shown.len();
        let absent = |in_offer: bool| {
            let terms: HashSet<&String> = wanted
                .iter()
                .filter(|term| !shown.contains(*term))
                .filter(|term| offered.contains(*term) == in_offer)
                .collect();
            as_spelled(&terms, &query.text)
        };
        Self { all: wanted.len(), found, left_out: absent(true), missing: absent(false) }
    }
}

/// Returns the words of a text that hold the terms, in their order, as they are spelled there;
/// pairs of characters as they are.
fn as_spelled(terms: &HashSet<&String>, text: &str) -> Vec<String> {
    let mut spelled = Vec::new();
    let mut seen = HashSet::new();
    for word in text.split(|character: char| !character.is_alphanumeric() && character != '_') {
        let mut of_word: Vec<String> = score::term_set(word).into_iter().collect();
        of_word.sort();
        for term in of_word {
            if !terms.contains(&term) || !seen.insert(term.clone()) {
                continue;
            }
            let is_pair = term.chars().next().is_some_and(crate::support::words::is_spaceless);
            let shown = if is_pair { term } else { word.to_owned() };
            if !spelled.contains(&shown) {
                spelled.push(shown);
            }
        }
    }
    spelled
}

fn packet_reports(selection: &Selection<'_>) -> Vec<PacketReport> {
    let draft = &selection.draft;
    let mut shown_tokens = vec![0; selection.candidates.len()];
    for item in draft.state.iter().chain(&draft.evidence).chain(&draft.context) {
        shown_tokens[item.packet] = item.tokens;
    }
    // Places are sorted, because a report is large.
    let mut order: Vec<(bool, bool, f64, usize)> = (0..)
        .zip(&selection.candidates)
        .map(|(place, candidate)| {
            let is_shown = candidate.fate.as_ref().is_some_and(Fate::is_shown);
            let score = candidate.score.map(|score| score.total);
            (!is_shown, score.is_some(), -score.unwrap_or(0.0), place)
        })
        .collect();
    order.sort_unstable_by(|one, other| {
        let groups = (one.0, one.1).cmp(&(other.0, other.1));
        groups.then(one.2.total_cmp(&other.2)).then(one.3.cmp(&other.3))
    });
    let report = |place: usize| packet_report(&selection.candidates[place], shown_tokens[place]);
    order.into_iter().map(|(.., place)| report(place)).collect()
}

fn packet_report(candidate: &Candidate<'_>, shown_tokens: usize) -> PacketReport {
    let part = |part: fn(&Score) -> f64| candidate.score.as_ref().map(part);
    PacketReport {
        source: candidate.packet.source.clone(),
        kind: candidate.packet.kind,
        note_type: candidate.packet.note_type.clone(),
        fate: candidate.fate.clone().unwrap_or(Fate::NoRoom),
        bytes: candidate.content.len(),
        tokens: candidate.tokens,
        shown_tokens,
        relevance: part(|score| score.relevance),
        recency: part(|score| score.recency),
        score: part(|score| score.total),
        age_hours: candidate.age_hours,
    }
}

/// Returns the share of the items' distinct words that an item before had already.
fn redundancy(selection: &Selection<'_>) -> f64 {
    let draft = &selection.draft;
    let mut said = HashSet::new();
    let (mut all, mut new) = (0, 0);
    for item in draft.state.iter().chain(&draft.evidence).chain(&draft.context) {
        let candidate = &selection.candidates[item.packet];
        let read = match &candidate.saying {
            // Of what was cut only what is left says anything.
            _ if item.trimmed => Cow::Owned(Saying::of(&item.text)),
            Some(saying) => Cow::Borrowed(saying),
            None => Cow::Owned(Saying::of(&candidate.content)),
        };
        all += read.terms().len();
        new += read.terms().iter().filter(|term| said.insert(**term)).count();
    }
    share(all - new, all)
}

fn items_of(selection: &Selection<'_>, section: Section) -> usize {
    match section {
        Section::Role | Section::Task | Section::Output => 1,
        Section::State => selection.draft.state.len(),
        Section::Evidence => selection.draft.evidence.len(),
        Section::Context => selection.draft.context.len(),
    }
}

fn holds_items(section: Section) -> bool {
    match section {
        Section::State | Section::Evidence | Section::Context => true,
        Section::Role | Section::Task | Section::Output => false,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut count) = (0.0, 0.0);
    for value in values {
        total += value;
        count += 1.0;
    }
    if count > 0.0 { total / count } else { 0.0 }
}

//! Which candidates are taken: by score, each at most once, as long as there is room (9.3.3).
//!
//! The chapter stops at the first candidate that does not fit; here the fill goes on, because one
//! long candidate would starve all others. What is larger than the whole room gets half of it at
//! most; what did not fit whole gets, best first, what is left in the end.

use std::borrow::Cow;
use std::cmp::Reverse;

use super::compress::{LEAST, shorten};
use super::report::Fate;
use super::same::Saying;
use super::score::{self, Score};
use super::structure::{Draft, Item, content_of, label_size, render};
use super::{ContextBuilder, ContextPacket, Keep, PacketKind, Query, Section};
use crate::support::in_parts::in_parts;

/// A candidate with what is known of it so far.
pub(super) struct Candidate<'a> {
    pub(super) packet: &'a ContextPacket,
    pub(super) content: Cow<'a, str>,
    pub(super) age_hours: f64,
    /// None for what does not compete.
    pub(super) score: Option<Score>,
    /// None until it was tried.
    pub(super) tokens: Option<usize>,
    pub(super) fate: Option<Fate>,
    /// What it says, once that was needed.
    pub(super) saying: Option<Saying>,
}

/// The work of selecting for one build.
pub(super) struct Selection<'a> {
    pub(super) builder: &'a ContextBuilder,
    pub(super) candidates: Vec<Candidate<'a>>,
    pub(super) draft: Draft,
    /// The candidates that were taken, in the order in which they were.
    taken: Vec<usize>,
}

impl<'a> Selection<'a> {
    pub(super) fn new(
        builder: &'a ContextBuilder,
        packets: &'a [ContextPacket],
        query: &Query,
        draft: Draft,
    ) -> Self {
        let read = |part: &'a [ContextPacket]| part.iter().map(content_of).collect::<Vec<_>>();
        let contents = in_parts(packets, |packet| packet.content.len(), read);
        let mut candidates: Vec<Candidate<'a>> = packets
            .iter()
            .zip(contents.into_iter().flatten())
            .map(|(packet, content)| Candidate {
                packet,
                content,
                age_hours: score::age_hours(packet.timestamp, query.now),
                score: None,
                tokens: None,
                fate: None,
                saying: None,
            })
            .collect();
        score_all(builder, &mut candidates, query);
        Self { builder, candidates, draft, taken: Vec::new() }
    }

    /// Takes what is always kept, shortened to `room` tokens together.
    pub(super) fn take_kept(&mut self, room: usize) {
        let mut kept: Vec<usize> = (0..self.candidates.len())
            .filter(|index| is_kept(self.candidates[*index].packet))
            .filter(|index| self.is_open(*index))
            .collect();
        kept.sort_by(|a, b| self.importance(*a).total_cmp(&self.importance(*b)).reverse());
        kept.retain(|index| !self.is_duplicate(*index));
        let header = if kept.is_empty() { 0 } else { self.header_cost(Section::State) };
        let mut room = room.saturating_sub(header);
        let costs: Vec<usize> = kept.iter().map(|index| self.cost(*index)).collect();
        let cap = fair_share(&costs, room).max(LEAST);
        for (index, cost) in kept.into_iter().zip(costs) {
            let allowed = cap.min(room);
            let item = if cost <= allowed {
                Some(self.whole(index))
            } else {
                self.trimmed(index, allowed)
            };
            match item {
                Some(item) => {
                    room = room.saturating_sub(item.tokens);
                    self.take(index, item);
                }
                None => self.candidates[index].fate = Some(Fate::NoRoom),
            }
        }
    }

    /// Fills `room` tokens with candidates, best first.
    pub(super) fn fill(&mut self, room: usize) {
        let mut order: Vec<(usize, Score)> = (0..self.candidates.len())
            .filter(|index| self.is_open(*index))
            .filter_map(|index| Some((index, self.candidates[index].score?)))
            .collect();
        order.sort_by(|(a, one), (b, other)| {
            let newest_first = |index: usize| Reverse(self.candidates[index].packet.timestamp);
            other.total.total_cmp(&one.total).then_with(|| newest_first(*a).cmp(&newest_first(*b)))
        });
        let least = self.builder.config.min_relevance;
        let mut relevant = Vec::new();
        for (index, score) in order {
            let candidate = &mut self.candidates[index];
            if score.relevance < least && candidate.packet.kind != PacketKind::WorkState {
                candidate.fate = Some(Fate::BelowThreshold);
            } else {
                relevant.push(index);
            }
        }
        let (waiting, room) = self.fill_whole(relevant, room);
        self.fill_rest(waiting, room);
    }

    /// Takes what fits whole, and half of what is larger than the whole room. Returns the others
    /// and the room that is left.
    fn fill_whole(&mut self, relevant: Vec<usize>, whole_room: usize) -> (Vec<usize>, usize) {
        let mut room = whole_room;
        let mut waiting = Vec::new();
        let mut shortest_missed = usize::MAX;
        for index in relevant {
            let header = self.header_cost(self.section(index));
            // What hardly fits is not counted now, nor compared with the others: it is shorter
            // texts that have a chance where a longer one had none.
            let content = &self.candidates[index].content;
            let length = content.len();
            let hardly_fits = |room: usize| is_likely_over(content, room.saturating_sub(header));
            if (length >= shortest_missed || hardly_fits(room)) && !hardly_fits(whole_room) {
                waiting.push(index);
                continue;
            }
            if self.is_duplicate(index) {
                continue;
            }
            let cost = self.cost(index) + header;
            let item = if cost <= room {
                Some(self.whole(index))
            } else if cost > whole_room {
                self.trimmed(index, (whole_room / 2).min(room).saturating_sub(header))
            } else {
                None
            };
            if let Some(item) = item {
                room = room.saturating_sub(item.tokens + header);
                self.take(index, item);
            } else {
                shortest_missed = shortest_missed.min(length);
                waiting.push(index);
            }
        }
        (waiting, room)
    }

    /// Gives the room that is left to what did not fit whole, best first.
    fn fill_rest(&mut self, waiting: Vec<usize>, room: usize) {
        let mut room = room;
        // What was too little for a label, and the least of an item, is for a longer one.
        let mut shortest_missed = usize::MAX;
        for index in waiting {
            let header = self.header_cost(self.section(index));
            let candidate = &self.candidates[index];
            let left = room.saturating_sub(header);
            let label = label_size(candidate.packet);
            let cannot_be_cut =
                !self.builder.config.enable_compression || left < LEAST || label >= shortest_missed;
            if cannot_be_cut && is_likely_over(&candidate.content, left) {
                self.candidates[index].fate = Some(Fate::NoRoom);
                continue;
            }
            if self.is_duplicate(index) {
                continue;
            }
            let item = if self.cost(index) + header <= room {
                Some(self.whole(index))
            } else {
                self.trimmed(index, room.saturating_sub(header))
            };
            if let Some(item) = item {
                room = room.saturating_sub(item.tokens + header);
                self.take(index, item);
            } else {
                shortest_missed = shortest_missed.min(label);
                self.candidates[index].fate = Some(Fate::NoRoom);
            }
        }
    }

    /// Puts the items of each section into their final order: the state as it came, the
    /// conversation by time, what is kept by importance, the rest by score.
    pub(super) fn arrange(&mut self) {
        let candidates = &self.candidates;
        let rank = |item: &Item| match candidates[item.packet].packet.kind {
            PacketKind::State => 0,
            PacketKind::Conversation => 1,
            _ if candidates[item.packet].score.is_none() => 2,
            _ => 3,
        };
        let time = |item: &Item| (candidates[item.packet].packet.timestamp, item.packet);
        let total = |item: &Item| candidates[item.packet].score.map_or(0.0, |score| score.total);
        let compare = |one: &Item, other: &Item| match (rank(one), rank(other)) {
            (0, 0) => one.packet.cmp(&other.packet),
            (1, 1) => time(one).cmp(&time(other)),
            (3, 3) => total(other).total_cmp(&total(one)),
            (one, other) => one.cmp(&other),
        };
        for list in [&mut self.draft.state, &mut self.draft.evidence, &mut self.draft.context] {
            list.sort_by(compare);
        }
    }

    /// Makes what does not fit shorter or leaves it out, the least important first, until the text
    /// fits by exact count. The fill sees to it that there is hardly ever anything to do.
    pub(super) fn compress(&mut self, budget: usize) {
        loop {
            let tokens = self.builder.tokens_of(&self.draft);
            if tokens <= budget {
                return;
            }
            let Some((section, place)) = self.least_important() else {
                // Nothing but the fixed parts is left, and those were checked.
                self.draft.state_end.clear();
                return;
            };
            let item = self.draft.list(section).remove(place);
            let allowed = item.tokens.saturating_sub(tokens - budget);
            match self.trimmed(item.packet, allowed) {
                Some(shorter) => {
                    self.candidates[item.packet].fate = Some(Fate::Trimmed);
                    self.draft.list(section).insert(place, shorter);
                }
                None => self.candidates[item.packet].fate = Some(Fate::NoRoom),
            }
        }
    }

    /// Returns what the items cost, with the headers of their sections.
    pub(super) fn tokens(&self) -> usize {
        let draft = &self.draft;
        [Section::State, Section::Evidence, Section::Context]
            .into_iter()
            .zip([&draft.state, &draft.evidence, &draft.context])
            .filter(|(_, items)| !items.is_empty())
            .map(|(section, items)| {
                let header = self.builder.count_line(section.header());
                header + items.iter().map(|item| item.tokens).sum::<usize>()
            })
            .sum()
    }

    /// Returns how many candidates are in the text.
    pub(super) fn shown(&self) -> usize {
        let shown =
            |candidate: &&Candidate<'_>| candidate.fate.as_ref().is_some_and(Fate::is_shown);
        self.candidates.iter().filter(shown).count()
    }

    /// Returns how many candidates are not in the text although they are always kept.
    pub(super) fn kept_left_out(&self) -> usize {
        let left_out = |candidate: &&Candidate<'_>| {
            is_kept(candidate.packet) && candidate.fate == Some(Fate::NoRoom)
        };
        self.candidates.iter().filter(left_out).count()
    }

    fn least_important(&self) -> Option<(Section, usize)> {
        let draft = &self.draft;
        [Section::State, Section::Evidence, Section::Context]
            .into_iter()
            .zip([&draft.state, &draft.evidence, &draft.context])
            .flat_map(|(section, items)| {
                items.iter().enumerate().map(move |(place, item)| (section, place, item.packet))
            })
            .min_by(|one, other| self.importance(one.2).total_cmp(&self.importance(other.2)))
            .map(|(section, place, _)| (section, place))
    }

    /// Returns what decides who gives way: the state last, what is always kept before it, and what
    /// competes by its score, which is at most 1.
    fn importance(&self, index: usize) -> f64 {
        let candidate = &self.candidates[index];
        match candidate.score {
            Some(score) => score.total,
            None if candidate.packet.kind == PacketKind::State => 4.0,
            None => 2.0 + candidate.packet.relevance.unwrap_or(WORK_STATE_FLOOR),
        }
    }

    fn whole(&self, index: usize) -> Item {
        let candidate = &self.candidates[index];
        let text = render(candidate.packet, &candidate.content);
        let tokens = self.builder.count_item(self.section(index), &text);
        Item { packet: index, text, tokens, trimmed: false }
    }

    fn trimmed(&self, index: usize, allowed: usize) -> Option<Item> {
        let candidate = &self.candidates[index];
        let (text, tokens) = shorten(self.builder, candidate.packet, &candidate.content, allowed)?;
        Some(Item { packet: index, text, tokens, trimmed: true })
    }

    fn cost(&mut self, index: usize) -> usize {
        if let Some(tokens) = self.candidates[index].tokens {
            return tokens;
        }
        let tokens = self.whole(index).tokens;
        self.candidates[index].tokens = Some(tokens);
        tokens
    }

    fn take(&mut self, index: usize, item: Item) {
        let fate = if item.trimmed { Fate::Trimmed } else { Fate::Taken };
        self.candidates[index].fate = Some(fate);
        let section = self.section(index);
        self.draft.list(section).push(item);
        self.taken.push(index);
    }

    /// Returns what the first item of a section costs besides.
    fn header_cost(&mut self, section: Section) -> usize {
        if self.draft.list(section).is_empty() {
            self.builder.count_line(section.header())
        } else {
            0
        }
    }

    /// Tells whether a candidate says what another one says that was taken, and notes it.
    /// Messages of a conversation may repeat each other.
    fn is_duplicate(&mut self, index: usize) -> bool {
        if self.candidates[index].packet.kind == PacketKind::Conversation {
            return false;
        }
        if self.candidates[index].saying.is_none() {
            self.candidates[index].saying = Some(Saying::of(&self.candidates[index].content));
        }
        let this = &self.candidates[index];
        let says_the_same = |taken: &&Candidate<'_>| {
            this.content == taken.content
                || matches!((&this.saying, &taken.saying), (Some(one), Some(other)) if one.is_like(other))
        };
        let mut taken = self.taken.iter().map(|taken| &self.candidates[*taken]);
        let Some(original) = taken.find(says_the_same) else { return false };
        let of = original.packet.source.clone();
        self.candidates[index].fate = Some(Fate::Duplicate { of });
        true
    }

    fn is_open(&self, index: usize) -> bool {
        self.candidates[index].fate.is_none()
    }

    fn section(&self, index: usize) -> Section {
        self.candidates[index].packet.kind.section()
    }
}

/// The relevance that an item of the work's state has at least.
const WORK_STATE_FLOOR: f64 = 0.75;

/// Gives every candidate its score, and those that cannot be taken their fate.
fn score_all(builder: &ContextBuilder, candidates: &mut [Candidate<'_>], query: &Query) {
    let mut competing = Vec::new();
    for (index, candidate) in candidates.iter_mut().enumerate() {
        if candidate.packet.kind == PacketKind::Instruction {
            candidate.fate = Some(Fate::Taken);
        } else if candidate.content.is_empty() {
            candidate.fate = Some(Fate::Empty);
        } else if !is_kept(candidate.packet) {
            competing.push(index);
        }
    }
    let open = |index: &usize| candidates[*index].packet.relevance.is_none();
    let computed = if competing.iter().any(open) {
        let contents: Vec<&str> =
            competing.iter().map(|index| &*candidates[*index].content).collect();
        builder.scorer.relevance(&query.text, &contents)
    } else {
        Vec::new()
    };
    for (place, index) in competing.into_iter().enumerate() {
        let candidate = &mut candidates[index];
        let given = candidate.packet.relevance.or_else(|| computed.get(place).copied());
        let relevance =
            given.filter(|relevance| !relevance.is_nan()).unwrap_or(0.0).clamp(0.0, 1.0);
        let relevance = match candidate.packet.kind {
            PacketKind::WorkState => relevance.max(WORK_STATE_FLOOR),
            _ => relevance,
        };
        let recency = score::recency(candidate.age_hours);
        candidate.score = Some(Score::new(relevance, recency, &builder.config));
    }
}

/// The state of the session is always kept, whoever brings it.
fn is_kept(packet: &ContextPacket) -> bool {
    packet.keep == Keep::Always || packet.kind == PacketKind::State
}

/// Returns whether a text has likely more than `most` tokens: every word begins with one, and one
/// rarely covers more than six bytes. Reads no more of the text than it must.
fn is_likely_over(text: &str, most: usize) -> bool {
    let most_words = text.len() / 2 + 1;
    text.len() / 6 > most || (most_words > most && text.split_whitespace().nth(most).is_some())
}

/// Returns the largest cap under which items of these costs fit the room together.
fn fair_share(costs: &[usize], room: usize) -> usize {
    let mut costs = costs.to_vec();
    costs.sort_unstable();
    let mut room = room;
    let mut left = costs.len();
    for cost in costs {
        if cost * left > room {
            return room / left;
        }
        room -= cost;
        left -= 1;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_is_shared_so_that_small_items_stay_whole() {
        assert_eq!(fair_share(&[10, 20, 30], 60), usize::MAX);
        assert_eq!(fair_share(&[10, 100, 100], 110), 50);
        assert_eq!(fair_share(&[100, 100], 10), 5);
        assert_eq!(fair_share(&[], 10), usize::MAX);
    }
}

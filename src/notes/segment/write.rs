//! How a segment is made: out of the one before and an index of what is newer.

use std::collections::BTreeMap;

use super::super::entry::Entry;
use super::super::note::{NoteId, NoteKind, Status};
use super::layout::{Header, PARTS, Part, Place, checksum, put_list, put_stamp, put_text};
use super::{HEAD, IS_LOCAL, IS_NOTE, SIGHT, Segment, terms};
use crate::support::bm25::{Index, KINDS, Posting, Postings, mean_of};
use crate::support::words::TermKind;

/// What a segment is made from: notes in their order, and where their postings come from.
pub(in super::super) struct Source<'a> {
    /// The entries, in the order of their files.
    pub(in super::super) entries: Vec<&'a Entry>,
    /// The number of each in the order of the folder.
    pub(in super::super) order: Vec<u32>,
    /// The segment before, and for each of its documents the number in this one.
    pub(in super::super) old: Option<(&'a Segment, Vec<Option<u32>>)>,
    /// An index of notes that are not in the old one, and for each the number in this one.
    pub(in super::super) fresh: (&'a Index, Vec<u32>),
}

impl Segment {
    /// Returns the bytes of a new segment file.
    pub(in super::super) fn write(source: &Source<'_>) -> Vec<u8> {
        let mut bytes = vec![0; Header::LENGTH];
        let mut parts = [Place::default(); PARTS];
        let (heads, rest) = source.heads();
        let lengths = source.lengths();
        let mut means = [0.0; 4];
        for (kind, mean) in means.iter_mut().enumerate() {
            let all: Vec<u32> = lengths.iter().map(|four| four[kind]).collect();
            *mean = mean_of(&all);
        }
        let lengths = lengths.into_iter().flatten().flat_map(u32::to_le_bytes).collect();
        for (part, content) in [(Part::Heads, heads), (Part::Rest, rest), (Part::Lengths, lengths)]
        {
            parts[part as usize] = put_part(&mut bytes, &content);
        }
        for kind in KINDS {
            let postings = source.postings(kind);
            let sorted = postings.iter().map(|(name, list)| (name.as_slice(), list.as_slice()));
            let table = terms::put(&mut bytes, sorted);
            parts[Part::of_terms(kind) as usize] = put_part(&mut bytes, &table);
        }
        let header = Header { documents: source.entries.len(), means, parts, folder: None };
        bytes[..Header::LENGTH].copy_from_slice(&header.written());
        bytes
    }
}

impl Source<'_> {
    fn heads(&self) -> (Vec<u8>, Vec<u8>) {
        // A place for each document, also where the folder changed in between.
        let mut places = vec![None; self.entries.len()];
        let mut order = Vec::new();
        for number in self.order.iter().copied().chain(0..short(self.entries.len())) {
            if let Some(place) = places.get_mut(number as usize).filter(|place| place.is_none()) {
                *place = Some(short(order.len()));
                order.push(number as usize);
            }
        }
        let (mut heads, mut rest) = (Vec::new(), Vec::new());
        for (entry, place) in self.entries.iter().zip(places) {
            let start = rest.len();
            put_entry(&mut rest, entry);
            put_head(&mut heads, entry, place.unwrap_or_default(), (start, &rest[start..]));
        }
        let mut names = Vec::new();
        for number in order {
            let entry = self.entries[number];
            put_sight(&mut heads, entry, short(number), names.len());
            names.extend(entry.file.as_bytes());
            names.push(0);
        }
        heads.append(&mut names);
        (heads, rest)
    }

    fn lengths(&self) -> Vec<[u32; 4]> {
        let mut lengths = vec![[0; 4]; self.entries.len()];
        if let Some((segment, numbers)) = &self.old {
            for (document, number) in (0..).zip(numbers) {
                if let Some(place) = number.and_then(|number| lengths.get_mut(number as usize)) {
                    *place = KINDS.map(|kind| segment.length(kind, document));
                }
            }
        }
        let (fresh, numbers) = &self.fresh;
        for (document, number) in (0..).zip(numbers) {
            if let Some(place) = lengths.get_mut(*number as usize) {
                *place = KINDS.map(|kind| fresh.length(kind, document));
            }
        }
        lengths
    }

    fn postings(&self, kind: TermKind) -> BTreeMap<Vec<u8>, Vec<Posting>> {
        let mut all: BTreeMap<Vec<u8>, Vec<Posting>> = BTreeMap::new();
        if let Some((segment, numbers)) = &self.old {
            let renumbered = segment.all(kind).into_iter().filter_map(|(name, mut postings)| {
                postings.retain_mut(|posting| {
                    let number = numbers.get(posting.document as usize).copied().flatten();
                    posting.document = number.unwrap_or_default();
                    number.is_some()
                });
                (!postings.is_empty()).then_some((name, postings))
            });
            // They come sorted, and a tree that is built of sorted pairs is quick to build.
            all = renumbered.collect();
        }
        let (fresh, numbers) = &self.fresh;
        for (name, postings) in fresh.postings(kind) {
            let new = postings.iter().filter_map(|posting| {
                let document = *numbers.get(posting.document as usize)?;
                Some(Posting { document, ..*posting })
            });
            match all.get_mut(name.as_bytes()) {
                Some(list) => list.extend(new),
                None => drop(all.insert(name.as_bytes().to_vec(), new.collect())),
            }
        }
        for list in all.values_mut() {
            list.sort_unstable_by_key(|posting| posting.document);
        }
        all
    }
}

fn put_part(bytes: &mut Vec<u8>, content: &[u8]) -> Place {
    let place = Place { start: bytes.len() as u64, length: content.len(), sum: checksum(content) };
    bytes.extend(content);
    place
}

fn put_head(heads: &mut Vec<u8>, entry: &Entry, place: u32, (rest, written): (usize, &[u8])) {
    let index_of = |found: Option<usize>| found.and_then(|at| u8::try_from(at).ok()).unwrap_or(0);
    let start = heads.len();
    heads.extend(short(rest).to_le_bytes());
    heads.extend(short(written.len()).to_le_bytes());
    heads.extend(checksum(written).to_le_bytes());
    heads.extend(place.to_le_bytes());
    heads.push(index_of(NoteKind::ALL.iter().position(|kind| *kind == entry.kind)));
    heads.push(index_of(Status::ALL.iter().position(|status| *status == entry.status)));
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    heads.push(flag(entry.is_note(), IS_NOTE) | flag(entry.is_local, IS_LOCAL));
    heads.push(0);
    heads.extend(entry.moment.to_le_bytes());
    debug_assert_eq!(heads.len() - start, HEAD, "a head has its length");
}

fn put_sight(heads: &mut Vec<u8>, entry: &Entry, document: u32, name: usize) {
    let start = heads.len();
    for number in [document, short(name), short(entry.file.len()), 0] {
        heads.extend(number.to_le_bytes());
    }
    put_stamp(heads, entry.stamp);
    debug_assert_eq!(heads.len() - start, SIGHT, "what a file was like has its length");
}

fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

fn put_entry(rest: &mut Vec<u8>, entry: &Entry) {
    put_text(rest, entry.id.as_ref().map_or("", NoteId::as_str).as_bytes());
    put_text(rest, entry.title.as_bytes());
    put_list(rest, &entry.tags);
    put_text(rest, entry.created_at.as_bytes());
    put_text(rest, entry.updated_at.as_bytes());
    put_text(rest, entry.thread.as_deref().unwrap_or_default().as_bytes());
    put_list(rest, &entry.depends_on);
    put_text(rest, entry.problem.as_deref().unwrap_or_default().as_bytes());
}

//! The derived file beside the notes that makes a cold search quick: entries and postings of the
//! notes as they were when it was written.
//!
//! It may be deleted or damaged at any time: bytes that are not exactly what was written are no
//! segment, and whoever reads one compares each stamp with the file's before believing an entry.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::entry::{Entry, Head};
use super::files::Stamp;
use super::note::{NoteId, NoteKind, Status};
use crate::support::bm25::{Index, KINDS, Posting, Postings, mean_of, slot};
use crate::support::words::TermKind;

/// What was read of a segment file.
#[derive(Debug)]
pub(super) struct Segment {
    bytes: Vec<u8>,
    /// What lists sort and filter by, in records of fixed size, sorted by the files' names; a
    /// record's place is a document's number.
    heads: (usize, usize),
    /// The document at each place of the folder, in the order in which the system lists it.
    order: (usize, usize),
    rest: (usize, usize),
    /// The entries that somebody asked for: most are never shown, and reading all takes longer
    /// than anything else of a list.
    entries: Vec<OnceLock<Option<Box<Entry>>>>,
    means: [f64; 4],
    terms: [Table; 4],
}

/// Where the terms of a kind are: sorted records of fixed size, and what they point to.
#[derive(Debug, Clone, Copy, Default)]
struct Table {
    records: (usize, usize),
    names: (usize, usize),
    postings: (usize, usize),
}

/// What the segment is made from: notes in their order, and where their postings come from.
pub(super) struct Source<'a> {
    /// The entries, sorted by file.
    pub(super) entries: Vec<&'a Entry>,
    /// The number of each in the order of the folder.
    pub(super) order: Vec<u32>,
    /// The segment before, and for each of its documents the number in this one.
    pub(super) old: Option<(&'a Segment, Vec<Option<u32>>)>,
    /// An index of notes that are not in the old one, and for each the number in this one.
    pub(super) fresh: (&'a Index, Vec<u32>),
}

impl Segment {
    /// Reads a segment file; none when it is not one, or not whole.
    pub(super) fn read(bytes: Vec<u8>) -> Option<Self> {
        let header = bytes.get(..HEADER)?;
        let (magic, sum) = (header.get(..8)?, header.get(8..16)?);
        let is_whole = magic == MAGIC && sum == checksum(bytes.get(HEADER..)?).to_le_bytes();
        if !is_whole {
            return None;
        }
        let mut reader = Reader { bytes: &bytes, at: HEADER };
        let (heads, order, rest) = (reader.section()?, reader.section()?, reader.section()?);
        let count = (heads.1 - heads.0) / HEAD;
        let mut terms = [Table::default(); 4];
        for table in &mut terms {
            table.records = reader.section()?;
            table.names = reader.section()?;
            table.postings = reader.section()?;
        }
        let entries = std::iter::repeat_with(OnceLock::new).take(count).collect();
        let mut segment = Self { bytes, heads, order, rest, entries, means: [0.0; 4], terms };
        segment.means = KINDS.map(|kind| {
            let all = (0_u32..).take(count).map(|document| segment.length(kind, document));
            mean_of(&all.collect::<Vec<u32>>())
        });
        Some(segment)
    }

    /// Returns the entry of a document.
    pub(super) fn entry(&self, document: usize) -> Option<&Entry> {
        let read = || {
            let at = self.rest.0.checked_add(self.small(document, REST)? as usize)?;
            let mut reader = Reader { bytes: self.bytes.get(..self.rest.1)?, at };
            read_entry(&mut reader, &self.head(document)?, self.stamp(document)?).map(Box::new)
        };
        self.entries.get(document)?.get_or_init(read).as_deref()
    }

    /// Returns what lists sort and filter by.
    pub(super) fn head(&self, document: usize) -> Option<Head<'_>> {
        let flags = self.record_of(document)?.get(FLAGS..FLAGS + 3)?;
        Some(Head {
            file: std::str::from_utf8(self.file(document)?).ok()?,
            kind: *NoteKind::ALL.get(usize::from(flags[0]))?,
            status: *Status::ALL.get(usize::from(flags[1]))?,
            is_note: flags[2] & IS_NOTE != 0,
            is_local: flags[2] & IS_LOCAL != 0,
            moment: self.large(document, MOMENT)?.cast_signed(),
        })
    }

    /// Returns the name of a document's file.
    pub(super) fn file(&self, document: usize) -> Option<&[u8]> {
        let start = self.rest.0.checked_add(self.small(document, REST)? as usize)?;
        let end = start.checked_add(self.small(document, NAME)? as usize)?;
        // The name ends where the rest of the entry begins.
        self.bytes.get(start..end)
    }

    /// Returns what a document's file was like.
    pub(super) fn stamp(&self, document: usize) -> Option<Stamp> {
        Some(Stamp {
            size: self.large(document, STAMP)?,
            modified: self.large(document, STAMP + 8)?.cast_signed(),
            changed: self.large(document, STAMP + 16)?.cast_signed(),
            inode: self.large(document, STAMP + 24)?,
        })
    }

    /// Returns the document of a file. `place` is where it is looked for first, and afterwards
    /// where the file that the system lists next is likely to be.
    pub(super) fn find(&self, name: &[u8], place: &mut usize) -> Option<usize> {
        let likely = *place * 4;
        let expected = self.bytes.get(self.order.0..self.order.1)?.get(likely..likely + 4);
        if let Some(four) = expected {
            let document = u32::from_le_bytes(four.try_into().ok()?) as usize;
            if self.file(document) == Some(name) {
                *place += 1;
                return Some(document);
            }
        }
        let (mut low, mut high) = (0, self.documents());
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.file(middle)?.cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    *place = self.small(middle, PLACE)? as usize + 1;
                    return Some(middle);
                }
            }
        }
        None
    }

    fn record_of(&self, document: usize) -> Option<&[u8]> {
        let start = self.heads.0.checked_add(document.checked_mul(HEAD)?)?;
        self.bytes.get(..self.heads.1)?.get(start..)?.get(..HEAD)
    }

    fn small(&self, document: usize, field: usize) -> Option<u32> {
        let four = self.record_of(document)?.get(field..field + 4)?;
        Some(u32::from_le_bytes(four.try_into().ok()?))
    }

    fn large(&self, document: usize, field: usize) -> Option<u64> {
        let eight = self.record_of(document)?.get(field..field + 8)?;
        Some(u64::from_le_bytes(eight.try_into().ok()?))
    }

    /// Returns the bytes of a new segment file.
    pub(super) fn write(source: &Source<'_>) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        let mut places = vec![0; source.entries.len()];
        for (place, number) in (0_u32..).zip(&source.order) {
            if let Some(known) = places.get_mut(*number as usize) {
                *known = place;
            }
        }
        let (mut heads, mut rest) = (Vec::new(), Vec::new());
        for ((entry, four), place) in source.entries.iter().zip(source.lengths()).zip(places) {
            put_entry(&mut heads, &mut rest, entry, place, four);
        }
        let order = source.order.iter().flat_map(|number| number.to_le_bytes()).collect();
        for section in [heads, order, rest] {
            put_number(&mut bytes, section.len() as u64);
            bytes.extend(section);
        }
        for kind in KINDS {
            put_terms(&mut bytes, &source.postings(kind));
        }
        let sum = checksum(&bytes[HEADER..]);
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..HEADER].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// Returns all terms of a kind with their postings.
    fn all(&self, kind: TermKind) -> Vec<(&[u8], Vec<Posting>)> {
        let table = self.terms[slot(kind)];
        let count = (table.records.1 - table.records.0) / RECORD;
        (0..count)
            .filter_map(|at| {
                let (name, start) = self.record(table, at)?;
                let mut postings = Vec::new();
                self.decode(table, start, &mut |posting| postings.push(posting));
                Some((name, postings))
            })
            .collect()
    }

    fn record(&self, table: Table, at: usize) -> Option<(&[u8], usize)> {
        let start = table.records.0 + at * RECORD;
        let record = self.bytes.get(start..start + RECORD)?;
        let number = |from: usize| {
            let four = record.get(from..from + 4)?;
            Some(u32::from_le_bytes(four.try_into().ok()?) as usize)
        };
        let (name, length, postings) = (number(0)?, number(4)?, number(8)?);
        let name = table.names.0.checked_add(name)?;
        Some((self.bytes.get(name..name.checked_add(length)?)?, table.postings.0 + postings))
    }

    fn decode(&self, table: Table, start: usize, found: &mut dyn FnMut(Posting)) {
        let end = table.postings.1;
        let mut reader = Reader { bytes: self.bytes.get(..end).unwrap_or_default(), at: start };
        let Some(count) = reader.number() else { return };
        let mut document = 0;
        for _ in 0..count {
            let Some(step) = reader.number() else { return };
            let Some(counts) = reader.number() else { return };
            document += step;
            let short = |count: u64| u16::try_from(count).unwrap_or(u16::MAX);
            // Most terms stand in the text alone: the lowest bit says that one is in the title.
            let (title, text) = if counts & 1 == 0 {
                (0, counts >> 1)
            } else {
                let Some(text) = reader.number() else { return };
                (counts >> 1, text)
            };
            let Ok(document) = u32::try_from(document) else { return };
            found(Posting { document, title: short(title), text: short(text) });
        }
    }
}

impl Postings for Segment {
    fn documents(&self) -> usize {
        self.entries.len()
    }

    fn look_up(&self, kind: TermKind, term: &str, found: &mut dyn FnMut(Posting)) {
        let table = self.terms[slot(kind)];
        let (mut low, mut high) = (0, (table.records.1 - table.records.0) / RECORD);
        while low < high {
            let middle = usize::midpoint(low, high);
            let Some((name, start)) = self.record(table, middle) else { return };
            match name.cmp(term.as_bytes()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return self.decode(table, start, found),
            }
        }
    }

    fn length(&self, kind: TermKind, document: u32) -> u32 {
        self.small(document as usize, LENGTHS + slot(kind) * 4).unwrap_or(0)
    }

    fn mean_length(&self, kind: TermKind) -> f64 {
        self.means[slot(kind)]
    }
}

impl Source<'_> {
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

    fn postings(&self, kind: TermKind) -> BTreeMap<&[u8], Vec<Posting>> {
        let mut all: BTreeMap<&[u8], Vec<Posting>> = BTreeMap::new();
        if let Some((segment, numbers)) = &self.old {
            for (name, postings) in segment.all(kind) {
                let kept = postings.iter().filter_map(|posting| {
                    let document = (*numbers.get(posting.document as usize)?)?;
                    Some(Posting { document, ..*posting })
                });
                let kept: Vec<Posting> = kept.collect();
                if !kept.is_empty() {
                    all.insert(name, kept);
                }
            }
        }
        let (fresh, numbers) = &self.fresh;
        for (name, postings) in fresh.postings(kind) {
            let list = all.entry(name.as_bytes()).or_default();
            list.extend(postings.iter().filter_map(|posting| {
                let document = *numbers.get(posting.document as usize)?;
                Some(Posting { document, ..*posting })
            }));
        }
        for list in all.values_mut() {
            list.sort_unstable_by_key(|posting| posting.document);
        }
        all
    }
}

const MAGIC: &[u8; 8] = b"gknotes2";

/// The magic word and the checksum.
const HEADER: usize = 16;

/// Where a term's name is, how long it is, where its postings are.
const RECORD: usize = 12;

/// The bytes of a head, and where its fields are.
const HEAD: usize = 72;
const REST: usize = 0;
const NAME: usize = 4;
const PLACE: usize = 8;
const FLAGS: usize = 12;
const LENGTHS: usize = 16;
const MOMENT: usize = 32;
const STAMP: usize = 40;

const IS_NOTE: u8 = 1;
const IS_LOCAL: u8 = 2;

fn put_terms(bytes: &mut Vec<u8>, terms: &BTreeMap<&[u8], Vec<Posting>>) {
    let (mut records, mut names, mut lists) = (Vec::new(), Vec::new(), Vec::new());
    for (name, postings) in terms {
        for number in [names.len(), name.len(), lists.len()] {
            records.extend(u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes());
        }
        names.extend_from_slice(name);
        put_number(&mut lists, postings.len() as u64);
        let mut last = 0;
        for posting in postings {
            put_number(&mut lists, u64::from(posting.document - last));
            last = posting.document;
            let (title, text) = (u64::from(posting.title), u64::from(posting.text));
            if title == 0 {
                put_number(&mut lists, text << 1);
            } else {
                put_number(&mut lists, title << 1 | 1);
                put_number(&mut lists, text);
            }
        }
    }
    for section in [records, names, lists] {
        put_number(bytes, section.len() as u64);
        bytes.extend(section);
    }
}

fn put_entry(
    heads: &mut Vec<u8>,
    rest: &mut Vec<u8>,
    entry: &Entry,
    place: u32,
    lengths: [u32; 4],
) {
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
    let index_of = |found: Option<usize>| found.and_then(|at| u8::try_from(at).ok()).unwrap_or(0);
    heads.extend(small(rest.len()));
    heads.extend(small(entry.file.len()));
    heads.extend(place.to_le_bytes());
    heads.push(index_of(NoteKind::ALL.iter().position(|kind| *kind == entry.kind)));
    heads.push(index_of(Status::ALL.iter().position(|status| *status == entry.status)));
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    heads.push(flag(entry.is_note(), IS_NOTE) | flag(entry.is_local, IS_LOCAL));
    heads.push(0);
    heads.extend(lengths.into_iter().flat_map(u32::to_le_bytes));
    heads.extend(entry.moment.to_le_bytes());
    let Stamp { size, modified, changed, inode } = entry.stamp;
    for number in [size, modified.cast_unsigned(), changed.cast_unsigned(), inode] {
        heads.extend(number.to_le_bytes());
    }
    rest.extend(entry.file.as_bytes());
    put_text(rest, entry.id.as_ref().map_or("", NoteId::as_str));
    put_text(rest, &entry.title);
    put_list(rest, &entry.tags);
    put_text(rest, &entry.created_at);
    put_text(rest, &entry.updated_at);
    put_text(rest, entry.thread.as_deref().unwrap_or_default());
    put_list(rest, &entry.depends_on);
    put_text(rest, entry.problem.as_deref().unwrap_or_default());
}

fn read_entry(reader: &mut Reader<'_>, head: &Head<'_>, stamp: Stamp) -> Option<Entry> {
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    reader.at = reader.at.checked_add(head.file.len())?;
    Some(Entry {
        file: head.file.to_owned(),
        id: NoteId::parse(reader.text()?),
        title: reader.text()?.to_owned(),
        kind: head.kind,
        status: head.status,
        tags: reader.list()?,
        created_at: reader.text()?.to_owned(),
        updated_at: reader.text()?.to_owned(),
        thread: some(reader.text()?.to_owned()),
        depends_on: reader.list()?,
        problem: some(reader.text()?.to_owned()),
        stamp,
        moment: head.moment,
        is_local: head.is_local,
    })
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_number(bytes, text.len() as u64);
    bytes.extend(text.as_bytes());
}

fn put_list(bytes: &mut Vec<u8>, list: &[String]) {
    put_number(bytes, list.len() as u64);
    for item in list {
        put_text(bytes, item);
    }
}

/// Writes seven bits a byte, the last without the high bit.
fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push((number & 0x7f) as u8);
}

/// Reads what the `put_` functions wrote; none at the end of the bytes.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    fn section(&mut self) -> Option<(usize, usize)> {
        let length = self.size()?;
        let start = self.at;
        self.at = start.checked_add(length).filter(|end| *end <= self.bytes.len())?;
        Some((start, self.at))
    }

    fn text(&mut self) -> Option<&'a str> {
        let (start, end) = self.section()?;
        std::str::from_utf8(&self.bytes[start..end]).ok()
    }

    fn list(&mut self) -> Option<Vec<String>> {
        let count = self.size()?;
        (0..count).map(|_| self.text().map(str::to_owned)).collect()
    }
}

/// Returns a sum that changes with any damage that is not made on purpose.
fn checksum(bytes: &[u8]) -> u64 {
    let mut sums = [0x9e37_79b9_7f4a_7c15_u64, 1, 2, 3];
    let mut blocks = bytes.chunks_exact(32);
    for block in &mut blocks {
        for (sum, eight) in sums.iter_mut().zip(block.chunks_exact(8)) {
            let number = u64::from_le_bytes(eight.try_into().unwrap_or_default());
            *sum = (sum.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
        }
    }
    for byte in blocks.remainder() {
        sums[0] = (sums[0].rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    let length = bytes.len() as u64;
    sums.iter()
        .fold(length, |all, sum| (all.rotate_left(5) ^ sum).wrapping_mul(0x517c_c1b7_2722_0a95))
}

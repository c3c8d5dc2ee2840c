//! The derived file beside the notes that makes a cold search quick: entries and postings of the
//! notes as they were when it was written.
//!
//! It may be deleted or damaged at any time: bytes that are not exactly what was written are no
//! segment, and whoever reads one compares each stamp with the file's before believing an entry.

use std::collections::BTreeMap;

use super::entry::Entry;
use super::files::Stamp;
use super::note::{NoteId, NoteKind, Status};
use crate::support::bm25::{Index, KINDS, Posting, Postings, mean_of, slot};
use crate::support::words::TermKind;

/// What was read of a segment file.
#[derive(Debug)]
pub(super) struct Segment {
    bytes: Vec<u8>,
    /// The notes, sorted by their files' names; a place is a document's number.
    pub(super) entries: Vec<Entry>,
    lengths: Vec<[u32; 4]>,
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
        let count = reader.size()?;
        let mut entries = Vec::with_capacity(count.min(bytes.len()));
        let mut lengths = Vec::with_capacity(count.min(bytes.len()));
        for _ in 0..count {
            entries.push(read_entry(&mut reader)?);
            let mut four = [0; 4];
            for length in &mut four {
                *length = u32::try_from(reader.number()?).ok()?;
            }
            lengths.push(four);
        }
        let mut terms = [Table::default(); 4];
        for table in &mut terms {
            table.records = reader.section()?;
            table.names = reader.section()?;
            table.postings = reader.section()?;
        }
        let means = KINDS.map(|kind| {
            let of_kind: Vec<u32> = lengths.iter().map(|four| four[slot(kind)]).collect();
            mean_of(&of_kind)
        });
        Some(Self { bytes, entries, lengths, means, terms })
    }

    /// Returns the bytes of a new segment file.
    pub(super) fn write(source: &Source<'_>) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        put_number(&mut bytes, source.entries.len() as u64);
        let lengths = source.lengths();
        for (entry, four) in source.entries.iter().zip(&lengths) {
            put_entry(&mut bytes, entry);
            for length in four {
                put_number(&mut bytes, u64::from(*length));
            }
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
        self.lengths.get(document as usize).map_or(0, |four| four[slot(kind)])
    }

    fn mean_length(&self, kind: TermKind) -> f64 {
        self.means[slot(kind)]
    }
}

impl Source<'_> {
    fn lengths(&self) -> Vec<[u32; 4]> {
        let mut lengths = vec![[0; 4]; self.entries.len()];
        if let Some((segment, numbers)) = &self.old {
            for (four, number) in segment.lengths.iter().zip(numbers) {
                if let Some(place) = number.and_then(|number| lengths.get_mut(number as usize)) {
                    *place = *four;
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

const MAGIC: &[u8; 8] = b"gknotes1";

/// The magic word and the checksum.
const HEADER: usize = 16;

/// Where a term's name is, how long it is, where its postings are.
const RECORD: usize = 12;

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

fn put_entry(bytes: &mut Vec<u8>, entry: &Entry) {
    put_text(bytes, &entry.file);
    put_text(bytes, entry.id.as_ref().map_or("", NoteId::as_str));
    put_text(bytes, &entry.title);
    put_text(bytes, entry.kind.as_str());
    put_text(bytes, entry.status.as_str());
    put_list(bytes, &entry.tags);
    put_text(bytes, &entry.created_at);
    put_text(bytes, &entry.updated_at);
    put_text(bytes, entry.thread.as_deref().unwrap_or_default());
    put_list(bytes, &entry.depends_on);
    put_text(bytes, entry.problem.as_deref().unwrap_or_default());
    let Stamp { size, modified, changed, inode } = entry.stamp;
    for number in [size, modified.cast_unsigned(), changed.cast_unsigned(), inode] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(entry.moment.to_le_bytes());
    bytes.push(u8::from(entry.is_local));
}

fn read_entry(reader: &mut Reader<'_>) -> Option<Entry> {
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    Some(Entry {
        file: reader.text()?.to_owned(),
        id: NoteId::parse(reader.text()?),
        title: reader.text()?.to_owned(),
        kind: NoteKind::parse(reader.text()?)?,
        status: Status::parse(reader.text()?)?,
        tags: reader.list()?,
        created_at: reader.text()?.to_owned(),
        updated_at: reader.text()?.to_owned(),
        thread: some(reader.text()?.to_owned()),
        depends_on: reader.list()?,
        problem: some(reader.text()?.to_owned()),
        stamp: Stamp {
            size: reader.fixed()?,
            modified: reader.fixed()?.cast_signed(),
            changed: reader.fixed()?.cast_signed(),
            inode: reader.fixed()?,
        },
        moment: reader.fixed()?.cast_signed(),
        is_local: reader.byte()? == 1,
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

    fn fixed(&mut self) -> Option<u64> {
        let eight = self.bytes.get(self.at..self.at + 8)?;
        self.at += 8;
        Some(u64::from_le_bytes(eight.try_into().ok()?))
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

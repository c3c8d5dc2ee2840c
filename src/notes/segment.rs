//! The derived file beside the notes that makes a cold list or search quick: entries and postings
//! of the notes as they were when it was written.
//!
//! Only those parts are read that a command needs, each with a checksum of its own. The file may be
//! deleted or damaged at any time: bytes that are not exactly what was written are no segment
//! ([`Segment::is_damaged`]), and whoever reads one compares each stamp with the file's before
//! believing an entry.

mod layout;
mod terms;
mod write;

use std::cmp::Ordering as Order;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use self::layout::{Bytes, Header, Part, Reader};
use self::terms::Table;
use super::entry::{Entry, Head, file_order};
use super::files::{Known, Stamp};
use super::note::{NoteId, NoteKind, Status};
use crate::support::bm25::{Posting, Postings, slot};
use crate::support::words::TermKind;

pub(super) use self::write::Source;

/// What was read of a segment file.
#[derive(Debug)]
pub(super) struct Segment {
    bytes: Bytes,
    header: Header,
    /// What lists sort and filter by, in records of fixed size, sorted by the files' names; a
    /// record's place is a document's number. Behind them, in the order in which the system lists
    /// the folder, what each file was like, and the names: who looks at one file after the other
    /// reads straight on.
    heads: Vec<u8>,
    /// All that lists show; none until somebody wants more than a few.
    rest: OnceLock<Vec<u8>>,
    /// The names of the files that are in the known folder beside those of the segment; none when
    /// they are not what was written.
    more: OnceLock<Option<Vec<CString>>>,
    /// The entries that somebody asked for: most are never shown, and reading all takes longer
    /// than anything else of a list.
    entries: Vec<OnceLock<Entries>>,
    lengths: OnceLock<Vec<u8>>,
    terms: [OnceLock<Table>; 4],
    is_damaged: AtomicBool,
}

/// The entries of some documents, so that there is room for those only of which one is shown.
type Entries = Box<[OnceLock<Option<Box<Entry>>>; GROUP]>;

impl Segment {
    /// Opens a segment file; none when it is not one.
    pub(super) fn open(file: File) -> Option<Self> {
        Self::of(Bytes::File(file))
    }

    /// Returns the segment that was just made.
    pub(super) fn in_memory(bytes: Vec<u8>) -> Option<Self> {
        Self::of(Bytes::Memory(bytes))
    }

    fn of(bytes: Bytes) -> Option<Self> {
        let header = Header::read(&bytes)?;
        let heads = bytes.part(header.parts[Part::Heads as usize])?;
        if heads.len() < header.documents.checked_mul(HEAD + SIGHT)? {
            return None;
        }
        let groups = header.documents.div_ceil(GROUP);
        let entries = std::iter::repeat_with(OnceLock::new).take(groups).collect();
        Some(Self {
            bytes,
            header,
            heads,
            rest: OnceLock::new(),
            more: OnceLock::new(),
            entries,
            lengths: OnceLock::new(),
            terms: Default::default(),
            is_damaged: AtomicBool::new(false),
        })
    }

    /// Returns whether a part turned out not to be what was written; then nothing that was read
    /// of the segment counts.
    pub(super) fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// Reads all entries at once, for who wants more than a few.
    pub(super) fn read_entries(&self) {
        self.rest.get_or_init(|| self.part(Part::Rest));
    }

    /// Returns the entry of a document.
    pub(super) fn entry(&self, document: usize) -> Option<&Entry> {
        let read = || {
            let head = self.head_of(document)?;
            let (start, length) = (self.small(head, REST)?, self.small(head, REST_LENGTH)?);
            let (start, length) = (start as usize, length as usize);
            let entry = if let Some(rest) = self.rest.get() {
                let written = rest.get(start..).and_then(|rest| rest.get(..length));
                written.and_then(|bytes| self.read_entry(document, bytes))
            } else {
                let part = self.header.parts[Part::Rest as usize];
                let bytes = self.bytes.read(part.start.checked_add(start as u64)?, length);
                let sum = self.large(head, REST_SUM)?;
                let bytes = bytes.filter(|bytes| layout::checksum(bytes) == sum);
                bytes.and_then(|bytes| self.read_entry(document, &bytes))
            };
            if entry.is_none() {
                self.is_damaged.store(true, Ordering::Relaxed);
            }
            entry.map(Box::new)
        };
        let group = self.entries.get(document / GROUP)?;
        let group = group.get_or_init(|| std::array::from_fn(|_| OnceLock::new()).into());
        group.get(document % GROUP)?.get_or_init(read).as_deref()
    }

    /// Returns what lists sort and filter by.
    pub(super) fn head(&self, document: usize) -> Option<Head> {
        let head = self.head_of(document)?;
        let flags = self.heads.get(head + FLAGS..head + FLAGS + 3)?;
        Some(Head {
            kind: *NoteKind::ALL.get(usize::from(flags[0]))?,
            status: *Status::ALL.get(usize::from(flags[1]))?,
            is_note: flags[2] & IS_NOTE != 0,
            is_local: flags[2] & IS_LOCAL != 0,
            moment: self.large(head, MOMENT)?.cast_signed(),
        })
    }

    /// Returns whether a document is a note that was understood.
    pub(super) fn is_note(&self, document: usize) -> bool {
        let flags = self.head_of(document).and_then(|head| self.heads.get(head + FLAGS + 2));
        flags.is_some_and(|flags| flags & IS_NOTE != 0)
    }

    /// Returns the name of a document's file.
    pub(super) fn file(&self, document: usize) -> Option<&[u8]> {
        self.name_at(self.small(self.head_of(document)?, PLACE)? as usize)
    }

    /// Returns what a document's file was like.
    fn stamp(&self, document: usize) -> Option<Stamp> {
        self.stamp_at(self.small(self.head_of(document)?, PLACE)? as usize)
    }

    /// Returns what has to be written where in the file so that the next who opens it need not
    /// read the names of the folder while that looks so. All files in it that the segment does not
    /// know, with others or without, are `more`.
    pub(super) fn knowing<'a>(
        &self,
        folder: Stamp,
        more: impl Iterator<Item = &'a str>,
    ) -> [(u64, Vec<u8>); 2] {
        let unknown = more.filter(|name| !self.has(name.as_bytes()));
        self.header.knowing(folder, unknown.flat_map(|name| name.bytes().chain([0])).collect())
    }

    fn more(&self) -> Option<&[CString]> {
        let read = || {
            let bytes = self.bytes.part(self.header.folder?.more)?;
            let names = bytes.split_inclusive(|byte| *byte == 0);
            names.map(|name| CStr::from_bytes_with_nul(name).ok().map(CStr::to_owned)).collect()
        };
        self.more.get_or_init(read).as_deref()
    }

    /// Returns whether there is a document of that file.
    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.find(name).is_some()
    }

    /// Returns the place of a file.
    fn find(&self, name: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.documents());
        while low < high {
            let middle = usize::midpoint(low, high);
            match file_order(self.file(middle)?).cmp(&file_order(name)) {
                Order::Less => low = middle + 1,
                Order::Greater => high = middle,
                Order::Equal => return Some(self.small(self.head_of(middle)?, PLACE)? as usize),
            }
        }
        None
    }

    fn name_at(&self, place: usize) -> Option<&[u8]> {
        self.name_with_end(place).and_then(|name| name.split_last()).map(|(_, name)| name)
    }

    /// Returns the name of the file at a place, with a 0 behind it.
    fn name_with_end(&self, place: usize) -> Option<&[u8]> {
        let sight = self.sight_at(place)?;
        let start = self.documents() * (HEAD + SIGHT) + self.small(sight, NAME)? as usize;
        self.heads.get(start..)?.get(..self.small(sight, NAME_LENGTH)? as usize + 1)
    }

    fn stamp_at(&self, place: usize) -> Option<Stamp> {
        layout::stamp_in(self.heads.get(self.sight_at(place)? + STAMP..)?)
    }

    /// Returns where the head of a document begins.
    fn head_of(&self, document: usize) -> Option<usize> {
        (document < self.documents()).then(|| document * HEAD)
    }

    /// Returns where the record of a place begins.
    fn sight_at(&self, place: usize) -> Option<usize> {
        (place < self.documents()).then(|| self.documents() * HEAD + place * SIGHT)
    }

    fn small(&self, record: usize, field: usize) -> Option<u32> {
        let four = self.heads.get(record + field..record + field + 4)?;
        Some(u32::from_le_bytes(four.try_into().ok()?))
    }

    fn large(&self, record: usize, field: usize) -> Option<u64> {
        let eight = self.heads.get(record + field..record + field + 8)?;
        Some(u64::from_le_bytes(eight.try_into().ok()?))
    }

    fn read_entry(&self, document: usize, bytes: &[u8]) -> Option<Entry> {
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        let head = self.head(document)?;
        let mut reader = Reader { bytes, at: 0 };
        Some(Entry {
            file: std::str::from_utf8(self.file(document)?).ok()?.to_owned(),
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
            stamp: self.stamp(document)?,
            moment: head.moment,
            is_local: head.is_local,
        })
    }

    /// Reads a part whole; an empty one and a damaged segment when it is not what was written.
    fn part(&self, part: Part) -> Vec<u8> {
        self.bytes.part(self.header.parts[part as usize]).unwrap_or_else(|| {
            self.is_damaged.store(true, Ordering::Relaxed);
            Vec::new()
        })
    }

    fn table(&self, kind: TermKind) -> &Table {
        self.terms[slot(kind)].get_or_init(|| {
            let table = Table::read(self.part(Part::of_terms(kind)));
            table.unwrap_or_else(|| {
                self.is_damaged.store(true, Ordering::Relaxed);
                Table::default()
            })
        })
    }

    /// Returns all terms of a kind with their postings.
    fn all(&self, kind: TermKind) -> Vec<(Vec<u8>, Vec<Posting>)> {
        let mut all = Vec::new();
        let whole = self.table(kind).all(&self.bytes, &mut |name, postings| {
            let mut list = Vec::new();
            terms::decode(postings, &mut |posting| list.push(posting));
            all.push((name.to_vec(), list));
        });
        if !whole {
            self.is_damaged.store(true, Ordering::Relaxed);
        }
        all
    }
}

impl Known for Segment {
    fn count_in(&self, folder: Stamp) -> Option<usize> {
        self.header.folder.filter(|known| known.stamp == folder)?;
        Some(self.documents() + self.more()?.len())
    }

    fn name(&self, place: usize) -> Option<&CStr> {
        match place.checked_sub(self.documents()) {
            Some(at) => self.more()?.get(at).map(CString::as_c_str),
            None => CStr::from_bytes_with_nul(self.name_with_end(place)?).ok(),
        }
    }

    fn unchanged(&self, name: &[u8], stamp: Stamp, place: &mut usize) -> Option<u32> {
        let at = if self.name_at(*place) == Some(name) { *place } else { self.find(name)? };
        *place = at + 1;
        (self.stamp_at(at)? == stamp).then(|| self.small(self.sight_at(at)?, DOCUMENT))?
    }
}

impl Postings for Segment {
    fn documents(&self) -> usize {
        self.header.documents
    }

    fn look_up(&self, kind: TermKind, term: &str, found: &mut dyn FnMut(Posting)) {
        if !self.table(kind).look_up(&self.bytes, term.as_bytes(), found) {
            self.is_damaged.store(true, Ordering::Relaxed);
        }
    }

    fn length(&self, kind: TermKind, document: u32) -> u32 {
        let lengths = self.lengths.get_or_init(|| self.part(Part::Lengths));
        let start = document as usize * LENGTHS + slot(kind) * 4;
        let four = lengths.get(start..start + 4).and_then(|four| four.try_into().ok());
        four.map_or(0, u32::from_le_bytes)
    }

    fn mean_length(&self, kind: TermKind) -> f64 {
        self.header.means[slot(kind)]
    }

    fn terms(&self, kind: TermKind, firsts: &[char], found: &mut dyn FnMut(&str)) {
        let mut each = |name: &[u8]| {
            if let Ok(name) = std::str::from_utf8(name) {
                found(name);
            }
        };
        for first in firsts {
            let beginning = first.encode_utf8(&mut [0; 4]).as_bytes().to_vec();
            if !self.table(kind).beginning(&self.bytes, &beginning, &mut each) {
                self.is_damaged.store(true, Ordering::Relaxed);
            }
        }
    }
}

/// The bytes of a head, and where its fields are.
const HEAD: usize = 32;
const REST: usize = 0;
const REST_LENGTH: usize = 4;
const REST_SUM: usize = 8;
const PLACE: usize = 16;
const FLAGS: usize = 20;
const MOMENT: usize = 24;

/// The bytes of what a file was like, and where its fields are.
const SIGHT: usize = 48;
const DOCUMENT: usize = 0;
const NAME: usize = 4;
const NAME_LENGTH: usize = 8;
const STAMP: usize = 16;

/// So many documents' entries are made room for at once.
const GROUP: usize = 64;

/// The bytes of a document's lengths.
const LENGTHS: usize = 16;

const IS_NOTE: u8 = 1;
const IS_LOCAL: u8 = 2;

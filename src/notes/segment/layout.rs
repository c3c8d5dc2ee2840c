//! Where the parts of a segment file are, and the numbers and texts they are made of.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::super::files::Stamp;
use crate::support::bm25::slot;
use crate::support::words::TermKind;

/// Where the bytes come from.
#[derive(Debug)]
pub(super) enum Bytes {
    /// A file that stays open: another that takes its name leaves this one as it is.
    File(File),
    /// What was just written.
    Memory(Vec<u8>),
}

/// The parts, each at its place in [`Header::parts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// What lists sort and filter by, and the names.
    Heads = 0,
    /// What lists show.
    Rest = 1,
    /// How long each document is.
    Lengths = 2,
    /// Where the blocks of terms are, for each kind.
    Words = 3,
    Identifiers = 4,
    Pairs = 5,
    Characters = 6,
}

/// How many parts there are.
pub(super) const PARTS: usize = 7;

/// A part's place and what its bytes come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) start: u64,
    pub(super) length: usize,
    pub(super) sum: u64,
}

/// What the file begins with.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    pub(super) documents: usize,
    pub(super) means: [f64; 4],
    pub(super) parts: [Place; PARTS],
    /// What the folder was like when all names in it were known; written when that is found out,
    /// into the room left for it.
    pub(super) folder: Option<KnownFolder>,
}

/// A folder in which only the files of the segment were, or some of them, and a few more. It needs
/// no checksum: damaged, it is like no folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownFolder {
    pub(super) stamp: Stamp,
    /// Where the names of those more are, behind everything else and each with a 0 behind it.
    pub(super) more: Place,
}

impl Part {
    pub(super) fn of_terms(kind: TermKind) -> Self {
        [Self::Words, Self::Identifiers, Self::Pairs, Self::Characters][slot(kind)]
    }
}

impl Bytes {
    /// Returns some bytes; none where there are not so many.
    pub(super) fn read(&self, start: u64, length: usize) -> Option<Vec<u8>> {
        match self {
            Self::File(file) => {
                // A damaged length must not ask for more memory than the file can fill.
                if length > SMALL && file.metadata().ok()?.len() < length as u64 {
                    return None;
                }
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, start).ok()?;
                Some(bytes)
            }
            Self::Memory(bytes) => {
                let start = usize::try_from(start).ok()?;
                bytes.get(start..start.checked_add(length)?).map(<[u8]>::to_vec)
            }
        }
    }

    /// Returns a part; none when it is not what was written.
    pub(super) fn part(&self, place: Place) -> Option<Vec<u8>> {
        self.read(place.start, place.length).filter(|bytes| checksum(bytes) == place.sum)
    }
}

impl Header {
    /// The bytes of a header, the room for the folder's stamp included.
    pub(super) const LENGTH: usize = Self::FOLDER + STAMP + 24;

    /// Where the known folder is.
    const FOLDER: usize = 8 + 8 + 8 + 4 * 8 + PARTS * 24;

    pub(super) fn read(bytes: &Bytes) -> Option<Self> {
        let bytes = bytes.read(0, Self::LENGTH)?;
        let folder = bytes.get(Self::FOLDER..)?;
        let numbers: Vec<u64> = bytes
            .chunks_exact(8)
            .filter_map(|eight| Some(u64::from_le_bytes(eight.try_into().ok()?)))
            .collect();
        let bytes = bytes.get(..Self::FOLDER)?;
        if bytes.get(..8)? != MAGIC || *numbers.get(1)? != checksum(bytes.get(16..)?) {
            return None;
        }
        let more = place_of(numbers.get((Self::FOLDER + STAMP) / 8..)?)?;
        let folder = stamp_in(folder)
            .filter(|stamp| *stamp != Stamp::default())
            .map(|stamp| KnownFolder { stamp, more });
        let mut parts = [Place::default(); PARTS];
        for (part, three) in parts.iter_mut().zip(numbers.get(7..)?.chunks_exact(3)) {
            *part = place_of(three)?;
        }
        let mut means = [0.0; 4];
        for (mean, bits) in means.iter_mut().zip(numbers.get(3..7)?) {
            *mean = f64::from_bits(*bits);
        }
        Some(Self { documents: usize::try_from(numbers[2]).ok()?, means, parts, folder })
    }

    /// Returns what has to be written where, the last at last, so that a folder is known in which
    /// more files are.
    pub(super) fn knowing(&self, folder: Stamp, more: Vec<u8>) -> [(u64, Vec<u8>); 2] {
        let ends = self.parts.iter().map(|part| part.start.saturating_add(part.length as u64));
        let start = ends.max().unwrap_or_default();
        let mut known = Vec::new();
        put_stamp(&mut known, folder);
        put_place(&mut known, Place { start, length: more.len(), sum: checksum(&more) });
        [(start, more), (Self::FOLDER as u64, known)]
    }

    /// Returns the bytes of a header that knows no folder.
    pub(super) fn written(&self) -> Vec<u8> {
        let mut rest = (self.documents as u64).to_le_bytes().to_vec();
        rest.extend(self.means.iter().flat_map(|mean| mean.to_bits().to_le_bytes()));
        self.parts.iter().for_each(|place| put_place(&mut rest, *place));
        let room = [0; Self::LENGTH - Self::FOLDER];
        [&MAGIC[..], &checksum(&rest).to_le_bytes(), &rest, &room].concat()
    }
}

/// Begins the file. It changes with what the file holds, the terms of the tokeniser included.
const MAGIC: &[u8; 8] = b"gknote10";

/// So many bytes are asked for without looking how many there are.
const SMALL: usize = 1 << 16;

/// Writes seven bits a byte, the last without the high bit.
pub(super) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push((number & 0x7f) as u8);
}

/// Writes a text behind its length.
pub(super) fn put_text(bytes: &mut Vec<u8>, text: &[u8]) {
    put_number(bytes, text.len() as u64);
    bytes.extend(text);
}

fn put_place(bytes: &mut Vec<u8>, place: Place) {
    for number in [place.start, place.length as u64, place.sum] {
        bytes.extend(number.to_le_bytes());
    }
}

fn place_of(numbers: &[u64]) -> Option<Place> {
    let [start, length, sum, ..] = numbers else { return None };
    Some(Place { start: *start, length: usize::try_from(*length).ok()?, sum: *sum })
}

/// Writes a stamp, in [`STAMP`] bytes.
pub(super) fn put_stamp(bytes: &mut Vec<u8>, stamp: Stamp) {
    let Stamp { size, modified, changed, inode } = stamp;
    for number in [size, modified.cast_unsigned(), changed.cast_unsigned(), inode] {
        bytes.extend(number.to_le_bytes());
    }
}

/// Reads what [`put_stamp`] wrote.
pub(super) fn stamp_in(bytes: &[u8]) -> Option<Stamp> {
    let number = |at: usize| {
        let eight = bytes.get(at * 8..at * 8 + 8)?;
        Some(u64::from_le_bytes(eight.try_into().ok()?))
    };
    Some(Stamp {
        size: number(0)?,
        modified: number(1)?.cast_signed(),
        changed: number(2)?.cast_signed(),
        inode: number(3)?,
    })
}

/// The bytes of a stamp.
pub(super) const STAMP: usize = 32;

/// Writes texts behind their number.
pub(super) fn put_list(bytes: &mut Vec<u8>, list: &[String]) {
    put_number(bytes, list.len() as u64);
    for item in list {
        put_text(bytes, item.as_bytes());
    }
}

/// Reads what the `put_` functions wrote; none at the end of the bytes.
pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.bytes.get(self.at)?;
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    pub(super) fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    pub(super) fn slice(&mut self) -> Option<&'a [u8]> {
        let length = self.size()?;
        let slice = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(slice)
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.slice()?).ok()
    }

    pub(super) fn list(&mut self) -> Option<Vec<String>> {
        let count = self.size()?;
        (0..count).map(|_| self.text().map(str::to_owned)).collect()
    }
}

/// Returns a sum that changes with any damage that is not made on purpose.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
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

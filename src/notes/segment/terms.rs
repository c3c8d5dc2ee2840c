//! The terms of one kind: sorted, in blocks of a few kilobytes, so that a look-up reads one block.

use super::layout::{Bytes, Reader, checksum, put_number, put_text};
use crate::support::bm25::Posting;

/// Where the blocks of a kind are.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The first term of each block, one behind the other.
    names: Vec<u8>,
    blocks: Vec<Block>,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    first: (usize, usize),
    start: u64,
    length: usize,
    sum: u64,
}

impl Table {
    /// Reads where the blocks are; none when it is not what was written.
    pub(super) fn read(bytes: Vec<u8>) -> Option<Self> {
        let mut blocks = Vec::new();
        let mut reader = Reader { bytes: &bytes, at: 0 };
        while reader.at < bytes.len() {
            let (start, length) = (reader.number()?, reader.size()?);
            let sum = reader.number()?;
            let length_of_first = reader.slice()?.len();
            let first = (reader.at - length_of_first, reader.at);
            blocks.push(Block { first, start, length, sum });
        }
        Some(Self { names: bytes, blocks })
    }

    /// Calls `found` with each posting of a term; false when the block is not what was written.
    pub(super) fn look_up(
        &self,
        bytes: &Bytes,
        term: &[u8],
        found: &mut dyn FnMut(Posting),
    ) -> bool {
        let behind = self.blocks.partition_point(|block| self.first(block) <= term);
        let Some(block) = behind.checked_sub(1).and_then(|at| self.blocks.get(at)) else {
            return true;
        };
        let mut looked_at = |name: &[u8], postings: &[u8]| {
            if name == term {
                decode(postings, found);
            }
            name < term
        };
        visit(bytes, block, &mut looked_at).is_some()
    }

    /// Calls `found` with each term that begins so; false when a block is not what was written.
    pub(super) fn beginning(
        &self,
        bytes: &Bytes,
        beginning: &[u8],
        found: &mut dyn FnMut(&[u8]),
    ) -> bool {
        let behind = self.blocks.partition_point(|block| self.first(block) <= beginning);
        let blocks = self.blocks.iter().skip(behind.saturating_sub(1));
        let is_over = |name: &[u8]| name > beginning && !name.starts_with(beginning);
        let mut each = |name: &[u8], _: &[u8]| {
            if name.starts_with(beginning) {
                found(name);
            }
            !is_over(name)
        };
        blocks
            .take_while(|block| !is_over(self.first(block)))
            .all(|block| visit(bytes, block, &mut each).is_some())
    }

    /// Calls `found` with each term and its postings as they are written; false when a block is
    /// not what was written.
    pub(super) fn all(&self, bytes: &Bytes, found: &mut dyn FnMut(&[u8], &[u8])) -> bool {
        let mut each = |name: &[u8], postings: &[u8]| {
            found(name, postings);
            true
        };
        self.blocks.iter().all(|block| visit(bytes, block, &mut each).is_some())
    }

    fn first(&self, block: &Block) -> &[u8] {
        self.names.get(block.first.0..block.first.1).unwrap_or_default()
    }
}

/// Calls `found` with the terms of a block while it returns true; none when the block is damaged.
fn visit(bytes: &Bytes, block: &Block, found: &mut dyn FnMut(&[u8], &[u8]) -> bool) -> Option<()> {
    let bytes = bytes.read(block.start, block.length)?;
    if checksum(&bytes) != block.sum {
        return None;
    }
    let mut reader = Reader { bytes: &bytes, at: 0 };
    while reader.at < bytes.len() {
        let (name, postings) = (reader.slice()?, reader.slice()?);
        if !found(name, postings) {
            break;
        }
    }
    Some(())
}

/// Puts the blocks of some sorted terms behind what is there, and returns where they are.
pub(super) fn put<'a>(
    bytes: &mut Vec<u8>,
    terms: impl Iterator<Item = (&'a [u8], &'a [Posting])>,
) -> Vec<u8> {
    let mut table = Vec::new();
    let (mut block, mut first): (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
    let mut list = Vec::new();
    for (name, postings) in terms {
        if block.is_empty() {
            first = name.to_vec();
        }
        put_text(&mut block, name);
        list.clear();
        put_postings(&mut list, postings);
        put_text(&mut block, &list);
        if block.len() >= BLOCK {
            close(bytes, &mut table, &mut block, &first);
        }
    }
    if !block.is_empty() {
        close(bytes, &mut table, &mut block, &first);
    }
    table
}

/// A block that is as long is closed.
const BLOCK: usize = 4096;

fn close(bytes: &mut Vec<u8>, table: &mut Vec<u8>, block: &mut Vec<u8>, first: &[u8]) {
    for number in [bytes.len() as u64, block.len() as u64, checksum(block)] {
        put_number(table, number);
    }
    put_text(table, first);
    bytes.append(block);
}

fn put_postings(list: &mut Vec<u8>, postings: &[Posting]) {
    let mut before = 0;
    for posting in postings {
        put_number(list, u64::from(posting.document - before));
        before = posting.document;
        let (title, text) = (u64::from(posting.title), u64::from(posting.text));
        // Most terms stand in the text alone: the lowest bit says that one is in the title.
        if title == 0 {
            put_number(list, text << 1);
        } else {
            put_number(list, title << 1 | 1);
            put_number(list, text);
        }
    }
}

/// Calls `found` with each posting of a list.
pub(super) fn decode(list: &[u8], found: &mut dyn FnMut(Posting)) {
    let mut reader = Reader { bytes: list, at: 0 };
    let mut document = 0_u64;
    let short = |count: u64| u16::try_from(count).unwrap_or(u16::MAX);
    while let (Some(step), Some(counts)) = (reader.number(), reader.number()) {
        document += step;
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

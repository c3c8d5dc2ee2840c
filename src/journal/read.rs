//! Lenient reading: one bad line never hides the others.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use super::{FILE_NAME, JournalError};
use crate::protocol::Event;

/// What a journal holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// The events, in the order of the file.
    pub events: Vec<Event>,
    /// The lines that are none.
    pub bad_lines: Vec<BadLine>,
}

/// A line that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// The line's number, from 1.
    pub line: usize,
    /// Why.
    pub reason: String,
    /// True for an unfinished last line: a write that was cut off.
    pub torn: bool,
}

/// Reads the journal of a session's folder.
pub fn read(folder: &Path) -> Result<Reading, JournalError> {
    let path = folder.join(FILE_NAME);
    let bytes =
        std::fs::read(&path).map_err(|source| JournalError::io("reading", &path, source))?;
    Ok(parse(&bytes))
}

/// Reads journal lines.
pub(super) fn parse(bytes: &[u8]) -> Reading {
    let mut reading = Reading::default();
    let mut lines = bytes.split(|byte| *byte == b'\n').enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(event) => reading.events.push(event),
            Err(error) => reading.bad_lines.push(BadLine {
                line: index + 1,
                reason: error.to_string(),
                torn: lines.peek().is_none(),
            }),
        }
    }
    reading
}

/// Returns whether the file is empty or ends with a line's end.
pub(super) fn ends_with_a_line(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

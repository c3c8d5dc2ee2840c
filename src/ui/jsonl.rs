//! One event a line, for programs.

use std::io::{self, Write};

use crate::protocol::{Event, EventSink};

/// Writes every event, passing ones included, as a JSON object on a line of its own.
pub struct JsonLines<W> {
    out: W,
}

impl<W: Write + Send> JsonLines<W> {
    /// Returns a display that writes to `out`.
    pub fn new(out: W) -> Self {
        Self { out }
    }
}

impl<W: Write + Send> EventSink for JsonLines<W> {
    fn emit(&mut self, event: &Event) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }
}

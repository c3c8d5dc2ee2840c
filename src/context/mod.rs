//! GSSC: Gather, Select, Structure, Compress (chapter 9.3). Candidates become the text that a
//! model sees, within a budget.
//!
//! This module has never heard of notes, terminals or sessions: `sources` brings them as packets.
//! So the pipeline is a pure function of its inputs and its tests are tables.

mod error;
mod packet;
mod source;

pub use error::ContextError;
pub use packet::{ContextPacket, Keep, PacketKind, Section};
pub use source::{ContextSource, Query, SourceFailure};

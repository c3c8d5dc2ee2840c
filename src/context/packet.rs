//! One candidate for the context.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

/// A candidate: chapter 9.3.2, with types in the place of its free-form metadata.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextPacket {
    /// The text, as it came; the builder quotes what could be taken for structure.
    pub content: String,
    /// What it is; decides its section.
    pub kind: PacketKind,
    /// When it was true.
    pub timestamp: DateTime<Utc>,
    /// How relevant it is, in `0.0..=1.0`; none until the builder computes it.
    pub relevance: Option<f64>,
    /// Whether it competes.
    pub keep: Keep,
    /// Where it comes from, for people and reports: a note's id, a command line, a path.
    pub source: String,
    /// A note's type, where it is a note.
    pub note_type: Option<String>,
}

impl ContextPacket {
    /// Returns a packet that competes, with its relevance still to be computed.
    pub fn new(
        kind: PacketKind,
        source: impl Into<String>,
        content: impl Into<String>,
        timestamp: DateTime<Utc>,
    ) -> Self {
        Self {
            content: content.into(),
            kind,
            timestamp,
            relevance: None,
            keep: Keep::IfRoom,
            source: source.into(),
            note_type: None,
        }
    }

    /// Sets the relevance, clamped to `0.0..=1.0`; what is not a number counts as 0.
    #[must_use]
    pub fn with_relevance(mut self, relevance: f64) -> Self {
        let relevance = if relevance.is_nan() { 0.0 } else { relevance };
        self.relevance = Some(relevance.clamp(0.0, 1.0));
        self
    }

    /// Marks the packet as one that is always kept.
    #[must_use]
    pub fn always(mut self) -> Self {
        self.keep = Keep::Always;
        self
    }

    /// Sets the note's type.
    #[must_use]
    pub fn with_note_type(mut self, note_type: impl Into<String>) -> Self {
        self.note_type = Some(note_type.into());
        self
    }
}

/// What a packet is. Every kind has its section, so nothing that was paid for is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PacketKind {
    /// Role and policies; always kept, never scored.
    Instruction,
    /// Mode, session, branch, limits: the state of the work.
    State,
    /// An open blocker or a current task state: part of the state, with a floor.
    WorkState,
    /// A note that was searched for.
    Note,
    /// A document of the repository.
    Knowledge,
    /// The output of a command.
    CommandOutput,
    /// A message of the conversation.
    Conversation,
    /// Something from an earlier session.
    Memory,
    /// Anything else.
    Custom,
}

/// The six sections, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// `[Role & Policies]`
    Role,
    /// `[Task]`
    Task,
    /// `[State]`
    State,
    /// `[Evidence]`
    Evidence,
    /// `[Context]`
    Context,
    /// `[Output]`
    Output,
}

impl Section {
    /// All six, in their order.
    pub const ALL: [Self; 6] =
        [Self::Role, Self::Task, Self::State, Self::Evidence, Self::Context, Self::Output];

    /// Returns the header, as it stands in the text.
    pub fn header(self) -> &'static str {
        match self {
            Self::Role => "[Role & Policies]",
            Self::Task => "[Task]",
            Self::State => "[State]",
            Self::Evidence => "[Evidence]",
            Self::Context => "[Context]",
            Self::Output => "[Output]",
        }
    }

    /// Returns whether the section goes into the system message, which stays the same.
    pub(super) fn is_system(self) -> bool {
        match self {
            Self::Role | Self::Output => true,
            Self::Task | Self::State | Self::Evidence | Self::Context => false,
        }
    }

    /// Returns the letters of the name, to find those that pose as it.
    pub(super) fn letters(self) -> &'static str {
        match self {
            Self::Role => "rolepolicies",
            Self::Task => "task",
            Self::State => "state",
            Self::Evidence => "evidence",
            Self::Context => "context",
            Self::Output => "output",
        }
    }
}

impl PacketKind {
    /// Returns the section that the kind goes to.
    pub fn section(self) -> Section {
        match self {
            Self::Instruction => Section::Role,
            Self::State | Self::WorkState => Section::State,
            Self::Note | Self::Knowledge | Self::CommandOutput => Section::Evidence,
            Self::Conversation | Self::Memory | Self::Custom => Section::Context,
        }
    }
}

/// Whether a packet competes for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// Not scored, not dropped; shortened only when nothing else is left.
    Always,
    /// Taken by score while there is room.
    IfRoom,
}

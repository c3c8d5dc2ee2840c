//! Where a line stands while it is checked: the folder that each pipeline will run in.
//!
//! A `cd` moves what comes after it, but behind `&&` and `||` it may not run at all. So a line has a
//! folder for each way in which the pipeline before may have ended, and one that would go on in a
//! folder that is not certain is refused.

use crate::support::paths::WorkspacePath;
use crate::terminal::plan::When;
use crate::terminal::refusal::Refusal;

/// Where a line stands, by how the last pipeline ended.
pub(super) struct Place {
    succeeded: Where,
    failed: Where,
}

impl Place {
    /// Returns the place before the first pipeline.
    pub(super) fn at(spot: Spot) -> Self {
        Self { succeeded: Where::In(spot), failed: Where::Nowhere }
    }

    /// Returns the folder of the next pipeline, which must be certain.
    pub(super) fn spot(&self, when: When, line: &str) -> Result<Spot, Refusal> {
        let either = self.succeeded.or(&self.failed);
        let place = match when {
            When::IfSucceeded if self.succeeded != Where::Nowhere => &self.succeeded,
            When::IfFailed if self.failed != Where::Nowhere => &self.failed,
            // Always, or never: what never runs is checked where it stands.
            When::Always | When::IfSucceeded | When::IfFailed => &either,
        };
        match place {
            Where::In(spot) => Ok(spot.clone()),
            Where::Nowhere | Where::Unsure => Err(Refusal::new(
                line.trim(),
                "goes on in a folder that depends on whether its `cd` runs",
            )
            .advice(
                "Put `cd folder` first, on its own or followed by `&&`, or name the paths from the \
                 current folder",
            )),
        }
    }

    /// Follows a pipeline that ran at `spot`, or was left out.
    pub(super) fn after(&mut self, when: When, spot: &Spot, moves: Moves) {
        let stays = Where::In(spot.clone());
        let (succeeded, failed) = match moves {
            Moves::Stays => (stays.clone(), stays),
            Moves::To(directory) => {
                let before = Some(spot.directory.clone());
                (Where::In(Spot { directory, before }), Where::Nowhere)
            }
            Moves::Fails => (Where::Nowhere, stays),
        };
        match when {
            When::Always => *self = Self { succeeded, failed },
            // Left out, the outcome of the one before remains.
            When::IfSucceeded if self.succeeded != Where::Nowhere => {
                *self = Self { succeeded, failed: self.failed.or(&failed) };
            }
            When::IfFailed if self.failed != Where::Nowhere => {
                *self = Self { succeeded: self.succeeded.or(&succeeded), failed };
            }
            When::IfSucceeded | When::IfFailed => {}
        }
    }
}

/// A folder that a line stands in, and the one before its last `cd`.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) directory: WorkspacePath,
    pub(super) before: Option<WorkspacePath>,
}

/// What a step does to the current folder.
pub(super) enum Moves {
    /// Nothing: it is no `cd`.
    Stays,
    /// It leads there.
    To(WorkspacePath),
    /// It is a `cd` to what is no folder.
    Fails,
}

/// The folder after one way of ending.
#[derive(Clone, PartialEq, Eq)]
enum Where {
    /// It cannot end so.
    Nowhere,
    /// This one.
    In(Spot),
    /// One of several.
    Unsure,
}

impl Where {
    fn or(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::Nowhere, place) | (place, Self::Nowhere) => place.clone(),
            (Self::In(left), Self::In(right)) if left.directory == right.directory => {
                let before = left.before.clone().filter(|_| left.before == right.before);
                Self::In(Spot { directory: left.directory.clone(), before })
            }
            _ => Self::Unsure,
        }
    }
}

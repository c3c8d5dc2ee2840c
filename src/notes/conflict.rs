//! Files that Git could not merge: what both sides said, read back from between the marks.

use super::body;
use super::format;
use super::front_matter::NoteText;
use super::merge::{Merged, merge_versions};
use super::near::{fingerprint, likeness};

/// What two branches made of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sides {
    pub(super) ours: String,
    /// What both come from, where the marks tell.
    pub(super) base: Option<String>,
    pub(super) theirs: String,
}

/// What a conflict can be resolved to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Resolution {
    /// One note.
    Merged(Merged),
    /// Two notes that got one id; the second needs another.
    Split(String, String),
}

/// Returns the line of the first conflict mark of a file.
pub(super) fn first_mark(source: &str) -> Option<usize> {
    let mut lines = source.lines().zip(1..);
    let start = lines.find(|(line, _)| line.starts_with("<<<<<<< ") || *line == "<<<<<<<")?.1;
    let has_end = source.lines().any(|line| line.starts_with(">>>>>>> ") || line == ">>>>>>>");
    has_end.then_some(start)
}

/// Reads both sides of a file with conflict marks; none where the marks are not in order.
pub(super) fn sides(source: &str) -> Option<Sides> {
    let mut place = Place::Both;
    let (mut ours, mut base, mut theirs) = (String::new(), String::new(), String::new());
    let mut has_base = false;
    let mut marks = 0;
    for line in source.split_inclusive('\n') {
        let content = line.trim_end();
        let is = |mark: &str| {
            content.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        if place != Place::Both && (is("<<<<<<<") || (place != Place::Theirs && is(">>>>>>>"))) {
            // One conflict within another, or the end without a middle: nobody knows whose is what.
            return None;
        }
        place = match place {
            Place::Both if is("<<<<<<<") => Place::Ours,
            Place::Ours if is("|||||||") => {
                has_base = true;
                Place::Base
            }
            Place::Ours | Place::Base if is("=======") => Place::Theirs,
            Place::Theirs if is(">>>>>>>") => {
                marks += 1;
                Place::Both
            }
            Place::Both => {
                for side in [&mut ours, &mut base, &mut theirs] {
                    side.push_str(line);
                }
                continue;
            }
            Place::Ours => {
                ours.push_str(line);
                continue;
            }
            Place::Base => {
                base.push_str(line);
                continue;
            }
            Place::Theirs => {
                theirs.push_str(line);
                continue;
            }
        };
    }
    let is_whole = place == Place::Both && marks > 0;
    is_whole.then(|| Sides { ours, base: has_base.then_some(base), theirs })
}

impl Sides {
    /// Resolves what can be: fields always, the body where the sides changed different lines.
    pub(super) fn resolve(&self) -> Resolution {
        if self.are_two_notes() {
            return Resolution::Split(self.ours.clone(), self.theirs.clone());
        }
        let common = || {
            if self.ours.contains("\r\n") == self.theirs.contains("\r\n") {
                return body::common_lines(&self.ours, &self.theirs);
            }
            // A line is the same line with another end.
            let [ours, theirs] = [&self.ours, &self.theirs].map(|side| side.replace("\r\n", "\n"));
            body::common_lines(&ours, &theirs)
        };
        let base = self.base.clone().unwrap_or_else(common);
        let mut merged = merge_versions(Some(&base), &self.ours, &self.theirs);
        if self.base.is_none() {
            // What both have in common is no version that anybody wrote.
            merged.text = without_bases(&merged.text);
        }
        Resolution::Merged(merged)
    }

    /// Returns whether resolving changes more than the names behind the marks.
    pub(super) fn can_be_resolved(&self) -> bool {
        match self.resolve() {
            Resolution::Split(..) => true,
            Resolution::Merged(merged) => {
                let left = sides(&merged.text);
                left.is_none_or(|left| left.ours != self.ours || left.theirs != self.theirs)
            }
        }
    }

    fn are_two_notes(&self) -> bool {
        let has_base = self.base.as_ref().is_some_and(|base| !base.trim().is_empty());
        !has_base && are_two_notes(&self.ours, &self.theirs)
    }
}

/// Whether two texts without a version that both come from are different notes: written at
/// different times, or about different things.
pub(super) fn are_two_notes(ours: &str, theirs: &str) -> bool {
    let read = |source: &str| {
        let text = NoteText::parse(source).ok()?;
        let metadata = format::read_metadata(&text).ok()?;
        let words = fingerprint(&metadata.title, text.body());
        (!metadata.created_at.is_empty()).then_some((metadata.created_at, metadata.title, words))
    };
    let (Some(ours), Some(theirs)) = (read(ours), read(theirs)) else { return false };
    ours.0 != theirs.0 || (ours.1 != theirs.1 && likeness(&ours.2, &theirs.2) < TWO_NOTES)
}

/// Returns a text without what stands between the marks of a base and of the other side.
fn without_bases(text: &str) -> String {
    let mut is_base = false;
    let lines = text.split_inclusive('\n').filter(|line| {
        let begins = |mark: &str| line.starts_with(mark);
        is_base = (is_base || begins("||||||| base")) && !begins("=======");
        !is_base
    });
    lines.collect()
}

/// Returns whether the line of a body, counted in the file from 1, stands in a block of code: an
/// example of marks, unless Git put them there.
pub(super) fn is_in_code(source: &str, line: usize) -> bool {
    let fences = source.lines().take(line.saturating_sub(1)).filter(|line| {
        let line = line.trim_start();
        line.starts_with("```") || line.starts_with("~~~")
    });
    fences.count() % 2 == 1
}

/// Less alike are two notes, and not two versions of one.
pub(super) const TWO_NOTES: f64 = 0.3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Both,
    Ours,
    Base,
    Theirs,
}

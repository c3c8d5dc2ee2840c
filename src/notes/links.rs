//! Which notes wait for which.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::error::NoteError;
use super::note::NoteId;
use super::store::NoteStore;

impl NoteStore {
    /// Refuses new dependencies of a note that would make notes wait for each other.
    pub(super) fn refuse_cycle(
        &self,
        id: &NoteId,
        extra: &BTreeMap<String, Value>,
    ) -> Result<(), NoteError> {
        let Some(Value::Array(wanted)) = extra.get("depends_on") else { return Ok(()) };
        let catalog = self.catalog()?;
        let mut graph: BTreeMap<String, Vec<String>> = catalog
            .entries()
            .filter_map(|(_, entry)| {
                Some((entry.id.as_ref()?.to_string(), entry.depends_on.clone()))
            })
            .collect();
        let wanted = wanted.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        graph.insert(id.to_string(), wanted);
        match cycle_from(id.as_str(), &graph) {
            Some(cycle) => Err(NoteError::Cycle(cycle)),
            None => Ok(()),
        }
    }
}

/// Returns the circle that a note is in, beginning and ending with it.
pub(super) fn cycle_from(
    start: &str,
    graph: &BTreeMap<String, Vec<String>>,
) -> Option<Vec<String>> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut paths: Vec<Vec<&str>> = vec![vec![start]];
    while let Some(path) = paths.pop() {
        let last = *path.last()?;
        for next in graph.get(last).into_iter().flatten() {
            let mut longer = path.clone();
            longer.push(next);
            if next == start {
                return Some(longer.into_iter().map(str::to_owned).collect());
            }
            if seen.insert(next) {
                paths.push(longer);
            }
        }
    }
    None
}

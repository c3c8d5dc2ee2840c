//! Which notes wait for which.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::error::NoteError;
use super::note::NoteId;
use super::store::NoteStore;

/// For each note, by its id, what it depends on.
pub(super) type Graph = BTreeMap<String, Vec<String>>;

impl NoteStore {
    /// Refuses new dependencies of a note that would make notes wait for each other.
    pub(super) fn refuse_cycle(
        &self,
        id: &NoteId,
        extra: &BTreeMap<String, Value>,
    ) -> Result<(), NoteError> {
        let Some(Value::Array(wanted)) = extra.get("depends_on") else { return Ok(()) };
        let catalog = self.catalog()?;
        let mut graph: Graph = catalog
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
pub(super) fn cycle_from(start: &str, graph: &Graph) -> Option<Vec<String>> {
    // From where each note was reached: a whole way for each would take the square of the memory.
    let mut reached_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut open: Vec<&str> = vec![start];
    while let Some(last) = open.pop() {
        for next in graph.get(last).into_iter().flatten() {
            if next == start {
                let back = |at: &&str| reached_from.get(at).copied();
                let way = std::iter::successors(Some(last), back).map(str::to_owned);
                let mut cycle: Vec<String> = way.collect();
                cycle.reverse();
                cycle.push(start.to_owned());
                return Some(cycle);
            }
            if !reached_from.contains_key(next.as_str()) {
                reached_from.insert(next, last);
                open.push(next);
            }
        }
    }
    None
}

/// Returns circles of notes that wait for each other, so that each note that is in any is in one of
/// them.
pub(super) fn cycles(graph: &Graph) -> Vec<Vec<String>> {
    let mut found: Vec<Vec<String>> = Vec::new();
    let mut told: BTreeSet<String> = BTreeSet::new();
    for start in without_ends(graph) {
        if told.contains(start) {
            continue;
        }
        if let Some(cycle) = cycle_from(start, graph) {
            told.extend(cycle.iter().cloned());
            found.push(cycle);
        }
    }
    found
}

/// Returns the notes that may be in a circle: what waits for nothing is in none, and so is what
/// waits only for such notes. Mostly nothing is left.
fn without_ends(graph: &Graph) -> BTreeSet<&str> {
    let mut waiting: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    for (id, wanted) in graph {
        let there = wanted.iter().filter(|wanted| graph.contains_key(*wanted));
        left.insert(id, there.clone().count());
        for wanted in there {
            waiting.entry(wanted).or_default().push(id);
        }
    }
    let mut ends: Vec<&str> =
        left.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
    while let Some(end) = ends.pop() {
        left.remove(end);
        for id in waiting.get(end).into_iter().flatten() {
            let Some(count) = left.get_mut(id) else { continue };
            *count -= 1;
            if *count == 0 {
                ends.push(id);
            }
        }
    }
    left.into_keys().collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn graph(rows: &[(&str, &[&str])]) -> Graph {
        let owned = |id: &&str| (*id).to_owned();
        rows.iter().map(|(id, wanted)| (owned(id), wanted.iter().map(owned).collect())).collect()
    }

    #[track_caller]
    fn check(rows: &[(&str, &[&str])], expected: &[&str]) {
        let found = cycles(&graph(rows));
        let found: Vec<String> = found.iter().map(|cycle| cycle.join(" ")).collect();
        assert_eq!(found, expected, "{rows:?}");
    }

    #[test]
    fn each_note_that_is_in_a_circle_is_told_in_one() {
        check(&[], &[]);
        check(&[("a", &["b", "gone"]), ("b", &["c"]), ("c", &[])], &[]);
        check(&[("a", &["a"])], &["a a"]);
        check(&[("a", &["b"]), ("b", &["c"]), ("c", &["b"])], &["b c b"]);
        check(&[("a", &["b"]), ("b", &["a", "c", "c"]), ("c", &["b"])], &["a b a", "c b c"]);
        check(&[("a", &["b"]), ("b", &["a"]), ("c", &["d"]), ("d", &["c"])], &["a b a", "c d c"]);
    }

    #[test]
    fn long_chains_are_followed_once() {
        // With a way for each note of a chain, from each of its notes, this would take hours.
        let id = |number: usize| format!("note_{number:05}");
        let chain = |end: usize| -> Graph {
            (0..20_000)
                .map(|at| (id(at), vec![id(if at < 19_999 { at + 1 } else { end })]))
                .collect()
        };
        assert_eq!(cycles(&chain(20_000)), Vec::<Vec<String>>::new());
        let circles = cycles(&chain(0));
        assert_eq!((circles.len(), circles[0].len()), (1, 20_001));
    }
}

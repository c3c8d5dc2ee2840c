//! Bodies of notes, line by line: what an edit keeps, deletes, and how two edits come together.

use std::collections::HashSet;
use std::hash::Hash;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, TextDiff, capture_diff_slices_deadline};

/// Returns `new` with the line ends of the old body: lines that were there keep theirs, and new
/// ones get that of the file, so that an edit made with plain line ends changes no other line.
pub(super) fn with_line_ends_of(old: &str, new: &str, line_end: &str) -> String {
    if !old.contains('\r') && line_end == "\n" {
        return new.to_owned();
    }
    if new.contains('\r') {
        // Whoever writes such line ends means them.
        return new.to_owned();
    }
    let old_lines: Vec<&str> = old.split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let bare = |line: &&str| line.trim_end_matches(['\r', '\n']).to_owned();
    let (old_bare, new_bare): (Vec<_>, Vec<_>) =
        (old_lines.iter().map(bare).collect(), new_lines.iter().map(bare).collect());
    let mut result = String::with_capacity(new.len() + new_lines.len());
    for (at, was) in matches(&new_bare, &old_bare).into_iter().enumerate() {
        let has_end = new_lines[at].ends_with('\n');
        let kept = was.map(|was| old_lines[was]).filter(|line| line.ends_with('\n') == has_end);
        if let Some(line) = kept {
            result.push_str(line);
        } else {
            result.push_str(&new_bare[at]);
            result.push_str(if has_end { line_end } else { "" });
        }
    }
    result
}

/// Returns how many percent of the words of `old` are not in `new` any more.
pub(super) fn percent_deleted(old: &str, new: &str) -> usize {
    let mut left: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    for word in pieces(new) {
        *left.entry(word).or_default() += 1;
    }
    let (mut total, mut deleted) = (0, 0);
    for word in pieces(old) {
        total += word.len();
        match left.get_mut(word).filter(|count| **count > 0) {
            Some(count) => *count -= 1,
            None => deleted += word.len(),
        }
    }
    (deleted * 100).checked_div(total).unwrap_or(0)
}

/// Returns the difference as people know it, with three lines around each change.
pub(super) fn diff(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(old, new);
    diff.unified_diff().context_radius(3).header(old_name, new_name).to_string()
}

/// Returns how many lines came and went.
pub(super) fn changed_lines(old: &str, new: &str) -> (usize, usize) {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let kept = matches(&old, &new).iter().flatten().count();
    (new.len() - kept, old.len() - kept)
}

/// Returns what both sides made of `base`, or none where they changed the same lines to
/// different ones.
pub(super) fn merge(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let (merged, conflicts) = merge_marked(base, ours, theirs);
    (conflicts == 0).then_some(merged)
}

/// Returns what both sides made of `base`, with Git's marks where they changed the same lines to
/// different ones, and how often that is.
pub(super) fn merge_marked(base: &str, ours: &str, theirs: &str) -> (String, usize) {
    let mut conflicts = 0;
    let (base, ours, theirs): (Vec<&str>, Vec<&str>, Vec<&str>) = (
        base.split_inclusive('\n').collect(),
        ours.split_inclusive('\n').collect(),
        theirs.split_inclusive('\n').collect(),
    );
    let (our_matches, their_matches) = (matches(&base, &ours), matches(&base, &theirs));
    let mut merged = String::new();
    let (mut at, mut our_at, mut their_at) = (0, 0, 0);
    loop {
        // The next line of the base that both sides kept.
        let stable = (at..base.len())
            .find(|line| our_matches[*line].is_some() && their_matches[*line].is_some());
        let (end, our_end, their_end) = match stable {
            Some(line) => {
                let place = |line: Option<usize>, end| line.unwrap_or(end);
                (
                    line,
                    place(our_matches[line], ours.len()),
                    place(their_matches[line], theirs.len()),
                )
            }
            None => (base.len(), ours.len(), theirs.len()),
        };
        let (was, we, they) =
            (&base[at..end], &ours[our_at..our_end], &theirs[their_at..their_end]);
        if we == was || we == they {
            merged.extend(they.iter().copied());
        } else if they == was {
            merged.extend(we.iter().copied());
        } else {
            conflicts += 1;
            for (mark, side) in [("<<<<<<< ours", we), ("||||||| base", was), ("=======", they)] {
                merged.push_str(mark);
                merged.push('\n');
                merged.extend(side.iter().copied());
                if !merged.ends_with('\n') {
                    merged.push('\n');
                }
            }
            merged.push_str(">>>>>>> theirs\n");
        }
        if stable.is_none() {
            return (merged, conflicts);
        }
        merged.push_str(base[end]);
        (at, our_at, their_at) = (end + 1, our_end + 1, their_end + 1);
    }
}

/// For each line of `base`, the line of `side` that it became.
///
/// Two texts with few lines in common are compared at once, and no comparison takes longer than
/// [`PATIENCE`]: a line that is not found by then counts as changed.
fn matches<Line: Hash + Ord>(base: &[Line], side: &[Line]) -> Vec<Option<usize>> {
    // A line that only one of them has became nothing, and the search takes the longer, the more
    // such lines there are.
    let only_common = |lines: &'_ [Line], others: &[Line]| -> Vec<usize> {
        let others: HashSet<&Line> = others.iter().collect();
        (0..lines.len()).filter(|at| others.contains(&lines[*at])).collect()
    };
    let (of_base, of_side) = (only_common(base, side), only_common(side, base));
    let was: Vec<&Line> = of_base.iter().map(|at| &base[*at]).collect();
    let is: Vec<&Line> = of_side.iter().map(|at| &side[*at]).collect();
    let deadline = Instant::now() + PATIENCE;
    let mut matches = vec![None; base.len()];
    for operation in capture_diff_slices_deadline(Algorithm::Myers, &was, &is, Some(deadline)) {
        if let DiffOp::Equal { old_index, new_index, len } = operation {
            for offset in 0..len {
                matches[of_base[old_index + offset]] = Some(of_side[new_index + offset]);
            }
        }
    }
    matches
}

/// How long the lines are looked for that two texts have in the same order, while others wait for
/// the notes. Texts that anybody wrote take milliseconds; lines in reverse would take hours.
const PATIENCE: Duration = Duration::from_secs(1);

/// Words, and single characters of scripts without spaces.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().flat_map(|word| {
        if word.is_ascii() { vec![word] } else { word.split_inclusive(|_: char| true).collect() }
    })
}

/// Returns the lines that both texts have, in their order.
pub(super) fn common_lines(a: &str, b: &str) -> String {
    let lines: Vec<&str> = a.split_inclusive('\n').collect();
    let others: Vec<&str> = b.split_inclusive('\n').collect();
    let found = matches(&lines, &others);
    lines.iter().zip(found).filter(|(_, place)| place.is_some()).map(|(line, _)| *line).collect()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn lines(name: &str, numbers: impl Iterator<Item = usize>) -> String {
        numbers.fold(String::new(), |lines, number| lines + &format!("{name} {number}\n"))
    }

    #[test]
    fn lines_that_one_side_has_alone_do_not_hold_the_search_up() {
        // Searched through as they are, these would take longer than anybody waits.
        let old = lines("old", 0..40_000) + "kept\n";
        let new = "kept\n".to_owned() + &lines("new", 0..40_000);
        assert_eq!(changed_lines(&old, &new), (40_000, 40_000));
        let windows = old.replace('\n', "\r\n");
        let edited = with_line_ends_of(&windows, &new, "\r\n");
        assert_eq!(edited, new.replace('\n', "\r\n"));
    }

    #[test]
    fn what_is_not_found_in_time_counts_as_changed_and_nothing_is_lost() {
        let ours = lines("line", 0..20_000);
        let theirs = lines("line", (0..20_000).rev());
        let (came, went) = changed_lines(&ours, &theirs);
        assert!(came == went && (1..=20_000).contains(&came), "{came}");
        let (merged, conflicts) = merge_marked("", &ours, &theirs);
        assert!(conflicts > 0 && merged.contains(&ours) && merged.contains(&theirs));
    }
}

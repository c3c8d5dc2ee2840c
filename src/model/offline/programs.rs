//! The `awk` programs of the lines, a file each. Their comments stay here.

use super::lines::quoted;

/// Drops the totals of `wc`.
pub(super) const WITHOUT_TOTALS: &str = include_str!("awk/without_totals.awk");
/// Counts paths by ending.
pub(super) const ENDINGS: &str = include_str!("awk/endings.awk");
/// Sums up lines and bytes.
pub(super) const CONTENTS: &str = include_str!("awk/contents.awk");
/// Counts binary files.
pub(super) const BINARIES: &str = include_str!("awk/binaries.awk");
/// Counts and ranks markers.
pub(super) const MARKERS: &str = include_str!("awk/markers.awk");
/// Counts paths by top folder.
pub(super) const FOLDERS: &str = include_str!("awk/folders.awk");
/// Finds long and deep functions.
pub(super) const FUNCTIONS: &str = include_str!("awk/functions.awk");
/// Ranks what `FUNCTIONS` found.
pub(super) const RANKING: &str = include_str!("awk/ranking.awk");
/// Keeps the largest.
pub(super) const TOP: &str = include_str!("awk/top.awk");
/// Finds source files without tests.
pub(super) const UNTESTED: &str = include_str!("awk/untested.awk");
/// Finds repeated blocks.
pub(super) const REPEATS: &str = include_str!("awk/repeats.awk");

/// Returns a program as one quoted argument, without its comments and margins.
pub(super) fn argument(program: &str) -> String {
    let lines = program.lines().map(str::trim);
    let lines: Vec<&str> =
        lines.filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    quoted(&lines.join("\n"))
}

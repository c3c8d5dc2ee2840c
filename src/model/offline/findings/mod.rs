//! What is wrong, or may be: each subject looks, writes its section, and says what to record.

mod ages;
pub(super) mod conflicts;
pub(super) mod functions;
pub(super) mod hot_spots;
pub(super) mod markers;
pub(super) mod repeats;
pub(super) mod untested;

use super::lines::{Files, Which};
use super::programs;
use super::survey::languages::Languages;

/// Up to so many lines of code, all of it is read; beyond, the longest files.
const MOST_LINES: u64 = 1_500_000;
const LONGEST: usize = 600;

/// Paths that hold tests, examples or foreign code.
const ASIDE: &str = "(^|/)([a-z]+_tests?|tests?|__tests__|specs?|testing|testdata|fixtures?|examples?|benches|benchmarks?|vendor|third_party|node_modules|dist|generated)/|(^|/)test_[^/]*$|[_.-](test|tests|spec)\\.[a-z]+$|(^|/)tests?\\.[a-z]+$|\\.min\\.[a-z]+$";

/// Which source files a look reads, and whether these are all of them.
struct Sources {
    /// Prints their paths with NUL behind each.
    line: String,
    all: bool,
}

/// Returns the source files that can be read within the time of a command.
fn sources(
    files: &Files,
    languages: &Languages,
    most_lines: u64,
    longest: usize,
) -> Option<Sources> {
    let endings = languages.code_endings();
    if endings.is_empty() {
        return None;
    }
    let which = Which::Endings(&endings);
    if languages.code_lines() <= most_lines {
        return Some(Sources { line: files.texts(which), all: true });
    }
    let counts = files.line_counts(which);
    let top = programs::argument(programs::TOP);
    let line = format!(
        "{counts} | awk -v most={longest} {top} | grep -v '^rows' | cut -f 2- | tr '\\n' '\\000'"
    );
    Some(Sources { line, all: false })
}

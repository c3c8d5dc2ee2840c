//! `which` and `whereis`: where programs of the system are, in the folders that commands come
//! from; nowhere else is looked.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Desk, Failure, Result};
use crate::terminal::environment::PATH;

/// Prints the path of each program; fails when one is not there.
pub(super) fn which(words: &[OsString], desk: &mut Desk<'_>) -> Result<()> {
    let all = words.iter().any(|word| word == "-a");
    let mut missing = false;
    for name in names(words) {
        let found = find(name);
        missing |= found.is_empty();
        for path in found.iter().take(if all { usize::MAX } else { 1 }) {
            desk.line(path.as_os_str().as_bytes())?;
        }
    }
    if missing { Err(Failure::Negative(None)) } else { Ok(()) }
}

/// Prints each name and where it is.
pub(super) fn whereis(words: &[OsString], desk: &mut Desk<'_>) -> Result<()> {
    for name in names(words) {
        let mut line = name.as_bytes().to_vec();
        line.push(b':');
        for path in find(name) {
            line.push(b' ');
            line.extend_from_slice(path.as_os_str().as_bytes());
        }
        desk.line(&line)?;
    }
    Ok(())
}

fn names(words: &[OsString]) -> impl Iterator<Item = &OsString> {
    words.iter().filter(|word| word.as_bytes().first() != Some(&b'-'))
}

fn find(name: &OsString) -> Vec<PathBuf> {
    // A name with a slash is a path, and paths outside are nobody's business.
    if name.is_empty() || name.as_bytes().contains(&b'/') {
        return Vec::new();
    }
    let folders = PATH.split(':').map(|folder| Path::new(folder).join(name));
    folders.filter(|path| is_program(path)).collect()
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

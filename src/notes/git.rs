//! Telling Git how to merge notes, when a person asks for it.
//!
//! The only place that writes outside of the state folder: one section of the repository's own
//! configuration, and only what [`set_up_merging`] returns. It starts no process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::NoteError;
use super::merge::merge_versions;
use crate::support::atomic_file;
use crate::support::quote::single_quoted;

/// Makes Git merge notes field by field; returns the files that were written, with what for.
///
/// `state` is the state folder, which holds the notes; `program` is the file of this program, for
/// where it is not found by its name.
pub fn set_up_merging(
    workspace: &Path,
    state: &Path,
    program: &Path,
) -> Result<Vec<(PathBuf, &'static str)>, NoteError> {
    let bad = |folder: &Path, problem| NoteError::BadFolder { folder: folder.to_owned(), problem };
    let Some((top, config)) = repository(workspace) else {
        return Err(bad(workspace, "is no Git repository, so there is nothing to set up"));
    };
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if !real(state).starts_with(real(&top)) {
        return Err(bad(state, "lies outside of the repository, so Git does not merge its notes"));
    }
    let mut written = Vec::new();
    let ignore = state.join(".gitignore");
    if ignore.exists() && add(&ignore, "!.gitattributes", "!.gitattributes\n")? {
        written.push((ignore, "that the next file goes along with the notes"));
    }
    let attributes = state.join(".gitattributes");
    let line = format!("notes/*.md merge={DRIVER}\n");
    if add(&attributes, &line, &line)? {
        written.push((attributes, "which files are notes"));
    }
    let head = format!("[merge \"{DRIVER}\"]");
    let section = format!(
        "{head}\n\tname = notes of groundskeeper, field by field\n\tdriver = \"{}\"\n",
        command(program).replace('\\', r"\\").replace('"', "\\\"")
    );
    if add_section(&config, &head, &section)? {
        written.push((config, "the command that merges them"));
    }
    Ok(written)
}

/// Returns what Git's shell runs: the program by its name or as the file that it was, and where
/// it is gone or fails, the usual merge. Without that Git would leave this branch's version alone
/// in the work tree, without a mark of the other's.
fn command(program: &Path) -> String {
    let file = single_quoted(&program.to_string_lossy());
    format!(
        "gk=$(command -v groundskeeper || echo {file}); \"$gk\" notes merge-driver %O %A %B %P; code=$?; test $code -lt 2 && exit $code; exec git merge-file --marker-size=%L %A %O %B"
    )
}

/// Merges files as Git hands them to a merge driver: the result takes the place of `ours`. Returns
/// how many places are left to a person. `place` is where the note lies in the end: what a killed
/// driver leaves is beside it, where Git ignores it and the next writer removes it.
pub fn merge_files(
    base: &Path,
    ours: &Path,
    theirs: &Path,
    place: Option<&Path>,
) -> Result<usize, NoteError> {
    let read = |path: &Path| fs::read_to_string(path).map_err(NoteError::io("reading", path));
    let merged = merge_versions(Some(&read(base)?), &read(ours)?, &read(theirs)?);
    let bytes = merged.text.as_bytes();
    match place.and_then(Path::parent) {
        Some(notes) => atomic_file::replace_by_way_of(notes, ours, bytes),
        None => atomic_file::replace(ours, bytes),
    }
    .map_err(NoteError::io("writing", ours))?;
    Ok(merged.conflicts)
}

/// The name by which attributes and configuration know each other.
const DRIVER: &str = "groundskeeper-note";

/// Adds text to the end of a file unless it has `mark` already; tells whether it did.
fn add(path: &Path, mark: &str, text: &str) -> Result<bool, NoteError> {
    let old = read(path)?;
    if String::from_utf8_lossy(&old).contains(mark.trim_end()) {
        return Ok(false);
    }
    append(path, old, text)
}

/// Adds a section to a configuration of Git, or puts it in the place of an older one, which may
/// name a program that lies elsewhere now; tells whether something changed.
fn add_section(path: &Path, head: &str, section: &str) -> Result<bool, NoteError> {
    // Git does not mind in what its configuration is written.
    let mut rest = Vec::new();
    let (mut found, mut within) = (Vec::new(), false);
    let old = read(path)?;
    for line in old.split_inclusive(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        if text.starts_with('[') {
            within = text.trim_end() == head;
        }
        if within { found.extend_from_slice(line) } else { rest.extend_from_slice(line) }
    }
    if found.trim_ascii_end() == section.trim_end().as_bytes() {
        return Ok(false);
    }
    append(path, rest, section)
}

/// Reads a file that text is added to; empty where there is none.
fn read(path: &Path) -> Result<Vec<u8>, NoteError> {
    if path.is_symlink() {
        // What it leads to would become part of the repository.
        let error = io::Error::other("it is a symbolic link, and none is written through");
        return Err(NoteError::io("writing", path)(error));
    }
    match fs::read(path) {
        Ok(old) => Ok(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(NoteError::io("reading", path)(error)),
    }
}

fn append(path: &Path, mut old: Vec<u8>, text: &str) -> Result<bool, NoteError> {
    if !old.is_empty() && !old.ends_with(b"\n") {
        old.push(b'\n');
    }
    old.extend_from_slice(text.as_bytes());
    atomic_file::replace(path, &old).map_err(NoteError::io("writing", path))?;
    Ok(true)
}

/// Returns the top of the repository that a folder is in, and its configuration, also those of a
/// linked work tree and a submodule.
fn repository(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let top = folder.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let git = top.join(".git");
    let config = if git.is_dir() {
        git.join("config")
    } else {
        let pointer = fs::read_to_string(&git).ok()?;
        let folder = top.join(pointer.trim().strip_prefix("gitdir:")?.trim());
        let common = match fs::read_to_string(folder.join("commondir")) {
            Ok(common) => folder.join(common.trim()),
            Err(_) => folder,
        };
        common.join("config")
    };
    config.parent()?.is_dir().then(|| (top.to_owned(), config))
}

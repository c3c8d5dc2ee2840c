//! Which files the turn is about, and whether Git knows them.

use super::desk::{Desk, Looked};
use super::lines::{Files, Place, Which, quoted};

/// The files of the turn and their number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scope {
    pub(super) files: Files,
    /// How many files; none when it could not be counted.
    pub(super) count: Option<u64>,
    pub(super) count_line: String,
    /// Whether there is a repository at all, tracked files or not.
    pub(super) repository: bool,
    /// Whether there is one that may not be read, since it lies outside.
    pub(super) is_elsewhere: bool,
    /// Files that Git neither tracks nor ignores.
    pub(super) untracked: Option<u64>,
    pub(super) untracked_line: String,
    /// What was asked for and is no path: words to look for.
    pub(super) topic: Option<String>,
}

/// Up to so many files are put in order where Git does not do it.
const MOST_IN_ORDER: u64 = 50_000;

const INSIDE: &str = "git rev-parse --is-inside-work-tree";
const TRACKED: &str = "git ls-files | wc -l";
const OWN: &str = "git ls-files -- .groundskeeper | wc -l";
const UNTRACKED: &str =
    "git ls-files --others --exclude-standard -- . ':(exclude).groundskeeper' | wc -l";

impl Scope {
    /// Finds out.
    pub(super) fn look(desk: &Desk<'_>) -> Looked<Self> {
        let inside = desk.run(INSIDE);
        let tracked = desk.run(TRACKED);
        let own = desk.run(OWN);
        let untracked = desk.run(UNTRACKED);
        let target = desk.turn().target.as_deref().map(tidy).filter(|target| !target.is_empty());
        let place = target.as_deref().filter(|target| could_be_path(target));
        let there = place.map(|path| desk.run(&format!("ls -dp -- {}", quoted(path))));
        let (inside, tracked, own, untracked) = (inside?, tracked?, own?, untracked?);
        // `-p` puts a slash behind a folder, so that what has none is one file.
        let (within, one) = match there {
            Some(there) => {
                let there = there?;
                let first = there.lines().next();
                let one = first.is_some_and(|first| !first.ends_with('/'));
                (first.is_some().then(|| place.unwrap_or_default()), one)
            }
            None => (None, false),
        };
        let repository = inside.lines().any(|line| line == "true");
        let own = own.number().unwrap_or(0);
        let mut files = Files {
            git: repository && tracked.number().unwrap_or(0) > own,
            within: within.unwrap_or_default().to_owned(),
            place: if one { Place::File } else { Place::Folder },
            in_order: false,
            own_notes: own > 0,
        };
        let mut count_line = files.count();
        let mut count = desk.run(&count_line)?.number();
        let is_folder = !files.within.is_empty() && !files.is_one();
        let is_submodule = files.git && is_folder && count == Some(1) && {
            let entry = desk.run(&format!("git ls-files -s{}", files.pathspec(Which::All)))?;
            entry.lines().any(|entry| entry.starts_with("160000 "))
        };
        if files.git && (count == Some(0) && !files.within.is_empty() || is_submodule) {
            // The folder is there and Git tracks nothing in it: it is looked at as it lies there.
            files.git = false;
            count_line = files.count();
            count = desk.run(&count_line)?.number();
        }
        files.own_notes &= files.git;
        files.in_order = !files.git && count.is_some_and(|count| count <= MOST_IN_ORDER);
        let topic = if within.is_some() { None } else { target.clone() };
        Ok(Self {
            files,
            count,
            count_line,
            repository,
            is_elsewhere: inside.is_refused(),
            untracked: untracked.number().filter(|_| repository),
            untracked_line: UNTRACKED.to_owned(),
            topic,
        })
    }

    /// Returns whether there is nothing to look at.
    pub(super) fn is_empty(&self) -> bool {
        self.count == Some(0)
    }
}

/// Returns a target without the ornaments of a path.
fn tidy(target: &str) -> String {
    let mut path = target.trim();
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    let path = if path == "/" { path } else { path.trim_end_matches('/') };
    if path == "." { String::new() } else { path.to_owned() }
}

/// Returns whether a text can name something in the workspace.
fn could_be_path(text: &str) -> bool {
    let outside = text.starts_with('/') || text.split('/').any(|part| part == "..");
    !outside && text.len() < 1_000 && !text.contains(char::is_control)
}

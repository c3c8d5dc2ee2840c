//! Which folder is the workspace when nobody names one: the repository around the current folder.
//!
//! A person stands in `src/` and means the project, as with Git. It goes up to the nearest folder
//! that is looked after already or that Git knows, and no further than it is safe: never to the
//! home folder or above it, whose other files nobody meant, and never to what belongs to somebody
//! else, who could have put it there for others to find.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Returns the folder to look after for somebody who stands in `start`.
#[expect(clippy::disallowed_methods, reason = "the root is resolved here, once")]
pub fn workspace_around(start: &Path, home: Option<&Path>) -> PathBuf {
    let Ok(start) = std::fs::canonicalize(start) else { return start.to_owned() };
    let Ok(own) = std::fs::metadata(&start) else { return start };
    let home = home.and_then(|home| std::fs::canonicalize(home).ok());
    for folder in start.ancestors() {
        let is_start = folder == start;
        if !is_start && home.as_ref().is_some_and(|home| home.starts_with(folder)) {
            break;
        }
        if let Some(mark) = mark_of(folder) {
            return if is_start || have_one_owner(&mark, &own) { folder.to_owned() } else { start };
        }
    }
    start
}

/// Returns what makes a folder a workspace: its state folder, or that of Git.
fn mark_of(folder: &Path) -> Option<Metadata> {
    let state = std::fs::symlink_metadata(folder.join(".groundskeeper"));
    if let Some(state) = state.ok().filter(Metadata::is_dir) {
        return Some(state);
    }
    let git = folder.join(".git");
    let found = std::fs::symlink_metadata(&git).ok()?;
    let is_repository = if found.is_dir() {
        git.join("HEAD").symlink_metadata().is_ok()
    } else {
        // That of a worktree or a submodule says where its folder is.
        found.is_file() && std::fs::read(&git).is_ok_and(|text| text.starts_with(b"gitdir:"))
    };
    is_repository.then_some(found)
}

#[cfg(unix)]
fn have_one_owner(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    one.uid() == other.uid()
}

#[cfg(not(unix))]
fn have_one_owner(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    /// A home with a repository, a folder without one, and a worktree in it.
    fn home() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap().join("home");
        for path in ["shop/.git", "shop/src/core", "shop/part/.groundskeeper/notes", "plain/deep"] {
            std::fs::create_dir_all(home.join(path)).unwrap();
        }
        std::fs::create_dir_all(home.join("shop/tree/src")).unwrap();
        std::fs::create_dir_all(home.join("shop/fake/.git")).unwrap();
        let write = |path: &str, text: &str| {
            crate::support::atomic_file::create_new(&home.join(path), text.as_bytes()).unwrap();
        };
        write("shop/.git/HEAD", "ref: refs/heads/main\n");
        write("shop/tree/.git", "gitdir: ../.git/worktrees/tree\n");
        write("shop/src/core/.git", "no pointer");
        (folder, home)
    }

    #[track_caller]
    fn check(home: &Path, start: &str, expected: &str) {
        assert_eq!(workspace_around(&home.join(start), Some(home)), home.join(expected), "{start}");
    }

    #[test]
    fn the_nearest_repository_or_state_folder_is_meant() {
        let (_folder, home) = home();
        check(&home, "shop", "shop");
        check(&home, "shop/src/core", "shop");
        check(&home, "shop/.git", "shop");
        check(&home, "shop/fake", "shop");
        check(&home, "shop/part", "shop/part");
        check(&home, "shop/part/.groundskeeper/notes", "shop/part");
        check(&home, "shop/tree/src", "shop/tree");
        check(&home, "plain/deep", "plain/deep");
        check(&home, "nosuch", "nosuch");
    }

    #[test]
    fn the_home_folder_is_meant_only_by_who_stands_in_it() {
        let (_folder, home) = home();
        std::fs::create_dir_all(home.join(".groundskeeper")).unwrap();
        std::fs::create_dir_all(home.parent().unwrap().join(".groundskeeper")).unwrap();
        check(&home, "plain/deep", "plain/deep");
        check(&home, "", "");
        check(&home, "shop/src", "shop");
        // Somebody without a home stands as deep as it gets.
        assert_eq!(workspace_around(&home.join("plain/deep"), None), home);
    }

    #[cfg(unix)]
    #[test]
    fn what_belongs_to_somebody_else_is_not_meant() {
        let (_folder, home) = home();
        let strange = std::os::unix::fs::chown(home.join("shop/.git"), Some(1_234), None);
        // Only root can give a folder away.
        if strange.is_ok() {
            check(&home, "shop/src/core", "shop/src/core");
            check(&home, "shop", "shop");
        }
    }
}

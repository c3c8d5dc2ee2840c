//! The branch and commit that a working tree stands on, read from Git's files.
//!
//! Three small files are read and no program is started, so that looking where one is costs no
//! command. What is not understood is not told.

use std::path::{Path, PathBuf};

/// Where a working tree stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitHead {
    /// The branch; none when a commit is checked out directly.
    pub branch: Option<String>,
    /// The full id of the commit; none before the first.
    pub commit: Option<String>,
}

/// Reads the head of the working tree at `root`; none where there is no repository.
pub fn read(root: &Path) -> Option<GitHead> {
    let folder = git_folder(root)?;
    let head = small_text(&folder.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref: ") else {
        return Some(GitHead { branch: None, commit: commit_id(&head) });
    };
    let common = match small_text(&folder.join("commondir")) {
        Some(relative) => folder.join(relative),
        None => folder.clone(),
    };
    let commit = [folder.as_path(), common.as_path()]
        .into_iter()
        .find_map(|base| commit_id(&small_text(&base.join(name))?))
        .or_else(|| packed(&common, name));
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name).to_owned();
    Some(GitHead { branch: Some(branch), commit })
}

/// Returns `.git`, or the folder that a worktree's `.git` file names.
fn git_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = small_text(&git)?;
    Some(root.join(text.strip_prefix("gitdir: ")?))
}

fn packed(common: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(common.join("packed-refs")).ok()?;
    let id = text.lines().find_map(|line| line.strip_suffix(name)?.strip_suffix(' '))?;
    commit_id(id)
}

fn commit_id(text: &str) -> Option<String> {
    let is_id = text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| text.to_owned())
}

/// Reads a file of one short line.
fn small_text(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > 4096 {
        return None;
    }
    Some(std::fs::read_to_string(path).ok()?.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;

    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef01234567";

    #[expect(clippy::disallowed_methods, reason = "a test's own files")]
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], root: &str, branch: Option<&str>, commit: Option<&str>) {
        let head = read(&tree(files).path().join(root)).unwrap();
        assert_eq!((head.branch.as_deref(), head.commit.as_deref()), (branch, commit));
    }

    #[test]
    fn a_branch_is_loose_or_packed_or_not_born() {
        let head = (".git/HEAD", "ref: refs/heads/feature/a\n");
        check(&[head, (".git/refs/heads/feature/a", ID)], "", Some("feature/a"), Some(ID));
        let packed = format!("# pack-refs\n{ID} refs/heads/x\n{ID} refs/heads/feature/a\n");
        check(&[head, (".git/packed-refs", &packed)], "", Some("feature/a"), Some(ID));
        check(&[head], "", Some("feature/a"), None);
    }

    #[test]
    fn a_commit_may_be_checked_out_directly() {
        check(&[(".git/HEAD", ID)], "", None, Some(ID));
        check(&[(".git/HEAD", "garbage")], "", None, None);
    }

    #[test]
    fn a_worktree_reads_its_own_head_and_the_common_refs() {
        let files = [
            ("tree/.git", "gitdir: ../main/.git/worktrees/tree\n"),
            ("main/.git/worktrees/tree/HEAD", "ref: refs/heads/side"),
            ("main/.git/worktrees/tree/commondir", "../.."),
            ("main/.git/refs/heads/side", ID),
        ];
        check(&files, "tree", Some("side"), Some(ID));
    }

    #[test]
    fn a_folder_without_git_has_no_head() {
        assert_eq!(read(tree(&[("a", "")]).path()), None);
    }
}

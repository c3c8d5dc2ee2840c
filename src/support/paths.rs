//! The workspace and paths that were resolved and are inside it.
//!
//! A path counts as inside when the kernel would end up inside: its components are walked one by
//! one, each link is followed, `..` leaves the folder that a link led to, and the result is compared
//! component by component (`/work-evil` is not in `/work`). What does not exist is inside when its
//! longest existing part is. The root never changes after the start, and no request can name it.

mod around;

use std::ffi::OsString;
use std::fs::FileType;
use std::path::{Component, Path, PathBuf};

pub use around::workspace_around;

/// The repository under care: its root is resolved once and never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
    readable: Vec<PathBuf>,
    git: GitFolders,
}

/// Where the Git folder of a workspace lies, when not in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct GitFolders {
    /// The folder of a linked worktree and the repository that it belongs to, or the folder of a
    /// submodule.
    elsewhere: Vec<PathBuf>,
}

/// Why a path is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// It leads out of the workspace.
    #[error("leads outside the workspace")]
    Outside,
    /// A link on its way leads out of the workspace.
    #[error("is a link that leads outside the workspace")]
    LinkOutside,
    /// It is part of the system's own trees: `/proc`, `/dev`, `/sys`.
    #[error("belongs to the system, not to the workspace")]
    System,
    /// It is neither a file nor a folder.
    #[error("is {0}, not a file or a folder")]
    Special(&'static str),
    /// Its links go round in circles.
    #[error("is a link that leads to itself")]
    Circle,
    /// It holds a NUL or is longer than any path.
    #[error("cannot be a path")]
    Malformed,
}

/// Why a folder cannot be the workspace.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// There is nothing at that path.
    #[error("no such folder: `{}`", .0.display())]
    Missing(PathBuf),
    /// There is something else.
    #[error("not a folder: `{}`", .0.display())]
    NotAFolder(PathBuf),
    /// It cannot be read.
    #[error("the folder `{}` cannot be read", .path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl Workspace {
    /// Opens an existing, readable folder; creates nothing.
    #[expect(clippy::disallowed_methods, reason = "the root is resolved here, once")]
    pub fn open(path: &Path) -> Result<Self, WorkspaceError> {
        let unreadable = |source| WorkspaceError::Unreadable { path: path.to_owned(), source };
        let root = match std::fs::canonicalize(path) {
            Ok(root) => root,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(WorkspaceError::Missing(path.to_owned()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
                return Err(WorkspaceError::NotAFolder(path.to_owned()));
            }
            Err(error) => return Err(unreadable(error)),
        };
        if !root.is_dir() {
            return Err(WorkspaceError::NotAFolder(path.to_owned()));
        }
        std::fs::read_dir(&root).map_err(unreadable)?;
        let git = GitFolders::of(&root);
        Ok(Self { root, readable: Vec::new(), git })
    }

    /// Lets a folder outside the workspace be read too, such as the outputs of a session.
    ///
    /// One that does not exist yet is added as what it will be; a file and the root of all are not.
    #[must_use]
    pub fn with_readable(mut self, folder: &Path) -> Self {
        if let Some(folder) = resolved_folder(folder)
            && folder.parent().is_some()
        {
            self.readable.push(folder);
        }
        self
    }

    /// Returns the resolved root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the root as a path inside.
    pub fn top(&self) -> WorkspacePath {
        WorkspacePath { relative: PathBuf::new() }
    }

    /// Returns the folders outside the workspace that may be read, resolved.
    pub fn readable(&self) -> &[PathBuf] {
        &self.readable
    }

    /// Returns the Git folders of a linked worktree or a submodule, which lie outside the workspace;
    /// usually none.
    pub fn git_elsewhere(&self) -> &[PathBuf] {
        &self.git.elsewhere
    }

    /// Returns the folder that a linked worktree was made from; none for any other workspace.
    pub fn main_checkout(&self) -> Option<&Path> {
        let [_, common] = self.git.elsewhere.as_slice() else { return None };
        // A bare repository has no folder of files.
        common.parent().filter(|_| common.ends_with(".git"))
    }

    /// Returns the absolute form of a path inside.
    pub fn absolute(&self, path: &WorkspacePath) -> PathBuf {
        if path.relative.as_os_str().is_empty() {
            self.root.clone()
        } else {
            self.root.join(&path.relative)
        }
    }

    /// Resolves a path, seen from a folder inside, and returns where it ends, absolute.
    ///
    /// It ends inside the workspace or in a folder that may be read too, and is a file, a folder, or
    /// nothing that exists.
    pub fn resolve(&self, from: &WorkspacePath, path: &Path) -> Result<PathBuf, PathProblem> {
        let (resolved, kind) = self.walk(from, path)?;
        match kind.and_then(special) {
            Some(special) => Err(PathProblem::Special(special)),
            None => Ok(resolved),
        }
    }

    /// Resolves a folder inside the workspace, or `None` when there is no such folder.
    pub fn folder(
        &self,
        from: &WorkspacePath,
        path: &Path,
    ) -> Result<Option<WorkspacePath>, PathProblem> {
        let (resolved, kind) = self.walk(from, path)?;
        let Ok(relative) = resolved.strip_prefix(&self.root) else {
            return Err(PathProblem::Outside);
        };
        let is_folder = kind.is_some_and(|kind| kind.is_dir());
        Ok(is_folder.then(|| WorkspacePath { relative: relative.to_owned() }))
    }

    /// Walks a path as the kernel would, and says what is at its end.
    fn walk(
        &self,
        from: &WorkspacePath,
        path: &Path,
    ) -> Result<(PathBuf, Option<FileType>), PathProblem> {
        const MOST_LINKS: usize = 40;
        let bytes = path.as_os_str().as_encoded_bytes();
        if bytes.len() > 4_096 || bytes.contains(&0) {
            return Err(PathProblem::Malformed);
        }
        let mut resolved =
            if path.is_absolute() { PathBuf::from("/") } else { self.absolute(from) };
        let mut rest: Vec<OsString> = Vec::new();
        push_components(&mut rest, path);
        let mut links = 0;
        let mut kind = None;
        while let Some(component) = rest.pop() {
            if component == ".." {
                resolved.pop();
                kind = None;
                continue;
            }
            resolved.push(&component);
            // The root was resolved at the start: what leads to it needs no second look.
            if self.root.starts_with(&resolved) {
                kind = None;
                continue;
            }
            if is_system(&resolved) && !self.is_inside(&resolved) {
                return Err(PathProblem::System);
            }
            let Ok(metadata) = std::fs::symlink_metadata(&resolved) else {
                kind = None;
                continue;
            };
            if !metadata.is_symlink() {
                kind = Some(metadata.file_type());
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return Err(PathProblem::Circle);
            }
            let Ok(target) = std::fs::read_link(&resolved) else {
                return Err(PathProblem::LinkOutside);
            };
            resolved.pop();
            if target.is_absolute() {
                resolved = PathBuf::from("/");
            }
            push_components(&mut rest, &target);
        }
        if !self.is_inside(&resolved) {
            return Err(if links > 0 { PathProblem::LinkOutside } else { PathProblem::Outside });
        }
        let kind = match kind {
            Some(kind) => Some(kind),
            None => std::fs::symlink_metadata(&resolved).ok().map(|metadata| metadata.file_type()),
        };
        Ok((resolved, kind))
    }

    fn is_inside(&self, path: &Path) -> bool {
        path.starts_with(&self.root) || self.readable.iter().any(|folder| path.starts_with(folder))
    }
}

/// Resolves the part of a path that exists, and puts the rest behind it; none for what cannot be a
/// folder.
#[expect(clippy::disallowed_methods, reason = "paths are resolved here")]
pub fn resolved_folder(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let mut rest = Vec::new();
    for part in path.ancestors() {
        match std::fs::canonicalize(part) {
            Ok(resolved) if resolved.is_dir() => {
                return Some(rest.iter().rev().fold(resolved, |folder, name| folder.join(name)));
            }
            Ok(_) => return None,
            // A link that leads nowhere may lead anywhere later.
            Err(_) if part.is_symlink() => return None,
            // Behind what does not exist `..` means nothing.
            Err(_) => rest.push(part.file_name()?.to_owned()),
        }
    }
    None
}

impl GitFolders {
    /// Looks where a linked worktree or a submodule keeps its Git folder, and believes it only if that
    /// folder names the workspace in turn: a `.git` file alone could point at any repository.
    #[expect(clippy::disallowed_methods, reason = "paths are resolved here")]
    fn of(root: &Path) -> Self {
        let none = Self::default();
        let file = root.join(".git");
        let is_file = std::fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file());
        if !is_file {
            return none;
        }
        let read = |path: &Path| {
            let text = std::fs::read_to_string(path).ok()?;
            (text.len() < 8_192).then(|| text.trim_end().to_owned())
        };
        let folders = || {
            let folder = PathBuf::from(read(&file)?.strip_prefix("gitdir:")?.trim_start());
            let folder = std::fs::canonicalize(root.join(folder)).ok()?;
            if is_folder_of_submodule(&folder) {
                let tree = folder.join(work_tree(&read(&folder.join("config"))?)?);
                return (std::fs::canonicalize(tree).ok()? == root).then(|| vec![folder]);
            }
            let back = PathBuf::from(read(&folder.join("gitdir"))?);
            let back = std::fs::canonicalize(folder.join(back)).ok()?;
            if back != file {
                return None;
            }
            let common = read(&folder.join("commondir"))?;
            let common = std::fs::canonicalize(folder.join(common)).ok()?;
            folder.starts_with(common.join("worktrees")).then(|| vec![folder, common])
        };
        Self { elsewhere: folders().unwrap_or_default() }
    }
}

/// Tells whether a folder is where a repository keeps those of its submodules.
fn is_folder_of_submodule(folder: &Path) -> bool {
    // Those of a linked worktree are in `.git/worktrees/NAME/modules`.
    let mut names =
        folder.iter().skip_while(|name| *name != ".git").skip_while(|name| *name != "modules");
    // A worktree of the submodule has a folder of its own, which names it otherwise.
    names.nth(1).is_some() && !folder.join("commondir").exists()
}

/// Returns the working tree that the configuration of a repository names, as Git writes it.
fn work_tree(config: &str) -> Option<&str> {
    let mut is_core = false;
    config.lines().map(str::trim).find_map(|line| {
        if line.starts_with('[') {
            is_core = line.eq_ignore_ascii_case("[core]");
            return None;
        }
        let (key, value) = line.split_once('=')?;
        let is_named = is_core && key.trim_end().eq_ignore_ascii_case("worktree");
        is_named.then(|| value.trim().trim_matches('"'))
    })
}

/// Puts the components of a path on the stack, the first on top.
fn push_components(stack: &mut Vec<OsString>, path: &Path) {
    let start = stack.len();
    for component in path.components() {
        match component {
            Component::Normal(name) => stack.push(name.to_owned()),
            Component::ParentDir => stack.push("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    stack[start..].reverse();
}

/// Returns whether a path is in a tree that is made of the system's state, not of files.
fn is_system(path: &Path) -> bool {
    ["/proc", "/dev", "/sys"].iter().any(|tree| path.starts_with(tree))
}

fn special(kind: FileType) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        Some("a pipe that waits for a writer")
    } else if kind.is_socket() {
        Some("a socket")
    } else if kind.is_char_device() || kind.is_block_device() {
        Some("a device")
    } else {
        None
    }
}

/// A path that was resolved and is inside the workspace; relative to its root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WorkspacePath {
    relative: PathBuf,
}

impl WorkspacePath {
    /// Returns the path relative to the root; empty for the root itself.
    pub fn relative(&self) -> &Path {
        &self.relative
    }
}

#[cfg(test)]
mod tests;

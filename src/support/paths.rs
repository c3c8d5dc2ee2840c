//! The workspace and paths that were resolved and are inside it.

use std::path::{Path, PathBuf};

/// The repository under care: its root is resolved once and never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
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
        Ok(Self { root })
    }

    /// Returns the resolved root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the root as a path inside.
    pub fn top(&self) -> WorkspacePath {
        WorkspacePath { relative: PathBuf::new() }
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

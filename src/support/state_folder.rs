//! The state folder: where config, notes and sessions of a workspace live.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// `.groundskeeper/` of a workspace, or the folder given by `--state-dir`. Looking at it makes
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder {
    root: PathBuf,
    /// Whether it lies in the workspace, which comes from anywhere.
    inside: bool,
}

/// What Git leaves alone in a state folder: all but the settings, the prompts and the notes.
const GITIGNORE: &str = "\
*
!.gitignore
!config.yaml
!prompts/
!prompts/**
!notes/
!notes/*.md
";

impl StateFolder {
    /// Returns the folder of a workspace, or the one asked for.
    pub fn of(workspace: &Path, asked_for: Option<&Path>) -> Self {
        let root = asked_for.map_or_else(|| workspace.join(".groundskeeper"), Path::to_owned);
        Self { root, inside: asked_for.is_none() }
    }

    /// Makes the folder and its `.gitignore`, before the first thing is written into it.
    pub fn prepare(&self) -> io::Result<()> {
        self.check()?;
        std::fs::create_dir_all(&self.root)?;
        let ignore = self.root.join(".gitignore");
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&ignore) {
            Ok(mut file) => file.write_all(GITIGNORE.as_bytes()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Refuses a folder of the workspace that is a link: a repository could lead what is written
    /// out of the folder.
    pub fn check(&self) -> io::Result<()> {
        let places = [self.root.clone(), self.notes(), self.sessions()];
        match places.iter().find(|place| self.inside && place.is_symlink()) {
            Some(link) => {
                let message = format!(
                    "`{}` is a symbolic link, and nothing is written through one",
                    link.display()
                );
                Err(io::Error::other(message))
            }
            None => Ok(()),
        }
    }

    /// Returns the folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the project's settings file.
    pub fn config(&self) -> PathBuf {
        self.root.join("config.yaml")
    }

    /// Returns the project's own prompts.
    pub fn prompts(&self) -> PathBuf {
        self.root.join("prompts")
    }

    /// Returns the notes.
    pub fn notes(&self) -> PathBuf {
        self.root.join("notes")
    }

    /// Returns the sessions.
    pub fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }
}

//! The state folder: where config, notes and sessions of a workspace live.
//!
//! It lies in the workspace and so goes with it when the workspace is renamed; the project keeps
//! the name under which it was first looked after. A linked worktree of Git has its own settings
//! and notes, because they belong to a branch, and shares the sessions of the folder that it was
//! made from, because they belong to the project.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::atomic_file;
use super::paths::{Workspace, resolved_folder};

/// `.groundskeeper/` of a workspace, or the folder given by `--state-dir`. Looking at it makes
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFolder {
    root: PathBuf,
    /// Whether it lies in the workspace, which comes from anywhere.
    inside: bool,
    /// The state folder of the main checkout, where a linked worktree has its sessions.
    shared: Option<PathBuf>,
}

/// The folder's name in a workspace.
const NAME: &str = ".groundskeeper";

/// The longest name of a project that is read.
const LONGEST_NAME: u64 = 1000;

/// What Git leaves alone in a state folder: all but the settings, the prompts and the notes.
const GITIGNORE: &str = "\
*
!.gitignore
!.gitattributes
!config.yaml
!prompts/
!prompts/**
!notes/
!notes/*.md
";

impl StateFolder {
    /// Returns the folder of a workspace, or the one asked for.
    pub fn of(workspace: &Path, asked_for: Option<&Path>) -> Self {
        // Relative to where the program was called; what is told of it is read from elsewhere.
        let resolved = |path: &Path| resolved_folder(path).unwrap_or_else(|| path.to_owned());
        let root = asked_for.map_or_else(|| workspace.join(NAME), resolved);
        Self { root, inside: asked_for.is_none(), shared: None }
    }

    /// Like [`StateFolder::of`]; a linked worktree without sessions of its own shares those of the
    /// folder that it was made from.
    pub fn of_workspace(workspace: &Workspace, asked_for: Option<&Path>) -> Self {
        let own = Self::of(workspace.root(), asked_for);
        let has_own = std::fs::symlink_metadata(own.root.join("sessions")).is_ok();
        let main = workspace.main_checkout().filter(|_| own.inside && !has_own);
        Self { shared: main.map(|main| main.join(NAME)), ..own }
    }

    /// Makes the folder and its `.gitignore`, before the first thing is written into it.
    pub fn prepare(&self) -> io::Result<()> {
        self.check()?;
        for folder in [Some(&self.root), self.shared.as_ref()].into_iter().flatten() {
            prepare(folder)?;
        }
        Ok(())
    }

    /// Returns the name that the project had when it was first looked after.
    pub fn project(&self) -> Option<String> {
        let path = self.project_file()?;
        let is_small = std::fs::symlink_metadata(&path)
            .is_ok_and(|file| file.is_file() && file.len() <= LONGEST_NAME);
        let name = std::fs::read_to_string(path).ok().filter(|_| is_small)?;
        let name = name.lines().next()?.trim();
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// Keeps the project's name, if none was kept yet. A name that cannot be kept is taken from
    /// the folder again.
    pub fn keep_project(&self, name: &str) {
        if let Some(path) = self.project_file()
            && !path.exists()
        {
            atomic_file::create_new(&path, format!("{name}\n").as_bytes()).ok();
        }
    }

    /// A folder that was asked for may serve several projects, so it keeps no name.
    fn project_file(&self) -> Option<PathBuf> {
        let root = self.shared.as_ref().unwrap_or(&self.root);
        self.inside.then(|| root.join("project"))
    }

    /// Refuses a folder of the workspace that is a link: a repository could lead what is written
    /// out of the folder.
    pub fn check(&self) -> io::Result<()> {
        let mut places = vec![self.root.clone(), self.notes(), self.sessions()];
        places.extend(self.shared.clone());
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

    /// Returns whether it is the workspace's own; one that was asked for may serve several projects.
    pub fn is_of_workspace(&self) -> bool {
        self.inside
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
        self.shared.as_ref().unwrap_or(&self.root).join("sessions")
    }
}

fn prepare(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let ignore = folder.join(".gitignore");
    match std::fs::OpenOptions::new().write(true).create_new(true).open(&ignore) {
        Ok(mut file) => file.write_all(GITIGNORE.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

//! Where the programs are: absolute paths in folders that only root can change.
//!
//! The table is read once. A name is never looked up in the workspace, in `PATH`, or in a folder
//! that somebody else could write to; a program that others may change is not in the table.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The folders, the first that has a program wins.
const FOLDERS: [&str; 3] = ["/usr/bin", "/bin", "/usr/local/bin"];

/// The programs of this machine that the rules name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Programs {
    paths: BTreeMap<String, PathBuf>,
}

impl Programs {
    /// Looks for each name in the system's folders.
    pub(super) fn find<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::find_in(&FOLDERS.map(PathBuf::from), names)
    }

    fn find_in<'a>(folders: &[PathBuf], names: impl IntoIterator<Item = &'a str>) -> Self {
        let trusted: Vec<&PathBuf> = folders.iter().filter(|folder| is_roots(folder)).collect();
        let path_of = |name: &str| {
            let paths = trusted.iter().map(|folder| folder.join(name));
            paths.into_iter().find(|path| is_program(path))
        };
        let paths = names
            .into_iter()
            .filter_map(|name| path_of(name).map(|path| (name.to_owned(), path)))
            .collect();
        Self { paths }
    }

    /// Returns the absolute path of a program.
    pub(super) fn path(&self, name: &str) -> Option<&Path> {
        self.paths.get(name).map(PathBuf::as_path)
    }

    /// Returns the name of a program that was written as an absolute path, such as `/usr/bin/grep`.
    pub(super) fn name(written: &str) -> Option<&str> {
        let (folder, name) = written.rsplit_once('/')?;
        FOLDERS.contains(&folder).then_some(name)
    }
}

/// Returns whether a file can be run and changed by root alone, links followed.
fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| {
        metadata.is_file() && metadata.mode() & 0o111 != 0 && roots(&metadata)
    })
}

fn is_roots(folder: &Path) -> bool {
    std::fs::metadata(folder).is_ok_and(|metadata| metadata.is_dir() && roots(&metadata))
}

fn roots(metadata: &std::fs::Metadata) -> bool {
    metadata.uid() == 0 && metadata.mode() & 0o022 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_programs_are_found_by_absolute_path() {
        let programs = Programs::find(["ls", "no-such-program"]);
        assert!(programs.path("ls").is_some_and(Path::is_absolute));
        assert_eq!(programs.path("no-such-program"), None);
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_not_searched() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("ls");
        std::fs::copy("/bin/ls", &program).unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
        let programs = Programs::find_in(&[folder.path().to_owned()], ["ls"]);
        assert_eq!(programs.path("ls"), None);
    }

    #[test]
    fn a_name_is_taken_from_a_path_only_in_a_system_folder() {
        assert_eq!(Programs::name("/usr/bin/grep"), Some("grep"));
        assert_eq!(Programs::name("/tmp/grep"), None);
        assert_eq!(Programs::name("bin/grep"), None);
        assert_eq!(Programs::name("grep"), None);
    }
}

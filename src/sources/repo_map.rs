//! What the repository looks like: its top, what is in each folder, and the kinds of files.
//!
//! Small on purpose: it tells a model where to look first, and the terminal shows the rest.

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, Utc};
use futures::FutureExt;
use futures::future::BoxFuture;

use super::documents::{self, Entry};
use crate::context::{ContextPacket, ContextSource, PacketKind, Query, SourceFailure};
use crate::support::paths::Workspace;

/// Offers a map of the workspace.
#[derive(Debug, Clone)]
pub struct RepoMap {
    workspace: Workspace,
}

impl RepoMap {
    /// Returns the map of a workspace.
    pub fn new(workspace: Workspace) -> Self {
        Self { workspace }
    }

    fn packet(&self, now: DateTime<Utc>) -> Result<ContextPacket, SourceFailure> {
        let walk = documents::walk(&self.workspace, Path::new(""), DEPTH);
        if walk.entries.is_empty() {
            return Err(SourceFailure {
                source_name: "repository map",
                message: "the workspace is empty or cannot be read".to_owned(),
            });
        }
        let content = map(&walk.entries, walk.is_cut);
        Ok(ContextPacket::new(PacketKind::Knowledge, "repository map", content, now)
            .with_relevance(RELEVANCE))
    }
}

impl ContextSource for RepoMap {
    fn name(&self) -> &'static str {
        "repository map"
    }

    fn gather<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        async move { Ok(vec![self.packet(query.now)?]) }.boxed()
    }
}

/// How deep files are counted; a package of Java begins ten folders deep.
const DEPTH: usize = 24;

/// How many folders are told of.
const MOST_FOLDERS: usize = 24;

/// How many kinds of files are told of.
const MOST_KINDS: usize = 8;

/// How many files of the top are named.
const MOST_TOP_FILES: usize = 24;

/// The base relevance of structure; the chapter's value.
const RELEVANCE: f64 = 0.7;

fn map(entries: &[Entry], is_cut: bool) -> String {
    let files: Vec<&Entry> = entries.iter().filter(|entry| !entry.is_folder).collect();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut folders: BTreeMap<&Path, usize> = BTreeMap::new();
    for file in &files {
        let kind = file.path.extension().and_then(|extension| extension.to_str()).unwrap_or("none");
        *kinds.entry(kind).or_default() += 1;
        for folder in file.path.ancestors().skip(1).filter(|folder| *folder != Path::new("")) {
            if folder.components().count() <= 2 {
                *folders.entry(folder).or_default() += 1;
            }
        }
    }
    let at_least = if is_cut { "at least " } else { "" };
    let mut lines =
        vec![format!("{at_least}{} files; by extension: {}", files.len(), most(kinds, MOST_KINDS))];
    let top: Vec<String> = files
        .iter()
        .filter(|file| file.path.components().count() == 1)
        .map(|file| file.path.to_string_lossy().into_owned())
        .collect();
    if !top.is_empty() {
        let more = top.len().saturating_sub(MOST_TOP_FILES);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let shown = top.into_iter().take(MOST_TOP_FILES).collect::<Vec<_>>().join(" ");
        lines.push(format!("at the top: {shown}{more}"));
    }
    let total = folders.len();
    lines.extend(
        folders
            .into_iter()
            .take(MOST_FOLDERS)
            .map(|(folder, files)| format!("{}/ {files}", folder.to_string_lossy())),
    );
    if total > MOST_FOLDERS {
        lines.push(format!("and {} more folders", total - MOST_FOLDERS));
    }
    lines.join("\n")
}

/// Returns the most frequent of counted things, in words.
fn most(counts: BTreeMap<&str, usize>, at_most: usize) -> String {
    let mut counts: Vec<(&str, usize)> = counts.into_iter().collect();
    counts.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
    counts.truncate(at_most);
    counts.iter().map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{gather, tree, workspace};
    use super::*;

    #[test]
    fn a_map_tells_folders_kinds_and_the_top() {
        let folder = tree(&[
            ("README.md", ""),
            ("app/__init__.py", ""),
            ("app/models/user.py", ""),
            ("app/models/order.py", ""),
            ("app/models/deep/er/x.sql", ""),
            ("Makefile", ""),
        ]);
        let map = gather(&RepoMap::new(workspace(&folder)), "x").unwrap();
        assert_eq!(
            map[0].content,
            "6 files; by extension: py 3, md 1, none 1, sql 1\nat the top: Makefile README.md\napp/ 4\napp/models/ 3"
        );
    }

    #[test]
    fn deep_files_are_counted_and_too_deep_ones_make_it_at_least() {
        let path = |depth: usize| format!("{}x.rs", "d/".repeat(depth));
        for (depth, expected) in [(11, "2 files; "), (30, "at least 1 files; ")] {
            let folder = tree(&[("a.rs", ""), (path(depth).as_str(), "")]);
            let map = gather(&RepoMap::new(workspace(&folder)), "x").unwrap();
            assert!(map[0].content.starts_with(expected), "{}", map[0].content);
        }
    }

    #[test]
    fn an_empty_workspace_has_no_map_and_says_why() {
        let folder = tree(&[]);
        let failure = gather(&RepoMap::new(workspace(&folder)), "x").unwrap_err();
        assert_eq!(failure.to_string(), "repository map: the workspace is empty or cannot be read");
    }
}

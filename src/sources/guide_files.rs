//! The repository's own guides: `AGENTS.md`, `CLAUDE.md`, `CONTRIBUTING.md`, README.
//!
//! Those nearest to what the query names come first, then those of the folders above, up to the
//! root. They have a budget of their own, so that a long guide does not fill the context; a cut is
//! said, with the command that shows the rest. They are offered as documents: what they say is for
//! the model to weigh, not a policy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;

use super::documents;
use crate::context::{ContextPacket, ContextSource, PacketKind, Query, SourceFailure};
use crate::support::paths::Workspace;
use crate::support::text::{clean, cut};
use crate::support::tokens::TokenCounter;

/// Offers the guides.
#[derive(Debug, Clone)]
pub struct GuideFiles {
    workspace: Workspace,
    counter: Arc<TokenCounter>,
    /// What all guides together may have.
    most_tokens: usize,
}

impl GuideFiles {
    /// Returns the guides of a workspace, which may have `most_tokens` together.
    pub fn new(workspace: Workspace, counter: Arc<TokenCounter>, most_tokens: usize) -> Self {
        Self { workspace, counter, most_tokens }
    }

    /// Returns the guides for a query, as they are shown.
    pub(super) fn packets(&self, query: &str) -> Vec<ContextPacket> {
        let mut tokens_left = self.most_tokens;
        let mut packets: Vec<ContextPacket> = Vec::new();
        for path in guides(&self.workspace, query) {
            if tokens_left < LEAST {
                break;
            }
            let Some(text) = documents::read(&self.workspace, &path) else { continue };
            let content = clean(&text.content);
            let content = content.trim();
            if content.is_empty() || packets.iter().any(|packet| packet.content == content) {
                continue;
            }
            let name = path.to_string_lossy();
            let shown = cut(content, tokens_left, &self.counter, &format!("`cat {name}` shows it"));
            let mut shown = shown.to_string();
            if text.is_cut {
                shown.push_str("\n[… the file is longer than what is read of it …]");
            }
            tokens_left = tokens_left.saturating_sub(self.counter.count(&shown));
            packets.push(
                ContextPacket::new(PacketKind::Knowledge, name, shown, text.modified)
                    .with_relevance(RELEVANCE),
            );
        }
        packets
    }
}

impl ContextSource for GuideFiles {
    fn name(&self) -> &'static str {
        "guide files"
    }

    fn gather<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        async move { Ok(self.packets(&query.text)) }.boxed()
    }
}

/// The names of guides in the order in which they are read in a folder, in upper case.
const GUIDES: [&str; 8] = [
    "AGENTS.MD",
    "CLAUDE.MD",
    "CONTRIBUTING.MD",
    "README.MD",
    "README.RST",
    "README.TXT",
    "README.ADOC",
    "README",
];

/// Less room than this is not worth a guide.
const LEAST: usize = 50;

/// How relevant a guide is: it holds for whatever is asked.
const RELEVANCE: f64 = 0.8;

/// Returns the paths of all guides, nearest first.
fn guides(workspace: &Workspace, query: &str) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for target in targets(workspace, query) {
        folders.extend(target.ancestors().map(Path::to_owned));
    }
    folders.push(PathBuf::new());
    // Deeper is nearer; of two paths with a common folder it is read once.
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    let mut seen = Vec::new();
    for folder in folders {
        if !seen.contains(&folder) {
            seen.push(folder);
        }
    }
    seen.iter().flat_map(|folder| guides_in(workspace, folder)).collect()
}

fn guides_in(workspace: &Workspace, folder: &Path) -> Vec<PathBuf> {
    let (entries, _) = documents::list(workspace, folder);
    let mut guides: Vec<(usize, PathBuf)> = entries
        .into_iter()
        .filter(|entry| !entry.is_folder)
        .filter_map(|entry| {
            let name = entry.path.file_name()?.to_str()?.to_uppercase();
            Some((GUIDES.iter().position(|guide| *guide == name)?, entry.path))
        })
        .collect();
    guides.sort();
    guides.into_iter().map(|(_, path)| path).collect()
}

/// Returns the folders that the query names, by themselves or by a file in them.
fn targets(workspace: &Workspace, query: &str) -> Vec<PathBuf> {
    const MOST_TARGETS: usize = 5;
    let is_edge =
        |character: char| !character.is_alphanumeric() && !matches!(character, '_' | '.' | '/');
    query
        .split_whitespace()
        .map(|word| word.trim_matches(is_edge).trim_end_matches(['.', '/']))
        // `src/lib.rs:12` names a line of a file.
        .map(|word| word.split(':').next().unwrap_or(word))
        .filter(|word| !word.is_empty())
        .filter_map(|word| {
            let path = documents::resolve(workspace, Path::new(word))?;
            let inside = path.strip_prefix(workspace.root()).ok()?;
            let folder = if path.is_dir() { Some(inside) } else { inside.parent() };
            path.exists().then(|| folder.map(Path::to_owned)).flatten()
        })
        .take(MOST_TARGETS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{counter, gather, tree, workspace};
    use super::*;

    fn offered(files: &[(&str, &str)], query: &str, most_tokens: usize) -> Vec<(String, String)> {
        let folder = tree(files);
        let source = GuideFiles::new(workspace(&folder), counter(), most_tokens);
        let packets = gather(&source, query).unwrap();
        packets.into_iter().map(|packet| (packet.source, packet.content)).collect()
    }

    fn names(offered: &[(String, String)]) -> Vec<&str> {
        offered.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn the_nearest_guide_comes_first() {
        let files = [
            ("README.md", "root readme"),
            ("AGENTS.md", "root agents"),
            ("app/README.md", "app readme"),
            ("app/api/AGENTS.md", "api agents"),
            ("app/api/users.py", ""),
            ("other/README.md", "other readme"),
        ];
        assert_eq!(
            names(&offered(&files, "why is `app/api/users.py:12` slow?", 500)),
            ["app/api/AGENTS.md", "app/README.md", "AGENTS.md", "README.md"]
        );
        assert_eq!(
            names(&offered(&files, "app/", 500)),
            ["app/README.md", "AGENTS.md", "README.md"]
        );
        assert_eq!(names(&offered(&files, "anything ../.. /etc", 500)), ["AGENTS.md", "README.md"]);
    }

    #[test]
    fn a_guide_beyond_the_budget_is_cut_and_says_so() {
        let long = "one rule after the other\n".repeat(300);
        let offered = offered(&[("AGENTS.md", &long), ("README.md", "later")], "x", 200);
        assert_eq!(names(&offered), ["AGENTS.md"]);
        assert!(offered[0].1.contains(" bytes left out; `cat AGENTS.md` shows it …]"));
        assert!(counter().count(&offered[0].1) <= 200);
    }

    #[test]
    fn a_copy_under_another_name_is_offered_once() {
        let files = [("AGENTS.md", "the same\n"), ("CLAUDE.md", "the same")];
        assert_eq!(names(&offered(&files, "x", 200)), ["AGENTS.md"]);
    }

    #[test]
    fn a_repository_without_guides_offers_nothing() {
        assert_eq!(offered(&[("src/main.rs", "")], "src", 200), []);
    }
}

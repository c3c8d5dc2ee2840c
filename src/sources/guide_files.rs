//! The repository's own guides: `AGENTS.md`, `CLAUDE.md`, `CONTRIBUTING.md`, README.
//!
//! Those nearest to what the query names come first, then those of the folders above, up to the
//! root. They have a budget of their own, so that a long guide does not fill the context, and each
//! has at most half of what is left of it, unless those behind it need less, so that no guide takes
//! the place of all others. A cut is said, with the command that shows the rest, and so is what has
//! no room at all. They are offered as documents: what they say is for the model to weigh, not a
//! policy.

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
        let guides = self.read(query);
        let costs: Vec<usize> =
            guides.iter().map(|(_, text)| self.counter.count(&text.content)).collect();
        let mut left = self.most_tokens;
        let mut packets: Vec<ContextPacket> = Vec::new();
        let mut without_room = Vec::new();
        for (at, (name, text)) in guides.into_iter().enumerate() {
            let behind: usize = costs[at + 1..].iter().sum();
            let room = (left / 2).max(left.saturating_sub(behind)).max(LEAST.min(left));
            if room < LEAST.min(costs[at]) {
                without_room.push(name);
                continue;
            }
            let hint = format!("`cat {name}` shows it");
            let mut shown = cut(&text.content, room, &self.counter, &hint).to_string();
            if text.is_cut {
                shown.push_str("\n[… the file is longer than what is read of it …]");
            }
            left = left.saturating_sub(self.counter.count(&shown));
            packets.push(
                ContextPacket::new(PacketKind::Knowledge, name, shown, text.modified)
                    .with_relevance(RELEVANCE),
            );
        }
        if let (Some(last), false) = (packets.last_mut(), without_room.is_empty()) {
            let names = format!("`{}`", without_room.join("`, `"));
            for part in ["\n[… further guides, not shown here: ", &names, " …]"] {
                last.content.push_str(part);
            }
        }
        packets
    }

    /// Returns the guides that say something, each text once, nearest first.
    fn read(&self, query: &str) -> Vec<(String, documents::Text)> {
        let mut found: Vec<(String, documents::Text)> = Vec::new();
        for path in guides(&self.workspace, query).into_iter().take(MOST_GUIDES) {
            let Some(text) = documents::read(&self.workspace, &path) else { continue };
            let text = documents::Text { content: clean(&text.content).trim().to_owned(), ..text };
            let is_known = found.iter().any(|(_, known)| known.content == text.content);
            if !text.content.is_empty() && !is_known {
                found.push((path.to_string_lossy().into_owned(), text));
            }
        }
        found
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

/// More guides than these are not read.
const MOST_GUIDES: usize = 32;

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
        assert_eq!(names(&offered), ["AGENTS.md", "README.md"]);
        assert!(offered[0].1.contains(" bytes left out; `cat AGENTS.md` shows it …]"));
        let tokens = counter().count(&offered[0].1);
        assert!((150..200).contains(&tokens), "{tokens}");
        assert_eq!(offered[1].1, "later");
    }

    #[test]
    fn no_guide_takes_the_place_of_all_others() {
        let long = "one rule after the other\n".repeat(300);
        let other = "and here is what it is about\n".repeat(300);
        let files = [
            ("AGENTS.md", long.as_str()),
            ("CLAUDE.md", &other),
            ("CONTRIBUTING.md", "commit often"),
            ("README.md", &long[5..]),
        ];
        let found = offered(&files, "x", 400);
        assert_eq!(names(&found), ["AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", "README.md"]);
        let tokens: Vec<usize> = found.iter().map(|(_, text)| counter().count(text)).collect();
        assert!((150..=200).contains(&tokens[0]) && (60..=110).contains(&tokens[1]), "{tokens:?}");
        assert!(tokens.iter().sum::<usize>() <= 400, "{tokens:?}");
        let found = offered(&files, "x", 90);
        assert_eq!(names(&found), ["AGENTS.md", "CONTRIBUTING.md"]);
        assert_eq!(
            found[1].1,
            "commit often\n[… further guides, not shown here: `CLAUDE.md`, `README.md` …]"
        );
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

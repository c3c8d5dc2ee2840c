//! Documents of the repository: README, guides, `docs/`, as the sections under their headings.
//!
//! Looks the query up in them and offers the best few; the builder ranks those again, together
//! with all other candidates. What the guide files show already is not offered a second time.

use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use futures::FutureExt;
use futures::future::BoxFuture;

use super::GuideFiles;
use super::documents;
use crate::context::{ContextPacket, ContextSource, PacketKind, Query, SourceFailure};
use crate::support::bm25::{Document, Index};
use crate::support::paths::Workspace;
use crate::support::text::clean;

/// Offers sections of documents.
#[derive(Debug, Clone)]
pub struct Knowledge {
    workspace: Workspace,
    guides: GuideFiles,
    /// The sections that are offered at most.
    most: usize,
    /// The relevance that an offered section has at least.
    least: f64,
}

impl Knowledge {
    /// Returns the documents of a workspace whose guides are offered by `guides`.
    pub fn new(workspace: Workspace, guides: GuideFiles) -> Self {
        Self { workspace, guides, most: MOST_SECTIONS, least: LEAST_RELEVANT }
    }

    /// Offers many more sections, also such without a word of the question, for somebody who
    /// compares them by meaning.
    #[must_use]
    pub fn widely(self) -> Self {
        Self { most: MOST_SECTIONS_WIDELY, least: 0.0, ..self }
    }

    fn packets(&self, query: &str) -> Vec<ContextPacket> {
        let shown: Vec<String> =
            self.guides.packets(query).into_iter().map(|packet| packet.content).collect();
        let sections = sections(&self.workspace);
        let index = Index::new(
            sections.iter().map(|section| Document { title: &section.title, text: &section.text }),
        );
        let relevance = index.relevance(query);
        let mut ranked: Vec<(&Section, f64)> = sections.iter().zip(relevance).collect();
        ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        ranked
            .into_iter()
            .filter(|(_, relevance)| *relevance >= self.least)
            .filter(|(section, _)| !shown.iter().any(|shown| shown.contains(section.text.trim())))
            .take(self.most)
            .map(|(section, _)| section.packet())
            .collect()
    }
}

impl ContextSource for Knowledge {
    fn name(&self) -> &'static str {
        "knowledge"
    }

    fn gather<'a>(
        &'a self,
        query: &'a Query,
    ) -> BoxFuture<'a, Result<Vec<ContextPacket>, SourceFailure>> {
        async move { Ok(self.packets(&query.text)) }.boxed()
    }
}

/// What is under one heading.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Section {
    path: PathBuf,
    /// The path and the heading.
    title: String,
    text: String,
    first_line: usize,
    last_line: usize,
    modified: DateTime<Utc>,
}

impl Section {
    /// The source is a place that an answer can cite.
    fn packet(&self) -> ContextPacket {
        let source =
            format!("{}:{}-{}", self.path.to_string_lossy(), self.first_line, self.last_line);
        ContextPacket::new(PacketKind::Knowledge, source, &self.text, self.modified)
    }
}

/// How many sections are offered; the chapter's limit.
const MOST_SECTIONS: usize = 5;

/// How relevant a section is at least, against the best one; the chapter's minimum.
const LEAST_RELEVANT: f64 = 0.3;

/// Sections at the most where they are compared by meaning.
const MOST_SECTIONS_WIDELY: usize = 40;

/// Folders that hold documents.
const DOCUMENT_FOLDERS: [&str; 4] = ["docs", "doc", "documentation", "Documentation"];

/// How deep those are searched.
const DEPTH: usize = 4;

/// More documents are not read.
const MOST_DOCUMENTS: usize = 200;

/// More bytes of documents are not read.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// A longer section is divided at a blank line.
const LONG_SECTION: usize = 60;

fn sections(workspace: &Workspace) -> Vec<Section> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let top = documents::list(workspace, Path::new("")).0;
    paths.extend(top.into_iter().filter(|entry| !entry.is_folder).map(|entry| entry.path));
    for folder in DOCUMENT_FOLDERS {
        let walk = documents::walk(workspace, Path::new(folder), DEPTH);
        paths.extend(
            walk.entries.into_iter().filter(|entry| !entry.is_folder).map(|entry| entry.path),
        );
    }
    paths.retain(|path| is_document(path));
    let mut sections = Vec::new();
    let mut bytes = 0;
    for path in paths.into_iter().take(MOST_DOCUMENTS) {
        let Some(text) = documents::read(workspace, &path) else { continue };
        bytes += text.content.len();
        if bytes > MOST_BYTES {
            break;
        }
        divide(&path, &clean(&text.content), text.modified, &mut sections);
    }
    sections
}

fn is_document(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    matches!(extension.to_lowercase().as_str(), "md" | "markdown" | "rst" | "adoc" | "txt")
        && !name.to_lowercase().starts_with("license")
        || name == "README"
}

/// Divides a document at its headings, and long sections at blank lines.
fn divide(path: &Path, text: &str, modified: DateTime<Utc>, sections: &mut Vec<Section>) {
    let name = path.to_string_lossy();
    let mut heading = String::new();
    let mut lines: Vec<&str> = Vec::new();
    let mut first_line = 1;
    let mut fenced = false;
    let mut end = |heading: &str, lines: &mut Vec<&str>, first_line: usize| {
        let length = lines.len();
        let text = std::mem::take(lines).join("\n");
        // A heading alone says nothing.
        if text.lines().filter(|line| !line.trim().is_empty()).count() < 2 && text.len() < 120 {
            return;
        }
        sections.push(Section {
            path: path.to_owned(),
            title: format!("{name} {heading}"),
            text: text.trim_end().to_owned(),
            first_line,
            last_line: first_line + length.saturating_sub(1),
            modified,
        });
    };
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        let is_heading =
            !fenced && line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
        let is_long = !fenced && lines.len() >= LONG_SECTION && line.trim().is_empty();
        if is_heading || is_long {
            end(&heading, &mut lines, first_line);
            first_line = number + 1;
        }
        if is_heading {
            line.trim_start_matches('#').trim().clone_into(&mut heading);
        }
        if lines.is_empty() && line.trim().is_empty() {
            first_line = number + 2;
            continue;
        }
        lines.push(line);
    }
    end(&heading, &mut lines, first_line);
}

#[cfg(test)]
mod tests {
    use super::super::tests::{counter, gather, tree, workspace};
    use super::*;

    fn offered(files: &[(&str, &str)], query: &str) -> Vec<ContextPacket> {
        let folder = tree(files);
        let workspace = workspace(&folder);
        let guides = GuideFiles::new(workspace.clone(), counter(), 200);
        gather(&Knowledge::new(workspace, guides), query).unwrap()
    }

    fn repeated(times: usize, part: impl FnMut(usize) -> String) -> String {
        (0..times).map(part).collect::<Vec<_>>().concat()
    }

    const GUIDE: &str = "# Guide\n\nHow to use it, and why.\n\n## Payments\n\nEvery payment is\nretried three times.\n\n```\n# not a heading\n```\n\n## Orders\n\nOrders are numbered\nby year.\n";

    #[test]
    fn a_section_is_found_by_its_words_and_named_by_its_lines() {
        let packets = offered(&[("docs/guide.md", GUIDE)], "are payments retried?");
        assert_eq!(packets[0].source, "docs/guide.md:5-13");
        assert!(packets[0].content.starts_with("## Payments\n\nEvery payment is\n"));
        assert!(packets[0].content.contains("# not a heading"));
        assert_eq!(packets[0].relevance, None);
    }

    #[test]
    fn what_a_guide_shows_is_not_offered_again() {
        assert_eq!(offered(&[("README.md", GUIDE)], "are payments retried?"), []);
    }

    #[test]
    fn at_most_five_sections_are_offered() {
        let text = repeated(20, |number| {
            format!("## Part {number}\n\npayments are\nof kind {number}\n\n")
        });
        assert_eq!(offered(&[("docs/a.md", &text)], "payments").len(), 5);
    }

    #[test]
    fn nothing_is_offered_for_what_no_document_mentions() {
        assert_eq!(offered(&[("docs/guide.md", GUIDE)], "kubernetes"), []);
        assert_eq!(offered(&[("docs/guide.md", GUIDE)], ""), []);
        assert_eq!(offered(&[("src/a.rs", "payments")], "payments"), []);
    }

    #[test]
    fn a_document_of_one_endless_section_is_divided() {
        let text = repeated(400, |number| format!("word{number} of the text\n\n"));
        let packets = offered(&[("docs/a.txt", &text)], "word390");
        assert_eq!(packets.len(), 1);
        assert!(packets[0].content.lines().count() <= 62, "{}", packets[0].content.lines().count());
    }
}

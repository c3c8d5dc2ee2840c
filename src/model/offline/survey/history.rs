//! The history: how much, by whom, and where it happens.

use super::super::desk::{Counted, Desk, Looked, Output};
use super::super::lines::Which;
use super::super::page::{Page, code, counted};
use super::super::programs;
use super::super::scope::Scope;

/// How many commits are looked at for hot spots.
pub(in super::super) const COMMITS: u32 = 1000;

/// What the history tells.
#[derive(Debug, Clone)]
pub(in super::super) struct History {
    commits: Option<u64>,
    commits_line: String,
    latest: Output,
    authors: Vec<Counted>,
    authors_line: String,
    hot: Vec<Counted>,
    hot_line: String,
}

impl History {
    /// Looks; nothing where there is no repository.
    pub(in super::super) fn look(desk: &Desk<'_>, scope: &Scope) -> Looked<Option<Self>> {
        if !scope.files.git {
            return Ok(None);
        }
        let spec = scope.files.pathspec(Which::All);
        let top = programs::argument(programs::TOP);
        let commits_line = format!("git rev-list --count HEAD{spec}");
        let authors_line = format!("git shortlog -s -n HEAD{spec} | head -n 8");
        let latest_line = format!("git log -n 5 '--format=%h %cs %s' HEAD{spec}");
        let hot_line = format!(
            "git log -n {COMMITS} --no-merges --no-renames --format= --name-only -z HEAD{spec} | tr '\\n\\000' '?\\n' | awk -v tally=1 -v most=12 {top}"
        );
        let commits = desk.run(&commits_line);
        let authors = desk.run(&authors_line);
        let latest = desk.run(&latest_line);
        let hot = desk.run(&hot_line);
        Ok(Some(Self {
            commits: commits?.number(),
            commits_line,
            latest: latest?,
            authors: authors?.counted(),
            authors_line,
            hot: hot?.counted(),
            hot_line,
        }))
    }

    /// Returns the number of commits.
    pub(in super::super) fn commits(&self) -> Option<u64> {
        self.commits
    }

    /// Writes the section.
    pub(in super::super) fn write(&self, page: &mut Page) {
        let language = page.language();
        let Some(commits) = self.commits.filter(|commits| *commits > 0) else {
            page.gap("there are no commits to read a history from", "没有提交，无法查看历史");
            return;
        };
        page.heading("History", "历史");
        let authors: Vec<String> = self
            .authors
            .iter()
            .map(|author| format!("{} ({})", without_address(&author.name), author.count))
            .collect();
        page.item(&language.pick(
            format!("{}; most by {}.", counted(commits, "commit"), authors.join(", ")),
            format!("共 {commits} 次提交；主要作者：{}。", authors.join("、")),
        ));
        for commit in self.latest.lines() {
            page.item(commit);
        }
        page.cite("commits", "提交数", &self.commits_line);
        page.cite("commits an author", "各作者的提交数", &self.authors_line);
    }

    /// Writes where the changes happen.
    pub(in super::super) fn write_hot_spots(&self, page: &mut Page) {
        let hot: Vec<&Counted> = self.hot.iter().filter(|file| file.count > 1).collect();
        if hot.is_empty() {
            return;
        }
        let language = page.language();
        page.heading("Files that change most often", "变更最频繁的文件");
        let rows: Vec<Vec<String>> =
            hot.iter().map(|file| vec![code(&file.name), file.count.to_string()]).collect();
        page.table(&language.pick(["file", "commits"], ["文件", "提交次数"]), &rows);
        page.paragraph(&language.pick(
            format!("Counted over the newest {COMMITS} commits at most, merges left out."),
            format!("统计范围为最近至多 {COMMITS} 次提交，不含合并。"),
        ));
        page.cite("commits a file", "各文件的提交次数", &self.hot_line);
    }
}

fn without_address(author: &str) -> &str {
    author.split(" <").next().unwrap_or(author)
}

//! Hot spots: source files that are both long and changed often, where a repair pays first
//! (Tornhill, *Your Code as a Crime Scene*). The weight is commits times lines.

use super::super::desk::{Desk, Looked};
use super::super::lines::{Which, quoted};
use super::super::page::{Page, code};
use super::super::programs;
use super::super::scope::Scope;
use super::super::survey::history::COMMITS;
use super::super::survey::languages::Languages;

/// Of how many of the files that change most often the lines are counted, and how many are shown.
const COUNTED: usize = 40;
const SHOWN: usize = 10;
/// How long the line that counts may become.
const LONGEST: usize = 6_000;

/// The hot spots, the hottest first.
#[derive(Debug, Clone)]
pub(in super::super) struct HotSpots {
    files: Vec<HotSpot>,
    commits_line: String,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HotSpot {
    path: String,
    commits: u64,
    lines: u64,
}

impl HotSpots {
    /// Looks; nothing where there is no history or no code.
    pub(in super::super) fn look(
        desk: &Desk<'_>,
        scope: &Scope,
        languages: &Languages,
    ) -> Looked<Option<Self>> {
        let endings = languages.code_endings();
        if !scope.files.git || endings.is_empty() {
            return Ok(None);
        }
        let spec = scope.files.pathspec(Which::Endings(&endings));
        let top = programs::argument(programs::TOP);
        let commits_line = format!(
            "git log -n {COMMITS} --no-merges --no-renames --format= --name-only -z HEAD{spec} | tr '\\n\\000' '?\\n' | awk -v tally=1 -v most={COUNTED} {top}"
        );
        let often = desk.run(&commits_line)?.counted();
        let often: Vec<_> = often.into_iter().filter(|file| file.count > 1).collect();
        if often.is_empty() {
            return Ok(None);
        }
        let lines_line = lines_line(often.iter().map(|file| file.name.as_str()));
        let lengths = desk.run(&lines_line)?.counted();
        let files = often.into_iter().filter_map(|file| {
            let lines = lengths.iter().find(|length| length.name == file.name)?.count;
            Some(HotSpot { path: file.name, commits: file.count, lines })
        });
        let mut files: Vec<HotSpot> = files.filter(|file| file.lines > 0).collect();
        files.sort_by_key(|file| (std::cmp::Reverse(file.weight()), file.path.clone()));
        files.truncate(SHOWN);
        Ok((!files.is_empty()).then_some(Self { files, commits_line }))
    }

    /// Writes the section.
    pub(in super::super) fn write(&self, page: &mut Page) {
        let language = page.language();
        page.heading("Hot spots", "热点文件");
        page.paragraph(&language.pick(
            format!("Source files by commits times lines, over the newest {COMMITS} commits at most: what is long and often changed is repaired first."),
            format!("源文件按“提交次数 × 行数”排序（最近至多 {COMMITS} 次提交）：又长又常改的文件最值得先整理。"),
        ));
        let rows: Vec<Vec<String>> = self.files.iter().map(HotSpot::cells).collect();
        let head = language.pick(["file", "commits", "lines"], ["文件", "提交次数", "行数"]);
        page.table(&head, &rows);
        page.cite("commits a source file", "各源文件的提交次数", &self.commits_line);
        if let Some(hottest) = self.files.first() {
            let line = lines_line(std::iter::once(hottest.path.as_str()));
            page.cite("lines of a file, here the hottest", "文件的行数（以最热者为例）", &line);
        }
    }

    /// Returns the hottest in a line.
    pub(in super::super) fn summary(&self) -> String {
        let hottest = self.files.iter().take(3);
        let hottest =
            hottest.map(|file| format!("{} ({} × {})", code(&file.path), file.commits, file.lines));
        hottest.collect::<Vec<_>>().join(", ")
    }
}

impl HotSpot {
    fn weight(&self) -> u64 {
        self.commits.saturating_mul(self.lines)
    }

    fn cells(&self) -> Vec<String> {
        vec![code(&self.path), self.commits.to_string(), self.lines.to_string()]
    }
}

/// Returns the command that counts the lines of as many of the files as its length allows. What was
/// deleted since has none; `wc` complains and goes on.
fn lines_line<'a>(paths: impl Iterator<Item = &'a str>) -> String {
    let mut line = "wc -l --".to_owned();
    for path in paths {
        let word = format!(" {}", quoted(path));
        if line.len() + word.len() <= LONGEST {
            line.push_str(&word);
        }
    }
    line + " 2>/dev/null"
}

//! The largest files, by lines and by bytes.

use super::super::desk::{Counted, Desk, Looked, Output};
use super::super::lines::Which;
use super::super::page::{Page, code};
use super::super::programs;
use super::super::scope::Scope;

/// A file of this many bytes is large for a repository.
const LARGE: u64 = 1024 * 1024;

/// The largest files.
#[derive(Debug, Clone)]
pub(in super::super) struct Sizes {
    by_lines: Output,
    by_bytes: Output,
    lines_line: String,
    bytes_line: String,
}

impl Sizes {
    /// Looks.
    pub(in super::super) fn look(desk: &Desk<'_>, scope: &Scope) -> Looked<Self> {
        let counts = scope.files.line_counts(Which::All);
        let lines_line = format!("{counts} | sort -k1,1nr -k2 | head -n 10");
        let program = programs::argument(programs::WITHOUT_TOTALS);
        let bytes = scope.files.contents();
        let short = scope.files.short();
        let bytes_line = format!(
            "{bytes} | xargs -0 -r wc -c | awk {program}{short} | sort -k1,1nr -k2 | head -n 20"
        );
        let by_lines = desk.run(&lines_line);
        let by_bytes = desk.run(&bytes_line);
        Ok(Self { by_lines: by_lines?, by_bytes: by_bytes?, lines_line, bytes_line })
    }

    /// Returns the files that are large for a repository.
    pub(in super::super) fn large(&self) -> Vec<Counted> {
        self.by_bytes.counted().into_iter().filter(|file| file.count >= LARGE).collect()
    }

    /// Writes the section.
    pub(in super::super) fn write(&self, page: &mut Page) {
        if !self.by_lines.is_answer() {
            page.gap("the sizes of the files could not be counted", "无法统计文件大小");
            return;
        }
        let language = page.language();
        let longest = self.by_lines.counted();
        if !longest.is_empty() {
            page.heading("Longest files", "最长的文件");
            let rows: Vec<Vec<String>> =
                longest.iter().map(|file| vec![code(&file.name), file.count.to_string()]).collect();
            page.table(&language.pick(["file", "lines"], ["文件", "行数"]), &rows);
            page.cite("longest files", "最长的文件", &self.lines_line);
        }
        let large = self.large();
        if !large.is_empty() {
            page.heading("Files of 1 MiB and more", "1 MiB 以上的文件");
            for file in &large {
                let bytes = language.pick("bytes", "字节");
                page.item(&format!("{} {} {bytes}", code(&file.name), file.count));
            }
            page.cite("largest files", "最大的文件", &self.bytes_line);
        }
    }
}

//! The folders and how many files each holds.

use super::super::desk::{Counted, Desk, Looked};
use super::super::page::{Page, code};
use super::super::programs;
use super::super::scope::Scope;

const SHOWN: usize = 15;

/// The top folders, the fullest first.
#[derive(Debug, Clone)]
pub(in super::super) struct Structure {
    line: String,
    folders: Vec<Counted>,
    prefix: String,
}

impl Structure {
    /// Counts.
    pub(in super::super) fn look(desk: &Desk<'_>, scope: &Scope) -> Looked<Self> {
        let within = &scope.files.within;
        let skip = if within.is_empty() { 0 } else { within.split('/').count() };
        let program = programs::argument(programs::FOLDERS);
        let names = scope.files.names();
        let line =
            format!("{names} | awk -v skip={skip} {program} | sort -k1,1nr -k2 | head -n 40");
        let output = desk.run(&line)?;
        // One file is no folder.
        let folders = if scope.files.is_one() { Vec::new() } else { output.counted() };
        let prefix = if within.is_empty() { String::new() } else { format!("{within}/") };
        Ok(Self { line, folders, prefix })
    }

    /// Writes the section.
    pub(in super::super) fn write(&self, page: &mut Page) {
        if self.folders.is_empty() {
            page.gap("the folders could not be counted", "无法统计目录");
            return;
        }
        page.heading("Structure", "结构");
        let language = page.language();
        let shown = self.folders.iter().take(SHOWN);
        let rows: Vec<Vec<String>> = shown
            .map(|folder| {
                let name = match folder.name.as_str() {
                    "." if self.prefix.is_empty() => language.top_folder().to_owned(),
                    "." => code(&self.prefix),
                    name => code(&format!("{}{name}", self.prefix)),
                };
                vec![name, folder.count.to_string()]
            })
            .collect();
        page.table(&language.pick(["folder", "files"], ["目录", "文件数"]), &rows);
        if self.folders.len() > SHOWN {
            let more = self.folders.len() - SHOWN;
            let at_least =
                if self.folders.len() == 40 { language.pick("at least ", "至少") } else { "" };
            page.paragraph(&language.pick(
                format!("{at_least}{more} more folders are not shown."),
                format!("另有{at_least} {more} 个目录未列出。"),
            ));
        }
        page.cite("files a folder", "各目录的文件数", &self.line);
    }

    /// Returns the fullest folders as one line.
    pub(in super::super) fn summary(&self) -> String {
        let folders = self.folders.iter().filter(|folder| folder.name != ".").take(8);
        let folders =
            folders.map(|folder| format!("`{}{}` {}", self.prefix, folder.name, folder.count));
        folders.collect::<Vec<_>>().join(", ")
    }
}

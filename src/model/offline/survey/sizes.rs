//! The longest files, the largest files, and the binary ones.

use super::super::desk::{Counted, Desk, Looked, Output};
use super::super::lines::{Files, LARGE, Which};
use super::super::page::{Page, code, counted};
use super::super::programs;
use super::super::scope::Scope;

/// How many binary files are named.
const NAMED: usize = 12;

/// What the files weigh.
#[derive(Debug, Clone)]
pub(in super::super) struct Sizes {
    texts: Output,
    texts_line: String,
    binaries: Option<Output>,
    binaries_line: String,
}

impl Sizes {
    /// Looks.
    pub(in super::super) fn look(desk: &Desk<'_>, scope: &Scope) -> Looked<Self> {
        let texts_line = scope.files.contents_summary();
        let texts = desk.run(&texts_line);
        let binaries_line = binaries_line(&scope.files);
        let binaries = has_binaries(desk, &scope.files);
        let texts = texts?;
        let binaries = if binaries? { Some(desk.run(&binaries_line)?) } else { None };
        Ok(Self { texts, texts_line, binaries, binaries_line })
    }

    /// Writes the sections.
    pub(in super::super) fn write(&self, page: &mut Page) {
        if self.texts.kind("all").is_empty() {
            page.gap("the sizes of the files could not be counted", "无法统计文件大小");
            return;
        }
        self.write_longest(page);
        self.write_large(page);
        self.write_binaries(page);
    }

    fn write_longest(&self, page: &mut Page) {
        let longest = self.texts.kind("long");
        if longest.is_empty() {
            return;
        }
        page.heading("Longest files", "最长的文件");
        let rows = longest.iter().map(|file| vec![code(&file.name), file.count.to_string()]);
        let rows: Vec<Vec<String>> = rows.collect();
        page.table(&page.language().pick(["file", "lines"], ["文件", "行数"]), &rows);
        page.cite("longest files, lines", "最长的文件与行数", &self.texts_line);
    }

    fn write_large(&self, page: &mut Page) {
        let binaries = self.binaries.iter().flat_map(|output| output.kind("large"));
        let mut large: Vec<Counted> =
            self.texts.kind("large").into_iter().chain(binaries).collect();
        large.sort_by(|a, b| b.count.cmp(&a.count).then(a.name.cmp(&b.name)));
        if large.is_empty() {
            return;
        }
        page.heading("Files of 1 MiB and more", "1 MiB 以上的文件");
        let bytes = page.language().pick("bytes", "字节");
        for file in large.iter().take(10) {
            page.item(&format!("{} {} {bytes}", code(&file.name), file.count));
        }
    }

    fn write_binaries(&self, page: &mut Page) {
        let Some(binaries) = &self.binaries else { return };
        let Some(count) = binaries.kind("count").first().map(|row| row.count) else {
            page.gap("binary files could not be counted", "无法统计二进制文件");
            return;
        };
        page.cite("binary files", "二进制文件", &self.binaries_line);
        if count == 0 {
            return;
        }
        let names: Vec<String> =
            binaries.kind("name").iter().map(|file| code(&file.name)).collect();
        let more = count.saturating_sub(names.len() as u64);
        let names = names.join(", ");
        page.heading("Binary files", "二进制文件");
        let language = page.language();
        page.paragraph(&match more {
            0 => language.pick(
                format!("{}: {names}.", counted(count, "file")),
                format!("{count} 个：{names}。"),
            ),
            _ => language.pick(
                format!("{}: {names}, and {more} more.", counted(count, "file")),
                format!("{count} 个：{names}，另有 {more} 个。"),
            ),
        });
    }
}

/// Git looks for binary files by reading every version it keeps, which takes long where there are
/// many; so it is asked only when counting shows that there are some.
fn has_binaries(desk: &Desk<'_>, files: &Files) -> Looked<bool> {
    if !files.git {
        return Ok(true);
    }
    let count = |paths: String| desk.run(&format!("{paths} | tr -dc '\\000' | wc -c"));
    let all = count(files.contents());
    let texts = count(files.texts(Which::All));
    let (all, texts) = (all?.number(), texts?.number());
    Ok(all.is_none() || all != texts)
}

fn binaries_line(files: &Files) -> String {
    let program = programs::argument(programs::BINARIES);
    if files.git {
        let eol = format!("git ls-files --eol{} | grep '^i/-text '", files.pathspec(Which::All));
        format!(
            "{eol} | cut -f 2- | tr '\\n' '\\000' | xargs -0 -r wc -c | awk -v most={NAMED} -v large={LARGE} {program}"
        )
    } else {
        let list = format!("{} | xargs -0 -r grep -ZlaP '\\x00'", files.contents());
        format!("{list} | xargs -0 -r wc -c | awk -v most={NAMED} -v large={LARGE} {program}")
    }
}

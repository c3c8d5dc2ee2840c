//! Binary files that Git keeps.

use super::super::desk::{Desk, Looked, Output};
use super::super::lines::Which;
use super::super::page::{Page, code};
use super::super::scope::Scope;

/// The binary files.
#[derive(Debug, Clone)]
pub(in super::super) struct Binaries {
    count: Output,
    names: Vec<String>,
    line: String,
}

impl Binaries {
    /// Looks.
    pub(in super::super) fn look(desk: &Desk<'_>, scope: &Scope) -> Looked<Self> {
        let files = &scope.files;
        let (line, list) = if files.git {
            let spec = files.pathspec(Which::All);
            let eol = format!("git ls-files --eol{spec}");
            (
                format!("{eol} | grep -c '^i/-text '"),
                format!("{eol} | grep '^i/-text ' | cut -f 2- | head -n 12"),
            )
        } else {
            let list = format!("{} | xargs -0 -r grep -LI ''{}", files.contents(), files.short());
            (format!("{list} | wc -l"), format!("{list} | head -n 12"))
        };
        let count = desk.run(&line);
        let names = desk.run(&list);
        let names = names?.lines().map(str::to_owned).collect();
        Ok(Self { count: count?, names, line })
    }

    /// Returns how many there are.
    pub(in super::super) fn count(&self) -> Option<u64> {
        self.count.number()
    }

    /// Writes the section; nothing when there are none.
    pub(in super::super) fn write(&self, page: &mut Page) {
        let language = page.language();
        let Some(count) = self.count() else {
            page.gap("binary files could not be counted", "无法统计二进制文件");
            return;
        };
        page.cite("binary files", "二进制文件", &self.line);
        if count == 0 {
            return;
        }
        page.heading("Binary files", "二进制文件");
        let names: Vec<String> = self.names.iter().map(|name| code(name)).collect();
        let more = count.saturating_sub(names.len() as u64);
        let more = if more > 0 {
            language.pick(format!(" and {more} more"), format!(" 等，另有 {more} 个"))
        } else {
            String::new()
        };
        let names = names.join(", ");
        page.paragraph(
            &language
                .pick(format!("{count}: {names}{more}."), format!("{count} 个：{names}{more}。")),
        );
    }
}

//! Blocks of code that stand in two places, alike but for their names.

use super::super::desk::{Desk, Looked, Output};
use super::super::page::{Page, code};
use super::super::programs;
use super::super::record::{Finding, Kind};
use super::super::scope::Scope;
use super::super::survey::languages::Languages;
use super::{ASIDE, sources};

/// A block has at least so many lines that say something.
const LEAST: u64 = 10;
/// Up to so many lines of code, all of it is compared; beyond, the longest files.
const MOST_LINES: u64 = 250_000;
const LONGEST: usize = 300;
/// How many are shown.
const SHOWN: usize = 10;
/// A block of this length is recorded as a defect.
const VERY_LONG: u64 = 30;

/// The repeated blocks, the longest first.
#[derive(Debug, Clone)]
pub(in super::super) struct Repeats {
    output: Output,
    line: String,
    all_files: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Repeat {
    lines: u64,
    first: String,
    second: String,
}

impl Repeats {
    /// Looks; nothing where there is no code.
    pub(in super::super) fn look(
        desk: &Desk<'_>,
        scope: &Scope,
        languages: &Languages,
    ) -> Looked<Option<Self>> {
        let Some(sources) = sources(&scope.files, languages, MOST_LINES, LONGEST) else {
            return Ok(None);
        };
        let program = programs::argument(programs::REPEATS);
        let top = programs::argument(programs::TOP);
        let own = format!("grep -z -v -E '{ASIDE}'");
        let line = format!(
            "{} | {own} | xargs -0 -r awk -v least={LEAST} {program}{} | awk -v most={SHOWN} {top}",
            sources.line,
            scope.files.short(),
        );
        let output = desk.run(&line)?;
        Ok(Some(Self { output, line, all_files: sources.all }))
    }

    /// Writes the section.
    pub(in super::super) fn write(&self, page: &mut Page) {
        let language = page.language();
        let Some(count) = self.count() else {
            page.gap("repeated code could not be looked for", "无法查找重复代码");
            return;
        };
        page.heading("Repeated blocks", "重复代码");
        let rows: Vec<Vec<String>> = self
            .repeats()
            .iter()
            .take(SHOWN)
            .map(|repeat| vec![repeat.lines.to_string(), code(&repeat.first), code(&repeat.second)])
            .collect();
        let scope = if self.all_files {
            String::new()
        } else {
            language.pick(
                format!(" Only the {LONGEST} longest source files were compared."),
                format!("仅比较了最长的 {LONGEST} 个源文件。"),
            )
        };
        if rows.is_empty() {
            page.paragraph(&language.pick(
                format!("None of {LEAST} lines or more outside of tests.{scope}"),
                format!("测试之外没有 {LEAST} 行以上的重复。{scope}"),
            ));
        } else {
            page.paragraph(&language.pick(
                format!("Blocks of {LEAST} lines or more that stand twice, alike but for names and numbers: {count} (comments, blank lines, imports and tests left out).{scope}"),
                format!("{count} 处 {LEAST} 行以上的代码出现两次，仅名称与数字不同（不计注释、空行、导入与测试）。{scope}"),
            ));
            page.table(
                &language.pick(["lines", "first", "second"], ["行数", "第一处", "第二处"]),
                &rows,
            );
        }
        page.cite("repeated blocks", "重复代码", &self.line);
    }

    /// Returns whether all repeated blocks are known.
    pub(in super::super) fn is_complete(&self) -> bool {
        self.all_files && self.count().is_some()
    }

    /// Returns what to record.
    pub(in super::super) fn finding(&self, desk: &Desk<'_>) -> Option<Finding> {
        let repeats = self.repeats();
        let longest = repeats.first()?;
        let language = desk.language();
        let list: Vec<String> = repeats
            .iter()
            .take(8)
            .map(|repeat| {
                let lines = language.pick("lines", "行");
                format!(
                    "- {} {lines}: {}, {}",
                    repeat.lines,
                    code(&repeat.first),
                    code(&repeat.second)
                )
            })
            .collect();
        let list = list.join("\n");
        let kind = if longest.lines >= VERY_LONG { Kind::Blocker } else { Kind::Action };
        Some(Finding {
            kind,
            topic: "duplication",
            titles: ["Code that stands in two places", "重复的代码块"].map(str::to_owned),
            content: language.pick(
                format!("These blocks are alike but for names and numbers:\n\n{list}\n\nEffect: a repair in one place is forgotten in the other.\n\nResolved when each pair shares one function."),
                format!("以下代码块仅名称与数字不同：\n\n{list}\n\n影响：只修一处，另一处会被遗忘。\n\n解决标准：每一对共用同一个函数。"),
            ),
        })
    }

    fn count(&self) -> Option<u64> {
        let rows = self.output.columns::<2>();
        rows.into_iter().find(|row| row[0] == "rows").and_then(|row| row[1].parse().ok())
    }

    fn repeats(&self) -> Vec<Repeat> {
        let rows = self.output.columns::<5>();
        rows.into_iter()
            .filter_map(|[lines, first, second, to_first, to_second]| {
                Some(Repeat {
                    lines: lines.parse().ok()?,
                    first: format!("{first}-{to_first}"),
                    second: format!("{second}-{to_second}"),
                })
            })
            .collect()
    }
}

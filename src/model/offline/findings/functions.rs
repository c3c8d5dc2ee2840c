//! Functions that are too long or nested too deeply, measured by indentation.

use super::super::desk::{Desk, Looked, Output};
use super::super::page::{Page, code, counted};
use super::super::programs;
use super::super::record::{Finding, Kind};
use super::super::scope::Scope;
use super::super::survey::languages::Languages;
use super::{ASIDE, LONGEST, MOST_LINES, sources};

/// From where on a function counts as long, and from where on as deep.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Bounds {
    long: u64,
    deep: u64,
}

impl Bounds {
    /// What is worth a repair.
    pub(in super::super) const REPAIR: Self = Self { long: LONG, deep: DEEP };
    /// What is worth a look when somebody asks.
    pub(in super::super) const LOOK: Self = Self { long: 15, deep: 3 };
}

const LONG: u64 = 60;
const DEEP: u64 = 5;
/// How many of each kind are shown.
const SHOWN: usize = 10;
/// What is recorded as a defect: very long and deep, or deeper than anybody can follow.
const VERY_LONG: u64 = 100;
const VERY_DEEP: u64 = 7;
const RECORDED: usize = 3;

/// The worst functions.
#[derive(Debug, Clone)]
pub(in super::super) struct Functions {
    output: Output,
    line: String,
    all_files: bool,
    bounds: Bounds,
}

/// One function.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Function {
    lines: u64,
    nesting: u64,
    place: String,
    name: String,
}

impl Functions {
    /// Looks; nothing where there is no code.
    pub(in super::super) fn look(
        desk: &Desk<'_>,
        scope: &Scope,
        languages: &Languages,
        bounds: Bounds,
    ) -> Looked<Option<Self>> {
        let Some(sources) = sources(&scope.files, languages, MOST_LINES, LONGEST) else {
            return Ok(None);
        };
        let Bounds { long, deep } = bounds;
        let find = programs::argument(programs::FUNCTIONS);
        let rank = programs::argument(programs::RANKING);
        let line = format!(
            "{} | xargs -0 -r awk -v long={long} -v deep={deep} {find}{} | sort -k1,1nr -k3 | awk -F '\\t' -v long={long} -v deep={deep} -v most={SHOWN} {rank}",
            sources.line,
            scope.files.short(),
        );
        let output = desk.run(&line)?;
        Ok(Some(Self { output, line, all_files: sources.all, bounds }))
    }

    /// Returns how many functions there are, how many are long, how many deep.
    pub(in super::super) fn counts(&self) -> Option<(u64, u64, u64)> {
        let row = self.output.columns::<4>().into_iter().find(|row| row[0] == "count")?;
        Some((row[1].parse().ok()?, row[2].parse().ok()?, row[3].parse().ok()?))
    }

    /// Writes the section.
    pub(in super::super) fn write(&self, page: &mut Page) {
        let language = page.language();
        let Some((all, long, deep)) = self.counts() else {
            page.gap("the functions could not be measured", "无法测量函数");
            return;
        };
        if all == 0 {
            return;
        }
        page.heading("Long and deeply nested functions", "过长与嵌套过深的函数");
        let scope = if self.all_files {
            String::new()
        } else {
            language.pick(
                format!(" in the {LONGEST} longest source files"),
                format!("（仅最长的 {LONGEST} 个源文件）"),
            )
        };
        let Bounds { long: from, deep: levels } = self.bounds;
        page.paragraph(&language.pick(
            format!("Of {}{scope}, {long} have {from} lines or more and {deep} are nested {levels} levels or more (by indentation).", counted(all, "function")),
            format!("共 {all} 个函数{scope}，其中 {long} 个达到 {from} 行以上，{deep} 个嵌套达到 {levels} 层以上（按缩进计算）。"),
        ));
        let head = language
            .pick(["function", "place", "lines", "nesting"], ["函数", "位置", "行数", "嵌套"]);
        for (kind, english, chinese) in
            [("long", "The longest:", "最长："), ("deep", "The deepest:", "最深：")]
        {
            let rows: Vec<Vec<String>> = self.rows(kind).iter().map(Function::cells).collect();
            if !rows.is_empty() {
                page.paragraph(language.pick(english, chinese));
                page.table(&head, &rows);
            }
        }
        page.cite("functions, by indentation", "函数（按缩进）", &self.line);
    }

    /// Returns what to record: the very worst outside of tests.
    pub(in super::super) fn findings(&self, desk: &Desk<'_>) -> Vec<Finding> {
        self.defects().iter().take(RECORDED).map(|function| function.finding(desk)).collect()
    }

    /// Returns whether every defect is recorded.
    pub(in super::super) fn is_complete(&self) -> bool {
        let all_shown = self.counts().is_some_and(|(_, _, deep)| deep <= SHOWN as u64);
        self.all_files && all_shown && self.defects().len() <= RECORDED
    }

    /// A defect is deep, so the list of the deep ones holds them all if it is whole.
    fn defects(&self) -> Vec<Function> {
        let aside = regex::Regex::new(ASIDE).ok();
        let is_aside = |function: &Function| {
            let path = function.place.rsplit_once(':').map_or("", |(path, _)| path);
            aside.as_ref().is_some_and(|aside| aside.is_match(path))
        };
        let mut worst: Vec<Function> = self.rows("long");
        for function in self.rows("deep") {
            if !worst.contains(&function) {
                worst.push(function);
            }
        }
        worst.retain(|function| function.is_defect() && !is_aside(function));
        worst
            .sort_by_key(|function| (std::cmp::Reverse(function.weight()), function.place.clone()));
        worst
    }

    fn rows(&self, kind: &str) -> Vec<Function> {
        let rows = self.output.columns::<5>().into_iter().filter(|row| row[0] == kind);
        rows.filter_map(|[_, lines, nesting, place, name]| {
            Some(Function {
                lines: lines.parse().ok()?,
                nesting: nesting.parse().ok()?,
                place: place.to_owned(),
                name: name.to_owned(),
            })
        })
        .collect()
    }
}

impl Function {
    fn cells(&self) -> Vec<String> {
        let (lines, nesting) = (self.lines.to_string(), self.nesting.to_string());
        vec![code(&self.name), code(&self.place), lines, nesting]
    }

    fn is_defect(&self) -> bool {
        self.nesting >= VERY_DEEP || self.lines >= VERY_LONG && self.nesting >= DEEP
    }

    /// A level of nesting weighs as much as twenty lines.
    fn weight(&self) -> u64 {
        self.lines + 20 * self.nesting
    }

    fn finding(&self, desk: &Desk<'_>) -> Finding {
        let Self { lines, nesting, place, name } = self;
        let path = place.rsplit_once(':').map_or(place.as_str(), |(path, _)| path);
        Finding {
            kind: Kind::Blocker,
            topic: "complexity",
            titles: [format!("`{name}` in {path} is too complex"),
                format!("{path} 中的 `{name}` 过于复杂")],
            content: desk.language().pick(
                format!("`{place}`: `{name}` has {lines} lines and is nested {nesting} levels deep (measured by indentation).\n\nEffect: it is hard to change safely and to test path by path.\n\nResolved when it is divided into functions of less than {LONG} lines and {DEEP} levels, with tests for each."),
                format!("`{place}`：`{name}` 共 {lines} 行，嵌套 {nesting} 层（按缩进计算）。\n\n影响：难以安全修改，也难以逐条路径测试。\n\n解决标准：拆分为不到 {LONG} 行、{DEEP} 层的函数，并各有测试。"),
            ),
        }
    }
}

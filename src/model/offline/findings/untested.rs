//! Source files that no test file is named after, folder by folder.

use super::super::desk::{Desk, Looked, Output};
use super::super::language::Language;
use super::super::lines::Which;
use super::super::page::{Page, code, counted};
use super::super::programs;
use super::super::record::{Finding, Kind};
use super::super::scope::Scope;
use super::super::survey::languages::Languages;

/// A Rust file usually holds its own tests.
const RUST_TESTS: &str = "#\\[cfg\\((test|all\\(test)";

/// How many folders are looked at.
const FOLDERS: usize = 20;

/// What is tested by name.
#[derive(Debug, Clone)]
pub(in super::super) struct Untested {
    others: Option<Part>,
    rust: Option<Part>,
    inline: Option<u64>,
}

#[derive(Debug, Clone)]
struct Part {
    output: Output,
    line: String,
}

/// One folder.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Folder {
    name: String,
    without: u64,
    sources: u64,
}

impl Untested {
    /// Looks.
    pub(in super::super) fn look(
        desk: &Desk<'_>,
        scope: &Scope,
        languages: &Languages,
    ) -> Looked<Self> {
        // The tests of one file lie elsewhere.
        let endings = if scope.files.is_one() { Vec::new() } else { languages.code_endings() };
        let others: Vec<&str> = endings.iter().copied().filter(|ending| *ending != "rs").collect();
        let files = &scope.files;
        let program = programs::argument(programs::UNTESTED);
        let rank = format!("sort -k1,1nr -k4 | head -n {FOLDERS}");
        let look = |names: String| {
            let line = format!("{names} | awk {program} | {rank}");
            desk.run(&line).map(|output| Part { output, line })
        };
        let others = (!others.is_empty()).then(|| {
            let paths = files.paths_of(Which::Endings(&others));
            look(format!("{paths} | {}", files.as_lines()))
        });
        let rust = endings.contains(&"rs").then(|| {
            let which = Which::Endings(&["rs"]);
            let without = files.grep("-L -E", RUST_TESTS, which);
            let with = format!("{} | wc -l", files.grep("-l -E", RUST_TESTS, which));
            (look(without), desk.run(&with))
        });
        let others = match others {
            Some(looked) => Some(looked?),
            None => None,
        };
        let (rust, inline) = match rust {
            Some((rust, inline)) => (Some(rust?), inline?.number()),
            None => (None, None),
        };
        Ok(Self { others, rust, inline })
    }

    /// Returns how many source files have no test of their name, of how many, and how many test
    /// files there are.
    pub(in super::super) fn counts(&self) -> Option<(u64, u64, u64)> {
        let mut sum = None;
        for looked in [&self.others, &self.rust].into_iter().flatten() {
            let (without, sources, tests) = looked.total()?;
            let (all_without, all_sources, all_tests) = sum.unwrap_or((0, 0, 0));
            sum = Some((all_without + without, all_sources + sources, all_tests + tests));
        }
        sum
    }

    /// Writes the section.
    pub(in super::super) fn write(&self, page: &mut Page) {
        let language = page.language();
        let Some((without, sources, tests)) = self.counts() else {
            if self.others.is_some() || self.rust.is_some() {
                page.gap("the tests could not be counted", "无法统计测试");
            }
            return;
        };
        page.heading("Tests", "测试");
        page.paragraph(&language.pick(
            format!(
                "{}. Of {}, {without} without a test file of their name.",
                counted(tests, "test file"),
                counted(sources, "source file")
            ),
            format!("测试文件 {tests} 个。{sources} 个源文件中，{without} 个没有同名测试。"),
        ));
        if let Some(with) = self.inline {
            page.paragraph(&language.pick(
                format!(
                    "{} with tests of their own, not counted among the {sources}.",
                    counted(with, "Rust file")
                ),
                format!("另有 {with} 个 Rust 文件自带测试，不计入上述 {sources} 个。"),
            ));
        }
        let folders = self.folders();
        let rows: Vec<Vec<String>> = folders
            .iter()
            .take(10)
            .map(|folder| {
                let name = folder.shown(language);
                vec![name, folder.without.to_string(), folder.sources.to_string()]
            })
            .collect();
        if !rows.is_empty() {
            let head = language
                .pick(["folder", "without test", "source files"], ["目录", "无测试", "源文件"]);
            page.table(&head, &rows);
        }
        for looked in [&self.others, &self.rust].into_iter().flatten() {
            page.cite("files without a test of their name", "没有同名测试的文件", &looked.line);
        }
    }

    /// Returns whether all folders are known.
    pub(in super::super) fn is_complete(&self) -> bool {
        self.counts().is_some() && self.folders().len() < FOLDERS
    }

    /// Returns what to record: folders of which no file has a test.
    pub(in super::super) fn finding(&self, desk: &Desk<'_>) -> Option<Finding> {
        let bare: Vec<Folder> = self
            .folders()
            .into_iter()
            .filter(|folder| folder.without == folder.sources && folder.sources > 1)
            .take(8)
            .collect();
        if bare.is_empty() {
            return None;
        }
        let language = desk.language();
        let list: Vec<String> = bare
            .iter()
            .map(|folder| {
                let files = language.pick("source files", "个源文件");
                format!("- {} {} {files}", folder.shown(language), folder.sources)
            })
            .collect();
        let list = list.join("\n");
        Some(Finding {
            kind: Kind::Action,
            topic: "tests",
            titles: ["Write tests for folders that have none", "为没有测试的目录补充测试"].map(str::to_owned),
            content: language.pick(
                format!("No file of these folders has a test file of its name:\n\n{list}\n\nDone when each file with logic has a test that fails when the logic is broken."),
                format!("以下目录中没有任何文件拥有同名测试：\n\n{list}\n\n完成标准：每个含逻辑的文件都有会因逻辑损坏而失败的测试。"),
            ),
        })
    }

    fn folders(&self) -> Vec<Folder> {
        let looked = [&self.others, &self.rust].into_iter().flatten();
        let mut folders: Vec<Folder> = Vec::new();
        for folder in looked.flat_map(Part::folders) {
            match folders.iter_mut().find(|known| known.name == folder.name) {
                // It holds files of both kinds.
                Some(known) => {
                    known.without += folder.without;
                    known.sources += folder.sources;
                }
                None => folders.push(folder),
            }
        }
        folders.sort_by(|a, b| b.without.cmp(&a.without).then(a.name.cmp(&b.name)));
        folders
    }
}

impl Folder {
    /// Returns the name as it is shown.
    fn shown(&self, language: Language) -> String {
        if self.name == "." { language.top_folder().to_owned() } else { code(&self.name) }
    }
}

impl Part {
    fn total(&self) -> Option<(u64, u64, u64)> {
        let rows = self.output.columns::<4>();
        let row = rows.into_iter().find(|row| row[3] == "*")?;
        Some((row[0].parse().ok()?, row[1].parse().ok()?, row[2].parse().ok()?))
    }

    fn folders(&self) -> Vec<Folder> {
        let rows = self.output.columns::<4>().into_iter().filter(|row| row[3] != "*");
        rows.filter_map(|[without, sources, _, name]| {
            Some(Folder {
                name: name.to_owned(),
                without: without.parse().ok()?,
                sources: sources.parse().ok()?,
            })
        })
        .collect()
    }
}

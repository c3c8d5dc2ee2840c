//! The languages, by the endings of the files.

use super::super::desk::{Counted, Desk, Looked};
use super::super::lines::Files;
use super::super::page::Page;
use super::super::programs;
use super::super::scope::Scope;

/// One language by its endings, and whether it is code that can have long functions.
struct Known {
    name: &'static str,
    endings: &'static [&'static str],
    code: bool,
}

const fn source(name: &'static str, endings: &'static [&'static str]) -> Known {
    Known { name, endings, code: true }
}

const fn text(name: &'static str, endings: &'static [&'static str]) -> Known {
    Known { name, endings, code: false }
}

const KNOWN: [Known; 46] = [
    source("Rust", &["rs"]),
    source("Python", &["py", "pyi"]),
    source("JavaScript", &["js", "mjs", "cjs", "jsx"]),
    source("TypeScript", &["ts", "tsx", "mts", "cts"]),
    source("Go", &["go"]),
    source("Java", &["java"]),
    source("Kotlin", &["kt", "kts"]),
    source("Scala", &["scala"]),
    source("C", &["c", "h"]),
    source("C++", &["cc", "cpp", "cxx", "hh", "hpp", "hxx"]),
    source("C#", &["cs"]),
    source("Objective-C", &["m", "mm"]),
    source("Swift", &["swift"]),
    source("Dart", &["dart"]),
    source("PHP", &["php"]),
    source("Vue", &["vue"]),
    source("Svelte", &["svelte"]),
    source("Shell", &["sh", "bash"]),
    source("Ruby", &["rb"]),
    source("Lua", &["lua"]),
    source("Perl", &["pl", "pm"]),
    source("R", &["r"]),
    source("Julia", &["jl"]),
    source("Haskell", &["hs"]),
    source("OCaml", &["ml", "mli"]),
    source("Elixir", &["ex", "exs"]),
    source("Erlang", &["erl", "hrl"]),
    source("Clojure", &["clj", "cljs"]),
    source("Zig", &["zig"]),
    source("Assembly", &["s", "asm"]),
    text("SQL", &["sql"]),
    text("HTML", &["html", "htm"]),
    text("CSS", &["css", "scss", "sass", "less"]),
    text("Markdown", &["md", "markdown"]),
    text("reStructuredText", &["rst"]),
    text("Text", &["txt"]),
    text("JSON", &["json", "jsonl"]),
    text("YAML", &["yaml", "yml"]),
    text("TOML", &["toml"]),
    text("XML", &["xml", "svg"]),
    text("CSV", &["csv", "tsv"]),
    text("INI", &["ini", "cfg", "conf"]),
    text("Protocol Buffers", &["proto"]),
    text("Jinja", &["j2", "jinja", "jinja2"]),
    text("Makefile", &["mk", "Makefile"]),
    text("Dockerfile", &["Dockerfile", "Containerfile"]),
];

/// Files and lines of each language, most lines first.
#[derive(Debug, Clone)]
pub(in super::super) struct Languages {
    rows: Vec<Row>,
    total_lines: Option<u64>,
    /// Whether the lines are known; where they are not, they are 0.
    has_lines: bool,
    files_line: String,
    lines_line: String,
    complete: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    name: &'static str,
    files: u64,
    lines: u64,
    code: bool,
    endings: Vec<&'static str>,
}

impl Languages {
    /// Counts.
    pub(in super::super) fn look(desk: &Desk<'_>, scope: &Scope) -> Looked<Self> {
        let files_line = files_line(&scope.files);
        let lines_line = scope.files.contents_summary();
        let files = desk.run(&files_line);
        let lines = desk.run(&lines_line);
        let (files, lines) = (files?, lines?);
        let complete = !files.counted().is_empty() && !lines.kind("all").is_empty();
        let has_lines = lines.is_answer();
        let files = files.counted();
        let rows = |kind| lines.kind(kind);
        let total_lines = rows("all").first().map(|row| row.count);
        let lines = rows("sum");
        let mut rows: Vec<Row> =
            KNOWN.iter().filter_map(|known| row(known, &files, &lines)).collect();
        rows.sort_by(|a, b| b.lines.cmp(&a.lines).then(b.files.cmp(&a.files)));
        Ok(Self { rows, total_lines, has_lines, files_line, lines_line, complete })
    }

    /// Returns the lines of code, in all languages that are code.
    pub(in super::super) fn code_lines(&self) -> u64 {
        self.rows.iter().filter(|row| row.code).map(|row| row.lines).sum()
    }

    /// Returns the endings of code that are in use.
    pub(in super::super) fn code_endings(&self) -> Vec<&'static str> {
        let code = self.rows.iter().filter(|row| row.code);
        code.flat_map(|row| row.endings.iter().copied()).collect()
    }

    /// Returns the language with the most lines of code; none where they could not be counted.
    pub(in super::super) fn main(&self) -> Option<(&'static str, u64, u64)> {
        let row = self.rows.iter().find(|row| row.code && self.has_lines)?;
        Some((row.name, row.files, row.lines))
    }

    /// Returns the lines of all text files.
    pub(in super::super) fn total_lines(&self) -> Option<u64> {
        self.total_lines
    }

    /// Writes the section.
    pub(in super::super) fn write(&self, page: &mut Page) {
        if !self.complete {
            page.gap("the languages could not be counted", "无法统计语言");
            return;
        }
        if self.rows.is_empty() {
            return;
        }
        page.heading("Languages", "语言");
        let language = page.language();
        let rows: Vec<Vec<String>> = self
            .rows
            .iter()
            .take(12)
            .map(|row| vec![row.name.to_owned(), row.files.to_string(), row.lines.to_string()])
            .collect();
        page.table(
            &language.pick(["language", "files", "lines"], ["语言", "文件数", "行数"]),
            &rows,
        );
        if let Some(total) = self.total_lines {
            page.paragraph(&language.pick(
                format!("All text files together have {total} lines."),
                format!("所有文本文件共 {total} 行。"),
            ));
        }
        page.cite("files a language, by ending", "各语言文件数（按扩展名）", &self.files_line);
        page.cite(
            "lines a language, text files only",
            "各语言行数（仅文本文件）",
            &self.lines_line,
        );
    }

    /// Returns the languages as one line.
    pub(in super::super) fn summary(&self) -> String {
        let rows = self.rows.iter().take(6);
        let rows = rows.map(|row| {
            let lines = if self.has_lines { row.lines.to_string() } else { "?".to_owned() };
            format!("{} {}/{lines}", row.name, row.files)
        });
        rows.collect::<Vec<_>>().join(", ")
    }
}

fn row(known: &'static Known, files: &[Counted], lines: &[Counted]) -> Option<Row> {
    let sum = |rows: &[Counted], ending: &str| -> u64 {
        rows.iter().filter(|row| row.name == ending).map(|row| row.count).sum()
    };
    let endings: Vec<&str> =
        known.endings.iter().copied().filter(|ending| sum(files, ending) > 0).collect();
    if endings.is_empty() {
        return None;
    }
    Some(Row {
        name: known.name,
        files: endings.iter().map(|ending| sum(files, ending)).sum(),
        lines: endings.iter().map(|ending| sum(lines, ending)).sum(),
        code: known.code,
        endings,
    })
}

fn files_line(files: &Files) -> String {
    let program = programs::argument(programs::ENDINGS);
    format!("{} | awk {program} | sort -k1,1nr -k2 | head -n 80", files.names())
}

//! TODO, FIXME, HACK and XXX, with their places and since when they stand there.

use super::super::desk::{Counted, Desk, Looked, Output};
use super::super::language::Language;
use super::super::lines::Which;
use super::super::page::{Page, code, counted, excerpt};
use super::super::programs;
use super::super::record::{Finding, Kind};
use super::super::scope::Scope;
use super::ASIDE;
use super::ages::Ages;

const WORDS: &str = "TODO|FIXME|HACK|XXX";

/// The unfinished places.
#[derive(Debug, Clone)]
pub(in super::super) struct Markers {
    count: Output,
    count_line: String,
    files: Option<u64>,
    words: Vec<Counted>,
    words_line: String,
    places: Vec<String>,
    ages: Option<Ages>,
}

impl Markers {
    /// Looks.
    pub(in super::super) fn look(desk: &Desk<'_>, scope: &Scope) -> Looked<Self> {
        let files = &scope.files;
        let count_line = format!("{} | wc -l", files.grep("-h -w -E", WORDS, Which::All));
        let program = programs::MARKERS.replace("ASIDE", &ASIDE.replace('/', "\\/"));
        let program = programs::argument(&program);
        let words_line = format!(
            "{} | tr '\\000' '\\001' | awk -v most=25 {program}",
            files.grep_apart("-n -w -E", WORDS, Which::All)
        );
        let count = desk.run(&count_line);
        let words = desk.run(&words_line);
        let (count, words) = (count?, words?);
        let rows = words.columns::<3>();
        let files = rows.iter().find(|row| row[0] == "count").and_then(|row| row[2].parse().ok());
        let mut kinds = words.kind("word");
        kinds.sort_by(|a, b| b.count.cmp(&a.count).then(a.name.cmp(&b.name)));
        let places = words.columns::<2>().into_iter().filter(|row| row[0] == "place");
        let places: Vec<String> = places.map(|row| row[1].to_owned()).collect();
        let ages = if scope.files.git { Ages::look(desk, &places)? } else { None };
        Ok(Self { count, count_line, files, words: kinds, words_line, places, ages })
    }

    /// Returns how many lines have a marker.
    pub(in super::super) fn count(&self) -> Option<u64> {
        self.count.number()
    }

    /// Writes the section, with at most so many places.
    pub(in super::super) fn write(&self, page: &mut Page, most: usize) {
        let language = page.language();
        let Some(count) = self.count() else {
            page.gap("TODO and FIXME could not be counted", "无法统计 TODO 与 FIXME");
            return;
        };
        page.heading("TODO, FIXME, HACK, XXX", "TODO、FIXME、HACK、XXX");
        page.cite("lines with TODO, FIXME, HACK or XXX", "含 TODO 等标记的行数", &self.count_line);
        if count == 0 {
            page.paragraph(language.pick("None.", "没有。"));
            return;
        }
        let words: Vec<String> =
            self.words.iter().map(|word| format!("{} {}", word.name, word.count)).collect();
        let words = words.join(", ");
        let files = self.files.unwrap_or_default();
        page.paragraph(&language.pick(
            format!("{} in {} ({words}).", counted(count, "line"), counted(files, "file")),
            format!("共 {count} 行，分布于 {files} 个文件（{words}）。"),
        ));
        page.text_gap();
        for place in self.places.iter().take(most) {
            page.item(&self.item(place, language));
        }
        let shown = self.places.len().min(most) as u64;
        if shown < count {
            let more = count - shown;
            page.item(&language.pick(format!("and {more} more"), format!("另有 {more} 处")));
        }
        page.cite("each word", "各标记的次数", &self.words_line);
        if let Some(ages) = &self.ages {
            ages.write(page, count);
        }
    }

    /// Returns a place with its text and the day from which it dates.
    fn item(&self, place: &str, language: Language) -> String {
        let since = split_place(place).and_then(|(place, _)| self.ages.as_ref()?.since(place));
        let text = place_and_text(place);
        since.map_or(text.clone(), |day| {
            language.pick(format!("{text} (since {day})"), format!("{text}（自 {day}）"))
        })
    }

    /// Returns what to record.
    pub(in super::super) fn finding(&self, desk: &Desk<'_>) -> Option<Finding> {
        let count = self.count().filter(|count| *count > 0)?;
        let language = desk.language();
        let places = self.places.iter().take(10);
        let places: Vec<String> =
            places.map(|place| format!("- {}", self.item(place, language))).collect();
        let places = places.join("\n");
        let files = self.files.unwrap_or_default();
        let line = &self.count_line;
        Some(Finding {
            kind: Kind::Action,
            topic: "todo",
            titles: ["Work through TODO, FIXME, HACK and XXX", "清理 TODO、FIXME、HACK 与 XXX"].map(str::to_owned),
            content: language.pick(
                format!("{} in {} with a marker (`{line}`).\n\n{places}\n\nDone when each is resolved or has a note of its own.", counted(count, "line"), counted(files, "file")),
                format!("共 {count} 行带有标记，分布于 {files} 个文件（`{line}`）。\n\n{places}\n\n完成标准：每一处都已解决，或有单独的笔记。"),
            ),
        })
    }
}

/// Returns `path:line` as code, then the text of the line.
fn place_and_text(row: &str) -> String {
    match split_place(row) {
        Some((place, text)) => {
            format!("{} {}", code(place), code(&excerpt(text)))
        }
        None => code(row),
    }
}

/// Divides `path:line:text`; a path may hold colons of its own.
pub(in super::super) fn split_place(row: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    while let Some(colon) = row[from..].find(':').map(|at| from + at) {
        let rest = &row[colon + 1..];
        let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
        if digits > 0 && rest[digits..].starts_with(':') {
            return Some((&row[..colon + 1 + digits], &rest[digits + 1..]));
        }
        from = colon + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_in_any_path() {
        assert_eq!(
            split_place("a b/it's.py:12:  # TODO: x:1:y"),
            Some(("a b/it's.py:12", "  # TODO: x:1:y"))
        );
        assert_eq!(split_place("c:x/模块.py:3:"), Some(("c:x/模块.py:3", "")));
        assert_eq!(split_place("Binary file"), None);
    }
}

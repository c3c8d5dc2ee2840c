//! Markers of a merge that nobody finished.

use super::super::desk::{Desk, Looked, Output};
use super::super::lines::Which;
use super::super::page::{Page, code, counted};
use super::super::record::{Finding, Kind};
use super::super::scope::Scope;
use super::markers::split_place;

/// The conflict markers.
#[derive(Debug, Clone)]
pub(in super::super) struct Conflicts {
    count: Output,
    places: Vec<String>,
    line: String,
}

impl Conflicts {
    /// Looks.
    pub(in super::super) fn look(desk: &Desk<'_>, scope: &Scope) -> Looked<Self> {
        let pattern = "^<<<<<<< ";
        let line = format!("{} | wc -l", scope.files.grep("-h -E", pattern, Which::All));
        let places_line = format!(
            "{} | cut -c 1-200 | head -n 10",
            scope.files.grep("-n -E", pattern, Which::All)
        );
        let count = desk.run(&line)?;
        let places =
            if count.number() == Some(0) { Output::default() } else { desk.run(&places_line)? };
        let places = places.lines().filter_map(split_place).map(|(place, _)| place.to_owned());
        let places = places.collect();
        Ok(Self { count, places, line })
    }

    /// Writes the section; nothing when there are none.
    pub(in super::super) fn write(&self, page: &mut Page) {
        let language = page.language();
        let Some(count) = self.count.number() else {
            page.gap("merge conflicts could not be looked for", "无法查找合并冲突");
            return;
        };
        page.cite("conflict markers", "合并冲突标记", &self.line);
        if count == 0 {
            return;
        }
        page.heading("Unfinished merges", "未完成的合并");
        page.paragraph(&language.pick(
            format!("{} with a conflict marker:", counted(count, "line")),
            format!("{count} 行以冲突标记开头："),
        ));
        page.text_gap();
        for place in &self.places {
            page.item(&code(place));
        }
    }

    /// Returns whether all places are known.
    pub(in super::super) fn is_complete(&self) -> bool {
        self.count.number().is_some()
    }

    /// Returns what to record.
    pub(in super::super) fn finding(&self, desk: &Desk<'_>) -> Option<Finding> {
        let count = self.count.number().filter(|count| *count > 0)?;
        let places: Vec<String> =
            self.places.iter().map(|place| format!("- {}", code(place))).collect();
        let places = places.join("\n");
        let line = &self.line;
        Some(Finding {
            kind: Kind::Blocker,
            topic: "conflict",
            titles: ["Merge conflict markers in files", "文件中残留合并冲突标记"].map(str::to_owned),
            content: desk.language().pick(
                format!("{} with a conflict marker (`{line}`):\n\n{places}\n\nEffect: these files are neither one version nor the other.\n\nResolved when no such line is left.", counted(count, "line")),
                format!("{count} 行以冲突标记开头（`{line}`）：\n\n{places}\n\n影响：这些文件既不是一个版本也不是另一个版本。\n\n解决标准：不再有这样的行。"),
            ),
        })
    }
}

//! Since when lines stand as they are, by `git blame`.
//!
//! A line is as old as the commit that wrote it last; what was never committed has no age. Only the
//! places that an answer can show are looked at: blame reads the history of each file.

use std::collections::BTreeMap;

use super::super::desk::{Desk, Looked};
use super::super::lines::quoted;
use super::super::page::{Page, code};
use super::markers::split_place;

/// How many places are looked at, and how long the line may become.
const MOST: usize = 25;
const LONGEST: usize = 6_000;
/// What stands before the answer about a place; no line of blame begins like it.
const SIGN: &str = "= ";

/// The day of each place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ages {
    days: BTreeMap<String, String>,
}

impl Ages {
    /// Looks; nothing where there is no place, or where the time did not suffice.
    pub(super) fn look(desk: &Desk<'_>, rows: &[String]) -> Looked<Option<Self>> {
        let mut line = String::new();
        let mut places = Vec::new();
        let of_rows = rows.iter().filter_map(|row| Some(split_place(row)?.0));
        for place in of_rows.take(MOST) {
            // A file without a commit has a complaint, and no answer before the next sign.
            let blame = format!("echo '{SIGN}{}'; {} 2>/dev/null; ", places.len(), blame(place));
            if line.len() + blame.len() > LONGEST {
                break;
            }
            line.push_str(&blame);
            places.push(place);
        }
        if places.is_empty() {
            return Ok(None);
        }
        line.push_str("true");
        let output = desk.run(&line)?;
        Ok(output.is_answer().then(|| Self { days: days(output.lines(), &places) }))
    }

    /// Returns the day of a place, as `2026-11-30`.
    pub(super) fn since(&self, place: &str) -> Option<&str> {
        self.days.get(place).map(String::as_str)
    }

    /// Writes which place is the oldest.
    pub(super) fn write(&self, page: &mut Page, all: u64) {
        let oldest = self.days.iter().min_by_key(|(place, day)| (*day, *place));
        let Some((place, day)) = oldest else { return };
        if self.days.values().all(|other| other == day) {
            return;
        }
        let looked = self.days.len();
        page.cite(
            "since when a line stands there, here the oldest",
            "某行自何时起存在（以最早者为例）",
            &blame(place),
        );
        let place = code(place);
        let text = if looked as u64 == all {
            page.language().pick(
                format!("The oldest of them stands since {day}: {place}."),
                format!("其中最早的自 {day} 起存在：{place}。"),
            )
        } else {
            page.language().pick(
                format!("The oldest of the {looked} whose age was looked up stands since {day}: {place}."),
                format!("在查过时间的 {looked} 处中，最早的自 {day} 起存在：{place}。"),
            )
        };
        page.paragraph(&text);
    }
}

/// Returns the command that asks about a place.
fn blame(place: &str) -> String {
    let (path, number) = place.rsplit_once(':').unwrap_or((place, "1"));
    format!("git blame --date=short -L {number},{number} -- {}", quoted(path))
}

/// Reads what blame said between the signs.
fn days<'a>(lines: impl Iterator<Item = &'a str>, places: &[&str]) -> BTreeMap<String, String> {
    let mut days = BTreeMap::new();
    let mut place = None;
    for line in lines {
        if let Some(index) = line.strip_prefix(SIGN) {
            place = index.parse().ok().and_then(|index: usize| places.get(index));
        } else if let (Some(place), Some(day)) = (place, place.and_then(|place| day(line, place))) {
            days.insert((*place).to_owned(), day.to_owned());
        }
    }
    days
}

/// Returns the day of a line of blame, `4b825dc6 (Name of the author 2026-11-30 12) text`, where
/// the place is `path:12`; none when the line was not committed yet. A name may hold anything.
fn day<'a>(line: &'a str, place: &str) -> Option<&'a str> {
    let (commit, rest) = line.split_once(' ')?;
    if commit.trim_start_matches('^').starts_with("00000000") {
        return None;
    }
    let (_, number) = place.rsplit_once(':')?;
    let day = "[0-9]{4}-[0-9]{2}-[0-9]{2}";
    let pattern = regex::Regex::new(&format!(" ({day}) +{number}\\) ")).ok()?;
    Some(pattern.captures(rest)?.get(1)?.as_str())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn each_place_has_the_day_behind_its_sign() {
        let lines = [
            "= 0",
            "^4b825dc (Ana Berg 2021-03-04 12)   # TODO: (later) 2020-01-01 12) ",
            "= 1",
            "= 2",
            "00000000 (Not Committed Yet 2026-11-30 3) # TODO",
            "= 3",
            "4b825dc6 app/b.py (周 2022-05-06 7) # TODO",
        ];
        let days = days(lines.into_iter(), &["a.py:12", "new.py:1", "c.py:3", "b.py:7"]);
        let days: Vec<(&str, &str)> =
            days.iter().map(|(place, day)| (place.as_str(), day.as_str())).collect();
        assert_eq!(days, [("a.py:12", "2021-03-04"), ("b.py:7", "2022-05-06")]);
    }

    #[test]
    fn an_author_may_be_called_anything() {
        let line = "4b825dc6 (Ana (QA) 2020-01-01 2021-03-04 12)  x = 2019-01-01 12) ";
        assert_eq!(day(line, "a.py:12"), Some("2021-03-04"));
        assert_eq!(day("fatal: no such path", "a.py:12"), None);
    }
}

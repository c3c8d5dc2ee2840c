//! What the notes tool answers, as far as the rules read it: the notes of a list or a search, a
//! note's body.

use std::sync::LazyLock;

use regex::Regex;

static ID: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"note_\d{8}_\d{6}_\d+").ok());

/// Begins the line that ends what the rules wrote into a note, with a sum of it behind: a text
/// that has another sum was edited by a person. What stands below is a person's too.
const END: &str = "<!-- end of what the offline rules wrote";

/// A note as a list or a search shows it: `id (type, status) “title” [tags] time`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) status: String,
    pub(super) title: String,
    pub(super) tags: Vec<String>,
}

impl Entry {
    fn read(line: &str) -> Option<Self> {
        let id = first_id(line)?;
        let rest = line.trim_start().strip_prefix(&id)?.strip_prefix(" (")?;
        let (head, rest) = rest.split_once(") “")?;
        let (kind, status) = head.split_once(", ")?;
        let (title, rest) = rest.rsplit_once('”')?;
        let tags = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let tags = tags.map(|(tags, _)| tags.split(", ").map(str::to_owned).collect());
        Some(Self {
            id,
            kind: kind.to_owned(),
            status: status.to_owned(),
            title: title.to_owned(),
            tags: tags.unwrap_or_default(),
        })
    }

    /// Returns whether the matter is not settled.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.status.as_str(), "open" | "doing")
    }

    /// Returns whether it has a tag.
    pub(super) fn has_tag(&self, tag: &str) -> bool {
        self.tags.iter().any(|known| known == tag)
    }

    /// Returns the note on one line, for an answer.
    pub(super) fn shown(&self) -> String {
        let Self { id, kind, status, title, .. } = self;
        format!("`{id}` ({kind}, {status}) {title}")
    }
}

/// Returns the notes of a list or a search, in its order.
pub(super) fn entries(text: &str) -> Vec<Entry> {
    text.lines().filter_map(Entry::read).collect()
}

/// Returns whether a text is a list or what a search found, however short, and not a complaint.
pub(super) fn is_list(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.starts_with(|letter: char| letter.is_ascii_digit()) || first.starts_with("共 ")
}

/// Returns the first id in a text.
pub(super) fn first_id(text: &str) -> Option<String> {
    ID.as_ref()?.find(text).map(|found| found.as_str().to_owned())
}

/// Returns the body of a note that was read: what stands below the rule.
pub(super) fn body(text: &str) -> &str {
    text.split_once("\n---\n").map_or("", |(_, body)| body)
}

/// Returns the ids that a note that was read waits for.
pub(super) fn waits_for(text: &str) -> Vec<&str> {
    let head = text.split_once("\n---\n").map_or(text, |(head, _)| head);
    let line = head
        .lines()
        .find_map(|line| line.strip_prefix("depends on: ").or_else(|| line.strip_prefix("依赖: ")));
    line.map(|ids| ids.split(", ").collect()).unwrap_or_default()
}

/// Returns a content with the mark behind it, and behind that what a person wrote into the old
/// body: below the old mark, above it, or everywhere if the mark is gone.
pub(super) fn sealed(content: &str, old: &str) -> String {
    let content = content.trim();
    let old = Old::read(old);
    let mut kept = old.below.trim().to_owned();
    if old.sum.as_deref().is_none_or(|sum| sum != sum_of(old.above)) {
        // Which lines were the rules' is not known any more: those that they say again.
        let is_new = |line: &&str| !content.lines().any(|known| known.trim() == line.trim());
        let lines: Vec<&str> = old.above.lines().filter(is_new).collect();
        kept = format!("{}\n\n{kept}", lines.join("\n").trim());
    }
    let end = format!("{END} ({}) -->", sum_of(content));
    let kept = kept.trim();
    if kept.is_empty() {
        format!("{content}\n\n{end}\n")
    } else {
        format!("{content}\n\n{end}\n\n{kept}\n")
    }
}

/// Returns whether the rules wrote this content into a body, whatever became of it since.
pub(super) fn holds(body: &str, content: &str) -> bool {
    let old = Old::read(body);
    old.sum == Some(sum_of(content)) || old.sum.is_some() && old.above.trim() == content.trim()
}

/// A body that the rules wrote once.
struct Old<'a> {
    above: &'a str,
    /// The sum that the mark tells; none where there is no mark.
    sum: Option<String>,
    below: &'a str,
}

impl<'a> Old<'a> {
    fn read(body: &'a str) -> Self {
        let Some((above, rest)) = body.split_once(END) else {
            return Self { above: body, sum: None, below: "" };
        };
        let (mark, below) = rest.split_once('\n').unwrap_or((rest, ""));
        let told = mark.split_once('(').and_then(|(_, told)| told.split_once(')'));
        // Marks of old had no sum: what they are behind counts as not edited.
        let sum = told.map_or_else(|| sum_of(above), |(told, _)| told.to_owned());
        Self { above, sum: Some(sum), below }
    }
}

/// Returns a sum of a text that is the same whatever its line ends and empty lines are; FNV-1a.
fn sum_of(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let bytes = lines.flat_map(|line| line.bytes().chain([b'\n']));
    let sum =
        bytes.fold(0x811c_9dc5_u32, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    format!("{sum:08x}")
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_list_is_read_line_by_line() {
        let text = "2 of 2 notes, the newest change first\n\
            note_20250119_153000_0 (blocker, open) “`f” (x, y) in a.py” [shop, offline, todo] 2025-01-19T15:30:00\n\
            note_20250119_153000_1 (unreadable: no front matter)\n\
            note_20250119_153000_2 (general, done) “模型” 2025-01-19T15:30:00\n  a snippet note_20250119_153000_9";
        let read = entries(text);
        assert_eq!(read.len(), 2);
        assert_eq!(read[0].title, "`f” (x, y) in a.py");
        assert!(read[0].has_tag("offline") && read[0].is_live());
        assert_eq!((read[1].kind.as_str(), read[1].is_live()), ("general", false));
    }

    #[test]
    fn what_a_person_wrote_is_kept() {
        let end = |content: &str| format!("{END} ({}) -->", sum_of(content));
        let first = sealed("a\n- b\n", "");
        assert!(holds(&first, "a\n- b"));
        let edited = format!("{first}\nmine\n");
        let second = sealed("c", &edited);
        assert_eq!(second, format!("c\n\n{}\n\nmine\n", end("c")));
        assert!(holds(&second, "c") && !holds(&second, "a\n- b"));

        // Within what the rules wrote: as long as they find the same, the text is left alone.
        let within = edited.replace("- b", "- b, as Ann says").replace('\n', "\r\n");
        assert!(holds(&within, "a\n- b"));
        let third = sealed("a\n- c", &within);
        assert_eq!(third, format!("a\n- c\n\n{}\n\n- b, as Ann says\n\nmine\n", end("a\n- c")));
        assert_eq!(sealed("a\n- c", &third), third, "and it is kept once");
        // Without the mark all of it is a person's.
        assert!(!holds("a\nmy own words", "a"));
        assert_eq!(sealed("a", "a\nmy own words"), format!("a\n\n{}\n\nmy own words\n", end("a")));
        // A mark of old had no sum.
        let old = format!("a\n\n{END} -->\n\nmine\n");
        assert!(holds(&old, "a") && !holds(&old, "b"));
        assert_eq!(sealed("b", &old), format!("b\n\n{}\n\nmine\n", end("b")));
    }

    #[test]
    fn a_note_that_was_read_tells_what_it_waits_for() {
        let text = "note_1 (action, open) “x”\ntags: [a] · updated 2025\ndepends on: note_2, note_3\n---\nbody\n---\nmore";
        assert_eq!(waits_for(text), ["note_2", "note_3"]);
        assert_eq!(body(text), "body\n---\nmore");
    }
}

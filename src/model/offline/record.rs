//! Writing findings down: a finding has one note, which a later run finds by its title and changes
//! only when the finding changed.

use serde_json::json;

use super::desk::{Desk, Looked};
use super::memory::{self, Entry};
use super::page::Page;

/// Something to remember.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) kind: Kind,
    /// A tag.
    pub(super) topic: &'static str,
    /// One line; finds the note again.
    pub(super) title: String,
    pub(super) content: String,
}

/// The type of the note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A defect.
    Blocker,
    /// A next step.
    Action,
    /// Something established.
    Conclusion,
    /// Where the work stands.
    TaskState,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Blocker => "blocker",
            Self::Action => "action",
            Self::Conclusion => "conclusion",
            Self::TaskState => "task_state",
        }
    }
}

/// What became of the findings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Recorded {
    notes: Vec<Written>,
    failed: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Written {
    id: String,
    title: String,
    kind: Kind,
    how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Created,
    Updated,
    Unchanged,
}

/// Records the findings.
pub(super) fn record(desk: &Desk<'_>, findings: &[Finding]) -> Looked<Recorded> {
    if findings.is_empty() {
        return Ok(Recorded::default());
    }
    let list = json!({ "action": "list", "tags": ["offline"], "limit": 200 });
    let known = desk.note(&list)?.map(memory::entries).unwrap_or_default();
    let olds = findings.iter().map(|finding| Old::find(desk, &known, finding));
    // Every note is asked for before the first answer is waited for.
    let olds: Vec<Looked<Option<Old>>> = olds.collect();
    let olds = olds.into_iter().collect::<Looked<Vec<_>>>()?;
    let written = findings.iter().zip(olds).map(|(finding, old)| write(desk, finding, old));
    let written: Vec<Looked<Option<Written>>> = written.collect();
    let written = written.into_iter().collect::<Looked<Vec<_>>>()?;
    let notes: Vec<Written> = written.into_iter().flatten().collect();
    Ok(Recorded { failed: findings.len() - notes.len(), notes })
}

/// The note that a finding has already.
struct Old<'a> {
    id: String,
    body: &'a str,
}

impl<'a> Old<'a> {
    fn find(desk: &Desk<'a>, known: &[Entry], finding: &Finding) -> Looked<Option<Self>> {
        let Some(entry) = known.iter().find(|entry| entry.has_title(&finding.title)) else {
            return Ok(None);
        };
        let id = entry.id.clone();
        let body = desk.note(&json!({ "action": "read", "note_id": id }))?;
        Ok(Some(Self { id, body: body.unwrap_or_default() }))
    }
}

/// Creates the note or brings it up to date; none when that failed.
fn write(desk: &Desk<'_>, finding: &Finding, old: Option<Old<'_>>) -> Looked<Option<Written>> {
    let written = |id: String, how: How| {
        let (title, kind) = (finding.title.clone(), finding.kind);
        Some(Written { id, title, kind, how })
    };
    let Some(old) = old else {
        let tags = [&tag(&desk.turn().project), "offline", finding.topic];
        let answer = desk.note(&json!({
            "action": "create",
            "title": finding.title,
            "content": finding.content,
            "note_type": finding.kind.name(),
            "tags": tags,
        }))?;
        return Ok(answer.and_then(memory::first_id).and_then(|id| written(id, How::Created)));
    };
    if old.body.contains(finding.content.trim()) {
        return Ok(written(old.id, How::Unchanged));
    }
    let answer = desk.note(&json!({
        "action": "update", "note_id": old.id, "content": finding.content,
    }))?;
    let is_done = answer.is_some_and(|answer| answer.contains(&old.id));
    Ok(if is_done { written(old.id, How::Updated) } else { None })
}

impl Recorded {
    /// Returns whether a note was written here.
    pub(super) fn has(&self, id: &str) -> bool {
        self.notes.iter().any(|note| note.id == id)
    }

    /// Writes the section.
    pub(super) fn write(&self, page: &mut Page) {
        let language = page.language();
        if self.failed > 0 {
            let failed = self.failed;
            page.gap(
                &format!("{failed} findings could not be recorded as notes"),
                &format!("{failed} 条发现未能写入笔记"),
            );
        }
        if self.notes.is_empty() {
            return;
        }
        page.heading("Notes", "笔记");
        for note in &self.notes {
            let how = match note.how {
                How::Created => language.pick("new", "新建"),
                How::Updated => language.pick("updated", "更新"),
                How::Unchanged => language.pick("unchanged", "未变"),
            };
            let (id, kind, title) = (&note.id, note.kind.name(), &note.title);
            page.item(&format!("`{id}` ({kind}, {how}) {title}"));
        }
    }
}

/// Returns a name as a tag: without spaces and commas.
fn tag(name: &str) -> String {
    let tag: String = name
        .chars()
        .map(|letter| if letter.is_whitespace() || letter == ',' { '-' } else { letter })
        .collect();
    tag.chars().take(60).collect()
}

//! Writing findings down: a finding has one note, which a later run finds again and changes only
//! when the finding changed. What is found no more is closed, what was done and is found still is
//! opened again, which the answer says, and what a person dropped stays dropped.

use serde_json::{Value, json};

use super::desk::{Desk, Looked};
use super::memory::{self, Entry};
use super::page::{Page, counted};

/// Something to remember.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) kind: Kind,
    /// What it is about; a tag.
    pub(super) topic: &'static str,
    /// One line, in English and in Chinese: either finds the note again.
    pub(super) titles: [String; 2],
    pub(super) content: String,
}

impl Finding {
    /// Returns the title in the language of the turn.
    pub(super) fn title(&self, desk: &Desk<'_>) -> &str {
        let [english, chinese] = &self.titles;
        desk.language().pick(english, chinese)
    }

    fn is_in(&self, entry: &Entry) -> bool {
        entry.has_tag(self.topic) && self.titles.contains(&entry.title)
    }
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
    failed: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Written {
    id: String,
    title: String,
    kind: String,
    how: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Created,
    Updated,
    Unchanged,
    /// It was marked as done, and is measured still.
    Reopened,
    /// A person decided that it is not wanted.
    Dropped,
    /// It is found no more.
    Closed,
}

/// Records the findings, and closes the notes on `settled` topics that are not among them.
pub(super) fn record(desk: &Desk<'_>, findings: &[Finding], settled: &[&str]) -> Looked<Recorded> {
    if findings.is_empty() && settled.is_empty() {
        return Ok(Recorded::default());
    }
    let list = json!({ "action": "list", "tags": ["offline"], "limit": 500 });
    let known = desk.note(&list)?.map(memory::entries).unwrap_or_default();
    let olds = findings.iter().map(|finding| Old::find(desk, &known, finding));
    // Every note is asked for before the first answer is waited for.
    let olds: Vec<Looked<Option<Old<'_>>>> = olds.collect();
    let olds = olds.into_iter().collect::<Looked<Vec<_>>>()?;
    let gone = known.iter().filter(|entry| {
        let is_settled = settled.iter().any(|topic| entry.has_tag(topic));
        is_settled && entry.is_live() && !findings.iter().any(|finding| finding.is_in(entry))
    });
    let written: Vec<Looked<Option<Written>>> = findings
        .iter()
        .zip(olds)
        .map(|(finding, old)| write(desk, finding, old))
        .chain(gone.map(|entry| close(desk, entry)))
        .collect();
    let written = written.into_iter().collect::<Looked<Vec<_>>>()?;
    let failed = written.iter().filter(|written| written.is_none()).count() as u64;
    Ok(Recorded { notes: written.into_iter().flatten().collect(), failed })
}

/// The note that a finding has already.
struct Old<'a> {
    entry: Entry,
    body: &'a str,
}

impl<'a> Old<'a> {
    fn find(desk: &Desk<'a>, known: &[Entry], finding: &Finding) -> Looked<Option<Self>> {
        let Some(entry) = known.iter().find(|entry| finding.is_in(entry)) else {
            return Ok(None);
        };
        let text = desk.note(&json!({ "action": "read", "note_id": entry.id }))?;
        let body = text.map(memory::body).unwrap_or_default();
        Ok(Some(Self { entry: entry.clone(), body }))
    }
}

/// Creates the note or brings it up to date; none when that failed.
fn write(desk: &Desk<'_>, finding: &Finding, old: Option<Old<'_>>) -> Looked<Option<Written>> {
    let title = finding.title(desk);
    let written = |id: String, how: How| {
        let kind = finding.kind.name().to_owned();
        Some(Written { id, title: title.to_owned(), kind, how })
    };
    let Some(Old { entry, body }) = old else {
        let answer = desk.note(&json!({
            "action": "create",
            "title": title,
            "content": memory::sealed(&finding.content, ""),
            "note_type": finding.kind.name(),
            "tags": [tag(&desk.turn().project), "offline", finding.topic],
            "thread": "offline",
        }))?;
        let id = answer.and_then(memory::first_id);
        return Ok(id.and_then(|id| written(id, How::Created)));
    };
    if matches!(entry.status.as_str(), "dropped" | "superseded") {
        return Ok(written(entry.id, How::Dropped));
    }
    let mut changes = serde_json::Map::new();
    if !memory::holds(body, &finding.content) {
        changes.insert("content".into(), json!(memory::sealed(&finding.content, body)));
        // What a person wrote is kept, so nothing is lost.
        changes.insert("force".into(), json!(true));
    }
    if entry.title != title {
        changes.insert("title".into(), json!(title));
    }
    if entry.kind != finding.kind.name() {
        changes.insert("note_type".into(), json!(finding.kind.name()));
    }
    let reopens = !entry.is_live();
    if reopens {
        changes.insert("status".into(), json!("open"));
    }
    if changes.is_empty() {
        return Ok(written(entry.id, How::Unchanged));
    }
    let is_done = update(desk, &entry.id, changes)?;
    let how = if reopens { How::Reopened } else { How::Updated };
    Ok(if is_done { written(entry.id, how) } else { None })
}

/// Closes a note whose matter is found no more.
fn close(desk: &Desk<'_>, entry: &Entry) -> Looked<Option<Written>> {
    let changes = serde_json::Map::from_iter([("status".to_owned(), json!("done"))]);
    let is_done = update(desk, &entry.id, changes)?;
    let Entry { id, title, kind, .. } = entry.clone();
    Ok(is_done.then_some(Written { id, title, kind, how: How::Closed }))
}

fn update(desk: &Desk<'_>, id: &str, changes: serde_json::Map<String, Value>) -> Looked<bool> {
    let mut arguments = serde_json::Map::new();
    arguments.insert("action".into(), json!("update"));
    arguments.insert("note_id".into(), json!(id));
    arguments.extend(changes);
    let answer = desk.note(&Value::Object(arguments))?;
    Ok(answer.and_then(|answer| answer.lines().next()).is_some_and(|line| line.contains(id)))
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
            page.gap(
                &format!("notes that could not be written: {}", counted(self.failed, "finding")),
                &format!("{} 条发现未能写入笔记", self.failed),
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
                How::Reopened => language.pick(
                    "was done, open again because it is still found",
                    "曾标记完成，仍能测到，已重新打开",
                ),
                How::Dropped => language.pick("dropped by a person", "已由人放弃"),
                How::Closed => language.pick("closed, found no more", "已关闭，不再出现"),
            };
            let Written { id, kind, title, .. } = note;
            page.item(&format!("`{id}` ({kind}, {how}) {title}"));
        }
        if self.notes.iter().any(|note| note.how == How::Reopened) {
            page.text_gap();
            page.paragraph(language.pick(
                "`groundskeeper notes update ID --status dropped` closes one for good.",
                "`groundskeeper notes update ID --status dropped` 可使某条不再打开。",
            ));
        }
    }
}

/// Returns a name as a tag: without spaces and commas.
fn tag(name: &str) -> String {
    let plain = |letter: char| if letter.is_whitespace() || letter == ',' { '-' } else { letter };
    name.chars().map(plain).take(60).collect()
}

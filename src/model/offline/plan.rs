//! Plan: an order for the open work, from the notes alone.

use serde_json::json;

use super::desk::{Desk, Looked};
use super::memory::{self, Entry};
use super::page::Page;
use super::record::{Finding, Kind, record};

/// How many notes of a kind are read for their evidence.
const READ: usize = 8;

/// One open note.
#[derive(Debug, Clone)]
struct Work {
    entry: Entry,
    body: String,
}

/// Returns the answer once the notes were read and the state was recorded.
pub(super) fn answer(desk: &Desk<'_>) -> Looked<String> {
    let blockers = open(desk, "blocker");
    let actions = open(desk, "action");
    let states = desk.note(&json!({ "action": "list", "note_type": "task_state" }));
    let (blockers, actions, states) = (blockers?, actions?, states?);
    let language = desk.language();
    let states = states.map(memory::entries).unwrap_or_default();
    let blockers = read_all(desk, &blockers);
    let actions = read_all(desk, &actions);
    let (blockers, actions) = (blockers?, actions?);

    let mut page = Page::new(language);
    if blockers.is_empty() && actions.is_empty() {
        page.paragraph(language.pick(
            "There is no open blocker and no open action in the notes, so there is nothing to put in order. Run `groundskeeper analyze` to look for work.",
            "笔记中没有未解决的阻塞，也没有未完成的行动，因此没有可排序的工作。请先运行 `groundskeeper analyze`。",
        ));
        return Ok(page.finish());
    }
    let (count, steps) = (blockers.len(), actions.len());
    let state = state(desk, &blockers, &actions);
    let recorded = record(desk, &[state])?;
    page.paragraph(&language.pick(
        format!("{count} open blockers and {steps} open actions, in this order. Blockers come first, older ones before newer ones; then the actions."),
        format!("{count} 个未解决的阻塞，{steps} 个未完成的行动，顺序如下：先处理阻塞（旧的在前），再处理行动。"),
    ));
    for (english, chinese, work) in
        [("First: blockers", "首先：阻塞", &blockers), ("Then: actions", "然后：行动", &actions)]
    {
        if work.is_empty() {
            continue;
        }
        page.heading(english, chinese);
        for work in work {
            page.item(&work.describe());
        }
    }
    let others: Vec<&Entry> = states.iter().filter(|state| !recorded.has(&state.id)).collect();
    if !others.is_empty() {
        page.heading("Where the work stands", "当前状态");
        for state in others {
            page.item(tidy(&state.line));
        }
    }
    recorded.write(&mut page);
    Ok(page.finish())
}

fn open(desk: &Desk<'_>, kind: &str) -> Looked<Vec<Entry>> {
    let arguments = json!({ "action": "list", "note_type": kind, "status": "open", "limit": 50 });
    let mut entries = desk.note(&arguments)?.map(memory::entries).unwrap_or_default();
    // An id begins with the time: the oldest first.
    entries.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(entries)
}

fn read_all(desk: &Desk<'_>, entries: &[Entry]) -> Looked<Vec<Work>> {
    let work: Vec<Looked<Work>> = entries
        .iter()
        .enumerate()
        .map(|(index, entry)| {
            let body = if index < READ {
                let arguments = json!({ "action": "read", "note_id": entry.id });
                desk.note(&arguments)?.unwrap_or_default().to_owned()
            } else {
                String::new()
            };
            Ok(Work { entry: entry.clone(), body })
        })
        .collect();
    work.into_iter().collect()
}

impl Work {
    /// Returns the note's line and the first place that it names.
    fn describe(&self) -> String {
        let line = tidy(&self.entry.line);
        match first_place(&self.body) {
            Some(place) if !line.contains(place) => format!("{line} (`{place}`)"),
            Some(_) | None => line.to_owned(),
        }
    }
}

fn state(desk: &Desk<'_>, blockers: &[Work], actions: &[Work]) -> Finding {
    let language = desk.language();
    let list = |work: &[Work]| {
        let items = work.iter().map(|work| format!("- {}\n", tidy(&work.entry.line)));
        items.collect::<String>()
    };
    let (blocked, next) = (list(blockers), list(actions));
    let mut content = String::new();
    if !blocked.is_empty() {
        content.push_str(language.pick("## Blocked by\n\n", "## 阻塞\n\n"));
        content.push_str(&blocked);
        content.push('\n');
    }
    if !next.is_empty() {
        content.push_str(language.pick("## Next, in this order\n\n", "## 下一步（按顺序）\n\n"));
        content.push_str(&next);
    }
    let project = &desk.turn().project;
    Finding {
        kind: Kind::TaskState,
        topic: "plan",
        title: language.pick(format!("Open work of {project}"), format!("{project} 的未完成工作")),
        content,
    }
}

fn tidy(line: &str) -> &str {
    line.trim().trim_start_matches(['-', '*', ' '])
}

/// Returns the first `path:line` in backticks.
fn first_place(body: &str) -> Option<&str> {
    body.split('`').skip(1).step_by(2).find(|part| {
        let lines = part.rsplit_once(':').map(|(_, lines)| lines);
        lines.is_some_and(|lines| {
            lines.starts_with(|first: char| first.is_ascii_digit())
                && lines.chars().all(|letter| letter.is_ascii_digit() || letter == '-')
        })
    })
}

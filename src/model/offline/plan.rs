//! Plan: an order for the open work, from the notes alone.

use serde_json::json;

use super::desk::{Desk, Looked};
use super::memory::{self, Entry};
use super::page::{Page, counted};
use super::record::{Finding, Kind, record};

/// How many notes are read for their evidence and for what they wait for.
const READ: usize = 24;
/// Tags of work that has a word of its own, the cheap and certain ones first; other work stands
/// between the two ends.
const EASY: [&str; 2] = ["conflict", "project"];

/// One open note.
#[derive(Debug, Clone)]
struct Work {
    entry: Entry,
    text: String,
}

/// The open work in its order.
#[derive(Debug, Clone, Default)]
struct Order {
    blockers: Vec<Work>,
    ready: Vec<Work>,
    waiting: Vec<Work>,
}

/// Returns the answer once the notes were read and the state was recorded.
pub(super) fn answer(desk: &Desk<'_>) -> Looked<String> {
    let blockers = live(desk, "blocker");
    let actions = live(desk, "action");
    let states = live(desk, "task_state");
    let (blockers, actions, states) = (blockers?, actions?, states?);
    let work = read_all(desk, blockers.into_iter().chain(actions).collect())?;
    let language = desk.language();
    let mut page = Page::new(language);
    if !can_be_read(desk)? {
        page.paragraph(language.pick(
            "The notes could not be read, so nothing is known of open work. `groundskeeper notes doctor` tells what is wrong with them.",
            "无法读取笔记，因此不知道有哪些未完成的工作。`groundskeeper notes doctor` 会说明原因。",
        ));
        return Ok(page.finish());
    }
    if work.is_empty() {
        page.paragraph(language.pick(
            "There is no open blocker and no open action in the notes, so there is nothing to put in order. Run `groundskeeper analyze` to look for work.",
            "笔记中没有未解决的阻塞，也没有未完成的行动，因此没有可排序的工作。请先运行 `groundskeeper analyze`。",
        ));
        write_states(&mut page, &states);
        return Ok(page.finish());
    }
    let order = Order::of(work);
    let recorded = record(desk, &[order.state(desk)], &[])?;
    order.write(&mut page);
    let others: Vec<Entry> = states.into_iter().filter(|state| !recorded.has(&state.id)).collect();
    write_states(&mut page, &others);
    recorded.write(&mut page);
    Ok(page.finish())
}

impl Order {
    /// Blockers first, then what can be begun: work in progress, then what is done quickly, then
    /// by age; what waits for other notes comes last.
    fn of(work: Vec<Work>) -> Self {
        let live: Vec<String> = work.iter().map(|work| work.entry.id.clone()).collect();
        let mut order = Self::default();
        for work in work {
            let waits = memory::waits_for(&work.text);
            let is_waiting = waits.iter().any(|id| live.iter().any(|live| live == id));
            let list = match work.entry.kind.as_str() {
                _ if is_waiting => &mut order.waiting,
                "blocker" => &mut order.blockers,
                _ => &mut order.ready,
            };
            list.push(work);
        }
        for list in [&mut order.blockers, &mut order.ready, &mut order.waiting] {
            // An id begins with the time: the oldest first.
            list.sort_by_cached_key(|work| {
                let is_begun = work.entry.status == "doing";
                let is_easy = EASY.iter().any(|tag| work.entry.has_tag(tag));
                (!is_begun, !is_easy, work.entry.id.clone())
            });
        }
        order
    }

    fn parts(&self) -> [(&'static str, &'static str, &[Work]); 3] {
        [
            ("First: what blocks", "首先：阻塞", self.blockers.as_slice()),
            ("Then: what can be begun", "然后：可以开始的行动", self.ready.as_slice()),
            ("Later: what waits for others", "之后：等待其他事项", self.waiting.as_slice()),
        ]
    }

    fn write(&self, page: &mut Page) {
        let language = page.language();
        let [blockers, ready, waiting] =
            [&self.blockers, &self.ready, &self.waiting].map(|list| list.len() as u64);
        page.paragraph(&language.pick(
            format!(
                "{}, {} that can be begun, {waiting} waiting for others. In this order: what blocks, then what was begun, then what is done quickly, the older before the newer.",
                counted(blockers, "open blocker"),
                counted(ready, "action"),
            ),
            format!(
                "{blockers} 个未解决的阻塞，{ready} 个可以开始的行动，{waiting} 个等待其他事项。顺序：先阻塞，再已开始的，再容易完成的；旧的在前。"
            ),
        ));
        for (english, chinese, list) in self.parts() {
            if list.is_empty() {
                continue;
            }
            page.heading(english, chinese);
            for work in list {
                page.item(&work.describe());
            }
        }
    }

    /// Returns where the work stands, to be recorded.
    fn state(&self, desk: &Desk<'_>) -> Finding {
        let mut content = String::new();
        for (english, chinese, list) in self.parts() {
            if list.is_empty() {
                continue;
            }
            let heading = desk.language().pick(english, chinese);
            content.extend(["## ", heading, "\n\n"]);
            for work in list {
                content.extend(["- ", &work.describe(), "\n"]);
            }
            content.push('\n');
        }
        let project = &desk.turn().project;
        Finding {
            kind: Kind::TaskState,
            topic: "plan",
            titles: [format!("Open work of {project}"), format!("{project} 的未完成工作")],
            content,
        }
    }
}

impl Work {
    /// Returns the note on one line, and the first place that it names.
    fn describe(&self) -> String {
        let shown = self.entry.shown();
        match first_place(memory::body(&self.text)) {
            Some(place) => format!("{shown} — `{place}`"),
            None => shown,
        }
    }
}

fn live(desk: &Desk<'_>, kind: &str) -> Looked<Vec<Entry>> {
    let list = json!({ "action": "list", "note_type": kind, "limit": 200 });
    let entries = desk.note(&list)?.map(memory::entries).unwrap_or_default();
    Ok(entries.into_iter().filter(Entry::is_live).collect())
}

/// Returns whether the notes answer with a list at all.
fn can_be_read(desk: &Desk<'_>) -> Looked<bool> {
    let list = json!({ "action": "list", "note_type": "blocker", "limit": 200 });
    Ok(desk.note(&list)?.is_none_or(memory::is_list))
}

fn read_all(desk: &Desk<'_>, entries: Vec<Entry>) -> Looked<Vec<Work>> {
    let work = entries.into_iter().enumerate().map(|(index, entry)| {
        let text = if index < READ {
            desk.note(&json!({ "action": "read", "note_id": entry.id }))?.unwrap_or_default()
        } else {
            ""
        };
        Ok(Work { entry, text: text.to_owned() })
    });
    let work: Vec<Looked<Work>> = work.collect();
    work.into_iter().collect()
}

fn write_states(page: &mut Page, states: &[Entry]) {
    if states.is_empty() {
        return;
    }
    page.heading("Where the work stands", "当前状态");
    for state in states {
        page.item(&state.shown());
    }
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

//! A question: from the notes first, then from the files.

use serde_json::json;

use super::desk::{Desk, Looked};
use super::lookup;
use super::memory::{self, Entry};
use super::page::Page;
use super::scope::Scope;
use super::subjects;

/// Returns the answer once everything was looked at.
pub(super) fn answer(desk: &Desk<'_>) -> Looked<String> {
    let question = &desk.turn().question;
    let language = desk.language();
    let search = json!({ "action": "search", "query": shortened(question), "limit": 5 });
    let notes = desk.note(&search);
    let wants_notes = is_about_notes(question);
    let open = wants_notes.then(|| {
        let list = |kind: &str| json!({ "action": "list", "note_type": kind, "limit": 50 });
        (desk.note(&list("blocker")), desk.note(&list("action")))
    });
    let notes = notes?;
    let mut has_open = false;
    let mut entries = notes.map(memory::entries).unwrap_or_default();
    if let Some((blockers, actions)) = open {
        let lists = [blockers?, actions?];
        let mut open: Vec<Entry> = lists.into_iter().flatten().flat_map(memory::entries).collect();
        open.retain(Entry::is_live);
        has_open = !open.is_empty();
        entries.retain(|entry| !open.iter().any(|open| open.id == entry.id));
        open.append(&mut entries);
        entries = open;
    }
    let mut page = Page::new(language);
    let mut body = Page::new(language);
    let subjects = subjects::of(question);
    let mut found = !subjects.is_empty();
    // What was found and what comes first is in the notes, and needs no look.
    if entries.is_empty() || !wants_notes {
        let scope = Scope::look(desk)?;
        if scope.is_empty() {
            found = false;
        } else if subjects.is_empty() {
            let places = lookup::look(desk, &scope, question)?;
            found = places.iter().any(lookup::Places::is_found);
            lookup::write(&places, &mut body);
        } else {
            subjects::write(desk, &scope, &subjects, &mut body)?;
        }
    }
    page.paragraph(match (entries.is_empty(), found) {
        (false, _) if has_open => language.pick(
            "These are the open blockers and actions, and the notes that have words of the question.",
            "以下是未解决的阻塞与行动，以及含有问题中的词的笔记。",
        ),
        (false, _) => language.pick(
            "These notes have words of the question; whether they answer it, rules cannot tell.",
            "以下笔记含有问题中的词；是否回答了问题，规则无法判断。",
        ),
        (true, true) if !subjects.is_empty() => language.pick(
            "No note answers this. This is what the commands for its subject say.",
            "没有笔记回答这个问题。以下是相关命令给出的结果。",
        ),
        (true, true) => language.pick(
            "No note answers this. These are the places in the files that the words of the question lead to.",
            "没有笔记回答这个问题。以下是按问题中的词在文件里找到的位置。",
        ),
        (true, false) => language.pick(
            "No note answers this, and no word of the question stands in a file. Rules cannot answer more: ask with a language model, or name an identifier.",
            "没有笔记回答这个问题，问题中的词也没有出现在任何文件里。规则无法回答更多：请使用语言模型，或给出一个标识符。",
        ),
    });
    if !entries.is_empty() {
        page.heading("Notes", "笔记");
        for entry in entries.iter().take(12) {
            page.item(&entry.shown());
        }
    }
    page.append(body);
    Ok(page.finish())
}

/// Returns whether the question is about what was found or what comes next.
fn is_about_notes(question: &str) -> bool {
    const WORDS: &[&str] = &[
        "note",
        "did we find",
        "have we found",
        "found so far",
        "blocker",
        "problem",
        "what next",
        "comes next",
        "come next",
        "comes first",
        "come first",
        "next step",
        "do next",
        "should i do",
        "should we do",
        "do first",
        "blocking us",
        "what is blocking",
        "blocks us",
        "stands in the way",
        "open action",
        "actions are open",
        "plan",
        "what is left",
        "发现了",
        "笔记",
        "下一步",
        "接下来",
        "该做",
        "优先做",
        "先做",
        "计划",
        "问题有",
        "哪些问题",
        "阻塞",
    ];
    let question = question.to_lowercase();
    WORDS.iter().any(|word| question.contains(word))
}

fn shortened(question: &str) -> String {
    question.chars().take(300).collect()
}

//! What the tool `note` answers: compact text, the id on the first line, in the language of the
//! turn.

use std::fmt::Write;

use crate::notes::{
    Created, Entry, FormerState, Listing, Note, NoteId, SearchResult, Summary, Updated,
};
use crate::prompts::Language;
use crate::protocol::{Completeness, ToolOutput};

/// A new note.
pub(super) fn created(created: &Created, language: Language) -> ToolOutput {
    let note = &created.note;
    let mut text = match language {
        Language::En => format!("created note {}", head(note)),
        Language::Zh => format!("已创建笔记 {}", head(note)),
    };
    // Writing into a string cannot fail, here and below.
    _ = write!(text, "\n{} · hash {}", note.file, note.hash);
    if let Some(near) = &created.near_duplicate {
        let percent = (near.likeness * 100.0).round();
        _ = match language {
            Language::En => write!(
                text,
                "\nWarning: {} “{}” says almost the same ({percent} % of the words). Update one of the two and delete the other if they are one matter.",
                near.id, near.title
            ),
            Language::Zh => write!(
                text,
                "\n注意：{}“{}”的内容几乎相同（{percent}% 的词语重合）。若是同一件事，请更新其中一条并删除另一条。",
                near.id, near.title
            ),
        };
    }
    if let Some(former) = &created.former_state {
        text.push('\n');
        text.push_str(&after(former, language));
    }
    output(text, format!("created {}", head(note)))
}

/// The state that a new one comes after, in a sentence.
fn after(former: &FormerState, language: Language) -> String {
    let FormerState { id, title, thread } = former;
    match (language, thread) {
        (Language::En, Some(thread)) => format!(
            "{id} “{title}” was the current task_state of `{thread}` and is still open: set its `status` to `superseded` if this note takes its place."
        ),
        (Language::En, None) => format!(
            "{id} “{title}” was the current task_state and is still open: set its `status` to `superseded` if this note takes its place."
        ),
        (Language::Zh, Some(thread)) => format!(
            "{id}“{title}”此前是 `{thread}` 的当前 task_state，且仍未了结：若由本条取代，请将其 `status` 设为 `superseded`。"
        ),
        (Language::Zh, None) => format!(
            "{id}“{title}”此前是当前的 task_state，且仍未了结：若由本条取代，请将其 `status` 设为 `superseded`。"
        ),
    }
}

/// A note that is there already, word for word.
pub(super) fn existed(note: &Note, language: Language) -> ToolOutput {
    let text = match language {
        Language::En => format!(
            "nothing was created: this note is there already, word for word, as {}. Update it if there is more to say.",
            head(note)
        ),
        Language::Zh => {
            format!("未创建笔记：已有完全相同的笔记 {}。若有补充，请更新这一条。", head(note))
        }
    };
    output(text, format!("there already: {}", head(note)))
}

/// A whole note.
pub(super) fn read(note: &Note, language: Language) -> ToolOutput {
    let mut text = head(note);
    let (tags, updated, waits) = match language {
        Language::En => ("tags", "updated", "depends on"),
        Language::Zh => ("标签", "更新于", "依赖"),
    };
    _ = write!(text, "\n{tags}: [{}] · {updated} {}", note.tags.join(", "), note.updated_at);
    if let Some(thread) = &note.thread {
        _ = write!(text, " · thread: {thread}");
    }
    if !note.depends_on.is_empty() {
        _ = write!(text, "\n{waits}: {}", note.depends_on.join(", "));
    }
    for (key, value) in &note.extra {
        _ = write!(text, "\n{key}: {value}");
    }
    _ = write!(text, "\n---\n{}", note.content.replace("\r\n", "\n"));
    output(text, format!("read {}", head(note)))
}

/// What an update changed.
pub(super) fn updated(updated: &Updated, language: Language) -> ToolOutput {
    let note = &updated.note;
    if updated.changed.is_empty() {
        let text = match language {
            Language::En => format!("unchanged note {}: it says that already", head(note)),
            Language::Zh => format!("笔记 {} 未改动：内容已是如此", head(note)),
        };
        return output(text, format!("unchanged {}", head(note)));
    }
    let changed = updated.changed.join("; ");
    let mut text = match language {
        Language::En => format!("updated note {}\nchanged: {changed}", head(note)),
        Language::Zh => format!("已更新笔记 {}\n改动：{changed}", head(note)),
    };
    if updated.merged {
        text.push_str(match language {
            Language::En => "\nSomebody else changed the note since you read it; both changes were merged. Read it again before you change more.",
            Language::Zh => "\n自你读取后有人改动了这条笔记，两处改动已合并。继续修改前请重新读取。",
        });
    }
    output(text, format!("updated {}: {changed}", note.id))
}

/// A note that is gone.
pub(super) fn deleted(note: &Note, language: Language) -> ToolOutput {
    let text = match language {
        Language::En => {
            format!("deleted note {}; `groundskeeper notes undo` brings it back", head(note))
        }
        Language::Zh => format!("已删除笔记 {}；`groundskeeper notes undo` 可恢复", head(note)),
    };
    output(text, format!("deleted {}", head(note)))
}

/// What a search found, and what it did not look at.
pub(super) fn found(query: &str, result: &SearchResult, language: Language) -> ToolOutput {
    let (shown, total, searched) = (result.hits.len(), result.total, result.searched);
    let mut text = match language {
        Language::En => format!("{shown} of {total} matching notes ({searched} searched)"),
        Language::Zh => format!("匹配 {total} 条笔记，显示 {shown} 条（共搜索 {searched} 条）"),
    };
    if result.hidden > 0 {
        _ = match language {
            Language::En => write!(
                text,
                "; {} superseded or dropped ones left out, `status` shows them",
                result.hidden
            ),
            Language::Zh => {
                write!(text, "；另有 {} 条已被取代或放弃，可用 `status` 查看", result.hidden)
            }
        };
    }
    text.push_str(&unreadable(result.unreadable, language));
    if !result.missing_terms.is_empty() {
        let terms = result.missing_terms.join(", ");
        _ = match language {
            Language::En => write!(text, "; in no note: {terms}"),
            Language::Zh => write!(text, "；所有笔记中都没有：{terms}"),
        };
    }
    if let Some(problem) = &result.unscored {
        _ = match language {
            Language::En => write!(text, "; ranked by words alone: {problem}"),
            Language::Zh => write!(text, "；仅按词语排序：{problem}"),
        };
    }
    for hit in &result.hits {
        _ = write!(text, "\n{}\n  {}", line(&hit.entry), hit.snippet);
    }
    let summary = format!("searched notes for “{query}”: {total} found");
    cut(output(text, summary), shown < total)
}

/// A list, the newest change first.
pub(super) fn listed(listing: &Listing, language: Language) -> ToolOutput {
    let (shown, total) = (listing.notes.len(), listing.total);
    let mut text = match language {
        Language::En => format!("{shown} of {total} notes, the newest change first"),
        Language::Zh => format!("共 {total} 条笔记，显示最近更新的 {shown} 条"),
    };
    text.push_str(&unreadable(listing.unreadable.len(), language));
    for entry in &listing.notes {
        _ = write!(text, "\n{}", line(entry));
    }
    cut(output(text, format!("listed {shown} of {total} notes")), shown < total)
}

/// All notes in a few lines.
pub(super) fn summary(summary: &Summary, language: Language) -> ToolOutput {
    let kinds: Vec<String> =
        summary.type_distribution.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
    let (total, kinds) = (summary.total_notes, kinds.join(", "));
    let mut text = match language {
        Language::En => format!("{total} notes: {kinds}"),
        Language::Zh => format!("共 {total} 条笔记：{kinds}"),
    };
    text.push_str(&unreadable(summary.unreadable.len(), language));
    let titles = match language {
        Language::En => ["open blockers", "ready actions", "changed last"],
        Language::Zh => ["未解决的阻塞", "可执行的行动", "最近更新"],
    };
    let lists = [&summary.open_blockers, &summary.ready_actions, &summary.recent_notes];
    for (title, entries) in titles.into_iter().zip(lists) {
        if entries.is_empty() {
            continue;
        }
        _ = write!(text, "\n{title}:");
        for entry in entries.iter().take(SHOWN_IN_SUMMARY) {
            _ = write!(text, "\n  {}", line(entry));
        }
        if let Some(rest) = entries.len().checked_sub(SHOWN_IN_SUMMARY).filter(|rest| *rest > 0) {
            _ = match language {
                Language::En => write!(text, "\n  and {rest} more, see `list`"),
                Language::Zh => write!(text, "\n  另有 {rest} 条，见 `list`"),
            };
        }
    }
    output(text, format!("{total} notes"))
}

/// So many notes of a kind stand in a summary.
const SHOWN_IN_SUMMARY: usize = 10;

fn head(note: &Note) -> String {
    format!("{} ({}, {}) “{}”", note.id, note.kind, note.status, note.title)
}

fn line(entry: &Entry) -> String {
    let id = entry.id.as_ref().map_or(entry.file.as_str(), NoteId::as_str);
    if let Some(problem) = &entry.problem {
        return format!("{id} (unreadable: {problem})");
    }
    let tags =
        if entry.tags.is_empty() { String::new() } else { format!(" [{}]", entry.tags.join(", ")) };
    format!("{id} ({}, {}) “{}”{tags} {}", entry.kind, entry.status, entry.title, entry.updated_at)
}

fn unreadable(count: usize, language: Language) -> String {
    match (count, language) {
        (0, _) => String::new(),
        (_, Language::En) => format!("; {count} more cannot be understood"),
        (_, Language::Zh) => format!("；另有 {count} 个文件无法解析"),
    }
}

fn output(for_model: String, summary: String) -> ToolOutput {
    ToolOutput { for_model, summary, ..ToolOutput::default() }
}

fn cut(mut output: ToolOutput, is_cut: bool) -> ToolOutput {
    if is_cut {
        output.completeness = Completeness::Cut;
    }
    output
}

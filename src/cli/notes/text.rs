//! What people read: columns that line up, Chinese titles included.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::notes::{
    Checkup, Deleted, Entry, Imported, Listing, Note, NoteId, SearchResult, Severity, Summary,
    Undone, Updated,
};
use crate::support::plural::counted;

/// A whole note, as its front matter and its body.
pub(super) fn note(note: &Note) -> String {
    let mut text = format!("{}\n", note.title);
    // Writing into a string cannot fail, here and below.
    _ = writeln!(text, "{} · {} · {}", note.id, note.kind, note.status);
    if !note.tags.is_empty() {
        _ = writeln!(text, "tags: {}", note.tags.join(", "));
    }
    if let Some(thread) = &note.thread {
        _ = writeln!(text, "thread: {thread}");
    }
    if !note.depends_on.is_empty() {
        _ = writeln!(text, "depends on: {}", note.depends_on.join(", "));
    }
    for (key, value) in &note.extra {
        _ = writeln!(text, "{key}: {value}");
    }
    _ = writeln!(text, "created {} · updated {}", note.created_at, note.updated_at);
    _ = writeln!(text, "\n{}", note.content.trim_end());
    text
}

/// What an update changed.
pub(super) fn updated(updated: &Updated) -> String {
    let id = &updated.note.id;
    if updated.changed.is_empty() {
        return format!("{id} says that already\n");
    }
    let merged = if updated.merged { ", merged with a change made meanwhile" } else { "" };
    format!("updated {id}: {}{merged}\n", updated.changed.join("; "))
}

/// What was deleted.
pub(super) fn deleted(deleted: &Deleted) -> String {
    let Deleted { id, title, problem } = deleted;
    match problem {
        None => format!("deleted {id}: {title}\n"),
        Some(problem) => {
            format!(
                "deleted {title}, which could not be understood: {problem}\n`groundskeeper notes undo` brings it back\n"
            )
        }
    }
}

/// What was taken back, and where a note is that is gone by that.
pub(super) fn undone(undone: &Undone) -> String {
    let what = match undone.what {
        "create" => "creation",
        "delete" => "deletion",
        other => other,
    };
    let Undone { id, title, kept, .. } = undone;
    let mut text = format!("took the {what} of {id} back");
    if !title.is_empty() {
        _ = write!(text, ": {title}");
    }
    text.push('\n');
    if let Some(place) = kept {
        _ = writeln!(text, "it is kept as {}", place.display());
    }
    text
}

/// Hits with their best line, and what was not looked at.
pub(super) fn search(result: &SearchResult) -> String {
    let mut text = String::new();
    for hit in &result.hits {
        _ = writeln!(text, "{}", line(&hit.entry, 0));
        if !hit.snippet.is_empty() {
            _ = writeln!(text, "    {}", hit.snippet);
        }
    }
    let (shown, total, searched) = (result.hits.len(), result.total, result.searched);
    _ = write!(text, "{shown} of {total} matching notes, {searched} searched");
    if result.hidden > 0 {
        _ = write!(text, ", {} superseded or dropped left out", result.hidden);
    }
    if !result.missing_terms.is_empty() {
        _ = write!(text, "; in no note: {}", result.missing_terms.join(", "));
    }
    text.push('\n');
    text
}

/// A line a note.
pub(super) fn list(listing: &Listing) -> String {
    let width =
        listing.notes.iter().map(|note| note.title.width()).max().unwrap_or(0).min(WIDEST_TITLE);
    let mut text = String::new();
    for note in &listing.notes {
        _ = writeln!(text, "{}", line(note, width));
    }
    let (shown, total) = (listing.notes.len(), listing.total);
    if shown < total {
        _ = writeln!(text, "{shown} of {total} notes; `--limit` shows more");
    } else {
        _ = writeln!(text, "{}", counted(total, "note", "notes"));
    }
    text
}

/// Counts, what is open, what changed last.
pub(super) fn summary(summary: &Summary) -> String {
    let kinds: Vec<String> =
        summary.type_distribution.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let total = summary.total_notes;
    let mut text = counted(total, "note", "notes");
    if !kinds.is_empty() {
        _ = write!(text, ": {}", kinds.join(", "));
    }
    text.push('\n');
    let lists = [
        ("open blockers", &summary.open_blockers),
        ("ready actions", &summary.ready_actions),
        ("changed last", &summary.recent_notes),
    ];
    for (title, entries) in lists {
        if entries.is_empty() {
            continue;
        }
        _ = writeln!(text, "\n{title}:");
        for entry in entries.iter().take(SHOWN) {
            _ = writeln!(text, "  {}", line(entry, 0));
        }
        if entries.len() > SHOWN {
            _ = writeln!(text, "  and {} more", entries.len() - SHOWN);
        }
    }
    text
}

/// What came in from another folder.
pub(super) fn imported(imported: &Imported) -> String {
    let mut text = String::new();
    for (id, file) in &imported.notes {
        _ = writeln!(text, "{id}  from {file}");
    }
    _ = write!(text, "{} imported", imported.notes.len());
    if !imported.already_here.is_empty() {
        _ = write!(text, ", {} already here", imported.already_here.len());
    }
    if !imported.problems.is_empty() {
        _ = write!(text, ", {} left out", imported.problems.len());
    }
    text.push('\n');
    text
}

/// What is wrong, and what was repaired.
pub(super) fn checkup(checkup: &Checkup) -> String {
    let mut text = String::new();
    for finding in &checkup.findings {
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let severity = match (&finding.repaired, finding.severity) {
            (Some(_), _) => "repaired",
            (None, Severity::Error) => "error",
            (None, Severity::Warning) => "warning",
        };
        _ = writeln!(text, "{}{line}: {severity}: {}", finding.file, finding.message);
        if let Some(diff) = &finding.repaired {
            text.push_str(diff);
        }
    }
    let open = checkup.findings.iter().filter(|finding| finding.repaired.is_none());
    let (open, fixable) = open.fold((0, 0), |(open, fixable), finding| {
        (open + 1, fixable + usize::from(finding.fixable))
    });
    let files = counted(checkup.files, "file", "files");
    _ = writeln!(text, "{files}, {}", counted(open, "finding", "findings"));
    if fixable > 0 {
        _ = writeln!(text, "`groundskeeper notes doctor --fix` repairs {fixable} of them");
    }
    text
}

/// A longer title moves what is behind it.
const WIDEST_TITLE: usize = 60;

/// So many notes of a kind stand in a summary.
const SHOWN: usize = 20;

fn line(entry: &Entry, width: usize) -> String {
    let id = entry.id.as_ref().map_or(entry.file.as_str(), NoteId::as_str);
    if let Some(problem) = &entry.problem {
        return format!("{id}  cannot be understood: {problem}");
    }
    let padding = " ".repeat(width.saturating_sub(entry.title.width()));
    let tags = if entry.tags.is_empty() {
        String::new()
    } else {
        format!("  [{}]", entry.tags.join(", "))
    };
    let status = format!("{}/{}", entry.kind, entry.status);
    format!("{id}  {status:<20}  {}{padding}{tags}", entry.title).trim_end().to_owned()
}

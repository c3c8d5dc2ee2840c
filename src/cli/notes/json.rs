//! The documents that `--json` prints.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::notes::{
    Checkup, Created, Entry, Finding, Imported, Listing, Note, NoteId, SearchResult, Severity,
    Summary, Updated,
};

/// A new note.
pub(super) fn created(created: &Created, folder: &Path) -> Value {
    let note = &created.note;
    json!({
        "id": note.id.as_str(),
        "title": note.title,
        "type": note.kind.as_str(),
        "file_path": folder.join(&note.file).to_string_lossy(),
        "hash": note.hash,
        "near_duplicate": created.near_duplicate.as_ref().map(|near| json!({
            "id": near.id.as_str(),
            "title": near.title,
            "likeness": near.likeness,
        })),
        "former_state": created.former_state.as_ref().map(|former| json!({
            "id": former.id.as_str(),
            "title": former.title,
            "thread": former.thread,
        })),
    })
}

/// A whole note.
pub(super) fn note(note: &Note) -> Value {
    json!({
        "id": note.id.as_str(),
        "title": note.title,
        "type": note.kind.as_str(),
        "status": note.status.as_str(),
        "tags": note.tags,
        "created_at": note.created_at,
        "updated_at": note.updated_at,
        "thread": note.thread,
        "depends_on": note.depends_on,
        "extra": note.extra,
        "file": note.file,
        "hash": note.hash,
        "content": note.content,
    })
}

/// What an update changed.
pub(super) fn updated(updated: &Updated) -> Value {
    json!({
        "id": updated.note.id.as_str(),
        "changed": updated.changed,
        "merged": updated.merged,
        "hash": updated.note.hash,
    })
}

/// What a search found.
pub(super) fn search(query: &str, result: &SearchResult) -> Value {
    let hits: Vec<Value> = result
        .hits
        .iter()
        .map(|hit| {
            let mut object = entry(&hit.entry);
            object.insert("score".to_owned(), json!(hit.score));
            object.insert("snippet".to_owned(), json!(hit.snippet));
            Value::Object(object)
        })
        .collect();
    json!({
        "query": query,
        "hits": hits,
        "total": result.total,
        "searched": result.searched,
        "hidden": result.hidden,
        "unreadable": result.unreadable,
        "missing_terms": result.missing_terms,
    })
}

/// A list of notes.
pub(super) fn list(listing: &Listing, folder: &Path) -> Value {
    let notes: Vec<Value> = listing
        .notes
        .iter()
        .map(|note| {
            let mut object = entry(note);
            let path = folder.join(&note.file);
            object.insert("file_path".to_owned(), json!(path.to_string_lossy()));
            Value::Object(object)
        })
        .collect();
    json!({ "notes": notes, "total": listing.total, "unreadable": unreadable(&listing.unreadable) })
}

/// All notes in short.
pub(super) fn summary(summary: &Summary) -> Value {
    let short = |entries: &[Entry]| -> Vec<Value> {
        let one = |note: &Entry| {
            json!({
                "id": note.id.as_ref().map(NoteId::as_str),
                "title": note.title,
                "type": note.kind.as_str(),
                "updated_at": note.updated_at,
            })
        };
        entries.iter().map(one).collect()
    };
    let kinds: Map<String, Value> = summary
        .type_distribution
        .iter()
        .map(|(kind, count)| (kind.to_string(), json!(count)))
        .collect();
    let statuses: Map<String, Value> = summary
        .status_distribution
        .iter()
        .map(|(status, count)| (status.to_string(), json!(count)))
        .collect();
    json!({
        "total_notes": summary.total_notes,
        "type_distribution": kinds,
        "status_distribution": statuses,
        "recent_notes": short(&summary.recent_notes),
        "open_blockers": short(&summary.open_blockers),
        "ready_actions": short(&summary.ready_actions),
        "unreadable": unreadable(&summary.unreadable),
    })
}

/// What came in from another folder.
pub(super) fn imported(imported: &Imported) -> Value {
    let notes: Vec<Value> = imported
        .notes
        .iter()
        .map(|(id, file)| json!({ "id": id.as_str(), "from": file }))
        .collect();
    let problems: Vec<Value> = imported
        .problems
        .iter()
        .map(|(file, problem)| json!({ "file": file, "problem": problem }))
        .collect();
    json!({ "notes": notes, "already_here": imported.already_here, "problems": problems })
}

/// What is wrong, and what was repaired.
pub(super) fn checkup(checkup: &Checkup) -> Value {
    let one = |finding: &Finding| {
        json!({
            "file": finding.file,
            "line": finding.line,
            "severity": match finding.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            "message": finding.message,
            "fixable": finding.fixable,
            "repaired": finding.repaired,
        })
    };
    let findings: Vec<Value> = checkup.findings.iter().map(one).collect();
    json!({ "files": checkup.files, "findings": findings })
}

/// That something was done to a note.
pub(super) fn done(id: &impl ToString, title: &str, action: &str) -> Value {
    json!({ "id": id.to_string(), "title": title, "action": action })
}

fn entry(entry: &Entry) -> Map<String, Value> {
    let pairs = [
        ("id", json!(entry.id.as_ref().map(NoteId::as_str))),
        ("title", json!(entry.title)),
        ("type", json!(entry.kind.as_str())),
        ("status", json!(entry.status.as_str())),
        ("tags", json!(entry.tags)),
        ("created_at", json!(entry.created_at)),
        ("updated_at", json!(entry.updated_at)),
        ("file", json!(entry.file)),
    ];
    let mut object: Map<String, Value> =
        pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    if let Some(problem) = &entry.problem {
        object.insert("problem".to_owned(), json!(problem));
    }
    object
}

fn unreadable(entries: &[Entry]) -> Vec<Value> {
    let one = |entry: &Entry| json!({ "file": entry.file, "problem": entry.problem });
    entries.iter().map(one).collect()
}

//! The note tool of chapter 9.4 without a model and without a network: a day of notes in a folder
//! of its own, which is removed at the end.
//!
//! ```text
//! cargo run --example note_tool
//! ```

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;

use groundskeeper::protocol::ToolFailure;
use groundskeeper::tools::NoteTool;
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let notes = NoteTool::in_folder(folder.path().join("project_notes"));

    show(
        &notes,
        &json!({
            "action": "create",
            "title": "Refactoring, phase 1",
            "content": "## Done\nThe data layer is moved; tests cover 85 percent.\n\n## Next\nThe order service.",
            "note_type": "task_state",
            "tags": ["refactoring", "phase1"]
        }),
    )?;
    show(
        &notes,
        &json!({
            "action": "create",
            "title": "依赖冲突问题",
            "content": "flask 3 需要 werkzeug 3，影响业务逻辑层的 3 个模块。",
            "note_type": "blocker",
            "tags": "dependency, urgent"
        }),
    )?;
    show(&notes, &json!({"action": "search", "query": "哪些模块被依赖冲突影响？", "limit": 3}))?;
    show(&notes, &json!({"action": "summary"}))?;

    // The end of an id is enough; what is not named stays byte for byte.
    let blockers = notes.store().open_blockers()?;
    let id = blockers[0].id.as_str();
    show(&notes, &json!({"action": "update", "note_id": id, "status": "done"}))?;
    show(&notes, &json!({"action": "list", "status": "open"}))?;

    // What cannot be meant is refused with a sentence that a model can act on.
    match notes.run(&json!({"action": "create", "title": "x", "content": "y", "note_type": "bug"}))
    {
        Err(ToolFailure { for_model, .. }) => println!("refused: {for_model}\n"),
        Ok(output) => return Err(format!("taken: {}", output.for_model).into()),
    }

    let path = folder.path().join("project_notes").join(format!("{id}.md"));
    println!("{}", std::fs::read_to_string(path)?);
    Ok(())
}

fn show(notes: &NoteTool, parameters: &Value) -> Result<(), Box<dyn Error>> {
    let output = notes.run(parameters).map_err(|failure| failure.for_model)?;
    println!("> {parameters}\n{}\n", output.for_model);
    Ok(())
}

#![expect(clippy::disallowed_methods, reason = "a test writes files as people do")]

use serde_json::json;
use tempfile::TempDir;

use super::*;
use crate::protocol::Completeness;
use crate::tools::ToolRegistry;

fn tool() -> (TempDir, NoteTool) {
    let folder = tempfile::tempdir().unwrap();
    let tool = NoteTool::in_folder(folder.path().join("notes"));
    (folder, tool)
}

fn create(tool: &NoteTool, title: &str) -> String {
    let parameters = json!({"action": "create", "title": title, "content": "body of it"});
    let output = tool.run(&parameters).unwrap();
    let Effect::Note(change) = &output.effects[0] else { panic!("{:?}", output.effects) };
    assert!(output.for_model.lines().next().unwrap().contains(&change.id));
    change.id.clone()
}

#[test]
fn the_examples_of_the_book_work() {
    let (_folder, tool) = tool();
    let output = tool
        .run(&json!({
            "action": "create",
            "title": "依赖冲突问题",
            "content": "发现某些第三方库版本不兼容,需要解决。影响范围:业务逻辑层的3个模块。",
            "note_type": "blocker",
            "tags": ["dependency", "urgent"]
        }))
        .unwrap();
    let Effect::Note(change) = &output.effects[0] else { panic!() };
    assert_eq!((change.action.as_str(), change.note_type.as_str()), ("create", "blocker"));
    let found = tool
        .run(&json!({"action": "search", "query": "版本冲突影响哪些模块", "limit": 3}))
        .unwrap();
    assert!(found.for_model.contains(&change.id), "{}", found.for_model);
    assert_eq!(found.effects, []);
    let summary = tool.run(&json!({"action": "summary"})).unwrap().for_model;
    assert!(summary.starts_with("1 notes: blocker 1\nopen blockers:\n"), "{summary}");
    let read = tool.run(&json!({"action": "read", "note_id": change.id})).unwrap().for_model;
    assert!(read.contains("tags: [dependency, urgent]") && read.contains("3个模块"), "{read}");
}

#[test]
fn a_new_state_names_the_one_that_was_current_in_a_sentence() {
    let (_folder, tool) = tool();
    let write = |title: &str, language: Language| {
        let arguments = json!({"action": "create", "title": title, "content": title,
            "note_type": "task_state", "tags": ["phase1"]});
        tool.act(&serde_json::from_value(arguments).unwrap(), language).unwrap()
    };
    let first = write("first state", Language::En);
    assert_eq!(first.for_model.lines().count(), 2, "{}", first.for_model);
    let Effect::Note(change) = &first.effects[0] else { panic!() };
    let second = write("second state", Language::En).for_model;
    let expected = format!(
        "{} “first state” was the current task_state of `phase1` and is still open: set its \
         `status` to `superseded` if this note takes its place.",
        change.id
    );
    assert_eq!(second.lines().last(), Some(expected.as_str()));
    let third = write("third state", Language::Zh).for_model;
    assert!(third.lines().last().unwrap().contains("“second state”此前是 `phase1`"), "{third}");
}

#[test]
fn a_note_that_is_there_word_for_word_is_not_written_again() {
    let (_folder, tool) = tool();
    let id = create(&tool, "Checkout is slow");
    let again = |note_type: &str, content: &str, status: Option<&str>| {
        let mut parameters = json!({"action": "create", "title": "Checkout is slow",
            "content": content, "note_type": note_type});
        if let Some(status) = status {
            parameters["status"] = json!(status);
        }
        tool.run(&parameters).unwrap()
    };
    let output = again("general", "body of it\n", None);
    assert!(output.for_model.starts_with("nothing was created: "), "{}", output.for_model);
    assert!(output.for_model.contains(&id) && output.effects.is_empty());
    assert_eq!(output, again("general", "body of it", None), "so that a loop is seen");
    // What differs in the type or by a letter is another note.
    assert_eq!(again("blocker", "body of it", None).effects.len(), 1);
    assert_eq!(again("general", "Body of it", None).effects.len(), 1);
    // And so is one that comes back after it was settled.
    tool.run(&json!({"action": "update", "note_id": id, "status": "done"})).unwrap();
    assert_eq!(again("general", "body of it", None).effects.len(), 1);
}

#[test]
fn what_is_meant_is_taken() {
    let (_folder, tool) = tool();
    for number in 0..4 {
        create(&tool, &format!("number {number}"));
    }
    let listed = tool.run(&json!({"action": "list", "limit": "3"})).unwrap();
    assert_eq!(listed.for_model.lines().count(), 4);
    assert_eq!(listed.completeness, Completeness::Cut);
    let id = create(&tool, "tagged");
    tool.run(&json!({"action": "update", "id": id, "tags": "a, b", "title": null})).unwrap();
    assert_eq!(tool.store().read(&id).unwrap().tags, ["a", "b"]);
    tool.run(&json!({"action": "UPDATE", "note_id": id, "tags": "[\"c\"]"})).unwrap();
    assert_eq!(tool.store().read(&id).unwrap().tags, ["c"]);
}

#[test]
fn what_other_languages_and_models_write_is_taken() {
    let (_folder, tool) = tool();
    let id = create(&tool, "first");
    let tags_of = |tags: Value| {
        tool.run(&json!({"action": "update", "note_id": id, "tags": ["before"]})).unwrap();
        tool.run(&json!({"action": "update", "note_id": id, "tags": tags})).unwrap();
        tool.store().read(&id).unwrap().tags
    };
    for tags in [json!("['a', 'b']"), json!("[a, \"b\"]"), json!(["a", null, ["b"], "a", " "])] {
        assert_eq!(tags_of(tags.clone()), ["a", "b"], "{tags}");
    }
    assert_eq!(tags_of(json!(12)), ["12"]);
    for limit in [json!("5.0"), json!(1e9), json!(5000), json!(""), json!(10_u64.pow(19))] {
        let listed = tool.run(&json!({"action": "list", "limit": limit})).unwrap();
        assert_eq!(listed.for_model.lines().count(), 2, "{limit}");
    }
    let parameters = json!({"Action": "create_note", "title": " second \n", "body": "of it",
        "noteType": "Blockers", "tag": "x", "depends_on": [&id[5..]], "force": "True"});
    let made = tool.run(&parameters).unwrap();
    let Effect::Note(change) = &made.effects[0] else { panic!() };
    let note = tool.store().read(&format!("`{}`", change.id.to_uppercase())).unwrap();
    assert_eq!((note.title.as_str(), note.content.as_str()), ("second", "of it"));
    assert_eq!((note.kind.as_str(), note.tags[0].as_str()), ("blocker", "x"));
    assert_eq!(note.depends_on, [id.as_str()]);
    for kind in ["task state", "结论"] {
        let listed = tool.run(&json!({"action": "list", "type": kind, "status": "OPEN"})).unwrap();
        assert!(listed.for_model.starts_with("0 of 0 notes"), "{}", listed.for_model);
    }
}

#[track_caller]
fn check(parameters: &Value, wanted: &str) {
    let (_folder, tool) = tool();
    let failure = tool.run(parameters).unwrap_err();
    assert_eq!(failure.kind, ToolFailureKind::BadArguments, "{failure:?}");
    assert!(failure.for_model.contains(wanted), "{}", failure.for_model);
    assert!(failure.for_model.ends_with(['.', '`']), "a sentence: {}", failure.for_model);
}

#[test]
fn wrong_arguments_are_named_with_what_is_allowed() {
    check(&json!({}), "`action` is missing. It must be one of `create`, `read`");
    check(&json!({"action": "archive"}), "`action` is `archive`, which there is not.");
    check(&json!({"action": 5}), "`action` is `5`");
    check(&json!({"action": "create", "title": "x"}), "`create` needs `content`");
    check(&json!({"action": "create", "title": "", "content": "x"}), "`create` needs `title`");
    check(&json!({"action": "create", "title": ["x"], "content": "x"}), "`title` is a list.");
    let unknown = json!({"action": "create", "title": "x", "content": "x", "note_type": "bug"});
    check(&unknown, "`task_state`, `conclusion`, `blocker`, `action`, `reference`, `general`");
    let tags = json!({"action": "create", "title": "x", "content": "x", "tags": [{"a": 1}]});
    check(&tags, "`tags` has an object in it. It must be a list of strings");
    let lines = json!({"action": "create", "title": "a\nb", "content": "x"});
    check(&lines, "`title` has more than one line");
    check(&json!({"action": "read"}), "`read` needs `note_id`");
    check(&json!({"action": "read", "note_id": "../README"}), "is not the id of a note");
    check(&json!({"action": "update", "note_id": "x"}), "needs something to change");
    check(&json!({"action": "search", "query": null}), "`search` needs `query`");
    check(
        &json!({"action": "list", "limit": -1}),
        "`limit` is -1. It must be a whole number from 1",
    );
    check(&json!({"action": "list", "limit": 0}), "`limit` is 0.");
    check(&json!({"action": "list", "status": "closed"}), "`open`, `doing`, `done`");
    check(&json!({"action": "list", "colour": 1}), "unknown field `colour`");
    check(&json!({"action": "list", "limt": 1}), "did you mean `limit`?");
    check(&json!({"action": "list", "id": "1", "note_id": "2"}), "`note_id` is there twice");
    let invisible = json!({"action": "create", "title": "\u{200b}\u{feff}", "content": "x"});
    check(&invisible, "`title` is empty");
    let nowhere = json!({"action": "create", "title": "x", "content": "x", "depends_on": ["7"]});
    check(&nowhere, "`depends_on` has `7`, which is not the id of a note");
    check(&json!({"action": "update", "note_id": "1", "force": "maybe"}), "`force` is maybe.");
    check(&json!([1]), "could not be read");
}

#[test]
fn a_missing_note_is_not_found_and_nothing_changes() {
    let (folder, tool) = tool();
    let failure =
        tool.run(&json!({"action": "delete", "note_id": "note_20250101_000000_0"})).unwrap_err();
    assert_eq!(failure.kind, ToolFailureKind::NotFound);
    assert_eq!(failure.effects, []);
    assert!(!failure.for_model.contains(&*folder.path().to_string_lossy()));
}

#[test]
fn an_update_is_made_from_what_was_shown() {
    let (folder, tool) = tool();
    let id = create(&tool, "shared");
    tool.run(&json!({"action": "update", "note_id": id, "content": "one\ntwo\nthree"})).unwrap();
    let path = folder.path().join("notes").join(format!("{id}.md"));
    let by_hand = std::fs::read_to_string(&path).unwrap().replace("one", "ONE");
    std::fs::write(&path, by_hand).unwrap();
    let merged = tool
        .run(&json!({"action": "update", "note_id": id, "content": "one\ntwo\nTHREE"}))
        .unwrap();
    assert!(merged.for_model.contains("both changes were merged"), "{}", merged.for_model);
    assert_eq!(tool.store().read(&id).unwrap().content, "ONE\ntwo\nTHREE");
    let failure = tool
        .run(&json!({"action": "update", "note_id": id, "content": "uno\ntwo\nthree"}))
        .unwrap_err();
    assert!(failure.for_model.contains("-ONE") && failure.for_model.contains("+uno"));
}

#[test]
fn a_secret_is_refused_wherever_it_stands_and_never_repeated() {
    let (_folder, tool) = tool();
    let secret = format!("ghp_{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0dE3fG6");
    let id = create(&tool, "first");
    let line = format!("the token\n{secret}\n");
    for (parameters, place) in [
        (json!({"action": "create", "title": secret, "content": "x"}), "line 1 of the title"),
        (json!({"action": "create", "title": "x", "content": line}), "line 2 of the content"),
        (json!({"action": "create", "title": "x", "content": "x", "tags": [secret]}), "the tags"),
        (json!({"action": "create", "title": "x", "content": "x", "thread": secret}), "the front"),
        (json!({"action": "update", "note_id": id, "content": line}), "line 2 of the content"),
        (json!({"action": "update", "note_id": id, "tags": [secret]}), "line 1 of the tags"),
    ] {
        let failure = tool.run(&parameters).unwrap_err();
        assert_eq!(failure.kind, ToolFailureKind::Refused);
        assert!(failure.for_model.to_lowercase().contains(place), "{}", failure.for_model);
        assert!(!format!("{failure:?}").contains(&secret[..12]), "{failure:?}");
    }
    // One that somebody wrote in by hand lets other lines be changed, but no other secret come.
    let store = tool.store();
    let path = store.folder().join(format!("{id}.md"));
    let by_hand = std::fs::read_to_string(&path).unwrap().replace("body of it", &line);
    std::fs::write(&path, by_hand).unwrap();
    let with = |more: &str| {
        tool.run(&json!({"action": "read", "note_id": id})).unwrap();
        let content = format!("{}\n{more}", tool.store().read(&id).unwrap().content);
        tool.run(&json!({"action": "update", "note_id": id, "content": content}))
    };
    with("a line").unwrap();
    let failure = with(&format!("sk_live_{}", &secret[4..])).unwrap_err();
    assert!(failure.for_model.contains("a Stripe key"), "{}", failure.for_model);
}

#[test]
fn the_schema_is_flat() {
    let (_folder, tool) = tool();
    let mut registry = ToolRegistry::new();
    registry.add(tool, "keeps notes").unwrap();
    let schema = &registry.specs()[0].parameters;
    let text = schema.to_string();
    for noise in ["$schema", "$ref", "anyOf", "oneOf", "allOf", "\"null\""] {
        assert!(!text.contains(noise), "{noise} in {text}");
    }
    assert_eq!(schema["required"], json!(["action"]));
    let properties = schema["properties"].as_object().unwrap();
    for (name, property) in properties {
        assert!(property["type"].is_string(), "{name}: {property}");
        assert!(property["description"].is_string(), "{name}: {property}");
        assert_eq!(property["type"] == "array", property.get("items").is_some(), "{name}");
    }
    assert_eq!(properties["action"]["enum"].as_array().unwrap().len(), 7);
    assert_eq!(properties["note_type"]["enum"].as_array().unwrap().len(), 6);
    assert_eq!(properties["title"]["type"], "string");
}

#[test]
fn only_questions_run_beside_others() {
    let (_folder, tool) = tool();
    let only_reads =
        |parameters: Value| Tool::only_reads(&tool, &serde_json::from_value(parameters).unwrap());
    assert!(only_reads(json!({"action": "list"})));
    assert!(only_reads(json!({"action": "search", "query": "x"})));
    assert!(!only_reads(json!({"action": "create", "title": "x", "content": "y"})));
    assert!(!only_reads(json!({"action": "nonsense"})));
}

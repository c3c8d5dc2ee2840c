//! The schema of the events: the committed file is what the types say, and every line that the
//! program prints or journals is valid under it.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::fs;
use std::path::Path;

use boon::{Compiler, SchemaIndex, Schemas};
use groundskeeper::protocol::Event;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::{Env, write};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/events.schema.json");

struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn committed() -> Self {
        let schema: Value = serde_json::from_str(&fs::read_to_string(FILE).unwrap()).unwrap();
        let mut compiler = Compiler::new();
        let mut schemas = Schemas::new();
        compiler.enable_format_assertions();
        compiler.add_resource("events.schema.json", schema).unwrap();
        let index = compiler.compile("events.schema.json", &mut schemas).unwrap();
        Self { schemas, index }
    }

    fn allows(&self, event: &Value) -> Result<(), String> {
        let checked = self.schemas.validate(event, self.index);
        checked.map_err(|error| format!("{event}\n{error:#}"))
    }

    #[track_caller]
    fn check_all(&self, events: &[Value]) {
        let wrong: Vec<String> =
            events.iter().filter_map(|event| self.allows(event).err()).collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    }
}

#[test]
fn the_schema_file_is_what_the_types_say() {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Event>();
    let expected = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    let committed = fs::read_to_string(FILE).unwrap_or_default();
    if committed != expected {
        let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("events.schema.json");
        write(&made, expected.as_bytes());
        assert_eq!(committed, expected, "copy {} to docs/", made.display());
    }
}

#[test]
fn what_is_printed_and_journaled_is_valid() {
    let schema = Schema::committed();
    let env = Env::new().repo("flask_shop");
    for arguments in [["explore"], ["analyze"], ["plan"]] {
        let printed = env.run(["--json"].into_iter().chain(arguments)).code(0).json_lines();
        assert!(printed.len() > 10, "{printed:?}");
        schema.check_all(&printed);
    }
    let sessions = env.workspace().join(".groundskeeper/sessions");
    for session in fs::read_dir(sessions).unwrap() {
        let journal = fs::read_to_string(session.unwrap().path().join("journal.jsonl")).unwrap();
        let events: Vec<Value> =
            journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        schema.check_all(&events);
    }
}

#[test]
fn what_is_no_event_is_invalid() {
    let schema = Schema::committed();
    let event = |kind: &str, rest: Value| {
        let mut event = json!({ "seq": 1, "at": "2025-01-19T07:30:00Z", "type": kind });
        event.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        event
    };
    assert_eq!(schema.allows(&event("warning", json!({ "message": "x" }))), Ok(()));
    for wrong in [
        json!({}),
        json!([]),
        event("warning", json!({})),
        event("warning", json!({ "message": 1 })),
        event(
            "note.changed",
            json!({ "action": "burn", "id": "a", "title": "T", "note_type": "blocker" }),
        ),
        event("nothing.known", json!({ "message": "x" })),
        json!({ "seq": -1, "at": "2025-01-19T07:30:00Z", "type": "warning", "message": "x" }),
        json!({ "seq": 1, "at": "yesterday", "type": "warning", "message": "x" }),
    ] {
        assert!(schema.allows(&wrong).is_err(), "{wrong} passes");
    }
}

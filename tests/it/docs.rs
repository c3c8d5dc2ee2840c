//! The pages say what the program does: every event, setting and exit code is on its page, and
//! nothing is on a page that is not there.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::collections::BTreeSet;
use std::path::Path;

use groundskeeper::cli::ExitKind;
use groundskeeper::config::Layers;
use pretty_assertions::assert_eq;
use regex::Regex;

#[test]
fn every_event_has_its_heading_and_every_heading_its_event() {
    let source = read("src/protocol/event.rs");
    let in_code = all(r#"#\[serde\(rename = "([a-z.]+)"\)\]"#, &source);
    let on_page = all(r"(?m)^### `([a-z.]+)`$", &read("docs/events.md"));
    assert!(in_code.len() > 10, "{in_code:?}");
    assert_eq!(on_page, in_code);
}

#[test]
fn every_field_of_an_event_is_told() {
    let page = read("docs/events.md");
    let source = read("src/protocol/event.rs");
    // `kind` is flattened: its fields stand beside the others.
    let source = source.split("/// Takes events and shows").next().unwrap();
    let source = source.replace("pub kind:", "");
    for field in all(r"(?m)^\s+(?:pub )?([a-z_]+): ", &source) {
        assert!(page.contains(&format!("`{field}`")), "docs/events.md does not tell of `{field}`");
    }
}

#[test]
fn the_guide_has_every_setting_with_its_default() {
    let guide = read("docs/guide.md");
    let layers = Layers::defaults().unwrap();
    let mut keys = BTreeSet::new();
    for (key, value, _) in layers.rows() {
        let value = serde_json::to_value(value).unwrap();
        let value = match value.as_str() {
            Some("") => "empty".to_owned(),
            Some(text) => format!("`{text}`"),
            None => format!("`{value}`"),
        };
        let row = format!("| `{key}` | {value} | ");
        assert!(guide.contains(&row), "docs/guide.md lacks {row}");
        keys.insert(key.to_owned());
    }
    assert_eq!(
        all(
            r"(?m)^\| `((?:context|endpoint|limits|notes|terminal)\.[a-z_]+|project|model|lang)` \|",
            &guide
        ),
        keys
    );
}

#[test]
fn the_guide_has_every_exit_code() {
    let guide = read("docs/guide.md");
    let kinds = [
        ExitKind::Other,
        ExitKind::Usage,
        ExitKind::Config,
        ExitKind::Endpoint,
        ExitKind::Quota,
        ExitKind::Limit,
        ExitKind::Store,
        ExitKind::Sandbox,
        ExitKind::Interrupted,
    ];
    for kind in kinds {
        let row = format!("| {} | ", kind.code());
        assert!(guide.contains(&row), "docs/guide.md lacks the exit code {}", kind.code());
    }
}

/// Returns what the first group of a pattern finds.
fn all(pattern: &str, text: &str) -> BTreeSet<String> {
    let pattern = Regex::new(pattern).unwrap();
    pattern.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

//! The pages say what the program does: every event, setting and exit code is on its page, and
//! nothing is on a page that is not there.

#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::collections::BTreeSet;
use std::path::Path;

use groundskeeper::cli::ExitKind;
use groundskeeper::config::Layers;
use pretty_assertions::assert_eq;
use regex::Regex;

use crate::support::{self, Env, write};

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
fn the_guide_has_every_prompt_with_its_placeholders() {
    let guide = read("docs/guide.md");
    let (_, table) = guide.split_once("\n## Prompts of your own\n").unwrap();
    for folder in ["prompts/en", "prompts/en/modes", "prompts/en/tools"] {
        for page in pages(folder) {
            let name = page.trim_start_matches("prompts/en/");
            assert!(table.contains(&format!("`{name}`")), "docs/guide.md lacks {name}");
            for placeholder in all(r"(\{\{[a-z_]+\}\})", &read(&page)) {
                assert!(table.contains(&placeholder), "{name}: {placeholder} is not told");
            }
        }
    }
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

#[test]
fn the_guide_tells_of_every_command() {
    let guide = read("docs/guide.md");
    let top = commands(&[]);
    assert!(top.len() > 8, "{top:?}");
    for name in &top {
        assert!(guide.contains(&format!("`{name}")), "docs/guide.md does not tell of `{name}`");
    }
    for group in ["notes", "session", "config"] {
        for name in commands(&[group]) {
            let told = format!("`{group} {name}");
            assert!(guide.contains(&told), "docs/guide.md does not tell of {told}`");
        }
    }
}

/// Returns the commands that `--help` lists.
fn commands(group: &[&str]) -> Vec<String> {
    let help = Env::new().run(group.iter().chain(&["--help"])).code(0).stdout();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    // Names stand two columns in; further lines of a description stand deeper.
    let rows = listed.take_while(|line| !line.is_empty()).filter_map(|row| row.strip_prefix("  "));
    let rows = rows.filter(|row| !row.starts_with(' '));
    let names = rows.filter_map(|row| row.split_whitespace().next()).map(str::to_owned);
    names.filter(|name| name != "help").collect()
}

/// The commands of the pages run, in a copy of the shop with the script that `docs/testing.md`
/// names. A line of a `console` block that begins with `$ ` is a command; `# exit N` behind it
/// tells another exit code than 0. The lines below a command must stand in its output in this
/// order; `…` stands for any others.
#[test]
fn the_commands_of_the_pages_run_and_print_what_they_show() {
    let mut commands = 0;
    for page in ["README.md", "README.zh.md", "docs"].into_iter().flat_map(pages) {
        let env = Env::new().repo("flask_shop");
        let script = root().join("fixtures/scripts/three_days/day_one.yaml");
        write(&env.workspace().join("day_one.yaml"), &std::fs::read(script).unwrap());
        for shown in console_blocks(&page, &read(&page)) {
            commands += 1;
            shown.check(&env);
        }
    }
    assert!(commands >= 10, "only {commands} commands are shown");
}

#[test]
fn the_reader_of_console_blocks_sees_commands_and_their_output() {
    let page = "a\n```console\n$ groundskeeper plan  # exit 6\nx\n…\ny\n$ ls\n```\n$ no\n";
    let blocks = console_blocks("p.md", page);
    let read: Vec<_> = blocks.iter().map(|b| (b.line.as_str(), b.exit, b.output.len())).collect();
    assert_eq!(read, [("groundskeeper plan", 6, 3), ("ls", 0, 0)]);
}

#[test]
fn the_first_screen_of_each_readme_shows_what_explore_prints() {
    let env = Env::new().repo("flask_shop");
    for (page, language) in [("README.md", "en"), ("README.zh.md", "zh")] {
        let text = read(page);
        let (_, shown) = text.split_once("```markdown\n").unwrap();
        let (shown, _) = shown.split_once("\n```").unwrap();
        let printed = env.run(["explore", ".", "--lang", language]).code(0).stdout();
        let of_both = |line: &&str| line.starts_with("## ") || line.starts_with("| ---");
        for line in shown.lines().filter(of_both).chain(shown.lines().last()) {
            assert!(printed.lines().any(|other| other == line), "{page}: {line}\n{printed}");
        }
    }
}

/// A command of a page and what the page shows of it.
struct Shown {
    place: String,
    line: String,
    exit: i32,
    output: Vec<String>,
}

impl Shown {
    fn check(&self, env: &Env) {
        let binary = Path::new(env!("CARGO_BIN_EXE_groundskeeper"));
        // From a checkout one types `cargo run --release --`; it is the same program.
        let line = self.line.replace("cargo run --release --", "groundskeeper");
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", binary.parent().unwrap().display());
        let mut shell = env.command("bash");
        shell.args(["-c", &line]).env("PATH", path).env("GROUNDSKEEPER_CLOCK", support::NOW);
        let ran = shell.output().unwrap();
        let output = String::from_utf8_lossy(&ran.stdout).into_owned();
        let errors = String::from_utf8_lossy(&ran.stderr).into_owned();
        let place = &self.place;
        assert_eq!(ran.status.code(), Some(self.exit), "{place}: {line}\n{output}{errors}");
        let mut lines = output.lines().chain(errors.lines()).map(str::trim_end);
        for wanted in self.output.iter().filter(|line| *line != "…") {
            assert!(
                lines.any(|line| line == wanted.trim_end()),
                "{place}: `{line}` does not print `{wanted}` there:\n{output}{errors}"
            );
        }
    }
}

fn console_blocks(page: &str, text: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let mut is_console = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if let (true, Some(command)) = (is_console, line.strip_prefix("$ ")) {
            let (command, exit) = match command.split_once("# exit ") {
                Some((command, exit)) => (command.trim_end(), exit.trim().parse().unwrap()),
                None => (command, 0),
            };
            let place = format!("{page}:{}", index + 1);
            found.push(Shown { place, line: command.to_owned(), exit, output: Vec::new() });
        } else if let (true, Some(shown)) = (is_console, found.last_mut()) {
            shown.output.push(line.to_owned());
        }
    }
    found
}

/// Returns a page, or the pages of a folder.
fn pages(path: &str) -> Vec<String> {
    if !root().join(path).is_dir() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(root().join(path)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut pages: Vec<String> = names.map(|name| format!("{path}/{name}")).collect();
    pages.retain(|page| Path::new(page).extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

/// Returns what the first group of a pattern finds.
fn all(pattern: &str, text: &str) -> BTreeSet<String> {
    let pattern = Regex::new(pattern).unwrap();
    pattern.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

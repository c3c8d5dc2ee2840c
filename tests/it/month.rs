//! A month of work on one repository: twenty sessions in processes of their own, with compactions,
//! crashes, branches, a merge and edits by hand. In every turn every open blocker is in the
//! request, no action that is done is, and the task state is the current one: read off the requests
//! themselves.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a helper of a test may panic like the test")]

use std::collections::BTreeMap;
use std::io::Read;
use std::process::{Child, Output, Stdio};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::support::dialog::{Dialog, Reply};
use crate::support::{Env, Ran, write};

/// A window in which a session that reads much has to make room several times.
const WINDOW: usize = 8_192;

/// What a person who followed the work would know. Each matter has a word of its own that stands in
/// its note and nowhere else.
#[derive(Debug, Clone, Default)]
struct World {
    /// The open blockers: word by title.
    blockers: BTreeMap<String, String>,
    /// The open actions: word by title.
    actions: BTreeMap<String, String>,
    /// The words of the actions that are done.
    done: Vec<String>,
    /// The word of the current task state.
    state: Option<String>,
    /// The words of the states before it.
    former: Vec<String>,
}

/// The month, as far as it has come.
struct Month {
    env: Env,
    dialog: Dialog,
    world: World,
    sessions: u32,
    turns: usize,
    compactions: usize,
    digests: usize,
    crashes: usize,
}

#[test]
fn a_month_of_twenty_sessions_forgets_no_blocker_and_repeats_nothing_that_is_done() {
    let mut month = Month::begin();
    month.first_week();
    month.two_branches();
    month.third_week();
    month.last_week();
    assert_eq!(month.sessions, 20);
    assert!(month.turns >= 22, "{}", month.turns);
    assert!(month.crashes >= 4, "{}", month.crashes);
    assert!(month.compactions >= 6, "{}", month.compactions);
    assert!(month.digests >= 2, "{}", month.digests);

    // The store says the same as the one who followed.
    let summary = month.env.run(["notes", "summary", "--json"]).code(0).json();
    let titles = |key: &str| -> Vec<String> {
        let mut titles: Vec<String> = summary[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|note| note["title"].as_str().unwrap().to_owned())
            .collect();
        titles.sort();
        titles
    };
    assert_eq!(titles("open_blockers"), month.world.blockers.into_keys().collect::<Vec<_>>());
    assert_eq!(titles("ready_actions"), month.world.actions.into_keys().collect::<Vec<_>>());
    let sessions = month.env.run(["session", "list", "--json"]).code(0).json();
    assert_eq!(sessions.as_array().unwrap().len(), 20);
    assert!(sessions.as_array().unwrap().iter().all(|session| session["state"] == "answered"));
    month.env.run(["notes", "doctor"]).code(0);
}

impl Month {
    fn begin() -> Self {
        let env = Env::new().repo("flask_shop");
        env.run(["init", "--git"]).code(0);
        // In these tests the program is not on the path.
        let program = env!("CARGO_BIN_EXE_groundskeeper");
        let driver = format!("'{program}' notes merge-driver %O %A %B");
        env.git(&["config", "merge.groundskeeper-note.driver", &driver]);
        let settings = format!(
            "limits: {{window: {WINDOW}, prompt_tokens: 3000000}}\nnotes: {{auto_notes: off}}\n"
        );
        write(&env.workspace().join(".groundskeeper/config.yaml"), settings.as_bytes());
        env.commit("groundskeeper");
        let (world, dialog) = (World::default(), Dialog::start());
        Self { env, dialog, world, sessions: 0, turns: 0, compactions: 0, digests: 0, crashes: 0 }
    }

    fn first_week(&mut self) {
        self.session(
            &["explore"],
            vec![
                looks(&["ls app", "cat app/models/user.py"]),
                notes(vec![
                    blocker("No unique e-mail", "albatross"),
                    blocker("Orders have no times", "buzzard"),
                    action("Write the migration", "camel"),
                    state("The survey", "dugong"),
                ]),
                says("Two problems were found."),
            ],
        );
        // A day on which so much is read that room must be made.
        let mut replies = reading(1, 9);
        replies.push(notes(vec![blocker("process_order is too deep", "echidna")]));
        replies.extend(reading(2, 6));
        replies.push(says("The services were read."));
        self.session(&["analyze"], replies);
        // Killed while the model thinks, after an action was noted.
        self.crash(
            &["ask", "how are carts priced?"],
            vec![
                notes(vec![action("Test the prices", "ferret")]),
                looks(&["wc -l app/services/cart_service.py"]),
                Reply::Holds,
            ],
        );
        self.resume(vec![looks(&["ls app/services"]), says("The prices were looked up.")]);
        // A person writes into a blocker, and settles another.
        self.edit("Orders have no times", "buzzard", "buzzard and gazelle");
        self.world
            .blockers
            .insert("Orders have no times".to_owned(), "buzzard and gazelle".to_owned());
        self.settle("No unique e-mail", "done");
        self.session(
            &["plan"],
            vec![
                notes(vec![state("The survey is done", "heron")]),
                says("The migration comes first."),
            ],
        );
        let done = self.is_done("Write the migration");
        self.session(
            &["ask", "is the migration written?"],
            vec![notes(vec![done]), says("It is.")],
        );
    }

    fn two_branches(&mut self) {
        let env = &self.env;
        env.commit("the first week");
        env.git(&["checkout", "-q", "-b", "payments"]);
        let before = self.world.clone();
        let done = self.is_done("Test the prices");
        self.session(
            &["ask", "what of the payments?"],
            vec![
                notes(vec![blocker("Payments are not retried", "ibis"), done]),
                says("They are not retried."),
            ],
        );
        self.edit("process_order is too deep", "\n---\n", "\n---\n\nSeen from payments: jackal.\n");
        self.env.commit("payments");
        let aside = std::mem::replace(&mut self.world, before);
        self.env.git(&["checkout", "-q", "main"]);
        // On the main branch nothing of that is known, and other things are found.
        self.session(
            &["ask", "what of the coupons?"],
            vec![
                notes(vec![
                    blocker("Coupons can be used twice", "koala"),
                    state("Coupons first", "lemur"),
                ]),
                says("They can be used twice."),
            ],
        );
        self.edit_end("process_order is too deep", "Seen from main: marmot.\n");
        self.env.commit("coupons");
        self.env.git(&["merge", "-q", "--no-edit", "payments"]);
        self.world.blockers.extend(aside.blockers);
        let done = aside.done.iter().filter(|word| !self.world.done.contains(word));
        self.world.done.extend(done.cloned().collect::<Vec<_>>());
        self.world.actions.remove("Test the prices");
        let merged = self.read("process_order is too deep");
        assert!(merged.contains("jackal") && merged.contains("marmot"), "{merged}");
        self.session(&["plan", "after the merge"], vec![says("Both branches are seen.")]);
    }

    fn third_week(&mut self) {
        // A long session that is killed after room was made, and goes on with what was left.
        let mut replies = reading(3, 12);
        replies.push(notes(vec![action("Retry the payments", "narwhal")]));
        replies.push(Reply::Holds);
        self.crash(&["analyze", "app/services"], replies);
        let mut rest = reading(4, 6);
        rest.push(says("The services are long."));
        self.resume(rest);
        // Killed twice in one turn.
        self.crash(&["ask", "who sends mails?"], vec![looks(&["ls app/utils"]), Reply::Holds]);
        self.crash_again(vec![
            notes(vec![blocker("Mails block the request", "ocelot")]),
            Reply::Holds,
        ]);
        self.resume(vec![says("The notification service does.")]);
        // Two turns of one session, with an action done between them.
        self.session(&["ask", "which retries are there?"], vec![says("None yet.")]);
        let done = self.is_done("Retry the payments");
        self.turn(
            &["ask", "--session", "last", "and now?"],
            vec![notes(vec![done, state("Retries are in", "pangolin")]), says("Now there are.")],
        );
        self.settle("Payments are not retried", "done");
        self.turn(&["ask", "--session", "last", "what is left?"], vec![says("The mails.")]);
        // A note that a person adds, without the program.
        let note = "---\nid: note_20250320_080000_0\ntitle: Rounding is wrong\ntype: blocker\ntags: []\ncreated_at: 2025-03-20T08:00:00\nupdated_at: 2025-03-20T08:00:00\n---\n\nSee quokka.\n";
        write(&self.notes_folder().join("note_20250320_080000_0.md"), note.as_bytes());
        self.world.blockers.insert("Rounding is wrong".to_owned(), "quokka".to_owned());
        self.session(&["ask", "第三周还有什么问题？"], vec![says("还有邮件和取整的问题。")]);
    }

    fn last_week(&mut self) {
        for number in 0..7 {
            let word = |kind: &str| format!("{kind}{number}xyzzy");
            let title = |kind: &str| format!("{kind} of day {number}");
            let mut replies = reading(5 + number, 2 + number % 3 * 3);
            let mut changes = vec![
                state(&title("State"), &word("state")),
                blocker(&title("Blocker"), &word("blocker")),
                action(&title("Action"), &word("action")),
            ];
            if number > 0 {
                changes.push(self.is_done(&format!("Action of day {}", number - 1)));
            }
            if number > 2 {
                changes.push(self.is_done(&format!("Blocker of day {}", number - 3)));
            }
            let half = replies.len() / 2;
            replies.insert(half, notes(changes));
            replies.push(says("A day's work."));
            let question = format!("what of day {number}?");
            self.session(&["ask", &question], replies);
        }
        // The last word is a look at everything, from the notes alone.
        self.session(&["plan", "the month"], vec![says("That was the month.")]);
        let asked = self.dialog.requests();
        assert!(asked.is_empty(), "{asked:?}");
    }

    /// Holds a session of one turn.
    fn session(&mut self, arguments: &[&str], replies: Vec<Reply>) {
        self.sessions += 1;
        self.turn(arguments, replies);
    }

    /// Asks in a process of its own, and checks what the model was shown.
    fn turn(&mut self, arguments: &[&str], replies: Vec<Reply>) {
        let before = self.world.clone();
        self.world.take(&replies);
        self.dialog.will(without_titles(replies));
        let output = self.program(arguments).spawn().unwrap().wait_with_output().unwrap();
        self.check(&before, &Ran(output).code(0));
    }

    /// Begins a session that is killed when the model keeps it waiting.
    fn crash(&mut self, arguments: &[&str], replies: Vec<Reply>) {
        self.sessions += 1;
        self.killed(arguments, replies);
    }

    /// Resumes, to be killed once more.
    fn crash_again(&mut self, replies: Vec<Reply>) {
        self.killed(&["session", "resume"], replies);
    }

    fn killed(&mut self, arguments: &[&str], replies: Vec<Reply>) {
        self.crashes += 1;
        let before = self.world.clone();
        self.world.take(&replies);
        self.dialog.will(without_titles(replies));
        let mut child: Child = self.program(arguments).spawn().unwrap();
        // What is not read would hold the program up before the model does.
        let mut printed = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            printed.read_to_end(&mut bytes).map(|_| bytes)
        });
        self.dialog.wait_until_held();
        child.kill().unwrap();
        let stdout = reader.join().unwrap().unwrap();
        let output = Output { stdout, ..child.wait_with_output().unwrap() };
        assert_eq!(output.status.code(), None, "it was killed");
        self.check(&before, &Ran(output));
    }

    fn resume(&mut self, replies: Vec<Reply>) {
        self.turn(&["session", "resume"], replies);
    }

    fn program(&self, arguments: &[&str]) -> std::process::Command {
        let day = self.sessions + 1;
        let mut program = self.env.groundskeeper();
        program
            .env_remove("GROUNDSKEEPER_MODEL")
            .env("OPENAI_BASE_URL", &self.dialog.url)
            .env("OPENAI_API_KEY", "none")
            .env("OPENAI_MODEL", "month")
            .env("GROUNDSKEEPER_CLOCK", format!("2025-03-{day:02}T09:00:00+00:00"))
            .arg("--json")
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        program
    }

    /// Checks each request of a process against what was known when it began.
    fn check(&mut self, before: &World, ran: &Ran) {
        let events = ran.json_lines();
        let of_type = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        self.compactions += of_type("context.compacted");
        self.digests += events.iter().filter(|event| event["digest"].is_string()).count();
        let requests = self.dialog.requests();
        assert!(!requests.is_empty(), "{}", ran.stderr());
        self.turns += 1;
        for (step, request) in requests.iter().enumerate() {
            let messages: Vec<&str> = request["messages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|message| message["content"].as_str().unwrap_or_default())
                .collect();
            let place = format!("session {}, request {}", self.sessions, step + 1);
            // What the model itself wrote into a note in this turn stands in its calls.
            let all = request["messages"].to_string();
            for (title, word) in &before.blockers {
                if self.world.blockers.get(title) == Some(word) {
                    assert!(all.contains(word), "{place}: the blocker {word} is missing:\n{all}");
                }
            }
            if self.world.state == before.state {
                let state = before.state.iter().all(|word| all.contains(word));
                assert!(state, "{place}: the state {:?} is missing:\n{all}", before.state);
            }
            // What was said before in the same session stays; what is put in front of the model
            // anew must not hold it.
            let built = messages.iter().rposition(|text| {
                text.contains("[Task]") || text.contains("This digest stands in their place")
            });
            let built = messages[built.unwrap()];
            for word in before.done.iter().chain(&before.former) {
                assert!(!built.contains(word), "{place}: {word} came back:\n{built}");
            }
        }
    }

    /// Marks a note as settled, as the model does.
    fn is_done(&self, title: &str) -> (&'static str, Value) {
        (
            "note",
            json!({"action": "update", "note_id": self.id(title), "status": "done", "for": title}),
        )
    }

    /// Settles a note on the command line.
    fn settle(&mut self, title: &str, status: &str) {
        self.env.run(["notes", "update", &self.id(title), "--status", status]).code(0);
        self.world.settle(title);
    }

    fn id(&self, title: &str) -> String {
        let listing = self.env.run(["notes", "list", "--json", "--limit", "100"]).code(0).json();
        let rows = listing["notes"].as_array().unwrap();
        let row = rows.iter().find(|row| row["title"] == title);
        assert!(row.is_some(), "no note `{title}` in {listing}");
        row.unwrap()["id"].as_str().unwrap().to_owned()
    }

    fn read(&self, title: &str) -> String {
        std::fs::read_to_string(self.notes_folder().join(format!("{}.md", self.id(title)))).unwrap()
    }

    /// Changes a note's file with an editor.
    fn edit(&self, title: &str, old: &str, new: &str) {
        let text = self.read(title);
        assert!(text.contains(old), "{text}");
        // The last place, because the front matter has such lines too.
        let at = text.rfind(old).unwrap();
        let text = format!("{}{new}{}", &text[..at], &text[at + old.len()..]);
        write(&self.notes_folder().join(format!("{}.md", self.id(title))), text.as_bytes());
    }

    fn edit_end(&self, title: &str, more: &str) {
        let text = format!("{}\n{more}", self.read(title));
        write(&self.notes_folder().join(format!("{}.md", self.id(title))), text.as_bytes());
    }

    fn notes_folder(&self) -> std::path::PathBuf {
        self.env.workspace().join(".groundskeeper/notes")
    }
}

impl World {
    /// Follows what the model does.
    fn take(&mut self, replies: &[Reply]) {
        for reply in replies {
            let Reply::Calls(calls) = reply else { continue };
            for (_, arguments) in calls.iter().filter(|(tool, _)| *tool == "note") {
                let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
                if text("action") == "update" {
                    self.settle(&text("for"));
                    continue;
                }
                let (title, word) =
                    (text("title"), text("content").split(' ').next_back().unwrap().to_owned());
                match text("note_type").as_str() {
                    "blocker" => drop(self.blockers.insert(title, word)),
                    "action" => drop(self.actions.insert(title, word)),
                    _ => self.former.extend(self.state.replace(word)),
                }
            }
        }
    }

    fn settle(&mut self, title: &str) {
        self.blockers.remove(title);
        self.done.extend(self.actions.remove(title));
    }
}

/// Takes out the title beside an id, which is only for [`World::take`].
fn without_titles(mut replies: Vec<Reply>) -> Vec<Reply> {
    for reply in &mut replies {
        let Reply::Calls(calls) = reply else { continue };
        for (_, arguments) in calls {
            arguments.as_object_mut().unwrap().remove("for");
        }
    }
    replies
}

fn says(text: &str) -> Reply {
    Reply::Says(text.to_owned())
}

fn looks(lines: &[&str]) -> Reply {
    Reply::Calls(lines.iter().map(|line| ("terminal", json!({"command": line}))).collect())
}

/// Reads a lot, that is different each time.
fn reading(part: usize, steps: usize) -> Vec<Reply> {
    let line = |step: usize| {
        let from = part * 100_000 + step * 1000;
        looks(&[format!("seq {from} {}", from + 260).as_str()])
    };
    (0..steps).map(line).collect()
}

fn notes(changes: Vec<(&'static str, Value)>) -> Reply {
    Reply::Calls(changes)
}

fn created(kind: &str, title: &str, word: &str) -> (&'static str, Value) {
    let content = format!("It is known by the word {word}");
    let thread = if kind == "task_state" { "shop" } else { "" };
    (
        "note",
        json!({"action": "create", "title": title, "content": content, "note_type": kind, "thread": thread}),
    )
}

fn blocker(title: &str, word: &str) -> (&'static str, Value) {
    created("blocker", title, word)
}

fn action(title: &str, word: &str) -> (&'static str, Value) {
    created("action", title, word)
}

fn state(title: &str, word: &str) -> (&'static str, Value) {
    created("task_state", title, word)
}

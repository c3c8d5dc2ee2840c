//! What the commands of the chat do. Most are commands of the program under another name, and
//! print what those print.

use std::fmt::Write;

use serde_json::{Value, json};

use super::input::{Slash, meant};
use super::{Chat, Flow};
use crate::agent::{Mode, Request};
use crate::cli::notes::{self, NotesCommand};
use crate::cli::{CliError, ExitKind, context, print, print_json, print_markdown};
use crate::notes::Note;
use crate::support::nearest::nearest;

/// Says that there is no such command, which one may be meant, and which there are.
pub(super) fn unknown(name: &str) -> CliError {
    let mut error = CliError::new(ExitKind::Usage, format!("there is no command `/{name}`"));
    if let Some(meant) = meant(name) {
        error = error.with_hint(format!("did you mean `/{meant}`?"));
    }
    let names = Slash::ALL.map(|slash| format!("/{}", slash.name())).join(" ");
    error
        .with_hint(format!("there are {names}"))
        .with_hint("`//` sends a text that begins with a slash")
}

impl Chat<'_> {
    /// Does a command of the chat.
    pub(super) async fn slash(&mut self, slash: Slash, arguments: &str) -> Result<Flow, CliError> {
        if slash.arguments().is_empty() && !arguments.is_empty() {
            let message = format!("`/{}` takes nothing behind it", slash.name());
            return Err(CliError::new(ExitKind::Usage, message));
        }
        match slash {
            Slash::Help => self.answer(slash, &help(), || json!(help()))?,
            Slash::Mode => self.choose_mode(arguments)?,
            Slash::Notes => {
                let command = match arguments {
                    "" => NotesCommand::list(),
                    words => NotesCommand::search(words),
                };
                return self.run_notes(slash, &command).await;
            }
            Slash::Undo => return self.run_notes(slash, &NotesCommand::Undo).await,
            Slash::Context => self.show_context(arguments).await?,
            Slash::Board => self.show_board()?,
            Slash::Model => self.choose_model(arguments)?,
            Slash::Report => self.show_report()?,
            Slash::Quit => return Ok(Flow::Leave),
        }
        Ok(Flow::Next(0))
    }

    fn choose_mode(&mut self, name: &str) -> Result<(), CliError> {
        if !name.is_empty() {
            let names = Mode::ALL.map(|mode| mode.row().name);
            let Some(mode) = Mode::ALL.into_iter().find(|mode| mode.row().name == name) else {
                let message = format!("there is no mode `{name}`");
                let mut error = CliError::new(ExitKind::Usage, message);
                if let Some(meant) = nearest(name, names) {
                    error = error.with_hint(format!("did you mean `{meant}`?"));
                }
                return Err(error.with_hint(format!("there are {}", names.join(", "))));
            };
            self.mode = mode;
        }
        let mode = self.mode.row().name;
        self.answer(Slash::Mode, &format!("mode {mode}: {}\n", about(self.mode)), || json!(mode))
    }

    /// Lets another model answer; the session goes on.
    fn choose_model(&mut self, name: &str) -> Result<(), CliError> {
        if !name.is_empty() && name != self.maintainer.model_name() {
            let model = self.setup.model_named(name)?;
            self.setup.tell_of_dotenv(model.name());
            self.maintainer.set_model(std::sync::Arc::clone(&model))?;
            self.models.push(model);
        }
        let name = self.maintainer.model_name();
        self.answer(Slash::Model, &format!("model {name}\n"), || json!(name))
    }

    async fn run_notes(&mut self, slash: Slash, command: &NotesCommand) -> Result<Flow, CliError> {
        let (mut out, json) = (Vec::new(), self.setup.json);
        let store = self.maintainer.notes();
        let mut stdin = std::io::empty();
        let mut err = anstream::stderr();
        let code = notes::run(command, store, json, &mut stdin, &mut out, &mut err).await?;
        let text = String::from_utf8_lossy(&out);
        let value = || serde_json::from_str(&text).unwrap_or(Value::Null);
        self.answer(slash, &text, value)?;
        Ok(Flow::Next(code))
    }

    async fn show_context(&mut self, question: &str) -> Result<(), CliError> {
        let cancel = self.interruptible();
        let request = Request { mode: self.mode, text: question.to_owned() };
        let (messages, tokens) = self.maintainer.said_so_far();
        let built = self.signals.guard(&cancel, self.maintainer.preview(request)).await?;
        let mut text = context::text(&built);
        if messages > 0 {
            // Writing into a string cannot fail.
            _ = writeln!(
                text,
                "\nbefore it the {messages} messages of this session so far, {tokens} tokens"
            );
        }
        self.answer(Slash::Context, &text, || {
            let mut value = context::value(&built);
            if let Some(fields) = value.as_object_mut() {
                fields.insert(
                    "said_before".to_owned(),
                    json!({ "messages": messages, "tokens": tokens }),
                );
            }
            value
        })
    }

    /// Shows where the work stands, from the notes alone.
    fn show_board(&mut self) -> Result<(), CliError> {
        let store = self.maintainer.notes();
        let summary = store.summary()?;
        let states = store.current_task_states()?;
        let mut text = String::new();
        let row = |id: &str, title: &str| format!("- `{id}` {title}\n");
        let entries = |entries: &[crate::notes::Entry]| {
            let rows = entries.iter().map(|entry| {
                let id = entry.id.as_ref().map_or(entry.file.as_str(), |id| id.as_str());
                row(id, &entry.title)
            });
            rows.collect::<String>()
        };
        let lists = [
            ("Open blockers", entries(&summary.open_blockers)),
            ("Ready actions", entries(&summary.ready_actions)),
            (
                "Current task states",
                states.iter().map(|note| row(note.id.as_str(), &state(note))).collect(),
            ),
        ];
        for (title, rows) in &lists {
            let rows = if rows.is_empty() { "none\n" } else { rows };
            _ = writeln!(text, "## {title}\n\n{rows}");
        }
        if self.setup.json {
            let states: Vec<Value> = states.iter().map(|note| json!({ "id": note.id.as_str(), "title": note.title, "thread": note.thread })).collect();
            return self.answer(Slash::Board, "", || {
                json!({
                    "open_blockers": summary.open_blockers,
                    "ready_actions": summary.ready_actions,
                    "task_states": states,
                })
            });
        }
        print_markdown(&text)
    }

    fn show_report(&mut self) -> Result<(), CliError> {
        if self.maintainer.session_id().is_empty() {
            return Err(CliError::new(ExitKind::Other, "the session has not begun")
                .with_hint("the first message begins it"));
        }
        let report = self.maintainer.report();
        if self.setup.json {
            return self.answer(Slash::Report, "", || json!(report));
        }
        print_markdown(&report.to_markdown())
    }

    /// Prints what a command came to: text, or a line of JSON that says which command it was.
    fn answer(
        &self,
        slash: Slash,
        text: &str,
        value: impl FnOnce() -> Value,
    ) -> Result<(), CliError> {
        if self.setup.json {
            let command = format!("/{}", slash.name());
            return print_json(&json!({ "command": command, "output": value() }));
        }
        print(text)
    }
}

fn state(note: &Note) -> String {
    match note.line_of_work() {
        Some(thread) => format!("{} ({thread})", note.title),
        None => note.title.clone(),
    }
}

fn about(mode: Mode) -> &'static str {
    match mode {
        Mode::Auto => "a message is a question",
        Mode::Explore => "a message names what to explore, a path or a topic",
        Mode::Analyze => "a message names what to judge, a path or a topic",
        Mode::Plan => "a message says what the plan is for",
    }
}

fn help() -> String {
    let mut text = String::new();
    for slash in Slash::ALL {
        let call = format!("/{} {}", slash.name(), slash.arguments());
        _ = writeln!(text, "{call:<36}{}", slash.about());
    }
    for (keys, about) in [
        ("!COMMAND LINE", "run it in the terminal that the model has"),
        ("//TEXT", "send a text that begins with a slash"),
        ("\\ Enter, Alt-Enter, ``` … ```", "go on in the next line; a paste is one message"),
        ("Tab", "complete commands, modes and ids of notes"),
        ("Ctrl-C", "stop what runs; twice, leave at once"),
    ] {
        let gap = 36_usize.saturating_sub(keys.chars().count());
        _ = writeln!(text, "{keys}{}{about}", " ".repeat(gap));
    }
    text
}

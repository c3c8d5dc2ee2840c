//! Progress for a person at a terminal: what is done, a line each, on stderr.

use std::io::{self, Write};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::Tick;
use crate::protocol::{CommandFacts, CommandOrigin, Event, EventKind, EventSink};

/// Writes a short line for each thing that a person may want to follow, and at a terminal one that
/// tells what is waited for: the step, the time, the tokens, and what runs.
pub struct Plain<W> {
    out: W,
    /// Returns the columns of the terminal, which a person may change at any time.
    columns: Box<dyn Fn() -> usize + Send>,
    /// Whether a line that is replaced by the next one can be shown.
    live: bool,
    /// What is waited for, if it stands there now.
    standing: Option<String>,
    /// When the turn began.
    began: DateTime<Utc>,
    /// How long it took until the last event.
    took: Duration,
    step: u64,
    prompt_tokens: u64,
}

impl<W: Write + Send> Plain<W> {
    /// Returns a display that writes to `out`; `live` when that is a terminal on which a line can
    /// be written over.
    pub fn new(out: W, columns: impl Fn() -> usize + Send + 'static, live: bool) -> Self {
        Self {
            out,
            columns: Box::new(columns),
            live,
            standing: None,
            began: DateTime::UNIX_EPOCH,
            took: Duration::ZERO,
            step: 0,
            prompt_tokens: 0,
        }
    }

    /// Writes a line that stays.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        let text = shortened(text, self.width());
        self.whole_line(&text)
    }

    /// Writes a line that stays, however long it is.
    fn whole_line(&mut self, text: &str) -> io::Result<()> {
        self.clear()?;
        writeln!(self.out, "{}", shortened(text, usize::MAX))?;
        self.out.flush()
    }

    /// Takes away what is waited for.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        if self.standing.take().is_some() {
            write!(self.out, "\r\x1b[2K")?;
            self.out.flush()?;
        }
        Ok(())
    }

    /// Shows what is being waited for, until the next line.
    fn status(&mut self, text: &str) -> io::Result<()> {
        if !self.live {
            return Ok(());
        }
        self.clear()?;
        self.standing = Some(text.to_owned());
        self.draw(Duration::ZERO)
    }

    /// Draws what is waited for over itself, as short as the terminal is narrow.
    fn draw(&mut self, since: Duration) -> io::Result<()> {
        let Some(what) = &self.standing else { return Ok(()) };
        let mut facts = Vec::new();
        if self.step > 0 {
            facts.push(format!("step {}", self.step));
        }
        facts.push(format!("{} s", (self.took + since).as_secs()));
        if self.prompt_tokens > 0 {
            facts.push(format!("{} tokens", self.prompt_tokens));
        }
        let text = format!("{}: {what}", facts.join(", "));
        // The last column stays free: a full line would go on in the next one.
        let text = shortened(&text, self.width() - 1);
        write!(self.out, "\r\x1b[2K{text}")?;
        self.out.flush()
    }

    fn width(&self) -> usize {
        (self.columns)().max(NARROWEST)
    }

    /// Keeps how long the turn has taken.
    fn watch(&mut self, event: &Event) {
        if let EventKind::TurnStarted { .. } = event.kind {
            self.began = event.at;
            self.step = 0;
            self.prompt_tokens = 0;
        }
        self.took = (event.at - self.began).to_std().unwrap_or_default();
    }
}

/// On fewer columns nothing can be told.
const NARROWEST: usize = 20;

impl<W: Write + Send> Tick for Plain<W> {
    fn tick(&mut self, since: Duration) -> io::Result<()> {
        self.draw(since)
    }
}

impl<W: Write + Send> EventSink for Plain<W> {
    fn emit(&mut self, event: &Event) -> io::Result<()> {
        self.watch(event);
        match &event.kind {
            EventKind::SessionStarted { session, model, .. } => {
                self.line(&format!("{session} · model {model}"))
            }
            EventKind::TurnStarted { mode, .. } => self.status(&format!("{mode}, looking around")),
            // Whoever asked for it is shown its output.
            EventKind::CommandFinished(facts) if facts.origin == CommandOrigin::User => Ok(()),
            EventKind::CommandFinished(facts) => {
                let text = command(facts);
                self.line(&text)
            }
            EventKind::ContextBuilt { tokens, budget, .. } => {
                self.line(&format!("context: {tokens} of {budget} tokens"))
            }
            EventKind::ContextCompacted { tokens_before, tokens_after, .. } => self.line(&format!(
                "room made in the conversation: {tokens_before} tokens before, {tokens_after} after"
            )),
            EventKind::ModelAsked { step, prompt_tokens, .. } => {
                self.step = *step;
                self.prompt_tokens += prompt_tokens;
                self.status("waiting for the model")
            }
            EventKind::ModelWaiting { reason, seconds } => {
                self.status(&format!("waiting {seconds} s: {reason} (Ctrl-C stops)"))
            }
            EventKind::ToolStarted { name, arguments, .. } => {
                let text = call(name, arguments);
                self.status(&text)
            }
            EventKind::ToolFinished { name, summary, failure: Some(_), .. }
                if name != "terminal" =>
            {
                self.line(&format!("  ✗ {name}: {summary}"))
            }
            EventKind::NoteChanged(change) => {
                self.line(&format!("  ✎ {} {}: {}", change.action, change.note_type, change.title))
            }
            EventKind::AnswerChecked { wrong, .. } => wrong.iter().try_for_each(|claim| {
                self.line(&format!("warning: the answer cites a place that is wrong: {claim}"))
            }),
            // What went wrong is told to its end.
            EventKind::Warning { message } => self.whole_line(&format!("warning: {message}")),
            EventKind::TurnFinished { .. } => self.clear(),
            EventKind::ModelDelta { .. }
            | EventKind::ModelRestarted
            | EventKind::ModelReplied { .. }
            | EventKind::ToolFinished { .. }
            | EventKind::LoopSaid { .. } => Ok(()),
        }
    }
}

/// Milliseconds from which on it is told how long a command took.
const LONG: u64 = 1000;

fn command(facts: &CommandFacts) -> String {
    let mark = match facts.origin {
        CommandOrigin::Mode => "  ·",
        CommandOrigin::Model | CommandOrigin::User => "  $",
    };
    let line = facts.line.replace('\n', " ⏎ ");
    let end = match facts {
        CommandFacts { refused: true, .. } => " (refused)".to_owned(),
        CommandFacts { timed_out: true, .. } => " (time limit)".to_owned(),
        CommandFacts { truncated: true, .. } => " (output cut)".to_owned(),
        CommandFacts { exit_code: Some(code @ 2..), .. } => format!(" (exit code {code})"),
        CommandFacts { .. } => String::new(),
    };
    let took = facts.duration_ms;
    let took = if took >= LONG { format!(" ({} s)", took / 1000) } else { String::new() };
    format!("{mark} {line}{end}{took}")
}

/// Returns a call as a person reads it: the command, or the action and what it is about.
fn call(name: &str, arguments: &str) -> String {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    let words: Vec<&str> =
        ["command", "action", "title", "query", "note_id"].into_iter().filter_map(text).collect();
    format!("{name} {}", words.join(" ")).replace('\n', " ⏎ ")
}

/// Cuts a text to one line of a number of columns, with an ellipsis; a line feed becomes a blank, and
/// other control characters are left out.
fn shortened(text: &str, width: usize) -> String {
    let one_line = text.trim_end().replace('\n', " ");
    let text: String = one_line.chars().filter(|character| !character.is_control()).collect();
    if text.width() <= width {
        return text;
    }
    let mut short = String::new();
    let mut used = 0;
    for character in text.chars() {
        let columns = character.width().unwrap_or(0);
        if used + columns > width.saturating_sub(1) {
            break;
        }
        used += columns;
        short.push(character);
    }
    short.push('…');
    short
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn shown(width: usize, live: bool, kinds: Vec<EventKind>) -> String {
        let mut out = Vec::new();
        let mut plain = Plain::new(&mut out, move || width, live);
        for kind in kinds {
            plain.emit(&Event { seq: 1, at: DateTime::UNIX_EPOCH, kind }).unwrap();
        }
        String::from_utf8(out).unwrap()
    }

    fn facts(line: &str) -> CommandFacts {
        CommandFacts {
            line: line.to_owned(),
            origin: CommandOrigin::Model,
            exit_code: Some(0),
            refused: false,
            timed_out: false,
            truncated: false,
            bytes: 0,
            duration_ms: 0,
            directory: None,
        }
    }

    #[test]
    fn each_command_is_a_line_with_what_went_wrong() {
        let refused = CommandFacts { exit_code: None, refused: true, ..facts("rm -rf /") };
        let failed = CommandFacts { exit_code: Some(2), ..facts("ls nosuch") };
        let kinds = [facts("ls"), refused, failed].map(EventKind::CommandFinished).to_vec();
        let expected = "  $ ls\n  $ rm -rf / (refused)\n  $ ls nosuch (exit code 2)\n";
        assert_eq!(shown(80, false, kinds), expected);
    }

    #[test]
    fn a_waiting_line_is_replaced_on_a_terminal_and_absent_in_a_pipe() {
        let kinds = || {
            vec![
                EventKind::ModelAsked { step: 2, messages: 3, prompt_tokens: 10 },
                EventKind::Warning { message: "here".to_owned() },
            ]
        };
        assert_eq!(shown(80, false, kinds()), "warning: here\n");
        assert_eq!(
            shown(80, true, kinds()),
            "\r\u{1b}[2Kstep 2, 0 s, 10 tokens: waiting for the model\r\u{1b}[2Kwarning: here\n"
        );
    }

    #[test]
    fn a_warning_is_told_to_its_end() {
        let warning = |message: &str| EventKind::Warning { message: message.to_owned() };
        let message = "the disk is full, and here is what to do about it";
        assert_eq!(shown(20, false, vec![warning(message)]), format!("warning: {message}\n"));
        let two_lines = vec![warning("It was refused.\nOnly this can be read.\n")];
        assert_eq!(
            shown(20, false, two_lines),
            "warning: It was refused. Only this can be read.\n"
        );
    }

    #[test]
    fn the_waiting_line_tells_the_time_and_fits_a_terminal_that_became_narrow() {
        let columns = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(80));
        let asked = std::sync::Arc::clone(&columns);
        let mut out = Vec::new();
        let load = move || asked.load(std::sync::atomic::Ordering::Relaxed);
        let mut plain = Plain::new(&mut out, load, true);
        let start = DateTime::UNIX_EPOCH;
        let events = [
            (
                0,
                EventKind::TurnStarted {
                    turn: 1,
                    mode: "auto".to_owned(),
                    question: String::new(),
                    model: String::new(),
                },
            ),
            (
                5,
                EventKind::ToolStarted {
                    id: "call_1".to_owned(),
                    name: "terminal".to_owned(),
                    arguments: r#"{"command":"grep -rn 中文字符"}"#.to_owned(),
                },
            ),
        ];
        for (seconds, kind) in events {
            let at = start + chrono::TimeDelta::seconds(seconds);
            plain.emit(&Event { seq: 1, at, kind }).unwrap();
        }
        plain.tick(Duration::from_secs(2)).unwrap();
        columns.store(29, std::sync::atomic::Ordering::Relaxed);
        plain.tick(Duration::from_secs(3)).unwrap();
        plain.clear().unwrap();
        plain.tick(Duration::from_secs(4)).unwrap();
        let shown = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = shown.split("\r\u{1b}[2K").collect();
        assert_eq!(
            lines,
            [
                "",
                "0 s: auto, looking around",
                "",
                "5 s: terminal grep -rn 中文字符",
                "7 s: terminal grep -rn 中文字符",
                "8 s: terminal grep -rn 中文…",
                "",
            ]
        );
    }

    #[test]
    fn a_command_that_took_long_says_how_long() {
        let slow = CommandFacts { duration_ms: 2500, ..facts("git log -p") };
        let kinds = vec![EventKind::CommandFinished(slow)];
        assert_eq!(shown(80, false, kinds), "  $ git log -p (2 s)\n");
    }

    #[test]
    fn lines_are_cut_by_columns_and_hold_no_control_characters() {
        assert_eq!(shortened("中文字符", 5), "中文…");
        assert_eq!(shortened("a\x1b[31mb", 80), "a[31mb");
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcd", 3), "ab…");
    }

    #[test]
    fn a_call_is_told_by_its_words() {
        assert_eq!(call("terminal", r#"{"command":"ls\nwc"}"#), "terminal ls ⏎ wc");
        assert_eq!(call("note", r#"{"action":"create","title":"T"}"#), "note create T");
        assert_eq!(call("note", "{broken"), "note ");
    }
}

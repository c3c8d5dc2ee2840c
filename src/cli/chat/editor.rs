//! The line that a person edits at a terminal: keys, history, completion, several lines.
//!
//! The one user of `rustyline`. It reads keys on a thread of its own, so that signals are heard
//! while it waits; it decides nothing, what was typed is handed on as it is.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{
    Behavior, Cmd, ColorMode, CompletionType, ConditionalEventHandler, Config, Context, Event,
    EventContext, EventHandler, Helper, KeyCode, KeyEvent, Modifiers, RepeatCount,
};
use tokio::sync::mpsc;

use super::completion;
use super::history::History;
use super::input::{ends_with_backslash, is_in_block};
use super::lines::{Lines, Typed};
use crate::notes::{Filter, NoteStore};

/// So many notes are offered by completion.
const MOST_NOTES: usize = 500;

/// So many entries of the history can be walked through.
const MOST_ENTRIES: usize = 1000;

/// What an editor is made of.
pub(super) struct EditorOptions {
    /// Where the history is; none where the user has no folder.
    pub(super) history: Option<History>,
    /// Whose ids are completed.
    pub(super) notes: NoteStore,
    /// Whether the prompt may have colour.
    pub(super) color: bool,
    /// Whether stdout is something else than the terminal, which is then opened by its name.
    pub(super) elsewhere: bool,
}

/// Starts reading lines with an editor.
///
/// # Errors
/// When the terminal cannot be used.
pub(super) fn start(options: EditorOptions) -> Result<Lines, String> {
    let (prompts, asked) = std::sync::mpsc::channel::<String>();
    let (sender, typed) = mpsc::unbounded_channel();
    let mut editor = Editor::new(options).map_err(|error| error.to_string())?;
    let warnings = editor.read_history();
    // It ends with the program, which does not wait for it: it may be waiting for a key.
    std::thread::spawn(move || {
        while let Ok(prompt) = asked.recv() {
            if sender.send(editor.line(&prompt)).is_err() {
                break;
            }
        }
    });
    Ok(Lines::new(prompts, typed, warnings))
}

struct Editor {
    inner: rustyline::Editor<Keys, MemHistory>,
    history: Option<History>,
    /// Whether Ctrl-C met an empty line.
    was_empty: Arc<AtomicBool>,
    /// What stood before each Enter that made a new line.
    before: Arc<Mutex<Vec<String>>>,
}

impl Editor {
    fn new(options: EditorOptions) -> Result<Self, ReadlineError> {
        let config = Config::builder()
            .max_history_size(MOST_ENTRIES)?
            .history_ignore_dups(true)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .color_mode(if options.color { ColorMode::Enabled } else { ColorMode::Disabled })
            .behavior(if options.elsewhere { Behavior::PreferTerm } else { Behavior::Stdio })
            .auto_add_history(false)
            .build();
        let history = MemHistory::with_config(&config);
        let mut inner = rustyline::Editor::with_history(config, history)?;
        inner.set_helper(Some(Keys { notes: options.notes, color: options.color }));
        let was_empty = Arc::new(AtomicBool::new(false));
        let watch = Box::new(Watch(Arc::clone(&was_empty)));
        inner.bind_sequence(KeyEvent::ctrl('C'), EventHandler::Conditional(watch));
        let before = Arc::default();
        inner.bind_sequence(
            KeyEvent(KeyCode::Enter, Modifiers::NONE),
            EventHandler::Conditional(Box::new(Backslash(Arc::clone(&before)))),
        );
        inner.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
        Ok(Self { inner, history: options.history, was_empty, before })
    }

    /// Takes up what was typed before; returns what went wrong with it.
    fn read_history(&mut self) -> Vec<String> {
        let Some(history) = &self.history else { return Vec::new() };
        match history.read() {
            Ok(entries) => {
                for entry in entries {
                    // An entry that is not taken is one that is there already.
                    self.inner.add_history_entry(entry).ok();
                }
                Vec::new()
            }
            Err(error) => {
                self.history = None;
                vec![format!("what was typed in earlier chats cannot be read: {error}")]
            }
        }
    }

    fn line(&mut self, prompt: &str) -> Typed {
        let read = self.inner.readline(prompt);
        let before =
            std::mem::take(&mut *self.before.lock().unwrap_or_else(PoisonError::into_inner));
        match read {
            Ok(line) => {
                let line = joined(line, before);
                let warning = self.remember(&line);
                Typed::Line { line, warning }
            }
            Err(ReadlineError::Eof) => Typed::End,
            Err(ReadlineError::Interrupted) => {
                Typed::Interrupted { was_empty: self.was_empty.load(Ordering::SeqCst) }
            }
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::InvalidData => {
                Typed::Unreadable("what was typed is not UTF-8".to_owned())
            }
            Err(error) => Typed::Broken(error.to_string()),
        }
    }

    fn remember(&mut self, line: &str) -> Option<String> {
        self.inner.add_history_entry(line).ok();
        let error = self.history.as_ref()?.add(line).err()?;
        // Told once: the chat goes on without.
        self.history = None;
        Some(format!("what is typed cannot be kept for later chats: {error}"))
    }
}

/// What keys mean beside what they always mean.
struct Keys {
    notes: NoteStore,
    color: bool,
}

impl Helper for Keys {}

impl Hinter for Keys {
    type Hint = String;
}

impl Highlighter for Keys {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(
        &'s self,
        prompt: &'p str,
        _default: bool,
    ) -> Cow<'b, str> {
        if !self.color {
            return Cow::Borrowed(prompt);
        }
        let bold = anstyle::Style::new().bold();
        Cow::Owned(format!("{bold}{prompt}{bold:#}"))
    }
}

impl Validator for Keys {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(if is_in_block(context.input()) {
            ValidationResult::Incomplete
        } else {
            ValidationResult::Valid(None)
        })
    }
}

impl Completer for Keys {
    type Candidate = rustyline::completion::Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _context: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Self::Candidate>)> {
        let (start, candidates) = completion::complete(line, cursor, || titles(&self.notes));
        let pairs = candidates.into_iter().map(|candidate| Self::Candidate {
            display: candidate.shown,
            replacement: candidate.word,
        });
        Ok((start, pairs.collect()))
    }
}

/// Returns ids and titles; none when the notes cannot be read, which other commands tell.
fn titles(notes: &NoteStore) -> Vec<(String, String)> {
    let filter = Filter { limit: MOST_NOTES, ..Filter::default() };
    let Ok(listing) = notes.list(&filter) else { return Vec::new() };
    let named = |entry: crate::notes::Entry| Some((entry.id?.to_string(), entry.title));
    listing.notes.into_iter().filter_map(named).collect()
}

/// Looks what Ctrl-C meets, and leaves it as it is.
struct Watch(Arc<AtomicBool>);

impl ConditionalEventHandler for Watch {
    fn handle(
        &self,
        _event: &Event,
        _count: RepeatCount,
        _positive: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        self.0.store(context.line().is_empty(), Ordering::SeqCst);
        None
    }
}

/// Makes a new line of Enter behind a backslash, and keeps what stood before: the backslash goes
/// when the line is whole. One that was pasted stays.
struct Backslash(Arc<Mutex<Vec<String>>>);

impl ConditionalEventHandler for Backslash {
    fn handle(
        &self,
        _event: &Event,
        _count: RepeatCount,
        _positive: bool,
        context: &EventContext<'_>,
    ) -> Option<Cmd> {
        let line = context.line();
        let goes_on =
            context.pos() == line.len() && ends_with_backslash(line) && !is_in_block(line);
        goes_on.then(|| {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned());
            Cmd::Newline
        })
    }
}

/// Takes the backslashes away behind which Enter was typed: `before` has what stood before each
/// Enter, the first one first. Where that was changed meanwhile, the backslash stays.
fn joined(mut line: String, before: Vec<String>) -> String {
    for before in before.into_iter().rev() {
        if line.strip_prefix(before.as_str()).is_some_and(|rest| rest.starts_with('\n')) {
            line.remove(before.len() - 1);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_backslash_goes_where_enter_was_typed_behind_it() {
        #[track_caller]
        fn check(line: &str, before: &[&str], expected: &str) {
            let before = before.iter().map(|&before| before.to_owned()).collect();
            assert_eq!(joined(line.to_owned(), before), expected);
        }
        check("a\\\nb\\\nc", &["a\\", "a\\\nb\\"], "a\nb\nc");
        check("gcc \\\n -o x", &[], "gcc \\\n -o x");
        check("changed\\\nb", &["a\\"], "changed\\\nb");
        check("中\\\n文", &["中\\"], "中\n文");
        check("a\\", &["a\\"], "a\\");
    }
}

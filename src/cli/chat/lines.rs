//! Lines as they come: from an editor, or as they are from a pipe, a file or a simple terminal.
//!
//! Reading happens on a thread of its own, so that signals are heard meanwhile. Messages of
//! several lines are put together here by the rules of [`super::input`].

use std::io::{self, BufRead, Read, Write};

use tokio::sync::mpsc;

use super::input::{ends_with_backslash, is_fence};

/// A message is at most this long, in bytes.
pub(super) const LONGEST: usize = 1024 * 1024;

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Typed {
    /// A message, whole, and what went wrong with keeping it.
    Line { line: String, warning: Option<String> },
    /// Ctrl-C at a line that was empty or was not.
    Interrupted { was_empty: bool },
    /// Something that is no message, told in a sentence; more may come.
    Unreadable(String),
    /// Nothing more comes.
    End,
    /// Nothing more can be read.
    Broken(String),
}

/// Hands lines over, one for each that is asked for.
pub(super) struct Lines {
    prompts: std::sync::mpsc::Sender<String>,
    typed: mpsc::UnboundedReceiver<Typed>,
    /// Whether a line was asked for that has not come.
    is_asked: bool,
    /// What went wrong when reading began.
    pub(super) warnings: Vec<String>,
}

impl Lines {
    /// Returns the end at which lines arrive of a thread that reads them.
    pub(super) fn new(
        prompts: std::sync::mpsc::Sender<String>,
        typed: mpsc::UnboundedReceiver<Typed>,
        warnings: Vec<String>,
    ) -> Self {
        Self { prompts, typed, is_asked: false, warnings }
    }

    /// Starts reading standard input as it is; a prompt is shown on stderr when `shows_prompt`.
    pub(super) fn of_stdin(shows_prompt: bool) -> Self {
        let (prompts, asked) = std::sync::mpsc::channel::<String>();
        let (sender, typed) = mpsc::unbounded_channel();
        // It ends with the program, which does not wait for it: the pipe may never end.
        std::thread::spawn(move || {
            let mut input = io::stdin().lock();
            while let Ok(prompt) = asked.recv() {
                let shown = if shows_prompt { prompt } else { String::new() };
                if sender.send(message(&mut input, &shown, &mut anstream::stderr())).is_err() {
                    break;
                }
            }
        });
        Self::new(prompts, typed, Vec::new())
    }

    /// Asks for the next line, if none is being waited for.
    pub(super) fn ask(&mut self, prompt: &str) {
        if !self.is_asked {
            self.is_asked = true;
            // A thread that is gone shows when its line is waited for.
            self.prompts.send(prompt.to_owned()).ok();
        }
    }

    /// Waits for the line that was asked for. Whoever gives up waiting goes on later.
    pub(super) async fn next(&mut self) -> Typed {
        let typed = self.typed.recv().await.unwrap_or(Typed::End);
        self.is_asked = false;
        typed
    }
}

/// Reads a message: a line, and those that it goes on in. It goes on behind a backslash, which
/// then is no part of it, and inside a block.
fn message(input: &mut impl BufRead, prompt: &str, out: &mut impl Write) -> Typed {
    let mut message: Option<String> = None;
    let (mut in_block, mut is_too_long) = (false, false);
    loop {
        let mark = if message.is_some() && !prompt.is_empty() { "… " } else { prompt };
        // Nobody is left to be asked when the terminal is closed.
        write!(out, "{mark}").and_then(|()| out.flush()).ok();
        let line = match line(input) {
            Ok(Some(line)) => line,
            Ok(None) => return message.map_or(Typed::End, |text| sent(text, is_too_long)),
            Err(error) => return Typed::Broken(format!("standard input cannot be read: {error}")),
        };
        in_block ^= is_fence(&line);
        let continues = !in_block && ends_with_backslash(&line);
        let line = if continues { &line[..line.len() - 1] } else { &line };
        let text = match &mut message {
            Some(text) => {
                text.push('\n');
                text
            }
            None => message.get_or_insert_default(),
        };
        text.push_str(line);
        if text.len() > LONGEST {
            // Its end is looked for, so that nothing of it counts as another message.
            is_too_long = true;
            text.clear();
        }
        if !in_block && !continues {
            return sent(message.unwrap_or_default(), is_too_long);
        }
    }
}

fn sent(text: String, is_too_long: bool) -> Typed {
    if is_too_long {
        let told = format!("a message is longer than {LONGEST} bytes and is not sent");
        return Typed::Unreadable(told);
    }
    whole(text)
}

fn whole(line: String) -> Typed {
    Typed::Line { line, warning: None }
}

/// Reads a line without its end; none at the end. What is too long is read to its end and returned
/// longer than [`LONGEST`], and bytes that are not UTF-8 become replacement characters.
fn line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let most = LONGEST as u64 + 1;
    if input.by_ref().take(most).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.len() as u64 == most && !bytes.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    Ok(Some(text.strip_suffix('\r').unwrap_or(text).to_owned()))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read(input: &[u8]) -> Vec<Typed> {
        let mut input = input;
        let mut all = Vec::new();
        loop {
            match message(&mut input, "", &mut Vec::new()) {
                Typed::End => return all,
                typed => all.push(typed),
            }
        }
    }

    #[track_caller]
    fn check(input: &str, expected: &[&str]) {
        let expected: Vec<Typed> = expected.iter().map(|line| whole((*line).to_owned())).collect();
        assert_eq!(read(input.as_bytes()), expected, "{input:?}");
    }

    #[test]
    fn a_message_is_a_line_or_goes_on() {
        check("one\ntwo\n", &["one", "two"]);
        check("one\r\n\r\ntwo", &["one", "", "two"]);
        check("one \\\ntwo\nthree\n", &["one \ntwo", "three"]);
        check("why?\n```", &["why?", "```"]);
        check("```\na\\\n/quit\n\n```\nnext\n", &["```\na\\\n/quit\n\n```", "next"]);
        check("left open\\", &["left open"]);
        check("two \\\\\nnext", &["two \\\\", "next"]);
        check("", &[]);
    }

    #[test]
    fn what_is_too_long_is_told_and_the_next_line_is_read() {
        let mut input = vec![b'x'; LONGEST * 2];
        input.extend_from_slice(b"\nnext\n");
        let typed = read(&input);
        assert!(matches!(&typed[0], Typed::Unreadable(told) if told.contains("longer than")));
        assert_eq!(typed[1..], [whole("next".to_owned())]);
    }

    #[test]
    fn nothing_of_a_block_that_is_too_long_counts_as_a_message() {
        let block = format!("```\n{}\n/quit\n!ls\n```\nnext\n", "x".repeat(LONGEST));
        let typed = read(block.as_bytes());
        assert_eq!(typed.len(), 2, "{}", typed.len());
        assert_eq!(typed[1], whole("next".to_owned()));
    }

    #[test]
    fn bytes_that_are_no_text_stay_visible() {
        assert_eq!(read(b"a\xffb\n"), [whole("a\u{fffd}b".to_owned())]);
    }

    #[test]
    fn a_prompt_stands_before_each_line_where_one_is_wanted() {
        let mut shown = Vec::new();
        let typed = message(&mut &b"a\\\nb\n"[..], "> ", &mut shown);
        assert_eq!(typed, whole("a\nb".to_owned()));
        assert_eq!(String::from_utf8(shown).unwrap(), "> … ");
    }
}

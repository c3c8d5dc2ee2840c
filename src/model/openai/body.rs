//! Watches the bytes of an answer as they pass: silence has a limit, lines have a limit, and
//! `[DONE]` is noticed, which the reader of events keeps to itself.
//!
//! Comments are bytes too, so a server that only says that it is alive is alive.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::stream::{BoxStream, Stream, StreamExt};

use super::accumulate::MOST_BYTES;

/// The longest line of a stream.
const LONGEST_LINE: usize = 16 * 1024 * 1024;

/// How long a line may be that could say `[DONE]`.
const SHORT_LINE: usize = 32;

/// Why the bytes of an answer ended early.
#[derive(Debug)]
pub(super) enum Interruption {
    /// Nothing came for so long.
    Silence(Duration),
    /// A line or the whole is longer than anyone needs.
    TooLong,
    /// The line broke.
    Line(reqwest::Error),
}

/// What was seen of an answer's bytes, shared with whoever reads the events.
#[derive(Debug, Clone, Default)]
pub(super) struct Witness {
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug, Default)]
struct Seen {
    done: bool,
    interruption: Option<Interruption>,
}

impl Witness {
    /// Returns whether `[DONE]` came.
    pub(super) fn is_done(&self) -> bool {
        self.with(|seen| seen.done)
    }

    /// Returns why the bytes ended early, if they did; once.
    pub(super) fn take_interruption(&self) -> Option<Interruption> {
        self.with(|seen| seen.interruption.take())
    }

    fn with<T>(&self, act: impl FnOnce(&mut Seen) -> T) -> T {
        act(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How long silence may last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Before the first byte of the body.
    pub(super) first: Duration,
    /// After it.
    pub(super) then: Duration,
}

/// Returns the bytes of `inner`, watched and in whole lines: the reader of events looks at an
/// unfinished line from its beginning again with each piece. At a clean end an empty line is
/// added, because the last event of some servers lacks it.
pub(super) fn watch(
    inner: BoxStream<'static, Result<Vec<u8>, reqwest::Error>>,
    patience: Patience,
    witness: Witness,
) -> impl Stream<Item = Result<Vec<u8>, std::io::Error>> + Send + 'static {
    let (held, lines, state) = (Vec::new(), Lines::default(), State::Begin);
    let watched = Watched { inner, patience, witness, held, lines, state };
    futures::stream::unfold(watched, |mut watched| async {
        let item = watched.next().await?;
        Some((item, watched))
    })
}

struct Watched {
    inner: BoxStream<'static, Result<Vec<u8>, reqwest::Error>>,
    patience: Patience,
    witness: Witness,
    held: Vec<u8>,
    lines: Lines,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Begin,
    Flowing,
    Over,
}

impl Watched {
    async fn next(&mut self) -> Option<Result<Vec<u8>, std::io::Error>> {
        let interruption = loop {
            let wait = match self.state {
                State::Begin => self.patience.first,
                State::Flowing => self.patience.then,
                State::Over => return None,
            };
            match tokio::time::timeout(wait, self.inner.next()).await {
                Ok(Some(Ok(bytes))) => {
                    self.state = State::Flowing;
                    if !self.lines.take(&bytes) {
                        break Interruption::TooLong;
                    }
                    if let Some(whole) = self.whole_lines(&bytes) {
                        self.witness.with(|seen| seen.done |= self.lines.done);
                        return Some(Ok(whole));
                    }
                }
                Ok(None) => {
                    self.state = State::Over;
                    self.lines.end_line();
                    self.witness.with(|seen| seen.done |= self.lines.done);
                    self.held.extend_from_slice(b"\n\n");
                    return Some(Ok(std::mem::take(&mut self.held)));
                }
                Ok(Some(Err(error))) => break Interruption::Line(error),
                Err(_) => break Interruption::Silence(wait),
            }
        };
        self.state = State::Over;
        let error = std::io::Error::other(format!("{interruption:?}"));
        self.witness.with(|seen| seen.interruption = Some(interruption));
        Some(Err(error))
    }

    /// Takes bytes and returns what makes whole lines with those that were held.
    fn whole_lines(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        let end = bytes.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
        let (whole, rest) = bytes.split_at(end.map_or(0, |end| end + 1));
        if whole.is_empty() {
            self.held.extend_from_slice(rest);
            return None;
        }
        let mut lines = std::mem::replace(&mut self.held, rest.to_vec());
        lines.extend_from_slice(whole);
        Some(lines)
    }
}

/// Looks at lines without keeping them.
#[derive(Debug, Default)]
struct Lines {
    start: Vec<u8>,
    length: usize,
    total: usize,
    done: bool,
}

impl Lines {
    /// Takes bytes. Returns false when there are too many.
    fn take(&mut self, bytes: &[u8]) -> bool {
        self.total += bytes.len();
        for piece in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let ended = matches!(piece.last(), Some(b'\n' | b'\r'));
            let content = if ended { &piece[..piece.len() - 1] } else { piece };
            self.length += content.len();
            let room = SHORT_LINE.saturating_sub(self.start.len());
            self.start.extend_from_slice(&content[..content.len().min(room)]);
            if self.length > LONGEST_LINE {
                return false;
            }
            if ended {
                self.end_line();
            }
        }
        self.total <= MOST_BYTES
    }

    fn end_line(&mut self) {
        let is_done = self.length < SHORT_LINE
            && self.start.strip_prefix(b"data:").is_some_and(|data| {
                let word = String::from_utf8_lossy(data.trim_ascii());
                word.trim_matches('"').eq_ignore_ascii_case("[DONE]")
            });
        self.done |= is_done;
        self.start.clear();
        self.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many pieces pass when each comes after `gap` seconds, and what ended them.
    async fn passed(piece: &'static [u8], gap: u64) -> (usize, Option<Interruption>, bool) {
        let pieces = futures::stream::unfold(0, move |sent| async move {
            tokio::time::sleep(Duration::from_secs(gap)).await;
            if sent < 10 { Some((Ok(piece.to_vec()), sent + 1)) } else { None }
        });
        let witness = Witness::default();
        let patience = Patience { first: Duration::from_secs(600), then: Duration::from_secs(120) };
        let watched = watch(pieces.boxed(), patience, witness.clone());
        let passed = watched.filter(|piece| std::future::ready(piece.is_ok())).count().await;
        (passed, witness.take_interruption(), witness.is_done())
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_only_says_that_it_is_alive_is_waited_for() {
        let (passed, interruption, done) = passed(b": alive\n\n", 119).await;
        assert!(passed == 11 && interruption.is_none() && !done, "10 pieces and the last line");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_an_answer_and_a_late_beginning_does_not() {
        let (passed, interruption, _) = passed(b": alive\n\n", 121).await;
        assert_eq!(passed, 1);
        assert!(
            matches!(interruption, Some(Interruption::Silence(limit)) if limit.as_secs() == 120)
        );
    }

    #[test]
    fn done_is_noticed_however_it_is_cut_and_ended() {
        for text in
            ["data: [DONE]\n\n", "data:[DONE]\r\n", "x\rdata: [DONE]\r", ": c\ndata:  [DONE] \n"]
        {
            for size in 1..text.len() {
                let mut lines = Lines::default();
                assert!(text.as_bytes().chunks(size).all(|piece| lines.take(piece)));
                assert!(lines.done, "{text:?}");
            }
        }
        let mut lines = Lines::default();
        assert!(lines.take(b"data: {\"x\": \"data: [DONE]\"}\ndata: [DONE]x\n"));
        assert!(!lines.done);
    }
}

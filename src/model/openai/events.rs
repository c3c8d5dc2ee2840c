//! The data of an event that is not one JSON value.
//!
//! Some servers send keep-alives as data, or two frames in one event. What is certain is read;
//! anything else is damage, and damage is told rather than guessed around.

use serde_json::Value;

/// What an event held.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Frames {
    /// The chunks in it.
    pub(super) chunks: Vec<Value>,
    /// Whether it ended with `[DONE]`.
    pub(super) done: bool,
}

/// Words that some servers send as data while they have nothing to say.
const SIGNS_OF_LIFE: [&str; 8] =
    ["ping", "pong", "keepalive", "keep-alive", "heartbeat", "[ping]", "[heartbeat]", "processing"];

/// What is told of an event that cannot be read, in characters.
const QUOTED: usize = 120;

/// Reads the data of an event. An error says what is wrong with it.
///
/// A server that divides its text by UTF-16 units sends halves of characters; they are shown as
/// what cannot be read, and the rest of the answer is kept.
pub(super) fn read(data: &str) -> Result<Frames, String> {
    read_frames(data).or_else(|error| match without_halves(data) {
        whole if whole != data => read_frames(&whole),
        _ => Err(error),
    })
}

/// Puts U+FFFD for each escaped half of a surrogate pair that stands alone.
fn without_halves(data: &str) -> String {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let mut whole = String::with_capacity(data.len());
    let mut rest = data;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        whole.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                whole.push_str("\\ufffd");
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            _ => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (kept, after) = escape.split_at(length);
        whole.push_str(kept);
        rest = after;
    }
    whole + rest
}

fn read_frames(data: &str) -> Result<Frames, String> {
    let mut frames = Frames::default();
    let mut rest = data.trim();
    loop {
        rest = rest.trim_start();
        while let Some(after) = rest.strip_prefix("data:") {
            rest = after.trim_start();
        }
        if rest.is_empty() {
            return Ok(frames);
        }
        if let Some(after) = ["[DONE]", "\"[DONE]\""].iter().find_map(|end| rest.strip_prefix(end))
        {
            frames.done = true;
            rest = after;
            continue;
        }
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let word = line.trim().to_ascii_lowercase();
        if word == "[done]" {
            frames.done = true;
            rest = after;
            continue;
        }
        // A comment that was sent as data ends with its line.
        if rest.starts_with(':') || SIGNS_OF_LIFE.contains(&word.as_str()) {
            rest = after;
            continue;
        }
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) if value.is_object() => {
                frames.chunks.push(value);
                let end = values.byte_offset();
                rest = rest.get(end..).unwrap_or_default();
            }
            Some(Ok(_)) | None => return Err("an event holds no object".to_owned()),
            Some(Err(error)) if rest.starts_with('{') => {
                return Err(format!("an event is no JSON: {error}"));
            }
            // Most likely it is the reason why there is no more.
            Some(Err(_)) => {
                let said: String = rest.chars().take(QUOTED).collect();
                return Err(format!("an event says `{}`", said.trim_end()));
            }
        }
    }
}

/// Reads a whole body that is a stream, or a list of objects a line each.
pub(super) fn read_body(body: &str) -> Result<Frames, String> {
    if !body.lines().any(|line| line.starts_with("data:")) {
        return read(body);
    }
    let mut frames = Frames::default();
    // An empty line ends an event; the other fields of one say nothing that is needed.
    for event in body.replace("\r\n", "\n").replace('\r', "\n").split("\n\n") {
        let data: Vec<&str> = event.lines().filter_map(|line| line.strip_prefix("data:")).collect();
        let read = read(&data.join("\n"))?;
        frames.chunks.extend(read.chunks);
        frames.done |= read.done;
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(data: &str, chunks: usize, done: bool) {
        let frames = read(data).expect("it can be read");
        assert_eq!((frames.chunks.len(), frames.done), (chunks, done), "{data}");
    }

    #[test]
    fn half_a_character_does_not_cost_the_answer() {
        let text = |data: &str| read(data).unwrap().chunks[0]["a"].as_str().unwrap().to_owned();
        assert_eq!(text(r#"{"a":"x \ud83d y"}"#), "x \u{fffd} y");
        assert_eq!(text(r#"{"a":"\ude00\ud83d\ude00\ud83d"}"#), "\u{fffd}😀\u{fffd}");
        // Arguments are JSON in JSON: what is escaped there is the tool's to read.
        assert_eq!(text(r#"{"a":"\\ud83d \ud83d"}"#), "\\ud83d \u{fffd}");
        assert_eq!(
            read(r#"{"a":"\ud83"#).unwrap_err().split(':').next(),
            Some("an event is no JSON")
        );
    }

    #[test]
    fn noise_is_skipped_and_frames_are_told_apart() {
        check("", 0, false);
        check(": keepalive", 0, false);
        check("{\"a\":1}{\"b\":2}", 2, false);
        check("{\"a\":1}\n{\"b\":2}\n[DONE]", 2, true);
        check("{\"a\":1}data: {\"b\":2}", 2, false);
        check("{\"a\":1}data: [DONE]", 1, true);
        check(": ping\n{\"a\":1}", 1, false);
        check("ping", 0, false);
        check("[DONE]  ", 0, true);
        check("{\"a\":1}\n\"[DONE]\"", 1, true);
    }

    #[test]
    fn damage_is_told() {
        for data in ["{\"a\":", "{\"a\": : keepalive 1}", "hello", "[1]", "12"] {
            assert!(read(data).is_err(), "{data}");
        }
        let said = read("upstream timed out").unwrap_err();
        assert_eq!(said, "an event says `upstream timed out`");
    }

    #[test]
    fn a_stream_that_came_whole_is_read_like_one_in_pieces() {
        let body = ": c\r\nevent: x\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\ndata:{\"b\":2}\r\n\r\ndata: [DONE]\r\n";
        let frames = read_body(body).unwrap();
        assert_eq!((frames.chunks.len(), frames.done), (2, true));
        assert_eq!(read_body("{\"a\":1}\n{\"b\":2}\n").unwrap().chunks.len(), 2);
        assert!(read_body("data: {\"a\":\n\ndata: 1}").is_err());
    }
}

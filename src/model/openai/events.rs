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

/// Reads the data of an event. An error says what is wrong with it.
pub(super) fn read(data: &str) -> Result<Frames, String> {
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
        if let Some(after) = rest.strip_prefix("[DONE]") {
            frames.done = true;
            rest = after;
            continue;
        }
        // A comment that was sent as data ends with its line.
        if rest.starts_with(':') {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
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
            Some(Err(error)) => return Err(format!("an event is no JSON: {error}")),
        }
    }
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
    fn noise_is_skipped_and_frames_are_told_apart() {
        check("", 0, false);
        check(": keepalive", 0, false);
        check("{\"a\":1}{\"b\":2}", 2, false);
        check("{\"a\":1}\n{\"b\":2}\n[DONE]", 2, true);
        check("{\"a\":1}data: {\"b\":2}", 2, false);
        check("{\"a\":1}data: [DONE]", 1, true);
        check(": ping\n{\"a\":1}", 1, false);
    }

    #[test]
    fn damage_is_told() {
        for data in ["{\"a\":", "{\"a\": : keepalive 1}", "hello", "[1]", "12"] {
            assert!(read(data).is_err(), "{data}");
        }
    }
}

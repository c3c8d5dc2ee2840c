//! How long a server asks to wait, in any of the forms in which servers say it.

use std::sync::LazyLock;
use std::time::Duration;

use chrono::{DateTime, Utc};
use regex::Regex;
use reqwest::header::HeaderMap;

/// What no wait is longer than; a server that asks for more means "never".
const LONGEST: f64 = 366.0 * 86_400.0;

/// Below this a number of seconds is a span; above it is a moment since 1970.
const SPAN_OR_MOMENT: f64 = 1e8;

/// Words such as "try again in 1m2.5s" or `"retryDelay": "27s"`.
static IN_TEXT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)(?:(?:try|retry) again in|retry in|retry after|retrydelay"?\s*:)\s*"?((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h)\s*)+|\d+(?:\.\d+)?)"#,
    )
    .ok()
});

static PART: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)(\d+(?:\.\d+)?)\s*([a-z]*)").ok());

/// Returns the wait that headers or the text of an error ask for; the headers come first.
pub(super) fn read(headers: &HeaderMap, text: &str, now: DateTime<Utc>) -> Option<Duration> {
    of_header(headers, now).or_else(|| of_limits(headers, now)).or_else(|| of_text(text))
}

fn of_header(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    if let Some(milliseconds) = number(headers, "retry-after-ms") {
        return seconds(milliseconds / 1000.0);
    }
    let value = text_of(headers, "retry-after")?;
    if let Ok(number) = value.parse::<f64>() {
        return span_or_moment(number, now);
    }
    let date = DateTime::parse_from_rfc2822(value).ok()?.to_utc();
    // The server's own clock is the one that its date goes by.
    let there = text_of(headers, "date").and_then(|date| DateTime::parse_from_rfc2822(date).ok());
    let now = there.map_or(now, |date| date.to_utc());
    Some((date - now).to_std().unwrap_or_default())
}

/// Reads `x-ratelimit-reset*`: of what is used up the longest, else the shortest.
fn of_limits(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let mut used_up = Vec::new();
    let mut others = Vec::new();
    for kind in ["", "-requests", "-tokens"] {
        let reset = text_of(headers, &format!("x-ratelimit-reset{kind}"));
        let Some(wait) = reset.and_then(|reset| reset_value(reset, now)) else { continue };
        match number(headers, &format!("x-ratelimit-remaining{kind}")) {
            Some(remaining) if remaining < 1.0 => used_up.push(wait),
            Some(_) | None => others.push(wait),
        }
    }
    used_up.into_iter().max().or_else(|| others.into_iter().min())
}

fn reset_value(value: &str, now: DateTime<Utc>) -> Option<Duration> {
    match value.parse::<f64>() {
        Ok(number) => span_or_moment(number, now),
        Err(_) => match DateTime::parse_from_rfc3339(value) {
            Ok(moment) => Some((moment.to_utc() - now).to_std().unwrap_or_default()),
            Err(_) => span(value),
        },
    }
}

fn of_text(text: &str) -> Option<Duration> {
    let found = IN_TEXT.as_ref()?.captures(text)?;
    span(found.get(1)?.as_str())
}

/// Reads `6m0s`, `1.5s`, `20ms`, `2 minutes`; a bare number is seconds.
fn span(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut any = false;
    for part in PART.as_ref()?.captures_iter(text) {
        let number: f64 = part.get(1)?.as_str().parse().ok()?;
        let unit = part.get(2).map_or("", |unit| unit.as_str()).to_ascii_lowercase();
        let factor = match unit.as_str() {
            "" => 1.0,
            unit if unit.starts_with("ms") || unit.starts_with("mil") => 0.001,
            unit if unit.starts_with('s') => 1.0,
            unit if unit.starts_with('m') => 60.0,
            unit if unit.starts_with('h') => 3600.0,
            unit if unit.starts_with('d') => 86_400.0,
            _ => return None,
        };
        total += number * factor;
        any = true;
    }
    if any { seconds(total) } else { None }
}

#[expect(clippy::cast_precision_loss, reason = "a clock's seconds fit a float exactly")]
fn span_or_moment(number: f64, now: DateTime<Utc>) -> Option<Duration> {
    if number < SPAN_OR_MOMENT {
        return seconds(number);
    }
    let moment = if number > 1e11 { number / 1000.0 } else { number };
    seconds(moment - now.timestamp_millis() as f64 / 1000.0)
}

fn seconds(number: f64) -> Option<Duration> {
    if number.is_nan() {
        return None;
    }
    Duration::try_from_secs_f64(number.clamp(0.0, LONGEST)).ok()
}

fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn number(headers: &HeaderMap, name: &str) -> Option<f64> {
    text_of(headers, name)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn now() -> DateTime<Utc> {
        DateTime::from_timestamp(1_737_300_000, 0).unwrap()
    }

    #[track_caller]
    fn check(headers: &[(&str, &str)], text: &str, expected: Option<f64>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            map.insert(name, HeaderValue::from_str(value).unwrap());
        }
        let found = read(&map, text, now()).map(|wait| wait.as_secs_f64());
        assert_eq!(found, expected, "{headers:?} {text}");
    }

    #[test]
    fn the_header_is_understood_in_all_forms() {
        check(&[("retry-after", "20")], "", Some(20.0));
        check(&[("retry-after", "0.5")], "", Some(0.5));
        check(&[("retry-after-ms", "250"), ("retry-after", "9")], "", Some(0.25));
        check(&[("retry-after", "Sun, 19 Jan 2025 15:20:30 GMT")], "", Some(30.0));
        check(
            &[
                ("date", "Sun, 19 Jan 2025 10:00:00 GMT"),
                ("retry-after", "Sun, 19 Jan 2025 10:00:07 GMT"),
            ],
            "",
            Some(7.0),
        );
        check(&[("retry-after", "Sun, 19 Jan 2020 10:00:07 GMT")], "", Some(0.0));
        check(&[("retry-after", "1737300012")], "", Some(12.0));
        check(&[("retry-after", "-3")], "", Some(0.0));
        check(&[("retry-after", "1e300")], "", Some(LONGEST));
        check(&[("retry-after", "soon")], "", None);
    }

    #[test]
    fn limits_tell_their_reset() {
        check(
            &[
                ("x-ratelimit-reset-requests", "1s"),
                ("x-ratelimit-remaining-requests", "5"),
                ("x-ratelimit-reset-tokens", "6m0s"),
                ("x-ratelimit-remaining-tokens", "0"),
            ],
            "",
            Some(360.0),
        );
        check(&[("x-ratelimit-reset-tokens", "20ms")], "", Some(0.02));
        check(&[("x-ratelimit-reset", "1737300045")], "", Some(45.0));
        check(&[("x-ratelimit-reset", "1737300045000")], "", Some(45.0));
        check(&[("x-ratelimit-reset", "2025-01-19T15:20:05Z")], "", Some(5.0));
    }

    #[test]
    fn a_wait_in_words_is_found() {
        check(&[], "Please try again in 20s. Visit", Some(20.0));
        check(&[], "Please try again in 350ms.", Some(0.35));
        check(&[], "Please try again in 1m2.5s.", Some(62.5));
        check(&[], "Please retry in 12.5s", Some(12.5));
        check(&[], "Try again in 2 minutes", Some(120.0));
        check(&[], r#"{"@type":"RetryInfo","retryDelay": "27s"}"#, Some(27.0));
        check(&[], "retry after 30", Some(30.0));
        check(&[], "try again later", None);
        check(&[], "", None);
    }
}

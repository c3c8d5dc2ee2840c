//! `seq`: numbers in a row, counted exactly and not in floating point. The checker has seen to it that
//! they are no more than a million; it ends before when nobody reads.

use std::ffi::OsString;
use std::io::Write;

use super::{Desk, Failure, Result};

/// The most digits after the point.
const MOST_DIGITS: usize = 9;

/// Prints the numbers from the first to the last.
pub(super) fn seq(words: &[OsString], desk: &mut Desk<'_>) -> Result<()> {
    let (mut separator, mut same_width) = ("\n".to_owned(), false);
    let mut numbers = Vec::new();
    let mut words = words.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        match word.as_ref() {
            "-w" | "--equal-width" if numbers.is_empty() => same_width = true,
            "-s" | "--separator" if numbers.is_empty() => {
                let Some(text) = words.next() else {
                    return Err(Failure::Usage("`-s` needs a text".to_owned()));
                };
                separator = text.into_owned();
            }
            word => match (word.strip_prefix("--separator="), word.strip_prefix("-s")) {
                (Some(text), _) | (None, Some(text)) if numbers.is_empty() => {
                    text.clone_into(&mut separator);
                }
                _ => numbers.push(Number::read(word)?),
            },
        }
    }
    let one = || Number { value: 1, digits: 0 };
    let (first, step, last) = match numbers.as_slice() {
        [last] => (one(), one(), *last),
        [first, last] => (*first, one(), *last),
        [first, step, last] => (*first, *step, *last),
        _ => return Err(Failure::Usage("one to three numbers".to_owned())),
    };
    let digits = first.digits.max(step.digits).max(last.digits);
    let (mut value, step, last) =
        (first.scaled(digits)?, step.scaled(digits)?, last.scaled(digits)?);
    if step == 0 {
        return Err(Failure::Usage("the step cannot be 0".to_owned()));
    }
    // The row ends at the last number that it reaches, not at the one that was named.
    let reached = last - (last - value) % step;
    let width =
        if same_width { shown(value, digits).len().max(shown(reached, digits).len()) } else { 0 };
    let mut count = 0_u64;
    while (step > 0 && value <= last) || (step < 0 && value >= last) {
        if count > 0 {
            desk.out.write_all(separator.as_bytes())?;
        }
        write!(desk.out, "{}", padded(&shown(value, digits), width))?;
        value += step;
        count += 1;
        if count.is_multiple_of(4096) && desk.is_stopped() {
            return Err(Failure::Negative(None));
        }
    }
    if count > 0 {
        desk.out.write_all(b"\n")?;
    }
    Ok(())
}

/// A decimal number, exactly.
#[derive(Debug, Clone, Copy)]
struct Number {
    value: i128,
    digits: usize,
}

impl Number {
    fn read(word: &str) -> Result<Self> {
        let wrong = || Failure::Usage(format!("not a number: {word}"));
        let (sign, text) = match word.strip_prefix('-') {
            Some(text) => (-1, text),
            None => (1, word.strip_prefix('+').unwrap_or(word)),
        };
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{part}");
        let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !plain || digits.len() > 18 || part.len() > MOST_DIGITS {
            return Err(wrong());
        }
        let value: i128 = digits.parse().map_err(|_| wrong())?;
        Ok(Self { value: sign * value, digits: part.len() })
    }

    fn scaled(self, digits: usize) -> Result<i128> {
        let power = u32::try_from(digits - self.digits).ok().and_then(|by| 10_i128.checked_pow(by));
        let value = power.and_then(|power| self.value.checked_mul(power));
        value.ok_or_else(|| Failure::Usage("a number is too large".to_owned()))
    }
}

fn shown(value: i128, digits: usize) -> String {
    if digits == 0 {
        return value.to_string();
    }
    let sign = if value < 0 { "-" } else { "" };
    let text = format!("{:0width$}", value.unsigned_abs(), width = digits + 1);
    let (whole, part) = text.split_at(text.len() - digits);
    format!("{sign}{whole}.{part}")
}

fn padded(text: &str, width: usize) -> String {
    match text.strip_prefix('-') {
        Some(rest) => format!("-{rest:0>width$}", width = width.saturating_sub(1)),
        None => format!("{text:0>width$}"),
    }
}

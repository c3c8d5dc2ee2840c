//! `echo` and `printf`, as bash has them.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;

use super::{Desk, Failure, Result};

/// The widest field: a wider one is nobody's honest wish.
const WIDEST: usize = 10_000;

/// Prints words with spaces between them.
pub(super) fn echo(words: &[OsString], desk: &mut Desk<'_>) -> Result<()> {
    let (mut newline, mut escapes) = (true, false);
    let is_option = |word: &&OsString| {
        let letters = word.as_bytes().strip_prefix(b"-").unwrap_or_default();
        !letters.is_empty() && letters.iter().all(|letter| b"neE".contains(letter))
    };
    let options = words.iter().take_while(is_option).count();
    for letter in words[..options].iter().flat_map(|word| &word.as_bytes()[1..]) {
        match letter {
            b'n' => newline = false,
            letter => escapes = *letter == b'e',
        }
    }
    for (index, word) in words[options..].iter().enumerate() {
        if index > 0 {
            desk.out.write_all(b" ")?;
        }
        if !escapes {
            desk.out.write_all(word.as_bytes())?;
        } else if unescape(word.as_bytes(), &mut desk.out)? == Flow::End {
            return Ok(());
        }
    }
    if newline {
        desk.out.write_all(b"\n")?;
    }
    Ok(())
}

/// Prints words through a format, again and again until they are used up.
pub(super) fn printf(words: &[OsString], desk: &mut Desk<'_>) -> Result<()> {
    let words = if words.first().is_some_and(|word| word == "--") { &words[1..] } else { words };
    let Some((format, words)) = words.split_first() else {
        return Err(Failure::Usage("a format is missing".to_owned()));
    };
    let mut words = words.iter();
    loop {
        let before = words.len();
        if one_round(format.as_bytes(), &mut words, &mut desk.out)? == Flow::End {
            return Ok(());
        }
        if words.len() == 0 || words.len() == before {
            return Ok(());
        }
    }
}

#[derive(PartialEq, Eq)]
enum Flow {
    More,
    End,
}

fn one_round<'a>(
    format: &[u8],
    words: &mut impl Iterator<Item = &'a OsString>,
    out: &mut impl Write,
) -> Result<Flow> {
    let mut rest = format;
    while let Some((byte, after)) = rest.split_first() {
        match byte {
            b'\\' => {
                let (flow, used) = escape(rest, Octal::ThreeDigits, out)?;
                if flow == Flow::End {
                    return Ok(Flow::End);
                }
                rest = &rest[used..];
            }
            b'%' if after.first() == Some(&b'%') => {
                out.write_all(b"%")?;
                rest = &after[1..];
            }
            b'%' => {
                let (field, used) = Field::read(after, words)?;
                rest = &after[used..];
                if field.print(words.next(), out)? == Flow::End {
                    return Ok(Flow::End);
                }
            }
            plain => {
                out.write_all(&[*plain])?;
                rest = after;
            }
        }
    }
    Ok(Flow::More)
}

/// One `%…` of a format.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the format, as in C")]
struct Field {
    left: bool,
    zero: bool,
    plus: bool,
    space: bool,
    other_form: bool,
    width: usize,
    precision: Option<usize>,
    kind: u8,
}

impl Field {
    fn read<'a>(
        text: &[u8],
        words: &mut impl Iterator<Item = &'a OsString>,
    ) -> Result<(Self, usize)> {
        let mut field = Self::default();
        let mut at = 0;
        while let Some(flag) = text.get(at).filter(|byte| b"-0+ #".contains(byte)) {
            match flag {
                b'-' => field.left = true,
                b'0' => field.zero = true,
                b'+' => field.plus = true,
                b' ' => field.space = true,
                _ => field.other_form = true,
            }
            at += 1;
        }
        let mut size = |at: &mut usize| -> Result<i64> {
            if text.get(*at) == Some(&b'*') {
                *at += 1;
                return Ok(words.next().map_or(0, number));
            }
            let digits = text[*at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let value = std::str::from_utf8(&text[*at..*at + digits]).unwrap_or_default();
            *at += digits;
            Ok(if digits == 0 { 0 } else { value.parse().unwrap_or(i64::MAX) })
        };
        let width = size(&mut at)?;
        field.left |= width < 0;
        field.width = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
        if text.get(at) == Some(&b'.') {
            at += 1;
            field.precision = usize::try_from(size(&mut at)?).ok();
        }
        if field.width > WIDEST || field.precision.is_some_and(|precision| precision > WIDEST) {
            return Err(Failure::Usage(format!("a field is wider than {WIDEST}")));
        }
        while text.get(at).is_some_and(|byte| b"hlLjzt".contains(byte)) {
            at += 1;
        }
        field.kind = match text.get(at) {
            Some(kind) if b"diouxXcsbqeEfFgG".contains(kind) => *kind,
            _ => return Err(Failure::Usage("the format has a `%` that means nothing".to_owned())),
        };
        Ok((field, at + 1))
    }

    fn print(&self, word: Option<&OsString>, out: &mut impl Write) -> Result<Flow> {
        let bytes = word.map_or(&b""[..], |word| word.as_bytes());
        let mut flow = Flow::More;
        let body = match self.kind {
            b's' => self.shortened(bytes),
            b'q' => quoted(bytes),
            b'c' => bytes.iter().take(1).copied().collect(),
            b'b' => {
                let mut text = Vec::new();
                flow = unescape(bytes, &mut text)?;
                self.shortened(&text)
            }
            b'd' | b'i' => self.signed(word.map_or(0, number)),
            b'u' => self.digits(&word.map_or(0, number).cast_unsigned().to_string()),
            b'o' => self.digits(&format!("{:o}", word.map_or(0, number))),
            b'x' => self.digits(&self.hexadecimal("0x", format!("{:x}", word.map_or(0, number)))),
            b'X' => self.digits(&self.hexadecimal("0X", format!("{:X}", word.map_or(0, number)))),
            _ => self.real(word),
        };
        let missing = self.width.saturating_sub(String::from_utf8_lossy(&body).chars().count());
        let numeric = !b"sqcb".contains(&self.kind);
        if self.left {
            out.write_all(&body)?;
            out.write_all(&vec![b' '; missing])?;
        } else if self.zero && numeric {
            let sign = usize::from(matches!(body.first(), Some(b'-' | b'+')));
            out.write_all(&body[..sign])?;
            out.write_all(&vec![b'0'; missing])?;
            out.write_all(&body[sign..])?;
        } else {
            out.write_all(&vec![b' '; missing])?;
            out.write_all(&body)?;
        }
        Ok(flow)
    }

    fn shortened(&self, bytes: &[u8]) -> Vec<u8> {
        bytes[..self.precision.unwrap_or(usize::MAX).min(bytes.len())].to_vec()
    }

    fn signed(&self, value: i64) -> Vec<u8> {
        let digits = self.digits(&value.unsigned_abs().to_string());
        let mut text = self.sign(value < 0).as_bytes().to_vec();
        text.extend(digits);
        text
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, _, _) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    fn digits(&self, digits: &str) -> Vec<u8> {
        format!("{digits:0>width$}", width = self.precision.unwrap_or(1)).into_bytes()
    }

    fn hexadecimal(&self, prefix: &str, digits: String) -> String {
        if self.other_form && digits != "0" { format!("{prefix}{digits}") } else { digits }
    }

    fn real(&self, word: Option<&OsString>) -> Vec<u8> {
        let text = word.map(|word| word.to_string_lossy().trim().to_owned()).unwrap_or_default();
        let value: f64 = text.parse().unwrap_or(0.0);
        let precision = self.precision.unwrap_or(6);
        let size = value.abs();
        let body = match self.kind {
            b'e' | b'E' => exponential(size, precision),
            b'g' | b'G' => general(size, precision.max(1)),
            _ => format!("{size:.precision$}"),
        };
        let body = if self.kind.is_ascii_uppercase() { body.to_uppercase() } else { body };
        format!("{}{body}", self.sign(value.is_sign_negative() && !value.is_nan())).into_bytes()
    }
}

/// Rust writes `1e2` where C writes `1e+02`.
fn exponential(value: f64, precision: usize) -> String {
    let text = format!("{value:.precision$e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
    format!("{mantissa}e{sign}{digits:0>2}")
}

fn general(value: f64, precision: usize) -> String {
    let text = exponential(value, precision - 1);
    let exponent = text.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok());
    let Some(exponent) = exponent else { return text };
    let trim = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    let most = i32::try_from(precision).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= most {
        let (mantissa, rest) = text.split_once('e').unwrap_or((&text, ""));
        return format!("{}e{rest}", trim(mantissa));
    }
    let decimals = usize::try_from(most - 1 - exponent).unwrap_or(0);
    trim(&format!("{value:.decimals$}"))
}

/// Reads a number as C does: decimal, `0x`, `0`, or the code of a character after a quote.
fn number(word: &OsString) -> i64 {
    let text = word.to_string_lossy();
    let text = text.trim();
    if let Some(character) = text.strip_prefix(['\'', '"']).and_then(|rest| rest.chars().next()) {
        return i64::from(u32::from(character));
    }
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let digits = digits.strip_prefix('+').unwrap_or(digits);
    let (radix, digits) =
        if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            (16, hex)
        } else if digits.len() > 1 && digits.starts_with('0') {
            (8, &digits[1..])
        } else {
            (10, digits)
        };
    let good: String = digits.chars().take_while(|digit| digit.is_digit(radix)).collect();
    i64::from_str_radix(&good, radix).unwrap_or(0).saturating_mul(sign)
}

/// Whether an octal escape begins with a `0` of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Octal {
    /// `\101`, in a format.
    ThreeDigits,
    /// `\0101`, in `echo -e` and `%b`.
    AfterZero,
}

fn unescape(bytes: &[u8], out: &mut impl Write) -> Result<Flow> {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        out.write_all(&rest[..at])?;
        let (flow, used) = escape(&rest[at..], Octal::AfterZero, out)?;
        if flow == Flow::End {
            return Ok(Flow::End);
        }
        rest = &rest[at + used..];
    }
    out.write_all(rest)?;
    Ok(Flow::More)
}

/// Writes what an escape at the start of `text` means; returns how many bytes it took.
fn escape(text: &[u8], octal: Octal, out: &mut impl Write) -> Result<(Flow, usize)> {
    let Some(letter) = text.get(1) else {
        out.write_all(b"\\")?;
        return Ok((Flow::More, 1));
    };
    let single: &[u8] = match letter {
        b'a' => b"\x07",
        b'b' => b"\x08",
        b'e' | b'E' => b"\x1b",
        b'f' => b"\x0c",
        b'n' => b"\n",
        b'r' => b"\r",
        b't' => b"\t",
        b'v' => b"\x0b",
        b'\\' => b"\\",
        b'"' if octal == Octal::ThreeDigits => b"\"",
        b'\'' if octal == Octal::ThreeDigits => b"'",
        b'c' => return Ok((Flow::End, 2)),
        b'x' => return code(text, 2, 16, 2, false, out),
        b'u' => return code(text, 2, 16, 4, true, out),
        b'U' => return code(text, 2, 16, 8, true, out),
        b'0' if octal == Octal::AfterZero => return code(text, 2, 8, 3, false, out),
        b'0'..=b'7' if octal == Octal::ThreeDigits => return code(text, 1, 8, 3, false, out),
        _ => {
            out.write_all(&text[..2])?;
            return Ok((Flow::More, 2));
        }
    };
    out.write_all(single)?;
    Ok((Flow::More, 2))
}

fn code(
    text: &[u8],
    start: usize,
    radix: u32,
    most: usize,
    is_character: bool,
    out: &mut impl Write,
) -> Result<(Flow, usize)> {
    let digits = text[start..].iter().take(most);
    let digits: String =
        digits.map(|byte| char::from(*byte)).take_while(|digit| digit.is_digit(radix)).collect();
    let used = start + digits.len();
    if digits.is_empty() && text.get(1) != Some(&b'0') {
        out.write_all(&text[..start])?;
        return Ok((Flow::More, start));
    }
    let value = u32::from_str_radix(&digits, radix).unwrap_or(0);
    if is_character {
        let character = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
        out.write_all(character.encode_utf8(&mut [0; 4]).as_bytes())?;
    } else {
        out.write_all(&[(value & 0xff) as u8])?;
    }
    Ok((Flow::More, used))
}

fn quoted(bytes: &[u8]) -> Vec<u8> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:,@%+=".contains(byte);
    if bytes.is_empty() {
        return b"''".to_vec();
    }
    let mut text = Vec::with_capacity(bytes.len());
    for byte in bytes {
        if !plain(byte) && byte.is_ascii() {
            text.push(b'\\');
        }
        text.push(*byte);
    }
    text
}

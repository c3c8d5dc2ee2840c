//! Takes out what drives a terminal, and shows what hides.

use std::borrow::Cow;
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

/// What stands for a run of NULs: dropping them would glue names together.
const NUL: char = '␀';

/// Returns a line without escape sequences and control characters, with what is invisible written
/// out as `<U+200B>`.
pub(super) fn visible(line: Cow<'_, str>) -> Cow<'_, str> {
    if line.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        return line;
    }
    if line.chars().all(is_shown) {
        return line;
    }
    let mut text = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    let mut strings = Strings::MayEnd;
    while let Some(character) = characters.next() {
        match character {
            '\0' => {
                while characters.next_if_eq(&'\0').is_some() {}
                text.push(NUL);
            }
            '\u{1b}' => skip_sequence(&mut characters, &mut strings),
            '\u{9b}' => skip_parameters(&mut characters),
            control if is_control(control) => {}
            hidden if is_invisible(hidden) => {
                // Writing to a string does not fail.
                let _ = write!(text, "<U+{:04X}>", u32::from(hidden));
            }
            seen => text.push(seen),
        }
    }
    Cow::Owned(text)
}

/// Returns whether a character of a line stays as it is.
pub(super) fn is_shown(character: char) -> bool {
    !is_control(character) && !is_invisible(character)
}

/// Every control character but the tab; lines come without their line feed.
fn is_control(character: char) -> bool {
    character.is_control() && character != '\t'
}

/// Characters that take no room or change the direction: what a person does not see and a model
/// reads.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a string for the terminal that begins in the rest of a line may end there. It is looked
/// for once only: a line may be nothing but beginnings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strings {
    MayEnd,
    NeverEnd,
}

/// Skips what follows an escape character, if it is a sequence that ends; otherwise only the
/// escape itself goes, so that nothing can hide behind one.
fn skip_sequence(characters: &mut Peekable<Chars<'_>>, strings: &mut Strings) {
    match characters.peek() {
        Some('[') => {
            characters.next();
            skip_parameters(characters);
        }
        // Strings for the terminal: its title, its clipboard, its colours.
        Some(']' | 'P' | 'X' | '^' | '_') if *strings == Strings::MayEnd => {
            let mut ahead = characters.clone();
            ahead.next();
            while let Some(character) = ahead.next() {
                let ended = matches!(character, '\u{7}' | '\u{9c}')
                    || (character == '\u{1b}' && ahead.next_if_eq(&'\\').is_some());
                if ended {
                    *characters = ahead;
                    return;
                }
            }
            *strings = Strings::NeverEnd;
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {}
        Some(' '..='/') => {
            while characters.next_if(|character| matches!(character, ' '..='/')).is_some() {}
            characters.next_if(|character| matches!(character, '0'..='~'));
        }
        Some('0'..='~') => {
            characters.next();
        }
        _ => {}
    }
}

/// Skips the parameters and the final letter of a control sequence.
fn skip_parameters(characters: &mut Peekable<Chars<'_>>) {
    while characters.next_if(|character| matches!(character, ' '..='?')).is_some() {}
    characters.next_if(|character| matches!(character, '@'..='~'));
}

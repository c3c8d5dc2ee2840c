//! The characters of a line: as many as are read, and none that cannot be seen.

use crate::terminal::refusal::Refusal;

/// The longest line that is read.
pub(in crate::terminal) const MOST_CHARACTERS: usize = 8_000;

/// Returns whether a character cannot be seen, so that a line could hold what nobody reads.
pub(in crate::terminal) fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        || (character.is_whitespace() && !matches!(character, ' ' | '\t' | '\n'))
}

/// Refuses a line that is too long or holds characters that nobody sees.
pub(super) fn check(line: &str) -> Result<(), Refusal> {
    let count = line.chars().count();
    if count > MOST_CHARACTERS {
        return Err(Refusal::new(
            line.chars().take(40).collect::<String>() + "…",
            format!("is {count} characters long, and a line may have {MOST_CHARACTERS}"),
        )
        .advice("Send it as several shorter commands"));
    }
    for character in line.chars() {
        if matches!(character, ' ' | '\t' | '\n') {
            continue;
        }
        if character.is_control() || is_invisible(character) {
            return Err(Refusal::new(
                character.to_string(),
                "is a control character or cannot be seen, and a line may only hold what can be \
                 read",
            )
            .advice("Leave the character out, or match it with `grep -P '\\x{…}'`"));
        }
    }
    Ok(())
}

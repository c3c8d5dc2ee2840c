//! Numbers with their nouns, as sentences for people have them.

use std::fmt::Display;

/// Returns a number with its noun: `1 note`, `2 notes`.
pub fn counted<Number: Copy + Display + PartialEq + From<u8>>(
    count: Number,
    one: &str,
    many: &str,
) -> String {
    let noun = if count == Number::from(1) { one } else { many };
    format!("{count} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        let notes = |count: usize| counted(count, "note", "notes");
        assert_eq!([notes(0), notes(1), notes(21)], ["0 notes", "1 note", "21 notes"]);
    }
}

//! A word as a command line spells it.

/// Puts a word into single quotes, so that it is one word whatever it holds.
pub fn single_quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_inside_is_taken_out_of_the_quotes() {
        assert_eq!(single_quoted("a b"), "'a b'");
        assert_eq!(single_quoted("it's"), r"'it'\''s'");
        assert_eq!(single_quoted(""), "''");
    }
}

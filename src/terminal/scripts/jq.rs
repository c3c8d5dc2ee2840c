//! `jq` filters: no environment, no modules, no other files.

use crate::terminal::refusal::Refusal;

/// Refuses a filter that reads anything but its input.
pub(in crate::terminal) fn check(filter: &str) -> Result<(), Refusal> {
    let mut rest = filter;
    let mut before = ' ';
    while let Some(character) = rest.chars().next() {
        if !is_name(character) {
            // Blanks may stand between a `$` and its name.
            if before != '$' || !character.is_whitespace() {
                before = character;
            }
            rest = &rest[character.len_utf8()..];
            continue;
        }
        let end = rest.find(|character| !is_name(character)).unwrap_or(rest.len());
        let name = &rest[..end];
        let after = without_comments(&rest[end..]);
        // `.env` and `{env: 1}` are fields; `"env"` is a text, unless something is interpolated.
        let is_field = matches!(before, '.' | '"') || (after.starts_with(':') && before != '$');
        let effect = match name {
            "ENV" | "__prog_args" if before == '$' => Some("is the environment"),
            "env" if !is_field && before != '$' => Some("is the environment"),
            "import" | "include" if !is_field && after.starts_with('"') => {
                Some("loads another file")
            }
            "modulemeta" | "input_line_number" | "get_search_list" if !is_field => {
                Some("looks outside of its input")
            }
            _ => None,
        };
        if let Some(effect) = effect {
            return Err(Refusal::new(name, format!("{effect}, and a filter only sees its input"))
                .form("jq '.name' package.json"));
        }
        before = 'a';
        rest = &rest[end..];
    }
    Ok(())
}

/// Returns what follows blanks and comments.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with('#') {
        rest = rest[rest.find('\n').unwrap_or(rest.len())..].trim_start();
    }
    rest
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_see_their_input_and_nothing_else() {
        for filter in [
            ".",
            ".name",
            ".env",
            ".scripts | keys[]",
            "{env: .x}",
            ".a.env.b",
            ".[] | select(.type == \"env\")",
            "\"include\"",
            ".include",
            "to_entries[] | \"\\(.key)=\\(.value)\"",
            "map(.environment)",
            "reduce .[] as $x (0; . + $x)",
        ] {
            assert_eq!(check(filter), Ok(()), "{filter}");
        }
        for filter in [
            "env",
            "env.HOME",
            "$ENV",
            "$ENV.HOME",
            "\"\\(env.HOME)\"",
            ". as $x | env",
            "import \"a\" as a; .",
            "include \"a\"; .",
            "[env]",
            "$__prog_args",
            "modulemeta",
            "get_search_list",
            "$ ENV",
            "$\nENV.HOME",
            "import # x\n \"a\" as a; .",
            "include # x\n# y\n\"a\"; .",
        ] {
            assert!(check(filter).is_err(), "{filter}");
        }
    }
}

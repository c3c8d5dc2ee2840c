//! What a shell would replace or expand: refused, with the form that works instead.

use super::{Piece, Word};
use crate::terminal::refusal::Refusal;

/// What a character stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// In none.
    None,
    /// In double quotes.
    Double,
}

/// Refuses what a shell would replace, by what follows the `$`; a `$` before anything else is only a `$`.
pub(super) fn check_dollar(rest: &str, quotes: Quotes) -> Result<(), Refusal> {
    let Some(next) = rest.chars().next() else { return Ok(()) };
    let refusal = match next {
        '(' => Refusal::new("$(", "would run a command inside the line").advice(
            "Run the inner command first and use what it prints, or join the two with a pipe: \
             `inner | xargs outer`",
        ),
        '{'
        | '['
        | '@'
        | '*'
        | '#'
        | '?'
        | '$'
        | '!'
        | '-'
        | '_'
        | '0'..='9'
        | 'a'..='z'
        | 'A'..='Z' => {
            let name: String = rest
                .chars()
                .take_while(|character| character.is_alphanumeric() || *character == '_')
                .collect();
            let name = if name.is_empty() { next.to_string() } else { name };
            Refusal::new(
                format!("${name}"),
                "is a variable of a shell, and there is no shell and no variable here",
            )
            .advice(
                "Write the value itself, and put a `$` that is meant literally in single \
                 quotes: `'$name'`",
            )
        }
        '\'' | '"' if quotes == Quotes::None => {
            Refusal::new(format!("${next}"), "is a way of quoting that is not read here")
                .advice("Use plain single quotes: `'text'`")
        }
        '\\' if rest.starts_with("\\\n") => Refusal::new("$", "stands before a continued line")
            .advice("Put a `$` that is meant literally in single quotes: `'$'`"),
        _ => return Ok(()),
    };
    Err(refusal)
}

/// Refuses `{a,b}` and `{1..3}`; `{}`, `HEAD@{1}` and `a{` stay as they are, as in bash.
pub(super) fn check_braces(word: &Word, written: &str) -> Result<(), Refusal> {
    if !word.has_bare(&['{']) {
        return Ok(());
    }
    let bare: String = word
        .pieces
        .iter()
        .map(|piece| if piece.quoted { "\"" } else { piece.text.as_str() })
        .collect();
    if expands(&bare) {
        return Err(Refusal::new(written, "has braces that a shell would expand").advice(
            "Write the words one by one, use a glob like `src/*.rs`, or put the word in single \
             quotes if the braces are meant literally",
        ));
    }
    Ok(())
}

/// Refuses `{name}` directly before a redirect, where bash puts the number of a stream into a
/// variable.
pub(super) fn check_descriptor(word: &Word, written: &str) -> Result<(), Refusal> {
    let is_bare = |piece: Option<&Piece>, brace: char, at_start: bool| {
        piece.is_some_and(|piece| {
            let found =
                if at_start { piece.text.starts_with(brace) } else { piece.text.ends_with(brace) };
            !piece.quoted && found
        })
    };
    let is_empty = word.bare() == Some("{}");
    if !is_empty
        && is_bare(word.pieces.first(), '{', true)
        && is_bare(word.pieces.last(), '}', false)
    {
        return Err(Refusal::new(written, "would name a stream of a shell before a redirect")
            .advice("Put a space between the word and the redirect"));
    }
    Ok(())
}

/// Refuses the homes of others and the tildes that bash expands after `=` and `:`.
pub(super) fn check_tilde(word: &Word, written: &str) -> Result<(), Refusal> {
    let Some(first) = word.pieces.first().filter(|piece| !piece.quoted) else { return Ok(()) };
    let refusal = Refusal::new(written, "has a `~` that stands for a folder of a shell").advice(
        "`~` and `~/path` are the workspace; every other path is relative to the current folder",
    );
    if let Some(rest) = first.text.strip_prefix('~') {
        let alone = rest.is_empty() && word.pieces.len() == 1;
        return if alone || rest.starts_with('/') { Ok(()) } else { Err(refusal) };
    }
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.starts_with(|character: char| character.is_ascii_digit())
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    if let Some((name, _)) = first.text.split_once('=')
        && is_name(name.strip_suffix('+').unwrap_or(name))
        && word.has_bare(&['~'])
    {
        return Err(refusal);
    }
    Ok(())
}

pub(super) fn parenthesis(character: char) -> Refusal {
    Refusal::new(
        character.to_string(),
        "groups commands or makes a function in a shell, and there is no shell here",
    )
    .advice(
        "Join commands with `;`, `&&`, `||` or `|`, and quote parentheses that belong to a word: \
         `'('` or `\\(`",
    )
}

pub(super) fn backtick() -> Refusal {
    Refusal::new("`…`", "would run a command inside the line").advice(
        "Run the inner command first and use what it prints, or join the two with a pipe: `inner \
         | xargs outer`; put a backtick that is meant literally in single quotes",
    )
}

/// Returns whether a shell might expand braces of a word.
///
/// It needs a comma or two dots between a `{` and any later `}`: bash also expands `{}a,b}`, which
/// looks as if it had been closed before. `HEAD@{1}..` has none.
fn expands(word: &str) -> bool {
    let Some((_, inside)) = word.split_once('{') else { return false };
    let divider = inside.find(',').into_iter().chain(inside.find("..")).min();
    divider.is_some_and(|divider| inside[divider..].contains('}'))
}

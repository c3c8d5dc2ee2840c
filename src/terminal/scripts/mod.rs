//! The small languages inside arguments, each read far enough to know that it only reads.

pub(super) mod awk;
pub(super) mod find;
#[cfg(test)]
mod fuzz;
pub(super) mod jq;
pub(super) mod sed;
pub(super) mod test;

use super::refusal::Refusal;

/// Refuses a format of Git that would run the program that checks signatures.
pub(super) fn git_format(format: &str) -> Result<(), Refusal> {
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            rest = after;
            continue;
        }
        let placeholder = rest.trim_start_matches(['+', '-', ' ']);
        let name = placeholder.strip_prefix('(').map(|name| name.trim_start_matches('*'));
        if placeholder.starts_with('G') || name.is_some_and(|name| name.starts_with("signature")) {
            return Err(
                signatures(format).advice("Leave `%G…` and `%(signature)` out of the format")
            );
        }
    }
    Ok(())
}

/// Refuses an order of Git's branches and tags that would run the program that checks signatures.
pub(super) fn git_order(order: &str) -> Result<(), Refusal> {
    let name = order.trim_start_matches(['-', '*']);
    if name.starts_with("signature") {
        return Err(signatures(order).form("git for-each-ref --sort=-committerdate"));
    }
    Ok(())
}

fn signatures(word: &str) -> Refusal {
    Refusal::new(word, "asks for signatures, which Git checks by running another program")
}

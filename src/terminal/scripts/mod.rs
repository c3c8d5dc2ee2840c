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
        if placeholder.starts_with('G') || placeholder.starts_with("(signature") {
            return Err(Refusal::new(
                format,
                "asks for signatures, which Git checks by running another program",
            )
            .advice("Leave `%G…` and `%(signature)` out of the format"));
        }
    }
    Ok(())
}

//! `basename` and `dirname`: cut names, look at nothing.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use super::{Desk, Failure, Result};

/// Prints the last part of each name.
pub(super) fn basename(words: &[OsString], desk: &mut Desk<'_>) -> Result<()> {
    let mut suffix: Option<OsString> = None;
    let (mut several, mut end) = (false, b'\n');
    let mut words = words.iter().peekable();
    while let Some(option) = words.next_if(|word| word.as_bytes().first() == Some(&b'-')) {
        match option.as_bytes() {
            b"--" => break,
            b"-a" | b"--multiple" => several = true,
            b"-z" | b"--zero" => end = 0,
            b"-s" => {
                several = true;
                suffix = words.next().cloned();
            }
            other => {
                let long = option.as_bytes().strip_prefix(b"--suffix=");
                let Some(text) = long.or_else(|| other.strip_prefix(b"-s")) else {
                    return Err(Failure::Usage(format!("no option {}", option.display())));
                };
                several = true;
                suffix = Some(std::ffi::OsStr::from_bytes(text).to_owned());
            }
        }
    }
    let mut names: Vec<&OsString> = words.collect();
    if !several && names.len() == 2 {
        suffix = names.pop().cloned();
    }
    match names.len() {
        0 => return Err(Failure::Usage("a name is missing".to_owned())),
        2.. if !several => return Err(Failure::Usage("one name, or `-a`".to_owned())),
        _ => {}
    }
    let suffix = suffix.unwrap_or_default();
    for name in names {
        let last = last_part(name.as_bytes());
        let short = last.strip_suffix(suffix.as_bytes()).filter(|short| !short.is_empty());
        std::io::Write::write_all(&mut desk.out, short.unwrap_or(last))?;
        std::io::Write::write_all(&mut desk.out, &[end])?;
    }
    Ok(())
}

/// Prints each name without its last part.
pub(super) fn dirname(words: &[OsString], desk: &mut Desk<'_>) -> Result<()> {
    let mut end = b'\n';
    let mut words = words.iter().peekable();
    while let Some(option) = words.next_if(|word| word.as_bytes().first() == Some(&b'-')) {
        match option.as_bytes() {
            b"--" => break,
            b"-z" | b"--zero" => end = 0,
            _ => return Err(Failure::Usage(format!("no option {}", option.display()))),
        }
    }
    if words.peek().is_none() {
        return Err(Failure::Usage("a name is missing".to_owned()));
    }
    for name in words {
        std::io::Write::write_all(&mut desk.out, folder_part(name.as_bytes()))?;
        std::io::Write::write_all(&mut desk.out, &[end])?;
    }
    Ok(())
}

fn last_part(name: &[u8]) -> &[u8] {
    let trimmed = without_slashes(name);
    if trimmed.is_empty() {
        return if name.is_empty() { name } else { b"/" };
    }
    trimmed.rsplit(|byte| *byte == b'/').next().unwrap_or(trimmed)
}

fn folder_part(name: &[u8]) -> &[u8] {
    let trimmed = without_slashes(name);
    if trimmed.is_empty() {
        return if name.is_empty() { b"." } else { b"/" };
    }
    match trimmed.iter().rposition(|byte| *byte == b'/') {
        None => b".",
        Some(at) => {
            let folder = without_slashes(&trimmed[..at]);
            if folder.is_empty() { b"/" } else { folder }
        }
    }
}

fn without_slashes(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    &name[..end]
}

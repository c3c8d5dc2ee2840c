//! `tree`, where the system has none: folders as a drawing. Links are shown and never followed.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Desk, Failure, Result};

/// What to show.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command")]
struct Options {
    hidden: bool,
    folders_only: bool,
    full_paths: bool,
    folders_first: bool,
    no_indentation: bool,
    no_report: bool,
    mark_folders: bool,
    depth: Option<usize>,
    only: Vec<String>,
    without: Vec<String>,
}

#[derive(Debug, Default)]
struct Counts {
    folders: usize,
    files: usize,
}

/// Draws each folder.
pub(super) fn tree(words: &[OsString], desk: &mut Desk<'_>) -> Result<()> {
    let (options, mut roots) = read(words)?;
    if roots.is_empty() {
        roots.push(OsString::from("."));
    }
    let mut counts = Counts::default();
    let mut missing = None;
    for root in roots {
        let inside = desk.workspace.resolve(desk.directory, Path::new(&root));
        match inside {
            Ok(path) if path.is_dir() => {
                desk.line(root.as_bytes())?;
                counts.folders += 1;
                let shown = PathBuf::from(&root);
                draw(
                    &Place { path: &path, shown: &shown, bars: "", depth: 1 },
                    &options,
                    &mut counts,
                    desk,
                )?;
            }
            Ok(path) if path.exists() => {
                desk.line(root.as_bytes())?;
                counts.files += 1;
            }
            _ => {
                missing = Some(format!("{}: no such folder in the workspace", root.display()));
            }
        }
    }
    if !options.no_report {
        let folders = plural(counts.folders, "directory", "directories");
        let files = plural(counts.files, "file", "files");
        let report = if options.folders_only { folders } else { format!("{folders}, {files}") };
        writeln!(desk.out, "\n{report}")?;
    }
    missing.map_or(Ok(()), |message| Err(Failure::Negative(Some(message))))
}

/// A folder that is being drawn.
struct Place<'a> {
    path: &'a Path,
    shown: &'a Path,
    bars: &'a str,
    depth: usize,
}

struct Entry {
    name: OsString,
    is_folder: bool,
    link: Option<PathBuf>,
}

fn draw(
    place: &Place<'_>,
    options: &Options,
    counts: &mut Counts,
    desk: &mut Desk<'_>,
) -> Result<()> {
    if options.depth.is_some_and(|most| place.depth > most) || desk.is_stopped() {
        return Ok(());
    }
    let entries = entries(place.path, options);
    let last = entries.len().saturating_sub(1);
    for (index, entry) in entries.into_iter().enumerate() {
        let shown = place.shown.join(&entry.name);
        let (branch, below) =
            if index == last { ("└── ", "    ") } else { ("├── ", "│\u{a0}\u{a0} ") };
        if !options.no_indentation {
            write!(desk.out, "{}{branch}", place.bars)?;
        }
        let name = if options.full_paths { shown.as_os_str() } else { &entry.name };
        desk.out.write_all(&printable(name))?;
        if let Some(target) = &entry.link {
            desk.out.write_all(b" -> ")?;
            desk.out.write_all(&printable(target.as_os_str()))?;
        } else if entry.is_folder && options.mark_folders {
            desk.out.write_all(b"/")?;
        }
        desk.out.write_all(b"\n")?;
        if entry.is_folder {
            counts.folders += 1;
            let bars = format!("{}{below}", place.bars);
            let path = place.path.join(&entry.name);
            let next = Place { path: &path, shown: &shown, bars: &bars, depth: place.depth + 1 };
            draw(&next, options, counts, desk)?;
        } else {
            counts.files += 1;
        }
    }
    Ok(())
}

/// Returns what a folder shows, in order. One that cannot be read shows nothing.
fn entries(folder: &Path, options: &Options) -> Vec<Entry> {
    let Ok(found) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut entries: Vec<Entry> = found
        .flatten()
        .filter_map(|found| {
            let (name, kind) = (found.file_name(), found.file_type().ok()?);
            let link = kind.is_symlink().then(|| std::fs::read_link(found.path()).ok()).flatten();
            Some(Entry { name, is_folder: kind.is_dir(), link })
        })
        .filter(|entry| options.shows(entry))
        .collect();
    entries.sort_by(|left, right| {
        let folders_first = options.folders_first && left.is_folder != right.is_folder;
        let by_kind = right.is_folder.cmp(&left.is_folder);
        let by_name = left.name.cmp(&right.name);
        if folders_first { by_kind } else { by_name }
    });
    entries
}

impl Options {
    fn shows(&self, entry: &Entry) -> bool {
        let name = entry.name.to_string_lossy();
        let matches = |patterns: &[String]| {
            patterns.iter().any(|pattern| matches(pattern.as_bytes(), name.as_bytes()))
        };
        (self.hidden || !name.starts_with('.'))
            && (!self.folders_only || entry.is_folder)
            && !matches(&self.without)
            && (entry.is_folder || self.only.is_empty() || matches(&self.only))
    }
}

fn read(words: &[OsString]) -> Result<(Options, Vec<OsString>)> {
    let mut options = Options::default();
    let mut roots = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        match text.as_ref() {
            "--" => roots.extend(words.by_ref().cloned()),
            "--dirsfirst" => options.folders_first = true,
            "--noreport" => options.no_report = true,
            "--charset" | "--filelimit" => drop(words.next()),
            "-L" => options.depth = Some(depth(words.next())?),
            "-I" => options.without.extend(patterns(words.next())),
            "-P" => options.only.extend(patterns(words.next())),
            text if text.starts_with("--") => {}
            text if text.len() > 1 && text.starts_with('-') => {
                for letter in text[1..].chars() {
                    match letter {
                        'a' => options.hidden = true,
                        'd' => options.folders_only = true,
                        'f' => options.full_paths = true,
                        'i' => options.no_indentation = true,
                        'F' => options.mark_folders = true,
                        'L' => options.depth = Some(depth(words.next())?),
                        // Colours, sizes and owners: the drawing is the same without.
                        _ => {}
                    }
                }
            }
            _ => roots.push(word.clone()),
        }
    }
    Ok((options, roots))
}

fn depth(word: Option<&OsString>) -> Result<usize> {
    let depth = word.and_then(|word| word.to_str()).and_then(|word| word.parse().ok());
    let depth = depth.filter(|depth| *depth > 0);
    depth.ok_or_else(|| Failure::Usage("`-L` needs a level of 1 or more".to_owned()))
}

/// `-I 'a|b'` has several patterns in one word.
fn patterns(word: Option<&OsString>) -> Vec<String> {
    let text = word.map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    text.split('|').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// A name with a line feed must not look like two.
fn printable(name: &OsStr) -> Vec<u8> {
    let bytes = name.as_bytes();
    bytes.iter().map(|byte| if byte.is_ascii_control() { b'?' } else { *byte }).collect()
}

/// Returns whether a name is what a pattern of `*`, `?` and `[…]` describes.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // The place to come back to, should the rest not fit: the last star and where it ended.
    let (mut at, mut position, mut back) = (0, 0, None);
    while position < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                back = Some((at, position));
                at += 1;
                continue;
            }
            Some(b'?') => {
                at += 1;
                position += 1;
                continue;
            }
            Some(b'[') => {
                if let Some((fits, used)) = class(&pattern[at..], name[position])
                    && fits
                {
                    at += used;
                    position += 1;
                    continue;
                }
            }
            Some(byte) if *byte == name[position] => {
                at += 1;
                position += 1;
                continue;
            }
            _ => {}
        }
        let Some((star, ended)) = back else { return false };
        back = Some((star, ended + 1));
        (at, position) = (star + 1, ended + 1);
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// Returns whether a byte is in the class at the start of a pattern, and the class's length.
fn class(pattern: &[u8], byte: u8) -> Option<(bool, usize)> {
    let negated = matches!(pattern.get(1), Some(b'!' | b'^'));
    let start = 1 + usize::from(negated);
    let end = start + 1 + pattern.get(start + 1..)?.iter().position(|byte| *byte == b']')?;
    let mut members = &pattern[start..end];
    let mut inside = false;
    while let Some((first, rest)) = members.split_first() {
        if let [b'-', last, after @ ..] = rest {
            inside |= (*first..=*last).contains(&byte);
            members = after;
        } else {
            inside |= *first == byte;
            members = rest;
        }
    }
    Some((inside != negated, end + 1))
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

//! `tree`, where the system has none: folders as a drawing. Links are shown and never followed.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Desk, Failure, Result};
use crate::support::plural::counted;

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
                draw(
                    Folder::open(path, PathBuf::from(&root), String::new(), &options),
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
        let folders = counted(counts.folders, "directory", "directories");
        let files = counted(counts.files, "file", "files");
        let report = if options.folders_only { folders } else { format!("{folders}, {files}") };
        writeln!(desk.out, "\n{report}")?;
    }
    missing.map_or(Ok(()), |message| Err(Failure::Negative(Some(message))))
}

/// A folder that is being drawn.
struct Folder {
    path: PathBuf,
    shown: PathBuf,
    /// What stands in front of its entries.
    bars: String,
    /// The entries that are still to be drawn.
    entries: std::vec::IntoIter<Entry>,
}

impl Folder {
    fn open(path: PathBuf, shown: PathBuf, bars: String, options: &Options) -> Self {
        let entries = entries(&path, options).into_iter();
        Self { path, shown, bars, entries }
    }
}

struct Entry {
    name: OsString,
    is_folder: bool,
    link: Option<PathBuf>,
}

/// Draws what is in a folder. The folders that are open are a list and no calls: a path can be so
/// deep that they would not fit on a thread's stack.
fn draw(root: Folder, options: &Options, counts: &mut Counts, desk: &mut Desk<'_>) -> Result<()> {
    let mut open = vec![root];
    while let Some(folder) = open.last_mut() {
        let Some(entry) = folder.entries.next() else {
            open.pop();
            continue;
        };
        if desk.is_stopped() {
            return Ok(());
        }
        let is_last = folder.entries.len() == 0;
        let (branch, below) =
            if is_last { ("└── ", "    ") } else { ("├── ", "│\u{a0}\u{a0} ") };
        if !options.no_indentation {
            write!(desk.out, "{}{branch}", folder.bars)?;
        }
        let shown = folder.shown.join(&entry.name);
        write_entry(&entry, &shown, options, desk)?;
        if !entry.is_folder {
            counts.files += 1;
            continue;
        }
        counts.folders += 1;
        let path = folder.path.join(&entry.name);
        let bars = format!("{}{below}", folder.bars);
        if options.depth.is_none_or(|most| open.len() < most) {
            open.push(Folder::open(path, shown, bars, options));
        }
    }
    Ok(())
}

fn write_entry(entry: &Entry, shown: &Path, options: &Options, desk: &mut Desk<'_>) -> Result<()> {
    let name = if options.full_paths { shown.as_os_str() } else { &entry.name };
    desk.out.write_all(&printable(name))?;
    if let Some(target) = &entry.link {
        desk.out.write_all(b" -> ")?;
        desk.out.write_all(&printable(target.as_os_str()))?;
    } else if entry.is_folder && options.mark_folders {
        desk.out.write_all(b"/")?;
    }
    Ok(desk.out.write_all(b"\n")?)
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

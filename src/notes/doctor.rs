//! What is wrong in a folder of notes: findings with file and line, and what can be repaired.
//!
//! Looking changes nothing. Repairing ([`super::repair`]) shows what it changes, reads it back and
//! keeps the old bytes.

use std::collections::{BTreeMap, HashMap};

use super::conflict;
use super::entry::Entry;
use super::error::NoteError;
use super::files;
use super::format;
use super::front_matter::NoteText;
use super::lifecycle;
use super::links::{Graph, cycles};
use super::near::{self, fingerprint, likeness};
use super::note::{NoteId, NoteKind};
use super::secrets;
use super::store::NoteStore;

/// What a look at a folder of notes found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkup {
    /// How many files were looked at.
    pub files: usize,
    /// What was found, by file.
    pub findings: Vec<Finding>,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file's name.
    pub file: String,
    /// The line, where there is one.
    pub line: Option<usize>,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Whether `--fix` can repair it.
    pub fixable: bool,
    /// What was changed, as a diff, when it was repaired.
    pub repaired: Option<String>,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a look.
    Warning,
    /// A note is not read, or not as it should be.
    Error,
}

impl Checkup {
    /// Returns the worst of what is still wrong.
    pub fn worst(&self) -> Option<Severity> {
        let open = self.findings.iter().filter(|finding| finding.repaired.is_none());
        open.map(|finding| finding.severity).max()
    }
}

impl Finding {
    pub(super) fn new(file: &str, severity: Severity, message: impl Into<String>) -> Self {
        let message = message.into();
        let file = file.to_owned();
        Self { file, line: None, severity, message, fixable: false, repaired: None }
    }

    fn at(mut self, line: usize) -> Self {
        self.line = Some(line);
        self
    }

    fn fixable(mut self) -> Self {
        self.fixable = true;
        self
    }
}

impl NoteStore {
    /// Looks at all notes; with `fix`, repairs what can be and tells what it changed.
    pub fn doctor(&self, fix: bool) -> Result<Checkup, NoteError> {
        let before = self.look()?;
        if !fix || !before.findings.iter().any(|finding| finding.fixable) {
            return Ok(before);
        }
        let repaired = self.repair(&before)?;
        let mut after = self.look()?;
        after.findings.splice(0..0, repaired);
        Ok(after)
    }

    fn look(&self) -> Result<Checkup, NoteError> {
        let catalog = self.catalog()?;
        let mut entries: Vec<&Entry> = catalog.entries().map(|(_, entry)| entry).collect();
        entries.sort_by(|a, b| a.file.cmp(&b.file));
        let mut findings = Vec::new();
        let mut texts = Texts::default();
        for entry in &entries {
            self.look_at(entry, &mut texts, &mut findings);
        }
        same_ids(&entries, &mut findings);
        references(&entries, &mut findings);
        self.states(&entries, &mut findings);
        near_duplicates(&entries, &texts, &mut findings);
        findings.sort_by(|a, b| a.file.cmp(&b.file).then(a.line.cmp(&b.line)));
        Ok(Checkup { files: entries.len(), findings })
    }

    fn look_at(&self, entry: &Entry, texts: &mut Texts, findings: &mut Vec<Finding>) {
        let file = entry.file.as_str();
        let source = files::read(&self.folder.join(file)).ok().map(|(bytes, _)| bytes);
        let Some(source) = source.and_then(|bytes| String::from_utf8(bytes).ok()) else {
            let problem = entry.problem.clone().unwrap_or_else(|| "it cannot be read".to_owned());
            findings.push(Finding::new(file, Severity::Error, problem));
            return;
        };
        if let Some((line, what)) = secrets::find(&source) {
            let message = format!("this looks like {what}, and notes go into Git");
            findings.push(Finding::new(file, Severity::Error, message).at(line));
        }
        if let Some(line) = conflict::first_mark(&source) {
            let message = "a conflict of Git is not resolved";
            let fixable = conflict::sides(&source).is_some_and(|sides| sides.can_be_resolved());
            let is_example = !fixable && conflict::is_in_code(&source, line);
            let severity = if is_example { Severity::Warning } else { Severity::Error };
            let finding = Finding::new(file, severity, message).at(line);
            findings.push(if fixable { finding.fixable() } else { finding });
            return;
        }
        match NoteText::parse(&source).and_then(|text| Ok((format::read_metadata(&text)?, text))) {
            Err(problem) => {
                findings
                    .push(Finding::new(file, Severity::Error, problem.message).at(problem.line));
            }
            Ok((metadata, text)) => {
                for oddity in &metadata.oddities {
                    let message = oddity.message.clone();
                    findings.push(Finding::new(file, Severity::Warning, message).at(oddity.line));
                }
                identity(entry, &metadata.id, text.has_front_matter(), findings);
                texts.add(file, &metadata.title, text.body());
            }
        }
    }

    fn states(&self, entries: &[&Entry], findings: &mut Vec<Finding>) {
        let mut current: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
        for entry in entries {
            if let Some(thread) = entry.line_of_work()
                && entry.kind == NoteKind::TaskState
                && lifecycle::is_live(entry)
            {
                current.entry(thread).or_default().push(entry);
            }
        }
        for (thread, mut states) in current {
            states.sort_by(|a, b| {
                lifecycle::sort_key(b, self.zone()).cmp(&lifecycle::sort_key(a, self.zone()))
            });
            for older in states.iter().skip(1) {
                let newest = states[0].file.trim_end_matches(".md");
                let message = format!(
                    "`{thread}` has a newer state, {newest}, and this one is not superseded"
                );
                findings.push(Finding::new(&older.file, Severity::Warning, message));
            }
        }
    }
}

fn identity(entry: &Entry, written: &str, has_front_matter: bool, findings: &mut Vec<Finding>) {
    let file = entry.file.as_str();
    let from_name = file.strip_suffix(".md").and_then(NoteId::parse);
    match (from_name, NoteId::parse(written)) {
        (None, None) => {
            let message = "neither the file's name nor its `id` is the id of a note";
            findings.push(Finding::new(file, Severity::Error, message));
        }
        (None, Some(id)) => {
            let message = format!("the file should be named {}", id.file_name());
            findings.push(Finding::new(file, Severity::Warning, message).fixable());
        }
        (Some(name), Some(id)) if name != id => {
            let message = format!("its `id` is {id}, and the file's name counts");
            findings.push(Finding::new(file, Severity::Warning, message).fixable());
        }
        (Some(_), None) if !has_front_matter => {
            let message = "it has no front matter; its first line counts as its title";
            findings.push(Finding::new(file, Severity::Warning, message));
        }
        (Some(_), None) => {
            let message = format!("its `id` is missing or is none (`{written}`)");
            findings.push(Finding::new(file, Severity::Warning, message).fixable());
        }
        (Some(_), Some(_)) => {}
    }
}

fn same_ids(entries: &[&Entry], findings: &mut Vec<Finding>) {
    let mut files: BTreeMap<&NoteId, Vec<&str>> = BTreeMap::new();
    for entry in entries {
        if let Some(id) = &entry.id {
            files.entry(id).or_default().push(&entry.file);
        }
    }
    for (id, mut files) in files.into_iter().filter(|(_, files)| files.len() > 1) {
        // The file that has the id as its name keeps it.
        files.sort_by_key(|file| **file != id.file_name());
        for file in &files[1..] {
            let message = format!("{} has the id {id} too", files[0]);
            findings.retain(|finding| finding.file != *file || !finding.fixable);
            findings.push(Finding::new(file, Severity::Error, message).fixable());
        }
    }
}

fn references(entries: &[&Entry], findings: &mut Vec<Finding>) {
    let graph: Graph = entries
        .iter()
        .filter_map(|entry| Some((entry.id.as_ref()?.to_string(), entry.depends_on.clone())))
        .collect();
    for entry in entries {
        for wanted in entry.depends_on.iter().filter(|wanted| !graph.contains_key(*wanted)) {
            let message = format!("it depends on {wanted}, which is not there");
            findings.push(Finding::new(&entry.file, Severity::Warning, message));
        }
    }
    for cycle in cycles(&graph) {
        let is_first = |entry: &&&Entry| {
            entry.id.as_ref().map(NoteId::as_str) == cycle.first().map(String::as_str)
        };
        if let Some(entry) = entries.iter().find(is_first) {
            let message = format!("these notes wait for each other: {}", cycle.join(" → "));
            findings.push(Finding::new(&entry.file, Severity::Error, message));
        }
    }
}

/// The words of the notes, for comparing each with those that could be like it.
#[derive(Default)]
struct Texts {
    words: HashMap<String, std::collections::HashSet<String>>,
    titles: HashMap<String, String>,
}

impl Texts {
    fn add(&mut self, file: &str, title: &str, body: &str) {
        self.words.insert(file.to_owned(), fingerprint(title, body));
        self.titles.insert(file.to_owned(), title.to_owned());
    }

    /// Returns whether the titles of two notes name different things.
    fn name_different_things(&self, first: &str, second: &str) -> bool {
        let titles = self.titles.get(first).zip(self.titles.get(second));
        titles.is_some_and(|(first, second)| near::name_different_things(first, second))
    }
}

/// Two notes that are alike share the smallest of their words' hashes, with one of a few hash
/// functions; so only few pairs are compared.
fn near_duplicates(entries: &[&Entry], texts: &Texts, findings: &mut Vec<Finding>) {
    let live: Vec<&str> = entries
        .iter()
        .filter(|entry| lifecycle::is_live(entry))
        .map(|entry| entry.file.as_str())
        .collect();
    let mut buckets: HashMap<(u64, u64), Vec<&str>> = HashMap::new();
    for file in live {
        let Some(words) = texts.words.get(file) else { continue };
        for seed in 0..4 {
            if let Some(smallest) = words.iter().map(|word| hash(word, seed)).min() {
                buckets.entry((seed, smallest)).or_default().push(file);
            }
        }
    }
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for files in buckets.values() {
        // A word that very many share first tells nothing.
        for (at, first) in files.iter().enumerate().take(LARGEST_BUCKET) {
            pairs.extend(
                files[at + 1..].iter().take(LARGEST_BUCKET).map(|second| (*first, *second)),
            );
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    for (first, second) in pairs {
        let (Some(a), Some(b)) = (texts.words.get(first), texts.words.get(second)) else {
            continue;
        };
        let alike = likeness(a, b);
        if alike >= near::ALIKE && !texts.name_different_things(first, second) {
            let percent = (alike * 100.0).round();
            let message = format!("it says almost the same as {first} ({percent} % of the words)");
            findings.push(Finding::new(second, Severity::Warning, message));
        }
    }
}

const LARGEST_BUCKET: usize = 50;

/// A hash of a word; FNV-1a with a seed.
fn hash(word: &str, seed: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325 ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

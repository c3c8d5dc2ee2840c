//! All notes of a folder as they are now: what a segment file knows of them, corrected by what
//! the folder shows.
//!
//! Every load looks at every file's stamp, so a hand-edited title, an added and a deleted file
//! show in the next command. Notes are never written here; the derived segment file is, when it
//! has fallen far behind, and nothing is lost when that fails.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::entry::{self, Entry, Head, Reading};
use super::files::{self, Found, Scan, Sight, Stamp};
use super::index_file;
use super::segment::{Segment, Source};
use crate::support::atomic_file::{self, UNFINISHED};
use crate::support::bm25::{Document, Index, Posting, Postings, mean_of};
use crate::support::clock::Clock;
use crate::support::in_parts::in_parts;
use crate::support::words::TermKind;

/// The name of the segment file.
pub(super) const SEGMENT_FILE: &str = ".search_index";

/// Returns how many of all notes may be newer than the segment file before it is written again.
fn may_be_behind(all: usize) -> usize {
    64.max(all / 128)
}

/// From here on a creation does not look at every note.
const LARGE: usize = 256;

/// So many nanoseconds after a folder changed its stamp is believed: no file system that is
/// trusted counts in larger steps than seconds.
const SETTLED: i64 = 2_000_000_000;

/// The notes of a folder at one moment, ready to be ranked over.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    segment: Option<Arc<Segment>>,
    /// For each document of the segment, whether its file is still what it was.
    is_current: Vec<bool>,
    fresh: Vec<Arc<Fresh>>,
    pub(super) has_unfinished: bool,
}

/// A note that the segment does not know as it is now.
#[derive(Debug, Default)]
struct Fresh {
    reading: Reading,
    /// Made when somebody searches, since a list has no need of it, and kept while the note stays
    /// as it is.
    index: OnceLock<Index>,
}

/// Loads catalogues of a folder and remembers the last one.
#[derive(Debug)]
pub(super) struct Loader {
    folder: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    segment: Option<(Stamp, Arc<Segment>)>,
    /// A segment file that turned out not to be what was written.
    damaged: Option<Stamp>,
    last: Option<Last>,
    /// What the last creation in a large folder looked at.
    glanced: Vec<Arc<Fresh>>,
}

/// What the last look found.
#[derive(Debug)]
struct Last {
    scan: Scan,
    /// The segment that the numbers of the scan are of.
    segment: Option<Arc<Segment>>,
    catalog: Arc<Catalog>,
}

impl Catalog {
    /// Returns the entries with their documents' numbers, in no order.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.read_entries();
        self.numbers().filter_map(|document| Some((document, self.entry(document)?)))
    }

    /// Reads all entries at once, for who asks for more than a few.
    pub(super) fn read_entries(&self) {
        if let Some(segment) = &self.segment {
            segment.read_entries();
        }
    }

    /// Reads all entries, and returns whether each is what was written.
    pub(super) fn reads_whole(&self) -> bool {
        let read = self.entries().count();
        read == self.numbers().count() && !self.is_damaged()
    }

    /// Returns whether the segment turned out to be damaged; then no answer counts.
    pub(super) fn is_damaged(&self) -> bool {
        self.segment.as_ref().is_some_and(|segment| segment.is_damaged())
    }

    /// Returns how many files are notes that were understood, and how many are not.
    pub(super) fn counts(&self) -> (usize, usize) {
        let is_note = |document: usize| match document.checked_sub(self.is_current.len()) {
            Some(at) => self.fresh.get(at).is_some_and(|fresh| fresh.reading.entry.is_note()),
            None => self.segment.as_ref().is_some_and(|segment| segment.is_note(document)),
        };
        self.numbers().fold((0, 0), |(notes, others), document| {
            if is_note(document) { (notes + 1, others) } else { (notes, others + 1) }
        })
    }

    /// Returns what lists sort and filter by, with the documents' numbers, in no order.
    pub(super) fn heads(&self) -> impl Iterator<Item = (usize, Head)> {
        self.numbers().filter_map(|document| Some((document, self.head(document)?)))
    }

    /// Returns the entry of a document.
    pub(super) fn entry(&self, document: usize) -> Option<&Entry> {
        match document.checked_sub(self.is_current.len()) {
            Some(at) => self.fresh.get(at).map(|fresh| &fresh.reading.entry),
            None => self.segment.as_ref()?.entry(document),
        }
    }

    /// Returns what lists sort and filter by, of a document.
    pub(super) fn head(&self, document: usize) -> Option<Head> {
        match document.checked_sub(self.is_current.len()) {
            Some(at) => self.fresh.get(at).map(|fresh| fresh.reading.entry.head()),
            None => self.segment.as_ref()?.head(document),
        }
    }

    /// Compares the names of two documents' files, as [`entry::file_order`] says.
    pub(super) fn compare_files(&self, one: usize, other: usize) -> Ordering {
        // A segment's documents are in that order, and their names are far away.
        if one.max(other) < self.is_current.len() {
            return one.cmp(&other);
        }
        let file = |document: usize| {
            let name = match document.checked_sub(self.is_current.len()) {
                Some(at) => self.fresh.get(at).map(|fresh| fresh.reading.entry.file.as_bytes()),
                None => self.segment.as_ref().and_then(|segment| segment.file(document)),
            };
            name.map(entry::file_order)
        };
        file(one).cmp(&file(other))
    }

    /// Returns the numbers of the documents whose files are there.
    fn numbers(&self) -> impl Iterator<Item = usize> {
        let old = self.is_current.iter().enumerate();
        let old = old.filter(|(_, is_current)| **is_current).map(|(at, _)| at);
        old.chain(self.is_current.len()..self.documents())
    }
}

impl Postings for Catalog {
    fn documents(&self) -> usize {
        self.is_current.len() + self.fresh.len()
    }

    fn look_up(&self, kind: TermKind, term: &str, found: &mut dyn FnMut(Posting)) {
        if let Some(segment) = &self.segment {
            segment.look_up(kind, term, &mut |posting| {
                if self.is_current.get(posting.document as usize) == Some(&true) {
                    found(posting);
                }
            });
        }
        let first = u32::try_from(self.is_current.len()).unwrap_or(u32::MAX);
        for (document, fresh) in (first..).zip(&self.fresh) {
            fresh
                .index()
                .look_up(kind, term, &mut |posting| found(Posting { document, ..posting }));
        }
    }

    fn length(&self, kind: TermKind, document: u32) -> u32 {
        match (document as usize).checked_sub(self.is_current.len()) {
            Some(at) => self.fresh.get(at).map_or(0, |fresh| fresh.index().length(kind, 0)),
            None => self.segment.as_ref().map_or(0, |segment| segment.length(kind, document)),
        }
    }

    fn mean_length(&self, kind: TermKind) -> f64 {
        let old = self.segment.as_ref().map_or(0.0, |segment| segment.mean_length(kind));
        if old > 0.0 {
            return old;
        }
        let lengths: Vec<u32> =
            self.fresh.iter().map(|fresh| fresh.index().length(kind, 0)).collect();
        mean_of(&lengths)
    }

    fn terms(&self, kind: TermKind, firsts: &[char], found: &mut dyn FnMut(&str)) {
        if let Some(segment) = &self.segment {
            segment.terms(kind, firsts, found);
        }
        for fresh in &self.fresh {
            fresh.index().terms(kind, firsts, found);
        }
    }
}

impl Loader {
    /// Returns a loader that has not looked yet.
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, state: Mutex::default() }
    }

    /// Returns the notes as they are now.
    pub(super) fn load(&self, clock: &dyn Clock) -> io::Result<Arc<Catalog>> {
        let segment = self.segment(&mut self.state());
        let scan = files::scan(&self.folder, UNFINISHED, segment.as_deref())?;
        if let Some(segment) = &segment {
            self.remember_folder(&scan, segment, clock);
        }
        let mut state = self.state();
        if let Some(last) = &state.last
            && last.scan.finds_the_same(&scan)
            && is_same(last.segment.as_ref(), segment.as_ref())
        {
            return Ok(Arc::clone(&last.catalog));
        }
        let known = state.last.take().map(|last| last.catalog);
        let mut catalog = self.compare(&scan, segment.clone(), known.as_deref());
        if catalog.fresh.len() > may_be_behind(scan.count()) {
            catalog = self.with_new_segment(catalog, &scan, &mut state);
        }
        let catalog = Arc::new(catalog);
        state.last = Some(Last { scan, segment, catalog: Arc::clone(&catalog) });
        Ok(catalog)
    }

    /// Forgets a segment that turned out to be damaged, so that the files are read.
    pub(super) fn forget(&self) {
        let mut state = self.state();
        state.damaged = state.segment.take().map(|(stamp, _)| stamp);
        state.last = None;
    }

    /// Returns the notes without looking at those that the segment knows, for a creation in a
    /// large folder, and of the others only at the `newest`: what it is compared with may be a
    /// little old. None where a full look is due.
    pub(super) fn glance(&self, newest: usize) -> Option<Catalog> {
        let mut state = self.state();
        let segment = self.segment(&mut state)?;
        if segment.documents() < LARGE {
            return None;
        }
        // The index is in the order of the creations at its end, so that not even the names of the
        // folder have to be read. Where it is wrong, a warning is missing at the worst.
        let behind = may_be_behind(segment.documents());
        let names = index_file::newest(&self.folder, behind + 1)?;
        let is_new = |name: &&String| !segment.has(name.as_bytes());
        let new: Vec<&String> = names.iter().filter(is_new).collect();
        if new.len() > behind {
            return None;
        }
        let latest = new.into_iter().rev().take(newest).map(|name| Found {
            name: name.clone(),
            stamp: Stamp::default(),
            is_plain: true,
        });
        // One that changed since the last look is read again where it is compared.
        let known = std::mem::take(&mut state.glanced);
        let fresh = latest.map(|found| {
            let same = known.iter().find(|fresh| fresh.reading.entry.file == found.name);
            same.map_or_else(|| Arc::new(self.read_one(&found)), Arc::clone)
        });
        let fresh: Vec<Arc<Fresh>> = fresh.collect();
        state.glanced.clone_from(&fresh);
        // A note that is gone is noticed when it is compared.
        let is_current = vec![true; segment.documents()];
        Some(Catalog { segment: Some(segment), is_current, fresh, ..Catalog::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the segment file if it is another one than last time.
    fn segment(&self, state: &mut State) -> Option<Arc<Segment>> {
        let path = self.folder.join(SEGMENT_FILE);
        let stamp = Stamp::of(&std::fs::symlink_metadata(&path).ok()?);
        if let Some((known, segment)) = &state.segment
            && *known == stamp
        {
            return Some(Arc::clone(segment));
        }
        if state.damaged == Some(stamp) {
            return None;
        }
        let file = files::open(&path).ok()?;
        let stamp = Stamp::of(&file.metadata().ok()?);
        let segment = Arc::new(Segment::open(file)?);
        state.segment = Some((stamp, Arc::clone(&segment)));
        Some(segment)
    }

    /// Has the segment's file say what the folder looks like, so that the names in it need not be
    /// read again while it does.
    fn remember_folder(&self, scan: &Scan, segment: &Segment, clock: &dyn Clock) {
        let Some(folder) = scan.folder else { return };
        // What comes within one tick of the system's clock leaves the stamp as it is.
        let age = clock.utc().timestamp_nanos_opt().map(|now| now.saturating_sub(folder.changed));
        if scan.has_unfinished || age.is_none_or(|age| age < SETTLED) {
            return;
        }
        let others = || scan.others().map(|found| found.name.as_str());
        let is_exact = |name: &str| !name.contains(char::REPLACEMENT_CHARACTER);
        if others().count() > may_be_behind(scan.count()) || !others().all(is_exact) {
            return;
        }
        if let Some((stamp, current)) = &self.state().segment
            && std::ptr::eq(&raw const **current, segment)
        {
            let path = self.folder.join(SEGMENT_FILE);
            let patches = segment.knowing(folder, others());
            // In a folder that cannot be written the names are read each time.
            atomic_file::patch_derived(&path, stamp.inode, &patches).ok();
        }
    }

    fn compare(
        &self,
        scan: &Scan,
        segment: Option<Arc<Segment>>,
        known: Option<&Catalog>,
    ) -> Catalog {
        let mut is_current = vec![false; segment.as_ref().map_or(0, |old| old.documents())];
        for document in scan.unchanged() {
            if let Some(is_current) = is_current.get_mut(document as usize) {
                *is_current = true;
            }
        }
        let mut changed: Vec<&Found> = scan.others().collect();
        changed.sort_unstable_by_key(|found| entry::file_order(found.name.as_bytes()));
        let fresh = self.read_all(&changed, known);
        let has_unfinished = scan.has_unfinished;
        Catalog { segment, is_current, fresh, has_unfinished }
    }

    fn read_all(&self, changed: &[&Found], known: Option<&Catalog>) -> Vec<Arc<Fresh>> {
        let known: HashMap<&str, &Arc<Fresh>> = known
            .into_iter()
            .flat_map(|catalog| &catalog.fresh)
            .map(|fresh| (fresh.reading.entry.file.as_str(), fresh))
            .collect();
        let read = |found: &&Found| match known.get(found.name.as_str()) {
            Some(fresh) if fresh.reading.entry.stamp == found.stamp => Arc::clone(fresh),
            _ => Arc::new(self.read_one(found)),
        };
        let work = |found: &&Found| usize::try_from(found.stamp.size).unwrap_or(usize::MAX);
        in_parts(changed, work, |part| part.iter().map(read).collect::<Vec<_>>()).concat()
    }

    fn read_one(&self, found: &Found) -> Fresh {
        Fresh { reading: self.reading(found), index: OnceLock::new() }
    }

    fn reading(&self, found: &Found) -> Reading {
        if !found.is_plain {
            let is_named_in_bytes = found.name.contains(char::REPLACEMENT_CHARACTER);
            let problem =
                if is_named_in_bytes { "its name is not UTF-8" } else { "it is not a plain file" };
            return entry::read(found, Err(problem.to_owned()));
        }
        let path = self.folder.join(&found.name);
        match files::read(&path) {
            Ok((bytes, stamp)) => entry::read(&Found { stamp, ..found.clone() }, Ok(bytes)),
            Err(error) => {
                let start = files::read_raw(&path).unwrap_or_default();
                entry::read_start(found, error.to_string(), start)
            }
        }
    }

    /// Puts all notes into a new segment, on disk if that can be, and in memory anyhow.
    fn with_new_segment(&self, catalog: Catalog, scan: &Scan, state: &mut State) -> Catalog {
        let mut sorted: Vec<(usize, &Entry)> = catalog.entries().collect();
        let compare = |entry: &Entry, file: &str| {
            entry::file_order(entry.file.as_bytes()).cmp(&entry::file_order(file.as_bytes()))
        };
        sorted.sort_unstable_by(|a, b| compare(a.1, &b.1.file));
        let mut numbers = vec![None; catalog.documents()];
        for (number, (document, _)) in (0..).zip(&sorted) {
            numbers[*document] = Some(number);
        }
        let number_of = |sight: Sight<'_>| match sight {
            Sight::Unchanged(document) => numbers.get(document as usize).copied().flatten(),
            Sight::Other(found) => {
                let at = sorted.binary_search_by(|(_, entry)| compare(entry, &found.name));
                u32::try_from(at.ok()?).ok()
            }
        };
        let order: Vec<u32> = scan.files().filter_map(number_of).collect();
        let fresh = numbers.split_off(catalog.is_current.len());
        let index = Index::new(catalog.fresh.iter().map(|fresh| fresh.reading.document()));
        let source = Source {
            order,
            entries: sorted.iter().map(|(_, entry)| *entry).collect(),
            old: catalog.segment.as_deref().map(|segment| (segment, numbers)),
            fresh: (&index, fresh.into_iter().flatten().collect()),
        };
        let bytes = Segment::write(&source);
        if catalog.is_damaged() {
            // Nothing is made out of what is damaged; it is forgotten after this look.
            return catalog;
        }
        let path = self.folder.join(SEGMENT_FILE);
        // In a folder that cannot be written the next reader does the same work again.
        let stamp = atomic_file::replace_derived(&path, &bytes)
            .and_then(|()| std::fs::symlink_metadata(&path))
            .map_or_else(|_| Stamp::default(), |metadata| Stamp::of(&metadata));
        let Some(segment) = Segment::in_memory(bytes) else { return catalog };
        let segment = Arc::new(segment);
        state.segment = Some((stamp, Arc::clone(&segment)));
        Catalog {
            is_current: vec![true; segment.documents()],
            segment: Some(segment),
            has_unfinished: catalog.has_unfinished,
            ..Catalog::default()
        }
    }
}

/// Returns whether two are one segment, or there is none in either place.
fn is_same(one: Option<&Arc<Segment>>, other: Option<&Arc<Segment>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

impl Fresh {
    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::new([self.reading.document()]))
    }
}

impl Reading {
    /// Returns what search looks at.
    fn document(&self) -> Document<'_> {
        Document { title: &self.head, text: &self.text }
    }
}

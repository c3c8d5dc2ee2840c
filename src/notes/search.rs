//! Search: the ranking of [`super::rank`] over title, tags and body, with what a reader
//! must know to trust an answer: how much was searched, what was left out, which words hit nothing.

use std::collections::HashSet;

use super::catalog::Catalog;
use super::entry::Entry;
use super::error::NoteError;
use super::lifecycle;
use super::listing::Filter;
use super::note::Note;
use super::rank::{meant, rank};
use super::store::NoteStore;
use crate::support::bm25::{KINDS, Postings};
use crate::support::words::{self, TermKind, Terms};

/// What a search found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    /// The best hits, best first.
    pub hits: Vec<Hit>,
    /// How many notes match at all and pass the filter.
    pub total: usize,
    /// How many notes were searched.
    pub searched: usize,
    /// How many matching notes were left out because they are superseded or dropped.
    pub hidden: usize,
    /// How many files could not be understood and were searched as raw text.
    pub unreadable: usize,
    /// The words of the query that no note has.
    pub missing_terms: Vec<String>,
    /// Why the order is that of words alone, when a scorer should have had the last word.
    pub unscored: Option<String>,
}

/// A note that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// What lists know of it.
    pub entry: Entry,
    /// The note; none when the file cannot be understood.
    pub note: Option<Note>,
    /// How well it matches, the best hit 1.0.
    pub score: f64,
    /// The line or two that match best.
    pub snippet: String,
}

impl NoteStore {
    /// Finds the notes that answer a query by their words, best first; see [`NoteStore::search_scored`].
    pub fn search(&self, query: &str, filter: &Filter) -> Result<SearchResult, NoteError> {
        self.with_catalog(|catalog| Ok(self.found(catalog, query, filter)))
    }

    fn found(&self, catalog: &Catalog, query: &str, filter: &Filter) -> SearchResult {
        let ranked = rank(catalog, query);
        let missing_terms = missing(catalog, query);
        let mut terms = words::query_terms(query);
        if !missing_terms.is_empty() {
            terms.words.extend(meant(catalog, query));
        }
        let best = ranked.first().map_or(1.0, |(_, score)| *score);
        let (searched, unreadable) = catalog.counts();
        let mut result = SearchResult {
            hits: Vec::new(),
            total: 0,
            searched,
            hidden: 0,
            unreadable,
            missing_terms,
            unscored: None,
        };
        for (document, score) in ranked {
            let Some(head) = catalog.head(document) else { continue };
            if !filter.lets_through(head, || catalog.entry(document)) {
                continue;
            }
            if lifecycle::is_hidden(head.status) && filter.status.is_none() {
                result.hidden += 1;
                continue;
            }
            result.total += 1;
            if result.hits.len() < filter.limit
                && let Some(entry) = catalog.entry(document)
            {
                result.hits.push(self.hit(entry, score / best, &terms));
            }
        }
        result
    }

    fn hit(&self, entry: &Entry, score: f64, terms: &Terms) -> Hit {
        let note = self.read_file(&entry.file).ok().map(|(note, source, _)| {
            self.remember(&note.hash, source);
            note
        });
        let raw = || super::files::read_raw(&self.folder.join(&entry.file)).ok();
        let snippet = match &note {
            Some(note) => snippet(&note.content, terms),
            None => snippet(&raw().unwrap_or_default(), terms),
        };
        Hit { entry: entry.clone(), note, score, snippet }
    }
}

/// The longest snippet, in characters.
const SNIPPET: usize = 200;

/// Returns the line that has the most of the query's terms, cut around the first of them.
fn snippet(text: &str, terms: &Terms) -> String {
    let mut best = (0, "");
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let count = matches_in(line, terms);
        if count > best.0 || best.1.is_empty() {
            best = (count, line);
        }
    }
    cut_around(best.1, terms)
}

fn matches_in(line: &str, terms: &Terms) -> usize {
    let mut found: Vec<String> = Vec::new();
    words::visit(line, |kind, term| {
        let wanted = match kind {
            TermKind::Word => &terms.words,
            TermKind::Identifier => &terms.identifiers,
            TermKind::Pair => &terms.pairs,
            TermKind::Character => return,
        };
        if wanted.iter().any(|known| known == term) && !found.iter().any(|known| known == term) {
            found.push(term.to_owned());
        }
    });
    found.len()
}

fn cut_around(line: &str, terms: &Terms) -> String {
    let characters: Vec<char> = line.chars().collect();
    if characters.len() <= SNIPPET {
        return line.to_owned();
    }
    // The first window, in steps of a quarter, that has as many terms as any.
    let windows = (0..characters.len()).step_by(SNIPPET / 4).take(64).map(|start| {
        let end = (start + SNIPPET).min(characters.len());
        let text: String = characters[start..end].iter().collect();
        (matches_in(&text, terms), start, end, text)
    });
    let best = windows.reduce(|best, next| if next.0 > best.0 { next } else { best });
    let Some((_, start, end, text)) = best else { return String::new() };
    let before = if start > 0 { "…" } else { "" };
    let after = if end < characters.len() { "…" } else { "" };
    format!("{before}{}{after}", text.trim())
}

/// Returns the words of a query, as written, that no note has.
fn missing(index: &impl Postings, query: &str) -> Vec<String> {
    let mut missing = Vec::new();
    let mut seen = HashSet::new();
    for word in query.split(|character: char| character.is_whitespace() || is_mark(character)) {
        let word = word.trim_matches(|character: char| !character.is_alphanumeric());
        let terms = words::terms(word);
        let lists = [&terms.words, &terms.identifiers, &terms.pairs, &terms.characters];
        let mut any = false;
        for (kind, term) in KINDS
            .into_iter()
            .zip(lists)
            .flat_map(|(kind, list)| list.iter().map(move |term| (kind, term)))
        {
            // A single character is a hit only where there is nothing longer.
            if kind == TermKind::Character && !terms.pairs.is_empty() {
                continue;
            }
            index.look_up(kind, term, &mut |_| any = true);
            // A word in one piece is found where notes write it in several, and the other way round.
            match kind {
                TermKind::Word => index.look_up(TermKind::Identifier, term, &mut |_| any = true),
                TermKind::Identifier => index.look_up(TermKind::Word, term, &mut |_| any = true),
                TermKind::Pair | TermKind::Character => {}
            }
        }
        if !any && !terms.is_empty() && seen.insert(word) {
            missing.push(word.to_owned());
        }
    }
    missing
}

fn is_mark(character: char) -> bool {
    matches!(
        character,
        '，' | '。' | '？' | '！' | '、' | '；' | '：' | ',' | ';' | '(' | ')' | '（' | '）'
    )
}

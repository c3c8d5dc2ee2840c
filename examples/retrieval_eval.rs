//! Measures the ranking on a folder with `documents.jsonl` and `queries.jsonl`:
//!
//! ```text
//! cargo run --release --example retrieval_eval -- DIR
//! ```
//!
//! A document is `{"id", "text"}`, with `title` and `group` if it has them; a query is
//! `{"query", "relevant": [ids]}`, and one with a `group` is asked inside that group only. Prints
//! three JSON lines: even query lines, odd ones, all.

#![expect(clippy::print_stdout, reason = "an example prints")]
#![expect(clippy::cast_precision_loss, reason = "ranks and counts are far below 2^52")]

use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use groundskeeper::notes::rank;
use groundskeeper::support::bm25::{Document, Index};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let Some(folder) = std::env::args_os().nth(1) else {
        return Err("usage: retrieval_eval DIR".into());
    };
    let folder = Path::new(&folder);
    let documents = read(&folder.join("documents.jsonl"))?;
    let queries = read(&folder.join("queries.jsonl"))?;
    let groups = Groups::of(&documents);
    let results: Vec<Figures> = queries.iter().map(|query| groups.ask(query)).collect();
    let set = folder.file_name().unwrap_or_default().to_string_lossy();
    for (split, first, step) in [("even", 0, 2), ("odd", 1, 2), ("all", 0, 1)] {
        let part: Vec<&Figures> = results.iter().skip(first).step_by(step).collect();
        println!("{}", line(&set, split, documents.len(), &part));
    }
    Ok(())
}

/// What one query came to.
struct Figures {
    recall: [f64; 3],
    gain: f64,
    reciprocal_rank: f64,
    time: Duration,
}

/// An index over each group, and one over all documents under no name.
struct Groups<'a> {
    indices: HashMap<Option<&'a str>, (Index, Vec<&'a str>)>,
}

impl<'a> Groups<'a> {
    fn of(documents: &'a [Value]) -> Self {
        let mut members: HashMap<Option<&str>, Vec<&Value>> = HashMap::new();
        for document in documents {
            members.entry(None).or_default().push(document);
            if let Some(group) = document["group"].as_str() {
                members.entry(Some(group)).or_default().push(document);
            }
        }
        let text = |document: &'a Value, key: &str| document[key].as_str().unwrap_or_default();
        let index = |documents: Vec<&'a Value>| {
            let read = documents.iter().map(|document| Document {
                title: text(document, "title"),
                text: text(document, "text"),
            });
            let index = Index::new(read);
            (index, documents.iter().map(|document| text(document, "id")).collect())
        };
        let indices = members.into_iter().map(|(group, documents)| (group, index(documents)));
        Self { indices: indices.collect() }
    }

    fn ask(&self, query: &Value) -> Figures {
        let relevant: Vec<&str> =
            query["relevant"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let Some((index, ids)) = self.indices.get(&query["group"].as_str()) else {
            return Figures {
                recall: [0.0; 3],
                gain: 0.0,
                reciprocal_rank: 0.0,
                time: Duration::ZERO,
            };
        };
        let started = Instant::now();
        let ranked = rank(index, query["query"].as_str().unwrap_or_default());
        let time = started.elapsed();
        let hits: Vec<usize> = ranked
            .iter()
            .take(10)
            .enumerate()
            .filter(|(_, (document, _))| relevant.contains(&ids[*document]))
            .map(|(rank, _)| rank)
            .collect();
        let wanted = relevant.len().max(1) as f64;
        let within = |limit: usize| hits.iter().filter(|rank| **rank < limit).count() as f64;
        let discount = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
        let ideal: f64 = (0..relevant.len().min(10)).map(discount).sum();
        let gain: f64 = hits.iter().map(|rank| discount(*rank)).sum();
        Figures {
            recall: [3, 5, 10].map(|limit| within(limit) / wanted),
            gain: if ideal > 0.0 { gain / ideal } else { 0.0 },
            reciprocal_rank: hits.first().map_or(0.0, |rank| 1.0 / (*rank as f64 + 1.0)),
            time,
        }
    }
}

fn line(set: &str, split: &str, documents: usize, part: &[&Figures]) -> Value {
    let count = part.len().max(1) as f64;
    let mean = |figure: &dyn Fn(&Figures) -> f64| {
        let sum: f64 = part.iter().map(|figures| figure(figures)).sum();
        (sum / count * 1e4).round() / 1e4
    };
    json!({
        "set": set,
        "split": split,
        "documents": documents,
        "queries": part.len(),
        "recall@3": mean(&|figures| figures.recall[0]),
        "recall@5": mean(&|figures| figures.recall[1]),
        "recall@10": mean(&|figures| figures.recall[2]),
        "ndcg@10": mean(&|figures| figures.gain),
        "mrr@10": mean(&|figures| figures.reciprocal_rank),
        "ms_per_query": mean(&|figures| figures.time.as_secs_f64() * 1e3),
    })
}

fn read(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let parse = |(line, number): (&str, usize)| {
        serde_json::from_str(line)
            .map_err(|error| format!("{}, line {number}: {error}", path.display()).into())
    };
    text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()).map(parse).collect()
}

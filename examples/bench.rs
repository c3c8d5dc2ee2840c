//! Measures the parts on a folder of inputs, one JSON object a line; `docs/benchmarks.md` says
//! what the folder holds and how the figures are read.
//!
//! ```text
//! cargo build --release
//! cargo run --release --example bench -- DATA [SUITE…]
//! ```
//!
//! Without a folder it measures small inputs that it makes itself, to show that it works.

#![expect(clippy::print_stdout, reason = "an example prints")]
#![expect(clippy::cast_precision_loss, reason = "times and sizes are far below 2^52")]

use std::error::Error;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta};
use groundskeeper::context::{
    ContextBuilder, ContextConfig, ContextPacket, PacketKind, Parts, Query,
};
use groundskeeper::notes::{Filter, NewNote, NoteEdit, NoteKind, NoteStore};
use groundskeeper::support::atomic_file;
use groundskeeper::support::clock::{Clock, SystemClock};
use groundskeeper::support::paths::Workspace;
use groundskeeper::support::tokens::{Encoding, TokenCounter};
use groundskeeper::terminal::{self, Options, Terminal};
use groundskeeper::tools::TerminalTool;
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};

type Outcome = Result<(), Box<dyn Error>>;

type Suite = fn(&Path) -> Outcome;

fn main() -> Outcome {
    // Commands start as this program, which jails itself.
    if terminal::jail_helper_requested() {
        terminal::run_jail_helper();
    }
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let Some(data) = arguments.next() else { return on_small_inputs() };
    let wanted: Vec<PathBuf> = arguments.collect();
    let suites: [(&str, Suite); 5] = [
        ("startup", startup),
        ("tokens", tokens),
        ("context", |data| context(data, &[10, 100, 1_000, 10_000])),
        ("notes", |data| notes(data, &[100, 1_000, 10_000])),
        ("terminal", terminal_lines),
    ];
    for (name, suite) in suites {
        if wanted.is_empty() || wanted.iter().any(|suite| suite.as_os_str() == name) {
            suite(&data)?;
        }
    }
    Ok(())
}

/// Building a context out of 10 to 10,000 candidates of some 200 tokens.
fn context(data: &Path, sizes: &[usize]) -> Outcome {
    for &size in sizes {
        let input = read_json(&data.join(format!("packets_{size}.json")))?;
        let task = text(&input["query"]);
        let parts = Parts {
            instructions: "You maintain a code base. Answer briefly.".to_owned(),
            task: task.clone(),
            output: String::new(),
        };
        let empty = Vec::new();
        let given: Vec<Given> =
            input["packets"].as_array().unwrap_or(&empty).iter().map(Given::of).collect();
        for (name, min_relevance) in [("default", 0.1), ("min_relevance=0", 0.0)] {
            let config = ContextConfig {
                max_tokens: 8_000,
                reserve_ratio: 0.15,
                min_relevance,
                ..ContextConfig::default()
            };
            let (mut construct, mut choose, mut total) = (vec![], vec![], vec![]);
            let mut processor = vec![];
            let mut tokens = 0;
            let runs = if size <= 100 { 41 } else { 15 };
            for run in 0..=runs {
                // A counter remembers what it counted, so each run has its own.
                let counter = Arc::new(TokenCounter::for_encoding(Encoding::Cl100k));
                let builder = ContextBuilder::new(config, counter)?;
                let now = SystemClock::default().utc();
                let query =
                    Query { text: task.clone(), mode: "ask".to_owned(), now, session: None };
                // Who brings candidates has their texts already: they are handed over.
                let given = given.clone();
                let (started, used) = (Instant::now(), processor_time());
                let packets: Vec<ContextPacket> =
                    given.into_iter().map(|packet| packet.candidate(now)).collect();
                let constructed = started.elapsed();
                let built = builder.build(&packets, &query, &parts)?;
                let done = started.elapsed();
                // The first run loads the tables.
                if run > 0 {
                    construct.push(constructed.as_secs_f64() * 1e3);
                    choose.push(done.saturating_sub(constructed).as_secs_f64() * 1e3);
                    total.push(done.as_secs_f64() * 1e3);
                    processor.push(processor_time() - used);
                }
                tokens = built.tokens;
            }
            let case = json!({"n": size, "config": name, "out_tokens": tokens});
            emit("context", "build", "construct", "ms", construct, &case);
            emit("context", "build", "build", "ms", choose, &case);
            emit("context", "build", "total", "ms", total, &case);
            emit("context", "build", "total_cpu", "ms", processor, &case);
        }
    }
    Ok(())
}

/// A candidate as the file has it.
#[derive(Clone)]
struct Given {
    kind: String,
    /// In seconds.
    age: f64,
    content: String,
}

impl Given {
    fn of(packet: &Value) -> Self {
        Self {
            kind: text(&packet["type"]),
            age: packet["age_s"].as_f64().unwrap_or(0.0),
            content: text(&packet["content"]),
        }
    }

    fn candidate(self, now: DateTime<chrono::Utc>) -> ContextPacket {
        let kind = match self.kind.as_str() {
            "task_state" => PacketKind::WorkState,
            "related_memory" => PacketKind::Memory,
            "tool_result" => PacketKind::CommandOutput,
            _ => PacketKind::Knowledge,
        };
        let age = Duration::try_from_secs_f64(self.age);
        let age = age.ok().and_then(|age| TimeDelta::from_std(age).ok()).unwrap_or_default();
        ContextPacket::new(kind, "bench", self.content, now - age)
    }
}

/// The operations on folders of 100 to 10,000 notes, with and without waiting for the disk.
fn notes(data: &Path, sizes: &[usize]) -> Outcome {
    let queries = read_json(&data.join("note_queries.json")).unwrap_or_else(
        |_| json!({"hit_many": "the", "hit_some": "buffer", "miss": "zzzqqq", "zh": "文件"}),
    );
    for &size in sizes {
        let given = read_json(&data.join(format!("notes_{size}.json")))?;
        let empty = Vec::new();
        let given: Vec<NewNote> = given.as_array().unwrap_or(&empty).iter().map(new_note).collect();
        if given.is_empty() {
            continue;
        }
        let unsynced = tempfile::tempdir()?;
        without_sync(|| {
            let case = json!({"n": size, "durable": "no fsync"});
            create_all(&given, unsynced.path(), &case)?;
            writes(&given, unsynced.path(), &case)
        })?;
        let synced = tempfile::tempdir()?;
        let case = json!({"n": size, "durable": "fsync"});
        // Thousands of syncs are only waited for where their time is wanted.
        let is_filled = cfg!(target_os = "linux") && size > 1_000;
        let folder = if is_filled { &unsynced } else { &synced };
        if !is_filled {
            create_all(&given, folder.path(), &case)?;
        }
        writes(&given, folder.path(), &case)?;
        reads(folder.path(), &queries, size, &case)?;
    }
    Ok(())
}

/// Measures on a thread for which the kernel answers at once whoever asks it to sync. The store is
/// the same: it has no switch that lets a note be lost.
#[cfg(target_os = "linux")]
fn without_sync(work: impl FnOnce() -> Outcome + Send) -> Outcome {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

    let calls = [libc::SYS_fsync, libc::SYS_fdatasync].map(|call| (call, Vec::new()));
    let answer = SeccompAction::Errno(0);
    let arch = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(calls.into(), SeccompAction::Allow, answer, arch)?;
    let filter = BpfProgram::try_from(filter)?;
    let measured = std::thread::scope(|scope| {
        let thread = scope.spawn(|| -> Result<(), String> {
            seccompiler::apply_filter(&filter).map_err(|error| error.to_string())?;
            work().map_err(|error| error.to_string())
        });
        thread.join()
    });
    Ok(measured.map_err(|_| "the measuring thread panicked")??)
}

/// Here nothing can be left out.
#[cfg(not(target_os = "linux"))]
fn without_sync(_work: impl FnOnce() -> Outcome + Send) -> Outcome {
    Ok(())
}

fn open_notes(folder: &Path) -> NoteStore {
    NoteStore::open(folder.join("notes"), Arc::new(SystemClock::default()))
}

fn create_all(given: &[NewNote], folder: &Path, case: &Value) -> Outcome {
    let store = open_notes(folder);
    let started = Instant::now();
    for note in given {
        store.create(note.clone())?;
    }
    let all = started.elapsed().as_secs_f64() * 1e3;
    emit("notes", "create_all", "wall", "ms", vec![all], case);
    Ok(())
}

/// Measures an operation; each time in a store of its own, as in a process of its own that
/// remembers nothing, and then in one that stays open.
fn measured(
    folder: &Path,
    name: &str,
    runs: usize,
    case: &Value,
    work: &dyn Fn(&NoteStore) -> Outcome,
) -> Outcome {
    let kept = open_notes(folder);
    for is_cold in [true, false] {
        let (mut wall, mut processor) = (vec![], vec![]);
        for _ in 0..runs {
            let used = processor_time();
            let started = Instant::now();
            if is_cold {
                work(&open_notes(folder))?;
            } else {
                work(&kept)?;
            }
            wall.push(started.elapsed().as_secs_f64() * 1e3);
            processor.push(processor_time() - used);
        }
        let case = with(case, "cpu_ms", json!(median(&mut processor)));
        let name = if is_cold { format!("{name}_cold") } else { name.to_owned() };
        emit("notes", &name, "wall", "ms", wall, &case);
    }
    Ok(())
}

fn writes(given: &[NewNote], folder: &Path, case: &Value) -> Outcome {
    let next = std::cell::Cell::new(0);
    measured(folder, "create_one_at_n", 10, case, &|store| {
        next.set(next.get() + 1);
        let mut note = given[next.get() % given.len()].clone();
        note.title = format!("{} {}", note.title, next.get());
        store.create(note)?;
        Ok(())
    })?;
    let ids = some_ids(folder)?;
    measured(folder, "update_one_at_n", 10, case, &|store| {
        next.set(next.get() + 1);
        let content = Some(format!("updated {}", next.get()));
        let edit = NoteEdit { content, force: true, ..NoteEdit::default() };
        store.update(&ids[next.get() % ids.len()], edit)?;
        Ok(())
    })?;
    // Each of the two rounds deletes notes of its own.
    let left = std::cell::RefCell::new(ids.clone());
    measured(folder, "delete_one_at_n", 10, case, &|store| {
        let id = left.borrow_mut().pop().ok_or("there is no note left to delete")?;
        store.delete(&id)?;
        Ok(())
    })
}

fn some_ids(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let listing = open_notes(folder).list(&Filter { limit: 40, ..Filter::default() })?;
    Ok(listing.notes.iter().filter_map(|entry| Some(entry.id.as_ref()?.to_string())).collect())
}

fn reads(folder: &Path, queries: &Value, size: usize, case: &Value) -> Outcome {
    let bench = |name: &str, runs: usize, work: &dyn Fn(&NoteStore) -> Outcome| {
        measured(folder, name, runs, case, work)
    };
    let middle = some_ids(folder)?.pop().unwrap_or_default();
    let ten = Filter { limit: 10, ..Filter::default() };
    for (name, query) in queries.as_object().into_iter().flatten() {
        let query = text(query);
        bench(&format!("search_{name}"), 9, &|store| {
            store.search(&query, &ten)?;
            Ok(())
        })?;
    }
    let blockers = Filter { kind: Some(NoteKind::Blocker), ..ten.clone() };
    for (name, filter) in
        [("list_limit10", &ten), ("list_blockers", &blockers), ("list_all", &Filter::default())]
    {
        bench(name, 15, &|store| {
            store.list(filter)?;
            Ok(())
        })?;
    }
    bench("summary", 15, &|store| {
        store.summary()?;
        Ok(())
    })?;
    bench("read_one", 30, &|store| {
        store.read(&middle)?;
        Ok(())
    })?;
    bench("open_warm_cache", 15, &|_| Ok(()))?;
    if let Some(program) = program() {
        let root = folder.display().to_string();
        for words in [&["notes", "list"][..], &["notes", "search", "buffer"]] {
            let name = format!("process_start_to_{}", words[1]);
            let words = [&["--state-dir", &root, "-C", &root], words].concat();
            launch("notes", &name, &program, &words, 15, &json!({"n": size}))?;
        }
    }
    Ok(())
}

fn new_note(note: &Value) -> NewNote {
    let tags = note["tags"].as_array();
    NewNote {
        title: text(&note["title"]),
        content: text(&note["content"]),
        kind: NoteKind::parse(note["note_type"].as_str().unwrap_or_default()).unwrap_or_default(),
        tags: tags.into_iter().flatten().map(text).collect(),
        ..NewNote::default()
    }
}

/// Command lines, beside the same ones in a plain `sh`, in turns so that the machine's moods hit
/// both alike.
fn terminal_lines(data: &Path) -> Outcome {
    let tree = data.join("pytree");
    terminal_in(
        &tree,
        &[
            ("echo", "echo hi", 100),
            ("pwd", "pwd", 100),
            ("ls", "ls", 100),
            ("head", "head -n 50 argparse.py", 60),
            ("find_wc", "find . -name '*.py' | wc -l", 40),
            ("grep_todo", "grep -rn TODO --include=*.py", 15),
            ("grep_def_many", "grep -rn 'def ' --include=*.py", 9),
            ("pipeline4", "grep -rn import --include=*.py | cut -d: -f1 | sort | uniq -c", 9),
            ("cat_690KB", "cat pydoc_data/topics.py", 25),
            ("cat_36MB_over_cap", "cat big_log.txt", 7),
        ],
    )
}

fn terminal_in(tree: &Path, lines: &[(&str, &str, usize)]) -> Outcome {
    let terminal = Terminal::open(Workspace::open(tree)?, Options::of_this_program())?;
    let tool = TerminalTool::new(Arc::new(terminal));
    let runtime = tokio::runtime::Runtime::new()?;
    for &(name, line, runs) in lines {
        let (mut bare, mut through, mut overhead) = (vec![], vec![], vec![]);
        let mut shown = runtime.block_on(tool.run_line(line))?;
        let mut bytes = 0;
        for _ in 0..runs {
            let started = Instant::now();
            bytes = run_plain(tree, line)?;
            let plain = started.elapsed().as_secs_f64() * 1e3;
            let started = Instant::now();
            shown = runtime.block_on(tool.run_line(line))?;
            let jailed = started.elapsed().as_secs_f64() * 1e3;
            bare.push(plain);
            through.push(jailed);
            overhead.push(jailed - plain);
        }
        let case = json!({"cmd": line, "bytes": bytes, "shown_bytes": shown.len()});
        emit("terminal", name, "bare", "ms", bare, &case);
        emit("terminal", name, "tool", "ms", through, &case);
        emit("terminal", name, "overhead", "ms", overhead, &case);
    }
    Ok(())
}

/// The program itself, from its start to its end.
fn startup(data: &Path) -> Outcome {
    let Some(program) = program() else {
        println!("{}", json!({"skipped": "startup", "why": "the program is not built"}));
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("state").join("notes");
    let notes = NoteStore::open(path, Arc::new(SystemClock::default()));
    for note in read_json(&data.join("notes_100.json"))?.as_array().into_iter().flatten() {
        notes.create(new_note(note))?;
    }
    let packets = folder.path().join("ten").join("notes");
    let ten = NoteStore::open(packets, Arc::new(SystemClock::default()));
    let input = read_json(&data.join("packets_10.json"))?;
    for (at, packet) in input["packets"].as_array().into_iter().flatten().enumerate() {
        let (title, content) = (format!("Packet {at}"), text(&packet["content"]));
        ten.create(NewNote { title, content, ..NewNote::default() })?;
    }
    let root = folder.path().display().to_string();
    let (state, ten) = (format!("{root}/state"), format!("{root}/ten"));
    let tree = data.join("pytree").display().to_string();
    let query = text(&input["query"]);
    let none = json!({});
    let list = ["--state-dir", &state, "-C", &root, "notes", "list"];
    launch("startup", "notes_list", &program, &list, 21, &none)?;
    let ls = ["--state-dir", &state, "-C", &tree, "sh", "ls"];
    launch("startup", "terminal_ls", &program, &ls, 21, &none)?;
    let context = ["--state-dir", &ten, "-C", &root, "context", &query];
    launch("startup", "context_build_10", &program, &context, 21, &none)
}

/// How fast tokens are counted.
fn tokens(data: &Path) -> Outcome {
    for encoding in [Encoding::Cl100k, Encoding::O200k] {
        let name = encoding.name();
        let started = Instant::now();
        TokenCounter::for_encoding(encoding).count("x");
        let load = started.elapsed().as_secs_f64() * 1e3;
        emit("tokens", &format!("{name}_load"), "wall", "ms", vec![load], &json!({}));
        for which in ["en", "zh", "code"] {
            let whole = fs::read_to_string(data.join(format!("{which}.txt")))?;
            let characters: Vec<char> = whole.chars().collect();
            let pieces: Vec<String> =
                characters.chunks(800).map(|piece| piece.iter().collect()).collect();
            let megabytes = whole.len() as f64 / 1e6;
            let (mut at_once, mut in_pieces) = (vec![], vec![]);
            for _ in 0..5 {
                let counter = TokenCounter::for_encoding(encoding);
                let started = Instant::now();
                counter.count(&whole);
                at_once.push(megabytes / started.elapsed().as_secs_f64());
                let counter = TokenCounter::for_encoding(encoding);
                let started = Instant::now();
                let count: usize = pieces.iter().map(|piece| counter.count(piece)).sum();
                in_pieces.push(megabytes / started.elapsed().as_secs_f64());
                std::hint::black_box(count);
            }
            let case = json!({"text": which, "bytes": whole.len()});
            emit("tokens", name, "whole_text", "MB/s", at_once, &case);
            emit("tokens", name, "packets_800", "MB/s", in_pieces, &case);
        }
    }
    Ok(())
}

/// Ten of everything, made here.
fn on_small_inputs() -> Outcome {
    println!("usage: bench DATA [startup|tokens|context|notes|terminal]…; a small try:");
    let data = tempfile::tempdir()?;
    let line = "the reader takes bytes out of the buffer until the file object is empty";
    let packets: Vec<Value> = (0..10)
        .map(|at| json!({"content": format!("{at}: {line}"), "age_s": at, "type": "retrieval"}))
        .collect();
    let notes: Vec<Value> = (0..10)
        .map(|at| json!({"title": format!("Note {at}"), "content": line, "note_type": "blocker"}))
        .collect();
    let tree = data.path().join("pytree");
    atomic_file::make_folder(&tree)?;
    for (name, value) in [
        ("packets_10.json", json!({"query": "what does the buffer hold", "packets": packets})),
        ("notes_10.json", Value::from(notes)),
        ("pytree/argparse.py", Value::from(line)),
    ] {
        atomic_file::replace(&data.path().join(name), value.to_string().as_bytes())?;
    }
    context(data.path(), &[10])?;
    notes_of_ten(data.path())?;
    terminal_in(&tree, &[("ls", "ls", 5), ("head", "head -n 50 argparse.py", 5)])
}

fn notes_of_ten(data: &Path) -> Outcome {
    notes(data, &[10])
}

/// Runs a line in a plain `sh` and returns how much it printed.
#[expect(clippy::disallowed_methods, reason = "the very thing that the jail is compared with")]
fn run_plain(tree: &Path, line: &str) -> Result<u64, Box<dyn Error>> {
    let mut child = Command::new("sh")
        .args(["-c", line])
        .current_dir(tree)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut bytes = 0;
    let mut buffer = vec![0; 1 << 16];
    if let Some(mut stdout) = child.stdout.take() {
        loop {
            match stdout.read(&mut buffer)? {
                0 => break,
                read => bytes += read as u64,
            }
        }
    }
    child.wait()?;
    Ok(bytes)
}

/// Starts the program again and again: the time to the first byte, to the end, and the mean time
/// of processors.
#[expect(clippy::disallowed_methods, reason = "the program is measured from outside")]
fn launch(
    suite: &str,
    bench: &str,
    program: &Path,
    words: &[&str],
    runs: usize,
    case: &Value,
) -> Outcome {
    let (mut first, mut whole) = (vec![], vec![]);
    let mut bytes = 0;
    let mut used = 0.0;
    for run in 0..=runs {
        if run == 1 {
            used = processor_time_of_children()?;
        }
        let started = Instant::now();
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut printed = vec![0; 1];
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_exact(&mut printed)?;
            let at = started.elapsed().as_secs_f64() * 1e3;
            stdout.read_to_end(&mut printed)?;
            if run > 0 {
                first.push(at);
            }
        }
        let status = child.wait()?;
        if !status.success() {
            return Err(format!("{} {}: {status}", program.display(), words.join(" ")).into());
        }
        if run > 0 {
            whole.push(started.elapsed().as_secs_f64() * 1e3);
        }
        bytes = printed.len();
    }
    let case = with(case, "out_bytes", json!(bytes));
    emit(suite, bench, "first_output", "ms", first, &case);
    emit(suite, bench, "total", "ms", whole, &case);
    let mean = (processor_time_of_children()? - used) / runs as f64;
    emit(suite, bench, "cpu", "ms", vec![mean], &case);
    Ok(())
}

/// Returns the program, which is built beside the examples.
fn program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok()?;
    let beside = own.parent()?.parent()?.join("groundskeeper");
    beside.is_file().then_some(beside)
}

/// Prints one measurement.
fn emit(suite: &str, bench: &str, metric: &str, unit: &str, mut samples: Vec<f64>, case: &Value) {
    samples.sort_by(f64::total_cmp);
    let runs = samples.len();
    let middle = median(&mut samples.clone());
    let spread = (runs >= 4 && middle != 0.0)
        .then(|| 100.0 * (samples[3 * runs / 4] - samples[runs / 4]) / middle);
    let mut record = json!({
        "suite": suite,
        "bench": bench,
        "impl": concat!("groundskeeper-", env!("CARGO_PKG_VERSION")),
        "metric": metric,
        "unit": unit,
        "median": middle,
        "min": samples.first(),
        "p95": samples.get(runs * 95 / 100),
        "max": samples.last(),
        "iqr_pct": spread,
        "runs": runs,
        "load1": load(),
    });
    if let (Some(record), Some(case)) = (record.as_object_mut(), case.as_object()) {
        record.extend(case.clone());
    }
    println!("{record}");
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    match samples.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => samples[odd / 2],
        even => f64::midpoint(samples[even / 2 - 1], samples[even / 2]),
    }
}

fn with(case: &Value, key: &str, value: Value) -> Value {
    let mut all: Map<String, Value> = case.as_object().cloned().unwrap_or_default();
    all.insert(key.to_owned(), value);
    Value::Object(all)
}

/// Returns what the process used of processors, in milliseconds.
fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 * 1e3 + time.tv_nsec as f64 / 1e6
}

/// Returns what the children that ended used of processors, in milliseconds.
fn processor_time_of_children() -> Result<f64, Box<dyn Error>> {
    let all = fs::read_to_string("/proc/self/stat")?;
    let behind_name = all.rsplit(')').next().unwrap_or_default();
    // Fields 16 and 17 of proc(5), in hundredths of a second.
    let fields = behind_name.split_whitespace().skip(13).take(2);
    let ticks: f64 = fields.filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok(ticks * 10.0)
}

fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

fn read_json(path: &Path) -> Result<Value, Box<dyn Error>> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(serde_json::from_slice(&bytes)?)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

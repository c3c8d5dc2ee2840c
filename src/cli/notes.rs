//! `groundskeeper notes …`: the operations of the note tool for people and scripts.
//!
//! It words results and errors and decides exit codes; what happens to notes is decided in
//! [`crate::notes`] alone. With `--json` each command prints one document on standard output.

mod json;
mod text;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueEnum};

use super::{CliError, ExitKind, written};
use crate::notes::{
    Filter, FormerState, NewNote, NoteEdit, NoteKind, NoteStore, Severity, Status, merge_files,
};
use crate::support::text::clean;

/// So many notes a search shows unless it is told otherwise.
const FOUND: usize = 10;

/// So many notes a list shows unless it is told otherwise.
const LISTED: usize = 20;

/// What to do with notes.
#[derive(Debug, Clone, Subcommand)]
pub enum NotesCommand {
    /// Write a new note and print its id
    Create(CreateArgs),
    /// Show a note
    Read {
        /// The id of a note; its start or end is enough
        id: String,
    },
    /// Change a note; what is not named stays byte for byte
    Update(UpdateArgs),
    /// Find notes by words, identifiers or paths, in any language
    Search {
        /// What to search for
        query: String,
        /// Which notes
        #[command(flatten)]
        filter: FilterArgs,
        /// Show at most so many
        #[arg(long, default_value_t = FOUND)]
        limit: usize,
    },
    /// List notes, the latest change first
    List {
        /// Which notes
        #[command(flatten)]
        filter: FilterArgs,
        /// Show at most so many
        #[arg(long, default_value_t = LISTED)]
        limit: usize,
    },
    /// Count notes, and show what is open and what changed last
    Summary,
    /// Delete a note; `notes undo` brings it back
    Delete {
        /// The id of a note; its start or end is enough. Or the name of a file that cannot be
        /// understood
        id: String,
    },
    /// Take the latest creation, update or deletion back
    Undo,
    /// Take over a notes folder of the Python package hello-agents; it is only read
    Import {
        /// The folder
        folder: PathBuf,
    },
    /// Look for damage, and repair what can be repaired
    Doctor {
        /// Repair what can be repaired, and show the changes
        #[arg(long)]
        fix: bool,
    },
    /// Merge two versions of a note; called by Git, set up by `groundskeeper init --git`
    MergeDriver {
        /// What both versions come from (Git's %O)
        base: PathBuf,
        /// This branch's version (Git's %A); the result takes its place
        ours: PathBuf,
        /// The other branch's version (Git's %B)
        theirs: PathBuf,
        /// Where the result will lie in the repository (Git's %P)
        place: Option<PathBuf>,
    },
}

impl ValueEnum for NoteKind {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.as_str()))
    }
}

impl ValueEnum for Status {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.as_str()))
    }
}

impl NotesCommand {
    /// Returns the command that lists notes as it does without a flag.
    pub(super) fn list() -> Self {
        Self::List { filter: FilterArgs::all(), limit: LISTED }
    }

    /// Returns the command that searches notes as it does without a flag.
    pub(super) fn search(query: &str) -> Self {
        Self::Search { query: query.to_owned(), filter: FilterArgs::all(), limit: FOUND }
    }

    /// Returns whether the command can write the first note, so that the state folder must be
    /// made.
    pub fn begins(&self) -> bool {
        match self {
            Self::Create(_) | Self::Import { .. } => true,
            Self::Update(_)
            | Self::Delete { .. }
            | Self::Undo
            | Self::Read { .. }
            | Self::Search { .. }
            | Self::List { .. }
            | Self::Summary
            | Self::Doctor { .. }
            | Self::MergeDriver { .. } => false,
        }
    }
}

/// The arguments of `notes create`.
#[derive(Debug, Clone, Args)]
pub struct CreateArgs {
    /// One line that says what the note is about
    #[arg(long, allow_hyphen_values = true)]
    title: String,
    #[command(flatten)]
    content: ContentArgs,
    /// The type of note
    #[arg(long = "type", value_name = "TYPE", default_value = "general")]
    kind: NoteKind,
    /// A tag; can be given several times
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Where the matter stands
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,
}

/// The arguments of `notes update`.
#[derive(Debug, Clone, Args)]
pub struct UpdateArgs {
    /// The id of a note; its start or end is enough
    id: String,
    /// A new title
    #[arg(long, allow_hyphen_values = true)]
    title: Option<String>,
    #[command(flatten)]
    content: ContentArgs,
    /// A new type
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<NoteKind>,
    /// New tags in the place of the old ones; an empty one removes them all
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Where the matter stands now
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,
    /// Allow to delete more than half of the body
    #[arg(long)]
    force: bool,
}

/// Where a body comes from.
#[derive(Debug, Clone, Args)]
#[group(multiple = false)]
pub struct ContentArgs {
    /// The body, Markdown; `-` reads standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    content: Option<String>,
    /// A file with the body; `-` reads standard input
    #[arg(long, value_name = "FILE")]
    content_file: Option<PathBuf>,
}

/// Which notes are wanted.
#[derive(Debug, Clone, Args)]
pub struct FilterArgs {
    /// Only this type
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<NoteKind>,
    /// Only notes with this tag; of several, any
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Only this status
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,
}

/// Does what a command says, and returns the exit code.
pub async fn run(
    command: &NotesCommand,
    store: &NoteStore,
    json: bool,
    stdin: &mut dyn Read,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<u8, CliError> {
    let answer = match command {
        NotesCommand::Create(args) => create(args, store, stdin, err)?,
        NotesCommand::Read { id } => {
            let note = store.read(id)?;
            Answer::new(text::note(&note), json::note(&note))
        }
        NotesCommand::Update(args) => update(args, store, stdin)?,
        NotesCommand::Search { query, filter, limit } => {
            if query.trim().is_empty() {
                return Err(CliError::new(ExitKind::Usage, "the query is empty")
                    .with_hint("write words, identifiers or paths to search for"));
            }
            let result = store.search_scored(query, &filter.filter(*limit)).await?;
            warn_unreadable(result.unreadable, err);
            if let Some(problem) = &result.unscored {
                // Nobody is left to tell when stderr is closed.
                writeln!(err, "warning: the notes are ranked by words alone: {problem}").ok();
            }
            Answer::new(text::search(&result), json::search(query, &result))
        }
        NotesCommand::List { filter, limit } => {
            let listing = store.list(&filter.filter(*limit))?;
            warn_unreadable(listing.unreadable.len(), err);
            Answer::new(text::list(&listing), json::list(&listing, folder(store)))
        }
        NotesCommand::Summary => {
            let summary = store.summary()?;
            warn_unreadable(summary.unreadable.len(), err);
            Answer::new(text::summary(&summary), json::summary(&summary))
        }
        NotesCommand::Delete { id } => {
            let deleted = store.delete_file(id)?;
            Answer::new(text::deleted(&deleted), json::done(&deleted.id, &deleted.title, "delete"))
        }
        NotesCommand::Undo => {
            let undone = store.undo()?;
            Answer::new(text::undone(&undone), json::done(&undone.id, &undone.title, "undo"))
        }
        NotesCommand::Import { folder } => {
            let imported = store.import(folder)?;
            for (file, problem) in &imported.problems {
                // The others came in all the same.
                writeln!(err, "warning: `{file}` was left out: {problem}").ok();
            }
            Answer::new(text::imported(&imported), json::imported(&imported))
        }
        NotesCommand::Doctor { fix } => {
            let checkup = store.doctor(*fix)?;
            let code = match checkup.worst() {
                Some(Severity::Error) => ExitKind::Store.code(),
                Some(Severity::Warning) | None => 0,
            };
            Answer { code, ..Answer::new(text::checkup(&checkup), json::checkup(&checkup)) }
        }
        NotesCommand::MergeDriver { base, ours, theirs, place } => {
            merged(base, ours, theirs, place.as_deref())?
        }
    };
    answer.print(json, out).map(|()| answer.code)
}

/// Merges two versions of a note for Git, and returns the exit code. It needs no store and no
/// settings.
pub(super) fn merge(command: &NotesCommand, json: bool) -> Result<u8, CliError> {
    let NotesCommand::MergeDriver { base, ours, theirs, place } = command else { return Ok(0) };
    let answer = merged(base, ours, theirs, place.as_deref())?;
    answer.print(json, &mut std::io::stdout()).map(|()| answer.code)
}

fn merged(
    base: &Path,
    ours: &Path,
    theirs: &Path,
    place: Option<&Path>,
) -> Result<Answer, CliError> {
    let conflicts = merge_files(base, ours, theirs, place)?;
    let code = if conflicts > 0 { ExitKind::Other.code() } else { 0 };
    Ok(Answer { code, ..Answer::new(String::new(), serde_json::json!({ "conflicts": conflicts })) })
}

/// What a command prints, in its two forms.
struct Answer {
    text: String,
    json: serde_json::Value,
    code: u8,
}

impl Answer {
    fn new(text: String, json: serde_json::Value) -> Self {
        Self { text, json, code: 0 }
    }

    fn print(&self, json: bool, out: &mut dyn Write) -> Result<(), CliError> {
        let done = if json {
            writeln!(out, "{}", self.json)
        } else {
            // Notes come from anywhere, and what a terminal obeys is no text.
            out.write_all(clean(&self.text).as_bytes())
        };
        written(done.and_then(|()| out.flush()))
    }
}

fn create(
    args: &CreateArgs,
    store: &NoteStore,
    stdin: &mut dyn Read,
    err: &mut dyn Write,
) -> Result<Answer, CliError> {
    let mut new = NewNote {
        title: args.title.clone(),
        content: args.content.read(stdin)?.unwrap_or_default(),
        kind: args.kind,
        tags: args.tags.clone(),
        ..NewNote::default()
    };
    if let Some(status) = &args.status {
        new.extra.insert("status".to_owned(), status.as_str().into());
    }
    let created = store.create(new)?;
    if let Some(near) = &created.near_duplicate {
        // The note is written: a warning that cannot be printed changes nothing.
        writeln!(err, "warning: {} says almost the same: {}", near.id, near.title).ok();
    }
    if let Some(former) = &created.former_state {
        let FormerState { id, title, .. } = former;
        let of = former.thread.as_ref().map(|thread| format!(" of `{thread}`")).unwrap_or_default();
        writeln!(err, "warning: {id} was the current state{of} and is still open: {title}").ok();
        writeln!(err, "hint: `groundskeeper notes update {id} --status superseded` settles it")
            .ok();
    }
    Ok(Answer::new(format!("{}\n", created.note.id), json::created(&created, folder(store))))
}

fn update(args: &UpdateArgs, store: &NoteStore, stdin: &mut dyn Read) -> Result<Answer, CliError> {
    let tags: Vec<String> = args.tags.iter().filter(|tag| !tag.is_empty()).cloned().collect();
    let edit = NoteEdit {
        title: args.title.clone(),
        content: args.content.read(stdin)?,
        kind: args.kind,
        tags: (!args.tags.is_empty()).then_some(tags),
        status: args.status,
        force: args.force,
        ..NoteEdit::default()
    };
    if edit == (NoteEdit { force: args.force, ..NoteEdit::default() }) {
        return Err(CliError::new(ExitKind::Usage, "there is nothing to change").with_hint(
            "name what is new: `--title`, `--content`, `--type`, `--tag` or `--status`",
        ));
    }
    let updated = store.update(&args.id, edit)?;
    Ok(Answer::new(text::updated(&updated), json::updated(&updated)))
}

impl ContentArgs {
    fn read(&self, stdin: &mut dyn Read) -> Result<Option<String>, CliError> {
        let (mut source, name): (Box<dyn Read + '_>, String) =
            match (&self.content, &self.content_file) {
                (Some(text), _) if text != "-" => return Ok(Some(text.clone())),
                (None, None) => return Ok(None),
                (_, Some(path)) if path != Path::new("-") => {
                    let file = std::fs::File::open(path).map_err(|error| {
                        CliError::new(
                            ExitKind::Usage,
                            format!("`{}` cannot be read: {error}", path.display()),
                        )
                    })?;
                    (Box::new(file), format!("`{}`", path.display()))
                }
                _ => (Box::new(stdin), "standard input".to_owned()),
            };
        let mut bytes = Vec::new();
        source.by_ref().take(MAX_INPUT).read_to_end(&mut bytes).map_err(|error| {
            CliError::new(ExitKind::Usage, format!("{name} cannot be read: {error}"))
        })?;
        if bytes.len() as u64 == MAX_INPUT {
            let message =
                format!("{name} has {MAX_INPUT} bytes or more, and no note holds so many");
            return Err(CliError::new(ExitKind::Usage, message));
        }
        let mut text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            CliError::new(ExitKind::Usage, format!("{name} is not UTF-8, from byte {at} on"))
        })?;
        // The line end that every file ends with is not part of what it says.
        if text.ends_with('\n') {
            text.truncate(text.len() - if text.ends_with("\r\n") { 2 } else { 1 });
        }
        Ok(Some(text))
    }
}

impl FilterArgs {
    fn all() -> Self {
        Self { kind: None, tags: Vec::new(), status: None }
    }

    fn filter(&self, limit: usize) -> Filter {
        Filter {
            kind: self.kind,
            tags: self.tags.iter().filter(|tag| !tag.trim().is_empty()).cloned().collect(),
            status: self.status,
            limit,
        }
    }
}

/// More than a note may hold, so that too much is told as too much.
const MAX_INPUT: u64 = 2 << 20;

fn folder(store: &NoteStore) -> &Path {
    store.folder()
}

fn warn_unreadable(count: usize, err: &mut dyn Write) {
    if count > 0 {
        let (files, they) = if count == 1 { ("file", "it") } else { ("files", "them") };
        // The answer is there all the same.
        writeln!(err, "warning: {count} {files} among the notes cannot be understood").ok();
        writeln!(err, "hint: `groundskeeper notes doctor` shows what is wrong with {they}").ok();
    }
}

//! The composition root: settings into parts.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Local, NaiveDateTime, TimeZone};
use tokio_util::sync::CancellationToken;

use super::args::{ColorArg, GlobalArgs};
use super::notes::NotesCommand;
use super::place;
use super::sh::ShArgs;
use super::{CliError, ExitKind, notes, sh};
use crate::agent::{
    AutoNotes, ByMeaning, CodebaseMaintainer, Compaction, Limits, MaintainerOptions, NoteRules,
};
use crate::config::{
    AutoNotesChoice, CompactionChoice, Config, ConfigError, Environment, LanguageChoice, Layers,
    NoteScorerChoice, Origin, SandboxChoice,
};
use crate::context::ScorerKind;
use crate::journal::Sessions;
use crate::model::embedding::Embedder;
use crate::model::openai::shown_url;
use crate::model::{self, ChatModel};
use crate::notes::NoteStore;
use crate::prompts::Language;
use crate::protocol::EventSink;
use crate::support::clock::{Clock, FixedClock, SystemClock};
use crate::support::paths::{Workspace, WorkspacePath};
use crate::support::state_folder::StateFolder;
use crate::support::yaml::Value;
use crate::terminal::{self, Sandbox, Terminal};
use crate::ui::Size;

/// How long a search of notes waits for vectors: a server at home may have to load its model.
const NOTE_SCORER_TIME: Duration = Duration::from_secs(30);

/// What every command starts from. Nothing is written to make it.
pub(super) struct Setup {
    pub(super) environment: Environment,
    pub(super) workspace: Workspace,
    /// Where in the workspace the person stands.
    pub(super) here: WorkspacePath,
    pub(super) state: StateFolder,
    pub(super) layers: Layers,
    pub(super) config: Config,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) json: bool,
    /// The file into which the dialog is written as a script.
    record: Option<PathBuf>,
}

impl Setup {
    /// Resolves paths, files and the environment.
    pub(super) fn of(args: &GlobalArgs, mut environment: Environment) -> Result<Self, CliError> {
        let choice = match (args.color, environment.no_color) {
            (ColorArg::Always, _) => anstream::ColorChoice::Always,
            (ColorArg::Never, _) | (ColorArg::Auto, true) => anstream::ColorChoice::Never,
            (ColorArg::Auto, false) => anstream::ColorChoice::Auto,
        };
        choice.write_global();
        let (workspace, state) = place::places(args, &environment)?;
        let here = place::here(args, &workspace);
        if here != workspace.top() {
            environment.stand_in(workspace.root());
        }
        let layers = layers(args, &state, &environment)?;
        let config = layers.config()?;
        let clock = clock(args.clock.as_deref().or(environment.clock.as_deref()))?;
        Ok(Self {
            environment,
            workspace,
            here,
            state,
            layers,
            config,
            clock,
            json: args.json,
            record: args.record.clone(),
        })
    }

    /// Returns the project's name: the one that is set, the one it had first, its folder's.
    pub(super) fn project(&self) -> String {
        if !self.config.project.is_empty() {
            return self.config.project.clone();
        }
        if let Some(name) = self.state.project() {
            return name;
        }
        let folder = self.workspace.main_checkout().unwrap_or(self.workspace.root());
        let name = folder.file_name();
        name.map_or_else(|| "root".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// Returns the project's sessions.
    pub(super) fn sessions(&self) -> Sessions {
        Sessions::of(&self.state, &self.project())
    }

    /// Returns the note store.
    pub(super) fn notes(&self) -> NoteStore {
        NoteStore::open(self.state.notes(), Arc::clone(&self.clock))
    }

    /// Makes the state folder, before the first thing is written into it.
    pub(super) fn prepare(&self) -> Result<(), CliError> {
        self.state.prepare().map_err(|error| {
            let message =
                format!("the folder `{}` could not be prepared", self.state.root().display());
            let mut failure = CliError::new(ExitKind::Store, message);
            failure.causes.push(error.to_string());
            failure.with_hint("`--state-dir DIR` keeps notes and sessions elsewhere")
        })
    }

    /// Returns the terminal's limits and jail.
    pub(super) fn terminal_options(&self) -> terminal::Options {
        let settings = &self.config.terminal;
        terminal::Options {
            timeout: settings.timeout(),
            max_output_bytes: settings.max_output_bytes,
            allow_cd: settings.allow_cd,
            sandbox: match settings.sandbox {
                SandboxChoice::Auto => Sandbox::Auto,
                SandboxChoice::Required => Sandbox::Required,
                SandboxChoice::Off => Sandbox::Off,
            },
            redact: settings.redact,
            ..terminal::Options::with_helper(self.environment.program.clone().unwrap_or_default())
        }
    }

    /// Returns who answers.
    pub(super) fn model(&self) -> Result<Arc<dyn ChatModel>, CliError> {
        let mut options = self.layers.model_options(&self.environment)?;
        options.record.clone_from(&self.record);
        Ok(model::from_options(options)?)
    }

    /// Returns who answers under another name than that of the settings.
    pub(super) fn model_named(&self, name: &str) -> Result<Arc<dyn ChatModel>, CliError> {
        if let Some(path) = &self.record {
            let message = "the model stays the same while its dialog is recorded";
            return Err(CliError::new(ExitKind::Usage, message)
                .with_hint(format!("without `--record {}` it can change", path.display())));
        }
        let mut layers = self.layers.clone();
        layers.set("model", Value::from(name), &Origin::Flag("/model"))?;
        Ok(model::from_options(layers.model_options(&self.environment)?)?)
    }

    /// Returns what compares texts by meaning, where the settings ask for it.
    fn embedder(&self) -> Result<Option<Arc<dyn Embedder>>, CliError> {
        let is_wanted = self.config.context.scorer == ScorerKind::Embeddings
            || self.config.notes.scorer == NoteScorerChoice::Embeddings;
        if !is_wanted {
            return Ok(None);
        }
        Ok(self.layers.model_options(&self.environment)?.embedder()?)
    }

    /// Returns what orders the notes of a search outside of a turn; none where words do.
    fn note_scorer(&self) -> Result<Option<Arc<ByMeaning>>, CliError> {
        if self.config.notes.scorer != NoteScorerChoice::Embeddings {
            return Ok(None);
        }
        let Some(embedder) = self.embedder()? else {
            // Nobody is left to tell when stderr is closed.
            drop(writeln!(anstream::stderr(), "warning: {}", ByMeaning::NOBODY));
            return Ok(None);
        };
        self.tell_of_dotenv(embedder.name());
        let weight = self.config.context.embedding_weight;
        Ok(Some(Arc::new(ByMeaning::new(embedder, weight, NOTE_SCORER_TIME))))
    }

    /// Says that a `.env`, which may have come with the repository, chose who is shown it.
    pub(super) fn tell_of_dotenv(&self, model: &str) {
        if model == "offline" || model.starts_with("script:") {
            return;
        }
        let row = |wanted: &str| self.layers.rows().find(|(key, ..)| *key == wanted);
        let Some((_, url, of_url)) = row("endpoint.base_url") else { return };
        // A model alone sends to an endpoint what would have stayed here.
        let of_model = row("model").map(|(_, _, origin)| origin);
        let mut origins = [Some(of_url), of_model].into_iter().flatten();
        let Some(origin) = origins.find(|origin| matches!(origin, Origin::DotEnv(_))) else {
            return;
        };
        let url = match url.as_str() {
            Some(url) if !url.is_empty() => shown_url(url),
            _ => "OpenAI".to_owned(),
        };
        // Nobody is left to tell when stderr is closed.
        drop(writeln!(
            anstream::stderr(),
            "warning: what is read here goes to {url}, as {origin} says"
        ));
    }

    /// Puts the maintainer together.
    pub(super) fn maintainer(
        &self,
        model: Arc<dyn ChatModel>,
        display: Box<dyn EventSink>,
        cancel: CancellationToken,
    ) -> Result<CodebaseMaintainer, CliError> {
        let options = MaintainerOptions {
            project: self.project(),
            workspace: self.workspace.clone(),
            state: self.state.clone(),
            model,
            embedder: self.embedder()?,
            terminal: self.terminal_options(),
            context: self.config.context,
            limits: self.limits(),
            notes: self.note_rules(),
            language: match self.config.lang {
                LanguageChoice::En => Some(Language::En),
                LanguageChoice::Zh => Some(Language::Zh),
                LanguageChoice::Auto => None,
            },
            clock: Arc::clone(&self.clock),
            display,
            cancel,
        };
        Ok(CodebaseMaintainer::with(options)?)
    }

    fn limits(&self) -> Limits {
        let settings = &self.config.limits;
        Limits {
            steps: settings.steps,
            time: Duration::from_secs(settings.seconds),
            prompt_tokens: settings.prompt_tokens,
            unusable_replies: settings.unusable_replies,
            refused_commands: settings.refused_commands,
            tool_output_tokens: settings.tool_output_tokens,
            window: settings.window,
            commits: settings.commits,
            compaction: match settings.compaction {
                CompactionChoice::Digest => Compaction::Digest,
                CompactionChoice::Model => Compaction::Model,
            },
        }
    }

    fn note_rules(&self) -> NoteRules {
        NoteRules {
            blockers: self.config.notes.blockers,
            search: self.config.notes.search,
            auto_notes: match self.config.notes.auto_notes {
                AutoNotesChoice::Ask => AutoNotes::Ask,
                AutoNotesChoice::Keywords => AutoNotes::Keywords,
                AutoNotesChoice::Off => AutoNotes::Off,
            },
            by_meaning: self.config.notes.scorer == NoteScorerChoice::Embeddings,
        }
    }
}

/// Runs `notes …`.
pub(super) async fn notes(setup: &Setup, command: &NotesCommand) -> Result<u8, CliError> {
    let mut store = setup.notes();
    if matches!(command, NotesCommand::Search { .. })
        && let Some(scorer) = setup.note_scorer()?
    {
        store = store.with_scorer(scorer);
    }
    let code = notes::run(
        command,
        &store,
        setup.json,
        &mut io::stdin().lock(),
        &mut io::stdout().lock(),
        &mut anstream::stderr(),
    )
    .await?;
    // Afterwards, so that a note that is refused makes nothing.
    if command.begins() {
        setup.prepare()?;
    }
    Ok(code)
}

/// Runs `sh …`.
pub(super) async fn sh(setup: &Setup, args: &ShArgs) -> Result<u8, CliError> {
    let mut options = setup.terminal_options();
    args.limit(&mut options);
    let terminal = Terminal::open(setup.workspace.clone(), options)?;
    sh::run(args, &terminal, &setup.here, setup.json, &mut io::stdout(), &mut anstream::stderr())
        .await
}

/// Finds a session by its id or a part of it; the newest without one.
pub(super) fn session(setup: &Setup, name: Option<&str>) -> Result<String, CliError> {
    Ok(setup.sessions().find(name)?)
}

/// Returns whether a terminal may be shown colour.
pub(super) fn has_color() -> bool {
    anstream::ColorChoice::global() != anstream::ColorChoice::Never
}

/// Returns the columns of the terminal.
pub(super) fn width() -> usize {
    size(&io::stderr()).columns
}

/// Returns the columns and rows of a terminal; those of a usual one where there is none.
#[cfg(unix)]
pub(super) fn size(terminal: &impl std::os::fd::AsFd) -> Size {
    match rustix::termios::tcgetwinsize(terminal) {
        // A terminal that does not know its size says 0.
        Ok(found) if found.ws_col > 0 => {
            Size { columns: usize::from(found.ws_col), rows: usize::from(found.ws_row) }
        }
        _ => USUAL,
    }
}

/// Returns the columns and rows of a usual terminal.
#[cfg(not(unix))]
pub(super) fn size<T>(_terminal: &T) -> Size {
    USUAL
}

const USUAL: Size = Size { columns: 100, rows: 24 };

fn layers(
    args: &GlobalArgs,
    state: &StateFolder,
    environment: &Environment,
) -> Result<Layers, ConfigError> {
    let mut layers = Layers::load(state, environment)?;
    for assignment in &args.set {
        layers.set_from_flag(assignment)?;
    }
    if let Some(model) = &args.model {
        layers.set("model", Value::from(model.as_str()), &Origin::Flag("--model"))?;
    }
    if let Some(url) = &args.base_url {
        layers.set("endpoint.base_url", Value::from(url.as_str()), &Origin::Flag("--base-url"))?;
    }
    if let Some(lang) = args.lang {
        layers.set("lang", Value::from(lang.code()), &Origin::Flag("--lang"))?;
    }
    Ok(layers)
}

/// Returns the system's clock, or one that stands still at a time; one without an offset is local.
fn clock(at: Option<&str>) -> Result<Arc<dyn Clock>, ConfigError> {
    let Some(at) = at else { return Ok(Arc::new(SystemClock::default())) };
    let zoned = DateTime::parse_from_rfc3339(at).ok();
    let local = || {
        let naive = NaiveDateTime::parse_from_str(at, "%Y-%m-%dT%H:%M:%S").ok()?;
        Some(Local.from_local_datetime(&naive).earliest()?.fixed_offset())
    };
    let time = zoned.or_else(local).ok_or_else(|| ConfigError::BadClock(at.to_owned()))?;
    Ok(Arc::new(FixedClock::at(time)))
}

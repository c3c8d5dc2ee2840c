//! `config edit`: a config file in the person's own editor, checked when it comes back.
//!
//! It must work when the settings are wrong, since that is when it is needed; so it reads none
//! before. What a person wrote stays as it is, right or wrong.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::Path;

use super::args::GlobalArgs;
use super::place::places;
use super::{CliError, ExitKind, print};
use crate::config::{ConfigFile, Environment, Layers, template};
use crate::support::atomic_file;

/// Opens the project's file or the user's, made from a template where there is none.
pub(super) fn run(
    args: &GlobalArgs,
    environment: &Environment,
    of_user: bool,
) -> Result<u8, CliError> {
    let (_, state) = places(args, environment)?;
    let (path, file) = if of_user {
        let folder = environment.config_folder.as_ref().ok_or_else(|| {
            CliError::new(ExitKind::Config, "there is no folder for your own settings")
                .with_hint("set `HOME` or `XDG_CONFIG_HOME`")
        })?;
        (folder.join("config.yaml"), ConfigFile::User)
    } else {
        (state.config(), ConfigFile::Project)
    };
    let unsaved = |error: io::Error| {
        let message = format!("the config file `{}` could not be written", path.display());
        let mut failure = CliError::new(ExitKind::Store, message);
        failure.causes.push(error.to_string());
        failure
    };
    let is_new = !path.exists();
    if is_new {
        match file {
            ConfigFile::Project => state.prepare().map_err(unsaved)?,
            ConfigFile::User => {
                atomic_file::make_folder(path.parent().unwrap_or(&path)).map_err(unsaved)?;
            }
        }
        atomic_file::create_new(&path, template(file).as_bytes()).map_err(unsaved)?;
    }
    let edited = open(environment.editor.as_deref(), &path);
    if is_new && std::fs::read(&path).is_ok_and(|text| text == template(file).as_bytes()) {
        atomic_file::remove(&path).map_err(unsaved)?;
        edited?;
        print("nothing was set\n")?;
        return Ok(0);
    }
    edited?;
    let checked = Layers::load(&state, environment).and_then(|layers| layers.config());
    checked.map_err(|error| {
        CliError::from(error).with_hint("`groundskeeper config edit` opens the file again")
    })?;
    print(&format!("the settings in `{}` are valid\n", path.display()))?;
    Ok(0)
}

/// Runs the editor on a file and waits for it.
fn open(editor: Option<&OsStr>, path: &Path) -> Result<(), CliError> {
    // `vi` waits for ever for keys that nobody can type.
    if editor.is_none() && !(io::stdin().is_terminal() && io::stdout().is_terminal()) {
        let message = "no editor is named, and there is no terminal to open `vi` in";
        return Err(CliError::new(ExitKind::Config, message)
            .with_hint("`VISUAL` or `EDITOR` names an editor"));
    }
    let mut words = words(editor.unwrap_or(OsStr::new("vi"))).into_iter();
    let program = words.next().unwrap_or_default();
    let shown = program.to_string_lossy().into_owned();
    let failed = |what: String| {
        CliError::new(ExitKind::Other, what).with_hint("`VISUAL` or `EDITOR` names an editor")
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "the person's own editor, at their terminal; nothing of a model or a repository"
    )]
    let mut command = std::process::Command::new(&program);
    let status = command.args(words).arg(path).status();
    let status =
        status.map_err(|error| failed(format!("the editor `{shown}` did not start: {error}")))?;
    if status.success() {
        return Ok(());
    }
    Err(failed(format!("the editor `{shown}` failed ({status})")))
}

/// Divides the value of `EDITOR` into the program and its arguments, at spaces.
fn words(editor: &OsStr) -> Vec<OsString> {
    match editor.to_str() {
        Some(text) => text.split_whitespace().map(OsString::from).collect(),
        None => vec![editor.to_owned()],
    }
}

//! A command line that cannot be parsed, in the words of this program: what is wrong, what was
//! meant, how the command is called. What the parser prints by itself (help, the version) and
//! mistakes that are not known here stay as it words them.

use std::error::Error as _;
use std::num::ParseIntError;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::error::{CliError, ExitKind};

/// Words a mistake; none for what the parser had better print itself.
pub(super) fn mistake(error: &clap::Error) -> Option<CliError> {
    let wrong = |kind| text(error, kind);
    let argument = wrong(ContextKind::InvalidArg);
    let message = match error.kind() {
        ErrorKind::UnknownArgument => match argument? {
            option if option.starts_with('-') => format!("there is no option `{option}` here"),
            word => format!("`{word}` is one word too many"),
        },
        ErrorKind::InvalidSubcommand => {
            format!("there is no command `{}`", wrong(ContextKind::InvalidSubcommand)?)
        }
        ErrorKind::MissingRequiredArgument => format!("`{}` is missing", argument?),
        ErrorKind::InvalidValue => match wrong(ContextKind::InvalidValue)? {
            value if value.is_empty() => format!("`{}` needs a value", argument?),
            value => format!("`{value}` is not possible for `{}`", argument?),
        },
        ErrorKind::ValueValidation => {
            let value = wrong(ContextKind::InvalidValue)?;
            format!("`{value}` is not possible for `{}`: {}", argument?, reason(error)?)
        }
        ErrorKind::ArgumentConflict => match wrong(ContextKind::PriorArg)? {
            prior if Some(&prior) == argument.as_ref() => format!("`{prior}` stands there twice"),
            prior => format!("`{}` and `{prior}` exclude each other", argument?),
        },
        _ => return None,
    };
    let mut mistake = CliError::new(ExitKind::Usage, message);
    let meant =
        [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    match meant.into_iter().find_map(|kind| text(error, kind)) {
        Some(meant) => mistake = mistake.with_hint(format!("did you mean `{meant}`?")),
        None => {
            if let Some(possible) = wrong(ContextKind::ValidValue).filter(|text| !text.is_empty()) {
                mistake = mistake.with_hint(format!("possible are `{possible}`"));
            }
        }
    }
    if let Some(usage) = wrong(ContextKind::Usage) {
        let usage = usage.trim().trim_start_matches("Usage:").trim_start().to_owned();
        mistake = mistake.with_hint(format!("it is called as `{usage}`"));
    } else {
        mistake = mistake.with_hint("`--help` behind the command tells how it is called");
    }
    Some(mistake)
}

/// Returns what the parser tells of a mistake; of several words all, each in backticks.
fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join("`, `")),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        _ => None,
    }
}

/// Returns why a value does not do.
fn reason(error: &clap::Error) -> Option<String> {
    let source = error.source()?;
    if source.downcast_ref::<ParseIntError>().is_some() {
        return Some("it must be a whole number, 0 or more".to_owned());
    }
    Some(source.to_string())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Cli;

    #[track_caller]
    fn check(line: &str, message: &str, hint: &str) {
        let words = line.split_whitespace().map(|word| word.trim_matches('"'));
        let error = Cli::command().try_get_matches_from(["groundskeeper"].into_iter().chain(words));
        let told = mistake(&error.unwrap_err()).unwrap();
        assert_eq!((told.kind.code(), told.message.as_str()), (2, message), "{line}");
        assert!(told.hints.iter().any(|told| told.contains(hint)), "{line}: {:?}", told.hints);
    }

    #[test]
    fn a_mistake_is_told_with_what_was_meant() {
        check("--modle x plan", "there is no option `--modle` here", "did you mean `--model`?");
        check("exlore", "there is no command `exlore`", "did you mean `explore`?");
        check("notes lst", "there is no command `lst`", "did you mean `list`?");
        check("ask", "`<QUESTION>` is missing", "groundskeeper ask <QUESTION>");
        check("ask a b", "`b` is one word too many", "groundskeeper ask");
        check("notes create", "`--title <TITLE>` is missing", "notes create --title <TITLE>");
        check(
            "notes list --status opne",
            "`opne` is not possible for `--status <STATUS>`",
            "did you mean `open`?",
        );
        check(
            "notes list --type bug",
            "`bug` is not possible for `--type <TYPE>`",
            "possible are `task_state`, `conclusion`, ",
        );
        check(
            "notes list --limit x",
            "`x` is not possible for `--limit <LIMIT>`: it must be a whole number, 0 or more",
            "--help",
        );
        check(
            "notes create --title a --content b --content-file c",
            "`--content <TEXT>` and `--content-file <FILE>` exclude each other",
            "notes create",
        );
        check("plan --json --json", "`--json` stands there twice", "plan");
        check("plan --model", "`--model <MODEL>` needs a value", "--help");
    }

    #[test]
    fn help_and_the_version_are_no_mistakes() {
        for word in ["--help", "--version", "help"] {
            let error = Cli::command().try_get_matches_from(["groundskeeper", word]).unwrap_err();
            assert_eq!(mistake(&error), None, "{word}");
        }
    }
}

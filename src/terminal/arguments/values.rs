//! The values of options and the operands, each checked for what its rule says that it is.

use super::{Argument, Origin, Reader};
use crate::terminal::check::Scene;
use crate::terminal::refusal::Refusal;
use crate::terminal::rules::{Kind, Rule};
use crate::terminal::scripts::{awk, git_format, git_order, jq};

impl Reader<'_> {
    /// Checks a value of an option, or an operand when `option` is empty.
    pub(super) fn value(
        &mut self,
        kind: &Kind,
        word: &Argument,
        option: &str,
        scene: &mut Scene<'_>,
    ) -> Result<(), Refusal> {
        let place = || {
            if option.is_empty() {
                format!("of `{}`", self.rule.name)
            } else {
                format!("value of `{option}`")
            }
        };
        let text = word.text.to_str();
        match kind {
            Kind::Text => scene.note(&word.shown(), || format!("text, {}", place())),
            Kind::Path | Kind::Revision => {
                scene.note(&word.shown(), || format!("path or name inside, {}", place()));
                scene.path(&word.text)?;
                // What follows the magic of a path of Git: `:(top)../x`.
                if let Some((_, path)) = text
                    .filter(|text| self.rule.name.starts_with("git ") && text.starts_with(":("))
                    .and_then(|text| text.split_once(')'))
                {
                    scene.path(path.as_ref())?;
                }
            }
            Kind::Plain => {
                if text.is_some_and(|text| text.starts_with(['+', '@'])) {
                    return Err(Refusal::new(
                        word.shown(),
                        format!("would be a command or a list of options to `{}`", self.rule.name),
                    )
                    .advice(
                        "Show a part of a file with `tail -n +20 FILE` or `sed -n '20,40p' FILE`; a \
                         name that begins so is written with `./` in front",
                    ));
                }
                scene.note(&word.shown(), || format!("path inside, {}", place()));
                scene.path(&word.text)?;
            }
            Kind::Assigned => {
                if !text.is_some_and(awk::is_assignment) {
                    return Err(Refusal::new(
                        word.shown(),
                        "is not an assignment of `awk` that is allowed",
                    )
                    .form("awk -v n=3 'NR==n' FILE"));
                }
            }
            Kind::Assignment => {
                let is_assignment =
                    word.origin == Origin::Typed && text.is_some_and(awk::is_assignment);
                if is_assignment {
                    scene.note(&word.shown(), || "assignment, of `awk`".into());
                } else {
                    scene.note(&word.shown(), || format!("path inside, {}", place()));
                    scene.path(&word.text)?;
                }
            }
            Kind::Number => {
                if !text.is_some_and(is_number) {
                    return Err(Refusal::new(
                        word.shown(),
                        format!("stands where `{}` takes a number", named(self.rule, option)),
                    ));
                }
            }
            Kind::OneOf(words) => {
                if !text.is_some_and(|text| words.iter().any(|known| known == text)) {
                    return Err(Refusal::new(
                        word.shown(),
                        format!("is no value of `{}` that is allowed", named(self.rule, option)),
                    )
                    .allowed(format!("values of `{}`", named(self.rule, option)), words.clone()));
                }
            }
            Kind::Plus => {
                if !text.is_some_and(|text| text.starts_with('+')) {
                    return Err(Refusal::new(
                        word.shown(),
                        "would set the clock, and nothing is changed here",
                    )
                    .form("date '+%Y-%m-%d'"));
                }
            }
            Kind::Setting => {
                if !text.is_some_and(|text| text.contains('.')) {
                    return Err(Refusal::new(
                        word.shown(),
                        "is not the name of a setting, such as `user.name`",
                    )
                    .form("git config --list"));
                }
            }
            Kind::Format => git_format(&word.shown())?,
            Kind::Order => git_order(&word.shown())?,
            Kind::Awk => awk::check(self.script(word, scene)?)?,
            Kind::Jq => jq::check(self.script(word, scene)?)?,
            Kind::Sed => {
                let script = self.script(word, scene)?;
                match &mut self.sed {
                    Some(all) => all.extend(["\n", script]),
                    None => self.sed = Some(script.to_owned()),
                }
            }
        }
        Ok(())
    }

    /// Returns a program in the language of a command, which must stand in the line.
    fn script<'a>(&self, word: &'a Argument, scene: &mut Scene<'_>) -> Result<&'a str, Refusal> {
        let Some(script) = word.text.to_str().filter(|_| word.origin == Origin::Typed) else {
            return Err(Refusal::new(
                word.shown(),
                "is a program that comes from data, and only one that is written in the line is \
                 run",
            ));
        };
        scene.note(script, || format!("program of `{}`, read whole", self.rule.name));
        Ok(script)
    }
}

/// Returns whether a text is a number, perhaps with a sign, a range, a unit or a `%`.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    !digits.is_empty()
        && digits.starts_with(|character: char| character.is_ascii_digit())
        && digits
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "%.,".contains(character))
}

fn named(rule: &Rule, option: &str) -> String {
    if option.is_empty() { rule.name.clone() } else { format!("{} {option}", rule.name) }
}

//! A command's arguments, read by its rule exactly as its program will read them.
//!
//! Options must be known by their whole name; a letter of a cluster counts like an option of its
//! own; `--` ends them. A word that came from data (a file name that a glob found, an item of
//! `xargs`) is never an option: it is given a form that starts with `./`, or refused.

mod refusals;
mod values;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::check::Scene;
use super::refusal::Refusal;
use super::rules::{Count, Kind, Operand, Rule, Runs, Takes};
use super::scripts::sed;

/// A word of a command, and whether somebody wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argument {
    /// The word.
    pub(super) text: OsString,
    /// Where it comes from.
    pub(super) origin: Origin,
}

/// Where a word comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// It was written in the line.
    Typed,
    /// It came from data: a file name that a glob found, or an item of `xargs`.
    Data,
}

impl Argument {
    /// Returns a word that was written in the line.
    pub(super) fn typed(text: impl Into<OsString>) -> Self {
        Self { text: text.into(), origin: Origin::Typed }
    }

    /// Returns a word that came from data.
    pub(super) fn data(text: impl Into<OsString>) -> Self {
        Self { text: text.into(), origin: Origin::Data }
    }

    /// Returns the word as it can be shown.
    pub(super) fn shown(&self) -> String {
        self.text.to_string_lossy().into_owned()
    }

    /// Returns whether a program could take it for an option.
    pub(super) fn looks_like_an_option(&self) -> bool {
        let bytes = self.text.as_encoded_bytes();
        bytes.len() > 1 && bytes[0] == b'-'
    }

    /// Returns the word so that it can only be a path: with `./` in front where it came from data
    /// and could be taken for something else.
    pub(super) fn as_path(&self, dangerous: impl Fn(&[u8]) -> bool) -> OsString {
        if self.origin == Origin::Data && dangerous(self.text.as_encoded_bytes()) {
            let mut path = OsString::from("./");
            path.push(&self.text);
            path
        } else {
            self.text.clone()
        }
    }
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    /// The arguments for the program, without its name.
    pub(super) arguments: Vec<OsString>,
    /// The options that were given, each by one name.
    pub(super) options: Vec<String>,
    /// The operands.
    pub(super) operands: Vec<Argument>,
    /// Where `--` stands in the arguments.
    pub(super) separator: Option<usize>,
    /// How many operands stand before `--`.
    pub(super) before_separator: usize,
}

impl Reading {
    /// Returns whether one of the options was given.
    pub(super) fn has(&self, names: &[impl AsRef<str>]) -> bool {
        names.iter().any(|name| self.options.iter().any(|option| option == name.as_ref()))
    }
}

/// Reads the arguments of a command by its rule.
pub(super) fn read(
    rule: &Rule,
    words: &[Argument],
    scene: &mut Scene<'_>,
) -> Result<Reading, Refusal> {
    let mut reader =
        Reader { rule, words, at: 0, reading: Reading::default(), places: Vec::new(), sed: None };
    reader.words(scene)?;
    reader.operands(scene)?;
    if let Some(script) = reader.sed.take() {
        sed::check(&script)?;
    }
    let mut reading = reader.reading;
    pin(rule, &mut reading);
    Ok(reading)
}

struct Reader<'a> {
    rule: &'a Rule,
    words: &'a [Argument],
    at: usize,
    reading: Reading,
    /// Where each operand stands in the arguments.
    places: Vec<usize>,
    /// The scripts of `sed`, which reads them as one.
    sed: Option<String>,
}

impl Reader<'_> {
    fn words(&mut self, scene: &mut Scene<'_>) -> Result<(), Refusal> {
        let mut options = true;
        while let Some(word) = self.words.get(self.at) {
            self.at += 1;
            let is_option = options && word.looks_like_an_option() && word.origin == Origin::Typed;
            if !is_option {
                if !self.rule.permute {
                    options = false;
                }
                self.places.push(self.reading.arguments.len());
                self.reading.arguments.push(word.text.clone());
                self.reading.operands.push(word.clone());
                if self.reading.separator.is_none() {
                    self.reading.before_separator += 1;
                }
                continue;
            }
            let Some(text) = word.text.to_str() else {
                return Err(Refusal::new(word.shown(), "is an option that is not UTF-8"));
            };
            if text == "--" {
                options = false;
                self.reading.separator = Some(self.reading.arguments.len());
                self.reading.arguments.push(word.text.clone());
                scene.note("--", || "ends the options".into());
            } else if text.starts_with("--") {
                self.long(text, scene)?;
            } else {
                self.short(text, scene)?;
            }
        }
        Ok(())
    }

    fn long(&mut self, text: &str, scene: &mut Scene<'_>) -> Result<(), Refusal> {
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let takes = self.takes(name, text)?.clone();
        scene.note(text, || format!("option `{name}` of `{}`", self.rule.name));
        if let Some(new) = self.rule.rename.get(name) {
            if !new.is_empty() {
                self.reading.arguments.push(new.into());
            }
            self.reading.options.push(name.to_owned());
            return Ok(());
        }
        if takes == Takes::Nothing && attached.is_some() {
            let reason = format!("gives `{name}` a value, and it takes none");
            return Err(Refusal::new(text, reason).form(name));
        }
        self.reading.arguments.push(text.into());
        self.reading.options.push(name.to_owned());
        self.whole(&takes, attached, name, text, scene)
    }

    fn short(&mut self, text: &str, scene: &mut Scene<'_>) -> Result<(), Refusal> {
        let digits = &text[1..];
        if self.rule.counts && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            scene.note(text, || format!("a count, of `{}`", self.rule.name));
            self.reading.arguments.push(text.into());
            self.reading.options.push("-NUMBER".to_owned());
            return Ok(());
        }
        // A whole word first: `-ps` of `xxd`, and every option of a command without clusters.
        if text.chars().count() > 2 && self.rule.options.contains_key(text) || !self.rule.clusters {
            return self.alone(text, scene);
        }
        let mut renamed = String::from("-");
        for (start, letter) in text.char_indices().skip(1) {
            let name = format!("-{letter}");
            let takes = self.takes(&name, text)?.clone();
            self.reading.options.push(name.clone());
            scene.note(&name, || format!("option of `{}`", self.rule.name));
            match self.rule.rename.get(&name) {
                Some(new) => renamed.push_str(new.strip_prefix('-').unwrap_or(new)),
                None => renamed.push(letter),
            }
            let rest = &text[start + letter.len_utf8()..];
            match takes {
                Takes::Nothing => {}
                Takes::Optional(kind) => {
                    if !rest.is_empty() {
                        self.value(&kind, &Argument::typed(rest), &name, scene)?;
                    }
                    renamed.push_str(rest);
                    break;
                }
                Takes::Values(kinds) => {
                    renamed.push_str(rest);
                    self.reading.arguments.push(renamed.into());
                    let attached = (!rest.is_empty()).then_some(rest);
                    return self.values(&kinds, attached, &name, scene);
                }
                Takes::Next(_) if !rest.is_empty() => return Err(self.attached(&name, text)),
                Takes::Next(kind) => {
                    self.reading.arguments.push(renamed.into());
                    return self.values(&[kind], None, &name, scene);
                }
                Takes::Last(kind) => {
                    renamed.push_str(rest);
                    self.reading.arguments.push(renamed.into());
                    return if rest.is_empty() {
                        self.last(&kind, &name, scene)
                    } else {
                        self.value(&kind, &Argument::typed(rest), &name, scene)
                    };
                }
            }
        }
        if renamed.len() > 1 {
            self.reading.arguments.push(renamed.into());
        }
        Ok(())
    }

    /// Reads an option that is a whole word, perhaps with its value attached: `-n20`.
    fn alone(&mut self, text: &str, scene: &mut Scene<'_>) -> Result<(), Refusal> {
        let first: String = text.chars().take(2).collect();
        let exact = self.rule.options.contains_key(text) || self.rule.refuse.contains_key(text);
        let name = if exact { text } else { first.as_str() };
        let attached = &text[name.len()..];
        let takes = self.takes(name, text)?.clone();
        scene.note(text, || format!("option `{name}` of `{}`", self.rule.name));
        let attached = (!attached.is_empty()).then_some(attached);
        if takes == Takes::Nothing && attached.is_some() {
            return Err(self.unknown(text, text));
        }
        self.reading.arguments.push(text.into());
        self.reading.options.push(name.to_owned());
        self.whole(&takes, attached, name, text, scene)
    }

    /// Reads what an option takes that is a whole word, `written`, and not a letter among others.
    fn whole(
        &mut self,
        takes: &Takes,
        attached: Option<&str>,
        name: &str,
        written: &str,
        scene: &mut Scene<'_>,
    ) -> Result<(), Refusal> {
        match (takes, attached) {
            (Takes::Nothing, _) | (Takes::Optional(_), None) => Ok(()),
            (Takes::Optional(kind) | Takes::Last(kind), Some(value)) => {
                self.value(kind, &Argument::typed(value), name, scene)
            }
            (Takes::Last(kind), None) => self.last(kind, name, scene),
            (Takes::Values(kinds), attached) => self.values(kinds, attached, name, scene),
            (Takes::Next(kind), None) => self.values(std::slice::from_ref(kind), None, name, scene),
            (Takes::Next(_), Some(_)) => Err(self.attached(name, written)),
        }
    }

    /// Reads the values of an option: the first may be attached, the others are words.
    fn values(
        &mut self,
        kinds: &[Kind],
        attached: Option<&str>,
        name: &str,
        scene: &mut Scene<'_>,
    ) -> Result<(), Refusal> {
        for (index, kind) in kinds.iter().enumerate() {
            if let (0, Some(value)) = (index, attached) {
                self.value(kind, &Argument::typed(value), name, scene)?;
                continue;
            }
            let Some(word) = self.words.get(self.at).cloned() else {
                return Err(Refusal::new(name, "needs a value, and the command ends after it"));
            };
            // Git reads some options only with `=`, so a value must not look like an option.
            if word.looks_like_an_option() && self.rule.name.starts_with("git ") {
                return Err(Refusal::new(
                    format!("{name} {}", word.shown()),
                    "has a value that looks like an option",
                )
                .advice(format!("Write the value with the option: `{name}=VALUE`")));
            }
            self.at += 1;
            self.value(kind, &word, name, scene)?;
            self.reading.arguments.push(word.text);
        }
        Ok(())
    }

    /// Refuses what is attached to an option that takes the next word all the same.
    fn attached(&self, name: &str, written: &str) -> Refusal {
        Refusal::new(
            written,
            format!("attaches to `{name}` what `{}` takes for further options", self.rule.name),
        )
        .advice(format!("Write its value as the next word: `{name} VALUE`"))
    }

    fn last(&mut self, kind: &Kind, name: &str, scene: &mut Scene<'_>) -> Result<(), Refusal> {
        let Some(word) = self.words.get(self.at).cloned() else { return Ok(()) };
        if word.looks_like_an_option() {
            return Err(Refusal::new(name, format!("would take `{}` as its value", word.shown()))
                .form(format!("{name} HEAD")));
        }
        self.at += 1;
        self.value(kind, &word, name, scene)?;
        self.reading.arguments.push(word.text);
        Ok(())
    }

    fn operands(&mut self, scene: &mut Scene<'_>) -> Result<(), Refusal> {
        let mut kinds: &[Operand] = &self.rule.operands;
        if self.reading.has(&self.rule.first_by) {
            kinds = kinds.get(1..).unwrap_or_default();
        }
        for index in 0..self.reading.operands.len() {
            let Some(operand) = kinds.first() else {
                return Err(self.too_many(index));
            };
            if operand.count != Count::Many {
                kinds = &kinds[1..];
            }
            let mut word = self.reading.operands[index].clone();
            let path = match &operand.kind {
                Kind::Path | Kind::Plain => {
                    word.as_path(|bytes| matches!(bytes[..], [b'-' | b'@' | b'+', ..]))
                }
                Kind::Assignment => word.as_path(|bytes| bytes[0] == b'-' || bytes.contains(&b'=')),
                _ if word.origin == Origin::Data && word.looks_like_an_option() => {
                    return Err(from_data(&word));
                }
                _ => word.text.clone(),
            };
            word.text = path;
            self.reading.arguments[self.places[index]].clone_from(&word.text);
            self.value(&operand.kind, &word, "", scene)?;
            self.reading.operands[index] = word;
        }
        Ok(())
    }

    /// Looks an option up by its exact name.
    fn takes(&self, name: &str, written: &str) -> Result<&Takes, Refusal> {
        // Every program that reads its options with the C library explains itself so.
        let explains = matches!(name, "--help" | "--version")
            && self.rule.runs == Runs::Program
            && self.rule.clusters
            && !self.rule.name.starts_with("git ");
        if explains {
            return Ok(&Takes::Nothing);
        }
        self.rule.options.get(name).ok_or_else(|| self.unknown(name, written))
    }
}

/// Puts the pinned arguments in front and adds what stands for no operand.
fn pin(rule: &Rule, reading: &mut Reading) {
    let mut front: Vec<OsString> = Vec::new();
    for pin in &rule.pins {
        if (pin.when.is_empty() || reading.has(&pin.when)) && !reading.has(&pin.unless) {
            front.extend(pin.add.iter().map(OsString::from));
        }
    }
    let added = front.len();
    reading.arguments.splice(0..0, front);
    if let Some(separator) = &mut reading.separator {
        *separator += added;
    }
}

/// Refuses a word of data that could be taken for an option.
pub(super) fn from_data(word: &Argument) -> Refusal {
    Refusal::new(word.shown(), "comes from data and would be taken for an option").advice(
        "Search for paths that start with `./` (as `find .` prints them), or put `--` before the \
         items",
    )
}

/// Returns whether a word is a path of nothing: `/dev/null`.
pub(super) fn is_null_device(path: &OsStr) -> bool {
    Path::new(path) == Path::new("/dev/null")
}

//! From the text of the rules to the rules: what an entry may say, and what it takes over from others.
//!
//! An entry that says something else is an error that names it; nothing is guessed and nothing is
//! passed over.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Count, Kind, Operand, Pin, Refuse, Rule, Rules, Runs, Takes};
use crate::support::yaml;

impl Rules {
    /// Reads the rules from their text.
    pub(in crate::terminal) fn read(text: &str) -> Result<Self, String> {
        let document: Document = yaml::read(text).map_err(|error| error.to_string())?;
        let mut commands = BTreeMap::new();
        for (name, entry) in &document.commands {
            let rule = rule(name, entry, &document).map_err(|error| format!("{name}: {error}"))?;
            commands.insert(name.clone(), rule);
        }
        let mut refused = BTreeMap::new();
        for (names, advice) in document.refused {
            for name in names.split_whitespace() {
                refused.insert(name.to_owned(), advice.clone());
            }
        }
        Ok(Self { commands, refused })
    }
}

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    sets: BTreeMap<String, String>,
    refusals: BTreeMap<String, Vec<Refuse>>,
    refused: BTreeMap<String, String>,
    commands: BTreeMap<String, Entry>,
}

/// What is said of a command.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    about: String,
    #[serde(default)]
    runs: Option<Runs>,
    #[serde(default, rename = "as")]
    as_program: Option<Vec<String>>,
    #[serde(default)]
    like: Option<String>,
    #[serde(default, rename = "use")]
    uses: Vec<String>,
    #[serde(default)]
    options: String,
    #[serde(default)]
    operands: Option<String>,
    #[serde(default)]
    first_by: Vec<String>,
    #[serde(default)]
    refuse: Vec<Refuse>,
    #[serde(default)]
    rename: BTreeMap<String, String>,
    #[serde(default)]
    pins: Vec<Pin>,
    #[serde(default)]
    without_operands: Vec<String>,
    #[serde(default)]
    clusters: Option<bool>,
    #[serde(default)]
    permute: Option<bool>,
    #[serde(default)]
    counts: Option<bool>,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "the examples are tests"))]
    accepted: Vec<String>,
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "the examples are tests"))]
    refused: Vec<String>,
}

/// Makes the rule of an entry, with what it takes over from others.
fn rule(name: &str, entry: &Entry, document: &Document) -> Result<Rule, String> {
    let mut made = match &entry.like {
        None => Rule::plain(),
        Some(like) => {
            let base = document.commands.get(like).ok_or_else(|| format!("no command `{like}`"))?;
            rule(like, base, document)?
        }
    };
    name.clone_into(&mut made.name);
    entry.add_options(document, &mut made)?;
    entry.put_over(&mut made)?;
    Ok(made)
}

impl Entry {
    /// Adds the options of its sets and its own, and those that are refused with a reason.
    fn add_options(&self, document: &Document, made: &mut Rule) -> Result<(), String> {
        let mut options = BTreeMap::new();
        let mut refuse = BTreeMap::new();
        for name in &self.uses {
            let set = document.sets.get(name).ok_or_else(|| format!("no set `{name}`"))?;
            read_options(set, &mut options)?;
            for because in document.refusals.get(name).into_iter().flatten() {
                add_refusal(because, &mut refuse);
            }
        }
        read_options(&self.options, &mut options)?;
        for because in &self.refuse {
            add_refusal(because, &mut refuse);
        }
        options.retain(|name, _| !refuse.contains_key(name));
        made.options.extend(options);
        made.refuse.extend(refuse);
        Ok(())
    }

    /// Puts what it says over what was taken over.
    fn put_over(&self, made: &mut Rule) -> Result<(), String> {
        self.about.clone_into(&mut made.about);
        if let Some(runs) = &self.runs {
            made.runs = runs.clone();
        }
        if let Some(program) = &self.as_program {
            made.runs = Runs::As(program.clone());
        }
        if let Some(operands) = &self.operands {
            made.operands = read_operands(operands)?;
        }
        if !self.first_by.is_empty() {
            made.first_by.clone_from(&self.first_by);
        }
        made.rename.extend(self.rename.clone());
        made.pins.extend(self.pins.iter().cloned());
        made.without_operands.extend(self.without_operands.iter().cloned());
        made.clusters = self.clusters.unwrap_or(made.clusters);
        made.permute = self.permute.unwrap_or(made.permute);
        made.counts = self.counts.unwrap_or(made.counts);
        #[cfg(test)]
        {
            made.accepted.clone_from(&self.accepted);
            made.refused.clone_from(&self.refused);
        }
        Ok(())
    }
}

impl Rule {
    /// Returns the rule of a program about which nothing is said.
    fn plain() -> Self {
        Self {
            name: String::new(),
            about: String::new(),
            runs: Runs::Program,
            options: BTreeMap::new(),
            refuse: BTreeMap::new(),
            operands: Vec::new(),
            first_by: Vec::new(),
            rename: BTreeMap::new(),
            pins: Vec::new(),
            without_operands: Vec::new(),
            clusters: true,
            permute: true,
            counts: false,
            #[cfg(test)]
            accepted: Vec::new(),
            #[cfg(test)]
            refused: Vec::new(),
        }
    }
}

fn add_refusal(because: &Refuse, into: &mut BTreeMap<String, Refuse>) {
    for option in because.options.split_whitespace() {
        let name = option.trim_end_matches('=');
        let takes_value = name != option;
        into.insert(name.to_owned(), Refuse { takes_value, ..because.clone() });
    }
}

/// Reads `-a --all -w=NUMBER --color[=WORD] --contains~REVISION -P:TEXT`.
fn read_options(text: &str, into: &mut BTreeMap<String, Takes>) -> Result<(), String> {
    for token in text.split_whitespace() {
        if !token.starts_with('-') {
            return Err(format!("`{token}` is no option"));
        }
        let (name, takes) = if let Some((name, kind)) =
            token.split_once("[=").and_then(|(name, rest)| Some((name, rest.strip_suffix(']')?)))
        {
            (name, Takes::Optional(read_kind(kind)?))
        } else if let Some((name, kind)) = token.split_once(':') {
            (name, Takes::Next(read_kind(kind)?))
        } else if let Some((name, kind)) = token.split_once('~') {
            (name, Takes::Last(read_kind(kind)?))
        } else if let Some((name, kinds)) = token.split_once('=') {
            let kinds: Result<_, _> = kinds.split(',').map(read_kind).collect();
            (name, Takes::Values(kinds?))
        } else {
            (token, Takes::Nothing)
        };
        into.insert(name.to_owned(), takes);
    }
    Ok(())
}

/// Reads `PATTERN PATH*`.
fn read_operands(text: &str) -> Result<Vec<Operand>, String> {
    let read = |token: &str| {
        let (kind, count) = if let Some(kind) = token.strip_suffix('*') {
            (kind, Count::Many)
        } else if let Some(kind) = token.strip_suffix('?') {
            (kind, Count::Optional)
        } else {
            (token, Count::One)
        };
        Ok(Operand { kind: read_kind(kind)?, count })
    };
    text.split_whitespace().map(read).collect()
}

fn read_kind(text: &str) -> Result<Kind, String> {
    Ok(match text {
        "TEXT" => Kind::Text,
        "NUMBER" => Kind::Number,
        "PATH" => Kind::Path,
        "PLAIN" => Kind::Plain,
        "ASSIGNED" => Kind::Assigned,
        "REVISION" => Kind::Revision,
        "FORMAT" => Kind::Format,
        "ORDER" => Kind::Order,
        "SED" => Kind::Sed,
        "AWK" => Kind::Awk,
        "ASSIGNMENT" => Kind::Assignment,
        "JQ" => Kind::Jq,
        "PLUS" => Kind::Plus,
        "SETTING" => Kind::Setting,
        other if other.contains(|character: char| character.is_ascii_lowercase()) => {
            Kind::OneOf(other.split('|').map(str::to_owned).collect())
        }
        other => return Err(format!("`{other}` is no kind")),
    })
}

//! The rules: per command its exact options, what each takes, what its operands are.
//!
//! They are data (`rules.yaml`), so that allowing a command is an entry with its examples and not
//! code. What the data does not name is refused; an option is never guessed from its beginning.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::support::yaml;

/// The rules of the program, read once. They are part of it, so a test has read them; if they could
/// not be read after all, there would be none, and everything would be refused.
pub(super) static RULES: LazyLock<Rules> =
    LazyLock::new(|| Rules::read(include_str!("rules.yaml")).unwrap_or_default());

/// The rules of all commands, by name; a subcommand of Git is named `git log`.
#[derive(Debug, Default)]
pub(super) struct Rules {
    commands: BTreeMap<String, Rule>,
    refused: BTreeMap<String, String>,
}

/// The rules of one command.
#[derive(Debug)]
pub(super) struct Rule {
    /// What it is called.
    pub(super) name: String,
    /// What it does, for the list of commands.
    pub(super) about: String,
    /// How it runs.
    pub(super) runs: Runs,
    /// Its options, by exact name with dashes.
    pub(super) options: BTreeMap<String, Takes>,
    /// Why options are refused, and what to do instead.
    pub(super) refuse: BTreeMap<String, Refuse>,
    /// What its operands are, in order.
    pub(super) operands: Vec<Operand>,
    /// Options that stand in for the first operand, such as `grep -e`.
    pub(super) first_by: Vec<String>,
    /// Options that are given another name before the program sees them.
    pub(super) rename: BTreeMap<String, String>,
    /// Arguments that are put in front.
    pub(super) pins: Vec<Pin>,
    /// What is added when there is no operand.
    pub(super) without_operands: Vec<String>,
    /// Whether letters behind one dash are options each.
    pub(super) clusters: bool,
    /// Whether options may follow operands.
    pub(super) permute: bool,
    /// Whether `-20` is an option.
    pub(super) counts: bool,
    /// Lines that are allowed, as tests.
    #[cfg(test)]
    pub(super) accepted: Vec<String>,
    /// Lines that are refused, as tests.
    #[cfg(test)]
    pub(super) refused: Vec<String>,
}

/// How a command runs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Runs {
    /// As the system's program of its name.
    Program,
    /// As the program of another name, with arguments in front.
    As(Vec<String>),
    /// In our process.
    Builtin,
    /// As the system's program, or in our process where there is none.
    Either,
}

/// What an option takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Takes {
    /// Nothing.
    Nothing,
    /// These values: the first attached or the next word, the others the words after it.
    Values(Vec<Kind>),
    /// A value that must be attached, if there is one.
    Optional(Kind),
    /// A value that is the next word, if there is one.
    Last(Kind),
    /// A value that is the next word always: what is attached would be further options.
    Next(Kind),
}

/// An operand, or as many as there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Operand {
    /// What it is.
    pub(super) kind: Kind,
    /// How many.
    pub(super) count: Count,
}

/// How many operands of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// Exactly one.
    One,
    /// One or none.
    Optional,
    /// Any number.
    Many,
}

/// What a value or an operand is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any text: the program does nothing with it but compare or print it.
    Text,
    /// A number, perhaps with a sign and a unit.
    Number,
    /// One of some words.
    OneOf(Vec<String>),
    /// A file or a folder that is read.
    Path,
    /// A path that does not begin with `+` or `@`, which the program would take for more.
    Plain,
    /// What the branches and tags of Git are sorted by, which may not be signatures.
    Order,
    /// `name=value`, of `awk -v`.
    Assigned,
    /// A revision or a path, of Git.
    Revision,
    /// A format of Git, which may not check signatures.
    Format,
    /// A `sed` script.
    Sed,
    /// An `awk` program.
    Awk,
    /// `name=value` for `awk`, or a path.
    Assignment,
    /// A `jq` filter.
    Jq,
    /// `+FORMAT`, of `date`.
    Plus,
    /// A name without a dash in front and with a dot, of `git config`.
    Setting,
}

/// Why an option is refused.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Refuse {
    /// The options.
    options: String,
    /// What is said about them.
    pub(super) because: String,
    /// What to do, as a sentence.
    #[serde(default)]
    pub(super) advice: Option<String>,
    /// Whether the option takes a value; written as `-o=`.
    #[serde(skip)]
    pub(super) takes_value: bool,
}

/// Arguments that are put in front.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pin {
    /// Always when empty, otherwise when one of these was given.
    #[serde(default)]
    pub(super) when: Vec<String>,
    /// Not when one of these was given.
    #[serde(default)]
    pub(super) unless: Vec<String>,
    /// The arguments.
    pub(super) add: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    sets: BTreeMap<String, String>,
    refusals: BTreeMap<String, Vec<Refuse>>,
    refused: BTreeMap<String, String>,
    commands: BTreeMap<String, Entry>,
}

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

impl Rules {
    /// Reads the rules from their text.
    pub(super) fn read(text: &str) -> Result<Self, String> {
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

    /// Returns the rules of a command.
    pub(super) fn get(&self, name: &str) -> Option<&Rule> {
        self.commands.get(name)
    }

    /// Returns what to do instead of a command that is known and refused.
    pub(super) fn advice(&self, name: &str) -> Option<&str> {
        self.refused.get(name).map(String::as_str)
    }

    /// Returns the names of all programs that the rules can run.
    pub(super) fn programs(&self) -> impl Iterator<Item = &str> {
        self.commands.values().filter_map(|rule| match &rule.runs {
            Runs::Program | Runs::Either => (!rule.name.contains(' ')).then_some(&*rule.name),
            Runs::As(command) => command.first().map(String::as_str),
            Runs::Builtin => None,
        })
    }

    /// Returns the rules of all commands, sorted by name.
    pub(super) fn all(&self) -> impl Iterator<Item = &Rule> {
        self.commands.values()
    }
}

/// Makes the rule of an entry, with what it takes over from others.
fn rule(name: &str, entry: &Entry, document: &Document) -> Result<Rule, String> {
    let base = match &entry.like {
        None => None,
        Some(like) => {
            let base = document.commands.get(like).ok_or_else(|| format!("no command `{like}`"))?;
            Some(rule(like, base, document)?)
        }
    };
    let mut options = BTreeMap::new();
    let mut refuse = BTreeMap::new();
    let mut made = match base {
        Some(base) => base,
        None => Rule {
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
        },
    };
    for name in &entry.uses {
        let set = document.sets.get(name).ok_or_else(|| format!("no set `{name}`"))?;
        read_options(set, &mut options)?;
        for because in document.refusals.get(name).into_iter().flatten() {
            add_refusal(because, &mut refuse);
        }
    }
    read_options(&entry.options, &mut options)?;
    for because in &entry.refuse {
        add_refusal(because, &mut refuse);
    }
    options.retain(|name, _| !refuse.contains_key(name));
    made.options.extend(options);
    made.refuse.extend(refuse);
    name.clone_into(&mut made.name);
    entry.about.clone_into(&mut made.about);
    if let Some(runs) = &entry.runs {
        made.runs = runs.clone();
    }
    if let Some(program) = &entry.as_program {
        made.runs = Runs::As(program.clone());
    }
    if let Some(operands) = &entry.operands {
        made.operands = read_operands(operands)?;
    }
    if !entry.first_by.is_empty() {
        made.first_by.clone_from(&entry.first_by);
    }
    made.rename.extend(entry.rename.clone());
    made.pins.extend(entry.pins.iter().cloned());
    made.without_operands.extend(entry.without_operands.iter().cloned());
    made.clusters = entry.clusters.unwrap_or(made.clusters);
    made.permute = entry.permute.unwrap_or(made.permute);
    made.counts = entry.counts.unwrap_or(made.counts);
    #[cfg(test)]
    {
        made.accepted.clone_from(&entry.accepted);
        made.refused.clone_from(&entry.refused);
    }
    Ok(made)
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

//! The rules: per command its exact options, what each takes, what its operands are.
//!
//! They are data (`rules.yaml`), so that allowing a command is an entry with its examples and not
//! code. What the data does not name is refused; an option is never guessed from its beginning.

mod reading;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

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

impl Rules {
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

//! What is said about an option or an operand that a rule does not allow.

use super::Reader;
use crate::support::nearest::nearest;
use crate::terminal::refusal::Refusal;
use crate::terminal::repair::Repair;

impl Reader<'_> {
    /// Refuses an option that is not allowed, found in the word as it was written.
    pub(super) fn unknown(&self, name: &str, written: &str) -> Refusal {
        let command = &self.rule.name;
        if let Some(refuse) = self.rule.refuse.get(name) {
            let advice = refuse.advice.as_deref().unwrap_or("Leave the option out");
            let letter = name.chars().nth(1).filter(|_| name.len() == 2 && written.len() > 2);
            let attached = written.len() > name.len();
            let repair = if let Some(letter) = letter {
                Repair::LeaveOutLetter(written.to_owned(), letter, refuse.takes_value)
            } else {
                let more = usize::from(refuse.takes_value && !attached);
                Repair::LeaveOut(written.to_owned(), more)
            };
            let refusal =
                Refusal::new(format!("{command} {name}"), refuse.because.clone()).advice(advice);
            // Only where leaving it out is the advice does the line without it say what was meant.
            return if advice.starts_with("Leave") { refusal.repair(repair) } else { refusal };
        }
        let reason = if name == written {
            format!("is not among the options of `{command}` that are allowed")
        } else {
            format!(
                "holds `{name}`, which is not among the options of `{command}` that are allowed"
            )
        };
        let known = self.rule.options.keys().map(String::as_str);
        let long = known.filter(|option| option.starts_with("--") && name.len() > 3);
        let near = long
            .clone()
            .find(|option| option.starts_with(name))
            .or_else(|| nearest(name, long.clone()));
        let refusal = match near {
            Some(near) => Refusal::new(written, reason)
                .advice(format!("Perhaps `{near}` is meant; options are written in full")),
            None => Refusal::new(written, reason),
        };
        refusal.allowed(format!("options of `{command}`"), self.list())
    }

    /// Returns the options, but not more than are read with profit.
    fn list(&self) -> Vec<String> {
        const MOST: usize = 60;
        let mut list: Vec<String> = self.rule.options.keys().cloned().collect();
        if list.len() > MOST {
            // The short ones and the first of the others say what there is.
            list.sort_by_key(String::len);
            let more = list.split_off(MOST).len();
            list.sort();
            list.push(format!("… and {more} more"));
        }
        list
    }

    /// Refuses the first operand that is too much.
    pub(super) fn too_many(&self, index: usize) -> Refusal {
        let word = &self.reading.operands[index];
        let command = &self.rule.name;
        let reason = match command.as_str() {
            "uniq" | "xxd" => {
                format!("is a second file, which `{command}` would overwrite with its output")
            }
            _ => format!("is one word more than `{command}` takes here"),
        };
        let refusal = Refusal::new(word.shown(), reason);
        match command.as_str() {
            "uniq" => refusal.form("cat FILES | uniq"),
            "git branch" | "git tag" => refusal
                .advice(format!("Write `{command} --list PATTERN` to list; nothing is made here")),
            _ => refusal.advice("Leave it out, or give it to a command of its own"),
        }
    }
}

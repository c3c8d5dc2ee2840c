//! The same call with the same result, again and again.
//!
//! What counts is the result: polling whose result changes is never punished, and a call is never
//! refused unseen.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::protocol::ToolCall;

/// How many of the latest calls are looked at for the end of the turn.
const WINDOW: usize = 10;
/// The call in the window that ends the turn.
const END_AT: usize = 5;

/// How the result that stands for the second of two equal ones begins.
pub(super) const SAME_AS: &str = "The result is the same as that of call";
/// How that of the third begins.
pub(super) const AGAIN: &str =
    "This call was made before and its result has not changed since call";

/// Remembers calls and their results.
#[derive(Debug, Default)]
pub(super) struct LoopGuard {
    seen: Vec<u64>,
}

/// What to make of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// New: shown as it is.
    Fresh,
    /// The same as call N: said so instead of shown again.
    SameAs(usize),
    /// The third time: refused with a hint.
    Again(usize),
    /// The fifth time in ten calls: the turn ends.
    EndTurn,
}

impl LoopGuard {
    /// Takes a call and its result; calls are numbered from 1.
    pub(super) fn observe(&mut self, call: &ToolCall, result: &str) -> Verdict {
        let mut hasher = DefaultHasher::new();
        (&call.name, canonical(&call.arguments), result).hash(&mut hasher);
        let this = hasher.finish();
        let first = self.seen.iter().position(|seen| *seen == this);
        let times = 1 + self.seen.iter().filter(|seen| **seen == this).count();
        let lately =
            1 + self.seen.iter().rev().take(WINDOW - 1).filter(|seen| **seen == this).count();
        self.seen.push(this);
        match (first, times) {
            (None, _) => Verdict::Fresh,
            (Some(_), _) if lately >= END_AT => Verdict::EndTurn,
            (Some(first), 2) => Verdict::SameAs(first + 1),
            (Some(first), _) => Verdict::Again(first + 1),
        }
    }
}

impl LoopGuard {
    /// Remembers a call of an earlier process and what the model read: a result, or that it was the
    /// same as an earlier one.
    pub(super) fn recall(&mut self, call: &ToolCall, read: &str) {
        let told = [SAME_AS, AGAIN].into_iter().find_map(|words| read.strip_prefix(words));
        let number = told.and_then(|rest| rest.trim_start().split(' ').next()?.parse().ok());
        let first = number.and_then(|number: usize| self.seen.get(number.checked_sub(1)?).copied());
        match first {
            Some(first) => self.seen.push(first),
            None => drop(self.observe(call, read)),
        }
    }
}

/// Returns arguments in one spelling: keys sorted, white space gone.
fn canonical(arguments: &str) -> String {
    match serde_json::from_str(arguments) {
        Ok(value) => sorted(value).to_string(),
        Err(_) => arguments.trim().to_owned(),
    }
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut entries: Vec<_> = object.into_iter().map(|(k, v)| (k, sorted(v))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(arguments: &Value) -> ToolCall {
        ToolCall::new("id", "terminal", arguments)
    }

    #[test]
    fn the_second_is_said_the_third_refused_the_fifth_ends() {
        let mut guard = LoopGuard::default();
        let ls = call(&json!({"command": "ls"}));
        assert_eq!(guard.observe(&call(&json!({"command": "pwd"})), "/"), Verdict::Fresh);
        assert_eq!(guard.observe(&ls, "a"), Verdict::Fresh);
        assert_eq!(guard.observe(&ls, "a"), Verdict::SameAs(2));
        assert_eq!(guard.observe(&ls, "a"), Verdict::Again(2));
        assert_eq!(guard.observe(&ls, "a"), Verdict::Again(2));
        assert_eq!(guard.observe(&ls, "a"), Verdict::EndTurn);
    }

    #[test]
    fn a_changing_result_is_never_punished() {
        let mut guard = LoopGuard::default();
        let poll = call(&json!({"command": "wc -l log"}));
        for size in 0..50 {
            assert_eq!(guard.observe(&poll, &size.to_string()), Verdict::Fresh);
        }
    }

    #[test]
    fn equal_calls_far_apart_do_not_end_the_turn() {
        let mut guard = LoopGuard::default();
        let ls = call(&json!({"command": "ls"}));
        for round in 0..6 {
            let verdict = guard.observe(&ls, "a");
            assert_ne!(verdict, Verdict::EndTurn, "round {round}");
            for other in 0..4 {
                guard.observe(&call(&json!({"command": format!("cat {round} {other}")})), "");
            }
        }
    }

    #[test]
    fn a_guard_that_recalls_goes_on_as_the_one_before_it() {
        let ls = call(&json!({"command": "ls"}));
        let mut guard = LoopGuard::default();
        guard.recall(&call(&json!({"command": "pwd"})), "/");
        guard.recall(&ls, "a");
        guard.recall(&ls, &format!("{SAME_AS} 2 of this turn."));
        guard.recall(&ls, &format!("{AGAIN} 2 of this turn. It is not shown again."));
        assert_eq!(guard.observe(&ls, "a"), Verdict::Again(2));
        assert_eq!(guard.observe(&ls, "a"), Verdict::EndTurn);
        let mut guard = LoopGuard::default();
        for read in [format!("{SAME_AS} 9 of"), format!("{AGAIN} 0 of"), format!("{AGAIN} x")] {
            guard.recall(&ls, &read);
        }
        assert_eq!(guard.observe(&ls, "a"), Verdict::Fresh);
    }

    #[test]
    fn the_order_of_keys_and_white_space_do_not_matter() {
        let mut guard = LoopGuard::default();
        let spell =
            |arguments: &str| ToolCall { arguments: arguments.to_owned(), ..call(&json!(0)) };
        guard.observe(&spell(r#"{"a": 1, "b": {"d": 1, "c": 2}}"#), "x");
        assert_eq!(guard.observe(&spell(r#"{"b":{"c":2,"d":1},"a":1}"#), "x"), Verdict::SameAs(1));
        guard.observe(&spell("{broken"), "x");
        assert_eq!(guard.observe(&spell(" {broken"), "x"), Verdict::SameAs(3));
    }
}

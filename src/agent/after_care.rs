//! After the answer: by its words, whether something in it must be remembered, and what a note of it
//! is called. What it cites is looked up in `claims.rs`.

use crate::prompts::Language;

/// What happens when an answer tells of problems or of a plan and nothing was noted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AutoNotes {
    /// The model is asked once to note them.
    #[default]
    Ask,
    /// The chapter's rule: problem words make a blocker, planning words an action.
    Keywords,
    /// Nothing.
    Off,
}

/// What an answer is about, by its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    /// Something is wrong.
    Problem,
    /// Something is to be done.
    Plan,
}

/// Words of problems, in English and Chinese.
const PROBLEMS: [&str; 16] = [
    "problem", "issue", "bug", "defect", "blocker", "blocked", "conflict", "vulnerab", "broken",
    "risk", "问题", "缺陷", "阻塞", "错误", "冲突", "风险",
];

/// Words of plans.
const PLANS: [&str; 10] = [
    "next step",
    "plan",
    "todo",
    "should be done",
    "first step",
    "下一步",
    "计划",
    "待办",
    "建议",
    "步骤",
];

/// Returns what an answer is about, if its words tell. A problem weighs more than a plan.
pub(super) fn topic(answer: &str) -> Option<Topic> {
    let answer = answer.to_lowercase();
    let holds = |words: &[&str]| words.iter().any(|word| answer.contains(word));
    if holds(&PROBLEMS) {
        Some(Topic::Problem)
    } else if holds(&PLANS) {
        Some(Topic::Plan)
    } else {
        None
    }
}

/// Returns the title of a note that is made from a question: its first thirty characters, as in
/// the chapter.
pub(super) fn title(question: &str, language: Language) -> String {
    let line = question.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.is_empty() {
        return match language {
            Language::En => "Findings of the session".to_owned(),
            Language::Zh => "本次会话的发现".to_owned(),
        };
    }
    match line.char_indices().nth(30) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn problems_weigh_more_than_plans_in_both_languages() {
        assert_eq!(topic("The next step is clear, but there is a Bug."), Some(Topic::Problem));
        assert_eq!(topic("下一步：先修复阻塞项"), Some(Topic::Problem));
        assert_eq!(topic("我的计划如下"), Some(Topic::Plan));
        assert_eq!(topic("The project has 3 files."), None);
    }

    #[test]
    fn a_title_is_one_line_of_thirty_characters() {
        assert_eq!(title("a\nb  c", Language::En), "a b c");
        assert_eq!(title(&"字".repeat(40), Language::Zh), format!("{}…", "字".repeat(30)));
        assert_eq!(title(" \n", Language::En), "Findings of the session");
    }
}

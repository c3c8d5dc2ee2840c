//! The table of modes: what each one looks at before the model is asked, and its prompt.

use crate::prompts::Language;
use crate::support::quote::single_quoted;

/// What a turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// A question, with a small mix of the others' looks.
    Auto,
    /// What is here.
    Explore,
    /// How good it is.
    Analyze,
    /// What comes next, from the notes alone.
    Plan,
}

/// One row of the table.
#[derive(Debug)]
pub struct ModeRow {
    /// The name, in `[State]`, in events, on the command line.
    pub name: &'static str,
    /// The prompt file that words the task.
    pub prompt: &'static str,
    /// The command lines run first in a Git repository; `{in}` becomes a pathspec.
    git: &'static [&'static str],
    /// Those run first elsewhere; `{under}` becomes a folder.
    plain: &'static [&'static str],
}

const AUTO: ModeRow = ModeRow {
    name: "auto",
    prompt: "modes/auto",
    git: &[
        "git log --oneline -n 5",
        "git ls-files {in} | cut -d/ -f1 | sort | uniq -c | sort -rn | head -n 30",
    ],
    plain: &["ls -A | head -n 50"],
};

const EXPLORE: ModeRow = ModeRow {
    name: "explore",
    prompt: "modes/explore",
    git: &[
        "git ls-files {in} | wc -l",
        "git ls-files {in} | cut -d/ -f1-2 | sort | uniq -c | sort -rn | head -n 60",
        r"git ls-files {in} | sed -n 's/.*\.\([A-Za-z0-9]*\)$/\1/p' | sort | uniq -c | sort -rn | head -n 20",
        "git log --oneline -n 10",
    ],
    plain: &[
        "find {under} -type f -not -path '*/.*' | wc -l",
        "find {under} -maxdepth 2 -not -path '*/.*' | sort | head -n 100",
        r"find {under} -type f -not -path '*/.*' | sed -n 's/.*\.\([A-Za-z0-9]*\)$/\1/p' | sort | uniq -c | sort -rn | head -n 20",
    ],
};

const ANALYZE: ModeRow = ModeRow {
    name: "analyze",
    prompt: "modes/analyze",
    git: &[
        "git ls-files -z {in} | xargs -0 wc -l | sort -rn | head -n 25",
        r"git grep -n -I -w -E 'TODO|FIXME|HACK|XXX' {in} | cut -c 1-200 | head -n 60",
        "git log -n 500 --format= --name-only {in} | sort | uniq -c | sort -rn | head -n 20",
        r"git ls-files {in} | grep -i -E '(^|/)tests?/|(^|/)test_|[._]test\.|\.spec\.' | head -n 40",
    ],
    plain: &[
        "find {under} -type f -not -path '*/.*' -print0 | xargs -0 wc -l | sort -rn | head -n 25",
        r"grep -rnIw -E 'TODO|FIXME|HACK|XXX' {under} | cut -c 1-200 | head -n 60",
        r"find {under} -type f -not -path '*/.*' | grep -i -E '/tests?/|/test_|[._]test\.|\.spec\.' | head -n 40",
    ],
};

const PLAN: ModeRow = ModeRow { name: "plan", prompt: "modes/plan", git: &[], plain: &[] };

impl Mode {
    /// All modes, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Explore, Self::Analyze, Self::Plan];

    /// Returns the mode's row.
    pub fn row(self) -> &'static ModeRow {
        match self {
            Self::Auto => &AUTO,
            Self::Explore => &EXPLORE,
            Self::Analyze => &ANALYZE,
            Self::Plan => &PLAN,
        }
    }

    /// Returns what a request without a target is about.
    pub(super) fn whole(self, language: Language) -> &'static str {
        match (self, language) {
            (Self::Plan, Language::En) => "all of the work that the notes tell of",
            (Self::Plan, Language::Zh) => "笔记里记录的全部工作",
            (Self::Auto | Self::Explore | Self::Analyze, Language::En) => "the whole repository",
            (Self::Auto | Self::Explore | Self::Analyze, Language::Zh) => "整个代码库",
        }
    }

    /// Returns the command lines of the pre-processing, for the whole workspace or a path in it.
    pub fn looks(self, is_git: bool, target: Option<&str>) -> Vec<String> {
        let row = self.row();
        let within = target.map_or_else(String::new, |path| format!("-- {}", single_quoted(path)));
        let under = target.map_or_else(|| ".".to_owned(), dotted);
        let fill = |line: &&str| {
            let line = line.replace("{in}", &within).replace("{under}", &under);
            line.replace("  ", " ").replace(" |  ", " | ").trim_end().to_owned()
        };
        let lines = if is_git { row.git } else { row.plain };
        lines.iter().map(fill).collect()
    }
}

/// Quotes a path for `find` and `grep`, which would take a leading dash for an option.
fn dotted(path: &str) -> String {
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    single_quoted(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_narrows_every_look() {
        for mode in [Mode::Auto, Mode::Explore, Mode::Analyze] {
            for line in mode.looks(true, Some("it's here")) {
                assert!(line.contains(r"-- 'it'\''s here'") || line.contains("git log"), "{line}");
            }
        }
        for line in Mode::Explore.looks(false, Some("-rf")) {
            assert!(line.starts_with("find './-rf' "), "{line}");
        }
    }

    #[test]
    fn a_plan_looks_at_nothing() {
        assert_eq!(Mode::Plan.looks(true, None), Vec::<String>::new());
    }

    #[test]
    fn no_placeholder_and_no_double_space_is_left() {
        for mode in Mode::ALL {
            for (is_git, target) in [(true, None), (false, None), (true, Some("src"))] {
                for line in mode.looks(is_git, target) {
                    assert!(!line.contains("{in}") && !line.contains("{under}"), "{line}");
                    assert!(!line.contains("  ") && !line.ends_with(' '), "{line}");
                }
            }
        }
    }
}

//! What a question is about, by its words, and the sections that answer it.

use super::desk::{Desk, Looked};
use super::explore;
use super::findings::functions::{Bounds, Functions};
use super::findings::markers::Markers;
use super::findings::repeats::Repeats;
use super::findings::untested::Untested;
use super::page::Page;
use super::scope::Scope;
use super::survey::history::History;
use super::survey::landmarks::Landmarks;
use super::survey::languages::Languages;
use super::survey::sizes::Sizes;
use super::survey::structure::Structure;

/// How many subjects one question can have.
const MOST: usize = 3;

/// Something that the rules can look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Purpose,
    Structure,
    Languages,
    Landmarks,
    Sizes,
    History,
    Markers,
    Functions,
    Tests,
    Repeats,
}

/// The words that lead to each subject.
const WORDS: [(Subject, &[&str]); 10] = [
    (
        Subject::Purpose,
        &[
            "what does this",
            "what is this",
            "purpose",
            "what do we have here",
            "做什么",
            "干什么",
            "是什么项目",
            "介绍",
        ],
    ),
    (
        Subject::Structure,
        &[
            "structure",
            "folder",
            "director",
            "layout",
            "how many files",
            "architecture",
            "结构",
            "目录",
            "多少文件",
            "多少个文件",
            "架构",
        ],
    ),
    (
        Subject::Languages,
        &[
            "language",
            "how many lines",
            "lines of code",
            "how big",
            "how large",
            "语言",
            "多少行",
            "代码行",
            "规模",
            "多大",
        ],
    ),
    (
        Subject::Landmarks,
        &[
            "entry point",
            "start",
            "build",
            "dependenc",
            "licen",
            "readme",
            "入口",
            "启动",
            "构建",
            "依赖",
            "许可",
            "怎么运行",
            "如何运行",
        ],
    ),
    (
        Subject::Sizes,
        &["largest", "biggest", "longest file", "long file", "最大", "最长的文件", "大文件"],
    ),
    (
        Subject::History,
        &[
            "commit",
            "author",
            "contributor",
            "who wrote",
            "recent",
            "history",
            "change most",
            "changes most",
            "changed most",
            "提交",
            "作者",
            "历史",
            "最近",
            "变更",
            "改动最",
        ],
    ),
    (Subject::Markers, &["todo", "fixme", "hack", "xxx", "unfinished", "待办", "未完成"]),
    (
        Subject::Functions,
        &[
            "long function",
            "longest function",
            "complex",
            "nested",
            "nesting",
            "函数最长",
            "最长的函数",
            "过长",
            "复杂",
            "嵌套",
        ],
    ),
    (
        Subject::Tests,
        &[
            "without test",
            "untested",
            "missing test",
            "tests are missing",
            "coverage",
            "are there tests",
            "how many tests",
            "没有测试",
            "缺少测试",
            "缺测试",
            "测试覆盖",
            "多少测试",
        ],
    ),
    (Subject::Repeats, &["duplicat", "repeated", "copied", "copy-paste", "重复", "拷贝"]),
];

/// Returns what a question is about; nothing when no word tells.
pub(super) fn of(question: &str) -> Vec<Subject> {
    let question = question.to_lowercase();
    let holds = |words: &[&str]| words.iter().any(|word| question.contains(word));
    let subjects = WORDS.iter().filter(|(_, words)| holds(words)).map(|(subject, _)| *subject);
    subjects.take(MOST).collect()
}

/// Writes the sections of some subjects.
pub(super) fn write(
    desk: &Desk<'_>,
    scope: &Scope,
    subjects: &[Subject],
    page: &mut Page,
) -> Looked<()> {
    let sections = subjects.iter().map(|subject| subject.look(desk, scope));
    // All are asked for before the first is waited for.
    let sections: Vec<Looked<Section>> = sections.collect();
    for section in sections {
        section?(page);
    }
    Ok(())
}

type Section = Box<dyn FnOnce(&mut Page)>;

impl Subject {
    fn look(self, desk: &Desk<'_>, scope: &Scope) -> Looked<Section> {
        Ok(match self {
            Self::Purpose => {
                let landmarks = Landmarks::look(desk, scope)?;
                let purpose = explore::purpose(desk, &landmarks)?;
                Box::new(move |page| {
                    explore::write_purpose(page, purpose.as_ref());
                    landmarks.write(page);
                })
            }
            Self::Structure => {
                let structure = Structure::look(desk, scope)?;
                let scope = scope.clone();
                Box::new(move |page| {
                    explore::write_count(page, &scope);
                    structure.write(page);
                })
            }
            Self::Languages => {
                let languages = Languages::look(desk, scope)?;
                Box::new(move |page| languages.write(page))
            }
            Self::Landmarks => {
                let landmarks = Landmarks::look(desk, scope)?;
                Box::new(move |page| landmarks.write(page))
            }
            Self::Sizes => {
                let sizes = Sizes::look(desk, scope)?;
                Box::new(move |page| sizes.write(page))
            }
            Self::History => {
                let history = History::look(desk, scope)?;
                Box::new(move |page| match &history {
                    Some(history) => {
                        history.write(page);
                        history.write_hot_spots(page);
                    }
                    None => page.gap("there is no Git history to read", "没有可读取的 Git 历史"),
                })
            }
            Self::Markers => {
                let markers = Markers::look(desk, scope)?;
                Box::new(move |page| markers.write(page, 25))
            }
            Self::Functions => {
                let languages = Languages::look(desk, scope)?;
                let functions = Functions::look(desk, scope, &languages, Bounds::LOOK)?;
                Box::new(move |page| {
                    if let Some(functions) = &functions {
                        functions.write(page);
                    }
                })
            }
            Self::Tests => {
                let languages = Languages::look(desk, scope)?;
                let tests = Untested::look(desk, scope, &languages)?;
                Box::new(move |page| tests.write(page))
            }
            Self::Repeats => {
                let languages = Languages::look(desk, scope)?;
                let repeats = Repeats::look(desk, scope, &languages)?;
                Box::new(move |page| {
                    if let Some(repeats) = &repeats {
                        repeats.write(page);
                    }
                })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(question: &str, expected: &[Subject]) {
        assert_eq!(of(question), expected, "{question}");
    }

    #[test]
    fn a_question_leads_to_its_subjects() {
        check(
            "How many files are there and in which languages?",
            &[Subject::Structure, Subject::Languages],
        );
        check("哪些函数最长？有没有重复代码？", &[Subject::Functions, Subject::Repeats]);
        check("Which TODOs are left?", &[Subject::Markers]);
        check("这个项目是做什么的？", &[Subject::Purpose]);
        check("Where is process_order called?", &[]);
    }
}

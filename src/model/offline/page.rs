//! The answer: sections, and at its end the command behind each number.

use super::language::Language;
use super::lines;

/// An answer that is being written.
#[derive(Debug)]
pub(super) struct Page {
    language: Language,
    text: String,
    commands: Vec<(String, String)>,
    gaps: Vec<String>,
}

impl Page {
    /// Returns an empty page.
    pub(super) fn new(language: Language) -> Self {
        Self { language, text: String::new(), commands: Vec::new(), gaps: Vec::new() }
    }

    /// Returns the language.
    pub(super) fn language(&self) -> Language {
        self.language
    }

    /// Begins a section.
    pub(super) fn heading(&mut self, english: &str, chinese: &str) {
        let heading = self.language.pick(english, chinese);
        self.space();
        self.text.extend(["## ", heading, "\n\n"]);
    }

    /// Writes a paragraph.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.space();
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Leaves a line between a paragraph and a list.
    pub(super) fn text_gap(&mut self) {
        self.space();
    }

    /// Writes an item of a list.
    pub(super) fn item(&mut self, text: &str) {
        self.text.push_str("- ");
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Writes a table.
    pub(super) fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        self.space();
        let rule = vec!["---".to_owned(); head.len()];
        let head = head.iter().map(|cell| (*cell).to_owned()).collect();
        for row in [head, rule].iter().chain(rows) {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            self.text.extend(["| ", &cells.join(" | "), " |\n"]);
        }
    }

    /// Remembers the command that a number comes from.
    pub(super) fn cite(&mut self, english: &str, chinese: &str, line: &str) {
        let what = self.language.pick(english, chinese).to_owned();
        if !self.commands.iter().any(|(_, known)| known == line) {
            self.commands.push((what, line.to_owned()));
        }
    }

    /// Remembers something that could not be looked at.
    pub(super) fn gap(&mut self, english: &str, chinese: &str) {
        let gap = self.language.pick(english, chinese).to_owned();
        if !self.gaps.contains(&gap) {
            self.gaps.push(gap);
        }
    }

    /// Puts another page behind this one.
    pub(super) fn append(&mut self, other: Self) {
        if !other.text.is_empty() {
            self.space();
            self.text.push_str(&other.text);
        }
        self.commands.extend(other.commands);
        self.gaps.extend(other.gaps);
    }

    /// Returns the answer.
    pub(super) fn finish(mut self) -> String {
        if !self.gaps.is_empty() {
            self.heading("Not looked at", "未能查看");
            for gap in std::mem::take(&mut self.gaps) {
                self.item(&gap);
            }
        }
        if !self.commands.is_empty() {
            self.heading("Where the numbers come from", "数字的来源");
            for (what, line) in std::mem::take(&mut self.commands) {
                let line = lines::shown(&line).replace('\n', " ");
                let colon = self.language.pick(": ", "：");
                self.item(&format!("{what}{colon}`{}`", line.replace('`', "'")));
            }
        }
        self.paragraph(self.language.pick(
            "_Written by the built-in `offline` model: fixed rules over the output of read-only commands, not a language model. It counts and locates; it does not understand the code._",
            "_由内置的 `offline` 模型写成：它只是对只读命令的输出套用固定规则，并不是语言模型。它会计数和定位，但不理解代码。_",
        ));
        self.text
    }

    fn space(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }
}

/// Returns a path or a word as code.
pub(super) fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

/// Returns a number with its noun, in English.
pub(super) fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns a line of a file as it may be quoted: short, and without anything that reads like a
/// place of ours.
pub(super) fn excerpt(text: &str) -> String {
    let mut excerpt = String::new();
    // `cut` counts bytes, and may leave a piece of a character.
    for letter in text.trim().trim_end_matches('\u{fffd}').chars().take(120) {
        if letter.is_ascii_digit() && excerpt.ends_with(':') {
            excerpt.push(' ');
        }
        excerpt.push(if letter == '`' { '\'' } else { letter });
    }
    excerpt
}

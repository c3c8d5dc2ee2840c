//! Markdown for a terminal: headings, emphasis and code get a style, tables get columns; the text
//! itself stays as it is, so that it reads well without colour too.

use anstyle::{AnsiColor, Style};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use unicode_width::UnicodeWidthStr;

use crate::support::text::clean;

/// Renders Markdown with styles. Control characters of the text are left out: only styles of ours
/// reach the terminal.
pub fn render(markdown: &str) -> String {
    let markdown = &clean(markdown);
    let mut page = Page::default();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS) {
        page.take(event);
    }
    page.text.trim_end().to_owned()
}

const HEADING: Style = Style::new().bold().underline();
const STRONG: Style = Style::new().bold();
const EMPHASIS: Style = Style::new().italic();
const CODE: Style = AnsiColor::Cyan.on_default();
const LINK: Style = Style::new().underline();
const QUOTE: Style = Style::new().dimmed();

/// What has been rendered, and what the next line begins with.
#[derive(Default)]
struct Page {
    text: String,
    /// The lists that are open: the next number, or none for bullets.
    lists: Vec<Option<u64>>,
    styles: Vec<Style>,
    quoted: usize,
    in_code: bool,
    /// The rows of the table that is open.
    table: Option<Vec<Vec<String>>>,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => {
                for line in text.lines() {
                    self.push(&format!("    {CODE}{line}{CODE:#}\n"));
                }
            }
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.push(&text),
            Event::Code(code) => self.push(&format!("{CODE}{code}{CODE:#}{}", self.style())),
            Event::SoftBreak | Event::HardBreak => self.new_line(),
            Event::Rule => self.push("────────\n\n"),
            Event::TaskListMarker(done) => self.push(if done { "[x] " } else { "[ ] " }),
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Heading { .. } => self.begin(HEADING),
            Tag::Strong => self.begin(STRONG),
            Tag::Emphasis => self.begin(EMPHASIS),
            Tag::Link { .. } => self.begin(LINK),
            Tag::BlockQuote(_) => {
                self.quoted += 1;
                self.begin(QUOTE);
                self.push("│ ");
            }
            Tag::CodeBlock(kind) => {
                self.in_code = true;
                if let CodeBlockKind::Fenced(_) = kind
                    && !self.lists.is_empty()
                {
                    self.new_line();
                }
            }
            Tag::List(first) => {
                if !self.lists.is_empty() {
                    self.push("\n");
                }
                self.lists.push(*first);
            }
            Tag::Item => {
                let indent = "  ".repeat(self.lists.len().saturating_sub(1));
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
                self.push(&format!("{indent}{mark}"));
            }
            Tag::Table(_) => self.table = Some(Vec::new()),
            Tag::TableHead | Tag::TableRow => {
                if let Some(rows) = &mut self.table {
                    rows.push(Vec::new());
                }
            }
            Tag::TableCell => {
                if let Some(row) = self.table.as_mut().and_then(|rows| rows.last_mut()) {
                    row.push(String::new());
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.finish();
                self.push("\n\n");
            }
            TagEnd::Strong | TagEnd::Emphasis | TagEnd::Link => self.finish(),
            TagEnd::BlockQuote(_) => {
                self.quoted = self.quoted.saturating_sub(1);
                self.text.truncate(self.text.trim_end().len());
                self.finish();
                self.push("\n\n");
            }
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.push("\n");
            }
            TagEnd::List(_) => {
                self.lists.pop();
                if self.lists.is_empty() {
                    self.push("\n");
                }
            }
            TagEnd::Item if !self.text.ends_with('\n') => self.push("\n"),
            TagEnd::Paragraph => self.push(if self.lists.is_empty() { "\n\n" } else { "\n" }),
            TagEnd::Table => self.end_table(),
            _ => {}
        }
    }

    fn begin(&mut self, style: Style) {
        self.styles.push(style);
        self.push(&style.to_string());
    }

    /// Ends the innermost style and takes up those around it again.
    fn finish(&mut self) {
        if let Some(style) = self.styles.pop() {
            self.push(&format!("{style:#}{}", self.style()));
        }
    }

    /// Returns what switches on the styles that are open.
    fn style(&self) -> String {
        self.styles.iter().map(ToString::to_string).collect()
    }

    fn new_line(&mut self) {
        let mut start = "\n".to_owned();
        start.push_str(&"│ ".repeat(self.quoted));
        start.push_str(&"  ".repeat(self.lists.len()));
        self.push(&start);
    }

    /// Adds text, to the open cell of a table if there is one.
    fn push(&mut self, text: &str) {
        let row = self.table.as_mut().and_then(|rows| rows.last_mut());
        match row.and_then(|row| row.last_mut()) {
            Some(cell) => cell.push_str(text),
            None => self.text.push_str(text),
        }
    }

    fn end_table(&mut self) {
        let Some(rows) = self.table.take() else { return };
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| {
            rows.iter().filter_map(|row| row.get(column)).map(|cell| shown_width(cell)).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
        for (index, row) in rows.iter().enumerate() {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(cell);
                line.push_str(&" ".repeat(width - shown_width(cell) + 2));
            }
            let line = line.trim_end();
            let head = index == 0;
            let line = if head { format!("{STRONG}{line}{STRONG:#}") } else { line.to_owned() };
            self.text.push_str(&line);
            self.text.push('\n');
        }
        self.text.push('\n');
    }
}

/// Returns the columns of a text without its styles.
fn shown_width(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().width()
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[track_caller]
    fn check(markdown: &str, plain: &str) {
        let rendered = render(markdown);
        assert_eq!(anstream::adapter::strip_str(&rendered).to_string(), plain);
    }

    #[test]
    fn without_styles_the_text_is_all_there() {
        check(
            "# Title\n\nSome **bold** `code`.\nNext *line*.",
            "Title\n\nSome bold code.\nNext line.",
        );
        check("- a\n- b\n  - c\n\nend", "• a\n• b\n  • c\n\nend");
        check("3. x\n4. y", "3. x\n4. y");
        check("```\nlet a;\n  b\n```\nafter", "    let a;\n      b\n\nafter");
        check("> quoted\n> text", "│ quoted\n│ text");
        check("- [x] done\n- [ ] open", "• [x] done\n• [ ] open");
    }

    #[test]
    fn tables_are_aligned_by_columns_of_the_terminal() {
        check("| 名字 | n |\n|---|---|\n| ab | 1 |\n| `c` | 22 |", "名字  n\nab    1\nc     22");
    }

    #[test]
    fn styles_end_where_they_began() {
        assert_eq!(render("**a `b` c**"), format!("{STRONG}a {CODE}b{CODE:#}{STRONG} c{STRONG:#}"));
    }

    #[test]
    fn nothing_and_nonsense_are_rendered_too() {
        check("", "");
        check("|a|\n|", "|a|\n|");
        check("[[[[<b>x", "[[[[<b>x");
    }
}

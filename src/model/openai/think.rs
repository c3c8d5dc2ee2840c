//! Takes `<think>…</think>` out of a text that arrives in pieces.
//!
//! Only a block at the beginning of the answer counts: a model that writes about the tag in the
//! middle of a sentence means the tag, not a thought.

/// The tags that open a thought, each with the one that closes it.
const TAGS: [(&str, &str); 5] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
];

/// Divides pieces of text into thoughts and answer.
#[derive(Debug, Default)]
pub(super) struct ThoughtSplitter {
    held: String,
    state: State,
    thought: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing of the answer has come yet; a block may begin.
    #[default]
    Start,
    /// Inside a block that this tag ends.
    Thinking(&'static str),
    /// In the answer.
    Answer,
}

/// What a piece came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Split {
    /// Text of the answer.
    pub(super) answer: String,
    /// Thinking aloud.
    pub(super) thought: String,
}

impl ThoughtSplitter {
    /// Takes a piece; what may still become a tag is held back.
    pub(super) fn push(&mut self, piece: &str) -> Split {
        if self.state == State::Answer {
            return Split { answer: piece.to_owned(), ..Split::default() };
        }
        self.held.push_str(piece);
        let mut split = Split::default();
        self.advance(&mut split);
        split
    }

    /// Returns what was held back, when nothing more comes.
    pub(super) fn finish(&mut self) -> Split {
        let rest = std::mem::take(&mut self.held);
        match self.state {
            State::Start | State::Answer => Split { answer: rest, ..Split::default() },
            State::Thinking(_) => Split { thought: rest, ..Split::default() },
        }
    }

    fn advance(&mut self, split: &mut Split) {
        loop {
            match self.state {
                State::Start => {
                    let begun = self.held.trim_start();
                    if let Some((tag, end)) = TAGS.iter().find(|(tag, _)| begun.starts_with(tag)) {
                        self.held = begun[tag.len()..].to_owned();
                        self.state = State::Thinking(end);
                    } else if begun.is_empty() || TAGS.iter().any(|(tag, _)| tag.starts_with(begun))
                    {
                        return;
                    } else {
                        if self.thought {
                            self.held = begun.to_owned();
                        }
                        self.state = State::Answer;
                    }
                }
                State::Thinking(end) => {
                    if let Some(at) = self.held.find(end) {
                        split.thought.push_str(&self.held[..at]);
                        self.held = self.held[at + end.len()..].trim_start().to_owned();
                        self.state = State::Start;
                        self.thought = true;
                    } else {
                        let keep = longest_start_of(end, &self.held);
                        let ready = self.held.len() - keep;
                        split.thought.push_str(&self.held[..ready]);
                        self.held.drain(..ready);
                        return;
                    }
                }
                State::Answer => {
                    split.answer.push_str(&self.held);
                    self.held.clear();
                    return;
                }
            }
        }
    }
}

/// Divides an answer whose opening tag was part of the prompt: all before `</think>` is a thought.
pub(super) fn split_unopened(text: &str) -> Option<(&str, &str)> {
    let (thought, answer) = text.split_once("</think>")?;
    if thought.contains("<think>") { None } else { Some((thought.trim(), answer.trim_start())) }
}

/// Returns how many bytes at the end of `text` may be the beginning of `tag`.
fn longest_start_of(tag: &str, text: &str) -> usize {
    (1..tag.len()).rev().find(|length| text.ends_with(&tag[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, answer: &str, thought: &str) {
        for size in 1..=text.len().max(1) {
            let mut splitter = ThoughtSplitter::default();
            let mut found = Split::default();
            let letters: Vec<char> = text.chars().collect();
            let pieces = letters.chunks(size).map(|piece| piece.iter().collect::<String>());
            for split in pieces.map(|piece| splitter.push(&piece)).collect::<Vec<_>>() {
                found.answer.push_str(&split.answer);
                found.thought.push_str(&split.thought);
            }
            let rest = splitter.finish();
            found.answer.push_str(&rest.answer);
            found.thought.push_str(&rest.thought);
            assert_eq!((found.answer.as_str(), found.thought.as_str()), (answer, thought));
        }
    }

    #[test]
    fn thoughts_at_the_beginning_are_taken_out() {
        check("<think>let me see</think>\n\nIt is 4.", "It is 4.", "let me see");
        check("\n<think>a</think><think>b</think>c", "c", "ab");
        check("<thinking>想一想</thinking>好", "好", "想一想");
        check("[THINK]a[b][/THINK]c", "c", "a[b]");
        check("<think>never closed", "", "never closed");
        check("<think>a < b </thin</think>x", "x", "a < b </thin");
    }

    #[test]
    fn the_tag_in_an_answer_stays() {
        check("Use <think>x</think> here", "Use <think>x</think> here", "");
        check("<thin air", "<thin air", "");
        check("", "", "");
        check("  plain", "  plain", "");
    }

    #[test]
    fn a_block_that_was_opened_in_the_prompt_is_known_by_its_end() {
        assert_eq!(split_unopened("hm\n</think>\n\nyes"), Some(("hm", "yes")));
        assert_eq!(split_unopened("write <think> and </think>"), None);
        assert_eq!(split_unopened("yes"), None);
    }
}

//! The language of an answer, and sentences in both.

/// The language that the turn is held in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Language {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Language {
    /// Returns the text of this language.
    pub(super) fn pick<T>(self, english: T, chinese: T) -> T {
        match self {
            Self::En => english,
            Self::Zh => chinese,
        }
    }

    /// Returns what the folder at the top is called, which has no name of its own there.
    pub(super) fn top_folder(self) -> &'static str {
        self.pick("(top folder itself)", "（根目录本身）")
    }

    /// Returns the language of a text: Chinese when a fifth of its letters are Han.
    pub(super) fn guess(text: &str) -> Self {
        let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
        let han = text.chars().filter(|letter| is_han(*letter)).count();
        if han > 0 && han * 5 >= letters { Self::Zh } else { Self::En }
    }
}

/// Returns whether a letter is Chinese.
pub(super) fn is_han(letter: char) -> bool {
    ('\u{3400}'..='\u{9fff}').contains(&letter)
}

//! Looking for words: where they stand in the files, and in which names.

use super::desk::{Desk, Looked, Output};
use super::findings::markers::split_place;
use super::language::is_han;
use super::lines::{Which, quoted};
use super::page::{Page, code, counted, excerpt};
use super::scope::Scope;

/// How many words of a question are looked for.
const MOST_WORDS: usize = 4;

/// Where one word stands.
#[derive(Debug, Clone)]
pub(super) struct Places {
    word: String,
    count: Option<u64>,
    count_line: String,
    definitions: Output,
    lines: Output,
    names: Output,
}

/// Answers with the places of a topic's words.
pub(super) fn answer(desk: &Desk<'_>, scope: &Scope, topic: &str) -> Looked<String> {
    let places = look(desk, scope, topic)?;
    let mut page = Page::new(desk.language());
    let topic = code(topic);
    page.paragraph(&desk.language().pick(
        format!("{topic} is no path of this workspace, so its words were looked for."),
        format!("{topic} 不是工作区中的路径，因此按词查找。"),
    ));
    write(&places, &mut page);
    Ok(page.finish())
}

/// Looks for the words of a text.
pub(super) fn look(desk: &Desk<'_>, scope: &Scope, text: &str) -> Looked<Vec<Places>> {
    let looks: Vec<Looked<Places>> =
        words(text).into_iter().map(|word| Places::look(desk, scope, word)).collect();
    // What stands nowhere as it was asked for may stand there in another form.
    let again: Vec<Looked<Places>> = looks
        .into_iter()
        .map(|looked| {
            let places = looked?;
            match stem(&places.word).filter(|_| !places.is_found()) {
                Some(stem) => Places::look(desk, scope, stem.to_owned()),
                None => Ok(places),
            }
        })
        .collect();
    again.into_iter().collect()
}

/// Returns an English word without its ending, when enough of it is left to look for.
fn stem(word: &str) -> Option<&str> {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_lowercase());
    let stem = ["ing", "ed", "es", "s"].iter().find_map(|ending| word.strip_suffix(ending))?;
    (is_plain && stem.len() > 3).then_some(stem)
}

/// Writes what was found of each word.
pub(super) fn write(places: &[Places], page: &mut Page) {
    for places in places {
        places.write(page);
    }
}

impl Places {
    fn look(desk: &Desk<'_>, scope: &Scope, word: String) -> Looked<Self> {
        let files = &scope.files;
        let options = "-i -F";
        let count_line =
            format!("{} | wc -l", files.grep(&format!("-h {options}"), &word, Which::All));
        let count = desk.run(&count_line);
        let most = "cut -c 1-200 | head -n 8";
        let definitions = is_identifier(&word).then(|| {
            let pattern = format!("(def|fn|func|function|class|struct|enum|trait|interface|type|const|let|var|static|module|mod|impl) +{word}\\b");
            desk.run(&format!("{} | {most}", files.grep("-n -i -E", &pattern, Which::All)))
        });
        let places = desk
            .run(&format!("{} | {most}", files.grep(&format!("-n {options}"), &word, Which::All)));
        let names =
            desk.run(&format!("{} | grep -i -F -e {} | head -n 8", files.names(), quoted(&word)));
        let definitions = match definitions {
            Some(definitions) => definitions?,
            None => Output::default(),
        };
        Ok(Self {
            word,
            count: count?.number(),
            count_line,
            definitions,
            lines: places?,
            names: names?,
        })
    }

    /// Returns whether it stands anywhere.
    pub(super) fn is_found(&self) -> bool {
        self.count.unwrap_or(0) > 0 || self.names.lines().next().is_some()
    }

    fn write(&self, page: &mut Page) {
        let language = page.language();
        let word = code(&self.word);
        page.heading(&word, &word);
        let Some(count) = self.count else {
            page.gap("not every word could be looked for", "部分词未能查找");
            return;
        };
        page.cite("matching lines", "匹配的行数", &self.count_line);
        if !self.is_found() {
            page.paragraph(language.pick("Nothing matches.", "没有匹配。"));
            return;
        }
        page.paragraph(&language.pick(
            format!("{} with it (upper and lower case alike).", counted(count, "line")),
            format!("{count} 行匹配（不区分大小写）。"),
        ));
        let names: Vec<String> = self.names.lines().map(code).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            page.paragraph(
                &language.pick(format!("In names: {names}"), format!("文件名中：{names}")),
            );
        }
        let definitions: Vec<&str> = self.definitions.lines().collect();
        let uses = self.lines.lines().filter(|line| !definitions.contains(line));
        page.text_gap();
        for line in definitions.iter().copied().chain(uses).take(10) {
            if let Some((place, text)) = split_place(line) {
                page.item(&format!("{} {}", code(place), code(&excerpt(text))));
            }
        }
    }
}

/// Returns the words that are worth looking for, the most telling first.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut add = |word: &str| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let known = words.iter().any(|known| known.eq_ignore_ascii_case(word));
        if !word.is_empty() && word.len() < 100 && !known {
            words.push(word.to_owned());
        }
    };
    // What is written as code was meant literally.
    text.split('`').skip(1).step_by(2).filter(|part| !part.contains('\n')).for_each(&mut add);
    let plain: Vec<&str> = text.split(|letter: char| !is_part_of_word(letter)).collect();
    plain
        .iter()
        .filter(|word| is_identifier(word) && looks_like_code(word))
        .for_each(|word| add(word));
    plain.iter().filter(|word| is_telling(word)).for_each(|word| add(word));
    for run in text.split(|letter: char| !is_han(letter)) {
        han_words(run).into_iter().for_each(&mut add);
    }
    words.truncate(MOST_WORDS);
    words
}

fn is_part_of_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '/' | '-')
}

fn is_identifier(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// Returns whether a word is written as names in code are.
fn looks_like_code(word: &str) -> bool {
    let inner_upper = word.chars().skip(1).any(|letter| letter.is_ascii_uppercase());
    let lower = word.chars().any(|letter| letter.is_ascii_lowercase());
    word.contains('_') || inner_upper && lower
}

/// Words that are in every question.
const COMMON: &str = "\
    about after also analyse analyze another been before being between called code \
    codebase come comes could defined describe does each every explain explore file \
    files find found from give have here implemented into know list look made make \
    many most much need only other over please project repository should show some \
    tell than that their them then there these they this those used uses using want \
    were what when where which will with work would your";

fn is_telling(word: &str) -> bool {
    word.len() > 3
        && word.chars().any(|letter| letter.is_ascii_alphabetic())
        && !COMMON.split(' ').any(|common| common.eq_ignore_ascii_case(word))
}

/// Divides a run of Chinese at the words that only join others.
fn han_words(run: &str) -> Vec<&str> {
    const JOINING: [&str; 40] = [
        "是怎么",
        "怎么样",
        "有哪些",
        "是什么",
        "为什么",
        "请问",
        "怎么",
        "如何",
        "哪些",
        "哪里",
        "哪个",
        "什么",
        "多少",
        "这个",
        "那个",
        "我们",
        "你们",
        "他们",
        "可以",
        "需要",
        "应该",
        "一下",
        "一个",
        "是否",
        "关于",
        "请",
        "的",
        "了",
        "吗",
        "呢",
        "和",
        "与",
        "在",
        "是",
        "有",
        "从",
        "对",
        "把",
        "被",
        "里",
    ];
    let mut parts = vec![run];
    for joining in JOINING {
        parts = parts.iter().flat_map(|part| part.split(joining)).collect();
    }
    parts.retain(|part| (2..=8).contains(&part.chars().count()));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(words(text), expected, "{text}");
    }

    #[test]
    fn a_word_has_a_shorter_form_when_enough_is_left() {
        for (word, expected) in [
            ("processed", Some("process")),
            ("payments", Some("payment")),
            ("checking", Some("check")),
            ("used", None),
            ("OrderServices", None),
            ("order", None),
        ] {
            assert_eq!(stem(word), expected, "{word}");
        }
    }

    #[test]
    fn the_telling_words_of_a_question_come_first() {
        check("Where is `process_order` used?", &["process_order"]);
        check(
            "How does OrderService talk to the payment gateway?",
            &["OrderService", "talk", "payment", "gateway"],
        );
        check("订单服务在哪里计算折扣？", &["订单服务", "计算折扣"]);
        check("User.email 的唯一约束在哪里", &["User.email", "唯一约束"]);
        check("what is this", &[]);
        check("", &[]);
    }
}

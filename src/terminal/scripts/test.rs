//! `test` and `[`: comparisons of texts and numbers, and looks at files inside.

use crate::terminal::arguments::Argument;
use crate::terminal::check::Scene;
use crate::terminal::refusal::Refusal;

/// Checks the words of a `test`, the brackets removed.
pub(in crate::terminal) fn check(words: &[Argument], scene: &mut Scene<'_>) -> Result<(), Refusal> {
    const MOST: usize = 200;
    if words.len() > MOST {
        return Err(Refusal::new("test", format!("has more than {MOST} words"))
            .form("test -f Cargo.toml && test -d src"));
    }
    let binary = |word: &str| {
        matches!(
            word,
            "=" | "=="
                | "!="
                | "<"
                | ">"
                | "-eq"
                | "-ne"
                | "-lt"
                | "-le"
                | "-gt"
                | "-ge"
                | "-nt"
                | "-ot"
                | "-ef"
        )
    };
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let text = word.shown();
        let next = words.get(at + 1);
        let is_left = next.is_some_and(|next| binary(&next.shown()));
        scene.note(&text, || "part of a `test`".into());
        if is_left && words.len() > at + 2 {
            let operator = words[at + 1].shown();
            if matches!(operator.as_str(), "-nt" | "-ot" | "-ef") {
                scene.path(&word.text)?;
                scene.path(&words[at + 2].text)?;
            }
            at += 3;
            continue;
        }
        match text.as_str() {
            "-e" | "-f" | "-d" | "-r" | "-w" | "-x" | "-s" | "-L" | "-h" | "-p" | "-S" | "-b"
            | "-c" | "-u" | "-g" | "-k" | "-O" | "-G" | "-N" => {
                if let Some(path) = next {
                    scene.path(&path.text)?;
                }
                at += 2;
            }
            "-n" | "-z" => at += 2,
            "!" | "(" | ")" | "-a" | "-o" => at += 1,
            _ if word.looks_like_an_option()
                && text.bytes().skip(1).all(|byte| byte.is_ascii_alphabetic()) =>
            {
                return Err(Refusal::new(text, "is not among the comparisons that are allowed")
                    .allowed(
                        "comparisons of `test`",
                        "-e -f -d -r -w -x -s -L -h -p -S -n -z = != < > -eq -ne -lt -le -gt -ge \
                         -nt -ot -ef ! -a -o"
                            .split_whitespace()
                            .map(str::to_owned)
                            .collect(),
                    ));
            }
            _ => at += 1,
        }
    }
    Ok(())
}

//! The command lines. Each prints little by construction: a count, or the first rows of a sorted
//! list; so nothing that is counted can have been cut.
//!
//! They must hold for any file name. Names travel between commands with NUL behind them; where a
//! name is printed, `tr` turns a newline inside it into `?`, so that one row is one file.
//! In a Git repository the files are those that Git tracks; elsewhere what `find` finds.

use super::programs;

/// Folders that are left out where there is no Git to say so.
pub(super) const LEFT_OUT: [&str; 6] =
    [".git", ".groundskeeper", "node_modules", "target", "__pycache__", ".venv"];

/// A file of this many bytes is large for a repository.
pub(super) const LARGE: u64 = 1024 * 1024;

/// The files that the lines are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Files {
    /// Whether Git lists them.
    pub(super) git: bool,
    /// The folder or file, relative to the workspace; empty for all of it.
    pub(super) within: String,
    /// What it names.
    pub(super) place: Place,
    /// Whether `find` must put them in order, so that the same tree gives the same answer; there
    /// is no room to sort very many.
    pub(super) in_order: bool,
    /// Whether our own notes are among the tracked files, and must be left out.
    pub(super) own_notes: bool,
}

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A folder, with what lies below it.
    Folder,
    /// One file.
    File,
}

/// Which of the files.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which<'a> {
    /// All of them.
    All,
    /// Those with one of these endings.
    Endings(&'a [&'a str]),
}

impl Files {
    /// Returns whether it is one file.
    pub(super) fn is_one(&self) -> bool {
        self.place == Place::File
    }

    /// Prints the paths with NUL behind each.
    pub(super) fn paths(&self) -> String {
        self.paths_of(Which::All)
    }

    /// Prints the paths of some with NUL behind each.
    pub(super) fn paths_of(&self, which: Which<'_>) -> String {
        if self.git {
            format!("git ls-files -z{}", self.pathspec(which))
        } else {
            self.find(which, "-print0")
        }
    }

    /// Prints one path a line.
    pub(super) fn names(&self) -> String {
        format!("{} | {}", self.paths(), self.as_lines())
    }

    /// Prints the number of files.
    pub(super) fn count(&self) -> String {
        if self.git {
            // Git quotes what does not fit on a line, so a line is a file.
            format!("git ls-files{} | wc -l", self.pathspec(Which::All))
        } else {
            let unordered = Self { in_order: false, ..self.clone() };
            format!("{} | tr -dc '\\000' | wc -c", unordered.paths())
        }
    }

    /// Prints the paths of the text files among `which` with NUL behind each: no binary files, no
    /// links, nothing empty.
    pub(super) fn texts(&self, which: Which<'_>) -> String {
        if self.git {
            format!("git grep -zIl ''{}", self.pathspec(which))
        } else {
            // As Git has it, what holds a NUL is binary; `grep -I` would leave out Latin-1 too.
            let find = self.find(which, "-size +0 -print0");
            format!("{find} | xargs -0 -r grep -ZLaP '\\x00'")
        }
    }

    /// Prints the paths of what is not empty and no link, with NUL behind each.
    pub(super) fn contents(&self) -> String {
        if self.git {
            format!("git grep -zl ''{}", self.pathspec(Which::All))
        } else {
            self.find(Which::All, "-size +0 -print0")
        }
    }

    /// Prints `path:line:text` of every line that matches; `options` go to `grep`.
    pub(super) fn grep(&self, options: &str, pattern: &str, which: Which<'_>) -> String {
        let pattern = quoted(pattern);
        if self.git {
            format!("git grep -I {options} -e {pattern}{}", self.pathspec(which))
        } else {
            let texts = self.texts(which);
            let short = if options.contains("-h") { "" } else { self.short() };
            format!("{texts} | xargs -0 -r grep -a -H {options} -e {pattern}{short}")
        }
    }

    /// Prints the same with NUL behind the path, so that the path can hold anything. (Git writes
    /// NUL behind the line's number as well.)
    pub(super) fn grep_apart(&self, options: &str, pattern: &str, which: Which<'_>) -> String {
        let pattern = quoted(pattern);
        if self.git {
            format!("git grep -I -z {options} -e {pattern}{}", self.pathspec(which))
        } else {
            let texts = self.texts(which);
            format!("{texts} | xargs -0 -r grep -a -H -Z {options} -e {pattern}")
        }
    }

    /// Turns names that end in NUL into lines.
    pub(super) fn as_lines(&self) -> String {
        format!("tr '\\n\\000' '?\\n'{}", self.short())
    }

    /// Prints lines and path of each text file, as `wc` counts them.
    pub(super) fn line_counts(&self, which: Which<'_>) -> String {
        let program = programs::argument(programs::WITHOUT_TOTALS);
        format!("{} | xargs -0 -r wc -l | awk {program}{}", self.texts(which), self.short())
    }

    /// Prints what the text files hold: rows of `all`, `long`, `large` and `sum` (by ending).
    pub(super) fn contents_summary(&self) -> String {
        let program = programs::argument(programs::CONTENTS);
        let texts = self.texts(Which::All);
        format!(
            "{texts} | xargs -0 -r wc -lc | awk -v most=10 -v large={LARGE} {program} | sort -k1,1 -k2,2nr -k3 | head -n 150"
        )
    }

    /// Returns the arguments that choose the files, for Git.
    pub(super) fn pathspec(&self, which: Which<'_>) -> String {
        let mut specs = Vec::new();
        match which {
            Which::All if self.within.is_empty() => {}
            Which::All => specs.push(quoted(&format!(":(literal){}", self.within))),
            // Nothing lies below a file, and its ending was looked at before.
            Which::Endings(_) if self.is_one() => {
                specs.push(quoted(&format!(":(literal){}", self.within)));
            }
            Which::Endings(endings) => {
                for ending in endings {
                    specs.push(if self.within.is_empty() {
                        quoted(&format!("*.{ending}"))
                    } else {
                        let within = escaped(&self.within);
                        quoted(&format!(":(glob){within}/**/*.{ending}"))
                    });
                }
            }
        }
        if self.own_notes {
            if specs.is_empty() {
                specs.push(".".to_owned());
            }
            specs.push("':(exclude).groundskeeper'".to_owned());
        }
        if specs.is_empty() { String::new() } else { format!(" -- {}", specs.join(" ")) }
    }

    fn find(&self, which: Which<'_>, action: &str) -> String {
        let start = if self.within.is_empty() {
            ".".to_owned()
        } else {
            quoted(&format!("./{}", self.within))
        };
        let left_out = left_out();
        let chosen = match which {
            Which::All => String::new(),
            Which::Endings(endings) => {
                let names = endings.iter().map(|ending| format!("-name '*.{ending}'"));
                format!(" \\( {} \\)", names.collect::<Vec<_>>().join(" -o "))
            }
        };
        let order = if self.in_order { " | sort -z" } else { "" };
        format!("find {start} \\( {left_out} \\) -prune -o -type f{chosen} {action}{order}")
    }

    /// Takes `./` off each line, which `find` puts in front.
    pub(super) fn short(&self) -> &'static str {
        if self.git { "" } else { " | sed 's|\t\\./|\t|; s|^\\./||'" }
    }
}

/// Returns the folders that are left out, for `find`.
fn left_out() -> String {
    LEFT_OUT.map(|name| format!("-name {name}")).join(" -o ")
}

/// Returns a word as one argument, whatever it holds.
pub(super) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Returns a path with its pattern characters taken literally.
fn escaped(path: &str) -> String {
    let mut text = String::new();
    for character in path.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '\\') {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

/// Returns a line as it is shown to a person: arguments that are whole programs are left out.
pub(super) fn shown(line: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown = String::new();
    for (index, part) in line.split('\'').enumerate() {
        let is_quoted = index % 2 == 1;
        if index > 0 {
            shown.push('\'');
        }
        shown.push_str(if is_quoted && part.len() > LONGEST { "…" } else { part });
    }
    shown.replace(&left_out(), "…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(git: bool, within: &str) -> Files {
        Files {
            git,
            within: within.to_owned(),
            place: Place::Folder,
            in_order: false,
            own_notes: false,
        }
    }

    #[test]
    fn a_hostile_folder_stays_one_argument() {
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(
            files(true, "it's [x]").pathspec(Which::Endings(&["py"])),
            " -- ':(glob)it'\\''s \\[x\\]/**/*.py'"
        );
        let one = Files { place: Place::File, ..files(true, "a.py") };
        assert_eq!(one.pathspec(Which::Endings(&["py"])), " -- ':(literal)a.py'");
        assert_eq!(files(true, "-rf").paths(), "git ls-files -z -- ':(literal)-rf'");
        assert!(files(false, "-rf").paths().starts_with("find './-rf' "));
    }

    #[test]
    fn a_program_is_left_out_where_a_person_reads_the_line() {
        let program = programs::argument(programs::ENDINGS);
        let line = format!("git ls-files | awk {program} | grep -e 'a b'");
        assert_eq!(shown(&line), "git ls-files | awk '…' | grep -e 'a b'");
    }

    #[test]
    fn our_own_notes_are_left_out_where_git_tracks_them() {
        let mut files = files(true, "");
        assert_eq!(files.count(), "git ls-files | wc -l");
        files.own_notes = true;
        assert_eq!(files.count(), "git ls-files -- . ':(exclude).groundskeeper' | wc -l");
    }
}

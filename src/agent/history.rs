//! What changed lately in the files that a question is about: one look into Git's history.
//!
//! The files are those that the request names and those in which the sources found its words. The
//! line goes through the terminal like any other look of a mode and is recorded like it. A plan
//! looks at nothing, and a question that no file has words of has no history.

use std::path::Path;

use super::{CodebaseMaintainer, Mode};
use crate::context::{ContextPacket, PacketKind};
use crate::support::quote::single_quoted;

/// Files that are asked for, at the most.
const MOST_FILES: usize = 4;

impl CodebaseMaintainer {
    /// Returns the line that shows the newest commits of the files that a request is about.
    pub(super) fn history_line(
        &self,
        mode: Mode,
        text: &str,
        target: Option<&str>,
        offered: &[ContextPacket],
    ) -> Option<String> {
        let commits = self.limits.commits;
        if commits == 0 || mode == Mode::Plan || !self.is_git_read() {
            return None;
        }
        let named = text.split_whitespace().filter(|word| is_a_path(word));
        let named = named.filter_map(|word| self.inside(word));
        let found = offered.iter().filter_map(place).filter_map(|path| self.inside(path));
        let mut files: Vec<String> = Vec::new();
        for file in target.map(str::to_owned).into_iter().chain(named).chain(found) {
            if files.len() < MOST_FILES && !files.contains(&file) {
                files.push(file);
            }
        }
        (!files.is_empty()).then(|| line(commits, &files))
    }

    /// Returns a path as it is told from the root, if it is inside the workspace and there.
    fn inside(&self, path: &str) -> Option<String> {
        let path = path.trim_matches(|c: char| "`'\"()[]{}<>,;:?!。，？！；：".contains(c));
        let path = path.trim_end_matches('.');
        if path.is_empty() {
            return None;
        }
        let path = self.workspace.resolve(&self.workspace.top(), Path::new(path)).ok()?;
        let relative = path.strip_prefix(self.workspace.root()).ok()?.to_str()?;
        (path.exists() && !relative.is_empty()).then(|| relative.to_owned())
    }
}

/// Returns the file of a passage, `app/user.py:1-20`; what is no passage of a file has none.
fn place(packet: &ContextPacket) -> Option<&str> {
    let (path, lines) = packet.source.rsplit_once(':')?;
    let is_range = lines.split_once('-').is_some_and(|(first, last)| {
        [first, last].iter().all(|number| number.parse::<usize>().is_ok())
    });
    (packet.kind == PacketKind::Knowledge && is_range).then_some(path)
}

/// Returns whether a word of a request may be a path and not just a word that is a folder's name.
fn is_a_path(word: &str) -> bool {
    word.contains('/') || word.trim_end_matches('.').contains('.')
}

fn line(commits: usize, files: &[String]) -> String {
    let files: Vec<String> = files.iter().map(|file| single_quoted(file)).collect();
    format!(
        "git log -n {commits} --no-merges --date=short --format='%h %ad %an: %s' -- {}",
        files.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_passage_tells_its_file_and_nothing_else_does() {
        let check = |kind, source: &str, expected: Option<&str>| {
            let packet = ContextPacket::new(kind, source, "text", chrono::DateTime::UNIX_EPOCH);
            assert_eq!(place(&packet), expected, "{source}");
        };
        check(PacketKind::Knowledge, "app/user.py:1-20", Some("app/user.py"));
        check(PacketKind::Knowledge, "a:b.py:3-9", Some("a:b.py"));
        check(PacketKind::Knowledge, "repository map", None);
        check(PacketKind::Knowledge, "README.md", None);
        check(PacketKind::Knowledge, "a.py:x-9", None);
        check(PacketKind::Note, "app/user.py:1-20", None);
    }

    #[test]
    fn a_file_is_one_word_of_the_line_whatever_its_name() {
        let files = ["it's; rm -rf".to_owned(), "-rf".to_owned()];
        assert_eq!(
            line(3, &files),
            r"git log -n 3 --no-merges --date=short --format='%h %ad %an: %s' -- 'it'\''s; rm -rf' '-rf'"
        );
    }
}

//! The files that tell what a project is: manifests, guides, entry points, tests' set-up, and
//! which of the usual ones are missing.

use super::super::desk::{Desk, Looked, Output};
use super::super::page::{Page, code};
use super::super::scope::Scope;

const PATTERN: &str = "(^|/)(Cargo\\.toml|package\\.json|pyproject\\.toml|setup\\.py|setup\\.cfg|requirements[^/]*\\.txt|Pipfile|go\\.mod|pom\\.xml|build\\.gradle(\\.kts)?|Gemfile|composer\\.json|CMakeLists\\.txt|Makefile|justfile|Dockerfile|docker-compose\\.ya?ml|mix\\.exs|Package\\.swift|[^/]+\\.(csproj|sln|cabal|gemspec))$";
const ENTRY: &str = "(^|/)(main\\.(rs|py|go|c|cc|cpp|java|kt|swift|ts|js|dart)|__main__\\.py|manage\\.py|app\\.py|wsgi\\.py|asgi\\.py|run\\.py|cli\\.py|server\\.(js|ts|py)|index\\.(js|ts|tsx)|lib\\.rs|Main\\.java|Program\\.cs|App\\.(js|jsx|tsx|vue))$|(^|/)src/bin/[^/]+\\.rs$|(^|/)cmd/[^/]+/[^/]+\\.go$";
const TOP: &str = "^(readme|licen[cs]e|copying|unlicense|contributing|changelog|changes|history|agents|claude|security|architecture)([.-][^/]*)?$|^\\.gitignore$|^\\.gitlab-ci\\.yml$|^\\.travis\\.yml$|^azure-pipelines\\.yml$|^jenkinsfile$|^\\.circleci/|^\\.github/workflows/|^\\.woodpecker|^\\.buildkite/|^\\.drone\\.yml$|^bitbucket-pipelines\\.yml$|^\\.ci/|^\\.editorconfig$";

/// The landmarks.
#[derive(Debug, Clone)]
pub(in super::super) struct Landmarks {
    manifests: Output,
    entries: Output,
    top: Output,
    top_line: String,
    whole: bool,
    git: bool,
}

/// Something usual that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Missing {
    /// No README.
    Readme,
    /// No licence.
    Licence,
    /// No set-up for continuous integration.
    Ci,
    /// No `.gitignore`.
    Gitignore,
}

impl Missing {
    /// Returns the name of what is missing.
    pub(in super::super) fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Readme => ("a README", "README"),
            Self::Licence => ("a licence file", "许可证文件"),
            Self::Ci => ("a CI configuration", "持续集成配置"),
            Self::Gitignore => ("a `.gitignore`", "`.gitignore`"),
        }
    }
}

impl Landmarks {
    /// Looks.
    pub(in super::super) fn look(desk: &Desk<'_>, scope: &Scope) -> Looked<Self> {
        let names = scope.files.names();
        // The shortest paths come first: what lies at the top tells most.
        let near = "awk -F/ '{ print NF \"\\t\" $0 }' | sort -k1,1n -k2 | cut -f 2-";
        let find = |pattern: &str| {
            desk.run(&format!("{names} | grep -E '{pattern}' | {near} | head -n 20"))
        };
        let top_line = format!("{names} | grep -i -E '{TOP}' | head -n 60");
        let manifests = find(PATTERN);
        let entries = find(ENTRY);
        let top = desk.run(&top_line);
        Ok(Self {
            manifests: manifests?,
            entries: entries?,
            top: top?,
            top_line,
            whole: scope.files.within.is_empty(),
            git: scope.files.git,
        })
    }

    /// Returns the README at the top.
    pub(in super::super) fn readme(&self) -> Option<&str> {
        self.top_files("readme").next()
    }

    /// Returns whether the top of the project was seen, so that what is missing is known.
    pub(in super::super) fn knows_missing(&self) -> bool {
        self.whole && self.top.is_answer()
    }

    /// Returns what is missing at the top of the project.
    pub(in super::super) fn missing(&self) -> Vec<Missing> {
        if !self.knows_missing() {
            return Vec::new();
        }
        let has =
            |starts: &[&str]| starts.iter().any(|start| self.top_files(start).next().is_some());
        let ci = [
            ".gitlab-ci",
            ".travis",
            "azure-pipelines",
            "jenkinsfile",
            ".circleci/",
            ".github/workflows/",
            ".woodpecker",
            ".buildkite/",
            ".drone",
            "bitbucket-pipelines",
            ".ci/",
        ];
        let mut missing = Vec::new();
        if !has(&["readme"]) {
            missing.push(Missing::Readme);
        }
        if !has(&["licen", "copying", "unlicense"]) {
            missing.push(Missing::Licence);
        }
        if !has(&ci) {
            missing.push(Missing::Ci);
        }
        if self.git && !has(&[".gitignore"]) {
            missing.push(Missing::Gitignore);
        }
        missing
    }

    /// Returns the files that tell how the project is built.
    pub(in super::super) fn manifests(&self) -> impl Iterator<Item = &str> {
        self.manifests.lines()
    }

    /// Returns the files where a program begins.
    pub(in super::super) fn entries(&self) -> impl Iterator<Item = &str> {
        self.entries.lines()
    }

    /// Writes the section.
    pub(in super::super) fn write(&self, page: &mut Page) {
        let language = page.language();
        let list = |files: &mut dyn Iterator<Item = &str>| {
            files.take(10).map(code).collect::<Vec<_>>().join(", ")
        };
        let manifests = list(&mut self.manifests());
        let entries = list(&mut self.entries());
        let guides = list(&mut self.top.lines().filter(|name| !name.starts_with('.')));
        let missing = self.missing();
        if manifests.is_empty() && entries.is_empty() && guides.is_empty() && missing.is_empty() {
            return;
        }
        page.heading("Landmarks", "重要文件");
        for (english, chinese, files) in [
            ("Build and dependencies", "构建与依赖", manifests),
            ("Entry points, by their names", "入口（按文件名判断）", entries),
            ("Guides", "说明文档", guides),
        ] {
            if !files.is_empty() {
                page.item(
                    &language.pick(format!("{english}: {files}"), format!("{chinese}：{files}")),
                );
            }
        }
        if !missing.is_empty() {
            let names = missing.iter().map(|missing| {
                let (english, chinese) = missing.name();
                language.pick(english, chinese)
            });
            let names = names.collect::<Vec<_>>().join(", ");
            page.item(
                &language
                    .pick(format!("Missing at the top: {names}"), format!("根目录缺少：{names}")),
            );
            page.cite("what is missing", "缺少的文件", &self.top_line);
        }
    }

    fn top_files<'a>(&'a self, start: &str) -> impl Iterator<Item = &'a str> {
        let start = start.to_owned();
        self.top.lines().filter(move |name| name.to_lowercase().starts_with(&start))
    }
}

//! Explore: what is here, where to begin, what is missing.

use super::desk::{Desk, Looked};
use super::findings::markers::Markers;
use super::lines::quoted;
use super::lookup;
use super::page::{Page, code, counted};
use super::record::{Finding, Kind, record};
use super::scope::Scope;
use super::survey::history::History;
use super::survey::landmarks::Landmarks;
use super::survey::languages::Languages;
use super::survey::sizes::Sizes;
use super::survey::structure::Structure;

/// Returns the answer once everything was looked at and recorded.
pub(super) fn answer(desk: &Desk<'_>) -> Looked<String> {
    let scope = Scope::look(desk)?;
    if let Some(topic) = &scope.topic {
        return lookup::answer(desk, &scope, topic);
    }
    let mut page = Page::new(desk.language());
    if scope.is_empty() {
        write_empty(&mut page, &scope);
        return Ok(page.finish());
    }
    let structure = Structure::look(desk, &scope);
    let languages = Languages::look(desk, &scope);
    let landmarks = Landmarks::look(desk, &scope);
    let sizes = Sizes::look(desk, &scope);
    let history = History::look(desk, &scope);
    let markers = Markers::look(desk, &scope);
    let (structure, languages, landmarks) = (structure?, languages?, landmarks?);
    let (sizes, history, markers) = (sizes?, history?, markers?);
    let purpose = purpose(desk, &landmarks)?;

    // Where the top of the project was seen whole, what is no longer missing is settled.
    let settled = if landmarks.knows_missing() { vec!["project"] } else { Vec::new() };
    let mut findings = vec![conclusion(desk, &scope, &structure, &languages, &landmarks)];
    findings.extend(missing(desk, &landmarks));
    let recorded = record(desk, &findings, &settled)?;

    write_lead(desk, &mut page, &scope, &languages, history.as_ref());
    write_purpose(&mut page, purpose.as_ref());
    structure.write(&mut page);
    languages.write(&mut page);
    landmarks.write(&mut page);
    sizes.write(&mut page);
    if let Some(history) = &history {
        history.write(&mut page);
        history.write_hot_spots(&mut page);
    }
    markers.write(&mut page, 5);
    recorded.write(&mut page);
    page.heading("Next steps", "下一步");
    page.item(desk.language().pick(
        "`groundskeeper analyze` measures long functions, repeated code and missing tests.",
        "`groundskeeper analyze` 检查过长函数、重复代码与缺失的测试。",
    ));
    page.item(desk.language().pick(
        "`groundskeeper explore FOLDER` shows one folder the same way.",
        "`groundskeeper explore 目录` 以同样方式查看某个目录。",
    ));
    Ok(page.finish())
}

/// Writes that there is nothing.
pub(super) fn write_empty(page: &mut Page, scope: &Scope) {
    let within = &scope.files.within;
    let text = if within.is_empty() {
        page.language().pick(
            "There are no files in this folder.".to_owned(),
            "这个目录中没有文件。".to_owned(),
        )
    } else {
        let within = code(within);
        page.language()
            .pick(format!("There are no files in {within}."), format!("{within} 中没有文件。"))
    };
    page.paragraph(&text);
    page.cite("files", "文件数", &scope.count_line);
}

/// Writes what the README says first.
pub(super) fn write_purpose(page: &mut Page, purpose: Option<&(String, String)>) {
    if let Some((text, place)) = purpose {
        page.paragraph(&format!("> {text}\n>\n> — {}", code(place)));
    }
}

/// Writes how many files there are.
pub(super) fn write_count(page: &mut Page, scope: &Scope) {
    let Some(count) = scope.count else {
        page.gap("the files could not be counted", "无法统计文件");
        return;
    };
    page.paragraph(
        &page
            .language()
            .pick(format!("{} in all.", counted(count, "file")), format!("共 {count} 个文件。")),
    );
    page.cite("files", "文件数", &scope.count_line);
}

/// Writes the first sentences: how much of what.
pub(super) fn write_lead(
    desk: &Desk<'_>,
    page: &mut Page,
    scope: &Scope,
    languages: &Languages,
    history: Option<&History>,
) {
    let language = desk.language();
    let name =
        if scope.files.within.is_empty() { &desk.turn().project } else { &scope.files.within };
    let name = code(name);
    let Some(count) = scope.count else {
        page.gap("the files could not be counted", "无法统计文件");
        return;
    };
    let mut text = if scope.files.is_one() && count == 1 {
        language.pick(format!("{name} is one file"), format!("{name} 是一个文件"))
    } else if scope.files.git {
        language.pick(
            format!("{name} has {} under Git", counted(count, "file")),
            format!("{name} 有 {count} 个受 Git 管理的文件"),
        )
    } else {
        let reason = if scope.repository {
            language.pick("none of them tracked by Git", "均未被 Git 跟踪")
        } else if scope.is_elsewhere {
            language.pick(
                "without Git, whose folder lies outside and is not read",
                "未使用 Git：其目录在工作区之外，不予读取",
            )
        } else {
            language.pick("no Git repository", "不是 Git 仓库")
        };
        language.pick(
            format!("{name} has {} ({reason})", counted(count, "file")),
            format!("{name} 有 {count} 个文件（{reason}）"),
        )
    };
    if let Some(lines) = languages.total_lines() {
        text.push_str(&language.pick(
            format!(" with {} of text", counted(lines, "line")),
            format!("，文本共 {lines} 行"),
        ));
    }
    if let Some((main, files, lines)) = languages.main() {
        text.push_str(&language.pick(
            format!(
                "; most of the code is {main} ({}, {})",
                counted(files, "file"),
                counted(lines, "line")
            ),
            format!("；代码以 {main} 为主（{files} 个文件，{lines} 行）"),
        ));
    }
    if let Some(commits) = history.and_then(History::commits) {
        text.push_str(
            &language
                .pick(format!("; {}", counted(commits, "commit")), format!("；{commits} 次提交")),
        );
    }
    text.push_str(language.pick(".", "。"));
    page.paragraph(&text);
    page.cite("files", "文件数", &scope.count_line);
    if let Some(untracked) = scope.untracked.filter(|untracked| scope.files.git && *untracked > 0) {
        page.paragraph(&language.pick(
            format!(
                "Not counted, because neither tracked nor ignored: {}.",
                counted(untracked, "file")
            ),
            format!("另有 {untracked} 个文件既未跟踪也未忽略，不计入统计。"),
        ));
        page.cite("untracked files", "未跟踪的文件", &scope.untracked_line);
    }
}

/// Returns the first paragraph of the README and its place.
pub(super) fn purpose(desk: &Desk<'_>, landmarks: &Landmarks) -> Looked<Option<(String, String)>> {
    let Some(readme) = landmarks.readme() else { return Ok(None) };
    let output = desk.run(&format!("head -n 60 -- {} | cut -c 1-400", quoted(readme)))?;
    let lines: Vec<&str> = output.lines().collect();
    let is_prose = |line: &str| {
        let line = line.trim();
        let first = line.chars().next();
        first.is_some_and(|first| first.is_alphanumeric() || "*_`\"《「“".contains(first))
            // A sentence in Chinese has half as many characters.
            && line.chars().map(|one| if one.is_ascii() { 1 } else { 2 }).sum::<usize>() >= 20
            && !line.starts_with("```")
    };
    let Some(start) = lines.iter().position(|line| is_prose(line)) else { return Ok(None) };
    let paragraph = lines[start..].iter().take_while(|line| !line.trim().is_empty()).take(4);
    let text: Vec<&str> = paragraph.map(|line| line.trim()).collect();
    // `cut` counts bytes, and may leave a piece of a character.
    let text: String = text.join(" ").chars().filter(|one| *one != '\u{fffd}').take(400).collect();
    Ok(Some((text, format!("{readme}:{}", start + 1))))
}

fn conclusion(
    desk: &Desk<'_>,
    scope: &Scope,
    structure: &Structure,
    languages: &Languages,
    landmarks: &Landmarks,
) -> Finding {
    let language = desk.language();
    let within = &scope.files.within;
    let of = if within.is_empty() { desk.turn().project.clone() } else { within.clone() };
    let count = scope.count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    let mut folders = structure.summary();
    if !folders.is_empty() {
        folders = language.pick(
            format!("- Folders with their files: {folders}\n"),
            format!("- 目录及文件数：{folders}\n"),
        );
    }
    let kinds = languages.summary();
    let list = |files: &mut dyn Iterator<Item = &str>| {
        files.take(6).map(code).collect::<Vec<_>>().join(", ")
    };
    let manifests = list(&mut landmarks.manifests());
    let entries = list(&mut landmarks.entries());
    let line = &scope.count_line;
    let content = language.pick(
        format!("- Files: {count} (`{line}`)\n{folders}- Languages, files/lines: {kinds}\n- Build: {manifests}\n- Entry points by name: {entries}\n"),
        format!("- 文件数：{count}（`{line}`）\n{folders}- 语言（文件数/行数）：{kinds}\n- 构建：{manifests}\n- 入口（按文件名）：{entries}\n"),
    );
    Finding {
        kind: Kind::Conclusion,
        topic: "structure",
        titles: [format!("Structure of {of}"), format!("{of} 的结构")],
        content,
    }
}

fn missing(desk: &Desk<'_>, landmarks: &Landmarks) -> Option<Finding> {
    let missing = landmarks.missing();
    if missing.is_empty() {
        return None;
    }
    let language = desk.language();
    let names = missing.iter().map(|missing| {
        let (english, chinese) = missing.name();
        language.pick(english, chinese)
    });
    let names = names.collect::<Vec<_>>().join(", ");
    Some(Finding {
        kind: Kind::Action,
        topic: "project",
        titles: ["Add what a project should have", "补齐项目常备文件"].map(str::to_owned),
        content: language.pick(
            format!("Missing at the top of the repository: {names}.\n\nDone when each is there, or it is decided that it is not wanted.\n"),
            format!("仓库根目录缺少：{names}。\n\n完成标准：逐项补齐，或明确决定不需要。\n"),
        ),
    })
}

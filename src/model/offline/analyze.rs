//! Analyze: what is wrong or will hurt, the worst first.

use super::desk::{Desk, Looked};
use super::explore::{write_empty, write_lead};
use super::findings::conflicts::Conflicts;
use super::findings::functions::{Bounds, Functions};
use super::findings::hot_spots::HotSpots;
use super::findings::markers::Markers;
use super::findings::repeats::Repeats;
use super::findings::untested::Untested;
use super::lookup;
use super::page::Page;
use super::record::{Finding, Kind, record};
use super::scope::Scope;
use super::survey::history::History;
use super::survey::languages::Languages;
use super::survey::sizes::Sizes;

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
    let languages = Languages::look(desk, &scope);
    let sizes = Sizes::look(desk, &scope);
    let history = History::look(desk, &scope);
    let markers = Markers::look(desk, &scope);
    let conflicts = Conflicts::look(desk, &scope);
    let (languages, sizes, history) = (languages?, sizes?, history?);
    let functions = Functions::look(desk, &scope, &languages, Bounds::REPAIR);
    let tests = Untested::look(desk, &scope, &languages);
    let repeats = Repeats::look(desk, &scope, &languages);
    let hot_spots = HotSpots::look(desk, &scope, &languages);
    let (markers, conflicts) = (markers?, conflicts?);
    let (functions, tests, repeats) = (functions?, tests?, repeats?);
    let hot_spots = hot_spots?;

    let mut findings = Vec::from_iter(conflicts.finding(desk));
    if let Some(functions) = &functions {
        findings.extend(functions.findings(desk));
    }
    findings.extend(repeats.as_ref().and_then(|repeats| repeats.finding(desk)));
    findings.extend(tests.finding(desk));
    findings.extend(markers.finding(desk));
    let figures = Figures {
        functions: functions.as_ref(),
        tests: &tests,
        markers: &markers,
        hot_spots: hot_spots.as_ref(),
    };
    let figures = figures.finding(desk, &scope);
    findings.push(figures);
    let within = &scope.files.within;
    let mut settled = Vec::new();
    if within.is_empty() {
        let known = [
            ("conflict", conflicts.is_complete()),
            ("todo", markers.count().is_some()),
            ("complexity", functions.as_ref().is_some_and(Functions::is_complete)),
            ("duplication", repeats.as_ref().is_some_and(Repeats::is_complete)),
            ("tests", tests.is_complete()),
        ];
        settled.extend(known.iter().filter(|(_, known)| *known).map(|(topic, _)| *topic));
    } else {
        narrow(&mut findings, within);
    }
    let recorded = record(desk, &findings, &settled)?;

    write_lead(desk, &mut page, &scope, &languages, history.as_ref());
    write_verdict(desk, &mut page, &findings);
    conflicts.write(&mut page);
    if let Some(hot_spots) = &hot_spots {
        hot_spots.write(&mut page);
    }
    if let Some(functions) = &functions {
        functions.write(&mut page);
    }
    if let Some(repeats) = &repeats {
        repeats.write(&mut page);
    }
    tests.write(&mut page);
    markers.write(&mut page, 15);
    sizes.write(&mut page);
    if let Some(history) = &history {
        history.write_hot_spots(&mut page);
    }
    recorded.write(&mut page);
    Ok(page.finish())
}

/// Writes what weighs most, before the sections.
fn write_verdict(desk: &Desk<'_>, page: &mut Page, findings: &[Finding]) {
    let language = page.language();
    let titles = |kind: Kind| -> Vec<&str> {
        let of_kind = findings.iter().filter(|finding| finding.kind == kind);
        of_kind.map(|finding| finding.title(desk)).collect()
    };
    let blockers = titles(Kind::Blocker);
    let actions = titles(Kind::Action);
    if blockers.is_empty() && actions.is_empty() {
        page.paragraph(language.pick(
            "The rules found nothing that needs work.",
            "按规则检查，没有发现需要处理的问题。",
        ));
        return;
    }
    page.text_gap();
    for title in blockers {
        page.item(&language.pick(format!("**Defect:** {title}"), format!("**缺陷：**{title}")));
    }
    for title in actions {
        page.item(&language.pick(format!("To do: {title}"), format!("待办：{title}")));
    }
}

/// Names the folder in each title that would else be the one of the whole project.
fn narrow(findings: &mut [Finding], within: &str) {
    for finding in findings {
        let [english, chinese] = &mut finding.titles;
        if !english.contains(within) {
            english.extend([" in ", within]);
            chinese.extend(["（", within, "）"]);
        }
    }
}

/// What was measured, to be compared with later runs.
struct Figures<'a> {
    functions: Option<&'a Functions>,
    tests: &'a Untested,
    markers: &'a Markers,
    hot_spots: Option<&'a HotSpots>,
}

impl Figures<'_> {
    fn finding(&self, desk: &Desk<'_>, scope: &Scope) -> Finding {
        let language = desk.language();
        let within = &scope.files.within;
        let of = if within.is_empty() { desk.turn().project.clone() } else { within.clone() };
        let mut content = String::new();
        if let Some((all, long, deep)) = self.functions.and_then(Functions::counts) {
            content.push_str(&language.pick(
                format!("- Functions: {all}, long: {long}, deeply nested: {deep}\n"),
                format!("- 函数：{all}，过长：{long}，嵌套过深：{deep}\n"),
            ));
        }
        if let Some((without, sources, tests)) = self.tests.counts() {
            content.push_str(&language.pick(
            format!("- Test files: {tests}; source files without a test of their name: {without} of {sources}\n"),
            format!("- 测试文件：{tests}；没有同名测试的源文件：{without}/{sources}\n"),
        ));
        }
        if let Some(count) = self.markers.count() {
            content.push_str(&language.pick(
                format!("- Lines with TODO, FIXME, HACK or XXX: {count}\n"),
                format!("- 含 TODO、FIXME、HACK、XXX 的行：{count}\n"),
            ));
        }
        if let Some(hottest) = self.hot_spots.map(HotSpots::summary) {
            content.push_str(&language.pick(
                format!("- Hot spots, commits × lines: {hottest}\n"),
                format!("- 热点文件（提交次数 × 行数）：{hottest}\n"),
            ));
        }
        Finding {
            kind: Kind::Conclusion,
            topic: "quality",
            titles: [format!("Quality figures of {of}"), format!("{of} 的质量指标")],
            content,
        }
    }
}

//! A check as one file for a browser.

use std::io::{self, Write};

use check::{AlsoBuilt, Analysis, Change, Commit, CostChange, Culprit, SeriesCheck};
use kbuild::analysis::Finding;
use maud::{Markup, html};

use super::{analysis, statement};
use crate::columns::fit;
use crate::html::{command, page, section, text};
use crate::safe::safe_line;

/// Columns of a heading.
const HEADING: usize = 240;

/// Lines of a compiler for one patch, or of evidence for one case.
const LINES: usize = 100;

/// Cases and operations of one page at most.
const CHANGES: usize = 500;

/// Writes the page. `typed` is what the user typed.
///
/// # Errors
///
/// When `out` does not take it.
pub fn html(check: &SeriesCheck, typed: &str, mut out: impl Write) -> io::Result<()> {
    let title = fit(&statement::verdict(check), HEADING);
    out.write_all(page(&title, &body(check, &title, typed)).as_bytes())?;
    out.flush()
}

fn body(check: &SeriesCheck, title: &str, typed: &str) -> Markup {
    html! {
        header {
            h1 { (text(title)) }
            (command(typed))
            @for why in &check.unchecked { p.honesty { "not checked: " (text(why)) } }
            @for note in &check.notes { p.note { (text(note)) } }
        }
        "\n"
        main {
            (section("Patches", &html! { (patches(check)) @for also in &check.also { (built_also(also)) } }))
            @if let Some(found) = &check.analysis {
                (section("Static analysis", &html! { p { (text(analysis::counted(found))) } (findings(check, found)) }))
            }
            @if let Some(tests) = &check.tests {
                (section("Cases", &html! { p { (text(statement::counted(tests))) } (cases(check)) }))
            }
            @if check.operations > 0 {
                (section("Operations", &html! { p { (statement::operations(check)) } (costs(check)) }))
            }
            @if !check.reproduce.is_empty() {
                (section("Reproduce", &html! { @for text in &check.reproduce { (command(text)) } }))
            }
        }
    }
}

fn patches(check: &SeriesCheck) -> Markup {
    let total = check.patches.len();
    html! {
        div.wide {
            table.states {
                thead { tr { th { "patch" } th { "commit" } th { "subject" } th { "build" } } }
                tbody {
                    (patch("base", &check.base))
                    @for (index, commit) in check.patches.iter().enumerate() {
                        (patch(&format!("{}/{total}", index + 1), commit))
                    }
                }
            }
        }
    }
}

fn patch(which: &str, commit: &Commit) -> Markup {
    let complaints = statement::complaints(commit);
    let author = commit.author.as_deref().unwrap_or_default();
    html! {
        tr {
            th scope="row" { (which) }
            td { code { (text(commit.short())) } }
            td { (text(&commit.subject)) p.note { (text(author)) } (preformatted(&complaints)) }
            td class=(if complaints.is_empty() { "good" } else { "bad" }) { (statement::built(commit)) }
        }
        "\n"
    }
}

fn built_also(also: &AlsoBuilt) -> Markup {
    html! {
        p { (text(statement::also(also))) }
        (preformatted(&also.patches.iter().flat_map(statement::complaints).collect::<Vec<_>>()))
    }
}

fn findings(check: &SeriesCheck, found: &Analysis) -> Markup {
    let new = analysis::new(found, check.patches.len());
    html! {
        @if !new.is_empty() || !found.fixed.is_empty() {
            div.wide {
                table.states {
                    thead { tr { th { "patch" } th { "finding" } } }
                    tbody {
                        @for (word, finding) in new.iter().take(CHANGES) { (row(word, finding)) }
                        @for finding in found.fixed.iter().take(CHANGES) { (row("fixed", finding)) }
                    }
                }
            }
            (more(new.len()))
            (more(found.fixed.len()))
        }
        @for omission in analysis::omissions(found) { p.note { (text(omission)) } }
        @if !found.outstanding.is_empty() {
            details {
                summary { (found.outstanding.len()) " as before" }
                (preformatted(&found.outstanding.iter().map(analysis::line).collect::<Vec<_>>()))
            }
        }
    }
}

fn row(word: &str, finding: &Finding) -> Markup {
    html! {
        tr {
            th scope="row" { (word) }
            td { (text(analysis::line(finding))) (preformatted(&analysis::evidence(finding))) }
        }
        "\n"
    }
}

fn cases(check: &SeriesCheck) -> Markup {
    let changes = check.tests.iter().flat_map(|tests| &tests.changes);
    html! {
        @for change in changes.clone().take(CHANGES) {
            article {
                h3 { (verdict(change.change)) (text(&change.case)) }
                p { "before: " (text(statement::seen(&change.before))) }
                p { "now: " (text(statement::seen(&change.after))) }
                (culprit(check, change.culprit.as_ref()))
                (preformatted(&change.after.evidence.iter().map(|line| safe_line(line)).collect::<Vec<_>>()))
            }
            "\n"
        }
        (more(changes.count()))
    }
}

fn costs(check: &SeriesCheck) -> Markup {
    html! {
        @for change in check.costs.iter().take(CHANGES) { (cost(check, change)) }
        (more(check.costs.len()))
    }
}

fn cost(check: &SeriesCheck, change: &CostChange) -> Markup {
    html! {
        article {
            h3 { (verdict(change.change)) (text(&change.operation)) }
            p { (statement::difference(change)) }
            (culprit(check, change.culprit.as_ref()))
            (preformatted(&statement::functions(change)))
        }
        "\n"
    }
}

fn verdict(change: Change) -> Markup {
    let name = statement::name(change);
    html! { span class={ "verdict " (name) } { (name) } ": " }
}

fn culprit(check: &SeriesCheck, culprit: Option<&Culprit>) -> Markup {
    html! {
        @if let Some(culprit) = culprit { p { (text(statement::culprit(culprit, check.patches.len()))) } }
    }
}

fn preformatted(lines: &[String]) -> Markup {
    html! {
        @if !lines.is_empty() {
            pre { @for line in lines.iter().take(LINES) { (text(line)) "\n" } }
            (left(lines.len().saturating_sub(LINES)))
        }
    }
}

fn more(count: usize) -> Markup {
    left(count.saturating_sub(CHANGES))
}

fn left(count: usize) -> Markup {
    html! { @if count > 0 { p.note { (count) " more" } } }
}

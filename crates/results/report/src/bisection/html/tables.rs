//! What was found, what was tested, what proves it.

use bisect::{Bisection, Changes, Check, StateReport};
use maud::{Markup, html};

use super::super::changes::{Excerpt, entry, excerpt, total};
use super::super::relevance::wanted;
use super::super::walk::Walk;
use super::super::{candidate, statement};
use super::FILES;
use crate::html::text;

/// States of one page at most.
const STATES: usize = 500;

/// Changes of one package at most; Debian's 6.1.190-1 has 2,057.
const CHANGES: usize = 2_500;

/// A table for each candidate that did it, or may have.
pub(super) fn candidates(bisection: &Bisection) -> Markup {
    let (candidates, rest) = candidate::listed(bisection);
    let words = wanted(bisection);
    html! {
        @for candidate in candidates {
            @let excerpt = excerpt(&words, &candidate.changes, candidates.len());
            (wide("facts", &html! {
                tbody {
                    @for (word, fact) in candidate::facts(bisection.kind, candidate, FILES) {
                        tr { th scope="row" { (word) } td { (text(fact)) } }
                    }
                    @if let Some(excerpt) = &excerpt { (changes(excerpt)) }
                }
            }))
            @if excerpt.is_some_and(|excerpt| excerpt.more > 0) { (all_changes(&candidate.changes)) }
        }
        @if let Some(rest) = rest { p.note { (text(rest)) } }
    }
}

/// Some changes of a package, as a row of its facts.
fn changes(excerpt: &Excerpt) -> Markup {
    html! {
        tr {
            th scope="row" { "changes" }
            td { (text(&excerpt.head)) (list(&excerpt.entries)) }
        }
    }
}

/// All changes of a package, folded.
fn all_changes(changes: &Changes) -> Markup {
    let entries: Vec<String> = changes.entries.iter().take(CHANGES).map(|text| entry(text)).collect();
    let more = changes.count() - entries.len();
    html! {
        details {
            summary { "All changes: " (text(total(changes))) }
            (list(&entries))
            @if more > 0 { p.note { (more) " more" } }
        }
        "\n"
    }
}

fn list(entries: &[String]) -> Markup {
    html! {
        @if !entries.is_empty() { ul { @for entry in entries { li { (text(entry)) } "\n" } } }
    }
}

/// How many tests it took.
pub(super) fn steps(bisection: &Bisection) -> Markup {
    html! { @for step in statement::steps(bisection) { p { (text(step)) } } }
}

/// States that were tested.
pub(super) fn states(walk: &Walk<'_>, states: &[StateReport]) -> Markup {
    let more = states.len().saturating_sub(STATES);
    html! {
        (wide("states", &html! {
            (heads(&["state", "verdict", "seen"]))
            tbody {
                @for state in states.iter().take(STATES) {
                    @let word = walk.verdict(state);
                    tr {
                        th scope="row" { (text(statement::place(state))) }
                        td class=(word) { (word) }
                        td { (text(walk.seen(state))) }
                    }
                }
            }
        }))
        @if more > 0 { p.note { (more) " more" } }
    }
}

/// What was done to be sure.
pub(super) fn proof(bisection: &Bisection) -> Markup {
    html! {
        @for sentence in statement::sureness(bisection) { p { (text(sentence)) } }
        @if !bisection.proof.is_empty() {
            (wide("proof", &html! {
                (heads(&["check", "expected", "seen", "result"]))
                tbody { @for check in &bisection.proof { (check_row(bisection, check)) } }
            }))
        }
    }
}

fn check_row(bisection: &Bisection, check: &Check) -> Markup {
    let class = match (&check.state, check.holds) {
        (None, _) => "untestable",
        (_, true) => "good",
        (_, false) => "bad",
    };
    let [what, expected, seen, result] = statement::check(bisection, check);
    html! {
        tr {
            th scope="row" { (text(what)) }
            td { (expected) }
            td { (text(seen)) }
            td class=(class) { (text(result)) }
        }
    }
}

/// A table that scrolls by itself where it is too wide.
pub(super) fn wide(class: &str, content: &Markup) -> Markup {
    html! {
        div.wide { table class=(class) { (content) } }
        "\n"
    }
}

/// The heads of a table.
pub(super) fn heads(heads: &[&str]) -> Markup {
    html! { thead { tr { @for head in heads { th scope="col" { (head) } } } } }
}

//! A search that goes on, or was stopped.

use bisect::{Belief, Testing, Underway};
use maud::{Markup, html};

use super::super::walk::Walk;
use super::{chart, tables};
use crate::bisecting::{about, left, likely};
use crate::columns::fit;
use crate::html::{Page, section, text};
use crate::words::brief;

/// Tests that are listed; as many are made side by side at most.
const TESTING: usize = 64;

/// The page of a search that is not at its end: what was seen, what is tested now and what is left.
#[must_use]
pub fn underway(underway: &Underway, is_running: bool) -> Page {
    let walk = Walk::from(underway);
    let title = searched(underway);
    let body = html! {
        header {
            h1 { (text(&title)) }
            @if is_running { p { "This bisection runs. " (progress(underway)) } }
            @else { p { "This bisection was stopped. The same command resumes it." } }
        }
        "\n"
        main {
            @if is_running { (section("Tested now", &testing(&underway.testing))) }
            (section("The axis", &html! {
                (chart::chart(&walk, "what is known so far"))
                @if let Some(likely) = underway.belief.as_ref().and_then(|belief| likely(belief, walk.candidates)) {
                    p { "most probable: " (text(likely)) }
                }
                @if underway.states.is_empty() { p { "No state was tested yet." } }
                @else { (tables::states(&walk, &underway.states)) }
            }))
        }
    };
    Page { title, body }
}

/// What is searched, in a line.
#[must_use]
pub fn searched(underway: &Underway) -> String {
    let walk = Walk::from(underway);
    fit(&format!("{}: {}", walk.range(), walk.question()), super::HEADING)
}

/// How far a search is.
#[must_use]
pub fn progress(underway: &Underway) -> Markup {
    html! {
        @match &underway.belief {
            Some(belief) => { (bar(belief)) " " (left(belief)) },
            None => "It checks both ends.",
        }
    }
}

fn bar(belief: &Belief) -> Markup {
    let done = f64::from(belief.steps);
    let all = done + belief.steps_left.max(0.0);
    html! {
        @if all > 0.0 && all.is_finite() { progress aria-label="states that were tested" max=(all) value=(done) {} }
    }
}

fn testing(tests: &[Testing]) -> Markup {
    html! {
        @if tests.is_empty() { p { "Nothing at this moment." } }
        @else {
            (tables::wide("states", &html! {
                (tables::heads(&["state", "runs", "what for", "since"]))
                tbody {
                    @for test in tests.iter().take(TESTING) {
                        tr {
                            th scope="row" { (text(brief(&test.name))) }
                            td { (test.times) }
                            td { (about(test.purpose)) }
                            td { (test.since.strftime("%Y-%m-%d %H:%M:%S")) }
                        }
                    }
                }
            }))
        }
    }
}

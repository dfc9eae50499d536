//! Failures that are alike.

use ledger::Problem;
use maud::{Markup, html};
use report::html::{Page, outcome, text};
use report::state;
use verdict::problem::{Standing, State};

use super::{Asked, Failure, table};
use crate::address;
use crate::store::Store;

/// Problems on the page, and cases that are named of each.
const PROBLEMS_MAX: usize = 1000;
const CASES_MAX: usize = 3;

/// All problems, the one that was seen last first.
pub(crate) fn problems(store: &mut Store, _asked: &Asked) -> Result<Page, Failure> {
    let problems = &store.problems()?.all;
    let closed = problems.iter().filter(|(_, standing)| standing.state == State::Closed).count();
    let title = format!("{} problems, {closed} closed", problems.len() - closed);
    let rows = html! {
        @for (problem, standing) in problems.iter().take(PROBLEMS_MAX) { (row(problem, standing)) }
    };
    let body = html! {
        header {
            h1 { (title) }
            p.legend {
                "Failures that have in common what matters."
                @if problems.len() > PROBLEMS_MAX { " The " (PROBLEMS_MAX) " that were seen last are shown." }
            }
        }
        main { (table(&["problem", "state", "outcome", "cases", "#Runs", "first seen", "last seen", "id"], &rows)) }
    };
    Ok(Page { title, body })
}

fn row(problem: &Problem, standing: &Standing) -> Markup {
    let last = &problem.last;
    let cases: Vec<&str> = problem.cases.iter().take(CASES_MAX).map(String::as_str).collect();
    let more = problem.cases.len().saturating_sub(cases.len());
    html! {
        tr {
            th scope="row" { a href=(address::problem(&problem.id)) { (text(&problem.signature)) } }
            td { (state(standing)) }
            td { (outcome(last.outcome)) }
            td { (text(cases.join(", "))) @if more > 0 { " and " (more) " more" } }
            td.figure { (problem.failures) }
            td { (problem.first.started.strftime("%Y-%m-%d")) " " (text(&problem.first.release)) }
            td { (last.started.strftime("%Y-%m-%d")) " " (text(&last.release)) }
            td { code { (problem.id) } }
        }
        "\n"
    }
}

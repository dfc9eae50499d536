//! Failures that are alike.

use ledger::Problem;
use maud::{Markup, html};
use report::html::{Page, outcome, text};

use super::{Asked, Failure, address};
use crate::store::Store;

/// All problems, the one that was seen last first.
pub(crate) fn problems(store: &mut Store, _asked: &Asked) -> Result<Page, Failure> {
    let mut problems = store.problems()?;
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.last.started));
    let open = problems.iter().filter(|problem| problem.closing.is_none()).count();
    let title = format!("{open} problems, {} closed", problems.len() - open);
    let body = html! {
        header { h1 { (title) } p.legend { "Failures that have in common what matters. `kiln problems` says where each stands." } }
        main {
            div.wide {
                table class="metrics sortable searchable" {
                    thead {
                        tr {
                            @for head in ["problem", "outcome", "cases"] { th scope="col" { (head) } }
                            th scope="col" class="figure" { "Runs" }
                            @for head in ["first seen", "last seen", "id"] { th scope="col" { (head) } }
                        }
                    }
                    tbody { @for problem in &problems { (row(problem)) } }
                }
            }
        }
    };
    Ok(Page { title, body })
}

fn row(problem: &Problem) -> Markup {
    let last = &problem.last;
    let cases: Vec<&str> = problem.cases.iter().take(3).map(String::as_str).collect();
    let more = problem.cases.len().saturating_sub(cases.len());
    html! {
        tr {
            th scope="row" { a href=(address(&last.session, &last.case)) { (text(&problem.signature)) } @if problem.closing.is_some() { " (closed)" } }
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

//! All of one problem.

use bisect::problem::request;
use ledger::RunsQuery;
use maud::html;
use report::ShownProblem;
use report::html::Page;

use super::Failure;
use super::runs::table_of;
use crate::store::Store;

/// Runs that are listed.
const RUNS_MAX: usize = 200;

/// Its life, its evidence and its bisections.
pub(crate) fn problem(store: &mut Store, id: &str) -> Result<Page, Failure> {
    let problems = store.problems()?;
    let Some((problem, standing)) = problems.all.iter().find(|(problem, _)| problem.id == id) else {
        return Err(Failure::Unknown(format!("no problem {id:?}")));
    };
    let signature = Some(problem.signature.clone());
    let runs = store.runs(&RunsQuery { signature, limit: Some(RUNS_MAX), ..RunsQuery::default() })?;
    let runs = html! {
        (table_of(&runs.runs))
        @if runs.total > runs.runs.len() { p.note { (runs.total - runs.runs.len()) " older Runs are left out" } }
    };
    let request = request(store.root(), problem);
    let request = request.as_ref().map(|(request, case)| (request, case.as_str()));
    let shown = ShownProblem { problem, standing, request, made: &problems.made };
    Ok(shown.page(&runs))
}

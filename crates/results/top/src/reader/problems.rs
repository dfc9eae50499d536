//! Problems, and where they stand.

use bisect::problem::KnownProblems;
use ledger::Problem;
use verdict::problem::Standing;

use crate::look::ProblemRow;

/// A row for each problem, the one that was seen last first.
pub(super) fn rows(KnownProblems { mut all, .. }: KnownProblems) -> Vec<ProblemRow> {
    all.sort_by_key(|(problem, _)| std::cmp::Reverse(problem.last.started));
    all.into_iter().map(|(problem, standing)| row(problem, &standing)).collect()
}

fn row(problem: Problem, standing: &Standing) -> ProblemRow {
    let seen_on = report::seen_on(&problem.kernels);
    let Problem { id, signature, failures, last, .. } = problem;
    ProblemRow {
        id,
        state: standing.state,
        standing: report::state(standing),
        signature,
        failures,
        seen_on,
        last: last.started,
        outcome: last.outcome,
        session: last.session,
        case: last.case,
    }
}

//! Problems, and where they stand.

use ledger::Problem;
use verdict::problem::{Standing, Succession};

use crate::look::ProblemRow;

/// A row for each problem. No tree is asked for the order of its commits: `kiln problems` does that.
pub(super) fn rows(mut problems: Vec<Problem>) -> Vec<ProblemRow> {
    let succession = Succession::default();
    problems.sort_by_key(|problem| std::cmp::Reverse(problem.last.started));
    problems.into_iter().map(|problem| row(problem, &succession)).collect()
}

fn row(mut problem: Problem, succession: &Succession) -> ProblemRow {
    succession.arrange(&mut problem);
    let standing = Standing::of(&problem, succession);
    let seen_on = report::seen_on(&problem.kernels);
    let Problem { id, signature, failures, last, .. } = problem;
    ProblemRow {
        id,
        state: standing.state,
        standing: report::state(&standing),
        signature,
        failures,
        seen_on,
        last: last.started,
        outcome: last.outcome,
        session: last.session,
        case: last.case,
    }
}

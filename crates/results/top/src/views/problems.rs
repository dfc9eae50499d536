//! Problems: failures that are alike.

use crate::look::{Look, ProblemRow};
use crate::paint::{self, Piece};
use crate::table::{Column, Row, Table, Target};
use verdict::problem::State;

const COLUMNS: &[Column] = &[
    Column { head: "STATE", width: 13 },
    Column { head: "LAST SEEN", width: 10 },
    Column { head: "RUNS", width: 5 },
    Column { head: "PROBLEM", width: 0 },
];

/// All problems, the one that was seen last first.
pub(crate) fn table(look: &Look) -> Table {
    let rows = look.problems.iter().map(row).collect();
    Table { columns: COLUMNS, rows, empty: "no failure is known" }
}

/// Problems that the latest kernels have.
pub(crate) fn open(look: &Look) -> usize {
    look.problems.iter().filter(|problem| matches!(problem.state, State::Open | State::Bisected)).count()
}

fn row(problem: &ProblemRow) -> Row {
    let cells = vec![
        Piece::new(paint::style(report::style::of_state(problem.state)), &problem.standing),
        Piece::plain(problem.last.strftime("%Y-%m-%d").to_string()),
        Piece::plain(problem.failures.to_string()),
        Piece::plain(&problem.signature),
    ];
    let details = vec![
        format!("{}: {}", problem.id, problem.signature),
        format!("seen on {}", problem.seen_on),
        format!("last: {} of {} in {}", problem.outcome.name(), problem.case, problem.session),
    ];
    Row {
        key: problem.id.clone(),
        cells,
        details,
        opens: Some(Target::Run(problem.session.clone(), problem.case.clone())),
        command: vec!["problems".to_owned(), "show".to_owned(), problem.id.clone()],
    }
}

//! What `kiln problems` lists.

use std::io::{self, Write};

use ledger::{OnKernel, Problem};
use serde::Serialize;
use verdict::problem::{Standing, State};

use crate::columns::Columns;
use crate::json::line;
use crate::safe::safe_line;
use crate::style::{DIM, Paint, of_state};

/// A narrow terminal goes without the kernels first: `kiln problems show` says them, too.
const COLUMNS: Columns<5> =
    Columns { head: ["ID", "STATE", "LAST SEEN", "SEEN ON", "PROBLEM"], right: &[], spared: &[3, 2] };

/// Prints a line for each problem, in the given order; no line is wider than `width` columns as long as names are not.
///
/// # Errors
///
/// When `out` does not take it.
pub fn problems_table(
    problems: &[(Problem, Standing)],
    width: Option<usize>,
    colour: bool,
    mut out: impl Write,
) -> io::Result<()> {
    let paint = Paint { colour };
    let mut rows: Vec<[String; 5]> =
        problems.iter().map(|(problem, standing)| row(problem, standing)).collect();
    COLUMNS.fit_last(&mut rows, width);
    let widths = COLUMNS.widths(&rows, width);
    writeln!(out, "{}", paint.paint(DIM, &COLUMNS.line(&COLUMNS.heads(), &widths)))?;
    for ((_, standing), row) in problems.iter().zip(&rows) {
        let state = &row[1];
        let painted = paint.paint(of_state(standing.state), state);
        writeln!(out, "{}", COLUMNS.line(row, &widths).replacen(state, &painted, 1))?;
    }
    out.flush()
}

fn row(problem: &Problem, standing: &Standing) -> [String; 5] {
    [
        problem.id.clone(),
        state(standing),
        problem.last.started.strftime("%Y-%m-%d").to_string(),
        safe_line(&seen_on(&problem.kernels)),
        safe_line(problem.signature.trim_end_matches([' ', ':'])),
    ]
}

/// Its state in words.
#[must_use]
pub fn state(standing: &Standing) -> String {
    let returned = if standing.returned { ", returned" } else { "" };
    format!("{}{returned}", standing.state.name())
}

/// The first and the last kernel that have a problem, of all in their order.
#[must_use]
pub fn seen_on(kernels: &[OnKernel]) -> String {
    let mut having = kernels.iter().filter(|on| on.failing > 0).map(|on| on.release.as_str());
    match (having.next(), having.next_back()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(first), _) => first.to_owned(),
        (None, _) => String::new(),
    }
}

/// A problem and where it stands, as programs get it.
#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    problem: &'a Problem,
    #[serde(flatten)]
    standing: &'a Standing,
}

/// Prints a JSON object a line for each problem.
///
/// # Errors
///
/// When `out` does not take it.
pub fn problems_json(problems: &[(Problem, Standing)], mut out: impl Write) -> io::Result<()> {
    for (problem, standing) in problems {
        out.write_all(line(&Object { problem, standing })?.as_bytes())?;
    }
    out.flush()
}

/// One line that says how many there are besides.
#[must_use]
pub fn closed_note(count: usize) -> String {
    let (problems, are) = if count == 1 { ("problem", "is") } else { ("problems", "are") };
    format!("{count} {problems} {are} {}; --all shows them", State::Closed.name())
}

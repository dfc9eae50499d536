//! What changed: cases that are not as on the kernel before, and problems that it did not have.

use watch::Change;

use crate::look::{ChangeRow, Look, News};
use crate::paint::{self, Piece};
use crate::table::{Column, Row, Table, Target};

const COLUMNS: &[Column] = &[
    Column { head: "CHANGE", width: 9 },
    Column { head: "KERNEL", width: 24 },
    Column { head: "WAS", width: 6 },
    Column { head: "IS", width: 6 },
    Column { head: "WHAT", width: 0 },
];

/// What changed, what is worse first.
pub(crate) fn table(look: &Look) -> Table {
    let rows = look.changes.iter().map(row).collect();
    Table {
        columns: COLUMNS,
        rows,
        empty: "no newest kernel of a series and flavour differs from the one before",
    }
}

fn row(change: &ChangeRow) -> Row {
    let (word, outcome) = match change.news {
        News::Problem => ("problem", judge::Outcome::Fail),
        News::Case(Change::Worse) => ("worse", judge::Outcome::Fail),
        News::Case(Change::Different) => ("different", judge::Outcome::Skip),
        News::Case(Change::Better) => ("better", judge::Outcome::Pass),
    };
    let cells = vec![
        Piece::new(paint::style(report::style::of(outcome)), word),
        Piece::plain(&change.after.0),
        Piece::plain(&change.before.1),
        Piece::plain(&change.after.1),
        Piece::plain(&change.what),
    ];
    let details = vec![
        format!("{}  suite {}, case {}", change.what, change.suite, change.case),
        format!("on {} {}, on {} {}", change.before.0, change.before.1, change.after.0, change.after.1),
        change.why.clone(),
    ];
    let name = format!("{}/{}", change.session, change.case);
    Row {
        key: format!("{word} {} {} {}", change.after.0, change.suite, change.what),
        cells,
        details,
        opens: Some(Target::Run(change.session.clone(), change.case.clone())),
        command: vec!["show".to_owned(), name],
    }
}

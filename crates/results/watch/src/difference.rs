//! What a kernel does that the one before it did not.

use std::collections::BTreeMap;

use kernel::version::text::{flavour, series};
use matrix::{Cell, Column, Grid, Light, Row};
use serde::Serialize;

/// A suite on a kernel and on the one before it, with the same parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The suite.
    pub suite: String,
    /// What tells these tests from the others of a plan, for people; empty if there are none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub setting: String,
    /// The kernel before, if there is one.
    pub before: Option<Column>,
    /// The kernel.
    pub after: Column,
    /// Cases that ran on it.
    pub cases: usize,
    /// Those among them that fail.
    pub failures: usize,
    /// Cases that are not as before, what is worse first.
    pub changes: Vec<CaseChange>,
}

/// A case that is not as before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaseChange {
    /// Its name.
    pub case: String,
    /// It is the boot.
    pub is_boot: bool,
    /// What that means.
    pub change: Change,
    /// What it came to before.
    pub before: Cell,
    /// What it comes to now.
    pub after: Cell,
}

/// What it means that a case is not as before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// It fails and did not.
    Worse,
    /// It is no failure for certain, and not as before.
    Different,
    /// It failed and passes.
    Better,
}

/// The differences of a grid that has a kernel and maybe the one before it: one for each set of parameters.
#[must_use]
pub fn difference(grid: &Grid, before: Option<&str>, after: &str) -> Vec<Difference> {
    let column = |kernel: &str, parameters: &str| {
        let is_it = |column: &Column| column.kernel == kernel && column.parameters == parameters;
        grid.columns.iter().position(is_it)
    };
    let columns = grid.columns.iter().enumerate().filter(|(_, column)| column.kernel == after);
    let of_column = |(now, of_now): (usize, &Column)| {
        let then = before.and_then(|before| column(before, &of_now.parameters));
        between(grid, then.filter(|then| grid.is_tested(*then)), now)
    };
    columns.map(of_column).collect()
}

/// What a kernel does that the one before it in a grid did not, with each of its parameters.
#[must_use]
pub fn against_the_one_before(grid: &Grid, kernel: &str) -> Vec<Difference> {
    let columns = grid.columns.iter().enumerate();
    let of_kernel = columns.filter(|(_, column)| column.release == kernel || column.kernel == kernel);
    of_kernel.filter_map(|(at, _)| with_the_one_before(grid, at)).collect()
}

/// What the newest kernel of each series and flavour in a grid does that the one before it did not, with each of its
/// parameters.
#[must_use]
pub fn newest(grid: &Grid) -> Vec<Difference> {
    let columns = grid.columns.iter().enumerate();
    let kind = |column: &Column| {
        (series(&column.release).to_owned(), flavour(&column.release), column.parameters.clone())
    };
    // Columns are in the order of versions: the last of a kind is its newest.
    let newest: BTreeMap<_, usize> = columns.map(|(at, column)| (kind(column), at)).collect();
    newest.into_values().filter_map(|at| with_the_one_before(grid, at)).collect()
}

/// A column and the one before it that it is comparable with, if there is one.
fn with_the_one_before(grid: &Grid, at: usize) -> Option<Difference> {
    let before = (0..at).rev().find(|&before| grid.are_comparable(before, at) && grid.is_tested(before))?;
    Some(between(grid, Some(before), at))
}

fn between(grid: &Grid, then: Option<usize>, now: usize) -> Difference {
    let cells = grid.rows.iter().filter(|row| !row.is_boot).filter_map(|row| row.cells[now].as_ref());
    let mut changes: Vec<CaseChange> = then
        .iter()
        .flat_map(|&then| grid.rows.iter().filter_map(move |row| changed(row, then, now)))
        .collect();
    changes.sort_by_key(|change| change.change);
    Difference {
        suite: grid.suite.clone(),
        setting: grid.setting.clone(),
        before: then.map(|then| grid.columns[then].clone()),
        after: grid.columns[now].clone(),
        cases: cells.clone().count(),
        failures: cells.filter(|cell| cell.outcome.is_failure()).count(),
        changes,
    }
}

fn changed(row: &Row, then: usize, now: usize) -> Option<CaseChange> {
    let (before, after) = (row.cells[then].clone()?, row.cells[now].clone()?);
    let lights = [&before, &after].map(|cell| cell.mark().light(&[Some(before.mark()), Some(after.mark())]));
    if before.mark() == after.mark() {
        return None;
    }
    let change = match lights {
        [Light::Red, Light::Green] => Change::Better,
        [Light::Red, Light::Red] | [_, Light::Amber] | [_, Light::Green] => Change::Different,
        [_, Light::Red] => Change::Worse,
    };
    Some(CaseChange { case: row.case.clone(), is_boot: row.is_boot, change, before, after })
}

#[cfg(test)]
mod tests {
    use judge::Outcome;

    use super::*;

    fn cell(outcome: Outcome) -> Option<Cell> {
        Some(Cell {
            outcome,
            reason: "why".into(),
            session: "s".into(),
            runs: 1,
            failures: u32::from(outcome.is_failure()),
        })
    }

    fn grid() -> Grid {
        let column = |kernel: &str, parameters: &str| Column {
            kernel: kernel.into(),
            release: kernel.into(),
            parameters: parameters.into(),
        };
        let row = |case: &str, outcomes: [Outcome; 3]| Row {
            case: case.into(),
            is_boot: false,
            cells: outcomes.map(cell).into(),
        };
        let (pass, fail, crash, skip) = (Outcome::Pass, Outcome::Fail, Outcome::Crash, Outcome::Skip);
        Grid {
            suite: "smoke".into(),
            setting: String::new(),
            columns: vec![column("old", ""), column("new", ""), column("new", "debug")],
            rows: vec![
                row("as-before", [fail, fail, pass]),
                row("mended", [fail, pass, pass]),
                row("skipped", [pass, skip, pass]),
                row("never", [skip, skip, skip]),
                row("other", [fail, crash, pass]),
                row("worse", [pass, crash, pass]),
            ],
        }
    }

    #[test]
    fn what_is_worse_comes_first_and_what_is_as_before_is_no_news() {
        let all = difference(&grid(), Some("old"), "new");
        let [plain, debug] = &all[..] else { panic!("{all:#?}") };
        let changes: Vec<_> =
            plain.changes.iter().map(|change| (change.case.as_str(), change.change)).collect();
        let expected = [
            ("worse", Change::Worse),
            ("skipped", Change::Different),
            ("other", Change::Different),
            ("mended", Change::Better),
        ];
        assert_eq!((changes, plain.cases, plain.failures), (expected.to_vec(), 6, 3));
        assert_eq!(
            (debug.before.as_ref(), debug.changes.len()),
            (None, 0),
            "nothing had these parameters before"
        );
    }

    #[test]
    fn the_newest_of_each_series_is_compared_with_the_one_before_it() {
        let mut grid = grid();
        for (column, release) in
            grid.columns.iter_mut().zip(["6.1.0-47-amd64", "6.1.0-56-amd64", "6.12.0-1-amd64"])
        {
            *column = Column { kernel: release.into(), release: release.into(), parameters: String::new() };
        }
        let releases = |differences: Vec<Difference>| -> Vec<(String, String)> {
            let pair = |it: Difference| (it.before.expect("there is one").release, it.after.release);
            differences.into_iter().map(pair).collect()
        };
        let pairs = [("6.1.0-47-amd64", "6.1.0-56-amd64"), ("6.1.0-56-amd64", "6.12.0-1-amd64")];
        let pairs = pairs.map(|(before, after)| (before.to_owned(), after.to_owned()));
        assert_eq!(releases(newest(&grid)), pairs);
        assert_eq!(releases(against_the_one_before(&grid, "6.12.0-1-amd64")), pairs[1..]);
        assert_eq!(releases(against_the_one_before(&grid, "6.1.0-47-amd64")), []);
        grid.columns[1].release = "6.1.0-56-rt-amd64".into();
        assert_eq!(releases(newest(&grid)), [(pairs[0].0.clone(), pairs[1].1.clone())], "another flavour");
    }

    #[test]
    fn the_first_kernel_differs_from_nothing() {
        let all = difference(&grid(), None, "old");
        assert_eq!((all.len(), all[0].changes.len(), all[0].failures), (1, 0, 3));
        assert!(difference(&grid(), None, "unknown").is_empty());
    }
}

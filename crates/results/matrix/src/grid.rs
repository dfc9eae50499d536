//! What the ledger has of a suite on some kernels: a column for each kernel, a row for each case.

use std::collections::BTreeMap;

use judge::Outcome;
use kernel::Locator;
use kernel::version::{compare, text::flavour};
use ledger::{KnownRun, Ledger};
use serde::Serialize;

use crate::cell::{Cell, Mark};
use crate::error::Error;

/// A suite on some kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Grid {
    /// The suite.
    pub suite: String,
    /// The kernels: those of one set of parameters and one flavour follow each other in the order of their releases.
    pub columns: Vec<Column>,
    /// The cases by their names; a boot that went badly on any kernel comes first.
    pub rows: Vec<Row>,
}

/// A kernel with a set of parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its locator, as it was asked for.
    pub kernel: String,
    /// Its release; the locator where nothing is known of it.
    pub release: String,
    /// Kernel parameters that the user gave.
    pub parameters: String,
}

/// A case on all kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its name.
    pub case: String,
    /// It is the boot.
    pub is_boot: bool,
    /// What it came to on each kernel, if it ran there.
    pub cells: Vec<Option<Cell>>,
}

impl Grid {
    /// What the ledger has of a suite on these kernels with these sets of parameters.
    ///
    /// # Errors
    ///
    /// When SQLite refuses.
    pub fn read(
        ledger: &mut Ledger,
        suite: &str,
        kernels: &[Locator],
        parameters: &[String],
    ) -> Result<Self, Error> {
        let names: Vec<String> = kernels.iter().map(Locator::to_string).collect();
        let mut columns: Vec<(Column, Vec<KnownRun>)> = Vec::new();
        for set in parameters {
            let runs = ledger.latest(suite, &names, set)?;
            let mut of_set: Vec<(Column, Vec<KnownRun>)> =
                names.iter().map(|name| column(name, set, &runs)).collect();
            of_set.sort_by(|(a, _), (b, _)| {
                let by_flavour = flavour(&a.release).cmp(&flavour(&b.release));
                by_flavour.then_with(|| compare(&a.release, &b.release))
            });
            columns.extend(of_set);
        }
        Ok(Self::of(suite, columns))
    }

    fn of(suite: &str, columns: Vec<(Column, Vec<KnownRun>)>) -> Self {
        let count = columns.len();
        let mut rows: BTreeMap<(bool, String), Vec<Option<Cell>>> = BTreeMap::new();
        let mut passed_boots: Vec<Option<Cell>> = Vec::new();
        let (columns, runs): (Vec<Column>, Vec<Vec<KnownRun>>) = columns.into_iter().unzip();
        for (number, runs) in runs.into_iter().enumerate() {
            passed_boots.push(runs.iter().find(|run| !run.is_boot).map(boot_of));
            for run in runs {
                let row = rows.entry((!run.is_boot, run.case.clone())).or_insert_with(|| vec![None; count]);
                row[number] = Some(Cell::of(run));
            }
        }
        let row = |((is_case, case), cells): ((bool, String), Vec<Option<Cell>>)| {
            let or_passed = |(cell, passed): (Option<Cell>, &Option<Cell>)| cell.or_else(|| passed.clone());
            let cells =
                if is_case { cells } else { cells.into_iter().zip(&passed_boots).map(or_passed).collect() };
            Row { case, is_boot: !is_case, cells }
        };
        Self { suite: suite.to_owned(), columns, rows: rows.into_iter().map(row).collect() }
    }

    /// Whether two neighbouring columns can differ by nothing but the kernel's release.
    #[must_use]
    pub fn are_comparable(&self, left: usize, right: usize) -> bool {
        let (left, right) = (&self.columns[left], &self.columns[right]);
        left.parameters == right.parameters && flavour(&left.release) == flavour(&right.release)
    }

    /// Whether something ran on a kernel.
    #[must_use]
    pub fn is_tested(&self, column: usize) -> bool {
        self.rows.iter().any(|row| row.cells[column].is_some())
    }
}

impl Row {
    /// What its cells show.
    #[must_use]
    pub fn marks(&self) -> Vec<Option<Mark>> {
        self.cells.iter().map(|cell| cell.as_ref().map(Cell::mark)).collect()
    }
}

/// A kernel with what ran on it.
fn column(name: &str, parameters: &str, runs: &[KnownRun]) -> (Column, Vec<KnownRun>) {
    let own: Vec<KnownRun> =
        runs.iter().filter(|run| run.kernel == name || run.locator == name).cloned().collect();
    let release = own.iter().find_map(|run| run.release.clone());
    // The name of a package is the release of its kernel.
    let release = release.unwrap_or_else(|| name.strip_prefix("deb:").unwrap_or(name).to_owned());
    (Column { kernel: name.to_owned(), release, parameters: parameters.to_owned() }, own)
}

/// The boot of a machine in which something ran: nothing records one that went well.
fn boot_of(run: &KnownRun) -> Cell {
    Cell { outcome: Outcome::Pass, reason: String::new(), session: run.session.clone(), runs: 1, failures: 0 }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use judge::run::BOOT;

    use super::*;

    fn run(kernel: &str, case: &str, outcome: Outcome, (failures, runs): (u32, u32)) -> KnownRun {
        KnownRun {
            session: format!("session-{kernel}"),
            started: jiff::Timestamp::UNIX_EPOCH,
            locator: kernel.to_owned(),
            kernel: kernel.to_owned(),
            release: Some(kernel.trim_start_matches("deb:").to_owned()),
            machine: "QEMU".to_owned(),
            suite: "smoke".to_owned(),
            case: case.to_owned(),
            is_boot: case == BOOT,
            outcome,
            reason: String::new(),
            duration: Duration::ZERO,
            runs,
            failures,
        }
    }

    fn grid(runs: &[KnownRun], kernels: &[&str]) -> Grid {
        Grid::of("smoke", kernels.iter().map(|name| column(name, "", runs)).collect())
    }

    #[test]
    fn each_case_has_a_row_and_boots_the_first() {
        let (old, new) = ("deb:6.1.0-47-amd64", "deb:6.1.0-50-amd64");
        let runs = [
            run(old, "pipe/full", Outcome::Pass, (0, 1)),
            run(new, BOOT, Outcome::Crash, (1, 1)),
            run(old, "a", Outcome::Fail, (1, 4)),
        ];
        let grid = grid(&runs, &[old, new, "deb:6.1.0-56-amd64"]);
        let lines: Vec<String> = grid
            .rows
            .iter()
            .map(|row| {
                let signs =
                    row.marks().into_iter().map(|mark| mark.map_or(' ', Mark::sign)).collect::<String>();
                format!("{} {signs}", row.case)
            })
            .collect();
        assert_eq!(lines, ["boot .C ", "a ~  ", "pipe/full .  "]);
        assert_eq!(grid.columns[2].release, "6.1.0-56-amd64");
        assert_eq!([0, 1, 2].map(|column| grid.is_tested(column)), [true, true, false]);
    }

    #[test]
    fn kernels_of_other_flavours_are_no_neighbours() {
        let grid = grid(&[], &["deb:6.1.0-47-amd64", "deb:6.1.0-50-amd64", "deb:6.1.0-47-cloud-amd64"]);
        assert!(grid.are_comparable(0, 1) && !grid.are_comparable(1, 2));
    }
}

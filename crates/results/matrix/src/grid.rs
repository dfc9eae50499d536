//! What the ledger has of a suite on some kernels: a column for each kernel, a row for each case.

use std::collections::BTreeMap;

use judge::Outcome;
use kernel::version::{compare, text::flavour};
use lab::request::Selection;
use lab::suites::select::Pattern;
use ledger::{KeyedKernel, KnownRun, Ledger, LedgerError, SessionKey};
use serde::Serialize;

use crate::cell::{Cell, Mark};
use crate::error::Error;
use crate::request::{MatrixRequest, Subject, suite_name};

/// A suite on some kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Grid {
    /// The suite.
    pub suite: String,
    /// What tells it from the others of its plan, for people; empty if there are none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub setting: String,
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

/// What is known of a kernel before its Runs are asked for.
#[derive(Debug, Clone)]
pub(crate) struct Tested {
    pub(crate) kernel: String,
    pub(crate) parameters: String,
    pub(crate) release: Option<String>,
    /// Of its sessions; none if no session is known.
    pub(crate) key: Option<SessionKey>,
    /// The cases that are of interest.
    pub(crate) cases: Vec<String>,
}

impl Tested {
    /// A kernel of which nothing is known.
    pub(crate) fn unknown(subject: Subject<'_>) -> Self {
        let Subject { kernel, parameters } = subject;
        Self {
            kernel: kernel.to_string(),
            parameters: parameters.to_owned(),
            release: None,
            key: None,
            cases: Vec::new(),
        }
    }

    fn column(&self, runs: &[KnownRun]) -> Column {
        let known = self.release.clone().or_else(|| runs.iter().find_map(|run| run.release.clone()));
        // The name of a package is the release of its kernel.
        let release =
            known.unwrap_or_else(|| self.kernel.strip_prefix("deb:").unwrap_or(&self.kernel).to_owned());
        Column { kernel: self.kernel.clone(), release, parameters: self.parameters.clone() }
    }
}

/// The grids of what the ledger has, of the newest sessions that ran as this request asks.
///
/// # Errors
///
/// When SQLite refuses.
pub fn known(request: &MatrixRequest, ledger: &mut Ledger) -> Result<Vec<Grid>, Error> {
    let grid = |cases: &Selection| {
        let Selection::Suite { suite, patterns } = cases else {
            return Grid::read(ledger, &request.setting, Vec::new());
        };
        let patterns: Vec<Pattern> = patterns.iter().map(|pattern| Pattern::new(pattern)).collect();
        let is_asked =
            |case: &str| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(case));
        let mut columns = Vec::new();
        for subject in request.subjects() {
            let setup = request.run(subject, cases).setup();
            let key = ledger.newest(&subject.kernel.to_string(), suite_name(suite), &setup)?;
            let mut runs = key.map(|key| ledger.latest(&key)).transpose()?.unwrap_or_default();
            runs.retain(|run| run.is_boot || is_asked(&run.case));
            columns.push((Tested::unknown(subject).column(&runs), runs));
        }
        Ok(Grid::of(suite_name(suite), &request.setting, columns))
    };
    request.cases.iter().map(grid).collect()
}

/// What is known of a suite on the kernels that ran it last, at most so many, however their machines were set up.
///
/// # Errors
///
/// When the ledger cannot be read.
pub fn latest(suite: &str, columns: usize, ledger: &mut Ledger) -> Result<Grid, LedgerError> {
    let mut all = Vec::new();
    for KeyedKernel { kernel, release, parameters, key } in ledger.subjects(suite, columns)? {
        let runs = ledger.latest(&key)?;
        let tested = Tested { kernel, parameters, release, key: None, cases: Vec::new() };
        all.push((tested.column(&runs), runs));
    }
    Ok(Grid::of(suite, "", all))
}

impl Grid {
    /// What the ledger has of these kernels.
    pub(crate) fn read(ledger: &mut Ledger, setting: &str, tested: Vec<Tested>) -> Result<Self, Error> {
        let mut columns: Vec<(Column, Vec<KnownRun>)> = Vec::new();
        let suite = tested.iter().find_map(|of| Some(of.key.as_ref()?.suite.clone())).unwrap_or_default();
        for of in tested {
            let mut runs = of.key.as_ref().map(|key| ledger.latest(key)).transpose()?.unwrap_or_default();
            runs.retain(|run| run.is_boot || of.cases.contains(&run.case));
            columns.push((of.column(&runs), runs));
        }
        Ok(Self::of(&suite, setting, columns))
    }

    fn of(suite: &str, setting: &str, mut columns: Vec<(Column, Vec<KnownRun>)>) -> Self {
        columns.sort_by(|(a, _), (b, _)| {
            let by_flavour = flavour(&a.release).cmp(&flavour(&b.release));
            a.parameters.cmp(&b.parameters).then(by_flavour).then_with(|| compare(&a.release, &b.release))
        });
        let count = columns.len();
        let mut rows: BTreeMap<(bool, String), Vec<Option<Cell>>> = BTreeMap::new();
        let mut good_boots: Vec<Option<Cell>> = Vec::new();
        let (columns, runs): (Vec<Column>, Vec<Vec<KnownRun>>) = columns.into_iter().unzip();
        for (number, runs) in runs.into_iter().enumerate() {
            let newest = runs.iter().filter(|run| !run.is_boot).max_by_key(|run| run.started);
            let since = newest.map(|run| run.started);
            good_boots.push(newest.map(boot_of));
            // Nothing records a boot that went well: later cases show that there was one.
            let counts = |run: &KnownRun| !run.is_boot || since.is_none_or(|since| run.started >= since);
            for run in runs.into_iter().filter(counts) {
                let row = rows.entry((!run.is_boot, run.case.clone())).or_insert_with(|| vec![None; count]);
                row[number] = Some(Cell::of(run));
            }
        }
        let row = |((is_case, case), cells): ((bool, String), Vec<Option<Cell>>)| {
            let or_good = |(cell, good): (Option<Cell>, &Option<Cell>)| cell.or_else(|| good.clone());
            let cells =
                if is_case { cells } else { cells.into_iter().zip(&good_boots).map(or_good).collect() };
            Row { case, is_boot: !is_case, cells }
        };
        let (suite, setting) = (suite.to_owned(), setting.to_owned());
        Self { suite, setting, columns, rows: rows.into_iter().map(row).collect() }
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
            blame: None,
            signature: None,
            identity: String::new(),
            parameters: None,
            origin: None,
        }
    }

    fn grid(runs: &[KnownRun], kernels: &[&str]) -> Grid {
        let column = |name: &&str| {
            let locator = name.parse().expect("a locator");
            let own: Vec<KnownRun> = runs.iter().filter(|run| run.kernel == *name).cloned().collect();
            (Tested::unknown(Subject { kernel: &locator, parameters: "" }).column(&own), own)
        };
        Grid::of("smoke", "", kernels.iter().map(column).collect())
    }

    #[test]
    fn a_boot_that_went_badly_is_forgotten_when_later_ones_went_well() {
        let kernel = "deb:6.1.0-47-amd64";
        let later = jiff::Timestamp::from_second(9).expect("a time");
        let bad = run(kernel, BOOT, Outcome::Hang, (1, 1));
        let good = |started| KnownRun { started, ..run(kernel, "a", Outcome::Pass, (0, 1)) };
        let boots = |runs: &[KnownRun]| grid(runs, &[kernel]).rows.iter().filter(|row| row.is_boot).count();
        assert_eq!(boots(&[bad.clone(), good(jiff::Timestamp::UNIX_EPOCH)]), 1, "the same session");
        assert_eq!(boots(&[bad, good(later)]), 0);
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

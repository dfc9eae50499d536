//! A comparison for spreadsheets and scripts.

use std::io::{self, Write};

use verdict::{Against, Comparison, Ended, Row, Runs, Side};

use super::kind::{ground_name, kind_name};
use super::rows::name;
use crate::csv::{Table, number};
use crate::figures::unit;

/// The columns; new ones are added at the end only.
const HEAD: [&str; 18] = [
    "base_label",
    "new_label",
    "metric",
    "unit",
    "base_min",
    "base_median",
    "base_max",
    "new_min",
    "new_median",
    "new_max",
    "difference",
    "percent",
    "interval_low",
    "interval_high",
    "p",
    "verdict",
    "kind",
    "ground",
];

/// Columns that say which Kernels they are, and the place of the verdict.
const LABELS: usize = 2;
const VERDICT: usize = 15;

/// The name of the share of the runs that failed.
const FAILED: &str = "failed runs";

/// The verdict on what could not be measured on both.
const NOT_MEASURED: &str = "not-measured";

/// Writes a line with the names of the columns and one for each metric and pair of Kernels. What is not known is
/// empty; the figures have their full precision, times are in nanoseconds.
///
/// # Errors
///
/// When `out` does not take it.
pub fn csv(comparison: &Comparison, out: impl Write) -> io::Result<()> {
    let mut table = Table::new(&HEAD, out)?;
    for against in &comparison.others {
        let labels = [comparison.base.label.clone(), against.subject.label.clone()];
        for line in lines(against) {
            table.record(&[labels.as_slice(), &line].concat())?;
        }
    }
    table.finish()
}

fn lines(against: &Against) -> impl Iterator<Item = [String; HEAD.len() - LABELS]> + '_ {
    let missing = against.missing.iter().map(|missing| {
        let mut line = [const { String::new() }; HEAD.len() - LABELS];
        line[0].clone_from(&missing.metric);
        line[VERDICT - LABELS] = NOT_MEASURED.to_owned();
        line
    });
    against.rows.iter().map(line).chain(against.runs.iter().map(line_of_runs)).chain(missing)
}

/// How often runs failed, as if that were a metric.
fn line_of_runs(runs: &Runs) -> [String; HEAD.len() - LABELS] {
    let mut line = [const { String::new() }; HEAD.len() - LABELS];
    FAILED.clone_into(&mut line[0]);
    "runs".clone_into(&mut line[1]);
    let share = |ended: &Ended| f64::from(ended.failures()) / f64::from(ended.total().max(1));
    let (base, new) = (share(&runs.base), share(&runs.new));
    line[3] = number(Some(base));
    line[6] = number(Some(new));
    line[8] = number(Some(new - base));
    line[12] = number(runs.p);
    line[VERDICT - LABELS] = name(runs.verdict).to_owned();
    line
}

fn line(row: &Row) -> [String; HEAD.len() - LABELS] {
    let side = |side: &Side| [side.min, side.median, side.max].map(|value| number(Some(value)));
    let ([base_min, base_median, base_max], [new_min, new_median, new_max]) =
        (side(&row.base), side(&row.new));
    [
        row.metric.clone(),
        unit(&row.unit).to_owned(),
        base_min,
        base_median,
        base_max,
        new_min,
        new_median,
        new_max,
        number(Some(row.difference)),
        number(row.percent),
        number(row.interval.map(|(low, _)| low)),
        number(row.interval.map(|(_, high)| high)),
        number(row.p),
        name(row.verdict).to_owned(),
        kind_name(row).to_owned(),
        ground_name(row).to_owned(),
    ]
}

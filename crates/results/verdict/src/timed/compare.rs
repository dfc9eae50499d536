//! From two measurements to a table.

use measure::Measurement;

use super::decide::{Decision, Pair, decide};
use super::design::Design;
use crate::comparison::{Against, Row};
use crate::matching::{Shared, against, matched};

/// Compares timed figures by a design, with as many boots as there are.
///
/// This is one look: [`Sequential`](super::Sequential) says how many boots to have before it, and when to stop. The
/// difference is the Hodges-Lehmann shift, which may be a little off the difference of the two medians beside it.
#[must_use]
pub fn compare_timed(base: &Measurement, new: &Measurement, design: &Design) -> Against {
    let (shared, missing) = matched(base, new, |boot| design.counts(boot));
    let pairs: Vec<Pair> =
        shared.iter().map(|metric| Pair::of_times(&metric.base.boots, &metric.new.boots)).collect();
    let decisions = decide(&pairs, design);
    let rows = shared.into_iter().zip(decisions).map(|(metric, decision)| row(metric, decision));
    against(new, rows.collect(), missing)
}

fn row(metric: Shared, decision: Decision) -> Row {
    let Decision { change, interval, p, verdict } = decision;
    let row = metric.row(verdict);
    Row {
        difference: row.base.median * change,
        percent: row.percent.is_some().then_some(change * 100.0),
        interval: interval.map(|(low, high)| (low * 100.0, high * 100.0)),
        p,
        ..row
    }
}

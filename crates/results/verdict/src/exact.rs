//! What exact figures say.

use measure::{Measurement, Unit};

use crate::comparison::{Against, Side, Verdict};
use crate::matching::{Shared, against, matched};

/// Compares counted figures, which have no noise but what the kernel itself draws at random in each boot.
///
/// * **worse**, **better**: even the boots that are nearest to each other differ in that direction; for events, which
///   are counted in one boot, even its repetitions.
/// * **same**: the medians are equal.
/// * **undecided**: the boots overlap, and their medians differ.
#[must_use]
pub fn compare_exact(base: &Measurement, new: &Measurement) -> Against {
    let (shared, missing) = matched(base, new, |_| true);
    // What happens on neither says nothing.
    let happens = |metric: &Shared<'_>| metric.base.max > 0.0 || metric.new.max > 0.0;
    let rows = shared.into_iter().filter(happens).map(|metric| {
        let verdict = verdict(metric.metric.unit, &metric.base, &metric.new);
        metric.row(verdict)
    });
    against(new, rows.collect(), missing)
}

fn verdict(unit: Unit, base: &Side, new: &Side) -> Verdict {
    // Events are counted in one boot: there its repetitions are what may overlap.
    let of_repetitions = unit == Unit::Count;
    let lowest = |side: &Side| match of_repetitions {
        true => side.min,
        false => side.boots.iter().copied().fold(f64::INFINITY, f64::min),
    };
    let highest = |side: &Side| match of_repetitions {
        true => side.max,
        false => side.boots.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    };
    if lowest(new) > highest(base) {
        Verdict::Worse
    } else if highest(new) < lowest(base) {
        Verdict::Better
    } else if new.median == base.median {
        Verdict::Same
    } else {
        Verdict::Undecided
    }
}

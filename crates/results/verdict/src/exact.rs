//! What exact figures say.
//!
//! * [`ground`]: what makes a difference between the boots of two Kernels one between the Kernels
//! * [`changed`]: the functions whose code is not the same on both

pub mod changed;
pub mod ground;

use measure::{Measurement, Unit};

use crate::comparison::{Against, Ground, Row, Steadiness, Verdict};
use crate::matching::{Shared, against, matched};
use crate::statistics::{adjusted, mann_whitney};

use changed::Changed;
use ground::{Boots, is_certain_by_code, is_certain_by_size, loudest};

/// The share of false ones that is allowed, on average, among what is called worse or better on the ground of
/// [`Ground::Boots`].
pub const ERROR: f64 = 0.05;

/// Compares counted figures.
///
/// * **worse**, **better**: even the boots that are nearest to each other differ in that direction, and there is a
///   [`Ground`] to believe that this is no chance; or the test of ranks says so.
/// * **same**: the medians are equal; or the boots overlap, and the medians differ by no more than the boots of one
///   Kernel do among each other.
/// * **undecided**: everything else.
#[must_use]
pub fn compare_exact(base: &Measurement, new: &Measurement) -> Against {
    let (shared, missing) = matched(base, new, |_| true);
    // What happens on neither says nothing.
    let happens = |metric: &Shared<'_>| metric.base.max > 0.0 || metric.new.max > 0.0;
    let rows: Vec<Row> =
        shared.into_iter().filter(happens).map(|metric| metric.row(Verdict::Undecided)).collect();
    let (costs, events): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.unit != Unit::Count);
    let costs = of_costs(costs, &Changed::of(base, new));
    let events = events.into_iter().map(|row| of_event(row, &costs)).collect::<Vec<_>>();
    against(new, [costs, events].concat(), missing)
}

/// Judges what operations cost; all of them together, since the test of ranks does.
fn of_costs(rows: Vec<Row>, changed: &Changed<'_>) -> Vec<Row> {
    let tests: Vec<f64> = rows.iter().map(|row| mann_whitney(&row.base.boots, &row.new.boots)).collect();
    let loudest = loudest(&rows);
    let judged = rows.into_iter().zip(adjusted(&tests)).map(|(row, p)| {
        let boots = Boots::of(&row);
        let by_code = || changed.instructions(&row.metric).is_some_and(|it| is_certain_by_code(&boots, it));
        let ground = match boots.gap() {
            Some(_) if by_code() => Some(Ground::Code),
            Some(_) if is_certain_by_size(&boots, row.base.median, loudest) => Some(Ground::Size),
            _ if p <= ERROR => Some(Ground::Boots),
            _ => None,
        };
        let p = (ground == Some(Ground::Boots)).then_some(p);
        Row { p, ..concluded(row, &boots, ground) }
    });
    judged.collect()
}

/// Judges what happened in an operation: it certainly differs only where the cost of the operation does.
fn of_event(row: Row, costs: &[Row]) -> Row {
    let boots = Boots::of(&row);
    let operation = row.metric.split_once(':').map_or("", |(operation, _)| operation);
    let is_changed = |cost: &Row| cost.metric == operation && cost.ground.is_some();
    let is_ground = boots.gap().is_some() && boots.is_constant() && costs.iter().any(is_changed);
    concluded(row, &boots, is_ground.then_some(Ground::Operation))
}

/// The row with what it comes to if there is this ground for a difference.
fn concluded(row: Row, boots: &Boots, ground: Option<Ground>) -> Row {
    let difference = row.difference;
    let verdict = match ground {
        _ if difference == 0.0 => Verdict::Same,
        Some(_) if difference > 0.0 => Verdict::Worse,
        Some(_) => Verdict::Better,
        None if boots.gap().is_none() && difference.abs() <= boots.spread() => Verdict::Same,
        None => Verdict::Undecided,
    };
    let ground = ground.filter(|_| verdict != Verdict::Same);
    let may_vary = row.base.boots.len() > 1 && row.new.boots.len() > 1;
    let steadiness = if boots.is_constant() { Steadiness::Constant } else { Steadiness::Varying };
    let steadiness = may_vary.then_some(steadiness);
    Row { verdict, ground, steadiness, ..row }
}

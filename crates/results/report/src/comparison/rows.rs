//! The rows of a comparison as people see them.

use measure::{Kind, Unit};
use verdict::{Against, Row, Side, Verdict};

/// Differences of exact figures, in percent, below which they are of less interest.
pub(super) const SMALL: f64 = 0.1;

/// Rows that are few enough to be read: none is left out because it is small.
const FEW: usize = 20;

/// Rows in their order, and what was left out.
pub(super) struct Shown<'a> {
    /// What operations cost.
    pub(super) costs: Vec<&'a Row>,
    /// What else was counted in them.
    pub(super) events: Vec<&'a Row>,
    /// Rows that differ, but less than [`SMALL`].
    pub(super) small: usize,
}

/// Whether a row is about something that happens within an operation, not about its cost.
pub(super) fn is_event(row: &Row) -> bool {
    row.unit == Unit::Count
}

/// Whether an exact figure differs by so little that others come first.
fn is_small(kind: Kind, row: &Row) -> bool {
    kind == Kind::Exact && row.percent.is_some_and(|percent| percent.abs() < SMALL)
}

/// The rows of `against` that are shown: all of them, or those that differ.
pub(super) fn shown(kind: Kind, against: &Against, all: bool) -> Shown<'_> {
    let mut rows: Vec<&Row> = against.rows.iter().filter(|row| all || row.verdict != Verdict::Same).collect();
    let differ = rows.len();
    if !all && differ > FEW {
        rows.retain(|row| !is_small(kind, row));
    }
    let small = differ - rows.len();
    let (events, costs) = rows.into_iter().partition(|row| is_event(row));
    Shown { costs, events, small }
}

/// The name of a metric, with its unit if an experiment declares that.
pub(super) fn metric(row: &Row) -> String {
    match &row.unit {
        Unit::Own(own) => format!("{}, {}", row.metric, own.name),
        Unit::Instructions | Unit::Nanoseconds | Unit::Count => row.metric.clone(),
    }
}

/// The name of a verdict in output and documents.
pub(crate) fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Worse => "worse",
        Verdict::Undecided => "undecided",
        Verdict::Better => "better",
        Verdict::Same => "same",
    }
}

/// Whether repetitions or boots gave more than one figure.
pub(super) fn is_spread(side: &Side) -> bool {
    side.min < side.max || side.boots.iter().any(|boot| *boot != side.median)
}

/// Whether a reader must know that a figure has a range: times always have one.
pub(super) fn is_marked(kind: Kind, row: &Row) -> bool {
    let is_counted = kind == Kind::Exact || (kind == Kind::Recorded && !row.unit.is_timed());
    is_counted && (is_spread(&row.base) || is_spread(&row.new))
}

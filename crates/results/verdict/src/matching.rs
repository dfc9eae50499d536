//! The metrics of two measurements, matched by their names.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};

use judge::Outcome;
use measure::quantile::median;
use measure::{Boot, Measurement, Metric, NotMeasured, Value};

use crate::comparison::{Against, Missing, Row, Side, Verdict};

/// A metric that both have.
pub(crate) struct Shared<'a> {
    pub(crate) metric: &'a Metric,
    pub(crate) base: Side,
    pub(crate) new: Side,
}

impl Shared<'_> {
    /// A row that says so far only what was measured.
    pub(crate) fn row(self, verdict: Verdict) -> Row {
        let Self { metric, base, new } = self;
        let difference = new.median - base.median;
        Row {
            metric: metric.name.clone(),
            about: metric.about.clone(),
            unit: metric.unit.clone(),
            difference,
            percent: (base.median != 0.0).then(|| difference / base.median.abs() * 100.0),
            base,
            new,
            interval: None,
            p: None,
            verdict,
            steadiness: None,
            ground: None,
            why: None,
        }
    }
}

/// The metrics that both have in boots that `counts` takes, in the order of the base; and the others.
pub(crate) fn matched<'a>(
    base: &'a Measurement,
    new: &'a Measurement,
    counts: impl Fn(&Boot) -> bool,
) -> (Vec<Shared<'a>>, Vec<Missing>) {
    let others: BTreeMap<&str, &Metric> =
        new.metrics.iter().rev().map(|metric| (metric.name.as_str(), metric)).collect();
    let mut seen = HashSet::new();
    let (mut shared, mut missing) = (Vec::new(), Vec::new());
    for metric in base.metrics.iter().chain(&new.metrics).filter(|metric| seen.insert(metric.name.as_str())) {
        let first = base.metrics.iter().find(|other| other.name == metric.name);
        let of_base = side(base, first, &counts);
        let of_new = side(new, others.get(metric.name.as_str()).copied(), &counts);
        match (of_base, of_new) {
            (Ok(base), Ok(new)) => shared.push(Shared { metric, base, new }),
            // What else is counted in an operation is missing with it.
            _ if is_within(&missing, &metric.name) => {}
            (base, new) => {
                missing.push(Missing { metric: metric.name.clone(), base: base.err(), new: new.err() });
            }
        }
    }
    (shared, missing)
}

/// Whether a metric is an event of an operation that is missing itself.
fn is_within(missing: &[Missing], metric: &str) -> bool {
    let operation = metric.split_once(':').map(|(operation, _)| operation);
    operation.is_some_and(|operation| missing.iter().any(|missing| missing.metric == operation))
}

/// The figures of one Kernel, or why there are none.
pub(crate) fn side(
    of: &Measurement,
    metric: Option<&Metric>,
    counts: impl Fn(&Boot) -> bool,
) -> Result<Side, NotMeasured> {
    let none = |outcome, reason: &str| NotMeasured { outcome, reason: reason.into() };
    let metric = metric.ok_or_else(|| none(Outcome::Skip, "it was not measured on this kernel"))?;
    if let (true, Some(why)) = (metric.values.is_empty(), &metric.not_measured) {
        return Err(why.clone());
    }
    let is_of_interest = |value: &&Value| of.boots.get(value.boot as usize).is_none_or(&counts);
    let finite = metric
        .values
        .iter()
        .filter(|value| [value.min, value.median, value.max].iter().all(|v| v.is_finite()));
    let values: Vec<&Value> = finite.filter(is_of_interest).collect();
    let boots: Vec<f64> = values.iter().map(|value| value.median).collect();
    Ok(Side {
        min: values.iter().map(|value| value.min).fold(f64::INFINITY, f64::min),
        median: median(&boots).ok_or_else(|| none(Outcome::Broken, "no boot gave a figure that counts"))?,
        max: values.iter().map(|value| value.max).fold(f64::NEG_INFINITY, f64::max),
        boots,
        apart: metric.detail.as_ref().map(|detail| (detail.user, detail.kernel)),
    })
}

/// What `of` comes to: the worst first, then what is undecided, what is better and what is the same, each by its size.
pub(crate) fn against(of: &Measurement, mut rows: Vec<Row>, missing: Vec<Missing>) -> Against {
    rows.sort_by(|a, b| a.verdict.cmp(&b.verdict).then_with(|| by_size(a, b)));
    Against { subject: of.subject.clone(), rows, missing, runs: None }
}

/// The larger one first; what has no percentage, since the base is 0, before all others.
fn by_size(a: &Row, b: &Row) -> Ordering {
    let size = |row: &Row| row.percent.map_or(f64::INFINITY, f64::abs);
    size(b).total_cmp(&size(a))
}

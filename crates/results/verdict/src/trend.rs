//! A figure over the history of kernels: where it steps, by how much, how sure that is, and by which functions.
//!
//! Counted figures of two kernels that follow each other are compared as [`compare_exact`] does: any step is found, with its
//! ground. Sampled figures come from sessions whose hosts may have been busier or idler, so that a session is one observation, and the
//! changes are those that random orders of the sessions hardly ever show: [`change_points`].
//!
//! * [`commits`]: those of a branch, in their order
//! * [`fact`]: what a kernel's files are, without any measurement

pub mod commits;
pub mod fact;

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use kernel::version::{self, text::flavour};
use measure::quantile::median;
use measure::{Kind, Measurement, Metric, Subject, Unit};
use serde::Serialize;

use crate::comparison::{Against, Ground, Side, Verdict, Why};
use crate::exact::compare_exact;
use crate::matching::side;
use crate::statistics::{ChangePoint, Differences, change_points};
use crate::why::why;
pub use commits::Commits;
use fact::Fact;

/// How often a change is found in a series of sampled figures that has none.
pub const ERROR: f64 = 0.05;

/// Of intervals.
const CONFIDENCE: f64 = 0.95;

/// For the random orders: the same figures always show the same.
const SEED: u64 = 1;

/// A metric over the history of kernels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trend {
    /// Its name.
    pub metric: String,
    /// One line on what is measured.
    pub about: String,
    /// The unit; less is better, unless it says otherwise.
    pub unit: Unit,
    /// What can be compared with each other, each for itself.
    pub series: Vec<Series>,
}

/// Kernels of one flavour that were measured in the same way.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// What tells it from the others.
    pub of: Alike,
    /// The kernels in the order in which they came out.
    pub points: Vec<Point>,
    /// Where it steps, or may step.
    pub steps: Vec<Step>,
}

/// What the kernels of a series have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Alike {
    /// Their flavour: `cloud`.
    pub flavour: String,
    /// The figures are counted; what experiments record is taken for sampled.
    pub is_exact: bool,
    /// The machine, for people.
    pub machine: String,
    /// Kernel parameters.
    pub parameters: String,
    /// By what the figures came about, as a hash.
    pub procedure: String,
}

/// A kernel of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point {
    /// What it is called: its release, or its commit.
    pub name: String,
    /// The kernel.
    pub kernel: Subject,
    /// The median of all observations.
    pub median: f64,
    /// The smallest one.
    pub min: f64,
    /// The largest one.
    pub max: f64,
    /// The observations: of counted figures one for each boot, of sampled ones one for each session.
    pub values: Vec<f64>,
}

/// A step of a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The number of the first kernel after it.
    pub at: usize,
    /// Worse or better, or undecided where it may be none, or no shift.
    pub verdict: Verdict,
    /// The value before it: of counted figures that of the kernel before, of sampled ones the median since the last step.
    pub before: f64,
    /// The value after it.
    pub after: f64,
    /// The difference in percent of the value before; nothing where that is 0.
    pub percent: Option<f64>,
    /// Where the true difference lies with a confidence of 95 %, in percent: sampled figures only, if there are enough.
    pub interval: Option<(f64, f64)>,
    /// How often chance alone shows such a step: where it is not excluded.
    pub p: Option<f64>,
    /// Why it is no chance: counted figures only.
    pub ground: Option<Ground>,
    /// The functions that did it: counted figures only.
    pub why: Option<Why>,
}

impl Step {
    /// Whether it is worse or better.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        matches!(self.verdict, Verdict::Worse | Verdict::Better)
    }
}

/// What was measured of one kernel, the latest last: the numbers of the measurements.
type Sessions = Vec<(usize, Side)>;

/// Measurements, with what was found of pairs of them.
struct History<'m> {
    measured: &'m [Measurement],
    commits: &'m Commits,
    compared: HashMap<(usize, usize), Against>,
}

/// The trends of these metrics in these measurements, the oldest first; none of a metric that no measurement has. Kernels that were
/// built from one of `commits` are in their order, others in that of their releases.
#[must_use]
pub fn trends(names: &[&str], measured: &[Measurement], commits: &Commits) -> Vec<Trend> {
    let mut history = History { measured, commits, compared: HashMap::new() };
    names.iter().filter_map(|name| history.trend(name)).collect()
}

impl History<'_> {
    fn trend(&mut self, name: &str) -> Option<Trend> {
        if let Some(fact) = Fact::named(name) {
            return fact.trend(self.measured, self.commits);
        }
        let mut metric = None;
        let mut series: BTreeMap<Alike, Vec<Sessions>> = BTreeMap::new();
        for (number, one) in self.measured.iter().enumerate() {
            let Some(found) = metric_of(one, name) else { continue };
            let Ok(side) = side(one, Some(found), |_| true) else { continue };
            metric = Some(found);
            let kernels = series.entry(Alike::of(one)).or_default();
            // A commit that takes another one back gives the same kernel once more.
            let same = |kernel: &Subject| (kernel.identity.clone(), self.commits.place(kernel));
            let of = |sessions: &Sessions| same(&self.measured[sessions[0].0].subject);
            match kernels.iter_mut().find(|sessions| of(sessions) == same(&one.subject)) {
                Some(sessions) => sessions.push((number, side)),
                None => kernels.push(vec![(number, side)]),
            }
        }
        let Metric { about, unit, .. } = metric?;
        let series = series.into_iter().map(|(of, kernels)| self.series(name, unit, of, kernels)).collect();
        Some(Trend { metric: name.to_owned(), about: about.clone(), unit: unit.clone(), series })
    }

    fn series(&mut self, name: &str, unit: &Unit, of: Alike, mut kernels: Vec<Sessions>) -> Series {
        let kernel = |sessions: &Sessions| &self.measured[sessions[0].0].subject;
        // Those of one release, such as builds of a tree, are in the order in which they were measured first.
        kernels.sort_by(|a, b| in_order(kernel(a), kernel(b), self.commits));
        let points: Vec<Point> =
            kernels.iter().filter_map(|sessions| self.point(sessions, of.is_exact)).collect();
        let steps = if of.is_exact { self.exact_steps(name, &kernels) } else { timed_steps(&points, unit) };
        Series { of, points, steps }
    }

    fn point(&self, sessions: &Sessions, is_exact: bool) -> Option<Point> {
        let (latest, side) = sessions.last()?;
        // Counting a kernel again with the same seeds gives the same figures once more.
        let values = if is_exact {
            side.boots.clone()
        } else {
            sessions.iter().map(|(_, side)| side.median).collect()
        };
        let end = |pick: fn(f64, f64) -> f64, start| values.iter().copied().fold(start, pick);
        let kernel = &self.measured[*latest].subject;
        Some(Point {
            name: self.commits.name(kernel).to_owned(),
            kernel: kernel.clone(),
            median: median(&values)?,
            min: end(f64::min, f64::INFINITY),
            max: end(f64::max, f64::NEG_INFINITY),
            values,
        })
    }

    /// Where a counted figure of a kernel is not that of the kernel before.
    fn exact_steps(&mut self, name: &str, kernels: &[Sessions]) -> Vec<Step> {
        let pairs = kernels.windows(2).enumerate();
        pairs
            .filter_map(|(number, pair)| {
                self.exact_step(name, number + 1, pair[0].last()?.0, pair[1].last()?.0)
            })
            .collect()
    }

    fn exact_step(&mut self, name: &str, at: usize, base: usize, new: usize) -> Option<Step> {
        let (of_base, of_new) = (&self.measured[base], &self.measured[new]);
        let against = self.compared.entry((base, new)).or_insert_with(|| compare_exact(of_base, of_new));
        let row = against.rows.iter().find(|row| row.metric == name)?;
        if row.verdict == Verdict::Same {
            return None;
        }
        let detail = |one| metric_of(one, name)?.detail.as_ref();
        let details = detail(of_base).zip(detail(of_new)).filter(|_| row.unit == Unit::Instructions);
        #[expect(clippy::cast_possible_truncation, reason = "a count of instructions")]
        let difference = row.difference.round() as i64;
        Some(Step {
            at,
            verdict: row.verdict,
            before: row.base.median,
            after: row.new.median,
            percent: row.percent,
            interval: None,
            p: row.p,
            ground: row.ground,
            why: details.map(|(base, new)| why(base, new, difference)),
        })
    }
}

/// Which of two kernels came first.
fn in_order(one: &Subject, other: &Subject, commits: &Commits) -> Ordering {
    let by_commit = commits.place(one).cmp(&commits.place(other));
    by_commit.then_with(|| version::compare(&one.release, &other.release))
}

fn metric_of<'m>(one: &'m Measurement, name: &str) -> Option<&'m Metric> {
    one.metrics.iter().find(|metric| metric.name == name)
}

impl Alike {
    fn of(one: &Measurement) -> Self {
        let subject = &one.subject;
        Self {
            flavour: flavour(&subject.release),
            is_exact: one.kind == Kind::Exact,
            machine: subject.machine.clone(),
            parameters: subject.parameters.clone(),
            procedure: one.procedure.clone(),
        }
    }
}

/// Where sampled figures change.
fn timed_steps(points: &[Point], unit: &Unit) -> Vec<Step> {
    let places: Vec<Vec<f64>> = points.iter().map(|point| point.values.clone()).collect();
    let changes = change_points(&places, ERROR, SEED);
    let ends: Vec<usize> = changes.iter().map(|change| change.at).chain([points.len()]).collect();
    let mut begin = 0;
    let mut steps = Vec::new();
    for (number, change) in changes.iter().enumerate() {
        let (before, after) =
            (places[begin..change.at].concat(), places[change.at..ends[number + 1]].concat());
        steps.extend(timed_step(change, &before, &after, unit));
        begin = change.at;
    }
    steps
}

fn timed_step(change: &ChangePoint, before: &[f64], after: &[f64], unit: &Unit) -> Option<Step> {
    let differences = Differences::of(before, after)?;
    let (base, shift) = (median(before)?, differences.shift());
    let percent = |value: f64| value / base.abs() * 100.0;
    let interval = differences.rank_interval((1.0 - CONFIDENCE) / 2.0).filter(|_| base != 0.0);
    // A change may be one of the spread alone.
    let is_shift = shift != 0.0 && interval.is_none_or(|(low, high)| low > 0.0 || high < 0.0);
    let verdict = if is_shift { of_difference(shift, unit) } else { Verdict::Undecided };
    Some(Step {
        at: change.at,
        verdict,
        before: base,
        after: median(after)?,
        percent: (base != 0.0).then(|| percent(shift)),
        interval: interval.map(|(low, high)| (percent(low), percent(high))),
        p: Some(change.p),
        ground: None,
        why: None,
    })
}

/// What a certain difference means.
fn of_difference(difference: f64, unit: &Unit) -> Verdict {
    if (difference > 0.0) == unit.more_is_better() { Verdict::Better } else { Verdict::Worse }
}

#[cfg(test)]
mod tests;

//! Latencies as they were counted, and the statistics that are derived from them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::class;

/// The percentiles that a report shows, in thousandths of a percent.
pub const PERCENTILES: [u32; 10] =
    [25_000, 50_000, 75_000, 90_000, 95_400, 99_000, 99_500, 99_900, 99_990, 99_999];

/// All samples, in thousandths of a percent.
const ALL: u32 = 100_000;

/// Latencies in nanoseconds. All figures but the histogram are exact.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Latencies {
    /// The smallest one; 0 if there is none.
    pub minimum: u64,
    /// The largest one; 0 if there is none.
    pub maximum: u64,
    /// Their sum.
    pub sum: u64,
    /// The sum of the squares of their differences from the mean.
    pub squared_deviations: f64,
    /// Of each [class](mod@class) that has samples the smallest number and the count, in ascending order. The classes go on
    /// to the largest number, so that no sample is beyond them.
    pub histogram: Vec<(u64, u64)>,
}

impl Latencies {
    /// How many samples there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// The arithmetic mean.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum as f64 / count as f64)
    }

    /// The standard deviation of the population that these are a sample of: divided by one less than their count.
    #[must_use]
    pub fn standard_deviation(&self) -> Option<f64> {
        let count = self.count();
        (count > 1).then(|| (self.squared_deviations.max(0.0) / (count - 1) as f64).sqrt())
    }

    /// The middle of the class that has most samples for its width, which is exact below 2,048 ns.
    #[must_use]
    pub fn mode(&self) -> Option<u64> {
        let density = |(value, count): &(u64, u64)| *count as f64 / class::width(class::of(*value)) as f64;
        // Of equals the last is taken.
        let (value, _) = self.histogram.iter().rev().max_by(|a, b| density(a).total_cmp(&density(b)))?;
        let class = class::of(*value);
        Some(self.within(class::lowest(class) + (class::width(class) - 1) / 2))
    }

    /// The smallest value that the given part of the samples does not exceed, to three significant digits. The part is
    /// in thousandths of a percent: 99,900 asks for the percentile 99.9, and 100,000 or more for the maximum.
    #[must_use]
    pub fn percentile(&self, thousandths: u32) -> Option<u64> {
        let rank = rank(self.count().into(), thousandths.min(ALL));
        let mut below = 0;
        let (value, _) = self.histogram.iter().find(|(_, count)| {
            below += u128::from(*count);
            below >= rank
        })?;
        Some(self.within(class::highest(class::of(*value))))
    }

    /// How many samples there are in each bucket of `width` nanoseconds, as pairs of the bucket's first number and its
    /// count, in order and without those that have none. A class counts where it begins.
    #[must_use]
    pub fn distribution(&self, width: u64) -> Vec<(u64, u64)> {
        let width = width.max(1);
        let mut buckets: Vec<(u64, u64)> = Vec::new();
        for (value, count) in &self.histogram {
            let start = value - value % width;
            match buckets.last_mut().filter(|(last, _)| *last == start) {
                Some((_, sum)) => *sum = sum.saturating_add(*count),
                None => buckets.push((start, *count)),
            }
        }
        buckets
    }

    /// All that several threads have measured.
    #[must_use]
    pub fn merged<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let parts = parts.into_iter().filter(|part| !part.histogram.is_empty());
        parts.fold(
            Self::default(),
            |all, part| if all.histogram.is_empty() { part.clone() } else { all.with(part) },
        )
    }

    /// The same in a few classes, by which [`PERCENTILES`] and the maximum stay what they are, but no other statistic of
    /// the histogram.
    #[must_use]
    pub fn condensed(&self) -> Self {
        let count = u128::from(self.count());
        let mut ranks = PERCENTILES.into_iter().chain([ALL]).map(|it| rank(count, it)).peekable();
        let (mut below, mut pending, mut histogram) = (0, 0_u64, Vec::new());
        for (value, count) in &self.histogram {
            below += u128::from(*count);
            pending = pending.saturating_add(*count);
            if ranks.peek().is_some_and(|rank| below >= *rank) {
                histogram.push((*value, std::mem::take(&mut pending)));
            }
            while ranks.next_if(|rank| below >= *rank).is_some() {}
        }
        Self { histogram, ..*self }
    }

    /// Both of them, neither empty.
    fn with(&self, other: &Self) -> Self {
        let mut histogram: BTreeMap<u64, u64> = self.histogram.iter().copied().collect();
        for (value, count) in &other.histogram {
            let sum = histogram.entry(*value).or_default();
            *sum = sum.saturating_add(*count);
        }
        Self {
            minimum: self.minimum.min(other.minimum),
            maximum: self.maximum.max(other.maximum),
            sum: self.sum.saturating_add(other.sum),
            squared_deviations: self.squared_deviations + other.squared_deviations + self.between(other),
            histogram: histogram.into_iter().collect(),
        }
    }

    /// What the difference of two means adds to the squared deviations of both: Chan, Golub and LeVeque, "Updating
    /// Formulae and a Pairwise Algorithm for Computing Sample Variances" (1979).
    fn between(&self, other: &Self) -> f64 {
        let [a, b] = [self, other].map(|it| it.count() as f64);
        let difference = self.mean().unwrap_or(0.0) - other.mean().unwrap_or(0.0);
        difference * difference * a * b / (a + b).max(1.0)
    }

    /// A value of a class, brought between the two that are known exactly.
    fn within(&self, value: u64) -> u64 {
        value.min(self.maximum).max(self.minimum)
    }

    /// What is wrong with it, if it cannot have been counted.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        let is_class = |(value, count): &(u64, u64)| *value == class::lowest(class::of(*value)) && *count > 0;
        let sum = self.histogram.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count));
        match () {
            () if !self.histogram.iter().all(is_class) => Some("a class of the histogram does not exist"),
            () if !self.histogram.is_sorted_by(|(a, _), (b, _)| a < b) => {
                Some("the histogram is not in order")
            }
            () if sum.is_none() => Some("there are too many samples"),
            () if self.minimum > self.maximum => Some("the minimum is above the maximum"),
            () if !(self.squared_deviations.is_finite() && self.squared_deviations >= 0.0) => {
                Some("the squared deviations are no sum of squares")
            }
            () => None,
        }
    }
}

/// How many of `count` samples a percentile is not exceeded by, at least.
fn rank(count: u128, thousandths: u32) -> u128 {
    (count * u128::from(thousandths)).div_ceil(u128::from(ALL)).max(1)
}

#[cfg(test)]
mod tests;

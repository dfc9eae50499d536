//! What single repetitions cost. They are kept, and statistics are derived when they are read: a later kiln may know better ones.

use protocol::measure::Samples;
use serde::{Deserialize, Serialize};

use crate::quantile::median;

/// Repetitions without a timer interrupt that suffice to leave the others out.
const CLEAN_MIN: usize = 5;

/// The repetitions of one boot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BootSamples {
    /// The boot, from 0.
    pub boot: u32,
    /// What each cost, in the unit of the metric and in the order in which they were made.
    pub costs: Vec<f64>,
    /// Those among them during which the kernel's timer interrupt came, by their indexes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ticked: Vec<u32>,
}

/// What one boot says: its repetitions without those that were left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Value {
    /// The boot, from 0.
    pub boot: u32,
    /// The smallest.
    pub min: f64,
    /// The median.
    pub median: f64,
    /// The largest.
    pub max: f64,
    /// How many there were.
    pub repetitions: u32,
    /// How many were left out, since the timer interrupt came in them.
    pub left_out: u32,
}

impl BootSamples {
    pub(crate) fn new(boot: u32, samples: &Samples) -> Self {
        let costs = samples.costs.iter().map(|&cost| exactly(cost)).collect();
        Self { boot, costs, ticked: samples.ticked.clone() }
    }

    /// What the boot says.
    ///
    /// Repetitions in which the kernel's timer interrupt came are left out, unless nearly all are such: an operation that
    /// takes longer than from one interrupt to the next has them among its costs.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        let ticked = |index: usize| u32::try_from(index).is_ok_and(|index| self.ticked.contains(&index));
        let all = self.costs.iter().enumerate();
        let mut clean: Vec<f64> = all.filter(|&(index, _)| !ticked(index)).map(|(_, &cost)| cost).collect();
        if clean.len() < CLEAN_MIN {
            clean.clone_from(&self.costs);
        }
        let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
        Some(Value {
            boot: self.boot,
            min: clean.iter().copied().min_by(f64::total_cmp)?,
            median: median(&clean)?,
            max: clean.iter().copied().max_by(f64::total_cmp)?,
            repetitions: count(clean.len()),
            left_out: count(self.costs.len() - clean.len()),
        })
    }
}

/// Counts stay far below where a float is not exact any more.
#[expect(clippy::cast_precision_loss, reason = "2^53 instructions take a month")]
pub(crate) fn exactly(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(boot: u32, costs: &[u64], ticked: &[u32]) -> Option<Value> {
        BootSamples::new(boot, &Samples { costs: costs.to_vec(), ticked: ticked.to_vec() }).value()
    }

    #[test]
    fn repetitions_with_a_timer_interrupt_are_left_out() {
        let found = value(2, &[10, 9000, 12, 11, 10, 10, 10], &[1]).unwrap();
        assert_eq!((found.min, found.median, found.max), (10.0, 10.0, 12.0));
        assert_eq!((found.boot, found.repetitions, found.left_out), (2, 6, 1));
    }

    #[test]
    fn an_operation_that_always_has_them_keeps_them() {
        let found = value(0, &[900, 910, 905, 907], &[0, 1, 3]).unwrap();
        assert_eq!((found.min, found.median, found.max), (900.0, 906.0, 910.0));
        assert_eq!((found.repetitions, found.left_out), (4, 0));
    }

    #[test]
    fn no_samples_are_no_value() {
        assert_eq!(value(0, &[], &[]), None);
    }
}

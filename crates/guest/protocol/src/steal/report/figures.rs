//! What follows from what was measured. All shares are of the time that a pass took, in 0 to 1.

use super::{AGREEMENT, Gaps, Pass, Side, Traced};
use crate::steal::Trace;

impl Pass {
    /// What is missing of the work that the probe does when nothing else runs. It is below 0 where the CPU was faster than
    /// in the calibration.
    #[must_use]
    pub fn stolen_by_work(&self) -> Option<f64> {
        self.work.as_ref().map(|work| 1.0 - self.share(work.done_ns))
    }

    /// The sum of all gaps.
    #[must_use]
    pub fn stolen_by_gaps(&self) -> Option<f64> {
        self.work.as_ref().map(|work| self.share(work.gaps.sum_ns).min(1.0))
    }

    /// Work and gaps say something else: the CPU changed its speed or shared it with a sibling, or interruptions were too short
    /// to be seen.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        let both = self.stolen_by_work().zip(self.stolen_by_gaps());
        both.is_some_and(|(work, gaps)| (work - gaps).abs() > AGREEMENT)
    }

    /// User time, as the kernel accounts for it.
    #[must_use]
    pub fn user(&self) -> f64 {
        self.share(self.usage.user_us.saturating_mul(1000))
    }

    /// System time, as the kernel accounts for it.
    #[must_use]
    pub fn system(&self) -> f64 {
        self.share(self.usage.system_us.saturating_mul(1000))
    }

    /// How long it was not the current task. The probe never sleeps, so that others had the CPU.
    #[must_use]
    pub fn off_cpu(&self) -> f64 {
        (1.0 - self.share(self.usage.run_ns)).max(0.0)
    }

    /// By how much user time is more than what the probe got; below 0 if it is less.
    #[must_use]
    pub fn accounting_error(&self) -> Option<f64> {
        self.stolen_by_gaps().map(|stolen| self.user() - (1.0 - stolen))
    }

    /// How much of the CPU the load knows that it has kept busy.
    #[must_use]
    pub fn load_busy(&self) -> Option<f64> {
        self.load_busy_ns.map(|busy| self.share(busy))
    }

    /// A time as a share of the pass.
    #[must_use]
    pub fn share(&self, ns: u64) -> f64 {
        ns as f64 / self.elapsed_ns.max(1) as f64
    }
}

impl Gaps {
    /// The class of a gap in the histogram.
    #[must_use]
    pub fn class(ns: u64, classes: usize) -> usize {
        let doublings = (ns / 1000).checked_ilog2().unwrap_or(0) as usize;
        doublings.min(classes.saturating_sub(1))
    }
}

impl Side {
    /// The trace, if there is one.
    #[must_use]
    pub fn seen(&self) -> Option<&Trace> {
        match &self.trace {
            Traced::Seen(trace) => Some(trace),
            Traced::None | Traced::Missing(_) => None,
        }
    }

    /// The median of a figure over all passes.
    #[must_use]
    pub fn median(&self, figure: impl Fn(&Pass) -> Option<f64>) -> Option<f64> {
        let mut values: Vec<f64> = self.passes.iter().filter_map(figure).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len().checked_sub(1)? / 2;
        Some(f64::midpoint(*values.get(middle)?, *values.get(values.len() / 2)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{pass, side};
    use super::*;

    fn near(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-9)
    }

    #[test]
    fn work_and_gaps_say_what_was_stolen_and_accounting_how_much_it_lies() {
        let pass = pass(400, 590);
        assert!(near(pass.stolen_by_work(), 0.6) && near(pass.stolen_by_gaps(), 0.59));
        assert!(!pass.is_disturbed());
        // User time is 70 % of the pass, and the probe got 41 % of it.
        assert!(near(pass.accounting_error(), 0.29), "{:?}", pass.accounting_error());
        assert!((pass.off_cpu() - 0.1).abs() < 1e-9);
    }

    #[test]
    fn a_probe_that_is_slower_without_gaps_is_disturbed() {
        assert!(pass(400, 570).is_disturbed());
        assert!(!pass(1010, 0).is_disturbed());
        assert!(!Pass { work: None, ..pass(1, 0) }.is_disturbed());
    }

    #[test]
    fn gaps_are_classed_by_powers_of_two() {
        let classes = [0, 999, 1999, 2000, 3999, 4000, 1_000_000, u64::MAX].map(|ns| Gaps::class(ns, 16));
        assert_eq!(classes, [0, 0, 0, 1, 1, 2, 9, 15]);
        assert_eq!(Gaps::class(u64::MAX, 0), 0);
    }

    #[test]
    fn the_median_is_that_of_all_passes() {
        let of = |gaps: &[u64]| {
            side(gaps.iter().map(|gaps| pass(0, *gaps)).collect()).median(Pass::stolen_by_gaps)
        };
        assert_eq!(of(&[]), None);
        assert!(near(of(&[300, 100, 200]), 0.2) && near(of(&[100, 200]), 0.15));
    }
}

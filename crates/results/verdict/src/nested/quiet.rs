//! How many runs, in how many boots, a failure would hardly have missed.

use super::BootRuns;
use super::cells::{Cell, ln_chances};
use super::posterior::Nested;

/// What tests cost, in seconds or whatever else is to be saved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// A boot, without a run.
    pub boot: f64,
    /// A run in a boot that is up; infinite where a boot is itself the run.
    pub run: f64,
}

/// Most runs that are planned.
const RUNS_MAX: u64 = 300;

/// Fewest runs without the failure that say anything: one or two may be luck whatever the model says.
const RUNS_MIN: u64 = 3;

/// What passing runs leave of a failure.
struct Left<'a> {
    nested: &'a Nested,
    /// For each cell, its probability times the chance that all these runs pass.
    weights: Vec<f64>,
    boots: Vec<BootRuns>,
}

impl Nested {
    /// Runs that are missing for the failure to be missed with a chance of at most `allowed`, after `boots` without it:
    /// with the number of a boot, from 0, how many more runs of it. At least three runs in all, at most 300 more.
    ///
    /// Each next run is the one that lowers that chance most for its price: in the last boot or in a new one.
    #[must_use]
    pub fn missing(&self, boots: &[BootRuns], allowed: f64, price: Price) -> Vec<(usize, u32)> {
        let mut left = Left::new(self, boots);
        let mut more: Vec<(usize, u32)> = Vec::new();
        let made = boots.iter().copied().sum::<BootRuns>().total();
        for run in made..made.saturating_add(RUNS_MAX) {
            if run >= RUNS_MIN && left.chance() <= allowed {
                break;
            }
            let boot = left.next(price);
            left.pass(boot);
            match more.last_mut().filter(|(last, _)| *last == boot) {
                Some((_, count)) => *count += 1,
                None => more.push((boot, 1)),
            }
        }
        more
    }
}

impl<'a> Left<'a> {
    fn new(nested: &'a Nested, boots: &[BootRuns]) -> Self {
        let passes = |boot: &BootRuns| BootRuns {
            failures: 0,
            passes: u32::try_from(boot.total()).unwrap_or(u32::MAX),
        };
        let boots: Vec<BootRuns> = boots.iter().map(passes).collect();
        let chances = ln_chances(nested.cells, &boots);
        let weights = nested.weights.iter().zip(chances).map(|(weight, ln)| weight * ln.exp()).collect();
        Self { nested, weights, boots }
    }

    fn chance(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The chance that one more run of a boot passes too.
    fn passes(&self, boot: BootRuns) -> f64 {
        let passes = |(cell, weight): (&Cell, &f64)| weight * (1.0 - cell.shows(boot));
        let cells = self.nested.cells().map(|(cell, _)| cell);
        cells.zip(&self.weights).map(passes).sum::<f64>() / self.chance().max(f64::MIN_POSITIVE)
    }

    /// The boot whose next run says most for its price.
    fn next(&self, price: Price) -> usize {
        let worth = |boot: BootRuns, price: f64| -self.passes(boot).ln() / price;
        let new = self.boots.len();
        // Where a boot is the run, only new ones say something.
        if !price.run.is_finite() {
            return new;
        }
        let of_new = worth(BootRuns::default(), price.boot + price.run);
        match self.boots.last() {
            Some(last) if worth(*last, price.run) > of_new => new - 1,
            _ => new,
        }
    }

    fn pass(&mut self, boot: usize) {
        if boot == self.boots.len() {
            self.boots.push(BootRuns::default());
        }
        let runs = &mut self.boots[boot];
        let cells = self.nested.cells().map(|(cell, _)| cell);
        self.weights.iter_mut().zip(cells).for_each(|(weight, cell)| *weight *= 1.0 - cell.shows(*runs));
        runs.passes = runs.passes.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price { boot: 3.0, run: 0.3 };
    const BOOTS_ONLY: Price = Price { boot: 3.0, run: f64::INFINITY };

    fn nested(boots: &[(u32, u32)]) -> Nested {
        let boots: Vec<_> = boots.iter().map(|&(failures, passes)| BootRuns { failures, passes }).collect();
        Nested::perhaps_always(&boots)
    }

    fn count(more: &[(usize, u32)]) -> (usize, u32) {
        (more.len(), more.iter().map(|(_, runs)| runs).sum())
    }

    #[test]
    fn what_shows_seldom_is_missed_often() {
        let missing = |failures: usize, total: usize| {
            let boots: Vec<_> = (0..total).map(|at| BootRuns::one(at < failures)).collect();
            count(&Nested::perhaps_always(&boots).missing(&[], 0.01, BOOTS_ONLY)).1
        };
        assert_eq!(missing(5, 5), 3);
        // Beta(3.5, 2.5): 2.5/6 * 3.5/7 * ... * 10.5/14 = 0.0123, and times 11.5/15 it is 0.0094.
        assert_eq!(missing(3, 5), 10);
        assert!(missing(3, 10) > 12 && missing(30, 100) > 12 && missing(30, 100) < missing(3, 10));
        assert_eq!((missing(1, 100), missing(0, 0)), (300, 300));
    }

    #[test]
    fn what_is_decided_at_boot_needs_boots_and_what_is_decided_in_the_clone_needs_runs() {
        let at_boot = nested(&[(5, 0), (0, 5), (0, 5), (5, 0), (0, 5), (5, 0)]);
        let in_clone = nested(&[(5, 4), (4, 5), (5, 4), (4, 5)]);
        let [(boots, _), (few, runs)] =
            [&at_boot, &in_clone].map(|nested| count(&nested.missing(&[], 0.01, PRICE)));
        assert!(boots >= 6 && few <= 3 && runs >= 7, "{boots} {few} {runs}");
    }

    #[test]
    fn what_was_run_counts() {
        let nested = nested(&[(3, 2), (0, 5), (2, 3)]);
        let mut boots = Vec::new();
        for (boot, runs) in nested.missing(&[], 0.01, PRICE) {
            boots.resize(boots.len().max(boot + 1), BootRuns::default());
            boots[boot].passes += runs;
        }
        assert!(Left::new(&nested, &boots).chance() <= 0.01);
        assert_eq!(nested.missing(&boots, 0.01, PRICE), []);
        let (last, _) = nested.missing(&boots, 0.001, PRICE)[0];
        assert!(last + 1 >= boots.len());
    }
}

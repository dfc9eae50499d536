//! Over which boots the Runs of a case are spread.
//!
//! What a boot decides by chance shows in all of its clones or in none: Runs of one boot are not independent.

use crate::options::{Boots, Repeats};

/// Runs of each boot of a case that is run until it fails: a boot costs about as much as ten of them.
const UNTIL_FAILURE: u32 = 20;

/// Runs of each boot of a case that is run again because it failed: the first and one more, then another boot.
const RETRIED: u32 = 2;

/// Over which boots the Runs of a case are spread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    first: u32,
    count: u32,
    /// Runs of each boot.
    each: u32,
    /// Boots side by side.
    width: u32,
}

impl Spread {
    /// Runs that are repeated like this, so many of them at a time.
    pub(super) fn new(repeats: Repeats, boots: Boots, jobs: usize) -> Self {
        let Boots { first, count } = boots;
        let width = u32::try_from(jobs).unwrap_or(u32::MAX).max(1);
        let spread = match repeats {
            Repeats::OnFailure(_) => {
                Self { first, count: count.unwrap_or(u32::MAX), each: RETRIED, width: 1 }
            }
            Repeats::Times(times) => {
                let count = count.unwrap_or_else(|| Boots::usual(times)).clamp(1, times.max(1));
                Self { first, count, each: times.div_ceil(count).max(1), width: width.min(count) }
            }
            // A golden kernel has a few Runs, and what fails there at boot needs its chance.
            Repeats::UntilFailure(Some(most)) if most <= UNTIL_FAILURE => {
                return Self::new(Repeats::Times(most), boots, jobs);
            }
            Repeats::UntilFailure(_) => {
                Self { first, count: count.unwrap_or(u32::MAX), each: UNTIL_FAILURE, width }
            }
        };
        Self { count: spread.count.max(1), ..spread }
    }

    /// The boot of the Run of this number, from 0.
    pub(super) fn boot(&self, run: u32) -> u32 {
        let Self { first, count, each, width } = *self;
        let together = each.saturating_mul(width);
        let boot = (run / together).saturating_mul(width).saturating_add(run % width);
        first.saturating_add(boot.min(count - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many Runs are made in each boot.
    fn spread(repeats: Repeats, boots: Boots, jobs: usize, runs: u32) -> Vec<u32> {
        let spread = Spread::new(repeats, boots, jobs);
        let mut counts = Vec::new();
        for run in 0..runs {
            let boot = spread.boot(run) as usize;
            counts.resize(counts.len().max(boot + 1), 0);
            counts[boot] += 1;
        }
        counts
    }

    #[test]
    fn more_runs_are_made_in_more_boots() {
        let of = |runs, jobs| spread(Repeats::Times(runs), Boots::default(), jobs, runs);
        assert_eq!((of(1, 2), of(2, 1), of(4, 1)), (vec![1], vec![1, 1], vec![2, 2]));
        assert_eq!((of(20, 1), of(20, 2), of(100, 2)), (vec![4; 5], vec![4; 5], vec![20; 5]));
    }

    #[test]
    fn the_user_says_in_how_many() {
        let of = |count, runs| spread(Repeats::Times(runs), Boots { first: 0, count: Some(count) }, 2, runs);
        assert_eq!((of(1, 20), of(20, 20), of(99, 3)), (vec![20], vec![1; 20], vec![1; 3]));
        assert_eq!(of(0, 2), [2]);
        assert_eq!(spread(Repeats::Times(2), Boots { first: 3, count: Some(1) }, 2, 2), [0, 0, 0, 2]);
    }

    #[test]
    fn what_is_run_again_is_run_in_another_boot_too() {
        assert_eq!(spread(Repeats::OnFailure(3), Boots::default(), 2, 4), [2, 2]);
        assert_eq!(spread(Repeats::UntilFailure(None), Boots::default(), 2, 60), [20, 20, 10, 10]);
        assert_eq!(spread(Repeats::UntilFailure(Some(4)), Boots::default(), 1, 4), [2, 2]);
    }
}

//! The repetitions of one job.

use protocol::profile::{REPETITIONS_MAX, VARIANTS_MAX};

use crate::blocks::Id;
use crate::stacks::Chain;

/// Instructions outside and inside the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Outside.
    pub user: u64,
    /// Inside.
    pub kernel: u64,
}

/// Repetitions with the same tally.
#[derive(Debug)]
pub struct Variant {
    /// How many.
    pub repetitions: u32,
    /// The tally of each.
    pub tally: Tally,
    /// What the first of them executed in the kernel, and how often, by the calls that led to it.
    pub blocks: Vec<(Chain, Id, u32)>,
}

/// What was recorded of a job.
#[derive(Debug, Default)]
pub struct Job {
    /// The tallies of its repetitions, the first ones if there are too many.
    pub repetitions: Vec<Tally>,
    /// In the order in which they came.
    pub variants: Vec<Variant>,
    /// Repetitions that are in no variant.
    pub dropped: u32,
}

impl Job {
    /// Lists a repetition.
    pub fn list(&mut self, tally: Tally) {
        if self.repetitions.len() < REPETITIONS_MAX {
            self.repetitions.push(tally);
        }
    }

    /// Adds a repetition to its variant. Where there are too many, the rarest goes, and of these the oldest.
    pub fn add(&mut self, tally: Tally, blocks: impl FnOnce() -> Vec<(Chain, Id, u32)>) {
        if let Some(same) = self.variants.iter_mut().find(|variant| variant.tally == tally) {
            same.repetitions += 1;
            return;
        }
        if self.variants.len() >= VARIANTS_MAX {
            let rarest = self.variants.iter().enumerate().min_by_key(|(_, variant)| variant.repetitions);
            if let Some((index, _)) = rarest {
                self.dropped += self.variants.remove(index).repetitions;
            }
        }
        self.variants.push(Variant { repetitions: 1, tally, blocks: blocks() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarest_and_oldest_variant_makes_room() {
        let mut job = Job::default();
        for user in [0, 0, 1, 2, 2].into_iter().chain(3..VARIANTS_MAX as u64).chain([100]) {
            let tally = Tally { user, kernel: 0 };
            job.list(tally);
            job.add(tally, Vec::new);
        }
        assert_eq!(job.variants.len(), VARIANTS_MAX);
        assert_eq!(job.dropped, 1);
        let left: Vec<_> = job.variants.iter().map(|it| (it.tally.user, it.repetitions)).collect();
        assert_eq!(left[..3], [(0, 2), (2, 2), (3, 1)]);
        assert_eq!(left.last(), Some(&(100, 1)));
        assert_eq!(job.repetitions.len(), VARIANTS_MAX + 3);
    }

    #[test]
    fn only_the_first_repetitions_are_listed() {
        let mut job = Job::default();
        (0..1000).for_each(|user| job.list(Tally { user, kernel: 0 }));
        assert_eq!(job.repetitions.len(), REPETITIONS_MAX);
        assert_eq!(job.repetitions[1].user, 1);
    }
}

//! What was executed for one job, and which of its repetitions stands for it.

use protocol::measure::{EMPTY_REPETITIONS, WARM_UP};

/// What was executed for one job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Job {
    /// Its repetitions in their order, the empty ones and those that warm up included.
    pub repetitions: Vec<Tally>,
    /// Repetitions that are in no variant.
    pub dropped: u32,
    /// Repetitions with the same numbers of instructions.
    pub variants: Vec<Variant>,
}

/// Instructions outside and inside the kernel, as the time-stamp counter counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Outside.
    pub user: u64,
    /// Inside.
    pub kernel: u64,
}

impl Tally {
    /// All instructions.
    #[must_use]
    pub fn total(self) -> u64 {
        self.user.saturating_add(self.kernel)
    }
}

/// Repetitions with the same numbers of instructions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// How many.
    pub repetitions: u32,
    /// Instructions of each.
    pub tally: Tally,
    /// What the first of them executed in the kernel.
    pub blocks: Vec<Executed>,
}

/// A block that was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Executed {
    /// The number of the chain of calls that led to it.
    pub stack: u32,
    /// The number of the block.
    pub block: u32,
    /// How often.
    pub times: u32,
}

impl Job {
    /// What looking at the clock costs, as the instrument's meter finds it: the smallest of the empty repetitions.
    #[must_use]
    pub fn own_cost(&self) -> u64 {
        self.repetitions.iter().take(EMPTY_REPETITIONS).map(|it| it.total()).min().unwrap_or(0)
    }

    /// The repetitions that count.
    fn counting(&self) -> &[Tally] {
        self.repetitions.get(EMPTY_REPETITIONS + WARM_UP..).unwrap_or_default()
    }

    /// What each repetition that counts executed, without what looking at the clock takes. The instrument's costs are
    /// these, plus the time in which the processor waited for something.
    #[must_use]
    pub fn costs(&self) -> Vec<u64> {
        let own = self.own_cost();
        self.counting().iter().map(|it| it.total().saturating_sub(own)).collect()
    }

    /// The variant of a repetition that cost `wanted`; if none did, or nobody wants a certain one, the most frequent
    /// among those that count, and of equals the cheapest.
    #[must_use]
    pub fn typical(&self, wanted: Option<u64>) -> Option<&Variant> {
        let counting = self.counting();
        let count = |variant: &Variant| counting.iter().filter(|&&tally| tally == variant.tally).count();
        let exactly = |variant: &&Variant| {
            wanted.is_some_and(|wanted| variant.tally.total() == wanted.saturating_add(self.own_cost()))
        };
        let mut known = self.variants.iter().filter(|variant| count(variant) > 0);
        known.clone().find(exactly).or_else(|| {
            known.by_ref().min_by_key(|variant| (std::cmp::Reverse(count(variant)), variant.tally.total()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(user: u64, kernel: u64) -> Tally {
        Tally { user, kernel }
    }

    /// Repetitions of these tallies behind three empty ones that cost 5 and four that warm up, with their variants.
    fn job(counting: &[Tally]) -> Job {
        let empty = [tally(7, 0), tally(5, 0), tally(5, 0)];
        let warm_up = [tally(9, 100); WARM_UP];
        let repetitions = [&empty[..], &warm_up, counting].concat();
        let mut variants: Vec<Variant> = Vec::new();
        for &tally in &repetitions {
            match variants.iter_mut().find(|it| it.tally == tally) {
                Some(same) => same.repetitions += 1,
                None => variants.push(Variant { repetitions: 1, tally, blocks: Vec::new() }),
            }
        }
        Job { repetitions, dropped: 0, variants }
    }

    #[test]
    fn costs_are_those_that_the_meter_finds() {
        assert_eq!(job(&[tally(8, 20), tally(8, 22)]).costs(), [23, 25]);
        assert!(Job::default().costs().is_empty());
    }

    #[test]
    fn the_wanted_variant_is_taken_or_else_the_most_frequent() {
        let job = job(&[tally(8, 30), tally(8, 20), tally(8, 22), tally(8, 22), tally(8, 20)]);
        let total = |wanted| job.typical(wanted).map(|variant| variant.tally.total());
        assert_eq!(total(Some(33)), Some(38));
        assert_eq!(total(None), Some(28));
        assert_eq!(total(Some(1000)), Some(28));
        assert_eq!(Job::default().typical(None), None);
    }

    #[test]
    fn what_warms_up_stands_for_nothing() {
        assert_eq!(job(&[]).typical(None), None);
        assert_eq!(job(&[]).typical(Some(104)), None);
    }
}

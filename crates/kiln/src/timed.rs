//! Timed comparisons: which boot comes next, and when there are enough.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::Result;
use measure::{Candidate, Measurement, Progress, time};
use verdict::timed::order;
use verdict::{Against, Design, Sequential, Verdict, compare_timed};

use crate::figures::Told;

/// What is timed, and for how long.
#[derive(Debug)]
pub(crate) struct Timed<'a> {
    /// The base first.
    pub(crate) candidates: &'a [Candidate<'a>],
    pub(crate) design: &'a Design,
    pub(crate) budget: Duration,
}

impl Timed<'_> {
    /// Boots them in turns until all is decided or the time is over; gives the figures, and the comparison of each
    /// with the base.
    pub(crate) fn compare(
        &self,
        color: bool,
        interrupt: &AtomicBool,
    ) -> Result<(Vec<Measurement>, Vec<Against>)> {
        let start = Instant::now();
        let told = Told::new(color);
        let mut turns = order(self.candidates.len(), self.design.seed);
        let mut sequential = Sequential::new(self.design);
        let mut next = |measured: &[Measurement]| {
            while sequential.next_look().is_some_and(|look| self.fewest(measured) >= look) {
                let others = self.others(measured);
                told.hear(&look(measured, &others));
                sequential.looked(&others);
            }
            let is_over = sequential.next_look().is_none() || start.elapsed() >= self.budget;
            if is_over { None } else { turns.next() }
        };
        let measured = time(self.candidates, interrupt, &mut |progress| told.hear(&progress), &mut next);
        told.finish();
        let measured = measured?;
        let others = self.others(&measured);
        Ok((measured, others))
    }

    fn others(&self, measured: &[Measurement]) -> Vec<Against> {
        measured[1..].iter().map(|new| compare_timed(&measured[0], new, self.design)).collect()
    }

    /// Boots that count, of the Kernel that has fewest.
    fn fewest(&self, measured: &[Measurement]) -> u32 {
        let counted = |one: &Measurement| one.boots.iter().filter(|boot| self.design.counts(boot)).count();
        let fewest = measured.iter().map(counted).min().unwrap_or(0);
        u32::try_from(fewest).unwrap_or(u32::MAX)
    }
}

fn look(measured: &[Measurement], others: &[Against]) -> Progress {
    let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
    let rows = || others.iter().flat_map(|against| &against.rows);
    Progress::Look {
        boots: count(measured.iter().map(|one| one.boots.len()).sum()),
        decided: count(rows().filter(|row| row.verdict != Verdict::Undecided).count()),
        of: count(rows().count()),
    }
}

//! Timed comparisons: how they are designed, which boot comes next, and when there are enough.

use std::time::{Duration, Instant};

use lab::request::{FiguresRequest, TimedRequest};
use measure::{Candidate, Measurement, Progress};
use verdict::timed::order;
use verdict::{Against, Design, Sequential, Verdict, compare_timed};

use crate::environment::{Environment, Listener};
use crate::error::Error;

/// What is timed, and for how long.
pub(crate) struct Turns<'a> {
    /// The base first.
    pub(crate) candidates: &'a [Candidate<'a>],
    pub(crate) design: &'a Design,
    pub(crate) budget: Duration,
}

/// How timed figures are sampled and judged.
pub(crate) fn design(figures: &FiguresRequest, timed: &TimedRequest) -> Design {
    let seed = timed.seed.unwrap_or_else(|| u64::from(std::process::id()));
    let usual = Design::new(seed);
    let looks = figures.boots.map_or(usual.looks.clone(), |boots| vec![boots]);
    let (min_effect, leave_out_disturbed) = (timed.min_effect, timed.leave_out_disturbed);
    Design { min_effect, leave_out_disturbed, looks, ..usual }
}

impl Turns<'_> {
    /// Boots them in turns until all is decided or the time is over; gives the figures, and the comparison of each
    /// with the base.
    pub(crate) fn compare(
        &self,
        environment: &Environment<'_>,
        listener: &Listener<'_>,
    ) -> Result<(Vec<Measurement>, Vec<Against>), Error> {
        let start = Instant::now();
        let mut turns = order(self.candidates.len(), self.design.seed);
        let mut sequential = Sequential::new(self.design);
        let mut next = |measured: &[Measurement]| {
            while sequential.next_look().is_some_and(|look| self.fewest(measured) >= look) {
                let others = self.others(measured);
                listener.measuring(look(measured, &others));
                sequential.looked(&others);
            }
            let is_over = sequential.next_look().is_none() || start.elapsed() >= self.budget;
            if is_over { None } else { turns.next() }
        };
        let measured = environment.time(self.candidates, listener, &mut next)?;
        let others = self.others(&measured);
        Ok((measured, others))
    }

    fn others(&self, measured: &[Measurement]) -> Vec<Against> {
        let Some((base, others)) = measured.split_first() else { return Vec::new() };
        others.iter().map(|new| compare_timed(base, new, self.design)).collect()
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

//! Comparisons of samples: how they are designed, which boot comes next, and when there are enough.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use lab::request::{FiguresRequest, TimedRequest};
use measure::{Candidate, Measurement, Progress};
use verdict::timed::order;
use verdict::{Against, Design, Sequential, Verdict, compare_timed};

use crate::environment::{Environment, Listener};
use crate::error::Error;

/// Says what boots of two Kernels come to.
type Judge = fn(&Measurement, &Measurement, &Design) -> Against;

/// Whose turn it is, until all is decided or the time is over.
pub(crate) struct Turns<'a> {
    design: &'a Design,
    budget: Duration,
    judge: Judge,
    start: Instant,
    order: Box<dyn Iterator<Item = usize>>,
    sequential: Sequential,
    /// Kernels that get no more boots.
    closed: BTreeSet<usize>,
}

/// How samples are taken and judged.
pub(crate) fn design(figures: &FiguresRequest, timed: &TimedRequest) -> Design {
    let seed = timed.seed.unwrap_or_else(|| u64::from(std::process::id()));
    let usual = Design::new(seed);
    let looks = figures.boots.map_or(usual.looks.clone(), |boots| vec![boots]);
    let (min_effect, leave_out_disturbed) = (timed.min_effect, timed.leave_out_disturbed);
    Design { min_effect, leave_out_disturbed, looks, ..usual }
}

/// What the note about the design says.
pub(crate) fn note(design: &Design) -> String {
    format!("the order of the boots comes from --seed {}", design.seed)
}

/// Times Kernels in turns; gives the figures, and the comparison of each with the base, which is the first.
pub(crate) fn time(
    candidates: &[Candidate<'_>],
    (design, budget): (&Design, Duration),
    environment: &Environment<'_>,
    listener: &Listener<'_>,
) -> Result<(Vec<Measurement>, Vec<Against>), Error> {
    let mut turns = Turns::new(candidates.len(), (design, budget), compare_timed);
    let measured = environment.time(candidates, listener, &mut |measured| turns.next(measured, listener))?;
    let others = turns.others(&measured);
    Ok((measured, others))
}

impl<'a> Turns<'a> {
    /// Those of so many Kernels.
    pub(crate) fn new(kernels: usize, (design, budget): (&'a Design, Duration), judge: Judge) -> Self {
        let order = Box::new(order(kernels, design.seed));
        let (start, sequential, closed) = (Instant::now(), Sequential::new(design), BTreeSet::new());
        Self { design, budget, judge, start, order, sequential, closed }
    }

    /// From now on a Kernel gets no more boots: they say nothing.
    pub(crate) fn close(&mut self, kernel: usize) {
        self.closed.insert(kernel);
    }

    /// The Kernel that is booted next, after what was measured; nothing if that is enough.
    pub(crate) fn next(&mut self, measured: &[Measurement], listener: &Listener<'_>) -> Option<usize> {
        let open = || measured.iter().enumerate().filter(|(kernel, _)| !self.closed.contains(kernel));
        let open: Vec<&Measurement> = open().map(|(_, one)| one).collect();
        if self.closed.contains(&0) || open.len() < 2 {
            return None;
        }
        while self.sequential.next_look().is_some_and(|look| self.fewest(&open) >= look) {
            let others = self.against_first(&open);
            listener.measuring(look(measured, &others));
            self.sequential.looked(&others);
        }
        let is_over = self.sequential.next_look().is_none() || self.start.elapsed() >= self.budget;
        if is_over { None } else { self.order.find(|kernel| !self.closed.contains(kernel)) }
    }

    /// The comparison of each with the base, which is the first.
    pub(crate) fn others(&self, measured: &[Measurement]) -> Vec<Against> {
        self.against_first(&measured.iter().collect::<Vec<_>>())
    }

    fn against_first(&self, measured: &[&Measurement]) -> Vec<Against> {
        let Some((base, others)) = measured.split_first() else { return Vec::new() };
        others.iter().map(|new| (self.judge)(base, new, self.design)).collect()
    }

    /// Boots that count, of the Kernel that has fewest.
    fn fewest(&self, measured: &[&Measurement]) -> u32 {
        let counted = |one: &&Measurement| one.boots.iter().filter(|boot| self.design.counts(boot)).count();
        let fewest = measured.iter().map(counted).min().unwrap_or(0);
        u32::try_from(fewest).unwrap_or(u32::MAX)
    }
}

fn look(measured: &[Measurement], others: &[Against]) -> Progress {
    let count = |of: usize| u32::try_from(of).unwrap_or(u32::MAX);
    let verdicts = || others.iter().flat_map(Against::verdicts);
    Progress::Look {
        boots: count(measured.iter().map(|one| one.boots.len()).sum()),
        decided: count(verdicts().filter(|verdict| *verdict != Verdict::Undecided).count()),
        of: count(verdicts().count()),
    }
}

//! What was seen, counted for each candidate.

use super::order::{Axis, State};

/// Runs that showed the failure, and runs that did not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Runs {
    pub(super) failures: u64,
    pub(super) passes: u64,
}

/// Runs of the states that have the failure, and of those that do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) bad: Runs,
    pub(super) good: Runs,
}

/// What was seen at all states.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    total: Runs,
    /// For each candidate, the runs of states that contain it.
    with: Vec<Runs>,
    /// The failure is in the states without the culprit.
    fixed: bool,
}

impl Runs {
    fn add(&mut self, more: Self) {
        self.failures = self.failures.saturating_add(more.failures);
        self.passes = self.passes.saturating_add(more.passes);
    }

    fn without(self, part: Self) -> Self {
        Self {
            failures: self.failures.saturating_sub(part.failures),
            passes: self.passes.saturating_sub(part.passes),
        }
    }
}

impl Evidence {
    pub(super) fn new(count: usize, fixed: bool) -> Self {
        Self { total: Runs::default(), with: vec![Runs::default(); count], fixed }
    }

    pub(super) fn observe(&mut self, axis: &Axis, state: State, runs: Runs) {
        self.total.add(runs);
        for (candidate, with) in self.with.iter_mut().enumerate() {
            if axis.contains(state, candidate) {
                with.add(runs);
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.with.len()
    }

    /// The runs as they are split if `candidate` is the culprit.
    pub(super) fn of(&self, candidate: usize) -> Split {
        let with = self.with[candidate];
        let without = self.total.without(with);
        let (bad, good) = if self.fixed { (without, with) } else { (with, without) };
        Split { bad, good }
    }
}

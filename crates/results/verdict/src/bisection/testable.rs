//! What cannot be tested: how near it one may hope to test, and whom it hides.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use super::order::{Axis, State};

/// What is known of whether the state after each candidate can be tested.
#[derive(Debug, Clone)]
pub(super) struct Testable {
    known: Vec<Option<bool>>,
    broken: usize,
}

impl Testable {
    pub(super) fn new(count: usize) -> Self {
        Self { known: vec![None; count], broken: 0 }
    }

    pub(super) fn set(&mut self, candidate: usize, testable: bool) {
        self.known[candidate] = Some(testable);
        self.broken = self.known.iter().filter(|&&known| known == Some(false)).count();
    }

    /// Whether it was seen that `state` cannot be tested.
    pub(super) fn is_broken(&self, state: State) -> bool {
        matches!(state, State::After(at) if self.known[at] == Some(false))
    }

    /// Whether `state` was tested, as both ends were before there was anything to search.
    pub(super) fn is_proven(&self, state: State) -> bool {
        !matches!(state, State::After(at) if self.known[at] != Some(true))
    }

    /// How much one may hope that the state after each candidate can be tested, as a fraction of 1.
    ///
    /// What breaks a build is seldom fixed at once, and nobody knows after how many candidates. If each length is as
    /// likely as its double, a stretch of which `k` are known goes on for `d` more with a chance of k / (d + k). So the
    /// search jumps away from what failed, farther each time. A state that was tested ends the stretch.
    pub(super) fn hope(&self, axis: &Axis) -> Vec<f64> {
        if self.broken == 0 {
            return vec![1.0; self.known.len()];
        }
        let mut distance = vec![None; self.known.len()];
        let mut open: VecDeque<usize> = VecDeque::new();
        for (at, _) in self.known.iter().enumerate().filter(|&(_, &known)| known == Some(false)) {
            distance[at] = Some(0);
            open.push_back(at);
        }
        while let Some(at) = open.pop_front() {
            let farther = distance[at].map(|steps: usize| steps + 1);
            axis.neighbours(at, |next| {
                if distance[next].is_none() && self.known[next].is_none() {
                    distance[next] = farther;
                    open.push_back(next);
                }
            });
        }
        let hope =
            |steps: Option<usize>| steps.map_or(1.0, |steps| steps as f64 / (steps + self.broken) as f64);
        distance.into_iter().map(hope).collect()
    }

    /// The candidates that no test can tell from others, each with the first of those.
    ///
    /// Two of which both can be tested are told apart by one of these tests. So each such set consists of candidates
    /// that cannot, and perhaps of the first testable one that stands on them.
    pub(super) fn alike(&self, axis: &Axis) -> Vec<(usize, usize)> {
        let mut sets: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
        for candidate in (0..self.known.len()).filter(|&at| self.is_broken(State::After(at))) {
            sets.entry(self.testable_with(axis, candidate)).or_default().push(candidate);
        }
        let mut alike = Vec::new();
        for (tests, mut set) in sets {
            set.extend(tests.first().filter(|&&first| self.testable_with(axis, first) == tests));
            alike.extend(set.iter().map(|&candidate| (candidate, set[0])));
        }
        alike
    }

    /// The candidates whose state can be tested and contains `candidate`.
    fn testable_with(&self, axis: &Axis, candidate: usize) -> Vec<usize> {
        let is_test =
            |&at: &usize| !self.is_broken(State::After(at)) && axis.contains(State::After(at), candidate);
        (candidate..self.known.len()).filter(is_test).collect()
    }
}

//! What was seen, and which candidates it tells apart.

use std::collections::BTreeMap;

use super::order::{Axis, State};
use super::trial::{Boot, Trial};
use crate::nested::{Alarms, BootRuns, Cell, IMPOSSIBLE, alarms, failures};

/// What was seen at all states.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    pub(super) alarms: Alarms,
    seen: Vec<Seen>,
    /// The group of each candidate: no state that was run tells candidates of one group apart.
    group: Vec<usize>,
    /// Of each group, whether its candidates are in each state that was run.
    contained: Vec<Vec<bool>>,
    /// The failure is in the states without the culprit.
    fixed: bool,
}

/// What was seen at a state.
#[derive(Debug, Clone)]
struct Seen {
    state: State,
    boots: Vec<BootRuns>,
    /// The logarithm of its chance for each cell, if the state has the failure.
    bad: Vec<f64>,
    /// The same if it does not have it.
    good: Vec<f64>,
}

/// The logarithms of the chance of all that was seen, for each cell.
#[derive(Debug, Clone)]
pub(super) struct LnChances {
    /// Of the runs of states that have the failure.
    pub(super) bad: Vec<f64>,
    /// Of the runs of states that do not have it.
    pub(super) good: Vec<f64>,
}

impl Evidence {
    pub(super) fn new(count: usize, alarms: Alarms, fixed: bool) -> Self {
        Self { alarms, seen: Vec::new(), group: vec![0; count], contained: vec![Vec::new()], fixed }
    }

    /// Counts runs of a state, in a new boot or in the last one that it had.
    pub(super) fn observe(&mut self, axis: &Axis, Trial { state, boot }: Trial, runs: BootRuns) {
        let at = match self.seen.iter().position(|seen| seen.state == state) {
            Some(at) => at,
            None => self.begin(axis, state),
        };
        let alarms = alarms(self.alarms);
        let seen = &mut self.seen[at];
        let mut last = match boot {
            Boot::Last => seen.boots.pop().unwrap_or_default(),
            Boot::New => BootRuns::default(),
        };
        add(&mut seen.bad, failures(), last, runs);
        add(&mut seen.good, alarms, last, runs);
        last.add(runs);
        seen.boots.push(last);
    }

    /// A state that was not run yet: it may tell candidates apart that were not.
    fn begin(&mut self, axis: &Axis, state: State) -> usize {
        let (bad, good) = (vec![0.0; failures().len()], vec![0.0; alarms(self.alarms).len()]);
        self.seen.push(Seen { state, boots: Vec::new(), bad, good });
        let mut numbers = BTreeMap::new();
        let mut contained = Vec::new();
        for (candidate, group) in self.group.iter_mut().enumerate() {
            let is_in = axis.contains(state, candidate);
            *group = *numbers.entry((*group, is_in)).or_insert_with_key(|&(before, is_in)| {
                let mut row = self.contained[before].clone();
                row.push(is_in);
                contained.push(row);
                contained.len() - 1
            });
        }
        self.contained = contained;
        self.seen.len() - 1
    }

    /// The group of each candidate.
    pub(super) fn group(&self) -> &[usize] {
        &self.group
    }

    /// States that were run.
    pub(super) fn states(&self) -> impl Iterator<Item = State> {
        self.seen.iter().map(|seen| seen.state)
    }

    /// The runs of a state's last boot.
    pub(super) fn last_boot(&self, state: State) -> Option<BootRuns> {
        self.seen.iter().find(|seen| seen.state == state)?.boots.last().copied()
    }

    /// The boots of all states that have the failure if the candidates of a group are the culprit.
    pub(super) fn bad_boots(&self, group: usize) -> Vec<BootRuns> {
        let bad = self.seen.iter().enumerate().filter(|&(at, _)| self.is_bad(group, at));
        bad.flat_map(|(_, seen)| &seen.boots).copied().collect()
    }

    /// Whether the state of this number has the failure if the candidates of a group are the culprit.
    fn is_bad(&self, group: usize, at: usize) -> bool {
        self.contained[group][at] != self.fixed
    }

    /// The same of a state that was run.
    pub(super) fn has_failure(&self, group: usize, state: State) -> Option<bool> {
        let at = self.seen.iter().position(|seen| seen.state == state)?;
        Some(self.is_bad(group, at))
    }

    /// What was seen, if the candidates of each group are the culprit.
    pub(super) fn of_groups(&self) -> Vec<LnChances> {
        let mut before: Option<(usize, LnChances)> = None;
        let mut of_group = |group: usize| {
            // Neighbours differ by one state: what is common to both is not added up again.
            let chances = match before.take() {
                Some((last, chances)) => self.changed(last, group, chances),
                None => self.summed(group),
            };
            before = Some((group, chances.clone()));
            chances
        };
        (0..self.contained.len()).map(&mut of_group).collect()
    }

    fn summed(&self, group: usize) -> LnChances {
        let mut sum =
            LnChances { bad: vec![0.0; failures().len()], good: vec![0.0; alarms(self.alarms).len()] };
        for (at, seen) in self.seen.iter().enumerate() {
            match self.is_bad(group, at) {
                true => change(&mut sum.bad, &seen.bad, 1.0),
                false => change(&mut sum.good, &seen.good, 1.0),
            }
        }
        sum
    }

    fn changed(&self, from: usize, to: usize, mut sum: LnChances) -> LnChances {
        for (at, seen) in self.seen.iter().enumerate() {
            let sign = match (self.is_bad(from, at), self.is_bad(to, at)) {
                (false, true) => 1.0,
                (true, false) => -1.0,
                _ => continue,
            };
            change(&mut sum.bad, &seen.bad, sign);
            change(&mut sum.good, &seen.good, -sign);
        }
        sum
    }

    /// What was seen at each state on its own, as one that has the failure and as one that does not.
    pub(super) fn apart(&self) -> impl Iterator<Item = (&[f64], &[f64])> {
        self.seen.iter().map(|seen| (&seen.bad[..], &seen.good[..]))
    }
}

fn add(ln: &mut [f64], cells: &[Cell], before: BootRuns, runs: BootRuns) {
    // What is impossible many times over would drown what is added to it.
    let add = |(ln, cell): (&mut f64, &Cell)| *ln = (*ln + cell.ln_chance(before, runs)).max(IMPOSSIBLE);
    ln.iter_mut().zip(cells).for_each(add);
}

fn change(sum: &mut [f64], of: &[f64], sign: f64) {
    sum.iter_mut().zip(of).for_each(|(sum, of)| *sum += sign * of);
}

//! Events of each repetition, where the plugin counted nothing else.

use std::collections::BTreeMap;

use protocol::measure::{EMPTY_REPETITIONS, WARM_UP};

use super::events::{EVENTS, Happened};

/// How often events happened in one job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counted {
    /// Of each repetition, the empty ones and those that warm up included, how often each event happened.
    pub repetitions: Vec<Vec<u64>>,
}

impl Counted {
    /// How often each of [`EVENTS`] happened in a repetition that cost `wanted`, and in the others, when the repetitions that
    /// count cost so much. If none cost `wanted`, the most frequent cost stands for it, and of equals the cheapest.
    ///
    /// Of repetitions with the same cost the first one counts. Nothing if what was counted has other repetitions.
    #[must_use]
    pub fn happened(&self, costs: &[u64], wanted: u64) -> Option<Vec<Happened>> {
        let counting = self.repetitions.get(EMPTY_REPETITIONS + WARM_UP..)?;
        if counting.len() != costs.len() || counting.iter().any(|counts| counts.len() < EVENTS.len()) {
            return None;
        }
        let mut by_cost = BTreeMap::<u64, (usize, &[u64])>::new();
        for (&cost, counts) in costs.iter().zip(counting) {
            by_cost.entry(cost).or_insert((0, counts)).0 += 1;
        }
        let most_frequent =
            || by_cost.iter().rev().max_by_key(|(_, (times, _))| *times).map(|(_, found)| found);
        let (_, typical) = *by_cost.get(&wanted).or_else(most_frequent)?;
        let happened = |event: usize| {
            let counts = by_cost.values().map(|(_, counts)| counts[event]);
            let (min, max) = (counts.clone().min()?, counts.max()?);
            Some(Happened { min, typical: typical[event], max })
        };
        (0..EVENTS.len()).map(happened).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Repetitions in which the first event happened so often, behind those that do not count.
    fn counted(first: &[u64]) -> Counted {
        let counts = |first| {
            let mut counts = vec![0; EVENTS.len()];
            counts[0] = first;
            counts
        };
        let others = std::iter::repeat_n(99, EMPTY_REPETITIONS + WARM_UP);
        Counted { repetitions: others.chain(first.iter().copied()).map(counts).collect() }
    }

    fn first(counts: &[u64], costs: &[u64], wanted: u64) -> Option<(u64, u64, u64)> {
        let all = counted(counts).happened(costs, wanted)?;
        Some((all[0].min, all[0].typical, all[0].max))
    }

    #[test]
    fn a_repetition_of_the_wanted_cost_is_typical() {
        assert_eq!(first(&[1, 2, 3], &[10, 20, 30], 20), Some((1, 2, 3)));
        assert_eq!(first(&[4, 5, 4], &[10, 10, 30], 10), Some((4, 4, 4)));
    }

    #[test]
    fn without_one_it_is_the_most_frequent_and_the_cheapest_of_these() {
        assert_eq!(first(&[1, 2, 2, 3, 3], &[10, 20, 20, 30, 30], 25), Some((1, 2, 3)));
    }

    #[test]
    fn what_does_not_belong_to_the_costs_says_nothing() {
        assert_eq!(first(&[1, 2], &[10], 10), None);
        assert_eq!(first(&[], &[], 10), None);
        assert_eq!(Counted::default().happened(&[], 0), None);
        let short = Counted { repetitions: vec![vec![1]; EMPTY_REPETITIONS + WARM_UP + 1] };
        assert_eq!(short.happened(&[10], 10), None);
    }
}

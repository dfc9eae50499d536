//! All Runs of one case.

use std::ops::Range;

use judge::outcome::Outcome;
use judge::repeats::{repeat, standing};
use judge::run::{Run, StoppingRule};

use crate::options::Repeats;

/// The way of one case through its Runs.
#[derive(Debug)]
pub(super) struct Repetition {
    repeats: Repeats,
    runs: Vec<Run>,
    /// Runs that have been ordered.
    ordered: u32,
}

impl Repetition {
    pub(super) fn new(repeats: Repeats) -> Self {
        Self { repeats, runs: Vec::new(), ordered: 0 }
    }

    /// The numbers of the Runs that are to be made now, where `jobs` can be made at a time.
    pub(super) fn order(&mut self, jobs: usize) -> Range<u32> {
        let made = u32::try_from(self.runs.len()).unwrap_or(u32::MAX);
        let wanted = match self.repeats {
            Repeats::OnFailure(more) => match self.runs.first() {
                Some(first) if first.outcome.is_failure() => more.saturating_add(1),
                _ => 1,
            },
            Repeats::Times(times) => times,
            Repeats::UntilFailure(_) if self.runs.iter().any(|run| run.outcome != Outcome::Pass) => 0,
            Repeats::UntilFailure(most) => {
                let ahead = made.saturating_add(u32::try_from(jobs).unwrap_or(u32::MAX));
                ahead.min(most.unwrap_or(u32::MAX))
            }
        };
        let first = self.ordered;
        self.ordered = first.max(wanted);
        first..self.ordered
    }

    /// Whether the next Run decides if there are going to be more.
    pub(super) fn is_undecided(&self) -> bool {
        matches!(self.repeats, Repeats::OnFailure(1..)) && self.runs.is_empty()
    }

    /// Makes no more Runs because of a failure.
    pub(super) fn do_not_repeat(&mut self) {
        self.repeats = Repeats::OnFailure(0);
    }

    /// Takes in a Run; gives those that are to be told as one of several.
    pub(super) fn take(&mut self, run: Run) -> &[Run] {
        self.runs.push(run);
        let last = self.runs.len() - 1;
        match self.repeats {
            // Only now is it known that there are going to be more.
            Repeats::OnFailure(0) | Repeats::Times(1) => &[],
            Repeats::OnFailure(_) if last == 0 && !self.runs[0].outcome.is_failure() => &[],
            _ => &self.runs[last..],
        }
    }

    /// Whether all that was ordered is there.
    pub(super) fn is_complete(&self) -> bool {
        self.runs.len() >= self.ordered as usize
    }

    /// The Run that [stands](standing) for all. Nothing if there was none.
    pub(super) fn conclude(mut self) -> Option<Run> {
        let is_cut_short = !self.is_complete();
        let several = self.runs.len() > 1 || is_cut_short || matches!(self.repeats, Repeats::UntilFailure(_));
        let repeats = if several { self.runs.iter().map(repeat).collect() } else { Vec::new() };
        let stands = standing(&self.runs);
        let stopping_rule = self.stopping_rule();
        (!self.runs.is_empty()).then(|| Run { repeats, stopping_rule, ..self.runs.swap_remove(stands) })
    }

    fn stopping_rule(&self) -> StoppingRule {
        match self.repeats {
            Repeats::Times(_) | Repeats::OnFailure(0) => StoppingRule::Fixed,
            Repeats::UntilFailure(_) => StoppingRule::FirstFailure,
            Repeats::OnFailure(_) if self.runs.len() > 1 => StoppingRule::Retry,
            Repeats::OnFailure(_) => StoppingRule::Fixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays a case whose Runs end like this; gives what was ordered, what was told, and the conclusion.
    fn play(repeats: Repeats, jobs: usize, outcomes: &[Outcome]) -> (Vec<u32>, usize, Run) {
        let mut repetition = Repetition::new(repeats);
        let count = |range: Range<u32>| range.end - range.start;
        let mut ordered = vec![count(repetition.order(jobs))];
        let mut reported = 0;
        let mut number = 0;
        let mut waiting = ordered[0];
        while waiting > 0 {
            let outcome = outcomes.get(number).copied().unwrap_or(Outcome::Pass);
            number += 1;
            let clone = u32::try_from(number).unwrap();
            reported += repetition.take(Run { outcome, clone, ..Run::unstarted() }).len();
            let more = count(repetition.order(jobs));
            ordered.push(more);
            waiting = waiting - 1 + more;
            assert_eq!(repetition.is_complete(), waiting == 0);
        }
        (ordered, reported, repetition.conclude().unwrap())
    }

    #[test]
    fn what_passes_is_run_once() {
        let (ordered, reported, run) = play(Repeats::OnFailure(3), 2, &[]);
        assert_eq!((ordered, reported), (vec![1, 0], 0));
        assert!(run.repeats.is_empty());
    }

    #[test]
    fn what_fails_is_run_again_and_every_run_is_reported() {
        let (ordered, reported, run) = play(Repeats::OnFailure(3), 2, &[Outcome::Crash]);
        assert_eq!((ordered, reported), (vec![1, 3, 0, 0, 0], 4));
        assert_eq!((run.outcome, run.clone, run.repeats.len()), (Outcome::Crash, 1, 4));
        let (ordered, reported, run) = play(Repeats::OnFailure(0), 2, &[Outcome::Fail]);
        assert_eq!((ordered, reported, run.repeats.len()), (vec![1, 0], 0, 0));
    }

    #[test]
    fn what_is_broken_is_not_run_again() {
        assert_eq!(play(Repeats::OnFailure(3), 2, &[Outcome::Broken]).0, [1, 0]);
    }

    #[test]
    fn the_first_failure_stands_for_all() {
        let outcomes = [Outcome::Pass, Outcome::Broken, Outcome::Hang, Outcome::Crash];
        let (ordered, reported, run) = play(Repeats::Times(5), 2, &outcomes);
        assert_eq!((ordered[0], reported), (5, 5));
        assert_eq!((run.outcome, run.clone), (Outcome::Hang, 3));
        let outcomes: Vec<_> = run.repeats.iter().map(|repeat| repeat.outcome).collect();
        assert_eq!(outcomes[..3], [Outcome::Pass, Outcome::Broken, Outcome::Hang]);
    }

    #[test]
    fn until_it_fails_as_many_are_on_their_way_as_there_are_jobs() {
        let outcomes = [Outcome::Pass, Outcome::Pass, Outcome::Pass, Outcome::Fail];
        let (ordered, reported, run) = play(Repeats::UntilFailure(None), 2, &outcomes);
        assert_eq!(ordered, [2, 1, 1, 1, 0, 0]);
        assert_eq!((reported, run.clone, run.repeats.len()), (5, 4, 5), "the fifth was on its way");
        let (ordered, _, run) = play(Repeats::UntilFailure(Some(3)), 2, &[]);
        assert_eq!((ordered.iter().sum::<u32>(), run.outcome), (3, Outcome::Pass));
    }
}

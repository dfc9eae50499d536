//! Several Runs of one case as one.

use crate::outcome::Outcome;
use crate::run::{Repeat, Run};

/// Which of several Runs of a case stands for all: the first that accuses the kernel, else the first that did not pass, else
/// the first.
#[must_use]
pub fn standing(runs: &[Run]) -> usize {
    let first = |of: fn(&Run) -> bool| runs.iter().position(of);
    first(|run| run.outcome.is_failure())
        .or_else(|| first(|run| run.outcome != Outcome::Pass))
        .unwrap_or_default()
}

/// What is kept of a Run beside the one that stands for all.
#[must_use]
pub fn repeat(run: &Run) -> Repeat {
    let Run { outcome, duration, boot, clone, seed, .. } = *run;
    Repeat { outcome, reason: run.reason.clone(), duration, boot, clone, seed }
}

/// The Runs of one case that several sessions made, as if one had: its boots and clones are those of all sessions, one after
/// the other; and whose Run it is that stands for all. `None` if there are none.
#[must_use]
pub fn joined(sessions: Vec<Run>) -> Option<(usize, Run)> {
    let (mut runs, mut repeats) = (Vec::with_capacity(sessions.len()), Vec::new());
    let (mut boots, mut clones) = (0, 0);
    for mut run in sessions {
        let mut own = std::mem::take(&mut run.repeats);
        if own.is_empty() {
            own.push(repeat(&run));
        }
        let moved = |number: u32, by: u32| if number == 0 { 0 } else { number.saturating_add(by) };
        (run.boot, run.clone) = (moved(run.boot, boots), moved(run.clone, clones));
        for repeat in &mut own {
            (repeat.boot, repeat.clone) = (moved(repeat.boot, boots), moved(repeat.clone, clones));
        }
        boots = own.iter().map(|repeat| repeat.boot).fold(boots, u32::max);
        clones = own.iter().map(|repeat| repeat.clone).fold(clones, u32::max);
        repeats.extend(own);
        runs.push(run);
    }
    let stands = standing(&runs);
    if repeats.len() < 2 {
        repeats.clear();
    }
    (!runs.is_empty()).then(|| (stands, Run { repeats, ..runs.swap_remove(stands) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(outcome: Outcome, boot: u32, clone: u32) -> Run {
        Run { outcome, boot, clone, ..Run::unstarted() }
    }

    /// A session that ran the case in these boots and clones.
    fn session(outcome: Outcome, places: &[(u32, u32)]) -> Run {
        let repeats = places.iter().map(|(boot, clone)| repeat(&run(outcome, *boot, *clone))).collect();
        Run { repeats, ..run(outcome, places[0].0, places[0].1) }
    }

    #[test]
    fn boots_and_clones_of_all_sessions_are_apart() {
        let sessions = vec![
            session(Outcome::Pass, &[(1, 1), (1, 2)]),
            session(Outcome::Hang, &[(1, 1), (2, 2), (1, 3)]),
            run(Outcome::Pass, 1, 1),
        ];
        let (stands, joined) = joined(sessions).expect("there are some");
        assert_eq!((stands, joined.outcome, joined.boot, joined.clone), (1, Outcome::Hang, 2, 3));
        let places: Vec<_> = joined.repeats.iter().map(|repeat| (repeat.boot, repeat.clone)).collect();
        assert_eq!(places, [(1, 1), (1, 2), (2, 3), (3, 4), (2, 5), (4, 6)]);
    }

    #[test]
    fn what_never_ran_has_no_boot() {
        let sessions = vec![run(Outcome::Broken, 0, 0), run(Outcome::Pass, 1, 1), run(Outcome::Broken, 0, 0)];
        let (_, joined) = joined(sessions).expect("there are some");
        let places: Vec<_> = joined.repeats.iter().map(|repeat| (repeat.boot, repeat.clone)).collect();
        assert_eq!((joined.outcome, places), (Outcome::Broken, vec![(0, 0), (1, 1), (0, 0)]));
    }

    #[test]
    fn one_run_stays_as_it_is() {
        let one = run(Outcome::Pass, 1, 1);
        assert_eq!(joined(vec![one.clone()]), Some((0, one)));
        assert_eq!(joined(Vec::new()), None);
    }

    #[test]
    fn a_failure_of_the_kernel_stands_before_what_was_broken() {
        let of = |outcomes: &[Outcome]| {
            standing(&outcomes.iter().map(|outcome| run(*outcome, 1, 1)).collect::<Vec<_>>())
        };
        assert_eq!(of(&[Outcome::Pass, Outcome::Broken, Outcome::Crash, Outcome::Fail]), 2);
        assert_eq!(of(&[Outcome::Pass, Outcome::Skip]), 1);
        assert_eq!(of(&[]), 0);
    }
}

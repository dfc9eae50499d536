//! Whether a case fails each time, now and then, or never.

use std::collections::{BTreeMap, HashSet};

use judge::Outcome;
use judge::run::Repeat;
use judge::signature::Way;

use crate::nested::BootRuns;

/// What several Runs of a case say together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consistency {
    /// All passed.
    Steady,
    /// All failed, in the same way.
    Consistent,
    /// All failed, in this many different ways.
    Mixed(usize),
    /// Some failed and some passed.
    Intermittent,
}

impl Consistency {
    /// What `repeats` say; nothing if none of them says anything about the kernel.
    ///
    /// A skipped or broken Run says nothing about the kernel. It is left out, here and in [`boots`]: counted as a
    /// failure it would accuse, and counted as a pass it would make a failure look rarer than it is.
    #[must_use]
    pub fn of(repeats: &[Repeat]) -> Option<Self> {
        let BootRuns { failures, passes } = boots(repeats).into_iter().sum();
        Some(match (failures, passes, ways(repeats)) {
            (0, 0, _) => return None,
            (0, _, _) => Self::Steady,
            (_, 1.., _) => Self::Intermittent,
            (_, 0, 1) => Self::Consistent,
            (_, 0, ways) => Self::Mixed(ways),
        })
    }
}

/// How often the kernel was at fault, in each boot that says something about it.
#[must_use]
pub fn boots(repeats: &[Repeat]) -> Vec<BootRuns> {
    let mut boots: BTreeMap<u32, BootRuns> = BTreeMap::new();
    for repeat in repeats {
        let fails = match repeat.outcome {
            Outcome::Pass => false,
            Outcome::Fail | Outcome::Crash | Outcome::Hang => true,
            Outcome::Skip | Outcome::Broken => continue,
        };
        boots.entry(repeat.boot).or_default().add(BootRuns::one(fails));
    }
    boots.into_values().collect()
}

/// In how many ways they failed.
fn ways(repeats: &[Repeat]) -> usize {
    let failed = repeats.iter().filter(|repeat| repeat.outcome.is_failure());
    failed.map(|repeat| Way::of(repeat.outcome, &repeat.reason)).collect::<HashSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use Outcome::{Broken, Crash, Fail, Hang, Pass, Skip};
    use proptest::prelude::*;

    use super::*;

    fn repeat(outcome: Outcome, reason: &str) -> Repeat {
        Repeat { outcome, reason: reason.into(), duration: Duration::ZERO, boot: 1, clone: 0, seed: 0 }
    }

    fn conclude(repeats: &[(Outcome, &str)]) -> Option<Consistency> {
        Consistency::of(&repeats.iter().map(|(outcome, reason)| repeat(*outcome, reason)).collect::<Vec<_>>())
    }

    #[test]
    fn what_several_runs_say_together() {
        let fail = (Fail, "offset: is 3, expected 4096");
        let cases = [
            (vec![(Pass, ""), (Pass, "")], Some(Consistency::Steady)),
            (vec![fail, (Fail, "offset: is 7, expected 4096"), fail], Some(Consistency::Consistent)),
            (vec![fail], Some(Consistency::Consistent)),
            (
                vec![fail, (Crash, "WARNING in foo"), (Fail, "WARNING in foo"), fail],
                Some(Consistency::Mixed(3)),
            ),
            (vec![(Pass, ""), fail], Some(Consistency::Intermittent)),
            (vec![(Hang, "silent"), (Crash, "panic"), (Pass, "")], Some(Consistency::Intermittent)),
            (vec![], None),
        ];
        for (repeats, expected) in cases {
            assert_eq!(conclude(&repeats), expected, "{repeats:?}");
        }
    }

    #[test]
    fn what_says_nothing_about_the_kernel_does_not_count() {
        let (broken, skip) = ((Broken, "QEMU ended"), (Skip, "no memory"));
        assert_eq!(conclude(&[broken, skip]), None);
        assert_eq!(conclude(&[broken, (Pass, ""), skip]), Some(Consistency::Steady));
        assert_eq!(conclude(&[(Crash, "panic"), broken, skip]), Some(Consistency::Consistent));
        let repeats =
            [broken, skip, (Pass, ""), (Hang, "silent")].map(|(outcome, reason)| repeat(outcome, reason));
        assert_eq!(boots(&repeats), [BootRuns { failures: 1, passes: 1 }]);
    }

    #[test]
    fn runs_are_counted_by_boot() {
        let of = |boot, outcome| Repeat { boot, ..repeat(outcome, "") };
        let repeats = [of(2, Pass), of(1, Fail), of(2, Fail), of(3, Broken), of(1, Hang)];
        let counts = |failures, passes| BootRuns { failures, passes };
        assert_eq!(boots(&repeats), [counts(2, 0), counts(1, 1)]);
        assert_eq!(boots(&repeats).into_iter().sum::<BootRuns>(), counts(3, 1));
    }

    proptest! {
        #[test]
        fn consistency_and_rate_agree(outcomes in prop::collection::vec(prop::sample::select(Outcome::ALL.to_vec()), 0..9)) {
            let repeats: Vec<_> = outcomes.iter().map(|&outcome| repeat(outcome, "why 1")).collect();
            let BootRuns { failures, passes } = boots(&repeats).into_iter().sum();
            let consistent = match Consistency::of(&repeats) {
                None => failures == 0 && passes == 0,
                Some(Consistency::Steady) => failures == 0 && passes > 0,
                Some(Consistency::Consistent) => failures > 0 && passes == 0,
                Some(Consistency::Mixed(ways)) => failures > 1 && passes == 0 && (2..=3).contains(&ways),
                Some(Consistency::Intermittent) => failures > 0 && passes > 0,
            };
            prop_assert!(consistent);
        }
    }
}

//! Whether a case fails each time, now and then, or never.

use std::collections::HashSet;

use judge::Outcome;
use judge::run::Repeat;
use judge::signature::Way;

use crate::rate::Rate;

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
    /// A skipped or broken Run says nothing about the kernel. It is left out, here and in [`rate`]: counted as a
    /// failure it would accuse, and counted as a pass it would make a failure look rarer than it is.
    #[must_use]
    pub fn of(repeats: &[Repeat]) -> Option<Self> {
        let Rate { failures, passes } = rate(repeats);
        Some(match (failures, passes, ways(repeats)) {
            (0, 0, _) => return None,
            (0, _, _) => Self::Steady,
            (_, 1.., _) => Self::Intermittent,
            (_, 0, 1) => Self::Consistent,
            (_, 0, ways) => Self::Mixed(ways),
        })
    }
}

/// How often the kernel was at fault.
#[must_use]
pub fn rate(repeats: &[Repeat]) -> Rate {
    let mut rate = Rate::default();
    for repeat in repeats {
        match repeat.outcome {
            Outcome::Pass => rate.passes += 1,
            Outcome::Fail | Outcome::Crash | Outcome::Hang => rate.failures += 1,
            Outcome::Skip | Outcome::Broken => {}
        }
    }
    rate
}

/// In how many ways they failed.
fn ways(repeats: &[Repeat]) -> usize {
    let failed = repeats.iter().filter(|repeat| repeat.outcome.accuses_kernel());
    failed.map(|repeat| Way::of(repeat.outcome, &repeat.reason)).collect::<HashSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use Outcome::{Broken, Crash, Fail, Hang, Pass, Skip};
    use proptest::prelude::*;

    use super::*;

    fn repeat(outcome: Outcome, reason: &str) -> Repeat {
        Repeat { outcome, reason: reason.into(), duration: Duration::ZERO, clone: 0, seed: 0 }
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
        assert_eq!(rate(&repeats), Rate { failures: 1, passes: 1 });
    }

    proptest! {
        #[test]
        fn consistency_and_rate_agree(outcomes in prop::collection::vec(prop::sample::select(Outcome::ALL.to_vec()), 0..9)) {
            let repeats: Vec<_> = outcomes.iter().map(|&outcome| repeat(outcome, "why 1")).collect();
            let Rate { failures, passes } = rate(&repeats);
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

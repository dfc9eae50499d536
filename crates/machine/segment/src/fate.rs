//! What becomes of the n-th frame of a link: a pure function of the link's seed, that number and the impairment.
//!
//! The fate of a frame therefore depends neither on other links nor on when the impairment was set.

use std::time::Duration;

use crate::impairment::Impairment;
use crate::random;

/// What is drawn for each frame, whether it is needed or not.
#[derive(Clone, Copy)]
enum Draw {
    Loss,
    Duplicate,
    Corrupt,
    Bit,
    Reorder,
    Jitter,
    CopyReorder,
    CopyJitter,
}

/// Random numbers for each frame.
const DRAWS: u64 = 8;

/// What becomes of one frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fate {
    /// The delay of the frame; none if it is lost.
    pub delay: Option<Duration>,
    /// The delay of its copy; none if there is no copy.
    pub copy: Option<Duration>,
    /// A random number that chooses the bit that is wrong, if one is.
    pub corrupt: Option<u64>,
    /// The frame or its copy is not delayed although the link delays.
    pub reordered: bool,
}

impl Fate {
    /// The fate of the `number`-th frame, from 0, of a link with this `seed`.
    #[must_use]
    pub fn of(impairment: &Impairment, seed: u64, number: u64) -> Self {
        let first = number.wrapping_mul(DRAWS);
        let draw = |what: Draw| random::number(seed, first.wrapping_add(what as u64));
        let lost = impairment.loss.happens(draw(Draw::Loss));
        let doubled = impairment.duplicate.happens(draw(Draw::Duplicate));
        if lost && !doubled {
            return Self::default();
        }
        let (delay, overtakes) = self::delay(impairment, draw(Draw::Reorder), draw(Draw::Jitter));
        // As netem_enqueue() of net/sched/sch_netem.c has it: a loss takes one of the two.
        let copy = (!lost && doubled)
            .then(|| self::delay(impairment, draw(Draw::CopyReorder), draw(Draw::CopyJitter)));
        Self {
            delay: Some(delay),
            copy: copy.map(|(delay, _)| delay),
            corrupt: impairment.corrupt.happens(draw(Draw::Corrupt)).then(|| draw(Draw::Bit)),
            reordered: overtakes || copy.is_some_and(|(_, overtakes)| overtakes),
        }
    }
}

/// How late a frame is, and whether it overtakes.
fn delay(impairment: &Impairment, reorder: u64, jitter: u64) -> (Duration, bool) {
    if impairment.reorder.happens(reorder) {
        return (Duration::ZERO, true);
    }
    let range = impairment.jitter.as_nanos().saturating_mul(2);
    // The product of 64 random bits and the range, without its lower 64 bits, is below the range.
    let nanos = u64::try_from((range * u128::from(jitter)) >> 64).unwrap_or_default();
    let earliest = impairment.delay.saturating_sub(impairment.jitter);
    (earliest.saturating_add(Duration::from_nanos(nanos)), false)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::impairment::Probability;

    fn chance(value: f64) -> Probability {
        Probability::new(value).unwrap()
    }

    fn count(impairment: &Impairment, is: impl Fn(&Fate) -> bool) -> usize {
        (0..10_000).filter(|number| is(&Fate::of(impairment, 7, *number))).count()
    }

    #[test]
    fn what_is_asked_for_happens_as_often_as_asked() {
        let none = Impairment::default();
        let delay = Duration::from_millis(10);
        let of = |chances: [f64; 4]| {
            let [loss, duplicate, reorder, corrupt] = chances.map(chance);
            Impairment { delay, loss, duplicate, reorder, corrupt, ..none.clone() }
        };
        let near = |found: usize, wanted: usize| found.abs_diff(wanted) < 200;
        assert!(near(count(&of([0.1, 0.0, 0.0, 0.0]), |fate| fate.delay.is_none()), 1000));
        assert!(near(count(&of([0.0, 0.2, 0.0, 0.0]), |fate| fate.copy.is_some()), 2000));
        assert!(near(count(&of([0.0, 0.0, 0.3, 0.0]), |fate| fate.reordered), 3000));
        assert!(near(count(&of([0.0, 0.0, 0.0, 0.4]), |fate| fate.corrupt.is_some()), 4000));
        assert_eq!(
            count(&of([1.0, 1.0, 0.0, 0.0]), |fate| fate.delay.is_some() && fate.copy.is_none()),
            10_000
        );
        assert_eq!(
            count(&none, |fate| *fate == Fate { delay: Some(Duration::ZERO), ..Fate::default() }),
            10_000
        );
    }

    #[test]
    fn one_impairment_changes_nothing_of_another() {
        let loss = Impairment { loss: chance(0.5), ..Impairment::default() };
        let more = Impairment {
            corrupt: chance(0.5),
            delay: Duration::from_secs(1),
            jitter: Duration::from_secs(1),
            ..loss.clone()
        };
        for number in 0..1000 {
            let [fate, other] = [&loss, &more].map(|impairment| Fate::of(impairment, 3, number));
            assert_eq!(fate.delay.is_none(), other.delay.is_none(), "{number}");
        }
    }

    proptest! {
        #[test]
        fn delays_stay_within_the_jitter(seed: u64, number: u64, delay in 0u64..60_000, part in 0.0..=1.0f64) {
            let delay = Duration::from_millis(delay);
            let jitter = delay.mul_f64(part);
            let impairment = Impairment { delay, jitter, duplicate: Probability::ALWAYS, ..Impairment::default() };
            let fate = Fate::of(&impairment, seed, number);
            for found in [fate.delay, fate.copy] {
                prop_assert!(found.is_some_and(|found| found >= delay - jitter && found <= delay + jitter));
            }
            prop_assert_eq!(fate, Fate::of(&impairment, seed, number));
        }
    }
}

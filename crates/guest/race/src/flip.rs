//! The delay at which the order of the sections flips: below it B comes too early, above it too late.
//!
//! It is found by bisection. Near the flip the answers of two equal rounds differ, so no interval is ever given up: the
//! step is halved when the answer changes, and doubled when it does not change for long.

/// After each so many equal answers the step is doubled.
const STUBBORN: u32 = 3;

/// The search for a flip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flip {
    /// Where it is believed to be.
    at: i64,
    /// Nothing before the first answer.
    step: Option<i64>,
    was_early: bool,
    /// Equal answers in a row.
    same: u32,
}

/// How far the search goes, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The smallest step: what the noise of the delays lets one tell.
    pub(crate) step: i64,
    /// The largest delay to either side.
    pub(crate) delay: i64,
}

impl Flip {
    /// Where none is known.
    pub(crate) const UNKNOWN: Self = Self { at: 0, step: None, was_early: false, same: 0 };

    /// The delay at which it is believed to be: 0 if nothing is known.
    pub(crate) fn at(&self) -> i64 {
        self.at
    }

    /// How far off that may be; nothing if nothing is known.
    pub(crate) fn step(&self) -> Option<i64> {
        self.step
    }

    /// With the delay at which it was believed to be B came too early, or else too late.
    pub(crate) fn answer(&mut self, early: bool, bounds: Bounds) {
        let largest = (bounds.delay / 4).max(1);
        let before = self.step.unwrap_or(largest);
        let has_changed = self.step.is_some() && early != self.was_early;
        self.same = if has_changed { 1 } else { self.same.saturating_add(1) };
        let step = match (has_changed, self.same.is_multiple_of(STUBBORN)) {
            (true, _) => before / 2,
            (false, true) => before.saturating_mul(2),
            (false, false) => before,
        };
        let step = step.clamp(bounds.step.clamp(1, largest), largest);
        let moved = if early { self.at.saturating_add(step) } else { self.at.saturating_sub(step) };
        self.at = moved.clamp(-bounds.delay, bounds.delay);
        (self.step, self.was_early) = (Some(step), early);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::between;
    use harness::random::Random;

    const BOUNDS: Bounds = Bounds { step: 4, delay: 100_000 };

    #[test]
    fn it_is_found_in_tens_of_rounds_wherever_it_is() {
        let mut random = Random::new(5);
        for _ in 0..500 {
            let truth = between(-90_000, 90_000, random.next_u64());
            let mut flip = Flip::UNKNOWN;
            for _ in 0..60 {
                flip.answer(flip.at() < truth, BOUNDS);
            }
            assert!(flip.at().abs_diff(truth) <= 64, "{flip:?} instead of {truth}");
        }
    }

    #[test]
    fn noise_and_lies_do_not_lead_it_astray() {
        let mut random = Random::new(6);
        for _ in 0..100 {
            let truth = between(-90_000, 90_000, random.next_u64());
            let mut flip = Flip::UNKNOWN;
            let mut close = 0;
            for number in 0..1000 {
                let noisy = flip.at() + between(-20, 20, random.next_u64());
                let lies = random.next_u64().is_multiple_of(20);
                flip.answer((noisy < truth) != lies, BOUNDS);
                close += u32::from(number >= 100 && flip.at().abs_diff(truth) < 200);
            }
            assert!(close > 600, "{truth}: close in {close} of 900 rounds");
        }
    }

    #[test]
    fn it_follows_a_flip_that_moves() {
        let mut flip = Flip::UNKNOWN;
        for number in 0..4000 {
            let truth = number * 10;
            flip.answer(flip.at() < truth, BOUNDS);
            assert!(number < 100 || flip.at().abs_diff(truth) < 500, "{flip:?} instead of {truth}");
        }
    }

    #[test]
    fn it_stays_within_its_bounds() {
        for early in [false, true] {
            let mut flip = Flip::UNKNOWN;
            for _ in 0..1000 {
                flip.answer(early, BOUNDS);
                assert!(flip.at().abs() <= BOUNDS.delay);
            }
            assert_eq!(flip.at().abs(), BOUNDS.delay);
        }
        let mut flip = Flip::UNKNOWN;
        flip.answer(true, Bounds { step: 1, delay: 0 });
        assert_eq!(flip.at(), 0);
    }
}

//! How long the sections take: samples of rounds without a delay, until their deviation has settled.

use crate::round::Round;
use crate::statistics::Spread;

/// Rounds in a window.
const WINDOW: usize = 32;

/// Windows after which it ends in any case, at first.
const FIRST: usize = 32;

/// The same when the sections have changed.
const AGAIN: usize = 4;

/// Samples that suffice in a hurry.
const FEW: usize = 5;

/// Lengths and distances of sections, in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lengths {
    /// How long A takes.
    pub(crate) a: Spread,
    /// How long B takes.
    pub(crate) b: Spread,
    /// From the start of A to the start of B, less the delay.
    pub(crate) starts: Spread,
    /// From the end of B to the end of A.
    pub(crate) ends: Spread,
}

impl Lengths {
    /// The lengths of both sections together. Everything else is judged against it: a distance may well be 0.
    pub(crate) fn sum(&self) -> i64 {
        self.a.median.saturating_add(self.b.median).max(1)
    }

    /// They are as those of the window before, and their samples are close to each other. What is below `noise` cannot be
    /// told.
    fn are_settled_after(&self, before: &Self, noise: i64) -> bool {
        let moved = |now: Spread, then: Spread| now.median.abs_diff(then.median);
        let moved = moved(self.a, before.a).saturating_add(moved(self.b, before.b));
        let deviation = self.a.deviation.saturating_add(self.b.deviation);
        moved <= noise.max(self.sum() / 20).unsigned_abs() && deviation <= noise.max(self.sum() / 4)
    }
}

/// Collects samples, a window after the other.
#[derive(Debug, Clone)]
pub(crate) struct Sampler {
    samples: [[i64; WINDOW]; 4],
    /// Samples in the window.
    count: usize,
    windows_left: usize,
    may_hurry: bool,
    noise: i64,
    lengths: Option<Lengths>,
}

/// What it knows after a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sampling {
    /// It needs more samples.
    GoesOn,
    /// The lengths have settled.
    Settled,
    /// They have not, and nothing suggests that they will.
    Unsettled,
}

impl Sampler {
    /// One for the begin of a race, whose clock has so much `noise`.
    pub(crate) fn first(noise: i64) -> Self {
        Self {
            samples: [[0; WINDOW]; 4],
            count: 0,
            windows_left: FIRST,
            may_hurry: true,
            noise,
            lengths: None,
        }
    }

    /// One for sections that have changed.
    pub(crate) fn again(noise: i64) -> Self {
        Self { windows_left: AGAIN, may_hurry: false, ..Self::first(noise) }
    }

    /// What was sampled so far does not hold any more. It does not get more windows for that.
    pub(crate) fn forget(&mut self) {
        self.count = 0;
        self.lengths = None;
    }

    /// The lengths as the last window had them; nothing before the first one is full.
    pub(crate) fn lengths(&self) -> Option<Lengths> {
        self.lengths
    }

    /// Takes the samples of a round; with `hurry` they are the last ones, if there are a few.
    pub(crate) fn take(&mut self, round: &Round, hurry: bool) -> Sampling {
        let values = [round.a.length(), round.b.length(), round.starts() - round.delay, round.ends()];
        for (samples, value) in self.samples.iter_mut().zip(values) {
            samples[self.count] = value;
        }
        self.count += 1;
        if hurry && self.may_hurry && (self.count >= FEW || self.lengths.is_some()) {
            self.close_window();
            return Sampling::Unsettled;
        }
        if self.count < WINDOW {
            return Sampling::GoesOn;
        }
        let before = self.lengths;
        self.close_window();
        let is_settled =
            before.zip(self.lengths).is_some_and(|(before, now)| now.are_settled_after(&before, self.noise));
        match (is_settled, self.windows_left > 0) {
            (true, _) => Sampling::Settled,
            (false, true) => Sampling::GoesOn,
            (false, false) => Sampling::Unsettled,
        }
    }

    /// Has the lengths of the samples that there are, or keeps those of the last window if there are too few.
    fn close_window(&mut self) {
        if self.count >= FEW {
            let [a, b, starts, ends] =
                self.samples.each_mut().map(|samples| Spread::of(&mut samples[..self.count]));
            self.lengths = Some(Lengths { a, b, starts, ends });
        }
        self.windows_left = self.windows_left.saturating_sub(1);
        self.count = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence::between;
    use harness::random::Random;

    fn round(a: i64, b: i64) -> Round {
        Round::simulated(0, (0, a), (0, b))
    }

    /// Rounds until it ends, and how.
    fn sampled(mut next: impl FnMut() -> Round) -> (usize, Sampling, Lengths) {
        let mut sampler = Sampler::first(5);
        for count in 1.. {
            let sampling = sampler.take(&next(), false);
            if sampling != Sampling::GoesOn {
                return (count, sampling, sampler.lengths().expect("a window was full"));
            }
        }
        unreachable!("it ends")
    }

    #[test]
    fn equal_sections_settle_at_once() {
        // The distances of their ends are about 0, against which no deviation may be judged.
        let mut random = Random::new(1);
        let mut noisy = |length: i64| length + between(-300, 300, random.next_u64());
        let (count, sampling, lengths) = sampled(|| round(noisy(10_000), noisy(10_000)));
        assert_eq!((count, sampling), (2 * WINDOW, Sampling::Settled));
        assert!(lengths.ends.median.abs() < 300 && (19_000..21_000).contains(&lengths.sum()), "{lengths:?}");
    }

    #[test]
    fn it_waits_until_caches_are_warm() {
        let mut length = 100_000;
        let (count, sampling, lengths) = sampled(|| {
            length = (length * 97 / 100).max(2_000);
            round(length, 1_000)
        });
        assert_eq!(sampling, Sampling::Settled);
        assert!(count > 2 * WINDOW && lengths.a.median < 2_500, "{count}: {lengths:?}");
    }

    #[test]
    fn what_never_settles_ends_anyway() {
        let mut random = Random::new(2);
        let (count, sampling, _) = sampled(|| round(1 << (random.next_u64() % 20), 10));
        assert_eq!((count, sampling), (WINDOW * FIRST, Sampling::Unsettled));
    }

    #[test]
    fn what_is_as_short_as_the_noise_settles() {
        let mut random = Random::new(4);
        let (count, sampling, _) = sampled(|| round(between(1, 7, random.next_u64()), 0));
        assert_eq!((count, sampling), (2 * WINDOW, Sampling::Settled));
    }

    #[test]
    fn forgetting_takes_no_longer_than_sampling() {
        let mut sampler = Sampler::again(5);
        let mut length = 1;
        for count in 1.. {
            length = length * 3 % 1_000_003;
            let sampling = sampler.take(&round(length, 0), false);
            if count % 40 == 0 {
                sampler.forget();
            }
            if sampling == Sampling::Unsettled {
                assert!(count <= AGAIN * 2 * WINDOW, "{count}");
                return;
            }
        }
    }

    #[test]
    fn a_few_samples_suffice_in_a_hurry() {
        let mut sampler = Sampler::first(5);
        let lengths = [10, 20, 30, 40];
        assert!(lengths.iter().all(|&length| sampler.take(&round(length, 5), true) == Sampling::GoesOn));
        assert_eq!(sampler.take(&round(50, 5), true), Sampling::Unsettled);
        let lengths = sampler.lengths().expect("there were samples");
        assert_eq!((lengths.a.median, lengths.b.median, lengths.ends.median), (30, 5, 25));
        // Those of sections that have changed are few anyway.
        let mut sampler = Sampler::again(5);
        assert!((1..WINDOW as i64).all(|length| sampler.take(&round(length, 5), true) == Sampling::GoesOn));
    }
}

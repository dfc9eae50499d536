//! Its averages, and the delays that it makes of them.

use std::sync::atomic::{AtomicI64, Ordering::*};

use protocol::race::Ended;

use super::pair::Pair;
use crate::race::Judgement;
use crate::tally::{Tally, increment};
use harness::random::Random;

/// The weight of a sample in an average.
const ALPHA: f64 = 0.25;

/// Samples that are taken at least.
const MIN_SAMPLES: u32 = 1024;

/// The largest ratio of a deviation to its average.
const MAX_RATIO: f64 = 0.1;

/// Rounds that are made at most.
const MAX_ROUNDS: u64 = 3_000_000;

/// The share of its time that sampling may take, in 1/1000.
const SAMPLING: u64 = 500;

/// How much wider than the range of overlap the delays are.
const WIDENING: f64 = 1.1;

/// An exponentially weighted average.
#[derive(Debug, Clone, Copy, Default)]
struct Average {
    average: f64,
    deviation: f64,
}

impl Average {
    fn take(&mut self, sample: f64) {
        self.average = ALPHA * sample + (1.0 - ALPHA) * self.average;
        self.deviation = ALPHA * (self.average - sample).abs() + (1.0 - ALPHA) * self.deviation;
    }

    fn ratio(&self) -> f64 {
        if self.average == 0.0 { 0.0 } else { (self.deviation / self.average).abs() }
    }
}

/// The delays, in loops.
#[derive(Debug)]
pub(super) struct Delays {
    starts: Average,
    a: Average,
    b: Average,
    ends: Average,
    spins: Average,
    /// Samples to be taken at least.
    needed: u32,
    has_round: bool,
    bias: i64,
    random: Random,
}

impl Delays {
    pub(super) fn new(seed: u64) -> Self {
        let [starts, a, b, ends, spins] = [Average::default(); 5];
        let random = Random::new(seed);
        Self { starts, a, b, ends, spins, needed: MIN_SAMPLES, has_round: false, bias: 0, random }
    }

    /// Ends the sampling when it has taken too long, and the race after its rounds.
    pub(super) fn hurry(&mut self, used: u64, tally: &Tally) {
        if used > SAMPLING {
            self.needed = 0;
        }
        if tally.rounds() >= MAX_ROUNDS {
            tally.end(Ended::Rounds);
        }
    }

    /// Chooses the delay of the next round.
    pub(super) fn update(&mut self, pair: &Pair, tally: &Tally) {
        let averages = [self.starts, self.a, self.b, self.ends, self.spins];
        let is_over = averages.iter().any(|average| average.ratio() > MAX_RATIO);
        let mut delay = self.bias;
        if self.needed > 0 || is_over {
            self.sample(pair);
            increment(&tally.sampling);
        } else if self.ends.average.abs() >= 1.0 {
            delay += self.random_delay();
        }
        pair.delay.store(delay, Relaxed);
        pair.spins.store(0, Relaxed);
    }

    /// Takes the samples of the last round, if there was one.
    fn sample(&mut self, pair: &Pair) {
        let time = |times: &[AtomicI64; 2], side: usize| times[side].load(Relaxed) as f64;
        let [start_a, start_b] = [0, 1].map(|side| time(&pair.start, side));
        let [end_a, end_b] = [0, 1].map(|side| time(&pair.end, side));
        if self.has_round {
            self.starts.take(start_a - start_b);
            self.a.take(end_a - start_a);
            self.b.take(end_b - start_b);
            self.ends.take(end_a - end_b);
            self.spins.take(pair.spins.load(Relaxed) as f64);
        }
        self.has_round = true;
        self.needed = self.needed.saturating_sub(1);
    }

    fn random_delay(&mut self) -> i64 {
        let per_spin = self.ends.average.abs() / self.spins.average.max(1.0);
        let uniform = self.random.next_u64() as f64 / 2.0_f64.powi(64);
        let time = uniform * (self.a.average + self.b.average) - self.b.average;
        (WIDENING * time / per_spin) as i64
    }

    /// Holds B back for as long as sampling goes on when it came too early.
    pub(super) fn bias(&mut self, judgement: Judgement) {
        if judgement == Judgement::Early && self.needed > 0 {
            self.bias += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_weighted_exponentially() {
        let mut average = Average::default();
        average.take(100.0);
        assert_eq!((average.average, average.deviation), (25.0, 18.75));
        (0..100).for_each(|_| average.take(100.0));
        assert!((average.average - 100.0).abs() < 1e-6 && average.ratio() < 1e-6);
        assert_eq!(Average::default().ratio(), 0.0);
    }

    /// A round of sections of so many nanoseconds, after which the first to end spun for a nanosecond a loop.
    fn sampled(a: i64, b: i64) -> Pair {
        let pair = Pair::default();
        pair.end[0].store(a, Relaxed);
        pair.end[1].store(b, Relaxed);
        pair.spins.store((a - b).abs(), Relaxed);
        pair
    }

    fn delays(a: i64, b: i64, rounds: u32) -> Vec<i64> {
        let (mut delays, tally) = (Delays::new(3), Tally::new());
        let mut next = || {
            let pair = sampled(a, b);
            delays.update(&pair, &tally);
            pair.delay.load(Relaxed)
        };
        (0..rounds).map(|_| next()).collect()
    }

    #[test]
    fn delays_are_spread_over_the_range_of_overlap_after_sampling() {
        let delays = delays(20_000, 4_000, 20_000);
        assert!(delays[..MIN_SAMPLES as usize].iter().all(|&delay| delay == 0));
        let random = &delays[MIN_SAMPLES as usize..];
        assert!(random.iter().all(|delay| (-4_401..=22_001).contains(delay)));
        assert!(random.iter().any(|&delay| delay < -4_000) && random.iter().any(|&delay| delay > 21_000));
    }

    #[test]
    fn sections_that_end_together_get_no_delay() {
        assert!(delays(5_000, 5_000, 3_000).iter().all(|&delay| delay == 0));
    }

    #[test]
    fn the_bias_grows_while_sampling_goes_on() {
        let mut delays = Delays::new(0);
        delays.bias(Judgement::Early);
        delays.bias(Judgement::Late);
        assert_eq!(delays.bias, 1);
        delays.hurry(SAMPLING + 1, &Tally::new());
        delays.bias(Judgement::Early);
        assert_eq!(delays.bias, 1);
    }
}

//! What a measuring thread knows.

use protocol::latency::{Latencies, Maxima as MaximaReport};

use crate::histogram::Histogram;
use crate::maxima::Maxima;
use harness::counter::Counter;

/// Filled by one thread, and read by another one at any time. What is read while the thread measures may lack the parts
/// of its latest sample; after its end it is exact.
#[derive(Debug)]
pub(crate) struct Recorder {
    histogram: Histogram,
    maxima: Maxima,
    minimum: Counter,
    maximum: Counter,
    sum: Counter,
    /// The lower and the upper half of the sum of squares.
    squares: [Counter; 2],
    /// See [`protocol::latency::ThreadReport`].
    pub(crate) late_cycles: Counter,
    pub(crate) unmeasured: Counter,
    pub(crate) rests: Counter,
    pub(crate) early: Counter,
    pub(crate) earliest: Counter,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        Self {
            histogram: Histogram::new(),
            maxima: Maxima::new(),
            minimum: Counter::new(u64::MAX),
            maximum: Counter::default(),
            sum: Counter::default(),
            squares: Default::default(),
            late_cycles: Counter::default(),
            unmeasured: Counter::default(),
            rests: Counter::default(),
            early: Counter::default(),
            earliest: Counter::default(),
        }
    }

    /// Takes in a sample that was taken so many nanoseconds after the beginning.
    #[inline]
    pub(crate) fn record(&self, at: u64, latency: u64) {
        self.minimum.lower(latency);
        self.maximum.raise(latency);
        self.histogram.record(latency);
        self.maxima.record(at, latency);
        self.sum.add(latency);
        let square = u128::from(latency) * u128::from(latency);
        self.set_squares(self.squares().saturating_add(square));
    }

    /// Notes a wake-up that came too early by so many nanoseconds.
    #[cold]
    pub(crate) fn note_early(&self, by: u64) {
        self.early.add(1);
        self.earliest.raise(by);
    }

    pub(crate) fn latencies(&self) -> Latencies {
        let (minimum, maximum) = (self.minimum.get(), self.maximum.get());
        if minimum > maximum {
            return Latencies::default();
        }
        let (sum, squares) = (self.sum.get(), self.squares());
        let histogram = self.histogram.between(minimum, maximum);
        let count = histogram.iter().map(|(_, count)| u128::from(*count)).sum::<u128>().max(1);
        // In whole numbers: the difference of two large fractions would have lost its digits.
        let squared_deviations = squares.saturating_sub(u128::from(sum) * u128::from(sum) / count) as f64;
        Latencies { minimum, maximum, sum, squared_deviations, histogram }
    }

    pub(crate) fn maxima(&self) -> MaximaReport {
        self.maxima.report()
    }

    /// Forgets all samples.
    pub(crate) fn clear(&self) {
        self.histogram.clear();
        self.maxima.clear();
        self.minimum.set(u64::MAX);
        let counters = [
            &self.maximum,
            &self.sum,
            &self.late_cycles,
            &self.unmeasured,
            &self.rests,
            &self.early,
            &self.earliest,
        ];
        counters.into_iter().chain(&self.squares).for_each(|counter| counter.set(0));
    }

    fn squares(&self) -> u128 {
        let [low, high] = &self.squares;
        u128::from(high.get()) << 64 | u128::from(low.get())
    }

    fn set_squares(&self, squares: u128) {
        let [low, high] = &self.squares;
        low.set(squares as u64);
        high.set((squares >> 64) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_figures_are_exact() {
        let recorder = Recorder::new();
        assert_eq!(recorder.latencies(), Latencies::default());
        // So large that the squares need more than 64 bits.
        let samples = [9_000_000_001, 9_000_000_003, 9_000_000_005, 9_000_000_003];
        samples.into_iter().for_each(|sample| recorder.record(0, sample));
        let latencies = recorder.latencies();
        assert_eq!((latencies.minimum, latencies.maximum), (9_000_000_001, 9_000_000_005));
        assert_eq!((latencies.sum, latencies.count()), (36_000_000_012, 4));
        assert_eq!(latencies.squared_deviations, 8.0);
        assert_eq!(recorder.maxima().slots, [9_000_000_005]);
    }

    #[test]
    fn nothing_is_too_large() {
        let recorder = Recorder::new();
        for _ in 0..3 {
            recorder.record(u64::MAX, u64::MAX);
            recorder.note_early(u64::MAX);
        }
        let latencies = recorder.latencies();
        assert_eq!((latencies.count(), latencies.maximum, latencies.sum), (3, u64::MAX, u64::MAX));
        assert_eq!((recorder.early.get(), recorder.earliest.get()), (3, u64::MAX));
    }

    #[test]
    fn what_warmed_up_is_forgotten() {
        let recorder = Recorder::new();
        recorder.record(7, 5);
        recorder.late_cycles.add(1);
        recorder.note_early(3);
        recorder.clear();
        assert_eq!(recorder.latencies(), Latencies::default());
        assert_eq!((recorder.late_cycles.get(), recorder.early.get(), recorder.earliest.get()), (0, 0, 0));
        recorder.record(7, 5);
        assert_eq!((recorder.latencies().count(), recorder.latencies().squared_deviations), (1, 0.0));
    }
}

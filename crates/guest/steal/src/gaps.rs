//! When the probe did not run, readable while it does.

use harness::counter::Counter;
use protocol::steal::{CLASSES, Gaps};

/// Gaps in ticks of the time-stamp counter. One thread counts, others may read.
#[derive(Debug, Default)]
pub(crate) struct GapTally {
    count: Counter,
    sum: Counter,
    longest: Counter,
    classes: [Counter; CLASSES],
}

impl GapTally {
    /// A gap of so many ticks, each of which takes so many nanoseconds.
    #[cold]
    pub(crate) fn record(&self, ticks: u64, tick_ns: f64) {
        self.count.add(1);
        self.sum.add(ticks);
        self.longest.raise(ticks);
        self.classes[Gaps::class(scaled(ticks, tick_ns), CLASSES)].add(1);
    }

    pub(crate) fn count(&self) -> u64 {
        self.count.get()
    }

    /// The sum of all, in ticks.
    pub(crate) fn sum(&self) -> u64 {
        self.sum.get()
    }

    pub(crate) fn gaps(&self, tick_ns: f64) -> Gaps {
        Gaps {
            count: self.count.get(),
            sum_ns: scaled(self.sum.get(), tick_ns),
            longest_ns: scaled(self.longest.get(), tick_ns),
            histogram: self.classes.iter().map(Counter::get).collect(),
        }
    }
}

/// Ticks in nanoseconds.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float beyond u64 becomes its largest"
)]
pub(crate) fn scaled(ticks: u64, tick_ns: f64) -> u64 {
    (ticks as f64 * tick_ns) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_counted_in_the_class_of_their_length() {
        let tally = GapTally::default();
        // Two ticks are a nanosecond.
        for ticks in [2_400, 2_600, 10_000, 2_000_000_000] {
            tally.record(ticks, 0.5);
        }
        let gaps = tally.gaps(0.5);
        assert_eq!((gaps.count, gaps.sum_ns, gaps.longest_ns), (4, 1_000_007_500, 1_000_000_000));
        assert_eq!((gaps.histogram[0], gaps.histogram[2], gaps.histogram[15]), (2, 1, 1));
        assert_eq!(gaps.histogram.iter().sum::<u64>(), gaps.count);
        assert_eq!(tally.sum(), 2_000_015_000);
    }
}

//! The histogram of a measuring thread.

use protocol::latency::class;

use harness::counter::Counter;

/// A counter for each class, all of them allocated and written to at the beginning. The crate `hdrhistogram` has the
/// same classes, but nobody can read its counters while they are changed.
#[derive(Debug)]
pub(crate) struct Histogram(Box<[Counter]>);

impl Histogram {
    pub(crate) fn new() -> Self {
        Self((0..class::COUNT).map(|_| Counter::new(0)).collect())
    }

    #[inline]
    pub(crate) fn record(&self, value: u64) {
        if let Some(counter) = self.0.get(class::of(value)) {
            counter.add(1);
        }
    }

    /// The classes between two values that have samples: the smallest number of each, and its count.
    pub(crate) fn between(&self, minimum: u64, maximum: u64) -> Vec<(u64, u64)> {
        let (first, last) = (class::of(minimum), class::of(maximum));
        let counters = self.0.iter().enumerate().take(last + 1).skip(first);
        let counted = counters.map(|(class, counter)| (class::lowest(class), counter.get()));
        counted.filter(|(_, count)| *count > 0).collect()
    }

    pub(crate) fn clear(&self) {
        self.0.iter().for_each(|counter| counter.set(0));
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram as Reference;

    use super::*;

    #[test]
    fn the_classes_are_those_of_the_crate_for_hdr_histograms() {
        let histogram = Histogram::new();
        let mut reference =
            Reference::<u64>::new_with_bounds(1, u64::MAX / 2, 3).expect("the bounds are right");
        // A multiplicative sequence: all magnitudes, no pattern.
        let mut value = 1_u64;
        for shift in (0..63).cycle().take(10_000) {
            value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let sample = value >> 1 >> shift;
            histogram.record(sample);
            reference.record(sample).expect("it is within the bounds");
        }
        let expected: Vec<(u64, u64)> = reference
            .iter_recorded()
            .map(|it| (reference.lowest_equivalent(it.value_iterated_to()), it.count_at_value()))
            .collect();
        assert_eq!(histogram.between(0, u64::MAX), expected);
        for quantile in [0.25, 0.5, 0.9, 0.99, 0.999] {
            let value = reference.value_at_quantile(quantile);
            assert_eq!(class::highest(class::of(value)), reference.highest_equivalent(value));
        }
    }

    #[test]
    fn cleared_it_is_as_new() {
        let histogram = Histogram::new();
        histogram.record(0);
        histogram.record(u64::MAX);
        assert_eq!(histogram.between(0, u64::MAX), [(0, 1), (class::lowest(class::COUNT - 1), 1)]);
        assert_eq!(histogram.between(1, 5000), []);
        histogram.clear();
        assert_eq!(histogram.between(0, u64::MAX), []);
    }
}

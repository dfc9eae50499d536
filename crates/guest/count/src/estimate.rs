//! How wrong a count may be that was made for a part of the time, since the CPU counts few events at once and takes turns.

use crate::counter::Value;

/// Fewer intervals say nothing of how the rate varies.
const INTERVALS_MIN: u32 = 5;

/// Standard deviations on either side that have 95 of 100 values of a normal distribution.
const NORMAL_95: f64 = 1.96;

/// How the rate of an event varies from interval to interval: Welford's sums.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rate {
    before: Value,
    intervals: u32,
    mean: f64,
    squares: f64,
}

impl Rate {
    /// Takes in what a counter has come to at the end of an interval.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn take(&mut self, now: Value) {
        let count = now.count.saturating_sub(self.before.count) as f64;
        let running = now.running_ns.saturating_sub(self.before.running_ns) as f64;
        self.before = now;
        if running <= 0.0 {
            return;
        }
        self.intervals += 1;
        let rate = count / running;
        let off = rate - self.mean;
        self.mean += off / f64::from(self.intervals);
        self.squares += off * (rate - self.mean);
    }

    /// Half of the interval around the estimate for this value: the rate in the time in which it was not counted is that of other intervals,
    /// as far as their mean is known. Nothing if it was counted all the time, or too few intervals are known.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn error(&self, value: Value) -> Option<f64> {
        let missing_ns = value.enabled_ns.checked_sub(value.running_ns).filter(|missing| *missing > 0)?;
        if self.intervals < INTERVALS_MIN {
            return None;
        }
        let count = f64::from(self.intervals);
        let variance = self.squares / (count - 1.0);
        // The mean of what was seen is as uncertain as the mean of what was not, which is a sample of its own.
        let unseen = missing_ns as f64 / (value.running_ns.max(1) as f64) * count;
        Some(NORMAL_95 * missing_ns as f64 * (variance / count + variance / unseen.max(1.0)).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::count::{Counted, Event};

    /// The estimate and its error for an event that was counted in every `turn`th of `intervals`, and how often it happened.
    fn counted(intervals: usize, turn: usize, seed: u64) -> (f64, f64, f64) {
        let (mut state, mut rate, mut value, mut truth) = (seed, Rate::default(), Value::default(), 0);
        for number in 0..intervals {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let happened = 500 + (state >> 33) % 1000;
            truth += happened;
            value.enabled_ns += 1000;
            if number % turn == 0 {
                value.count += happened;
                value.running_ns += 1000;
            }
            rate.take(value);
        }
        let event: Event = "cycles".parse().expect("an event");
        let Value { count, enabled_ns, running_ns } = value;
        let counted = Counted { event, value: count, enabled_ns, running_ns, error: None };
        (
            counted.estimate().expect("it was counted"),
            rate.error(value).expect("many intervals"),
            truth as f64,
        )
    }

    #[test]
    fn the_interval_has_the_count_in_ninety_five_of_a_hundred_cases() {
        let holds = |seed: &u64| {
            let (estimate, error, truth) = counted(200, 4, seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            (estimate - truth).abs() <= error
        };
        let held = (1..=2000_u64).filter(holds).count();
        assert!((1860..=1940).contains(&held), "{held} of 2000");
    }

    #[test]
    fn what_was_counted_all_the_time_has_no_error() {
        let mut rate = Rate::default();
        let mut value = Value::default();
        for _ in 0..10 {
            value = Value {
                count: value.count + 7,
                enabled_ns: value.enabled_ns + 5,
                running_ns: value.running_ns + 5,
            };
            rate.take(value);
        }
        assert_eq!(rate.error(value), None);
        assert!(
            rate.error(Value { enabled_ns: 100, ..value }).is_some_and(|error| error.abs() < 1e-6),
            "it is constant"
        );
        assert_eq!(Rate::default().error(Value { enabled_ns: 1, ..Value::default() }), None);
    }
}

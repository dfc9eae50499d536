//! How many runs without the failure mean that it is not there.

use verdict::Rate;

use crate::asking::Asking;
use crate::point::Point;
use crate::question::Question;
use crate::settings::Settings;

/// Boots of a state whose figures are counted.
pub(crate) const COUNTED: u32 = 3;

/// Most runs at a state where it should not show.
const RUNS_MAX: u32 = 300;

/// Runs, or boots, in which the failure would have shown at a point, were it there.
pub(crate) fn needed(asking: &Asking<'_>, settings: &Settings) -> u32 {
    if matches!(asking.question, Question::Metric { .. }) {
        return COUNTED;
    }
    if asking.question.is_certain() {
        return 1;
    }
    let end = if settings.fixed { Point::First } else { Point::Last };
    let (failures, passes) = asking.counts(&end);
    let rate = asking.rate.unwrap_or(Rate { failures, passes });
    misses(rate, settings.confidence)
}

/// Runs after which a failure that showed in so many of others would have been missed with a chance below that of an
/// error; at least three.
///
/// The rate is not known, so the chance is the mean over all rates, as probable as those runs leave them when nothing
/// was known before: the rate that was seen in a few runs is often far above the true one.
fn misses(rate: Rate, confidence: f64) -> u32 {
    const LEAST: u32 = 3;
    let (failures, passes) = (f64::from(rate.failures), f64::from(rate.passes));
    let mut missed = 1.0;
    for run in 0..RUNS_MAX {
        if run >= LEAST && missed <= 1.0 - confidence {
            return run;
        }
        missed *= (passes + 0.5 + f64::from(run)) / (failures + passes + 1.0 + f64::from(run));
    }
    RUNS_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missed(failures: u32, passes: u32) -> u32 {
        misses(Rate { failures, passes }, 0.99)
    }

    #[test]
    fn what_shows_seldom_is_missed_often() {
        // Beta(5.5, 0.5): 0.5/6 * 1.5/7 * 2.5/8 = 0.0056, and without the last of them 0.018.
        assert_eq!(missed(5, 0), 3);
        // Beta(3.5, 2.5): 2.5/6 * 3.5/7 * ... * 10.5/14 = 0.0123, and times 11.5/15 it is 0.0094.
        assert_eq!(missed(3, 2), 10);
        assert!(missed(3, 7) > 12 && missed(30, 70) > 12 && missed(30, 70) < missed(3, 7));
        assert_eq!(missed(1, 99), RUNS_MAX);
        assert_eq!(missed(0, 0), RUNS_MAX);
        assert_eq!(missed(u32::MAX, u32::MAX), 7);
    }

    #[test]
    fn who_wants_to_be_surer_runs_more_and_nobody_fewer_than_three() {
        let of = |confidence| misses(Rate { failures: 5, passes: 5 }, confidence);
        assert!(of(0.5) == 3 && of(0.9) < of(0.99) && of(0.99) < of(0.999));
        assert_eq!(of(1.0), RUNS_MAX);
        assert_eq!(of(f64::NAN), RUNS_MAX);
    }
}

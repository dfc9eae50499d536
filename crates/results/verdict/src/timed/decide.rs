//! From values to verdicts.
//!
//! Times, and what experiments record: each boot is a sample.

use measure::quantile::median;

use super::design::Design;
use crate::comparison::Verdict;
use crate::statistics::{Differences, adjusted, mann_whitney};

/// The step of all clocks: units are whole numbers.
const STEP: f64 = 1.0;

/// The values of one metric, one of each boot.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// Of the base.
    pub base: &'a [f64],
    /// Of the other.
    pub new: &'a [f64],
    /// What they are.
    pub sort: Sort,
}

/// What values are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sort {
    /// Sampled, to a multiple of this step: smaller differences cannot be seen.
    Sampled(f64),
    /// Counted, to a multiple of this step. If each boot of a Kernel gave the same, on both Kernels, any difference is of
    /// interest; else they are samples.
    Counted(f64),
    /// 1 for a run that failed, 0 for one that did not.
    Failed,
}

impl<'a> Pair<'a> {
    /// Times in nanoseconds.
    #[must_use]
    pub fn of_times(base: &'a [f64], new: &'a [f64]) -> Self {
        Self { base, new, sort: Sort::Sampled(STEP) }
    }
}

/// What they say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// By what fraction of the base the other costs more; 0 where one of them has no values.
    pub change: f64,
    /// Where the true change lies; nothing while there are too few boots.
    pub interval: Option<(f64, f64)>,
    /// Where the interval speaks for worse or better: the probability that chance does so, adjusted for the number of
    /// looks and metrics.
    pub p: Option<f64>,
    /// What it comes to.
    pub verdict: Verdict,
}

/// Judges metrics together.
///
/// * **same**: the interval lies within the smallest effect of interest. That nothing was found is never enough.
/// * **worse**, **better**: the interval leaves 0 out, the estimate is at least the smallest effect of interest, and
///   the test of ranks agrees after its adjustment for all looks and metrics.
/// * **undecided**: everything else. A difference that is surely there, but of which one cannot say yet whether it is
///   of interest, is undecided as well.
///
/// The share of wrong ones among all that is called worse or better is at most 1 - confidence, on average over
/// comparisons and whichever look is the last one. At look k of K the method of Benjamini and Hochberg holds that
/// share, V/R, below (1 - confidence)/K, and V/R of the last look is at most the sum over all. For this to be true of
/// what is told, and not of more, the interval and the size come first: a metric that they rule out counts with the
/// probability 1. Left out afterwards, many differences too small to tell would let false ones among the large pass.
///
/// Each interval holds at all looks together with the confidence of the design, for one metric.
///
/// Counts that are the same in each boot, and failures, have no interval: they are **same** if they are equal on both
/// Kernels each time, and otherwise **worse** or **better** if the test agrees.
#[must_use]
pub fn decide(pairs: &[Pair], design: &Design) -> Vec<Decision> {
    let mut decisions: Vec<Decision> = pairs.iter().map(|pair| untested(*pair, design)).collect();
    let tests: Vec<f64> =
        pairs.iter().zip(&decisions).map(|(pair, decision)| test(*pair, decision, design)).collect();
    for (decision, p) in decisions.iter_mut().zip(adjusted(&tests)) {
        if is_claim(decision.verdict) {
            decision.p = Some(p);
            if p > design.error() {
                decision.verdict = Verdict::Undecided;
            }
        }
    }
    decisions
}

fn is_claim(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Worse | Verdict::Better)
}

/// The probability of one metric, adjusted for the number of looks only.
fn test(pair: Pair, decision: &Decision, design: &Design) -> f64 {
    let looks = design.looks.len().max(1) as f64;
    if is_claim(decision.verdict) { (mann_whitney(pair.base, pair.new) * looks).min(1.0) } else { 1.0 }
}

/// What the values say, without the test.
fn untested(pair: Pair, design: &Design) -> Decision {
    let constants = constant(pair.base).zip(constant(pair.new));
    match (pair.sort, constants) {
        (Sort::Counted(step), Some((base, new))) => equal_or_not((new - base) / base.abs().max(step)),
        (Sort::Failed, Some((base, new))) => equal_or_not(new - base),
        (Sort::Failed, None) if mean(pair.new) == mean(pair.base) => UNDECIDED,
        (Sort::Failed, None) => equal_or_not(mean(pair.new) - mean(pair.base)),
        (Sort::Sampled(step) | Sort::Counted(step), _) => sampled(pair, step, design),
    }
}

/// Nothing is known.
const UNDECIDED: Decision = Decision { change: 0.0, interval: None, p: None, verdict: Verdict::Undecided };

/// The value of all boots; nothing if there are several, or none.
fn constant(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    values.iter().all(|value| *value == first).then_some(first)
}

/// The mean; 0 of nothing.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// What a difference says that is no estimate.
fn equal_or_not(change: f64) -> Decision {
    let verdict = match change {
        0.0 => Verdict::Same,
        _ if change > 0.0 => Verdict::Worse,
        _ => Verdict::Better,
    };
    Decision { change, verdict, ..UNDECIDED }
}

/// What the estimate and its interval say.
fn sampled(pair: Pair, step: f64, design: &Design) -> Decision {
    let size = median(pair.base).unwrap_or_default().abs().max(step);
    let is_linear = pair.base.iter().chain(pair.new).any(|value| *value < 0.0);
    let scaled = |values: &[f64]| if is_linear { values.to_vec() } else { logarithms(values, step) };
    let fraction = |shift: f64| if is_linear { shift / size } else { shift.exp_m1() };
    let Some(differences) = Differences::of(&scaled(pair.base), &scaled(pair.new)) else { return UNDECIDED };
    let change = fraction(differences.shift());
    let seen = interval(&differences, design).map(|(low, high)| (fraction(low), fraction(high)));
    let blind = step / size;
    let wide = seen.map(|(low, high)| (low.min(change - blind), high.max(change + blind)));
    let verdict = |interval| verdict(change, interval, design.min_effect);
    // A clock does not see less than its step. A count that is higher by 1 is higher; and yet counts are not the same
    // while some boots differ by 1.
    let is_seen = matches!(pair.sort, Sort::Counted(_)) && is_claim(verdict(seen));
    let interval = if is_seen { seen } else { wide };
    Decision { change, interval, p: None, verdict: verdict(interval) }
}

/// Costs differ by factors: on logarithms, 2 % more of 100 ns and of 1 ms are the same shift. What the clock could not
/// see is taken for half of its step. Only what can be negative is compared by differences.
fn logarithms(values: &[f64], step: f64) -> Vec<f64> {
    values.iter().map(|value| value.max(step / 2.0).ln()).collect()
}

/// The wider of two intervals at each end: of few boots the bootstrap's is too narrow, while that of ranks may be when
/// the kernels differ in the width of their distributions.
fn interval(differences: &Differences, design: &Design) -> Option<(f64, f64)> {
    let error = design.error_of_look() / 2.0;
    let (low, high) = differences.rank_interval(error)?;
    let (lower, higher) = differences.bootstrap_interval(error, design.seed);
    Some((low.min(lower), high.max(higher)))
}

fn verdict(change: f64, interval: Option<(f64, f64)>, min_effect: f64) -> Verdict {
    match interval {
        Some((low, high)) if -min_effect < low && high < min_effect => Verdict::Same,
        Some((low, _)) if low > 0.0 && change >= min_effect => Verdict::Worse,
        Some((_, high)) if high < 0.0 && change <= -min_effect => Verdict::Better,
        _ => Verdict::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn judge(base: &[f64], new: &[f64]) -> Decision {
        decide(&[Pair::of_times(base, new)], &Design::new(1))[0]
    }

    /// Values 0.1 % apart around `centre`.
    fn around(centre: f64, count: i32) -> Vec<f64> {
        (0..count).map(|index| centre * (1.0 + 0.001 * f64::from(index - count / 2))).collect()
    }

    #[test]
    fn a_clear_difference_is_decided_by_five_boots() {
        let worse = judge(&around(1e5, 5), &around(1.05e5, 5));
        assert_eq!(worse.verdict, Verdict::Worse);
        assert!((worse.change - 0.05).abs() < 0.001, "{worse:?}");
        assert!(worse.p.is_some_and(|p| (p - 12.0 / 252.0).abs() < 1e-12), "{worse:?}");
        assert_eq!(judge(&around(1.05e5, 5), &around(1e5, 5)).verdict, Verdict::Better);
        assert_eq!(judge(&around(1e5, 4), &around(1.05e5, 4)).verdict, Verdict::Undecided);
    }

    #[test]
    fn what_is_surely_there_and_of_no_interest_is_the_same() {
        let same = judge(&around(1e5, 12), &around(1.0005e5, 12));
        assert_eq!(same.verdict, Verdict::Same);
        assert!(same.interval.is_some_and(|(low, high)| -0.01 < low && high < 0.01), "{same:?}");
    }

    #[test]
    fn that_nothing_was_found_is_not_the_same_as_nothing() {
        let noisy = [0.9e5, 1.1e5, 0.95e5, 1.05e5, 1e5];
        let open = judge(&noisy, &noisy);
        assert_eq!((open.verdict, open.p), (Verdict::Undecided, None));
    }

    #[test]
    fn a_difference_that_may_be_of_interest_or_not_is_undecided() {
        let open = judge(&around(1e5, 12), &around(1.009e5, 12));
        assert!(open.interval.is_some_and(|(low, high)| low > 0.0 && high > 0.01), "{open:?}");
        assert_eq!(open.verdict, Verdict::Undecided);
    }

    #[test]
    fn a_clock_that_is_too_coarse_cannot_say_that_two_are_the_same() {
        assert_eq!(judge(&[30.0; 8], &[30.0; 8]).verdict, Verdict::Undecided);
        assert_eq!(judge(&[3000.0; 8], &[3000.0; 8]).verdict, Verdict::Same);
        assert_eq!(judge(&[0.0; 8], &[0.0; 8]).verdict, Verdict::Undecided);
        assert_eq!(judge(&[30.0; 8], &[33.0; 8]).verdict, Verdict::Worse);
    }

    #[test]
    fn one_small_difference_among_many_metrics_is_not_believed() {
        let (quiet, slower) = (around(1e5, 5), around(1.05e5, 5));
        let mut pairs = vec![Pair::of_times(&quiet, &quiet); 20];
        pairs.push(Pair::of_times(&quiet, &slower));
        let decisions = decide(&pairs, &Design::new(1));
        assert_eq!(decisions[20].verdict, Verdict::Undecided);
        assert!(decisions[20].p.is_some_and(|p| p > 0.9), "{:?}", decisions[20]);
    }

    #[test]
    fn nothing_is_said_of_no_values() {
        assert_eq!(judge(&[], &around(1e5, 5)).verdict, Verdict::Undecided);
    }

    proptest! {
        #[test]
        fn whatever_the_values_are_the_verdict_is_what_the_interval_says(
            base in prop::collection::vec(0.0..1e4, 5..13), new in prop::collection::vec(0.0..1e4, 5..13)
        ) {
            let Decision { change, interval, p, verdict } = judge(&base, &new);
            prop_assert!(change.is_finite() && p.is_none_or(|p| (0.0..=1.0).contains(&p)));
            let inside = interval.is_some_and(|(low, high)| -0.01 < low && high < 0.01);
            let outside = interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
            prop_assert!(interval.is_none_or(|(low, high)| low <= change && change <= high));
            prop_assert_eq!(verdict == Verdict::Same, inside);
            prop_assert!(outside || !matches!(verdict, Verdict::Worse | Verdict::Better));
        }
    }
}

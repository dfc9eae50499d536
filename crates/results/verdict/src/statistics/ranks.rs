//! The test of Mann and Whitney: whether one of two samples tends to be larger.
//!
//! H. B. Mann and D. R. Whitney, "On a test of whether one of two random variables is stochastically larger than the
//! other", Annals of Mathematical Statistics 18 (1947), 50-60.

/// Up to so many values together their distribution is counted out; beyond, the normal one is near enough.
///
/// The tails matter, since hundreds of metrics are tested together: of 12 values against 12 the smallest probability
/// is 0.000 000 7, which the normal distribution takes for 0.000 04. Counting grows with the fourth power.
const COUNTED: usize = 40;

/// Steps of the continued fraction, far more than it takes to converge where it is used.
const STEPS: u32 = 100;

/// The probability that two samples of the same distribution lie as far apart as these, on either side; 1 if one of
/// them is empty.
///
/// Few values are permuted in all ways, which is exact with ties as well: B. Streitberg and J. Röhmel, "Exact
/// distributions for permutation and rank tests", Statistical Software Newsletter 12 (1986), 10-17. Of many the
/// normal distribution is taken, corrected for ties and for continuity.
#[must_use]
pub fn mann_whitney(base: &[f64], new: &[f64]) -> f64 {
    let ranks = Ranks::of(base, new);
    if base.is_empty() || new.is_empty() {
        return 1.0;
    }
    // Of two that say the same, the smaller is counted out faster.
    let (size, part) = if base.len() <= new.len() {
        (base.len(), &ranks.doubled[..base.len()])
    } else {
        (new.len(), &ranks.doubled[base.len()..])
    };
    let sum: usize = part.iter().sum();
    if ranks.doubled.len() <= COUNTED {
        let shares = shares_of_sums(&ranks.doubled, size);
        let (below, above): (f64, f64) = (shares[..=sum].iter().sum(), shares[sum..].iter().sum());
        return (2.0 * below.min(above)).min(1.0);
    }
    let deviation = ranks.deviation(size);
    let expected = (size * (ranks.doubled.len() + 1)) as f64;
    // Doubled ranks are twice as far apart: half a step of continuity is 1.
    let apart = ((sum as f64 - expected).abs() - 1.0).max(0.0) / 2.0;
    if deviation > 0.0 { (2.0 * normal_tail(apart / deviation)).min(1.0) } else { 1.0 }
}

/// How many of the smallest differences between a value of one sample and one of the other lie below an interval that
/// misses the true shift with a probability of `error` on each side; nothing if no interval is that sure.
///
/// The statistic of Mann and Whitney counts differences: E. L. Lehmann, "Nonparametric confidence intervals for a
/// shift parameter", Annals of Mathematical Statistics 34 (1963), 1507-1512.
pub(super) fn differences_outside(base: usize, new: usize, error: f64) -> Option<usize> {
    let outside = if base + new <= COUNTED { counted_outside } else { approximately_outside };
    outside(base, new, error).checked_sub(1)
}

/// How many values of the statistic, from 0, have together at most the probability `error`.
fn counted_outside(base: usize, new: usize, error: f64) -> usize {
    let size = base.min(new);
    let shares = shares_of_sums(&(1..=base + new).collect::<Vec<_>>(), size);
    let smallest = size * (size + 1) / 2;
    let together = shares.iter().skip(smallest).scan(0.0, |sum, share| {
        *sum += share;
        Some(*sum)
    });
    together.take_while(|sum| *sum <= error).count()
}

/// The same by the normal distribution.
fn approximately_outside(base: usize, new: usize, error: f64) -> usize {
    let pairs = (base * new) as f64;
    let deviation = (pairs * (base + new + 1) as f64 / 12.0).sqrt();
    let tail = |value: usize| normal_tail((pairs / 2.0 - value as f64 - 0.5) / deviation);
    (0..=base * new / 2).take_while(|&value| tail(value) <= error).count()
}

/// The ranks of two samples among all of their values.
struct Ranks {
    /// Twice the rank of each, the base first: equal values share the mean of their ranks, which may end in a half.
    doubled: Vec<usize>,
    /// The sum of t³ - t over groups of t equal values.
    ties: f64,
}

impl Ranks {
    fn of(base: &[f64], new: &[f64]) -> Self {
        let values: Vec<f64> = base.iter().chain(new).copied().collect();
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = Self { doubled: vec![0; values.len()], ties: 0.0 };
        let mut before = 0;
        for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
            let count = equal.len();
            equal.iter().for_each(|&index| ranks.doubled[index] = 2 * before + count + 1);
            ranks.ties += (count as f64).powi(3) - count as f64;
            before += count;
        }
        ranks
    }

    /// The standard deviation of the sum of `size` ranks.
    fn deviation(&self, size: usize) -> f64 {
        let all = self.doubled.len() as f64;
        let pairs = size as f64 * (all - size as f64);
        (pairs / 12.0 * (all + 1.0 - self.ties / (all * (all - 1.0)))).max(0.0).sqrt()
    }
}

/// Of all ways to take `size` of `ranks`, the share in which their sum is the index.
fn shares_of_sums(ranks: &[usize], size: usize) -> Vec<f64> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable();
    let largest: usize = sorted.iter().rev().take(size).sum();
    // The ways to take as many as the first index says with the sum that the second says.
    let mut ways = vec![vec![0.0_f64; largest + 1]; size + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for taken in (1..=size).rev() {
            let (fewer, these) = ways.split_at_mut(taken);
            let from = fewer[taken - 1].iter();
            these[0].iter_mut().skip(rank).zip(from).for_each(|(way, before)| *way += before);
        }
    }
    let mut shares = ways.swap_remove(size);
    let all: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= all);
    shares
}

/// The share of the normal distribution above `z`, with a relative error below 1e-12 for any `z` that is not negative.
///
/// Near 0 the power series, further out the continued fraction: M. Abramowitz and I. A. Stegun, "Handbook of
/// Mathematical Functions", 26.2.11 and 26.2.14.
fn normal_tail(z: f64) -> f64 {
    let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    if z < 3.0 {
        let terms = (1..STEPS).scan(z, |term, step| {
            let now = *term;
            *term *= z * z / f64::from(2 * step + 1);
            Some(now)
        });
        return 0.5 - density * terms.sum::<f64>();
    }
    density / (1..STEPS).rev().fold(z, |rest, step| z + f64::from(step) / rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tails_of_the_normal_distribution() {
        // scipy.stats.norm.sf of scipy 1.17.1.
        for (z, tail) in [
            (0.0, 0.5),
            (1.0, 0.158_655_253_931_457_07),
            (1.959_963_984_540_054, 0.025),
            (2.999_999, 0.001_349_902_463_485_155_2),
            (3.0, 0.001_349_898_031_630_093_3),
            (6.0, 9.865_876_450_376_946e-10),
            (12.0, 1.776_482_112_077_653e-33),
        ] {
            let is = normal_tail(z);
            assert!((is / tail - 1.0).abs() < 1e-12, "{z}: {is} instead of {tail}");
        }
    }

    #[test]
    fn five_against_five_that_do_not_overlap_are_2_of_252_ways() {
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!((mann_whitney(&low, &high) - 2.0 / 252.0).abs() < 1e-15);
    }

    #[test]
    fn what_is_equal_or_empty_shows_no_difference() {
        for count in [0, 1, 5, 60] {
            assert_eq!(mann_whitney(&vec![7.0; count], &vec![7.0; count]), 1.0, "{count}");
            assert_eq!(mann_whitney(&vec![7.0; count], &[]), 1.0, "{count}");
        }
    }

    #[test]
    fn differences_outside_an_interval_are_those_of_the_tables() {
        // Lower critical values of the rank sum test at 2.5 % on each side, as textbooks print them for U.
        for (base, new, critical) in
            [(5, 5, Some(2)), (8, 8, Some(13)), (10, 12, Some(29)), (20, 20, Some(127)), (3, 3, None)]
        {
            assert_eq!(differences_outside(base, new, 0.025), critical, "{base} against {new}");
        }
    }

    #[test]
    fn counting_and_the_normal_distribution_meet_where_one_takes_over() {
        for error in [0.025, 0.004, 0.0005] {
            let (counted, near) = (counted_outside(20, 20, error), approximately_outside(20, 20, error));
            assert!(near <= counted && counted - near <= 4, "{error}: {counted} and {near}");
        }
    }

    fn sample() -> impl Strategy<Value = Vec<f64>> {
        // Few different values, so that there are ties.
        prop::collection::vec((0..15_u32).prop_map(f64::from), 1..25)
    }

    proptest! {
        #[test]
        fn it_does_not_matter_which_is_the_base_nor_the_order_nor_the_scale(base in sample(), new in sample()) {
            let p = mann_whitney(&base, &new);
            prop_assert!((0.0..=1.0).contains(&p));
            prop_assert!((mann_whitney(&new, &base) - p).abs() < 1e-12);
            let scaled = |values: &[f64]| values.iter().rev().map(|value| (value / 9.0).exp()).collect::<Vec<_>>();
            prop_assert!((mann_whitney(&scaled(&base), &scaled(&new)) - p).abs() < 1e-12);
        }
    }
}

use proptest::prelude::*;

use super::*;

/// What an instrument would report of these samples.
fn counted(values: &[u64]) -> Latencies {
    let mut histogram: BTreeMap<u64, u64> = BTreeMap::new();
    for value in values {
        *histogram.entry(class::lowest(class::of(*value))).or_default() += 1;
    }
    let sum: u64 = values.iter().sum();
    let mean = sum as f64 / values.len().max(1) as f64;
    Latencies {
        minimum: values.iter().copied().min().unwrap_or(0),
        maximum: values.iter().copied().max().unwrap_or(0),
        sum,
        squared_deviations: values.iter().map(|value| (*value as f64 - mean).powi(2)).sum(),
        histogram: histogram.into_iter().collect(),
    }
}

/// Latencies of all magnitudes up to hours.
fn samples() -> impl Strategy<Value = Vec<u64>> {
    let sample = (0..1_u64 << 44, 0..44_u32).prop_map(|(value, shift)| value >> shift);
    prop::collection::vec(sample, 1..200)
}

#[test]
fn the_statistics_are_those_of_the_textbook() {
    let latencies = counted(&[2, 4, 4, 4, 5, 5, 7, 9]);
    assert_eq!((latencies.count(), latencies.mean(), latencies.mode()), (8, Some(5.0), Some(4)));
    let deviation = latencies.standard_deviation().expect("there are several");
    assert!((deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12, "{deviation}");
    let percentiles = [0, 25_000, 50_000, 75_000, 87_500, 87_501, 100_000, u32::MAX];
    let values = percentiles.map(|thousandths| latencies.percentile(thousandths));
    assert_eq!(values.map(Option::unwrap_or_default), [2, 4, 4, 5, 7, 9, 9, 9]);
    assert_eq!(latencies.distribution(3), [(0, 1), (3, 5), (6, 1), (9, 1)]);
}

#[test]
fn a_wide_class_is_no_mode_for_its_width_alone() {
    let latencies = Latencies {
        minimum: 2000,
        maximum: 4200,
        histogram: vec![(2000, 3), (4096, 4)],
        ..Latencies::default()
    };
    assert_eq!(latencies.mode(), Some(2000));
}

#[test]
fn of_nothing_nothing_is_known() {
    let none = Latencies::default();
    assert_eq!((none.count(), none.mean(), none.mode(), none.percentile(50_000)), (0, None, None, None));
    assert_eq!(none.standard_deviation(), None);
    assert_eq!(counted(&[7]).standard_deviation(), None);
    assert_eq!(none.distribution(0), []);
    assert_eq!(Latencies::merged([&none, &none]), none);
    assert_eq!(none.condensed(), none);
    assert_eq!(none.wrong(), None);
}

#[test]
fn what_cannot_have_been_counted_is_found() {
    let good = counted(&[1, 2, 3000]);
    assert_eq!(good.wrong(), None);
    let with = |histogram: &[(u64, u64)]| Latencies { histogram: histogram.to_vec(), ..good.clone() }.wrong();
    assert_eq!(with(&[(3001, 1)]), Some("a class of the histogram does not exist"));
    assert_eq!(with(&[(1, 0)]), Some("a class of the histogram does not exist"));
    assert_eq!(with(&[(2, 1), (1, 1)]), Some("the histogram is not in order"));
    assert_eq!(with(&[(1, u64::MAX), (2, 1)]), Some("there are too many samples"));
    assert_eq!(Latencies { minimum: 4000, ..good.clone() }.wrong(), Some("the minimum is above the maximum"));
    for squared_deviations in [f64::NAN, f64::INFINITY, -1.0] {
        let wrong = Latencies { squared_deviations, ..good.clone() }.wrong();
        assert_eq!(wrong, Some("the squared deviations are no sum of squares"));
    }
}

proptest! {
    #[test]
    fn a_percentile_is_that_of_the_sorted_samples(mut values in samples(), thousandths in 1..=100_000_u32) {
        let latencies = counted(&values);
        values.sort_unstable();
        let rank = (values.len() * thousandths as usize).div_ceil(100_000);
        let exact = values[rank - 1];
        let found = latencies.percentile(thousandths).expect("there are samples");
        prop_assert!(found >= exact && found - exact <= exact / 1000, "{found} for {exact}");
        prop_assert!(found <= latencies.maximum);
    }

    #[test]
    fn parts_together_are_what_one_would_have_counted(a in samples(), b in samples(), c in samples()) {
        let parts = [counted(&a), counted(&[]), counted(&b), counted(&c)];
        let (merged, whole) = (Latencies::merged(&parts), counted(&[a, b, c].concat()));
        let relative = (merged.squared_deviations / whole.squared_deviations.max(1.0) - 1.0).abs();
        prop_assert!(relative < 1e-9 || whole.squared_deviations < 1.0, "{merged:?} {whole:?}");
        prop_assert_eq!(Latencies { squared_deviations: whole.squared_deviations, ..merged }, whole);
    }

    #[test]
    fn condensed_they_have_the_same_percentiles(values in samples()) {
        let latencies = counted(&values);
        let condensed = latencies.condensed();
        prop_assert!(condensed.histogram.len() <= PERCENTILES.len() + 1);
        prop_assert_eq!((condensed.count(), condensed.wrong()), (latencies.count(), None));
        for percentile in PERCENTILES.into_iter().chain([ALL]) {
            prop_assert_eq!(condensed.percentile(percentile), latencies.percentile(percentile));
        }
        prop_assert_eq!(condensed.standard_deviation(), latencies.standard_deviation());
    }

    #[test]
    fn each_sample_is_in_one_bucket(values in samples(), width: u64, shift in 0..64_u32) {
        let latencies = counted(&values);
        let buckets = latencies.distribution(width >> shift);
        prop_assert_eq!(buckets.iter().map(|(_, count)| count).sum::<u64>(), latencies.count());
        prop_assert!(buckets.is_sorted_by(|(a, _), (b, _)| a < b));
    }

    #[test]
    fn whatever_a_guest_sends_has_statistics(
        (minimum, maximum, sum) in any::<(u64, u64, u64)>(),
        squared_deviations in any::<f64>(),
        histogram in any::<Vec<(u64, u64)>>(),
        number in any::<u32>(),
    ) {
        let latencies = Latencies { minimum, maximum, sum, squared_deviations, histogram };
        let _ = (latencies.mean(), latencies.mode(), latencies.standard_deviation(), latencies.wrong());
        let _ = (latencies.percentile(number), latencies.distribution(number.into()));
        let _ = Latencies::merged([&latencies, &latencies.condensed()]);
    }
}

//! Medians and other quantiles.

/// The quantile `share`, of 1, of values in ascending order; nothing of no values.
///
/// Between two values it is interpolated: definition 7 of R. J. Hyndman and Y. Fan, "Sample quantiles in statistical
/// packages", The American Statistician 50 (1996), 361-365, which is that of numpy and R.
#[must_use]
pub fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let (low, high) = (*sorted.get(below)?, *sorted.get((below + 1).min(last))?);
    Some(low + (high - low) * (place - place.floor()))
}

/// The median of values in any order; nothing of no values.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    quantile(&sorted, 0.5)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn medians_of_few_values() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
    }

    proptest! {
        #[test]
        fn a_quantile_lies_among_the_values_and_grows_with_its_share(
            mut values in prop::collection::vec(-1e9..1e9, 1..40), shares: (f64, f64)
        ) {
            values.sort_by(f64::total_cmp);
            let (less, more) = (shares.0.min(shares.1), shares.0.max(shares.1));
            let (low, high) = (quantile(&values, less).unwrap(), quantile(&values, more).unwrap());
            prop_assert!(values[0] <= low && low <= high && high <= values[values.len() - 1]);
        }
    }
}

//! What several tests say together.

/// Probabilities adjusted for their number, in the order in which they were given: Y. Benjamini and Y. Hochberg,
/// "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57 (1995), 289-300.
///
/// Who believes all tests whose adjusted probability is at most q is wrong about a share of q of those, on average,
/// if the tests are independent or depend on each other positively: Benjamini and Yekutieli, "The control of the
/// false discovery rate in multiple testing under dependency", Annals of Statistics 29 (2001), 1165-1188.
#[must_use]
pub fn adjusted(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    let mut adjusted = vec![1.0; probabilities.len()];
    let mut smallest = 1.0_f64;
    for (index, rank) in order.into_iter().zip((1..=probabilities.len()).rev()) {
        smallest = smallest.min(probabilities[index] * (probabilities.len() as f64 / rank as f64));
        adjusted[index] = smallest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_test_needs_no_adjustment() {
        assert_eq!(adjusted(&[0.03]), [0.03]);
        assert!(adjusted(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn an_adjusted_probability_is_no_smaller_and_keeps_its_order(values in prop::collection::vec(0.0..=1.0, 1..40)) {
            let adjusted = adjusted(&values);
            for (a, &value) in values.iter().enumerate() {
                prop_assert!(value <= adjusted[a] && adjusted[a] <= 1.0);
                prop_assert!((0..values.len()).all(|b| value > values[b] || adjusted[a] <= adjusted[b]));
            }
        }
    }
}

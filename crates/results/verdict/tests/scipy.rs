//! The statistics against those of scipy: `crates/results/verdict/tests/scipy/vectors.json` says how they were made.

#![expect(clippy::unwrap_used, reason = "clippy takes only the test functions themselves for tests")]

use measure::quantile::quantile;
use serde_json::Value;
use verdict::statistics::{Differences, adjusted, mann_whitney};

fn vectors() -> Value {
    serde_json::from_str(include_str!("scipy/vectors.json")).unwrap()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a Vec<Value> {
    value[name].as_array().unwrap()
}

fn numbers(value: &Value, name: &str) -> Vec<f64> {
    list(value, name).iter().map(|number| number.as_f64().unwrap()).collect()
}

#[track_caller]
fn assert_near(is: f64, expected: &Value, what: &Value) {
    let expected = expected.as_f64().unwrap();
    assert!((is - expected).abs() <= 1e-10 * expected.abs(), "{is} instead of {expected}: {what}");
}

#[test]
fn tests_of_ranks_are_those_of_scipy() {
    let vectors = vectors();
    let mut methods = std::collections::BTreeMap::new();
    for sample in list(&vectors, "samples") {
        assert_near(mann_whitney(&numbers(sample, "base"), &numbers(sample, "new")), &sample["p"], sample);
        *methods.entry(sample["method"].as_str().unwrap()).or_insert(0) += 1;
    }
    let expected = [("asymptotic", 8), ("exact", 13), ("permutation", 6)];
    assert!(methods.into_iter().eq(expected));
}

#[test]
fn shifts_and_quantiles_are_those_of_numpy() {
    for sample in list(&vectors(), "samples") {
        let (mut base, new) = (numbers(sample, "base"), numbers(sample, "new"));
        assert_near(Differences::of(&base, &new).unwrap().shift(), &sample["shift"], sample);
        base.sort_by(f64::total_cmp);
        for (share, expected) in [0.1, 0.5, 0.95].into_iter().zip(list(sample, "quantiles")) {
            assert_near(quantile(&base, share).unwrap(), expected, sample);
        }
    }
}

#[test]
fn adjusted_probabilities_are_those_of_scipy() {
    for family in list(&vectors(), "discoveries") {
        let is = adjusted(&numbers(family, "p"));
        let expected = list(family, "adjusted");
        assert_eq!(is.len(), expected.len());
        is.into_iter().zip(expected).for_each(|(is, expected)| assert_near(is, expected, family));
    }
}

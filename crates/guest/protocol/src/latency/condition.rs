//! What would accuse the kernel: a statistic above a limit.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Latencies;

/// The largest percentile, in thousandths of a percent.
const PERCENTILE_MAX: u32 = 100_000;

/// A condition that holds when a statistic of all threads is above a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Condition {
    /// What is compared.
    pub statistic: Statistic,
    /// The limit, in nanoseconds.
    pub above_ns: u64,
}

/// A statistic of latencies. Its text is `mean`, `sd`, `min`, `max`, or `p` and a percentile: `p99.9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The standard deviation.
    StandardDeviation,
    /// The smallest latency.
    Minimum,
    /// A percentile, in thousandths of a percent.
    Percentile(u32),
    /// The largest latency.
    Maximum,
}

impl Condition {
    /// The statistic in nanoseconds if it is above the limit. Without samples no condition holds.
    #[must_use]
    pub fn exceeded(&self, latencies: &Latencies) -> Option<f64> {
        self.statistic.of(latencies).filter(|value| *value > self.above_ns as f64)
    }
}

impl Statistic {
    /// Its value in nanoseconds; nothing if there are too few samples.
    #[must_use]
    pub fn of(self, latencies: &Latencies) -> Option<f64> {
        let counted = latencies.count() > 0;
        match self {
            Self::Mean => latencies.mean(),
            Self::StandardDeviation => latencies.standard_deviation(),
            Self::Minimum => counted.then_some(latencies.minimum as f64),
            Self::Percentile(thousandths) => latencies.percentile(thousandths).map(|value| value as f64),
            Self::Maximum => counted.then_some(latencies.maximum as f64),
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean => f.write_str("mean"),
            Self::StandardDeviation => f.write_str("sd"),
            Self::Minimum => f.write_str("min"),
            Self::Percentile(thousandths) => write!(f, "p{}", f64::from(*thousandths) / 1000.0),
            Self::Maximum => f.write_str("max"),
        }
    }
}

impl FromStr for Statistic {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is no statistic: write mean, sd, min, max, or a percentile such as p99.9");
        match text {
            "mean" => Ok(Self::Mean),
            "sd" => Ok(Self::StandardDeviation),
            "min" => Ok(Self::Minimum),
            "max" => Ok(Self::Maximum),
            _ => text.strip_prefix('p').and_then(thousandths).map(Self::Percentile).ok_or_else(wrong),
        }
    }
}

impl TryFrom<String> for Statistic {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Statistic> for String {
    fn from(statistic: Statistic) -> Self {
        statistic.to_string()
    }
}

/// A percentile with up to three digits after the point.
fn thousandths(text: &str) -> Option<u32> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let is_number = |text: &str| (1..=3).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let value: u32 = format!("{whole}{fraction:0<3}").parse().ok()?;
    (value <= PERCENTILE_MAX).then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(histogram: &[(u64, u64)]) -> Latencies {
        let values = histogram.iter().map(|(value, _)| *value);
        Latencies {
            minimum: values.clone().min().unwrap_or(0),
            maximum: values.max().unwrap_or(0),
            sum: histogram.iter().map(|(value, count)| value * count).sum(),
            squared_deviations: 0.0,
            histogram: histogram.to_vec(),
        }
    }

    #[test]
    fn a_condition_holds_above_its_limit_only() {
        let latencies = of(&[(10, 98), (20, 1), (1000, 1)]);
        let holds = |text: &str, above_ns| {
            Condition { statistic: text.parse().expect("it is one"), above_ns }.exceeded(&latencies)
        };
        assert_eq!((holds("p98", 9), holds("p98", 10)), (Some(10.0), None));
        assert_eq!((holds("p99", 19), holds("p99", 20)), (Some(20.0), None));
        assert_eq!((holds("max", 999), holds("max", 1000)), (Some(1000.0), None));
        assert_eq!((holds("mean", 19), holds("mean", 20)), (Some(20.0), None));
        assert_eq!((holds("min", 9), holds("sd", 0)), (Some(10.0), None));
    }

    #[test]
    fn nothing_is_above_anything_without_samples() {
        for text in ["mean", "sd", "min", "p50", "max"] {
            let condition = Condition { statistic: text.parse().expect("it is one"), above_ns: 0 };
            assert_eq!(condition.exceeded(&Latencies::default()), None, "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for wrong in [
            "", "p", "p.", "p9.", "p.9", "p101", "p100.001", "p99.9999", "p-1", "p+1", "P99", "median",
            "p99 ",
        ] {
            assert!(wrong.parse::<Statistic>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_statistic_is_read_back(thousandths in 0..=PERCENTILE_MAX) {
            let statistic = Statistic::Percentile(thousandths);
            prop_assert_eq!(statistic.to_string().parse(), Ok(statistic));
        }
    }
}

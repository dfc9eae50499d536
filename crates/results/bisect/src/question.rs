//! What is asked of each kernel on the way.

use std::fmt;

use lab::experiment::ExperimentChoice;
use measure::OwnUnit;
use serde::{Deserialize, Serialize};
use verdict::Alarms;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Question {
    /// Does this case accuse the kernel?
    Case(String),
    /// Does the user's own program fail?
    Program(String),
    /// Does this experiment fail?
    Experiment(ExperimentChoice),
    /// Does the kernel come up?
    Boot,
    /// Does the log hold this text?
    Log(String),
    /// Does it build?
    Build,
    /// Where between its values at both ends is this metric?
    Metric {
        /// Its name.
        name: String,
        /// How much worse than at the good end is bad, as a fraction; else whatever is closer to the bad end.
        worse_by: Option<f64>,
        /// It is sampled, not counted.
        timed: bool,
    },
    /// The same of a metric that an experiment records.
    Recorded(RecordedMetric),
}

/// A metric that an experiment records.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedMetric {
    /// The experiment.
    pub experiment: ExperimentChoice,
    /// Its name.
    pub name: String,
    /// Its unit, with what else the experiment says about its figures.
    pub unit: OwnUnit,
    /// How much worse than at the good end is bad, as a fraction; else whatever is closer to the bad end.
    pub worse_by: Option<f64>,
}

/// What is asked about a metric, whoever measures it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured<'a> {
    /// Its name.
    pub name: &'a str,
    /// How much worse than at the good end is bad, as a fraction; else whatever is closer to the bad end.
    pub worse_by: Option<f64>,
    /// It is sampled, not counted.
    pub is_timed: bool,
    /// More is better.
    pub more_is_better: bool,
}

impl Question {
    /// The metric that is asked about: its values must be compared with those of both ends.
    #[must_use]
    pub fn measured(&self) -> Option<Measured<'_>> {
        match self {
            Self::Metric { name, worse_by, timed, .. } => {
                Some(Measured { name, worse_by: *worse_by, is_timed: *timed, more_is_better: false })
            }
            Self::Recorded(RecordedMetric { name, unit, worse_by, .. }) => Some(Measured {
                name,
                worse_by: *worse_by,
                is_timed: unit.is_timed,
                more_is_better: unit.more_is_better,
            }),
            _ => None,
        }
    }

    /// Whether the answer is a number that must be compared with those of both ends.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.measured().is_some()
    }

    /// The experiment that is run.
    #[must_use]
    pub fn experiment(&self) -> Option<&ExperimentChoice> {
        match self {
            Self::Experiment(experiment) | Self::Recorded(RecordedMetric { experiment, .. }) => {
                Some(experiment)
            }
            _ => None,
        }
    }

    /// Whether several runs share a boot: each is made in a clone. Else each is a boot of its own.
    #[must_use]
    pub fn nests_runs(&self) -> bool {
        matches!(self, Self::Case(_) | Self::Program(_))
    }

    /// How a state without the failure may show it all the same. A counted metric is taken to be constant until its boots
    /// differ.
    #[must_use]
    pub fn alarms(&self) -> Alarms {
        match self.measured() {
            Some(metric) if metric.is_timed => Alarms::Noise,
            Some(_) => Alarms::None,
            None if matches!(self, Self::Build) => Alarms::None,
            None => Alarms::Rare,
        }
    }
}

/// What is looked for, in words: `fs/overlay-rename fails`.
impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Case(name) | Self::Program(name) | Self::Experiment(ExperimentChoice { name, .. }) => {
                write!(f, "the failure of {name}")
            }
            Self::Boot => f.write_str("the failure to boot"),
            Self::Log(text) => write!(f, "{text:?} in the log"),
            Self::Build => f.write_str("the failure to build"),
            Self::Metric { name, .. } | Self::Recorded(RecordedMetric { name, .. }) => {
                write!(f, "a worse {name}")
            }
        }
    }
}

/// The value of a metric from which it counts as bad.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Threshold {
    /// The value.
    pub at: f64,
    /// Bad values are above it.
    pub above: bool,
}

impl Threshold {
    /// Half way between the plateaus of both ends, or where the user said that worse begins.
    #[must_use]
    pub fn between(good: f64, bad: f64, metric: &Measured<'_>) -> Self {
        let above = bad > good;
        let at = match metric.worse_by {
            Some(part) if above != metric.more_is_better => {
                good + if above { part } else { -part } * good.abs()
            }
            _ => f64::midpoint(good, bad),
        };
        Self { at, above }
    }

    /// Whether a value counts as bad.
    #[must_use]
    pub fn is_bad(self, value: f64) -> bool {
        if self.above { value > self.at } else { value < self.at }
    }

    /// How many of the values are bad, and how many are not.
    #[must_use]
    pub fn count(self, values: &[f64]) -> (u32, u32) {
        let bad = values.iter().filter(|value| self.is_bad(**value)).count();
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        (number(bad), number(values.len() - bad))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(worse_by: Option<f64>, more_is_better: bool) -> Measured<'static> {
        Measured { name: "", worse_by, is_timed: false, more_is_better }
    }

    #[test]
    fn what_is_nearer_to_the_bad_end_is_bad() {
        let metric = metric(None, false);
        let threshold = Threshold::between(100.0, 200.0, &metric);
        assert_eq!(threshold, Threshold { at: 150.0, above: true });
        assert_eq!(threshold.count(&[100.0, 150.0, 150.1, 300.0]), (2, 2));
        let threshold = Threshold::between(200.0, 100.0, &metric);
        assert_eq!(threshold, Threshold { at: 150.0, above: false });
        assert_eq!(threshold.count(&[100.0, 150.0, 150.1, 300.0]), (1, 3));
        assert_eq!(threshold.count(&[]), (0, 0));
    }

    #[test]
    fn worse_begins_where_the_user_says() {
        let threshold = Threshold::between(100.0, 200.0, &metric(Some(0.25), false));
        assert_eq!(threshold, Threshold { at: 125.0, above: true });
        assert!(threshold.is_bad(126.0) && !threshold.is_bad(125.0) && !threshold.is_bad(f64::NAN));
        let threshold = Threshold::between(200.0, 100.0, &metric(Some(0.25), true));
        assert_eq!(threshold, Threshold { at: 150.0, above: false });
        let threshold = Threshold::between(-100.0, -50.0, &metric(Some(0.25), false));
        assert_eq!(threshold, Threshold { at: -75.0, above: true });
    }
}

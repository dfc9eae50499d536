//! What a machine takes while something is measured.

use serde::{Deserialize, Serialize};

use super::TEXT_MAX;

/// Electric power, or why nobody can tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// The machine does not tell, and why.
    Unknown(String),
    /// It was measured.
    Measured(Watts),
}

/// Power in watts, from one sample a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Watts {
    /// What was read.
    pub source: PowerSource,
    /// How often.
    pub samples: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The standard deviation of the samples; 0 for one.
    pub standard_deviation: f64,
    /// The lowest sample.
    pub minimum: f64,
    /// The highest sample.
    pub maximum: f64,
}

/// What tells the power.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PowerSource {
    /// The running average power limit of the processor packages: Documentation/power/powercap/powercap.rst.
    Rapl,
    /// Batteries that discharge: Documentation/ABI/testing/sysfs-class-power.
    Battery,
}

impl PowerSource {
    /// What it is in a sentence.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rapl => "RAPL, processor packages",
            Self::Battery => "battery, whole machine",
        }
    }
}

impl Power {
    /// The mean, if it is known.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        match self {
            Self::Measured(watts) => Some(watts.mean),
            Self::Unknown(_) => None,
        }
    }

    /// What is wrong with it, if nobody can have measured it.
    pub(crate) fn wrong(&self) -> Option<&'static str> {
        match self {
            Self::Unknown(why) => (why.len() > TEXT_MAX).then_some("a text is too long"),
            Self::Measured(Watts { mean, standard_deviation, minimum, maximum, .. }) => {
                let figures = [mean, standard_deviation, minimum, maximum];
                let is_power = |watts: &&f64| watts.is_finite() && **watts >= 0.0;
                (!figures.iter().all(is_power)).then_some("a power is none")
            }
        }
    }
}

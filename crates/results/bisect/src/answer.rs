//! What a test answers.

use serde::{Deserialize, Serialize};

/// What a test answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Runs, or boots.
    Runs {
        /// Those that showed the failure.
        #[serde(alias = "shown")]
        bad: u32,
        /// Those that did not.
        #[serde(alias = "hidden")]
        good: u32,
    },
    /// Values of a metric, one for each boot.
    Values(Vec<f64>),
    /// It does not build, boot or do what the question needs: that answers nothing.
    CannotTest(String),
}

impl Answer {
    /// Runs or boots behind it.
    #[must_use]
    pub fn count(&self) -> u32 {
        match self {
            Self::Runs { bad, good } => bad.saturating_add(*good),
            Self::Values(values) => u32::try_from(values.len()).unwrap_or(u32::MAX),
            Self::CannotTest(_) => 0,
        }
    }

    /// Its values, where it was measured.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        match self {
            Self::Values(values) => values.clone(),
            Self::Runs { .. } | Self::CannotTest(_) => Vec::new(),
        }
    }
}

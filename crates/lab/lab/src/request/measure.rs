//! What operations, or a program, cost on a Kernel.

use std::time::Duration;

use ::measure::count::{BOOTS, BOOTS_MAX, FIRST_SEED};
use serde::{Deserialize, Serialize};

use crate::suites::Error;
use crate::suites::select::operations;

use super::{KernelRequest, MachineRequest, ProgramRequest, Version};

/// What operations, or a program, cost on a Kernel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MeasureRequest {
    /// Its version.
    pub version: Version<1>,
    /// The Kernel.
    pub kernel: KernelRequest,
    /// A program instead of the operations.
    #[serde(default)]
    pub program: Option<ProgramRequest>,
    /// What is measured, and how.
    #[serde(default)]
    pub figures: FiguresRequest,
    /// The machine.
    #[serde(default)]
    pub machine: MachineRequest,
}

/// What is measured, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FiguresRequest {
    /// Operations whose names match one of these; all without patterns.
    pub operations: Vec<String>,
    /// Boots of each Kernel.
    pub boots: Option<u32>,
    /// The seed of the first boot in which instructions are counted; each later boot has the next one.
    #[serde(with = "judge::json::seed")]
    pub first_seed: u64,
    /// Time is measured; else instructions are counted.
    pub timed: Option<TimedRequest>,
}

impl Default for FiguresRequest {
    fn default() -> Self {
        Self { operations: Vec::new(), boots: None, first_seed: FIRST_SEED, timed: None }
    }
}

impl FiguresRequest {
    /// Boots of each Kernel in which instructions are counted.
    #[must_use]
    pub fn counted_boots(&self) -> u32 {
        self.boots.unwrap_or(BOOTS)
    }

    /// Seeds that one Kernel of a comparison may use, from its first one on.
    #[must_use]
    pub fn seeds_of_a_kernel(&self) -> u64 {
        self.boots.unwrap_or(0).max(BOOTS_MAX).into()
    }

    /// Checks the names of operations before anything is fetched.
    ///
    /// # Errors
    ///
    /// When there is no such operation.
    pub fn check(&self) -> Result<(), Error> {
        operations(&self.operations)?;
        Ok(())
    }
}

/// How time is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimedRequest {
    /// How long it may take; what is usual if it is not set.
    #[serde(default, with = "judge::json::optional_seconds")]
    pub budget: Option<Duration>,
    /// The smallest difference that is of interest, as a fraction.
    pub min_effect: f64,
    /// What the order of boots is drawn from; another number each time if it is not set.
    #[serde(default, with = "judge::json::optional_seed")]
    pub seed: Option<u64>,
    /// Boots during which the host was disturbed are left out.
    pub leave_out_disturbed: bool,
}

impl Default for TimedRequest {
    fn default() -> Self {
        Self { budget: None, min_effect: 0.01, seed: None, leave_out_disturbed: false }
    }
}

impl TimedRequest {
    /// How long boots are made if the user does not say it.
    pub const USUAL_BUDGET: Duration = Duration::from_secs(600);

    /// How long it may take.
    #[must_use]
    pub fn budget(&self) -> Duration {
        self.budget.unwrap_or(Self::USUAL_BUDGET)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_text_and_those_of_earlier_versions_are_read() {
        let timed = TimedRequest { seed: Some(u64::MAX), ..TimedRequest::default() };
        let figures = FiguresRequest { first_seed: 9, timed: Some(timed), ..FiguresRequest::default() };
        let written = serde_json::to_string(&figures).unwrap();
        assert!(
            written.contains(r#""first_seed":"9""#) && written.contains(r#""seed":"18446744073709551615""#)
        );
        let earlier =
            written.replace(r#""9""#, "9").replace(r#""18446744073709551615""#, "18446744073709551615");
        for text in [written, earlier] {
            assert_eq!(serde_json::from_str::<FiguresRequest>(&text).unwrap(), figures, "{text}");
        }
    }
}

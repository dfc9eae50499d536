//! What is decided before the first boot, so that no result can decide it.

use measure::Boot;
use serde::{Deserialize, Serialize};

use crate::disturbance::disturbed;

/// How timed figures are sampled and judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Design {
    /// The smallest difference of interest, as a fraction of the base: 0.01 is 1 %.
    pub min_effect: f64,
    /// The probability, of 1, that no look at a metric takes chance for a difference.
    pub confidence: f64,
    /// The boots of each Kernel at which the figures are looked at, in ascending order.
    pub looks: Vec<u32>,
    /// What the order of the boots and the intervals are drawn from.
    pub seed: u64,
    /// Boots under a [disturbance](crate::disturbance) of the host are left out.
    pub leave_out_disturbed: bool,
}

impl Design {
    /// Looks half as many boots apart again each time. Of the first 5, a rank test can be as sure as one of six looks
    /// must be, 1 - 0.05 / 6, when no boot of one Kernel is slower than any of the other, and not before.
    pub const LOOKS: [u32; 6] = [5, 8, 12, 18, 27, 40];

    /// 1 %, a confidence of 95 % and the usual looks.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            min_effect: 0.01,
            confidence: 0.95,
            looks: Self::LOOKS.into(),
            seed,
            leave_out_disturbed: false,
        }
    }

    /// The probability of an error that is left for all looks together.
    #[must_use]
    pub fn error(&self) -> f64 {
        (1.0 - self.confidence).clamp(0.0, 1.0)
    }

    /// The same for one look: equal parts, by the inequality of Bonferroni.
    ///
    /// A group-sequential boundary would need a tenth fewer boots, but holds only for the numbers of boots that were
    /// planned. This one holds as well when boots are left out or time runs out between two looks.
    #[must_use]
    pub fn error_of_look(&self) -> f64 {
        self.error() / self.looks.len().max(1) as f64
    }

    /// Whether a boot is a sample.
    #[must_use]
    pub fn counts(&self, boot: &Boot) -> bool {
        !self.leave_out_disturbed || boot.conditions.as_ref().and_then(disturbed).is_none()
    }
}

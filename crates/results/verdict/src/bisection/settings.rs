//! What is searched, and how sure one wants to be.

/// The settings of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// How sure one wants to be of the culprit, as a fraction of 1. It is found when half of the error that this allows
    /// is left.
    pub confidence: f64,
    /// The fix of a failure is searched for: states without the culprit show it.
    pub fixed: bool,
    /// The chance that a run shows the failure at a state that does not have it, as a fraction of 1: 0 for Outcomes, and
    /// the error of the verdict for timed metrics.
    pub false_alarm: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { confidence: 0.99, fixed: false, false_alarm: 0.0 }
    }
}

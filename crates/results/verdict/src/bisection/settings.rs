//! What is searched, and how sure one wants to be.

use crate::nested::Alarms;

/// The settings of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// How sure one wants to be of the culprit, as a fraction of 1. It is found when half of the error that this allows
    /// is left.
    pub confidence: f64,
    /// The fix of a failure is searched for: states without the culprit show it.
    pub fixed: bool,
    /// How states without the failure may show it all the same.
    pub alarms: Alarms,
}

impl Default for Settings {
    fn default() -> Self {
        Self { confidence: 0.99, fixed: false, alarms: Alarms::Rare }
    }
}

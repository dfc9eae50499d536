//! What a candidate adds to the sums over the states that contain it.

/// What one candidate adds, or the sums over several.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Share {
    /// Of their probabilities.
    pub(super) mass: f64,
    /// Of their probabilities, each times the chance that a new boot of a state with the failure shows it, if it is that
    /// one.
    pub(super) shows: f64,
    /// Of their probabilities, each times the entropy of that chance, in bits.
    pub(super) doubt: f64,
    /// Of their probabilities, each times the chance of a false alarm in a new boot of a state without the failure.
    pub(super) alarms: f64,
    /// Of their probabilities, each times the entropy of that chance, in bits.
    pub(super) quiet_doubt: f64,
}

impl Share {
    pub(super) fn add(&mut self, other: Self, times: f64) {
        self.mass += times * other.mass;
        self.shows += times * other.shows;
        self.doubt += times * other.doubt;
        self.alarms += times * other.alarms;
        self.quiet_doubt += times * other.quiet_doubt;
    }
}

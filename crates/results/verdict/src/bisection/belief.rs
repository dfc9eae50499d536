//! What is believed of results that were always the same.

use crate::nested::NO_ALARMS;

/// What is believed of a failure that showed in each run of a state that has it, and in no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belief {
    /// It is taken to show always, and never where it is not, until a run contradicts this: for the search.
    Working,
    /// It may be intermittent, and there may be false alarms, each with an even chance: for the proof.
    Sceptical,
}

/// So near to 1 that each of a million candidates that halving excludes stays excluded.
const SURE: f64 = 1.0 - 1e-9;

impl Belief {
    /// The probability, before any run, that the failure shows always.
    pub(super) fn always(self) -> f64 {
        match self {
            Self::Working => SURE,
            Self::Sceptical => 0.5,
        }
    }

    /// The probability, before any run, that there are no false alarms.
    pub(super) fn no_alarms(self) -> f64 {
        match self {
            Self::Working => SURE,
            Self::Sceptical => NO_ALARMS,
        }
    }
}

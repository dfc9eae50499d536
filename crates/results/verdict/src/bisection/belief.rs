//! What is believed of a failure that showed each time.

/// What is believed of a failure that showed in each run of a state that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Belief {
    /// It is taken to show always until it once does not: for the search.
    Working,
    /// It may be intermittent even so, with an even chance: for the proof.
    Sceptical,
}

impl Belief {
    /// The probability, before any run, that the failure shows always.
    pub(super) fn always(self) -> f64 {
        match self {
            // So near to 1 that each of a million candidates that halving excludes stays excluded.
            Self::Working => 1.0 - 1e-9,
            Self::Sceptical => 0.5,
        }
    }
}

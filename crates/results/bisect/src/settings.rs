//! How a bisection is done.

/// How sure it must be, and in which direction it searches.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How sure it must be, from 0 to 1.
    pub confidence: f64,
    /// The fix is searched for: the first end is the bad one.
    pub fixed: bool,
    /// Runs at the bad end before the failure is taken not to be there.
    pub tries: u32,
}

//! What can be tried next.

use super::order::State;

/// One more run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Trial {
    /// Of which state.
    pub state: State,
    /// In which boot.
    pub boot: Boot,
}

/// The boot of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Boot {
    /// A new one.
    New,
    /// The last one that the state had: a clone of a machine that is up.
    Last,
}

//! What all of a race knows: its plan, its clock, its tally.

use crate::clock::Clock;
use crate::plan::Plan;
use crate::tally::Tally;

/// Where a race takes place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) plan: Plan,
    pub(crate) tally: &'a Tally,
    pub(crate) clock: Clock,
    /// Both threads share a CPU.
    pub(crate) one_cpu: bool,
}

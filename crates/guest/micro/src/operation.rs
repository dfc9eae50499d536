//! What an operation is.

use std::time::Duration;

use harness::check::Checked;
use protocol::Need;

use super::Meter;

/// After this time of the guest's clock an operation that does not come to its end is ended.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Something small that a kernel does for a program, and whose cost is measured.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// `area/what-is-done`.
    pub name: &'static str,
    /// One line on what one operation is.
    pub about: &'static str,
    /// Without these it is skipped.
    pub needs: &'static [Need],
    /// Prepares, has the meter measure, and checks that the work was done; runs in a process of its own.
    pub body: fn(&mut Meter) -> Checked,
}

impl Operation {
    /// An operation with no needs.
    #[must_use]
    pub const fn new(name: &'static str, about: &'static str, body: fn(&mut Meter) -> Checked) -> Self {
        Self { name, about, needs: &[], body }
    }

    /// What it cannot do without.
    #[must_use]
    pub const fn needs(self, needs: &'static [Need]) -> Self {
        Self { needs, ..self }
    }
}

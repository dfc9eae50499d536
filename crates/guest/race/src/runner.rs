//! Runs races.

use harness::check::Checked;
use protocol::race::Strategy;

use crate::clock::{Clock, cpus};
use crate::plan::Plan;
use crate::race::Race;
use crate::setting::Setting;
use crate::tally::Tally;
use crate::{engine, plain, published};

/// Runs races by a plan.
#[derive(Debug)]
pub struct Runner<'a>(Setting<'a>);

impl<'a> Runner<'a> {
    /// One that counts in `tally`, which must be new.
    #[must_use]
    pub fn new(plan: Plan, clock: Clock, tally: &'a Tally) -> Self {
        Self(Setting { plan, tally, clock, one_cpu: cpus() < 2 })
    }

    /// The clock that measures it.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.0.clock
    }

    /// Runs a race until its plan is fulfilled. Whether it was hit is in the tally.
    ///
    /// # Errors
    ///
    /// Those of set-ups and judgement.
    pub fn run<A, B: Send>(&self, race: Race<A, B>) -> Checked {
        let Self(setting) = self;
        setting.tally.begin(setting.one_cpu, setting.clock.source());
        match setting.plan.strategy {
            Strategy::Plain if !race.has_setup() => plain::run(race, setting),
            Strategy::Published => published::run(race, setting),
            Strategy::Mixture
            | Strategy::Aligned
            | Strategy::Uniform
            | Strategy::LowDiscrepancy
            | Strategy::Plain => engine::run(race, setting),
        }
    }
}

#[cfg(test)]
mod tests;

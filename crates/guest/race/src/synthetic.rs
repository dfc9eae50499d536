//! Races with known windows, to measure by: no kernel is at fault when they are hit.
//!
//! * [`order`]: 24 pairs of sections that are to overlap
//! * [`window`]: windows of a few instructions, in loops that need no set-up and with one in each round

mod order;
mod window;

use harness::check::Checked;

use crate::runner::Runner;

/// A synthetic race.
pub struct Synthetic {
    /// `synthetic/...`.
    pub name: String,
    /// One line on its window.
    pub about: String,
    body: Box<dyn Fn(&Runner) -> Checked>,
}

impl std::fmt::Debug for Synthetic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Synthetic").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Synthetic {
    fn new(name: &str, about: String, body: impl Fn(&Runner) -> Checked + 'static) -> Self {
        Self { name: format!("synthetic/{name}"), about, body: Box::new(body) }
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// When there is no second thread.
    pub fn run(&self, runner: &Runner) -> Checked {
        (self.body)(runner)
    }
}

/// All of them.
#[must_use]
pub fn all() -> Vec<Synthetic> {
    order::all().chain(window::all()).collect()
}

/// The one called `name`.
#[must_use]
pub fn find(name: &str) -> Option<Synthetic> {
    all().into_iter().find(|race| race.name == name)
}

#[cfg(test)]
pub(crate) use order::PAIRS;

/// Keeps the CPU busy for so many ticks.
#[inline(always)]
fn spin(runner: &Runner, ticks: u64) {
    let start = runner.clock().now();
    while runner.clock().now().wrapping_sub(start) < ticks {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::plan::Plan;
    use crate::tally::Tally;
    use protocol::race::{Ended, Strategy};
    use std::collections::BTreeSet;
    use std::time::Duration;

    #[test]
    fn each_has_a_name_of_its_own() {
        let races = all();
        let names: BTreeSet<_> = races.iter().map(|race| &race.name).collect();
        assert_eq!(names.len(), races.len());
        let count = |prefix: &str| names.iter().filter(|name| name.starts_with(prefix)).count();
        assert_eq!(count("synthetic/order/"), 24);
        assert!(count("synthetic/free/") >= 6 && count("synthetic/setup/") >= 6);
        assert!(names.iter().all(|name| find(name).is_some()) && find("synthetic/none").is_none());
    }

    #[test]
    fn each_runs_with_every_strategy() {
        let strategies = [
            Strategy::Mixture,
            Strategy::Aligned,
            Strategy::Uniform,
            Strategy::LowDiscrepancy,
            Strategy::Plain,
            Strategy::Published,
        ];
        for race in all() {
            for strategy in strategies {
                let time = Duration::from_secs(3600);
                let plan = Plan { strategy, rounds: 20, hits: u64::MAX, ..Plan::new(time) };
                let tally = Tally::new();
                race.run(&Runner::new(plan, Clock::MONOTONIC, &tally)).expect("it has a second thread");
                let report = tally.report(&plan);
                assert_eq!((report.rounds, report.ended), (20, Ended::Rounds), "{race:?} {strategy:?}");
            }
        }
    }
}

//! How long things may take on a machine here and now.
//!
//! Time counts only as far as the host let the machine live: what it waited for a CPU is left out. Where the
//! host does not count that, limits grow with its load.

use std::time::{Duration, Instant};

use crate::{Engine, Machine, host};

/// Variable by which a user makes every limit longer.
const FACTOR_VARIABLE: &str = "KILN_TIMEOUT_MUL";

/// How much longer everything may take here and now than on the bare, idle host.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeoutScale {
    factor: f64,
    heeds_load: bool,
}

impl TimeoutScale {
    /// The scale for machines of this kind; the user's factor comes from the environment.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self { factor: f64::from(engine.slowness()) * of_user(), heeds_load: !host::counts_waiting() }
    }

    /// The scale for what is no machine, such as a server that is asked.
    #[must_use]
    pub fn of_user() -> Self {
        Self::fixed(of_user())
    }

    /// A scale that knows nothing of the host but `factor`.
    #[must_use]
    pub fn fixed(factor: f64) -> Self {
        Self { factor, heeds_load: false }
    }

    /// `limit` of the bare, idle host as it is for this machine.
    #[must_use]
    pub fn stretch(self, limit: Duration) -> Duration {
        if self.heeds_load { self.stretch_by_load(limit) } else { limit.mul_f64(self.factor) }
    }

    /// `limit` of the bare, idle host as it is for this machine by a clock that never stops.
    #[must_use]
    pub fn stretch_by_load(self, limit: Duration) -> Duration {
        // The load is looked at each time, since it changes while a session runs.
        limit.mul_f64(self.factor * host::busyness())
    }
}

/// The user's factor.
fn of_user() -> f64 {
    let user = std::env::var(FACTOR_VARIABLE).ok().and_then(|text| text.parse::<f64>().ok());
    user.filter(|factor| factor.is_finite()).unwrap_or(1.0).clamp(0.1, 1000.0)
}

/// The time that a machine lives, from some moment on.
#[derive(Debug)]
pub struct Life {
    begin: Instant,
    waited_before: Duration,
}

impl Life {
    /// It begins now. What kiln itself waits between the two looks counts as waiting of the machine, here and below.
    pub fn begin(machine: &mut dyn Machine) -> Self {
        let waited_before = machine.waited();
        Self { begin: Instant::now(), waited_before }
    }

    /// The time since then by the host's clock.
    #[must_use]
    pub fn passed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// What of it the machine lived, and what it waited for a CPU.
    pub fn look(&self, machine: &mut dyn Machine) -> (Duration, Duration) {
        let passed = self.passed();
        let waited = machine.waited().saturating_sub(self.waited_before);
        (passed.saturating_sub(waited), waited)
    }

    /// What it lived until now, if it waited for so long.
    #[must_use]
    pub fn lived(&self, waited: Duration) -> Duration {
        self.passed().saturating_sub(waited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_only_grows() {
        let second = Duration::from_secs(1);
        assert!(TimeoutScale::new(Engine::Uml).stretch(second) >= TimeoutScale::fixed(0.4).stretch(second));
    }
}

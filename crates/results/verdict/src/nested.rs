//! Runs that are nested in boots.
//!
//! Runs in clones of one boot share all that the boot decided by chance: the layout of memory, the order of probing, early
//! randomness. So the boot is the sampling unit. Each boot has a chance of its own to show a failure, drawn from a beta
//! distribution, and the runs of a boot fail independently with that chance: the beta-binomial model of J. G. Skellam, "A
//! probability distribution derived from the binomial distribution by regarding the probability of success as variable
//! between the sets of trials", Journal of the Royal Statistical Society B 10 (1948), 257-261. Its two parameters are the
//! rate of failures and the correlation of two runs of one boot: 0 if a failure is decided in the clone, 1 if it is
//! decided at boot. Neither is known, so all that follows is averaged over both, weighted by what was seen.
//!
//! * [`cells`]: pairs of a rate and a correlation, with their prior probabilities
//! * [`posterior`]: what is known of both after some runs
//! * [`quiet`]: how many runs, in how many boots, a failure would hardly have missed
//! * [`states`]: whether two states have the same failure

mod cells;
mod posterior;
mod quiet;
mod states;

pub(crate) use cells::{Cell, IMPOSSIBLE, alarms, exp, failures, ln_prior, ln_sum};
pub use posterior::{Estimate, Nested};
pub use quiet::Price;
pub(crate) use states::NO_ALARMS;
pub use states::{Ends, agreement, ends, shows};

use std::iter::Sum;

use serde::{Deserialize, Serialize};

/// Runs in clones of one boot, or a boot that counts as one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootRuns {
    /// Runs that failed.
    pub failures: u32,
    /// Runs that did not.
    pub passes: u32,
}

impl BootRuns {
    /// One run.
    #[must_use]
    pub fn one(fails: bool) -> Self {
        Self { failures: fails.into(), passes: (!fails).into() }
    }

    /// All runs.
    #[must_use]
    pub fn total(self) -> u64 {
        u64::from(self.failures) + u64::from(self.passes)
    }

    /// What is left without `part` of them.
    #[must_use]
    pub fn without(self, part: Self) -> Self {
        Self {
            failures: self.failures.saturating_sub(part.failures),
            passes: self.passes.saturating_sub(part.passes),
        }
    }

    /// Counts more runs of the same boot.
    pub fn add(&mut self, more: Self) {
        self.failures = self.failures.saturating_add(more.failures);
        self.passes = self.passes.saturating_add(more.passes);
    }
}

impl Sum for BootRuns {
    fn sum<I: Iterator<Item = Self>>(boots: I) -> Self {
        boots.fold(Self::default(), |mut all, boot| {
            all.add(boot);
            all
        })
    }
}

/// How a state without the failure may show it all the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Alarms {
    /// Never: the same state always answers the same.
    #[default]
    None,
    /// Seldom, if at all: a test that now and then fails for another reason, in at most some percent of the runs.
    Rare,
    /// Often: a sample of a noisy metric that lies on the wrong side of the threshold, in less than half of the boots.
    Noise,
}

//! Counts rounds, and ends a race at its limits.

use protocol::race::Ended;

use crate::clock::Clock;
use crate::plan::Plan;
use crate::race::Judgement;
use crate::setting::Setting;
use crate::tally::Tally;

/// The counter of a race. Only thread A counts.
#[derive(Debug)]
pub(crate) struct Counter<'a> {
    plan: Plan,
    tally: &'a Tally,
    clock: Clock,
    began: u64,
    time: u64,
}

impl<'a> Counter<'a> {
    /// The first round begins.
    pub(crate) fn begin(setting: &Setting<'a>) -> Self {
        let &Setting { plan, tally, clock, .. } = setting;
        let time = clock.ticks(u64::try_from(plan.time.as_nanos()).unwrap_or(u64::MAX));
        Self { plan, tally, clock, began: clock.now(), time }
    }

    /// The share of its time that is used up, in 1/1000.
    pub(crate) fn used(&self) -> u64 {
        self.clock.now().wrapping_sub(self.began) / (self.time / 1000).max(1)
    }

    /// Whether there shall be another round.
    pub(crate) fn goes_on(&self) -> bool {
        let elapsed = self.clock.now().wrapping_sub(self.began);
        self.tally.elapse(self.clock.ns(elapsed as i64).max(0) as u64);
        if elapsed >= self.time {
            self.tally.end(Ended::Time);
        }
        if self.tally.rounds() >= self.plan.rounds {
            self.tally.end(Ended::Rounds);
        }
        !self.tally.is_over()
    }

    /// Counts a round; its delay is in nanoseconds, if it is known.
    pub(crate) fn count(&self, judgement: Judgement, delay: Option<i64>) {
        let hits = self.tally.judged(judgement, delay);
        if hits >= self.plan.hits {
            self.tally.end(Ended::Hits);
        }
    }
}
